"""What the OpDef sources of a folder say: rows as opbuild would write them, and what could not be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ....errors import Refused, join_some
from ...document import Unreadable
from ..entry_rules import Sections
from ..policy import Policy
from .find import NotRead, project_of, read_source, shows_class
from .op_definition import PRECISION_REDUCE, CoreConfig, OpDefinition, OpDefPort
from .preprocessor import OF_CANN, Files, Preprocessor, Undecided
from .runner import Runner
from .tokens import NotDefined, SourceFault, SourceLine, SourceMap

if TYPE_CHECKING:
    from .chip_ports import ChipPorts


class Length(NamedTuple):
    """The number of words in one line of a port.

    :param port: ``input0``
    :param name: of the port, ``x``
    :param key: ``dtype``, ``format`` or ``unknownshape_format``
    """

    port: str
    name: str
    key: str
    words: int
    place: SourceLine


@dataclass(eq=False)
class Row:
    """One op type on one chip: a section of ``aic-<chip>-ops-info.ini``, and the entry that the script makes of it.

    :param name: the op type
    :param chip: as written in ``AddConfig``; opbuild makes it the name of the file, case included
    :param file: with ``line``, what decides the policy: the call of ``PrecisionReduceFlag`` (or ``ExtendCfgInfo``) in
        force, or the ``AddConfig`` without one, which makes it white (without a configuration) or gray (with one)
    :param by_default: white only because ``AddConfig("chip")`` or ``OpAICoreConfig("chip")`` sets the flag
    :param declared: the ``AddConfig`` in force
    """

    name: str
    chip: str
    file: str
    line: int
    by_default: bool
    declared: SourceLine
    _operator: OpDefinition = field(repr=False)
    _config: CoreConfig = field(repr=False)
    _places: SourceMap = field(repr=False)

    @cached_property
    def policy(self) -> Policy:
        """:raises ValueError: if ``ExtendCfgInfo`` wrote a flag that the engine refuses"""
        flag = self._config.settings.get(PRECISION_REDUCE)
        return Policy.from_flag(flag.text if flag else None)

    @property
    def policy_word(self) -> str:
        """The policy; of a flag that the engine refuses its text."""
        try:
            return str(self.policy)
        except ValueError:
            return f"`{self._config.settings[PRECISION_REDUCE].text}`"

    @cached_property
    def entry(self) -> Sections:
        """The entry in a library. Without its ports if :attr:`columns_unread` says why."""
        from . import section  # policies do not need it

        merged, _ = self._merged
        return section.entry(self._operator, self._config, merged.ports if merged else None)

    @property
    def columns_unread(self) -> str | None:
        """Why columns could not be read, with file and line; the policy holds nevertheless."""
        _, fault = self._merged
        return f"{':'.join(map(str, self._places.at(fault.place)))}: {fault.reason}" if fault else None

    @property
    def unread_parts(self) -> list[Unreadable]:
        """What the entry lacks because it could not be read, its columns or an attribute; the policy holds."""
        faults = {f"attribute `{each.name}`": each.unread for each in self._operator.attributes.values()}
        faults["dtypes and formats"] = self._merged[1]
        return [
            Unreadable(self.name, *self._places.at(fault.place), f"{part}: {fault.reason}", self.chip)
            for part, fault in faults.items()
            if fault
        ]

    def without(self, sections: Iterable[str], reason: str) -> Row:
        """Return the row with columns, or attributes, that could not be read."""
        fault, parts = SourceFault(reason, self._config.place), tuple(sections)
        attributes = {
            name: replace(each, unread=fault) if f"attr_{name}" in parts else each
            for name, each in self._operator.attributes.items()
        }
        config = self._config.copy()
        if any(each.startswith(("input", "output")) for each in parts):
            config.ports.inputs.append(OpDefPort("", unread=fault))  # one such port leaves out all columns
        return replace(self, _operator=replace(self._operator, attributes=attributes), _config=config)

    @property
    def misaligned(self) -> list[Length]:
        """The lengths of all plain columns if they differ: opbuild then drops the dtype and format lines of the row."""
        merged, _ = self._merged
        if merged is None:
            return []
        return [
            Length(section, port.name, key, len(columns.given), self._places.at(columns.place))
            for section, port, key, columns in merged.lengths
        ]

    @property
    def misaligned_unknown_shape(self) -> list[Length]:
        """``unknownshape_format`` lines of another length than the dtypes: the engine refuses the whole store."""
        merged, _ = self._merged
        if merged is None:
            return []
        return [
            Length(
                section,
                port.name,
                "unknownshape_format",
                len(port.unknown_shape),
                self._places.at(port.unknown_shape_place),
            )
            for section, port in merged.ports.by_section()
            if port.unknown_shape and len(port.unknown_shape) != len(port.dtypes.written)
        ]

    @cached_property
    def _merged(self) -> tuple[ChipPorts | None, SourceFault | None]:
        from . import chip_ports  # policies do not need it

        try:
            return chip_ports.merge_ports(self._operator, self._config), None
        except SourceFault as fault:
            return None, fault


@dataclass(eq=False)
class DeclaredOperator:
    """An op type that was read.

    :param chips: those that it declares, which may be none
    """

    name: str
    chips: tuple[str, ...]
    _operator: OpDefinition = field(repr=False)

    @property
    def unread(self) -> list[SourceFault]:
        """Why parts of its entry could not be read: ports, attributes."""
        ports = [self._operator.ports, *(chip.config.ports for chip in self._operator.core.chips.values())]
        faults = [port.unread for each in ports for port in each.every]
        faults += [attribute.unread for attribute in self._operator.attributes.values()]
        return [fault for fault in faults if fault is not None]


class Unpassed(NamedTuple):
    """An ``OpAICoreConfig`` that is filled and never given to ``AddConfig``: nothing of it has an effect.

    :param name: the op type
    :param variable: the name of the configuration
    :param line: where it is declared
    :param policy: what it would have set: gray without a flag
    """

    name: str
    variable: str
    file: str
    line: int
    policy: Policy


class RegisteredType(NamedTuple):
    """One ``OP_ADD``. Of several of one op type in a library, opbuild uses the first for all."""

    name: str
    place: SourceLine


@dataclass(eq=False)
class Reading:
    """:param operators: op types that were read, whether they declare a chip or not
    :param not_read: files whose ``OP_ADD`` is of another program, as far as the project shows
    """

    rows: list[Row] = field(default_factory=list)
    operators: list[DeclaredOperator] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    unpassed: list[Unpassed] = field(default_factory=list)
    registrations: list[RegisteredType] = field(default_factory=list)
    not_read: list[NotRead] = field(default_factory=list)


def read_sources(files: Iterable[str], project: str | None = None) -> Reading:
    """Read OpDef sources, as :func:`~opsinfo_cli.core.cann.opdef.find.find_sources` finds them.

    What cannot be read is in the answer; nothing is raised for the content of a file.

    :param project: the folder that local includes may lead into; by default that of the first file
        (:func:`~opsinfo_cli.core.cann.opdef.find.project_of`)
    """
    paths = list(files)
    return joined(read_each(paths, project or project_of(paths[0]))) if paths else Reading()


def read_each(files: Iterable[str], project: str) -> Iterator[Reading]:
    """Yield what each of some sources of a project says; see :func:`read_sources`."""
    headers = Files(project)
    for file in files:
        try:
            yield _common(_ways(file, Preprocessor(headers)))
        except Refused as error:
            yield Reading(unreadable=[Unreadable(None, file, 1, error.message)])


def joined(readings: Iterable[Reading]) -> Reading:
    """Return what several sources say together."""
    reading = Reading()
    for found in readings:
        reading.rows += found.rows
        reading.operators += found.operators
        reading.unreadable += found.unreadable
        reading.unpassed += found.unpassed
        reading.registrations += found.registrations
        reading.not_read += found.not_read
    return reading


MOST_QUESTIONS = 5
"""About what the build decides, of one source: each doubles the readings. The most that a real source asks is one."""


class Way(NamedTuple):
    """What a source says if the build answers questions so."""

    preprocessor: Preprocessor
    reading: Reading


def _ways(file: str, preprocessor: Preprocessor) -> list[Way]:
    """Return what a source says for each answer of the build to each question that it asks."""
    reading = Reading()
    places = preprocessor.files.places
    try:
        _run_source(preprocessor, file, reading)
    except Undecided as undecided:
        if len(preprocessor.assumed) == MOST_QUESTIONS:
            reason = f"the build decides more than {MOST_QUESTIONS} conditions"
            return [Way(preprocessor, _given_up(file, places.at(undecided.place), reason))]
        ways: list[Way] = []
        for answer in (True, False):
            assumed = {**preprocessor.assumed, undecided.question: answer}
            ways += _ways(file, Preprocessor(preprocessor.files, assumed))
        return ways
    except SourceFault as fault:
        reading = _given_up(file, places.at(fault.place), fault.reason)
    except RecursionError:
        reading = _given_up(file, SourceLine(file, 1), "the text is nested too deeply")
    return [Way(preprocessor, reading)]


def _common(ways: Sequence[Way]) -> Reading:
    """Return what a source says in all ways; rows that differ are unreadable, or their columns are."""
    last = ways[-1].reading
    if len(ways) == 1:
        return last
    readings = [way.reading for way in ways]
    questions = dict.fromkeys(question for way in ways for question in way.preprocessor.assumed)
    reason = f"the build decides it by {' and '.join(questions)} or not"
    found = Reading(registrations=max((way.registrations for way in readings), key=len))
    unread = {(each.name, each.chip): each for way in readings for each in way.unreadable}
    found.unreadable = list(unread.values())
    found.not_read = [] if found.registrations or unread else last.not_read
    every = {(row.name, row.chip): row for way in readings[::-1] for row in way.rows}
    for key, row in every.items():
        same = [other for way in readings for other in way.rows if (other.name, other.chip) == key]
        differing = {section for other in same for section in _differing(row, other)}
        if (row.name, None) in unread:
            continue
        if len(same) < len(ways) or not all(each.startswith(("input", "output", "attr_")) for each in differing):
            found.unreadable.append(Unreadable(row.name, *row.declared, f"on {row.chip}: {reason}", row.chip))
            continue
        found.rows.append(row.without(differing, reason) if differing else row)
    found.operators = [
        replace(operator, chips=tuple(chip for name, chip in every if name == operator.name))
        for operator in {each.name: each for way in readings for each in way.operators}.values()
    ]
    found.unpassed = [each for each in last.unpassed if all(each in way.unpassed for way in readings)]
    return found


def _differing(row: Row, other: Row) -> set[str]:
    """Return the sections in which two rows differ; that of the flag, too, if only one is white by default."""
    sections = {name for name in {*row.entry, *other.entry} if row.entry.get(name) != other.entry.get(name)}
    return sections | ({PRECISION_REDUCE} if row.by_default != other.by_default else set())


def _run_source(preprocessor: Preprocessor, file: str, reading: Reading) -> None:
    places = preprocessor.files.places
    tokens = preprocessor.run(file)
    if not any(token.text.endswith("OpDef") for token in tokens) and not shows_class(file, read_source(file)):
        reading.not_read.append(NotRead(file, _NO_CLASS))
        return
    runner = Runner(tokens)
    registrations = runner.define()
    seen = {registration.place for registration in registrations}
    for word, bracket, op_type in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if word.text == "OP_ADD" and bracket.text == "(" and op_type.place not in seen:  # the definitions hide it
            reason = _with_includes("the text around `OP_ADD` is not understood", preprocessor)
            reading.unreadable.append(Unreadable(op_type.text, *places.at(op_type.place), reason))
    for registration in registrations:
        place = places.at(registration.place)
        if registration.chip is not None:
            reason = f"on {registration.chip}: `REGISTER_OP_AICORE_CONFIG` is not interpreted"
            reading.unreadable.append(Unreadable(registration.name, *place, reason, registration.chip))
            continue
        reading.registrations.append(RegisteredType(registration.name, place))
        try:
            operator, configs = runner.construct_operator(registration)
        except SourceFault as fault:
            reason = _with_includes(fault.reason, preprocessor) if isinstance(fault, NotDefined) else fault.reason
            reading.unreadable.append(Unreadable(registration.name, *places.at(fault.place), reason))
            continue
        except RecursionError:
            reading.unreadable.append(Unreadable(registration.name, *place, "the statements are nested too deeply"))
            continue
        reading.operators.append(DeclaredOperator(operator.name, tuple(operator.core.chips), operator))
        for name, chip in operator.core.chips.items():
            flag = chip.config.settings.get(PRECISION_REDUCE)
            by_default = flag is not None and flag.is_default
            declared = places.at(chip.place)
            decided = declared if flag is None else places.at(flag.place)
            row = Row(operator.name, name, *decided, by_default, declared, operator, chip.config, places)
            reading.rows.append(row)
        for config in configs:
            if config.is_filled and not config.is_passed:
                flag = config.settings.get(PRECISION_REDUCE)
                is_read = flag is not None and flag.text in ("true", "false")
                policy = Policy.from_flag(flag.text) if flag is not None and is_read else Policy.GRAY
                unpassed = Unpassed(operator.name, config.variable, *places.at(config.place), policy)
                reading.unpassed.append(unpassed)


_NO_CLASS = "it has `OP_ADD(`, but neither it nor a header of the project has a class that derives from `OpDef`"


def _with_includes(reason: str, preprocessor: Preprocessor) -> str:
    """Return a reason for which a missing header may be the cause, with the includes that were not found."""
    names = [f"`{name}`" for name, _ in preprocessor.missing if not name.startswith(OF_CANN)]
    return f"{reason}; includes that the project does not have: {join_some(names)}" if names else reason


def _given_up(file: str, place: SourceLine, reason: str) -> Reading:
    """Return all op types of a source as unreadable, and the file itself if it shows none."""
    data = read_source(file)
    if not shows_class(file, data):
        return Reading(not_read=[NotRead(file, _NO_CLASS)])
    names = dict.fromkeys(re.findall(r"\bOP_ADD\s*\(\s*(\w+)", data.decode("utf-8", "replace"))) or {None: None}
    return Reading(unreadable=[Unreadable(name, *place, reason) for name in names])
