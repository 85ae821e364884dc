"""The texts of rules and topics by language: the table is English, translations are data."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .rule import Rule
from .rules import RULES
from .topics import TOPICS

LANGUAGES = ("en", "zh")
"""The languages with texts; English, the default, is first."""

_WORDS = {
    "head": "{code} {name}: {severity}; the engine {engine}",
    "fails": "Fails:",
    "passes": "Passes:",
    "source": "Source: {source}",
    "empty": "(an empty file)",
}


@dataclass(frozen=True)
class Wording:
    """Rules and topics in one language.

    :param words: labels, and the words for severities, kinds of files and the engine's answers
    """

    rules: dict[str, Rule]
    topics: dict[str, str]
    words: dict[str, str]

    def word(self, english: str) -> str:
        return self.words.get(english, english)


def wording(language: str) -> Wording:
    """Return the wording in one of ``LANGUAGES``; English for texts that it lacks."""
    if language != "zh":
        return Wording(RULES, TOPICS, _WORDS)
    from . import zh

    rules = {name: replace(rule, **zh.RULES.get(name, {})) for name, rule in RULES.items()}
    return Wording(rules, {**TOPICS, **zh.TOPICS}, {**_WORDS, **zh.WORDS})
