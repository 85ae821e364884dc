"""`opsinfo profile`: show the time of what ran, by op type, and how much of it a list can change."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from ...core.cann.policy import Policy
from ...core.cann.target import Target
from ...core.cann.targets.found import TargetOptions
from ...core.document import PolicyName, as_json, optional, renamed
from ...core.terminal.answer import Cell, Column, CommandAnswer, PathCell, ShareBar
from ...core.terminal.answer import Table as Rows
from ...core.terminal.config import Targeted, given_or_configured
from ...core.terminal.console import Console
from ...core.terminal.open import accepted_mixlist, open_given, report_doubts, report_unknown
from ...core.terminal.params import (
    FILE,
    MODE,
    TABLE,
    TARGET,
    Choice,
    Word,
    advanced,
    install_options,
    option,
    prints,
    shape_option,
)
from ...errors import NoVerdict, UsageFault, counted, join_some, quoted
from ..graph.api import open_model
from ..graph.judge.kernel_sources import Kernels
from ..graph.limits import open_dimensions_text
from ..graph.read_back import ReadBack, read_back_profile
from ..graph.result import GraphAnswer, WrittenAnswer
from ..graph.verdict import nothing_judged
from ..profile.lists import fused_parts, policy_of_type
from ..profile.table import DeviceTask, KernelRow, TaskTable
from ..profile.times import (
    STATES,
    DeviceStep,
    Profile,
    ProfileDocument,
    Time,
    TypeRow,
    is_of,
    read_profile,
    total,
)
from .graph.document import dtypes, duration
from .judge_options import MODEL, JudgeOptions, judge_model, shapes_of


@click.command("profile", cls=Targeted)
@click.argument("tables", nargs=-1, required=True, type=TABLE)
@option("--against", type=TARGET, help="Show the lists of this target, and what a list can move.")
@option("--mixlist", type=FILE, help="Show the time that this mixlist changes.")
@option("--by", type=Choice(["type", "kernel"]), default="type", help="Show op types or kernels.")
@option("--model", type=MODEL, help="Compare this model (.om, dump, ONNX) with what ran, by node name.")
@shape_option
@option("--precision-mode", "mode", type=MODE, help="With --model: judge it in this precision mode.")
@advanced("--device", type=Word("ID"), help="Only rows of this device.")
@advanced("--step", type=Word("ID"), help="Only rows of this step.")
@install_options
@prints("html", out=True)
def command(
    tables: tuple[str, ...],
    against: str | None,
    mixlist: str | None,
    by: str,
    model: str | None,
    shapes: tuple[str, ...],
    mode: str | None,
    device: str | None,
    step: str | None,
    options: TargetOptions,
    console: Console,
) -> CommandAnswer:
    """Show where the time on the device went, by op type, low and high, and how much of it a list can change.

    TABLE is kernel_details.csv of torch_npu, op_summary_*.csv of msprof, or a folder with such tables. Casts, and what
    is not the engine's (communication, AI CPU, DVPP), are counted apart.

    Exit status 1 if --model finds a node that ran in other dtypes, or nothing of the model could be judged.

    \b
    Examples:
      opsinfo profile op_summary.csv
      opsinfo profile op_summary.csv --against ascend910b --mixlist ops_info.json
      opsinfo profile op_summary.csv --by kernel
      opsinfo profile op_summary.csv --format html -o profile.html
    """
    mode = given_or_configured("mode", mode, model is not None)
    if mode is not None and model is None:
        raise UsageFault("--precision-mode requires --model", hint="it chooses how --model is judged")
    if shapes and model is None:
        raise UsageFault("--shape requires --model", hint="add --model MODEL")
    target = open_given(against, console, options)
    applied = accepted_mixlist(mixlist, console) if mixlist else None
    if target:
        report_doubts(target, console)
        if applied:
            report_unknown(applied, target.operators, console)
    answer: GraphAnswer | None = None
    fault: NoVerdict | None = None
    if model:
        graph = open_model(model, console, shapes_of(shapes))
        if not graph.model.predicted and graph.model.judged and mode is None:
            answer = WrittenAnswer(graph)  # of a compiled model, the dtypes as they are
        else:
            judging = JudgeOptions(against=against, mode=mode, mixlist=mixlist)
            answer = judged = judge_model(graph, judging, options, console).answer
            fault = nothing_judged(judged)
            if judged.decided_open:
                console.note(open_dimensions_text(judged.decided_open, graph.model.inputs))
    run = DeviceStep(device or "", step or "")
    profile = read_profile(tables, console, {*answer.graph.names} if answer else (), run)
    operators, kernels = (target.operators, Kernels(target.operators, target.soc)) if target else (None, None)

    def recorded(op_type: str) -> Iterator[str]:
        """Yield the dtypes of a kernel of the chip, where the library has no columns."""
        for kernel in kernels.of(op_type) if kernels else ():
            for slot in kernel.inputs if kernel.confidence == "kernel" else ():
                yield from slot.static.dtypes

    fused = fused_parts(profile)

    def parts_of(op_type: str) -> list[str] | None:
        """Return the op types that the model has for what kernels were fused of; None if one is unknown."""
        names = fused.get(op_type)
        nodes = [answer.graph.find(name) for name in names] if answer and names else []
        return [node.type for node in nodes if node] if nodes and all(nodes) else None

    types = [policy_of_type(time, operators, applied, recorded, parts_of(time.type)) for time in profile.types]
    back = read_back_profile(answer, profile) if answer else None
    kernel_run = run if by == "kernel" else None
    shown = profile_answer(ProfileView(profile, types, target, mixlist, kernel_run, back, fused))
    return shown._replace(status=1, fault=fault) if fault else shown


_MOST = 200
"""Kernels that a terminal and a page show."""


@dataclass(frozen=True)
class ProfileView:
    """What is shown.

    :param kernels: the device and step whose rows are shown; None to show op types
    :param back: the model against what ran
    :param fused: what kernels were fused of, by their op type; no names where that is unknown
    """

    profile: Profile
    types: Sequence[TypeRow]
    target: Target | None = None
    mixlist: str | None = None
    kernels: DeviceStep | None = None
    back: ReadBack | None = None
    fused: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def whole(self) -> float:
        """The engine's microseconds, Casts included."""
        return self.profile.totals.microseconds + self.profile.casts.microseconds

    @property
    def moved(self) -> Time:
        return total(row.moved for row in self.types)

    def rows(self) -> Iterator[tuple[str, DeviceTask]]:
        """Read the rows once more, each with the path of its table."""
        assert self.kernels is not None
        for table in self.profile.tables:
            yield from ((table.path, kernel) for kernel in TaskTable(table.path) if is_of(kernel, self.kernels))


