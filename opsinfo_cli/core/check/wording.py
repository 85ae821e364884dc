"""The texts of rules and topics by language; each language but English, the default, has all of them in one file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from .rules import RULES, Rule, texts

LANGUAGES = ("en", "zh")
"""The languages with texts."""


@dataclass(frozen=True)
class Wording:
    """Rules and topics in one language.

    :param topics: explanations beyond single findings
    :param words: labels, and the words for severities, kinds of files and the engine's answers
    """

    language: str
    rules: dict[str, Rule]
    topics: dict[str, str]
    words: dict[str, str]

    def word(self, english: str) -> str:
        return self.words.get(english, english)


@dataclass(frozen=True)
class Term:
    """A term of the glossary.

    :param manuals: the words of the manuals in English; None where they have none of their own
    :param en: the meaning in English, ``zh`` in Chinese
    :param words: further words of manuals and users for it
    """

    term: str
    chinese: str
    en: str
    zh: str
    manuals: str | None = None
    words: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The words that lead here."""
        given = ", ".join([self.term, self.manuals or "", self.chinese])
        found = re.split(r"[,、，;]| \(| or |）|（|\)|称", given.replace("`", ""))
        return [name for word in [*found, *self.words] if (name := word.strip(" “”–")) and name != "argument: SOC"]

    def says(self, language: str) -> str:
        """Return the term, what it means, and the other words for it."""
        meaning = self.en if language == "en" else self.zh
        others = "; ".join(word for word in (self.manuals, self.chinese) if word and word not in ("–", self.term))
        head = {"en": "{}: {}", "zh": "{}：{}"}[language]
        tail = {"en": "In the manuals: {}", "zh": "手册用词：{}"}[language]
        return head.format(self.term, meaning) + ("\n  " + tail.format(others) if others else "")


class Section(NamedTuple):
    """A table of the glossary. ``columns``: the titles of its columns."""

    title: str
    columns: list[str]
    terms: list[Term]


@cache
def glossary() -> list[Section]:
    """Return the glossary, from which ``docs/glossary.md`` is generated, too."""
    return [
        Section(
            each["title"],
            each["columns"],
            [Term(**{**term, "words": tuple(term.get("words", ()))}) for term in each["term"]],
        )
        for each in texts("glossary")["section"]
    ]


def term_called(word: str) -> Term | None:
    """Return the term of the glossary that a word means, its own first; signs between words and case do not matter."""
    wanted = folded(word)
    terms = [term for section in glossary() for term in section.terms]
    own = (term for term in terms if folded(term.term) == wanted)
    return next(own, None) or next((term for term in terms if wanted in map(folded, term.names)), None)


def folded(word: str) -> str:
    """Return a word as it is compared with others."""
    return re.sub(r"[\s`_-]+", " ", word).strip().casefold()


@cache
def wording(language: str) -> Wording:
    """Return the wording in one of ``LANGUAGES``; English for texts that it lacks."""
    own = texts(language)
    page = files(__package__).joinpath("agents.md" if language == "en" else f"agents.{language}.md").read_text("utf-8")
    own["topics"]["agents"] = page
    rules = {name: replace(rule, **own.get("rules", {}).get(name, {})) for name, rule in RULES.items()}
    if language == "en":
        return Wording(language, rules, own["topics"], own["words"])
    english = wording("en")
    return Wording(language, rules, {**english.topics, **own["topics"]}, {**english.words, **own["words"]})
