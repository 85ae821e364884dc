"""`opsinfo profile`: show the time of what ran, by op type, and how much of it a list can change."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ...core.cann.mixlist import Mixlist
from ...core.cann.target import Target, TargetOptions
from ...core.terminal.answer import Answer
from ...core.terminal.console import Console
from ...core.terminal.open import accepted_mixlist, open_given, open_model, open_profile, report_doubts, report_unknown
from ...core.terminal.params import (
    FILE,
    MODE,
    TABLE,
    TARGET,
    Choice,
    Command,
    Word,
    advanced,
    install_options,
    option,
    prints,
    shape_option,
)
from ...errors import UsageFault
from ..graph.graph import ModelGraph
from ..graph.judge.kernel_sources import Kernels
from ..graph.open_dimensions import open_dimensions_text
from ..graph.ran import ran
from ..graph.result import GraphAnswer, WrittenAnswer
from ..profile.lists import Listed, listed
from ..profile.table import Kernel, Table
from ..profile.times import Profile, Run, is_of
from .judge_options import FRAMEWORKS, MODEL, JudgeOptions, judged_model, shapes_of
from .profile_view import ProfileView, profile_answer


@click.command("profile", cls=Command)
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
) -> Answer:
    """Show where the time on the device went, by op type, low and high, and how much of it a list can change.

    TABLE is kernel_details.csv of torch_npu, op_summary_*.csv of msprof, or a folder with such tables. Casts, and what
    is not the engine's (communication, AI CPU, DVPP), are counted apart.

    Exit status 1 if --model finds a node that ran in other dtypes.

    \b
    Examples:
      opsinfo profile op_summary.csv
      opsinfo profile op_summary.csv --against ascend910b --mixlist ops_info.json
      opsinfo profile op_summary.csv --by kernel
      opsinfo profile op_summary.csv --format html -o profile.html
    """
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
    judging = JudgeOptions(against=against, mode=mode, mixlist=mixlist)
    answer = _model(model, shapes, judging, options, console) if model else None
    run = Run(device or "", step or "")
    read, profile = open_profile(tables, console, {*answer.graph.names} if answer else (), run)
    view = ProfileView(
        profile,
        _listed(profile, target, applied),
        read,
        target,
        mixlist,
        KernelRows([table.path for table in read], run) if by == "kernel" else None,
        ran(answer, profile) if answer else None,
    )
    return profile_answer(view)


def _listed(profile: Profile, target: Target | None, mixlist: Mixlist | None) -> list[Listed]:
    """Return the op types with their lists; where the library has no columns, those recorded of the chip's kernels."""
    if target is None:
        return listed(profile.types, None, mixlist)
    kernels = Kernels(target.operators, target.soc, ["kernel"])

    def recorded(op_type: str) -> Iterator[str]:
        for kernel in kernels.of(op_type):
            for slot in kernel.inputs if kernel.confidence == "kernel" else ():
                yield from slot.static.dtypes

    return listed(profile.types, target.operators, mixlist, recorded)


def _model(
    path: str, shapes: tuple[str, ...], judging: JudgeOptions, options: TargetOptions, console: Console
) -> GraphAnswer:
    """Return a compiled model's dtypes as they are, unless a mode is given; those of another model are predicted."""
    graph: ModelGraph = open_model(path, console, shapes_of(shapes))
    if graph.model.format not in FRAMEWORKS and graph.model.judged and judging.mode is None:
        return WrittenAnswer(graph)
    answer = judged_model(graph, judging, options, console).answer
    if answer.decided_open:
        console.note(open_dimensions_text(answer.decided_open, graph.model.inputs))
    return answer


class KernelRows:
    """The rows of tables with their paths, read again for each reader."""

    def __init__(self, paths: list[str], run: Run) -> None:
        self._paths = paths
        self._run = run

    def __iter__(self) -> Iterator[tuple[str, Kernel]]:
        for path in self._paths:
            yield from ((path, kernel) for kernel in Table(path) if is_of(kernel, self._run))
