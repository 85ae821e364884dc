"""The rule table, by family."""

from __future__ import annotations

from ..rule import Rule
from . import library, mixlist, mode, model, store, text, vault

RULES: dict[str, Rule] = {
    each.name: each for family in (text, mixlist, mode, model, library, store, vault) for each in family.RULES
}
"""Every rule by its name, which never changes."""


def rule(name: str) -> Rule:
    return RULES[name]


def rule_called(text: str) -> Rule | None:
    """Return a rule by its name or code, in any case; None if unknown."""
    wanted = text.lower()
    return next((each for each in RULES.values() if wanted in (each.name, each.code.lower())), None)