def profile_answer(view: ProfileView) -> CommandAnswer:
    """Op types, longest first, or kernels; the exit status is 1 if a model differs from what ran."""

    def blocks() -> list[Rows]:
        shown = [_type_rows(view) if view.kernels is None else _kernel_rows(view)]
        differs: list[list[Cell]] = [
            [
                PathCell(node.name, is_node=True),
                node.type,
                dtypes(node.predicted.outputs),
                dtypes(node.compiled.outputs),
                node.why,
            ]
            for node in (view.back.differs if view.back else ())
        ]
        if differs:
            columns = [Column(title) for title in ("node", "op type", "model", "ran")]
            columns.append(Column("why in the model", dim=True))
            lines = [["differs", *map(str, cells)] for cells in differs]
            shown.append(Rows(columns, differs, lambda: lines, title="Nodes that ran in other dtypes"))
        return shown

    def page() -> str:
        from ...core.terminal.page import table_page

        profile = view.profile
        facts = [
            ("Tables", join_some([table.path for table in profile.tables])),
            ("Mixlist", view.mixlist or ""),
            ("Target", view.target.text if view.target else ""),
            ("Time", _time(profile.totals)),
            ("Casts", _time(profile.casts)),
            *((core, _time(time)) for core, time in profile.apart.items()),
        ]
        note = f"the {_MOST} longest kernels at most" if view.kernels is not None else ""
        return table_page("What ran", [fact for fact in facts if fact[1]], blocks(), note=note)

    return CommandAnswer(
        lambda: _document(view),
        blocks,
        formats={"html": page},
        caveats=_caveats(view),
        notes=list(_notes(view)),
        status=int(bool(view.back and view.back.differs)),
    )


