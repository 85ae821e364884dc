"""Rules on OpDef sources: policies that nobody decided, and what opbuild and the engine make of the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...errors import counted, join_some
from ..cann.entry import Columns, Possible
from ..cann.entry_rules import build_faults
from ..cann.ini import script_faults
from ..cann.opdef.find import build_folder, read_source
from ..cann.opdef.reading import Length, Reading, Row
from ..cann.opdef_store import OpDefEntry, line_span
from ..cann.target import Target
from ..text.source import Source
from .finding import Finding, at
from .policy_news import Decided, policy_news
from .text import pointer_to


@dataclass
class SourceCheck:
    """
    :param reading: the sources that are checked
    :param experimental: those below `experimental/`, which is a build of its own
    :param against: what their policies are compared with
    :param by_chip: whether different policies for different chips are reported
    """

    reading: Reading
    experimental: Reading
    against: Sequence[Target] = ()
    by_chip: bool = False
    _sources: dict[str, Source] = field(default_factory=dict)

    def findings(self) -> Iterator[Finding]:
        yield from self._unreadable()
        yield from self._twice()
        yield from self._unpassed()
        rows = _by_name(self.reading)
        said: set[tuple[str, str]] = set()
        for target in self.against:
            for finding, row in self._against(target, rows):
                said.add((row.name, row.chip))
                yield finding
        for name, own in rows.items():
            yield from self._by_default(name, [row for row in own if (row.name, row.chip) not in said])
            yield from dict.fromkeys(fault for row in own for fault in self._faults(row))  # once for all chips
            yield from self._black_without_fp32(name, own)
            if self.by_chip:
                yield from self._by_chip(name, own)
        yield from self._experimental(rows)

    def _at(
        self,
        rule: str,
        file: str,
        line: int,
        message: str,
        name: str | None,
        hint: str | None = None,
        identity: str = "",
    ) -> Finding:
        """Return a finding on a line."""
        if file not in self._sources:
            self._sources[file] = Source(read_source(file), file, strict=False)
        source = self._sources[file]
        pointer = pointer_to(name) if name else None
        return at(rule, source, line_span(source, line), message, pointer=pointer, hint=hint, identity=identity)

    def _unreadable(self) -> Iterator[Finding]:
        for each in self.reading.unreadable:
            what = f"`{each.name}`" if each.name else "the file"
            yield self._at("unreadable-source", each.file, each.line, f"{what}: {each.reason}", each.name)

    def _twice(self) -> Iterator[Finding]:
        first: dict[tuple[str, str], str] = {}
        for name, (file, line) in self.reading.registrations:
            place = f"{file}:{line}"
            key = name, build_folder(file)
            if key in first:
                identity = f"`{name}` is registered in {{}}, too: the build decides which one counts"
                message = identity.replace("{}", first[key])
                yield self._at("registered-twice", file, line, message, name, identity=identity)
            first.setdefault(key, place)

    def _unpassed(self) -> Iterator[Finding]:
        for each in self.reading.unpassed:
            message = f"`{each.name}`: no AddConfig gets `{each.variable}`, so nothing that it sets has an effect"
            hint = f"with it the operator would be {each.policy}: write `AddConfig(chip, {each.variable})`"
            yield self._at("config-not-passed", each.file, each.line, message, each.name, hint=hint)

    def _by_default(self, name: str, rows: Iterable[Row]) -> Iterator[Finding]:
        places: dict[tuple[str, int], list[str]] = {}
        for row in rows:
            if row.by_default:
                places.setdefault((row.file, row.line), []).append(row.chip)
        for (file, line), chips in places.items():
            message = f"`{name}` is white on {', '.join(chips)} by default: nothing sets its policy"
            hint = "give AddConfig a configuration with PrecisionReduceFlag, if only to say that white is meant"
            yield self._at("white-by-default", file, line, message, name, hint=hint)

    def _faults(self, row: Row) -> Iterator[Finding]:
        """Yield what could not be read of a row, and what opbuild, the script and the engine do to it."""
        for part in row.unread_parts:
            message = f"`{row.name}`: {part.reason}; its policy could be read"
            yield self._at("unreadable-source", part.file, part.line, message, row.name)
        lengths = row.misaligned
        if lengths:
            listed = join_some([_length(each) for each in lengths], 4)
            message = f"`{row.name}`: columns of different lengths, so opbuild drops all dtypes and formats: {listed}"
            place = lengths[-1].place
            yield self._at("columns-dropped", place.file, place.line, message, row.name)
        for each in row.misaligned_unknown_shape:
            dtypes = len(row.entry[each.port].get("dtype", "").split(","))
            message = f"`{row.name}`: {_length(each)}, {counted(dtypes, 'dtype')}: the engine refuses the whole store"
            yield self._at("column-mismatch", each.place.file, each.place.line, message, row.name)
        if row.columns_unread:
            return
        faults = [fault for fault in build_faults(row.entry) if fault.name != "column-mismatch" and fault.refuses]
        faults += [fault for fault in script_faults(row.entry) if fault.name == "ini-refused"]
        for fault in {(fault.section, fault.key): fault for fault in reversed(faults)}.values():
            if not lengths or fault.key is not None:  # what opbuild drops is not missing
                yield self._at(fault.name, row.file, row.line, f"`{row.name}`: {fault.message}", row.name)

    def _black_without_fp32(self, name: str, rows: Iterable[Row]) -> Iterator[Finding]:
        places: dict[tuple[str, int], list[str]] = {}
        for row in rows:
            is_black = row.policy_word == "black" and not row.columns_unread
            if is_black and Columns(OpDefEntry(row)).can_be_black() is Possible.NO:
                places.setdefault((row.file, row.line), []).append(row.chip)
        for (file, line), chips in places.items():
            message = f"`{name}` is black on {', '.join(chips)}, but has no column with float32 inputs"
            hint = "make it gray (no PrecisionReduceFlag) or white (true), or add columns with DT_FLOAT"
            yield self._at("black-without-fp32", file, line, message, name, hint=hint)

    def _by_chip(self, name: str, rows: Sequence[Row]) -> Iterator[Finding]:
        policies: dict[str, list[str]] = {}
        for row in rows:
            policies.setdefault(row.policy_word, []).append(row.chip)
        if len(policies) > 1:
            said = "; ".join(f"{policy} on {', '.join(chips)}" for policy, chips in policies.items())
            yield self._at("differs-by-chip", rows[0].file, rows[0].line, f"`{name}` is {said}", name)

    def _experimental(self, rows: dict[str, list[Row]]) -> Iterator[Finding]:
        main = {(row.name, row.chip): row for own in rows.values() for row in own}
        for row in self.experimental.rows:
            other = main.get((row.name, row.chip))
            if other and row.policy_word != other.policy_word:
                identity = f"`{row.name}` on {row.chip} is {row.policy_word} here, {other.policy_word} in {{}}"
                message = identity.replace("{}", f"{other.file}:{other.line}")
                yield self._at("differs-from-main", row.file, row.line, message, row.name, identity=identity)

    def _against(self, target: Target, rows: dict[str, list[Row]]) -> Iterator[tuple[Finding, Row]]:
        """Yield policies that a target of the same chip lacks, or has otherwise."""
        for name, own in rows.items():
            by_chip = {row.chip: _decided(row) for row in own}
            for row in own:
                if row.chip != target.soc or name in target.operators.unreadable:
                    continue
                before = str(target.operators[name].policy) if name in target.operators else None
                if news := policy_news(name, row.chip, _decided(row), before, by_chip):
                    yield self._at(news.rule, row.file, row.line, news.message, name, identity=news.identity), row


def _by_name(reading: Reading) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for row in reading.rows:
        rows.setdefault(row.name, []).append(row)
    return rows


def _decided(row: Row) -> Decided:
    return Decided(row.policy_word, row.by_default, row.file, row.line)


def _length(length: Length) -> str:
    return f"{length.words} in `{length.key}` of `{length.name}`"
