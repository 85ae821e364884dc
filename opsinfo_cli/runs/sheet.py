"""The lines of a window and their shapes, split once for all readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from functools import cached_property
from itertools import accumulate, compress
from typing import TypeVar

from .columns import Table
from .shapes import ZEROS, Shapes

Row = TypeVar("Row")

_MOST = 256
_SAMPLE = 256
_OFTEN = 4
_CYCLE = 1 << 12
"""A cycle of lines is looked for at the start of a window, up to here."""


class Sheet:
    """A window of a log: the text before ``limit``, with what is printed after it for a message that is not complete.

    :attr:`kinds` is made if asked for by ``by_shape``: this costs as much as a search of the window for ten words, and
    answers whether a line has a word for any number of words.
    """

    def __init__(self, data: bytes, limit: int, by_shape: bool = False) -> None:
        self.data = data
        self.limit = limit
        self.kinds: Counter[bytes] | None = None
        """How many lines there are of each shape; None if lines have many shapes, or without ``by_shape``."""
        self.copies: Counter[bytes] | None = None
        """How many there are of each line; None if most lines are different, or without :attr:`kinds`."""
        self._shape_of: dict[bytes, bytes] = {}
        self._words = data
        if by_shape and data[limit - 1 : limit] == b"\n":
            self._look_up()

    def _look_up(self) -> None:
        self.copies = _repeated(self.lines)
        if self.copies is None:
            kinds = self._counted()
        else:
            self._shape_of = dict(zip(self.copies, _shapes_of(b"\n".join(self.copies)), strict=True))
            kinds = Counter()
            for shape, many in zip(self._shape_of.values(), self.copies.values(), strict=True):
                kinds[shape] += many
        if len(kinds) <= _MOST:
            self.kinds = kinds
            self._words = b"\n".join(kinds)
        else:
            self.copies = None

    def _counted(self) -> Counter[bytes]:
        """Return how many lines there are of each shape; if they repeat in a cycle, its repetitions are compared."""
        text = self.data[: self.limit].translate(ZEROS)
        first = text[: text.index(b"\n") + 1]
        cycle = text[: text.find(b"\n" + first, 0, _CYCLE) + 1]
        many = len(text) // len(cycle) if cycle else 0
        rest = text[many * len(cycle) :]
        if not many or not cycle.startswith(rest) or text != cycle * many + rest:
            self.shapes = text.split(b"\n")
            return Counter(self.shapes)
        shapes, last = cycle.split(b"\n")[:-1], rest.split(b"\n")
        self.shapes = shapes * many + last
        counted = Counter(last)
        for shape in shapes:
            counted[shape] += many
        return counted

    @cached_property
    def lines(self) -> list[bytes]:
        return self.data[: self.limit].split(b"\n")

    @cached_property
    def shapes(self) -> list[bytes]:
        """The shape of each line."""
        if self.copies is None:
            return _shapes_of(self.data[: self.limit])
        return list(map(self._shape_of.__getitem__, self.lines))

    def copied_lines_of(self, shapes: Container[bytes]) -> dict[bytes, bytes]:
        """Return the lines of some shapes, each once, with its shape; nothing if most lines are different."""
        return {line: shape for line, shape in self._shape_of.items() if shape in shapes}

    def has(self, word: bytes) -> bool:
        """Whether a line may have a word. It is certain that there is none, not that there is one."""
        return (word if self.kinds is None else word.translate(ZEROS)) in self._words

    def count(self, word: bytes) -> int:
        """Return how often the lines have a word without digits."""
        if self.kinds is None:
            return self.data.count(word, 0, self.limit)
        return sum(many * shape.count(word) for shape, many in self.kinds.items() if word in shape)

    def table(self, places: Shapes[Row], *words: bytes) -> Table[Row]:
        """Return the lines that have one of some words without digits, with the places of their fields."""
        lines, shapes = self.lines_with(*words)
        if shapes is None:
            return Table.of(lines, places.of_all(lines))
        known = {shape: places.of(shape) for shape in self._shapes_with(words)}
        return Table(lines, list(known.values()), lambda: list(map(known.__getitem__, shapes)))

    def whole_table(self, places: Shapes[Row | None], word: bytes) -> Table[Row] | None:
        """Return the lines that have a word; None if one of them has no places, or if :attr:`kinds` is unknown."""
        if self.kinds is None:
            return None
        table = self.table(places, word)
        kinds = [kind for kind in table.kinds if kind is not None]
        if not kinds or len(kinds) < len(table.kinds):
            return None
        return Table(table.lines, kinds, lambda: [row for row in table.rows if row is not None])

    def lines_with(self, *words: bytes) -> tuple[list[bytes], list[bytes] | None]:
        """Return the lines that have one of some words, and the shapes of these lines if they are at hand."""
        if self.kinds is None:
            words = tuple(word for word in words if word in self.data)
            if len(words) == 1:
                (word,) = words
                return [line for line in self.lines if word in line], None
            return [line for line in self.lines if any(word in line for word in words)], None
        lines, shapes = self.lines_of(self._shapes_with(words))
        if any(word != word.translate(ZEROS) for word in words):
            return [line for line in lines if any(word in line for word in words)], None
        return lines, shapes

    def _shapes_with(self, words: tuple[bytes, ...]) -> set[bytes]:
        shown = [word.translate(ZEROS) for word in words]
        return {shape for shape in self.kinds or () if any(word in shape for word in shown)}

    @cached_property
    def begins(self) -> list[int]:
        """Where each line begins."""
        return list(accumulate(map((1).__add__, map(len, self.lines)), initial=0))

    def begins_of(self, word: bytes) -> list[int]:
        """Return where each line begins that has a word without digits; :attr:`kinds` is known."""
        return list(compress(self.begins, map(self._shapes_with((word,)).__contains__, self.shapes)))

    def is_all_of(self, wanted: set[bytes]) -> bool:
        """Whether each line is of one of some shapes, except the empty text after the last line end."""
        return self.kinds is not None and self.kinds.keys() - wanted == {b""} and self.kinds[b""] == 1

    def lines_of(self, wanted: set[bytes]) -> tuple[list[bytes], list[bytes]]:
        """Return the lines of some shapes, and the shape of each; :attr:`kinds` is known."""
        lines, shapes = self.lines, self.shapes
        if not wanted or self.kinds is None:
            return [], []
        if self.is_all_of(wanted):
            return lines[:-1], shapes[:-1]
        chosen = list(map(wanted.__contains__, shapes))
        return list(compress(lines, chosen)), list(compress(shapes, chosen))


def _shapes_of(text: bytes) -> list[bytes]:
    return text.translate(ZEROS).split(b"\n")


def _repeated(lines: list[bytes]) -> Counter[bytes] | None:
    """Return how many there are of each line; None if they are hardly ever repeated."""
    sample = lines[:_SAMPLE]
    if _OFTEN * len(set(sample)) > len(sample):
        return None
    copies = Counter(lines)
    return copies if _OFTEN * len(copies) <= len(lines) else None
