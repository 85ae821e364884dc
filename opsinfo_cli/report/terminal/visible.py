"""Text that is safe to show: names and paths come from files, and files may hold terminal escapes."""

from __future__ import annotations

import re
import sys

_HIDDEN = "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"


def visible(text: str) -> str:
    """Control characters, direction marks and bytes that were no UTF-8 in escaped form."""
    return text if text.isprintable() else re.sub(_HIDDEN, _escape, text)


def visible_text(line: str) -> str:
    """A line of a text with its tabs: they are layout there, and what is copied must be what the file says."""
    return line if line.isprintable() else "\t".join(map(visible, line.split("\t")))


def shown(text: str) -> str:
    """Visible text as standard output will have it: columns are measured after what it lacks is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    return visible(text).encode(encoding, "backslashreplace").decode(encoding)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a path that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def row(*fields: str) -> str:
    """One line of tab-separated fields, none of which can hold a tab or a line end, or command a CI runner."""
    line = "\t".join(fields)
    if not "".join(fields).isprintable():
        line = "\t".join(map(visible, fields))
    return inert(line)


def inert(line: str) -> str:
    """A line that no CI runner takes for a command, as GitHub's does one that begins with `::` or has `##[`."""
    if line[:1] in _MAY_COMMAND and line.lstrip().startswith("::"):
        line = line.replace("::", "\\x3a:", 1)
    return line.replace("##[", "\\x23#[") if "##[" in line else line


_MAY_COMMAND = frozenset(": \t\v\f\x85\xa0\u2003\u3000")
