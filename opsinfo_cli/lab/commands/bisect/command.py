"""`opsinfo bisect`: the smallest list that makes a check pass."""

from __future__ import annotations

from dataclasses import replace

import click

from ....core.cann.list_forms import ListFiles
from ....core.cann.targets.found import TargetOptions
from ....core.terminal import completion
from ....core.terminal.answer import CommandAnswer
from ....core.terminal.atc_option import OF_GRAPH, atc_option, atc_words, tell_atc
from ....core.terminal.config import Targeted
from ....core.terminal.console import Console
from ....core.terminal.open import accepted_mixlist, open_given, report_doubts
from ....core.terminal.params import (
    FILE,
    MODE,
    PATH,
    TABLE,
    TARGET,
    Choice,
    Number,
    OutputFile,
    Word,
    WriteOptions,
    advanced,
    advanced_install_options,
    bundle,
    option,
    prints,
    strict_option,
    write_options,
)
from ....errors import UsageFault
from ...bisect.problem import SubjectOptions, open_problem, require_sense
from ..judge_options import allow_hf32_option
from ..simulation_options import SimulationOptions, simulation_options
from .check import Check, RunOptions
from .run import BisectRun

_COUNT = click.IntRange(min=1)

subject_options = bundle(
    "searching",
    SubjectOptions,
    option("--against", type=TARGET, help="Target with the policies and dtypes; not with --write-as."),
    option("--model", type=Word("MODEL", reads=True), help="Search among the op types of this model."),
    option(
        "--among",
        type=Word("OP|@FILE", completion.operators, reads=True),
        multiple=True,
        help="Search among these op types; @FILE has one in each line; repeatable.",
    ),
    option("--mixlist", "base", type=FILE, help="Start from this mixlist."),
    option(
        "--precision-mode",
        "mode",
        type=MODE,
        default="mixed_float16",
        show_default=True,
        help="Mode that the check runs in.",
    ),
    option(
        "--evidence",
        type=FILE,
        multiple=True,
        help="Suspects to try first: a compare table, a dump.json of msprobe, or JSON of simulate; repeatable.",
    ),
    option(
        "--profile",
        type=TABLE,
        multiple=True,
        help="Prefer lists whose nodes took little time in this table; repeatable.",
    ),
    advanced("--grow", is_flag=True, help="Search for the largest white list that passes."),
    option(
        "--by",
        type=Choice(["type", "node"]),
        default="type",
        show_default=True,
        help="node: then search among the nodes of the types found, and write a keep_dtype file.",
    ),
    advanced("--curve", is_flag=True, help="Show the loss of the lists that were run against their cost."),
    allow_hf32_option,
    advanced(
        "--write-as",
        type=Choice(["mixlist", "habana", "mindspore", "names"]),
        default="mixlist",
        show_default=True,
        help="Form of the lists; all but mixlist take the names of --among as they are, without a target.",
    ),
)

run_options = bundle(
    "running",
    RunOptions,
    option("--simulate", is_flag=True, help="Check by computing the model on the CPU, as `opsinfo simulate` does."),
    advanced("-i", "--interactive", is_flag=True, help="Ask a person for each verdict."),
    option("--resume", is_flag=True, help="Continue the search in the journal."),
    option("--restart", is_flag=True, help="Begin anew in a folder that has a search, which is kept aside."),
    option("--budget", type=Word("RUNS|TIME"), help="Stop after N runs or a time, for example 40 or 6h."),
    advanced(
        "--max-drop",
        type=Number("X"),
        help="Fail if the last number that the check prints, a loss, exceeds that of the largest list by more than X.",
    ),
    option("--timeout", type=Number("SECONDS"), help="End a run that takes longer, and stop."),
    option("--jobs", type=_COUNT, metavar="N", help="Run N trials at the same time."),
    advanced(
        "--devices",
        type=Word("LIST"),
        help="A device for each trial, as in 0,1,2: for {device}, else ASCEND_RT_VISIBLE_DEVICES.",
    ),
    advanced(
        "--ray",
        type=Word("auto|ADDRESS"),
        help="Run trials on a Ray cluster: that of this host, or with its head at HOST:PORT.",
    ),
    advanced(
        "--journal",
        type=PATH,
        metavar="DIR",
        default=".opsinfo-bisect",
        show_default=True,
        help="Folder for the journal and the trials.",
    ),
    advanced("--lead", type=_COUNT, metavar="N", help="Run until one verdict has N more runs than the other."),
    advanced(
        "--retries",
        type=click.IntRange(min=0),
        metavar="N",
        default=1,
        show_default=True,
        help="Repeat a run N times that a signal ended, or that exits with 128 or more.",
    ),
    advanced(
        "--resources",
        type=Word("LIST"),
        help="Resources of a trial on the Ray cluster, as in NPU=1,CPU=8.  [default: NPU=1]",
    ),
)


