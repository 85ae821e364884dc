"""OpDef sources as stores: one for each chip, whose entries are in C++."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ...errors import Damaged, Refused, UnknownOperator, join_some
from ..document import Unreadable
from ..text.members import RawMember
from ..text.source import Source
from .entry import Entry
from .library import Operators, Store
from .opdef.find import find_sources, project_of, read_source
from .opdef.reading import Reading, Row, read_sources
from .policy import BadFlag, Policy

if TYPE_CHECKING:
    from .entry_rules import EntryFault


class OpDefEntry(Entry):
    """One op type on one chip. Its place is what decides its policy."""

    hint = "the engine refuses the library that is made of this source; `opsinfo validate` shows more"

    def __init__(self, row: Row) -> None:
        self.row = row
        self.name = row.name
        self._has_blanks = False

    @cached_property
    def source(self) -> Source:  # type: ignore[override]
        return Source(read_source(self.row.file), self.row.file, strict=False)

    @cached_property
    def member(self) -> RawMember:  # type: ignore[override]
        start, end = line_span(self.source, self.row.line)
        return RawMember(self.name, self.row.entry, start, end, start, end, False, True)

    @property
    def value(self) -> object:
        return self.row.entry

    @property
    def policy(self) -> Policy:
        return self.row.policy

    @property
    def by_default(self) -> bool:
        return self.row.by_default

    @property
    def refused(self) -> str | None:
        return next((fault.message for fault in self.faults if fault.hides_policies), None)

    @property
    def unread(self) -> str | None:
        return self.row.columns_unread

    @property
    def path(self) -> str:
        return self.row.file

    @property
    def line(self) -> int:
        return self.row.line

    def span(self, fault: EntryFault) -> tuple[int, int]:
        return self.member.start, self.member.end


def line_span(source: Source, line: int) -> tuple[int, int]:
    """Return the span of the text of a line, without the blanks around it.

    :param line: 1-based
    """
    start, end = source.span_of_line(line)
    own = source.text[start:end]
    return start + len(own) - len(own.lstrip()), start + max(len(own.rstrip()), 1)


class OpDefStore(Store):
    """The op types of one chip, as opbuild would write them to one ini. Of several of a name the first decides."""

    def __init__(self, rows: Iterable[Row]) -> None:
        super().__init__([])
        for row in rows:
            self.definitions.setdefault(row.name, []).insert(0, OpDefEntry(row))
        for name, entries in self.definitions.items():
            if len({entry.policy for entry in entries}) > 1:
                places = join_some([f"{entry.path}:{entry.line} ({entry.policy})" for entry in reversed(entries)])
                message = f"`{name}` is registered more than once, and the build decides which one counts: {places}"
                self.remarks.append(Damaged(message, path=entries[-1].path, line=entries[-1].line))

    def contenders(self, name: str) -> list[Entry]:
        return self.definitions[name][-1:]


class OpDefOperators(Operators):
    """The op types that sources declare for one chip.

    :param chips: op type -> the chips that it is declared for
    """

    def __init__(
        self, store: OpDefStore, soc: str, chips: dict[str, list[str]], unreadable: Sequence[Unreadable]
    ) -> None:
        super().__init__([store])
        self.soc = soc
        self.chips = chips
        self._unreadable = {each.name: each for each in unreadable if each.name and each.name not in self}

    @property
    def unreadable(self) -> Mapping[str, Unreadable]:
        return self._unreadable

    def _unknown(self, unknown: Sequence[str]) -> UnknownOperator | Refused:  # type: ignore[override]
        for name in unknown:
            if name in self.unreadable:
                return unreadable_error(self.unreadable[name])
        declared = [
            f"`{name}`, only for {', '.join(self.chips[name]) or 'no chip'}" for name in unknown if name in self.chips
        ]
        if len(declared) < len(unknown):
            return super()._unknown([name for name in unknown if name not in self.chips])
        return UnknownOperator(f"not declared for {self.soc}: {join_some(declared, 10)}", hint=NOT_DECLARED)


NOT_DECLARED = (
    "no AddConfig names the chip, so its library lacks the operator; in a custom project that is built with "
    "`--compute_unit` opbuild adds it, white by default"
)


ONLY_A_COMPILER = "only a compiler can say its policy; the ini that opbuild writes of it is a target, too"


def unreadable_error(unreadable: Unreadable, others: int = 0) -> Refused:
    """Return the error for an op type, or a file, that could not be read.

    :param others: the number of others, if nothing could be read
    """
    what = f"`{unreadable.name}`" if unreadable.name else "the file"
    what += f", as {others} more," if others else ""
    return Refused(
        f"{what} could not be read: {unreadable.reason}",
        name="unreadable-source",
        path=unreadable.file,
        line=unreadable.line,
        column=1,
        hint=ONLY_A_COMPILER,
    )


def read_opdef(path: str) -> Reading | None:
    """Return what the sources of a file or folder say; None if there are none.

    Rows whose flag the engine refuses are among the unreadable.

    :raises Refused: if nothing of them could be read
    """
    files, left_out = find_sources(path)
    if not files:
        return None
    reading = read_sources(files, project_of(path))
    if len(reading.not_read) == len(files):  # of another program
        if reading.not_read[0].path == path:
            raise Refused(reading.not_read[0].reason, name="unreadable-source", path=path, hint=ONLY_A_COMPILER)
        return None
    reading.not_read += left_out
    readable = []
    for row in reading.rows:
        try:
            _ = row.policy
        except BadFlag as error:
            reading.unreadable.append(Unreadable(row.name, row.file, row.line, f"on {row.chip}: {error}", row.chip))
        else:
            readable.append(row)
    reading.rows = readable
    if not readable and reading.unreadable:
        raise unreadable_error(reading.unreadable[0], len(reading.unreadable) - 1)
    return reading
