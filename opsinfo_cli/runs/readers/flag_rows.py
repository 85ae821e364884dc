"""Lines with an overflow flag, read by their shape: many at once."""

from __future__ import annotations

from itertools import islice
from operator import itemgetter
from typing import ClassVar, NamedTuple, cast

from ..columns import column, kinds_of
from ..flags import Flags
from ..shapes import Shapes
from ..sheet import Sheet
from ..steps import StepFields
from .reader import LineReader


class FlagRow(NamedTuple):
    """The places of a line's fields.

    :param over: whether it overflowed, if the line has a word for it
    :param flag: the place of a digit that shows it
    :param epoch: where the epoch is, if the step is counted from its start
    :param length: where the steps per epoch are
    """

    over: bool
    flag: slice | None
    step: slice | None
    epoch: slice | None
    length: slice | None
    scale: slice | None
    by_number: dict[bytes, FlagRow] | None = None
    """The row for each number that is a flag."""


class FlagReader(LineReader):
    """A format with an overflow flag in each line. Lines that :meth:`row` cannot describe are read by :meth:`line`."""

    words: ClassVar[tuple[bytes, ...]]
    """Every line with a mark has one of these."""

    digits: ClassVar[dict[bytes, bool]]
    """Whether a number that is a flag means an overflow; lines with others are left to :meth:`line`."""

    places_all: ClassVar[bool] = True
    """Whether a line without a scale shows too that this log prints steps."""

    def __init__(self) -> None:
        super().__init__()
        self.flags = Flags()
        self._base: int | None = None
        """The first epoch."""
        self._rows: Shapes[FlagRow | bool] = Shapes(self._row_of)

    def row(self, shape: bytes) -> FlagRow | None:
        """Return where a line of this shape has its flag; None if that needs a look at the line itself."""
        raise NotImplementedError

    def _row_of(self, shape: bytes) -> FlagRow | bool:
        """:returns: False if the line is of no interest, True if :meth:`line` must read it"""
        if not any(mark in shape for mark in self.marks):
            return False
        row = self.row(shape)
        if row and row.flag:
            by_number = {text: row._replace(over=over, flag=None) for text, over in self.digits.items()}
            row = row._replace(by_number=by_number)
        return row or True

    def window(self, data: bytes, limit: int, steps: StepFields) -> None:
        self.sheet(Sheet(data, limit), steps)

    def sheet(self, sheet: Sheet, steps: StepFields) -> None:
        lines, shapes = sheet.lines_with(*self.words)
        rows = self._rows.of_all(lines, shapes)
        if rows and False not in rows and True not in rows:
            said, kinds = _said(lines, cast("list[FlagRow]", rows))
            if None not in said:
                if len(lines) >= len(sheet.lines) - 1:  # all but what follows the last line end, which is empty
                    self.overflow_words += sheet.count(b"verflow")
                    self.scale_words += sheet.count(b"cale")
                else:
                    text = b"\n".join(lines)
                    self.overflow_words += text.count(b"verflow")
                    self.scale_words += text.count(b"cale")
                self._take(lines, cast("list[FlagRow]", said), kinds)
                return
        at = 0
        while at < len(lines):
            at = self._take_some(lines, rows, at)

    def _take_some(self, lines: list[bytes], rows: list[FlagRow | bool], begin: int) -> int:
        """Take lines from ``begin`` on that have a row, or one that has none; returns the first that is left."""
        plain: list[FlagRow] = []
        for line, row in zip(islice(lines, begin, None), islice(rows, begin, None), strict=True):
            if row is True or row is False:
                break
            said = row if row.flag is None else (row.by_number or {}).get(line[row.flag])
            if said is None:
                break
            plain.append(said)
        end = begin + len(plain)
        if plain:
            self._take(lines[begin:end], plain, kinds_of(plain))
        if end < len(lines) and rows[end]:
            self.lines += self.line(lines[end])
        return end + 1

    def _take(self, lines: list[bytes], rows: list[FlagRow], kinds: list[FlagRow]) -> None:
        if self._base is None and any(row.epoch for row in kinds):
            epochs = (line[row.epoch] for line, row in zip(lines, rows, strict=True) if row.epoch)
            self._base = next(map(int, epochs), None)
        steps: list[int | None]
        if all(row.step and not row.epoch for row in kinds):
            steps = list(map(int, column(lines, rows, kinds, 2)))
        elif all(row.step and row.epoch and row.length for row in kinds):
            steps = self._steps_in_epochs(lines, rows, kinds)
        else:
            steps, base = [], self._base or 0
            for line, (_, _, step, epoch, length, _, _) in zip(lines, rows, strict=True):
                if step and epoch and length:
                    steps.append((int(line[epoch]) - base) * int(line[length]) + int(line[step]))
                else:
                    steps.append(int(line[step]) if step else None)
        overs = list(map(itemgetter(0), rows))
        scales: list[bytes | None]
        if all(row.scale for row in kinds):
            scales = list(column(lines, rows, kinds, 5))
        else:
            scales = [line[row.scale] if row.scale else None for line, row in zip(lines, rows, strict=True)]
        self.lines += len(lines)
        printed = self.flags.printed
        new = self.flags.add_rows(steps, overs)
        if len(new) < len(steps):
            steps, scales = [steps[row] for row in new], [scales[row] for row in new]
        self._scaled(steps, scales, printed)

    def _steps_in_epochs(self, lines: list[bytes], rows: list[FlagRow], kinds: list[FlagRow]) -> list[int | None]:
        base = self._base or 0
        steps = list(map(int, column(lines, rows, kinds, 2)))
        epochs, lengths = list(column(lines, rows, kinds, 3)), list(column(lines, rows, kinds, 4))
        if epochs.count(epochs[0]) == len(lines) == lengths.count(lengths[0]):
            begin = (int(epochs[0]) - base) * int(lengths[0])
            return [begin + step for step in steps]
        rest = zip(epochs, lengths, steps, strict=True)
        return [(int(epoch) - base) * int(length) + step for epoch, length, step in rest]

    def _scaled(self, steps: list[int | None], scales: list[bytes | None], printed: int) -> None:
        """Add the scales of new flags; ``printed`` is how many there were before."""
        if steps and None not in steps and None not in scales:
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


def _said(lines: list[bytes], rows: list[FlagRow]) -> tuple[list[FlagRow] | list[FlagRow | None], list[FlagRow]]:
    """Return the row that says in a word whether the step overflowed, for each line; None if its number is no flag.

    :returns: also the kinds of these rows, and perhaps others with the same places
    """
    kinds = kinds_of(rows)
    if all(row.flag is None for row in kinds):
        return rows, kinds
    if len(kinds) == 1 and (by_number := kinds[0].by_number):
        return list(map(by_number.get, column(lines, rows, kinds, 1))), list(by_number.values())
    said = [
        row if row.flag is None else (row.by_number or {}).get(line[row.flag])
        for line, row in zip(lines, rows, strict=True)
    ]
    return said, kinds_of([row for row in said if row])