@click.command("bisect", cls=Targeted)
@click.argument("words", nargs=-1, type=Word("COMMAND", reads=True, may_be_empty=True), metavar="[-- COMMAND...]")
@subject_options
@atc_option
@option(
    "-o",
    "--output",
    "list_file",
    type=OutputFile("OUT", replaces=("base",), backed_up=True),
    help="Write the list to OUT; an existing file is backed up.",
)
@run_options
@simulation_options
@strict_option
@advanced_install_options
@write_options()
@prints("html")
def command(
    words: tuple[str, ...],
    list_file: str | None,
    searching: SubjectOptions,
    running: RunOptions,
    simulating: SimulationOptions,
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
    list_files: ListFiles,
) -> CommandAnswer:
    """Find the smallest black list that makes a check pass.

    COMMAND is your own check. It is run once for each trial, with {mixlist}, {trial}, {cache} and {device} replaced;
    OPSINFO_MIXLIST and ASCEND_CACHE_PATH are set too. Exit status 0 passes, 1 to 124 fails, 125 cannot tell; 126 and
    127 stop the search; after 128 and more, or a signal, the run is repeated.

    Exit status 0 if a list was found or none is needed; 1 if no list passes, the budget is spent, nothing of the model
    is judged (with --simulate: or rounded), or, with --strict, there is a warning before the first run; 3 if the check
    is unusable; 130 after Ctrl-C. A spent budget and a signal leave the best list known.

    \b
    Examples:
      opsinfo bisect --against ascend910b --model model.onnx --simulate --max-error 0.01
      opsinfo bisect --against ascend910b --model model.onnx --journal second -o black.json \
        -- ./evaluate.sh {mixlist}
      opsinfo bisect --against ascend910b --model model.onnx --journal second --resume -- ./evaluate.sh {mixlist}
      opsinfo bisect --against ascend910b --among Mul --among SoftmaxV2 --journal third --devices 0,1 \
        -- ./evaluate.sh {mixlist}
    """
    tell_atc(console, OF_GRAPH)
    searching = replace(searching, command=atc_words())
    check = Check(running, simulating, words, searching.by == "node")
    require_sense(searching)
    if simulating.shapes and searching.model is None:
        raise UsageFault("--shape requires --model", name="needs-model")
    if searching.model is None or searching.evidence or searching.grow:
        check.require_simulation()
    target = open_given(searching.against, console, options)
    if target is not None:
        report_doubts(target, console)
    run = BisectRun(check, list_file, writing, console)
    if searching.model is not None:
        run.require()
    problem = open_problem(
        searching,
        target,
        accepted_mixlist(searching.base, console) if searching.base else None,
        console,
        shapes_of=simulating.shapes_of,
        inputs=simulating.inputs,
        saturate=simulating.saturate,
        list_files=list_files,
    )
    if not problem.is_simulated:  # a model of another format is known only now
        check.require_simulation()
    return run.search(problem)
