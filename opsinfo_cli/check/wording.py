"""What is said of rules and topics, by language: one table in English, translations as data beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .rule import Rule
from .rules import RULES
from .topics import TOPICS

LANGUAGES = ("en", "zh")
"""What there are texts in; English first, which is what everybody else is given."""

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

    :param words: the labels around them, and what this language calls a severity, a kind of file, an engine's answer
    """

    rules: dict[str, Rule]
    topics: dict[str, str]
    words: dict[str, str]

    def word(self, english: str) -> str:
        return self.words.get(english, english)


def wording(language: str) -> Wording:
    """In one of ``LANGUAGES``; what a language lacks is said in English."""
    if language != "zh":
        return Wording(RULES, TOPICS, _WORDS)
    from . import zh

    rules = {name: replace(rule, **zh.RULES.get(name, {})) for name, rule in RULES.items()}
    return Wording(rules, {**TOPICS, **zh.TOPICS}, {**_WORDS, **zh.WORDS})
