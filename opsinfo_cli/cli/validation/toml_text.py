"""Parse TOML within limits: a text that would stall or break the parser is refused before parsing."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from ...errors import UsageFault
from ...text.source import Source

MAX_SIZE = 1 << 20
"""The most characters; a `pyproject.toml` has some thousands."""
MAX_DEPTH = 32
"""The deepest nesting of arrays and inline tables."""
MAX_KEY_PARTS = 32
"""The most parts of a dotted key: the parser's time grows with their square."""
MAX_DIGITS = 1000
"""The most digits of a number; Python refuses to convert a few thousand."""

_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)'
    r"|'''(?:[^']|'(?!''))*(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?'
    r"|'[^'\n]*'?"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])"
    r"|(?P<digits>[0-9][0-9_]*)"
    r"|(?P<dot>\.)|(?P<line>[\n=,])"
    r"|[A-Za-z_-]+",
    re.DOTALL,
)


def parsed_toml(source: Source) -> dict[str, Any]:
    """Return the content of a TOML text.

    :raises UsageFault: if it is not valid TOML or exceeds a limit, with the place
    """
    for at, reason in _beyond_limits(source.text):
        place = source.place(at)
        raise UsageFault(reason, name="config", path=source.path, line=place.line, column=place.column)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(found[1]), int(found[2])) if found else (None, None)
        said = re.sub(r" \(at line .*\)", "", str(error))
        raise UsageFault(f"invalid TOML: {said}", name="config", path=source.path, line=line, column=column) from None
    except (ValueError, RecursionError, OverflowError) as error:
        raise UsageFault(f"cannot read as TOML: {error}", name="config", path=source.path) from None


def _beyond_limits(text: str) -> Iterator[tuple[int, str]]:
    """Yield offset and reason of each limit that a text exceeds, in one pass."""
    if len(text) > MAX_SIZE:
        yield 0, f"a configuration file must not be larger than {MAX_SIZE} characters"
        return
    depth = parts = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
            parts = 0
        elif kind == "close":
            depth -= 1
        elif kind == "dot":
            parts += 1
        elif kind == "line":
            parts = 0
        if depth > MAX_DEPTH:
            yield token.start(), f"nested deeper than {MAX_DEPTH} levels"
        if parts >= MAX_KEY_PARTS:
            yield token.start(), f"a dotted key must not have more than {MAX_KEY_PARTS} parts"
        if kind == "digits" and len(token.group()) > MAX_DIGITS:
            yield token.start(), f"a number must not have more than {MAX_DIGITS} digits"