def _type_rows(view: ProfileView) -> Rows:
    """Op types; in a pipe type, calls, microseconds, low, high, hf32, other, list, movable."""
    states = [state for state in STATES if any(_of(row, state) for row in view.types)]
    columns = [Column("op type"), Column("low (filled)", spare=True), Column("time (us)", number=True)]
    columns += [Column("%", number=True), Column("calls", number=True)]
    columns += [Column(state, number=True, spare=True) for state in states]
    columns += [Column("list", policy=True), Column("movable")]
    columns += [Column("moved", number=True)] * bool(view.mixlist)
    longest = max((row.time.whole.microseconds for row in view.types), default=0.0) or 1.0
    engine = view.whole  # a sum over all op types
    rows: list[list[Cell]] = []
    lines: list[list[str]] = []
    for row in view.types:
        whole, policy, movable = row.time.whole, str(row.policy or "-"), _MOVABLE[row.movable]
        bar = ShareBar(_of(row, "low") / longest, whole.microseconds / longest)
        cells: list[Cell] = [row.time.type, bar, _us(whole.microseconds), _share(whole.microseconds, engine)]
        cells += [str(whole.calls), *(_us(_of(row, state)) for state in states), policy, movable]
        rows.append([*cells, *([_us(row.moved.microseconds)] * bool(view.mixlist))])
        times = [_us(_of(row, state)) for state in STATES]
        lines.append([row.time.type, str(whole.calls), _us(whole.microseconds), *times, policy, movable])
    return Rows(columns, rows, lambda: lines, title="Op types")


_MOVABLE = {True: "yes", False: "no", None: "unknown"}


def _of(row: TypeRow, state: str) -> float:
    """Return microseconds."""
    return row.time.of(*STATES[state]).microseconds


def _kernel_rows(view: ProfileView) -> Rows:
    """Kernels, the longest first; in a pipe all in the order of the tables: name, type, microseconds, inputs, outputs,
    file:line.
    """
    columns = [Column("kernel"), Column("op type"), Column("time (us)", number=True), Column("inputs")]
    columns += [Column("outputs"), Column("file:line", dim=True, spare=True)]

    def longest() -> Iterator[list[Cell]]:
        for path, kernel in heapq.nlargest(_MOST, view.rows(), key=lambda row: row[1].microseconds):
            name, place = PathCell(kernel.name, is_node=True), PathCell(os.path.basename(path), f":{kernel.line}")
            ends = (dtypes(side or ()).replace(",", ", ") for side in (kernel.inputs, kernel.outputs))
            yield [name, kernel.type, _us(kernel.microseconds), *ends, place]

    def every() -> Iterator[list[str]]:
        for path, kernel in view.rows():
            ends = dtypes(kernel.inputs or ()), dtypes(kernel.outputs or ())
            yield [kernel.name, kernel.type, _us(kernel.microseconds), *ends, f"{path}:{kernel.line}"]

    return Rows(columns, longest(), every, title="Kernels")


def _notes(view: ProfileView) -> Iterator[str]:
    """Yield the totals, what lists and the mixlist move, and the next step."""
    profile, totals = view.profile, view.profile.totals
    shares = [
        f"{_share(sum(_of(row, state) for row in view.types), totals.microseconds)} % {state}"
        for state in STATES
        if any(_of(row, state) for row in view.types)
    ]
    text = f"{_time(totals)} in {counted(len(view.types), 'op type')}"
    yield f"{text}: {', '.join(shares)}" if shares else text
    yield f"Cast: {_time(profile.casts)}, {_share(profile.casts.microseconds, view.whole)} % of the engine's time"
    if profile.apart:
        parts = ", ".join(f"{core} {_time(time)}" for core, time in profile.apart.items())
        yield f"not the engine's, and in no sum above: {parts}"
    if view.target:
        movable = [total(row.time.nodes.values()) for row in view.types if row.movable]
        text = f"a list can move {_time(total(movable))} of {counted(len(movable), 'op type')}"
        open_time = total(total(row.time.nodes.values()) for row in view.types if row.movable is None)
        yield f"{text}; of {_time(open_time)} it is unknown" if open_time.calls else text
    moving = [row for row in view.types if row.moved.calls]
    if view.mixlist and moving:
        words = [f"{row.time.type} to {'high' if row.policy is Policy.BLACK else 'low'}" for row in moving]
        share = _share(view.moved.microseconds, view.whole)
        text = f"{view.mixlist} moves {_time(view.moved)}, {share} % of the engine's time: {join_some(words, 5)}"
        yield f"{text}; their new time is unknown"
    elif view.mixlist:
        yield f"{view.mixlist} moves nothing that ran"
    undecided = [row for row in view.types if row.open.calls]
    if view.mixlist and undecided:
        time, names = total(row.open for row in undecided), join_some([row.time.type for row in undecided], 5)
        yield f"{_time(time)} become gray ({names}): `opsinfo graph MODEL --mixlist` shows whether they move"
    if view.back:
        agreement = "nothing to compare" if view.back.agreement is None else f"{view.back.agreement:.1f} % agree"
        nodes = counted(view.back.matched, "node")
        yield f"{nodes} of the model ran by name: {agreement}; {len(view.back.unmatched)} not compared"
    if any(row.time.nodes for row in view.types):
        table = quoted(view.profile.tables[0].path) if len(view.profile.tables) == 1 else "TABLE"
        target = quoted(view.target.text) if view.target else "TARGET"
        yield f"next: opsinfo bisect --profile {table} --against {target} --model MODEL -- CHECK"


