"""The lines of one .gitignore file, matched as git matches them (gitignore(5), wildmatch.c)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class IgnorePattern(NamedTuple):
    """One pattern.

    :param regex: for the path relative to the file's folder, or for the name alone
    """

    regex: re.Pattern[str]
    by_name: bool
    folders_only: bool
    ignores: bool

    def fits(self, path: str, is_folder: bool) -> bool:
        if self.folders_only and not is_folder:
            return False
        return bool(self.regex.fullmatch(path.rsplit("/", 1)[-1] if self.by_name else path))


def patterns_in(text: str) -> list[IgnorePattern]:
    """The last line comes first: it is the one that counts."""
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
    pattern = "".join(_translated(text.removeprefix("/")))
    return IgnorePattern(re.compile(pattern, re.DOTALL), by_name, folders_only, ignores)


_TOKEN = re.compile(
    r"(?P<any>(?:(?<=/)|\A)\*\*+/)"
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
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-\\/:-@\\[-`{-~",
    "space": " \\t-\\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


def _translated(pattern: str) -> Iterator[str]:
    """A pattern as a regular expression. A set or an escape that does not end fits nothing."""
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup
        if kind == "set":
            yield _set(token["set"][1:-1])
        elif kind == "plain":
            yield re.escape(token["plain"])
        else:
            yield {"any": "(?:.*/)?", "inside": ".+", "star": "[^/]*", "one": "[^/]", "never": "(?!)"}[str(kind)]


def _set(inside: str) -> str:
    negated = inside[0] in "!^"
    parts = iter(re.findall(r"\[:[a-z]+:\]|\\.|.", inside[negated:], re.DOTALL))
    said = ""
    before = ""
    for part in parts:
        after = next(parts, "") if part == "-" and before else ""
        if after:  # of a range that runs backwards git takes the first alone, which has been said
            said += f"{re.escape(before)}-{re.escape(after[-1])}" if before <= after[-1] else ""
            before = ""
        elif len(part) > 2:
            said += _CLASSES.get(part[2:-2], "")
            before = ""
        else:
            before = part[-1]
            said += re.escape(before)
    if not said:
        return "[^/]" if negated else "(?!)"
    return f"(?!/)[{'^' * negated}{said}]"
