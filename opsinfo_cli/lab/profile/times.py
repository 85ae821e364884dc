"""The time of what ran, added up by op type, by what it was computed in, and by device and step."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from ...arguments import checked
from ...core.cann.dtype_names import precision_of
from ...core.cann.policy import Policy
from ...core.cann.targets.found import TargetFacts
from ...core.document import Count, Schema, headed, internal, optional, renamed
from ...errors import UsageFault
from ..listener import Listener, PythonListener
from .table import DeviceTask, Dtypes, Microseconds, TaskTable, find_tables

Confidence: TypeAlias = Literal["library", "kernel"]
State: TypeAlias = Literal["low", "high", "hf32", "other", "unknown"]
"""Low and high: see :func:`.precision_of`. hf32: high, and HF32 is enabled for it. Other: no floating-point tensor.
Unknown: the table does not have its dtypes.
"""

_AI_CORE = frozenset(
    {
        *("AI_CORE", "AI_VECTOR_CORE", "MIX_AIC", "MIX_AIV", "FFTS_PLUS", "FUSION", "AIV_SQE", "DSA_SQE", "DSA"),
        *("KERNEL_AICORE", "KERNEL_AIVEC", "KERNEL_MIX_AIC", "KERNEL_MIX_AIV"),
    }
)
"""Cores whose operators the graph engine has in its stores (Ascend/msprof analysis/common_func/ms_constant/
ge_enum_constant.py, GeTaskType; DSA: hicann/ge compiler/engines/nn_engine). All others are not the engine's: AI CPU,
communication, DVPP.
"""
_COMMUNICATION = ("HCCL", "COMMUNICATION")


REPLACED = {"Transpose": "TransposeD"}
"""Op types that ran as a node of a graph -> the type for which dtypes were chosen: with known shapes a Transpose is a
TransposeD then, and becomes a Transpose again afterwards (TransposedUpdateFusionPass, a pass of the second round:
hicann/ge ffdcbc9f, compiler/engines/nn_engine/optimizer/graph_optimizer/fe_graph_optimizer.cc:534; canndev,
ops/built-in/fusion_pass, 2021).
"""


@dataclass(frozen=True)
class Time:
    """Calls, and the time that they took."""

    calls: Count = 0
    """Number of calls."""
    microseconds: Microseconds = 0.0
    """Their time in microseconds."""

    def plus(self, other: Time) -> Time:
        return Time(self.calls + other.calls, self.microseconds + other.microseconds)

    @property
    def shown(self) -> tuple[int, float]:
        """Both as documents have them."""
        return self.calls, round(self.microseconds, 3)


@dataclass(frozen=True, kw_only=True)
class TimeOfCore(Time):
    """One core."""

    core: Annotated[str, Schema(examples=["AI_CPU", "communication"])]
    """AI_CPU, communication, or another word of the table."""


@dataclass(frozen=True, kw_only=True)
class TimeApart(Time):
    """What is not the engine's: communication, AI CPU, DVPP."""

    cores: list[TimeOfCore]
    """The same by what ran it."""


@dataclass(frozen=True, kw_only=True)
class TimeOfTypes(Time):
    """The sums of the types."""

    low: Microseconds
    """Microseconds of calls in float16, bfloat16 or hifloat8."""
    high: Microseconds
    """Microseconds of calls in float32, HF32 not enabled."""
    hf32: Microseconds
    """Microseconds of calls in float32 with HF32 enabled."""
    other: Microseconds
    """Microseconds of calls without a floating-point tensor, and of those whose dtypes the table does not have."""


@dataclass(frozen=True, kw_only=True)
class TimeOfRun(Time):
    """One step on one device."""

    device: Annotated[str | None, Schema(examples=["0"])]
    """The device; null if the table does not have it."""
    step: Annotated[str | None, Schema(examples=["7"])]
    """The step; null if the table does not have it."""


@dataclass(frozen=True, kw_only=True)
class TypeRow(TimeOfTypes):
    """One op type."""

    type: Annotated[str, Schema(examples=["MatMulV2"])]
    """The op type; unknown if the table does not have it."""
    time: TypeTime = internal()
    policy: Policy | None = renamed("list", default=None)
    """The list it is on, with the mixlist if one is given; null without a target, or if the target does not have it."""
    movable: bool | None = None
    """Whether a list can change what its calls run in; null if that is unknown."""
    judged: str | None = optional(null=True)
    """The op type that lists are asked for, if the compiler replaced it after the choice of dtypes;
    null if it did not.
    """
    confidence: Confidence | None = None
    """Where movable comes from: the library, or a recorded answer of the chip's kernel; null without a list."""
    before: Policy | None = internal(None)
    """The list without the mixlist."""
    moved: Time = internal(Time())
    """The time that the mixlist moves: low time of a type that turns black, high of one that turns white."""
    open: Time = internal(Time())
    """The time of a type that turns gray: whether it moves depends on what is before it in the model."""