def _caveats(view: ProfileView) -> list[str]:
    caveats = []
    aclnn = total(time for row in view.types for time in row.time.aclnn.values())
    if aclnn.calls:
        caveats.append(f"{_time(aclnn)} are calls of aclnn, as in eager mode: no mixlist is read for them")
    unknown = total(row.time.of("unknown") for row in view.types)
    if unknown.calls:
        is_all = unknown.calls == view.profile.totals.calls
        hint = "; level l1 of the profiler (Level1 in torch_npu) records them" if is_all else ""
        caveats.append(f"the tables have no dtypes of {_time(unknown)}{hint}")
    runs = view.profile.runs
    several = [
        f"{len(known)} {word}s" for word in DeviceStep._fields if len(known := {getattr(run, word) for run in runs}) > 1
    ]
    if several:
        caveats.append(f"the times of {' and '.join(several)} are added; --device and --step choose one")
    for op_type, names in view.fused.items():
        of = f", of {join_some(list(names), 5)}" if names else ""
        more = "" if names else "; fusion_op_*.csv beside the table has the parts"
        caveats.append(f"{op_type} was fused after dtypes were chosen{of}: a list moves it by its parts{more}")
    replaced = [f"{row.time.type} as {row.judged}" for row in view.types if row.judged]
    if replaced:
        caveats.append(f"judged before the compiler replaced them, with known shapes: {', '.join(replaced)}")
    recorded = sum(row.confidence == "kernel" for row in view.types)
    if recorded:
        caveats.append(f"movable is known from kernels of CANN 8.1.RC1 for {counted(recorded, 'op type')}")
    skipped = sum(table.skipped for table in view.profile.tables)
    if skipped:
        caveats.append(f"{counted(skipped, 'row')} without a time left out")
    return caveats


@dataclass(frozen=True, kw_only=True)
class MovedType(Time):
    """One op type."""

    type: str
    """The op type."""
    before: PolicyName | None = renamed("from")
    """Its list without the mixlist."""
    after: PolicyName | None = renamed("to")
    """Its list with the mixlist."""


@dataclass(frozen=True, kw_only=True)
class MovedTime(Time):
    """With --mixlist: the time that it moves, low time of types that turn black and high time of types that turn white.
    How long they take then is unknown.
    """

    types: list[MovedType]
    """The types that move."""


@dataclass(frozen=True)
class ShownProfile(ProfileDocument):
    """The time of what ran on the device. Later versions may add keys."""

    moved: MovedTime | None = optional()
    """With --mixlist: the time that it moves, low time of types that turn black and high time of types that turn white.
    How long they take then is unknown.
    """
    becomes_gray: Time | None = optional()
    """With --mixlist: the time of types that turn gray. Whether they move depends on the model."""
    kernels: Iterable[KernelRow] | None = optional()
    """With --by kernel: the rows, in the order of the tables."""
    read_back: ReadBack | None = optional()
    """With --model: the model compared with what ran, by node name."""


def _document(view: ProfileView) -> Mapping[str, Any]:
    moved = gray = kernels = None
    if view.mixlist:
        types = [
            MovedType(
                *row.moved.shown,
                type=row.time.type,
                before=row.before.value if row.before else None,
                after=row.policy.value if row.policy else None,
            )
            for row in view.types
            if row.moved.calls
        ]
        moved = MovedTime(*view.moved.shown, types=types)
        gray = Time(*total(row.open for row in view.types).shown)
    if view.kernels is not None:
        kernels = (kernel.row(path) for path, kernel in view.rows())  # the console writes them one by one
    whole = {**vars(view.profile.document), "types": view.types}
    whole["target"] = view.target.facts if view.target else None
    document: dict[str, Any] = as_json(
        ShownProfile(**whole, moved=moved, becomes_gray=gray, kernels=kernels, read_back=view.back)
    )
    return document


def _us(microseconds: float) -> str:
    return f"{microseconds:.2f}"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else "0.0"


def _time(time: Time) -> str:
    return f"{duration(time.microseconds)} ({counted(time.calls, 'call')})"
