"""Messages of which a line has one at most, read from the lines of a window that were split for all readers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain, compress, count, islice, pairwise
from math import isfinite
from operator import ne
from typing import NamedTuple, TypeVar

from ..columns import Table, floats, looked_up
from ..numbers import number_columns
from ..sheet import Sheet
from ..steps import StepFields
from .message import Message, MessageLayout
from .message_lines import LinePlace, MessageLines
from .message_runs import NEAR, message_runs

_SHORTEST = NEAR - 1
"""Lines of at least this length between two messages make a text long enough for a step."""

_FEW = 4
_SELDOM = 8
"""If fewer messages than one of these differ from the one before, it is faster to take runs of equal ones."""

Value = TypeVar("Value")
Fact = Callable[[re.Match[bytes]], bool]


class Messages:
    """The messages of a window."""

    def __init__(self, message: Message, sheet: Sheet) -> None:
        self._message = message
        self._sheet = sheet
        found = _found_in(message, sheet)
        self._found = found or {}
        """The message in each shape of a line that has one; empty too if messages must be searched for in the text."""
        are_lines = found is not None and all(match[0] == match.string for match in found.values())
        self._kinds = set(self._found) if are_lines else None
        """The shapes of messages, if each is a whole line."""

    @cached_property
    def _lines(self) -> MessageLines:
        return MessageLines(set(self._found), self._sheet)

    @cached_property
    def begins(self) -> list[int]:
        """Where the line of each message begins."""
        return list(compress(self._sheet.begins, self._lines.chosen))

    def count(self, word: bytes) -> int:
        """Return how often messages have a word without digits."""
        kinds = self._sheet.kinds
        return sum(kinds[shape] * match[0].count(word) for shape, match in self._found.items()) if kinds else 0

    def scales(self, steps: StepFields | None = None) -> Scales | None:
        """Return the scales of each message, if they change often; else None, and :meth:`runs` gives the messages."""
        if not self._found or (self._kinds and _only(self._kinds, self._sheet)):
            return None
        layouts = self._layouts()
        if not layouts or _FEW * len(self._lines.texts) < len(self._lines.chosen):
            return None
        texts = self._texts(layouts)
        firsts = [True, *map(ne, islice(texts, 1, None), texts)]
        if _SELDOM * (sum(firsts) - 1) < len(texts):
            return None
        columns = self._columns(layouts, floats)
        if not all(map(isfinite, chain.from_iterable(columns))):
            return None
        if steps is None:
            return Scales(columns, [None] * len(texts), firsts)
        is_known = self._kinds or self._are_apart(steps)
        ats = steps.take_between(self._sheet, self._lines.chosen) if is_known else None
        if ats is None:
            return None
        return Scales(columns, ats, self._lines.parted(firsts) if self._kinds else [True] * len(texts))

    def facts(self, fact: Fact) -> list[bool]:
        """Return a fact of each message that :meth:`scales` gives.

        :param fact: tells it, given the match of a shape
        """
        of = {shape: fact(match) for shape, match in self._found.items()}
        if len(set(of.values())) == 1:
            return [next(iter(of.values()))] * len(self._lines.texts)
        copied = self._sheet.copied_lines_of(of)
        if copied:
            return looked_up(copied, map(of.__getitem__, copied.values()), self._lines.texts)
        return list(map(of.__getitem__, self._shapes))

    @property
    def _shapes(self) -> Iterator[bytes]:
        """The shape of each line with a message."""
        return compress(self._sheet.shapes, self._lines.chosen)

    @property
    def _text(self) -> bytes:
        """The lines with a message."""
        sheet = self._sheet
        return sheet.data[: sheet.limit] if sheet.is_all_of(set(self._found)) else b"\n".join(self._lines.texts)

    def _layouts(self) -> dict[bytes, MessageLayout]:
        """Return the layout of each shape of a message; nothing if one has none, or more numbers than another."""
        layouts = {shape: layout for shape in self._found if (layout := self._message.layout(shape))}
        is_whole = len(layouts) == len(self._found) and len({len(each.numbers) for each in layouts.values()}) == 1
        return layouts if is_whole else {}

    def columns(self, read: Callable[[Sequence[bytes | str]], list[Value]]) -> list[list[Value]]:
        """Return each number of each message; nothing if they must be searched for.

        :param read: reads the numbers of a column
        """
        layouts = self._layouts()
        return self._columns(layouts, read) if layouts else []

    def _columns(
        self, layouts: dict[bytes, MessageLayout], read: Callable[[Sequence[bytes | str]], list[Value]]
    ) -> list[list[Value]]:
        texts = self._lines.texts
        copied = self._sheet.copied_lines_of(layouts)
        if copied:
            table = Table.of(list(copied), [layouts[shape].numbers for shape in copied.values()])
            return [looked_up(copied, read(column), texts) for column in _columns_of(table)]
        order, *others = {layout.order for layout in layouts.values()}
        if order and order.is_short and not others:
            return list(map(read, number_columns(self._text, order)))
        return list(map(read, self._slices({shape: layout.numbers for shape, layout in layouts.items()})))

    def _texts(self, layouts: dict[bytes, MessageLayout]) -> list[bytes]:
        """Return the text of each message."""
        if self._kinds:
            return self._lines.texts
        (texts,) = self._slices({shape: (layout.message,) for shape, layout in layouts.items()})
        return texts

    def _slices(self, places: dict[bytes, tuple[slice, ...]]) -> list[list[bytes]]:
        """Return the parts of each line with a message, given those of its shape."""
        kinds = list(places.values())
        return _columns_of(Table(self._lines.texts, kinds, lambda: list(map(places.__getitem__, self._shapes))))

    def _are_apart(self, steps: StepFields) -> bool:
        """Whether what is between two messages is long enough for a step, and the lines of messages show none."""
        before = {shape[: match.start()] for shape, match in self._found.items()}
        after = {shape[match.end() :] for shape, match in self._found.items()}
        if min(map(len, before)) + min(map(len, after)) < _SHORTEST:
            return False
        return steps.has_none({*before, *after, *self._found})

    def runs(self, steps: StepFields | None = None, moves: Fact | None = None) -> Iterator[tuple[re.Match[bytes], int]]:
        """Yield the first of each run of equal messages, and their number, as :func:`.message_runs` does.

        :param moves: whether a message shows two scales, so that each copy is a run
        """
        pattern, sheet, kinds = self._message.pattern, self._sheet, self._kinds
        if kinds is None:
            yield from message_runs(pattern, self._message.mark, sheet.data, sheet.limit, steps, moves)
            return
        if not kinds:
            return
        place = None if steps is None or steps.has_none(sheet.kinds or ()) else LinePlace(sheet, steps)
        only = _only(kinds, sheet) if place is None and moves is None else None
        if only:
            text, many = only
            for copies in _equal(text, many, sheet) if steps else [many]:
                yield _matched(pattern, text), copies
            if steps:
                steps.skip(sheet.limit)
            return
        lines = self._lines
        changes = compress(count(1), map(ne, islice(lines.texts, 1, None), lines.texts))
        for first, stop in pairwise([0, *changes, len(lines.texts)]):
            text = lines.texts[first]
            match = _matched(pattern, text)
            at_once = b"nan" not in text and not (moves and moves(match))
            for copies in lines.runs(first, stop, at_once, steps, place):
                yield match, copies
        if place:
            place.skip(lines.places[-1])
        elif steps:
            steps.skip(sheet.limit)


class Scales(NamedTuple):
    """Scales in the order of their messages."""

    columns: list[list[float]]
    """The first scale of each message, the second, and so on."""
    ats: list[int | None]
    """The last step before each message; None if steps are not asked for."""
    firsts: list[bool]
    """Whether each message is the first of equal ones in a row; other lines between them part them."""


def _found_in(message: Message, sheet: Sheet) -> dict[bytes, re.Match[bytes]] | None:
    """Return the message in each shape that has one; None if messages must be searched for in the text."""
    if sheet.kinds is None:
        return None
    mark = message.mark
    found = {shape: message.found(shape) for shape in sheet.kinds if mark in shape}
    others = sheet.kinds.keys() - found.keys() - ({b""} if sheet.kinds[b""] == 1 else set())  # after the last line end
    if any(len(shape) < _SHORTEST or b"\r" in shape for shape in others):
        return None
    if any(shape.count(mark) > 1 or b"\r" in shape for shape in found):
        return None
    known = {shape: match for shape, match in found.items() if match}
    return known if len(known) == len(found) else None


def _columns_of(table: Table[tuple[slice, ...]]) -> list[list[bytes]]:
    return list(map(table.column, range(len(table.kinds[0]))))


def _matched(pattern: re.Pattern[bytes], text: bytes) -> re.Match[bytes]:
    match = pattern.match(text)
    assert match is not None
    return match


def _only(kinds: set[bytes], sheet: Sheet) -> tuple[bytes, int] | None:
    """Return the only message of a window with its number; None if there are several, or that is not known."""
    shape = next(iter(kinds))
    if sheet.kinds and len(kinds) == 1 and b"0" not in shape and b"nan" not in shape:
        return shape, sheet.kinds[shape]
    if sheet.copies is None:
        return None
    text, *others = sheet.copied_lines_of(kinds)
    return None if others or b"nan" in text else (text, sheet.copies[text])


def _equal(text: bytes, many: int, sheet: Sheet) -> Iterator[int]:
    """Yield the number of messages before the first other line between messages, and that of the rest."""
    begin = sheet.lines.index(text)
    first = next((at for at in range(1, many) if sheet.lines[begin + at] != text), many)
    yield first
    if first < many:
        yield many - first
