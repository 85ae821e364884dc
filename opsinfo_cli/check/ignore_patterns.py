"""The lines of one .gitignore file, matched as git matches them (gitignore(5), wildmatch.c)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .wildcard_match import GATE, PatternStep, WildcardMatcher


class IgnorePattern(NamedTuple):
    """One pattern.

    :param matcher: for the path relative to the file's folder, or for the name alone
    """

    matcher: re.Pattern[str] | WildcardMatcher
    by_name: bool
    folders_only: bool
    ignores: bool

    def fits(self, path: str, is_folder: bool) -> bool:
        if self.folders_only and not is_folder:
            return False
        return bool(self.matcher.fullmatch(path.rsplit("/", 1)[-1] if self.by_name else path))


def patterns_in(text: str) -> list[IgnorePattern]:
    """The patterns, last line first, because the last match counts."""
    return [line for line in map(_line, reversed(text.split("\n"))) if line]


def _line(text: str) -> IgnorePattern | None:
    text = re.sub(r"((?:[^\\ ]|\\.| +(?=[^ ]))*) *", r"\1", text.removesuffix("\r"), count=1, flags=re.DOTALL)
    if not text or text.startswith("#"):
        return None
    ignores = not text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    if not text:
        return None
    by_name = "/" not in text
    matcher = _matcher(text.removeprefix("/"))
    return IgnorePattern(matcher, by_name, folders_only, ignores) if matcher else None


_MANY = 3
"""Number of wildcards above which a regular expression may take too long."""


def _matcher(pattern: str) -> re.Pattern[str] | WildcardMatcher | None:
    """A matcher for a pattern; None for a pattern that matches nothing."""
    steps: list[PatternStep] = []
    for token in _TOKEN.finditer(pattern):
        more = _steps(token)
        if not more:
            return None
        steps += more
    if sum(step.loops for step in steps) >= _MANY:
        return WildcardMatcher(steps)
    return re.compile("".join(_regex(steps)), re.DOTALL)


def _regex(steps: list[PatternStep]) -> Iterator[str]:
    at = 0
    while at < len(steps):
        if steps[at] is GATE:
            yield "(?:.*/)?"
            at += 3
        else:
            yield steps[at].letter + "*" * steps[at].loops
            at += 1


_TOKEN = re.compile(
    r"(?P<any>(?:(?<=/)|\A)(?:\*\*+/)+)"
    r"|(?P<inside>(?:(?<=/)|\A)\*\*+\Z)"
    r"|(?P<star>\*+)"
    r"|(?P<one>\?)"
    r"|(?P<set>\[[!^]?(?:\\.|\[:[a-z]+:\]|[^\\])(?:\\.|\[:[a-z]+:\]|[^\\\]])*\])"
    r"|(?P<never>\[|\\\Z)"
    r"|\\?(?P<plain>.)",
    re.DOTALL,
)
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-\\/:-@\\[-`{-~",
    "space": " \\t-\\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


def _steps(token: re.Match[str]) -> list[PatternStep]:
    """The steps of one token; none for an unterminated set or escape, which matches nothing."""
    kind = token.lastgroup
    if kind == "set":
        letter = _set(token["set"][1:-1])
        return [PatternStep(letter)] if letter else []
    if kind == "plain":
        return [PatternStep(re.escape(token["plain"]))]
    return {
        "any": [GATE, PatternStep(".", loops=True), PatternStep("/")],
        "inside": [PatternStep("."), PatternStep(".", loops=True)],
        "star": [PatternStep("[^/]", loops=True)],
        "one": [PatternStep("[^/]")],
    }.get(str(kind), [])


def _set(inside: str) -> str:
    """Return a set as a regular expression; empty if git knows no such class, so that nothing matches."""
    negated = inside[0] in "!^"
    parts = iter(re.findall(r"\[:[a-z]+:\]|\\.|.", inside[negated:], re.DOTALL))
    said = ""
    before = ""
    for part in parts:
        after = next(parts, "") if part == "-" and before else ""
        if after:  # git takes only the first character of a reversed range, which was added above
            said += f"{re.escape(before)}-{re.escape(after[-1])}" if before <= after[-1] else ""
            before = ""
        elif len(part) > 2:
            if part[2:-2] not in _CLASSES:  # git gives up, whatever else the set holds
                return ""
            said += _CLASSES[part[2:-2]]
            before = ""
        else:
            before = part[-1]
            said += re.escape(before)
    return f"(?!/)[{'^' * negated}{said}]"
