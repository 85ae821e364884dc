"""Rules and topics in Chinese, by family as in ``check/rules``.

Translated fields are ``why``, and examples and sources that are prose. Codes, names, keys, options and text in
backquotes stay English; terms are those of ``docs/glossary.md``.
"""

from __future__ import annotations

from . import library, mixlist, mode, model, store, text, vault
from .topics import TOPICS as TOPICS
from .words import WORDS as WORDS

RULES: dict[str, dict[str, str]] = {
    name: fields
    for family in (text, mixlist, mode, model, library, store, vault)
    for name, fields in family.RULES.items()
}
