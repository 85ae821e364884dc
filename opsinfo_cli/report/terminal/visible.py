"""Text that is safe to show: names and paths come from files, which may contain terminal escapes."""

from __future__ import annotations

import re
import sys

_HIDDEN = "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"


def visible(text: str) -> str:
    """Escape control characters, direction marks and bytes that are not UTF-8."""
    return text if text.isprintable() else re.sub(_HIDDEN, _escape, text)


def visible_text(line: str) -> str:
    """Return a line of a text, escaped except for tabs, which must survive copying."""
    return line if line.isprintable() else "\t".join(map(visible, line.split("\t")))


def shown(text: str) -> str:
    """Return visible text as standard output shows it, for measuring columns after escaping."""
    encoding = sys.stdout.encoding or "utf-8"
    return visible(text).encode(encoding, "backslashreplace").decode(encoding)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8 in a path
        return f"\\x{code - 0xDC00:02x}"
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def row(*fields: str) -> str:
    """Return one line of tab-separated fields without tabs, line ends or commands to a CI runner in them."""
    line = "\t".join(fields)
    if not "".join(fields).isprintable():
        line = "\t".join(map(visible, fields))
    return inert(line)


def inert(line: str) -> str:
    """Return a line that no CI runner reads as a command; GitHub's reads `::` at the start and `##[` anywhere."""
    if line[:1] in _MAY_COMMAND and line.lstrip().startswith("::"):
        line = line.replace("::", "\\x3a:", 1)
    return line.replace("##[", "\\x23#[") if "##[" in line else line


_MAY_COMMAND = frozenset(": \t\v\f\x85\xa0\u2003\u3000")
