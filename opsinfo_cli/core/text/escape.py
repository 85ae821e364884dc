"""Text that is safe to show: names and paths come from files, which may contain terminal escapes or CI commands."""

from __future__ import annotations

import re
import sys
import unicodedata

_INVISIBLE = (
    "\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800"
    "\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Blanks other than the plain one, marks of direction, selectors, fillers, tags: what a reader does not see."""
_HIDDEN = f"[\x00-\x1f\x7f-\x9f{_INVISIBLE}\ud800-\udfff]"
INVISIBLE = re.compile(f"[{_INVISIBLE}]")


def visible(text: str) -> str:
    """Escape control characters, invisible ones, and bytes that are not UTF-8."""
    return text if text.isascii() and text.isprintable() else re.sub(_HIDDEN, _escape, text)


def visible_line(line: str) -> str:
    """Escape a line of a file, except for tabs, which must survive copying."""
    return line if line.isascii() and line.isprintable() else "\t".join(map(visible, line.split("\t")))


def shown(text: str, encoding: str | None = None) -> str:
    """Return visible text in the characters that standard output, or an encoding, can show."""
    encoding = encoding or sys.stdout.encoding or "utf-8"
    return visible(text).encode(encoding, "backslashreplace").decode(encoding)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8 in a path
        return f"\\x{code - 0xDC00:02x}"
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (f"\\x{code:02x}" if code < 0xA0 else f"\\u{code:04x}")


def row(*fields: str) -> str:
    """Return one line of tab-separated fields without tabs, line ends or commands to a CI runner in them."""
    line = "\t".join(fields)
    if not (line.isascii() and "".join(fields).isprintable()):
        line = "\t".join(map(visible, fields))
    return inert(line)


def inert(line: str) -> str:
    """Return a line that no CI runner reads as a command.

    Source: actions/runner, src/Runner.Common/ActionCommand.cs: `TryParseV2` trims a line before it looks for `::`,
    with .NET's idea of blanks; `TryParse` looks for `##[` anywhere. Azure Pipelines reads `##vso[`, TeamCity
    `##teamcity[`.
    """
    if line[:1] in _MAY_COMMAND and line.lstrip(_BLANKS).startswith("::"):
        line = line.replace("::", "\\x3a:", 1)
    return re.sub(BRACKETED, r"\\x23#", line) if "##" in line else line


def inert_lines(text: str) -> str:
    """Return a text of any number of lines as :func:`inert` returns each; JSON stays equal JSON."""
    if "##" in text:
        is_json = text.lstrip()[:1] in ("{", "[")
        text = inert_json(text) if is_json else re.sub(BRACKETED, r"\\x23#", text)
    if "::" not in text:
        return text
    return "".join(inert(line) if number % 2 == 0 else line for number, line in enumerate(re.split(r"([\r\n]+)", text)))


def inert_json(text: str) -> str:
    """Return JSON in which a CI runner finds no command; the values stay the same."""
    return re.sub(BRACKETED, r"\\u0023#", text) if "##" in text else text


BRACKETED = r"##(?=[A-Za-z]*\[)"
"""How a command to a CI runner begins anywhere in a line: `##[`, `##vso[`, `##teamcity[`."""


_BLANKS = (
    " \t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004"
    "\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\x1c\x1d\x1e\x1f\u180e\u200b\ufeff"
)
"""What .NET's `String.Trim` removes, today (`char.IsWhiteSpace`) or in older versions."""
_MAY_COMMAND = frozenset(":" + _BLANKS)


def cell_width(text: str) -> int:
    """Return the width in terminal cells: a Chinese character takes two, a combining mark none."""
    if text.isascii():
        return len(text)
    width = 0
    for character in text:
        if unicodedata.category(character) not in ("Mn", "Me", "Cf"):
            width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


def shortened(path: str, room: int, is_node: bool = False) -> str:
    """Return a path in at most ``room`` cells, with ``...`` for folders in the middle, else for the middle of the name.

    The folders that differ in a list of files are the first ones, in a list of nodes the last ones, and the end of the
    name tells the file.

    >>> shortened("built-in/op_impl/config/aic-ascend910b-ops-info-math.json", 40)
    '.../aic-ascend910b-ops-info-math.json'
    >>> shortened("built-in/op_impl/config/aic-ascend910b-ops-info-math.json", 30)
    'aic-ascen...ops-info-math.json'
    >>> shortened("encoder/layer_3/attention/MatMul", 30, is_node=True)
    '.../layer_3/attention/MatMul'
    >>> shortened("encoder/layer_3/attention/MatMul_1", 12, is_node=True)
    '.../MatMul_1'
    >>> shortened("encoder/layer_3/attention/MatMul_1", 8, is_node=True)
    '...Mul_1'
    """
    if cell_width(path) <= room:
        return path
    *folders, name = path.split("/")
    starts = ["/".join(["...", *folders[number:], ""]) for number in range(1, len(folders) + 1)]
    if not is_node:
        starts = [*(f"{folder}/.../" for folder in folders[:1] if folder), *starts[-1:]]
    for start in starts:
        if cell_width(start + name) <= room:
            return start + name
    if is_node:  # the end is what tells it from others, and is copied
        return "..."[:room] + _prefix(name[::-1], max(room - 3, 0))[::-1]
    room = max(room, 8) - 3
    head = _prefix(name, room // 3)
    return head + "..." + _prefix(name[::-1], room - cell_width(head))[::-1]


def _prefix(text: str, room: int) -> str:
    """Return as many characters from the beginning as fit ``room`` cells."""
    for index, character in enumerate(text):
        room -= cell_width(character)
        if room < 0:
            return text[:index]
    return text


_OPENING, _CLOSING = "（《“‘【", "，。；：、！？）》”’】"
_PIECE = rf" +|[(]?`opsinfo\s[^`]*`[!-~]*|--> [^ ]+|[{_OPENING}]*(?:[!-~]+(?: %[!-~]*)?|[^ !-~])[{_CLOSING}]*"
"""Pieces that are not broken, so that they can be copied and read: blanks, a command, a place, a word, a number and its
%, or one wide character with its punctuation."""


def line_starts(text: str, cells: int, hanging: int = 0) -> list[int]:
    """Return where lines after the first begin if text is broken at blanks and between Chinese characters.

    A closing mark never begins a line. A path or command that is wider than a line is left for the terminal to wrap,
    and stays on the line on which it begins.

    :param cells: the width of the first line; the others have ``hanging`` cells less
    """
    starts: list[int] = []
    used, is_blank = 0, True
    room, next_room = cells, cells - hanging  # of this line, and of the one after it
    for match in re.finditer(_PIECE, text):
        piece = match.group()
        width = cell_width(piece)
        if not piece.isspace() and not is_blank and used + width > room and width <= next_room:
            starts.append(match.start())
            used, room = 0, next_room
        used += width
        is_blank = is_blank and piece.isspace()
    return starts


def wrapped(text: str, cells: int) -> list[str]:
    """Return text broken as :func:`line_starts` says.

    >>> wrapped("引擎只读 JSON，其余不认。", 16)
    ['引擎只读 JSON，', '其余不认。']
    >>> wrapped("a hint: `opsinfo list a/b/c` shows it", 16)
    ['a hint: `opsinfo list a/b/c`', 'shows it']
    """
    starts = line_starts(text, cells)
    return [text[start:end].rstrip(" ") for start, end in zip([0, *starts], [*starts, None], strict=True)]