@dataclass(frozen=True)
class ProfileDocument:
    """The time of what ran on the device. Later versions may add keys."""

    target: TargetFacts | None
    """The target of --against; null without it."""
    types: Sequence[TypeRow]
    """The op types of the engine but Cast, the longest time first."""
    casts: Time
    """All Casts, those on the AI CPU too."""
    not_engine: TimeApart
    """What is not the engine's: communication, AI CPU, DVPP."""
    totals: TimeOfTypes
    """The sums of the types."""
    runs: list[TimeOfRun]
    """The time of everything by device and step, in the order of the tables."""
    files: list[TaskTable]
    """The tables."""


def total(times: Iterable[Time]) -> Time:
    times = list(times)
    return Time(sum(time.calls for time in times), sum(time.microseconds for time in times))


class TypeTime(NamedTuple):
    """The time of one op type.

    :param nodes: its time as a node of a graph, by state
    :param aclnn: its time in calls of aclnn, by state: no list is read for them
    """

    type: str
    nodes: dict[State, Time]
    aclnn: dict[State, Time]

    @property
    def whole(self) -> Time:
        return total([*self.nodes.values(), *self.aclnn.values()])

    def of(self, *states: State) -> Time:
        return total(times[state] for times in (self.nodes, self.aclnn) for state in states if state in times)

    @property
    def row(self) -> TypeRow:
        """It without lists."""
        movable = None if self.nodes else False
        return TypeRow(**vars(_sums([self])), type=self.type, time=self, movable=movable)


STATES: dict[str, list[State]] = {"low": ["low"], "high": ["high"], "hf32": ["hf32"], "other": ["other", "unknown"]}
"""What is shown -> the states that it sums: what has no dtypes in the table is other."""


def _sums(types: Sequence[TypeTime]) -> TimeOfTypes:
    low, high, hf32, other = (total(row.of(*states) for row in types).shown[1] for states in STATES.values())
    whole = total(row.whole for row in types)
    return TimeOfTypes(*whole.shown, low=low, high=high, hf32=hf32, other=other)


class DeviceStep(NamedTuple):
    """One step on one device; empty if the table does not have it."""

    device: str
    step: str


class NodeCalls(NamedTuple):
    """The calls of one node.

    :param dtypes: distinct dtypes of its calls: inputs, outputs
    """

    type: str
    time: Time
    dtypes: frozenset[tuple[Dtypes | None, Dtypes | None]]


