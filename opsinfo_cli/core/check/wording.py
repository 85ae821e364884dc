"""The texts of rules and topics by language; each language but English, the default, has all of them in one file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from .rules import RULES, Rule, texts

LANGUAGES = ("en", "zh")
"""The languages with texts."""


@dataclass(frozen=True)
class Wording:
    """Rules and topics in one language.

    :param topics: explanations beyond single findings
    :param words: labels, and the words for severities, kinds of files and the engine's answers
    """

    rules: dict[str, Rule]
    topics: dict[str, str]
    words: dict[str, str]

    def word(self, english: str) -> str:
        return self.words.get(english, english)


@cache
def wording(language: str) -> Wording:
    """Return the wording in one of ``LANGUAGES``; English for texts that it lacks."""
    own = texts(language)
    page = files(__package__).joinpath("agents.md" if language == "en" else f"agents.{language}.md").read_text("utf-8")
    own["topics"]["agents"] = page
    rules = {name: replace(rule, **own.get("rules", {}).get(name, {})) for name, rule in RULES.items()}
    if language == "en":
        return Wording(rules, own["topics"], own["words"])
    english = wording("en")
    return Wording(rules, {**english.topics, **own["topics"]}, {**english.words, **own["words"]})
