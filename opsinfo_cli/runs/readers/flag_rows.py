"""Lines with an overflow flag, read by their shape: many at once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress, repeat
from operator import add, mul, sub
from typing import ClassVar, NamedTuple, cast

from ..columns import Table, integers
from ..flags import Flags
from ..shapes import Shapes
from ..sheet import Sheet
from ..steps import StepFields
from .reader import Reader


class FlagRow(NamedTuple):
    """The places of a line's fields.

    :param over: whether it overflowed, if the line has a word for it
    :param flag: the place of a digit that shows it
    :param epoch: where the epoch is, if the step is counted from its start; ``length`` is then known
    :param length: where the steps per epoch are
    :param dynamic: whether the line names its scale as only dynamic scaling does
    """

    over: bool
    flag: slice | None
    step: slice | None
    epoch: slice | None
    length: slice | None
    scale: slice | None
    dynamic: bool = False


class FlagReader(Reader):
    """A format with an overflow flag in each line. Lines that :meth:`row` cannot describe are read by :meth:`line`."""

    words: ClassVar[tuple[bytes, ...]]
    """Every line with a mark has one of these."""

    places_all: ClassVar[bool] = True
    """Whether a line without a scale shows too that this log prints steps."""

    def __init__(self, over: Callable[[bytes], bool | None]) -> None:
        """:param over: whether a number that is a flag means an overflow; lines with others are left to :meth:`line`"""
        super().__init__()
        self.flags = Flags()
        self._over = over
        self._base: int | None = None
        """The first epoch."""
        self._rows: Shapes[FlagRow | bool] = Shapes(self._row_of)

    def row(self, shape: bytes) -> FlagRow | None:
        """Return where a line of this shape has its flag; None if that needs a look at the line itself."""
        raise NotImplementedError

    def line(self, line: bytes) -> bool:
        """Read a line that has no row, and return whether it was of this format."""
        raise NotImplementedError

    def _row_of(self, shape: bytes) -> FlagRow | bool:
        """:returns: False if the line is of no interest, True if :meth:`line` must read it"""
        if not any(mark in shape for mark in self.marks):
            return False
        return self.row(shape) or True

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        table = sheet.table(self._rows, *self.words)
        overs = self._overs(cast("Table[FlagRow]", table)) if _is_plain(table) else [None]
        if None not in overs:
            whole = len(table) >= len(sheet.lines) - 1  # all but what follows the last line end, which is empty
            text = b"" if whole else b"\n".join(table.lines)
            self.overflow_words += sheet.count(b"verflow") if whole else text.count(b"verflow")
            self.scale_words += sheet.count(b"cale") if whole else text.count(b"cale")
            if overs:
                self._take(cast("Table[FlagRow]", table), cast("list[bool]", overs))
            return
        at = 0
        while at < len(table):
            at = self._take_some(table.lines, table.rows, at)

    def _overs(self, table: Table[FlagRow]) -> list[bool] | list[bool | None]:
        """Return whether each line shows an overflow; None if its number is no flag."""
        flags = table.values_of_kinds(1)
        if not any(flags):
            return table.values(0) if table.lines else []
        if all(flags):
            texts = table.column(1)
            if texts.count(texts[0]) == len(texts):
                return [self._over(texts[0])] * len(texts)
            return list(map(self._over, texts))
        return [
            self._over(line[row.flag]) if row.flag else row.over
            for line, row in zip(table.lines, table.rows, strict=True)
        ]

    def _take_some(self, lines: list[bytes], rows: list[FlagRow | bool], begin: int) -> int:
        """Take lines from ``begin`` on that have a row, or one that has none; returns the first that is left."""
        overs: list[bool] = []
        for at in range(begin, len(lines)):
            row = rows[at]
            if row is True or row is False:
                break
            over = self._over(lines[at][row.flag]) if row.flag else row.over
            if over is None:
                break
            overs.append(over)
        end = begin + len(overs)
        if overs:
            self._take(Table.of(lines[begin:end], cast("list[FlagRow]", rows[begin:end])), overs)
        return self._take_others(lines, rows, end)

    def _take_others(self, lines: list[bytes], rows: list[FlagRow | bool], begin: int) -> int:
        """Take the line at ``begin``, and lines without a row after it; returns the first that is left."""
        end = next((at for at in range(begin + 1, len(lines)) if not isinstance(rows[at], bool)), len(lines))
        others = list(compress(lines[begin:end], rows[begin:end]))
        if others:
            self.lines += self.several(others)
        return end

    def several(self, lines: list[bytes]) -> int:
        """Read lines that have no row, and return how many were of this format."""
        return sum(map(self.line, lines))

    def _take(self, table: Table[FlagRow], overs: list[bool]) -> None:
        kinds = table.kinds
        if self._base is None and any(row.epoch for row in kinds):
            epochs = (line[row.epoch] for line, row in zip(table.lines, table.rows, strict=True) if row.epoch)
            self._base = next(map(int, epochs), None)
        steps = self._steps(table)
        scales: list[bytes | None]
        if all(row.scale for row in kinds):
            scales = list(table.column(5))
        else:
            scales = [line[row.scale] if row.scale else None for line, row in zip(table.lines, table.rows, strict=True)]
        self.lines += len(table)
        printed = self.flags.printed
        new = self.flags.add_rows(steps, overs)
        if len(new) < len(steps):
            steps, scales = [steps[row] for row in new], [scales[row] for row in new]
        self._scaled(steps, scales, printed, all(row.step and row.scale for row in kinds))

    def _steps(self, table: Table[FlagRow]) -> list[int | None]:
        kinds = table.kinds
        if all(row.step and not row.epoch for row in kinds):
            return list(map(int, table.column(2)))
        base = self._base or 0
        if all(row.epoch for row in kinds):
            epochs, lengths = integers(table.column(3)), integers(table.column(4))
            begins = map(mul, epochs if base == 0 else map(sub, epochs, repeat(base)), lengths)
            return list(map(add, begins, map(int, table.column(2))))
        steps: list[int | None] = []
        for line, (_, _, step, epoch, length, *_) in zip(table.lines, table.rows, strict=True):
            if step and epoch and length:
                steps.append((int(line[epoch]) - base) * int(line[length]) + int(line[step]))
            else:
                steps.append(int(line[step]) if step else None)
        return steps

    def _scaled(self, steps: list[int | None], scales: list[bytes | None], printed: int, whole: bool) -> None:
        """Add the scales of new flags.

        :param printed: how many flags there were before
        :param whole: whether each line has a step and a scale
        """
        if steps and whole:
            self.found.at_is_step = True
            self.scale.add_rows(cast("list[int]", steps), cast("list[bytes]", scales))
            return
        placed = [step for step, scale in zip(steps, scales, strict=True) if scale is not None or self.places_all]
        if placed:
            self.found.at_is_step = placed[-1] is not None
        ats = [at if step is None else step for at, step in enumerate(steps, printed + 1)]
        shown = [scale for scale in scales if scale is not None]
        if len(shown) < len(scales):
            ats = [at for at, scale in zip(ats, scales, strict=True) if scale is not None]
        if shown:
            self.scale.add_rows(ats, shown)


def _is_plain(table: Table[FlagRow | bool]) -> bool:
    """Whether a row describes each line."""
    return not any(kind is True or kind is False for kind in table.kinds)