class Profile(NamedTuple):
    """What ran.

    :param types: the engine's op types but Cast, the longest time first
    :param casts: all Casts, those on the AI CPU too
    :param apart: the time of what is not the engine's, by core
    :param runs: the time of everything by device and step, in the order of the tables
    :param nodes: the calls of the nodes that were asked for, by name
    :param others: the engine's other calls by op type, if nodes were asked for: the name of the first, their time
    """

    types: list[TypeTime]
    casts: Time
    apart: dict[str, Time]
    runs: dict[DeviceStep, Time]
    nodes: dict[str, NodeCalls]
    others: dict[str, tuple[str, Time]]
    tables: list[TaskTable]

    @classmethod
    @checked
    def read(cls, *paths: str | os.PathLike[str], device: str = "", step: str = "") -> Profile:
        """Return what ran, by tables and folders of tables.

        :param device: only its rows; empty for those of all devices, and so ``step``
        :raises UsageFault: if no row is of the device and step
        :raises Refused: if a file is no such table, or has a line that cannot be read
        """
        return read_profile([os.fspath(path) for path in paths], PythonListener(), run=DeviceStep(device, step))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo profile`` without a target."""
        return headed("profile", self.document)

    @property
    def document(self) -> ProfileDocument:
        return ProfileDocument(
            target=None,
            types=[row.row for row in self.types],
            casts=Time(*self.casts.shown),
            not_engine=TimeApart(
                *self.not_engine.shown, cores=[TimeOfCore(*time.shown, core=core) for core, time in self.apart.items()]
            ),
            totals=_sums(self.types),
            runs=[
                TimeOfRun(*time.shown, device=run.device or None, step=run.step or None)
                for run, time in self.runs.items()
            ],
            files=self.tables,
        )

    @property
    def totals(self) -> Time:
        return total(row.whole for row in self.types)

    @property
    def not_engine(self) -> Time:
        return total(self.apart.values())

    @property
    def by_type(self) -> dict[str, float]:
        """Microseconds of each op type, and with those of the type that it was judged as; Casts and others' are left
        out.
        """
        times = {row.type: row.whole.microseconds for row in self.types}
        for row in self.types:
            if row.nodes and (judged := REPLACED.get(row.type)):
                times[judged] = times.get(judged, 0.0) + total(row.nodes.values()).microseconds
        return times

    @property
    def by_node(self) -> dict[str, float]:
        """Microseconds of each node that was asked for and ran."""
        return {name: calls.time.microseconds for name, calls in self.nodes.items()}


def read_profile(
    paths: Sequence[str], listener: Listener, nodes: Collection[str] = (), run: DeviceStep | None = None
) -> Profile:
    """Read tables and folders of tables, and tell what was passed over.

    :param nodes: names of nodes whose calls are kept one by one
    :param run: only this device and this step; an empty one stands for all
    :raises Refused: if a file is no such table, or has a line that cannot be read
    :raises UsageFault: if no row is of the device and step
    """
    found = find_tables(tuple(paths))
    for path, why in found.passed_over:
        listener.note(f"{path}: not read: {why}")
    size = sum(os.path.getsize(path) for path in found.paths if os.path.isfile(path))
    with listener.progress("reading", size) as advance:
        profile = profile_of([TaskTable(path, seen=advance) for path in found.paths], nodes, run)
    if not profile.runs:
        if run and any(run):
            raise UsageFault("no row is of this device and step", name="no-match", path=found.paths[0])
        listener.warn("the tables have no row with a time")
    return profile


def state_of(kernel: DeviceTask) -> State:
    if kernel.inputs is None and kernel.outputs is None:
        return "unknown"
    precision = precision_of(kernel.inputs or (), kernel.outputs or ())
    return "hf32" if precision == "high" and kernel.hf32 else precision or "other"


def apart_of(kernel: DeviceTask) -> str | None:
    """Return what ran it if that is not the engine's: ``AI_CPU``, ``communication``, another word; else None.

    Without a core, communication is known by its name.
    """
    core = kernel.core.upper()
    if core in _AI_CORE:
        return None
    if core.startswith(_COMMUNICATION) or (not core and kernel.name.lower().startswith("hcom_")):
        return "communication"
    return core or None


def is_of(kernel: DeviceTask, run: DeviceStep) -> bool:
    return run.device in ("", kernel.device) and run.step in ("", kernel.step)


def profile_of(tables: Sequence[TaskTable], nodes: Collection[str] = (), run: DeviceStep | None = None) -> Profile:
    """Read tables in memory that grows with the op types, and the nodes asked for, not with the rows.

    :raises Refused: as the iteration of a table
    """
    calls: defaultdict[tuple[str, State, bool], list[float]] = defaultdict(lambda: [0, 0.0])
    casts, apart = [0, 0.0], defaultdict[str, list[float]](lambda: [0, 0.0])
    runs: defaultdict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0])
    of_nodes: dict[str, NodeCalls] = {}
    others: dict[str, tuple[str, Time]] = {}
    for table in tables:
        for kernel in table:
            if run and not is_of(kernel, run):
                continue
            core, time = apart_of(kernel), Time(1, kernel.microseconds)
            if kernel.type == "Cast":
                counts = casts
            elif core is not None:
                counts = apart[core]
            else:
                counts = calls[kernel.type, state_of(kernel), kernel.is_aclnn]
            for sums in (counts, runs[kernel.device, kernel.step]):
                sums[0] += 1
                sums[1] += kernel.microseconds
            if kernel.name in nodes:
                before = of_nodes.get(kernel.name) or NodeCalls(kernel.type, Time(), frozenset())
                dtypes = before.dtypes | {(kernel.inputs, kernel.outputs)}
                of_nodes[kernel.name] = before._replace(time=before.time.plus(time), dtypes=dtypes)
            elif nodes and core is None:
                first, earlier = others.get(kernel.type, (kernel.name, Time()))
                others[kernel.type] = first, earlier.plus(time)
    types: dict[str, TypeTime] = {}
    for (name, state, is_aclnn), counts in calls.items():
        row = types.setdefault(name, TypeTime(name, {}, {}))
        (row.aclnn if is_aclnn else row.nodes)[state] = _time(counts)
    return Profile(
        sorted(types.values(), key=lambda row: (-row.whole.microseconds, row.type)),
        _time(casts),
        {core: _time(counts) for core, counts in apart.items()},
        {DeviceStep(*key): _time(counts) for key, counts in runs.items()},
        of_nodes,
        others,
        list(tables),
    )


def _time(counts: list[float]) -> Time:
    return Time(int(counts[0]), counts[1])
