"""The lines of a window and their shapes, split once for all readers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from functools import cached_property
from itertools import compress

from .shapes import ZEROS

_MOST = 256
_SAMPLE = 256
_OFTEN = 4


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
            kinds = Counter(self.shapes)
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

    @cached_property
    def lines(self) -> list[bytes]:
        return self.data[: self.limit].split(b"\n")

    @cached_property
    def shapes(self) -> list[bytes]:
        """The shape of each line."""
        if self.copies is None:
            return _shapes_of(self.data[: self.limit])
        return list(map(self._shape_of.__getitem__, self.lines))

    def lines_of(self, shapes: Container[bytes]) -> set[bytes]:
        """Return the lines of some shapes, each once, if most lines are copies."""
        return {line for line, shape in self._shape_of.items() if shape in shapes}

    def has(self, word: bytes) -> bool:
        """Whether a line may have a word. It is certain that there is none, not that there is one."""
        return (word if self.kinds is None else word.translate(ZEROS)) in self._words

    def count(self, word: bytes) -> int:
        """Return how often the lines have a word without digits."""
        if self.kinds is None:
            return self.data.count(word, 0, self.limit)
        return sum(many * shape.count(word) for shape, many in self.kinds.items() if word in shape)

    def lines_with(self, *words: bytes) -> tuple[list[bytes], list[bytes] | None]:
        """Return the lines that have one of some words, and the shapes of these lines if they are at hand."""
        if self.kinds is None:
            words = tuple(word for word in words if word in self.data)
            if len(words) == 1:
                (word,) = words
                return [line for line in self.lines if word in line], None
            return [line for line in self.lines if any(word in line for word in words)], None
        shown = [word.translate(ZEROS) for word in words]
        wanted = {shape for shape in self.kinds if any(word in shape for word in shown)}
        if not wanted:
            return [], []
        lines, shapes = self.lines, self.shapes
        if self.kinds.keys() - wanted == {b""} and self.kinds[b""] == 1:  # what follows the last line end
            lines, shapes = lines[:-1], shapes[:-1]
        else:
            chosen = list(map(wanted.__contains__, shapes))
            lines, shapes = list(compress(lines, chosen)), list(compress(shapes, chosen))
        if tuple(shown) == words:
            return lines, shapes
        return [line for line in lines if any(word in line for word in words)], None


def _shapes_of(text: bytes) -> list[bytes]:
    return text.translate(ZEROS).split(b"\n")


def _repeated(lines: list[bytes]) -> Counter[bytes] | None:
    """Return how many there are of each line; None if they are hardly ever repeated."""
    sample = lines[:_SAMPLE]
    if _OFTEN * len(set(sample)) > len(sample):
        return None
    copies = Counter(lines)
    return copies if _OFTEN * len(copies) <= len(lines) else None
