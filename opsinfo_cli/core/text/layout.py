"""Edits in the style of the file: indent, line ends and separators are those of neighbouring members."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .patch import Edit
from .scanner import Node

if TYPE_CHECKING:
    from typing import TypeAlias

Value: TypeAlias = "str | Mapping[str, Value] | list[str]"
"""A value to write: strings, and objects and arrays of them."""


class Style(NamedTuple):
    """The layout used without a neighbour, and for what is in a new value.

    :param unit: the unit of indent; None for a file of one line
    :param flat_arrays: whether arrays are on one line in a file of several lines
    """

    unit: str | None = "    "
    newline: str = "\n"
    colon: str = ":"
    flat_arrays: bool = False

    @property
    def comma(self) -> str:
        """The comma of a container on one line, with a blank if one follows the colon."""
        return "," if self.colon == ":" else ", "

    def inside(self, indent: str, kind: str) -> Layout:
        """Return the layout of a container whose line is indented by ``indent``."""
        if self.unit is None or (kind == "array" and self.flat_arrays):
            return Layout("", "", self.comma, self.colon)
        lead = self.newline + indent + self.unit
        return Layout(lead, self.newline + indent, "," + lead, self.colon)

    def render(self, value: Value, indent: str) -> str:
        if isinstance(value, str):
            return quote(value)
        layout = self.inside(indent, "array" if isinstance(value, list) else "object")
        inner = indent + (self.unit or "")
        if isinstance(value, list):
            parts = [quote(item) for item in value]
        else:
            parts = [quote(key) + self.colon + self.render(each, inner) for key, each in value.items()]
        opening, closing = "[]" if isinstance(value, list) else "{}"
        if not parts:
            return opening + closing
        return opening + layout.lead + layout.gap.join(parts) + layout.tail + closing


class Layout(NamedTuple):
    """The text between the parts of a container: after its opening, before its closing, between members."""

    lead: str
    tail: str
    gap: str
    colon: str


def quote(text: str) -> str:
    """Return a JSON string; non-ASCII characters are not escaped."""
    return json.dumps(text, ensure_ascii=False)


def style_of(text: str, root: Node) -> Style:
    """Return the style of a file, from the first line and colon of its root, and its first array."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.parts:
        return Style(newline=newline)
    lead = text[root.start + 1 : root.parts[0].start]
    last = lead.rpartition("\n")[2]  # which may have a comment behind the blanks
    unit = last[: len(last) - len(last.lstrip(" \t"))] if "\n" in lead else None
    if unit == "":
        unit = "    " if any(re.search(r"\n[ \t]", text[m.value.start : m.value.end]) for m in root) else ""
    array = _first_array(root)
    flat = array is not None and "\n" not in text[array.start : array.end]
    return Style(unit, newline, _colon(text, root) or ":", flat)


def _first_array(node: Node) -> Node | None:
    if node.kind == "array":
        return node if node.items else None
    return next((found for member in node if (found := _first_array(member.value))), None)


def add_member(text: str, container: Node, key: str, value: Value, style: Style) -> Edit:
    """Insert a member in sorted order, or at the end if the container is not sorted."""
    keys = [member.name for member in container]
    at = bisect_left(keys, key) if keys == sorted(keys) else len(keys)
    like = next((member.value for member in container if member.value.members), None)
    flat = isinstance(value, Mapping) and all(isinstance(each, str) for each in value.values())
    if like and flat and isinstance(value, Mapping):  # in the layout of a sibling
        layout = _layout(text, like, Style())
        members = [quote(name) + layout.colon + quote(str(each)) for name, each in value.items()]
        written = "{" + layout.lead + layout.gap.join(members) + layout.tail + "}"
    else:
        written = style.render(value, members_indent(text, container, style))
    colon = _colon(text, container) or style.colon
    return _insert(text, container, at, [quote(key) + colon + written], style)


def add_items(text: str, container: Node, items: Sequence[str], style: Style) -> Edit:
    return _insert(text, container, len(container.items), [quote(item) for item in items], style)


def drop_items(container: Node, indexes: Sequence[int]) -> list[Edit]:
    """Remove items, given their indexes in ascending order."""
    if len(indexes) == len(container.items):
        return [Edit(container.start + 1, container.end - 1, "")]
    going = set(indexes)
    kept = len(container.items)  # items up to the last one that is kept
    while kept - 1 in going:
        kept -= 1
    edits = [drop_part(container, index) for index in indexes if index < kept]
    if kept < len(container.items):  # the last ones are removed with the comma before them
        edits.append(Edit(container.items[kept - 1].end, container.items[-1].end, ""))
    return edits


def drop_part(container: Node, index: int) -> Edit:
    """Remove one part with its comma and its line; the blanks around the others are kept."""
    parts = container.parts
    if len(parts) == 1:
        return Edit(container.start + 1, container.end - 1, "")
    if index < len(parts) - 1:
        return Edit(parts[index].start, parts[index + 1].start, "")
    return Edit(parts[index - 1].end, parts[index].end, "")


def _insert(text: str, container: Node, at: int, bodies: Sequence[str], style: Style) -> Edit:
    parts = container.parts
    if not parts:
        layout = style.inside(line_indent(text, container.start), container.kind)
        return Edit(container.start + 1, container.end - 1, layout.lead + layout.gap.join(bodies) + layout.tail)
    layout = _layout(text, container, style)
    if at == len(parts):
        return Edit(parts[-1].end, parts[-1].end, "".join(layout.gap + body for body in bodies))
    return Edit(parts[at].start, parts[at].start, "".join(body + layout.gap for body in bodies))


def _layout(text: str, container: Node, style: Style) -> Layout:
    parts = container.parts
    lead = text[container.start + 1 : parts[0].start]
    tail = text[parts[-1].end : container.end - 1]
    if len(parts) > 1:
        gap = text[parts[0].end : parts[1].start]
    elif "\n" in lead:
        gap = "," + lead
    else:
        gap = style.comma
    return Layout(lead, tail, gap, _colon(text, container) or style.colon)


def _colon(text: str, container: Node) -> str | None:
    if not container.members:
        return None
    first = container.members[0]
    between = text[first.key.end : first.value.start]
    return between if not re.search("[/#]", between) else ": " if between[-1:].isspace() else ":"


def line_indent(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t"))]


def members_indent(text: str, container: Node, style: Style) -> str:
    parts = container.parts
    if parts and "\n" in text[container.start : parts[0].start]:
        return line_indent(text, parts[0].start)
    return line_indent(text, container.start) + (style.unit or "")
