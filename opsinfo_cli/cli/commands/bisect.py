"""`opsinfo bisect`: the smallest list that makes a check pass."""

from __future__ import annotations

from ...model.target import TargetOptions
from ..bisecting.options import RunOptions, SubjectOptions, run_options, subject_options
from ..bisecting.places import Check
from ..bisecting.run import BisectRun
from ..bisecting.subject import opened, problem
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, dry_run_option, format_option, output_of
from ..shared.options import against_soc_option, core_option, customs_option, lock_options
from ..simulating.options import SimulateOptions, simulate_options


@declare.command("bisect")
@declare.argument("check", nargs=-1, metavar="[-- COMMAND...]")
@subject_options
@declare.option(
    "-o",
    "--output",
    "out",
    metavar="OUT",
    help="Write the list to OUT; an existing file is backed up.",
    writes=("base",),
)
@run_options
@simulate_options
@against_soc_option
@core_option
@customs_option
@dry_run_option
@lock_options
@format_option("html")
def command(
    check: tuple[str, ...],
    out: str | None,
    searching: SubjectOptions,
    running: RunOptions,
    simulating: SimulateOptions,
    options: TargetOptions,
    writing: WriteOptions,
    printing: OutputOptions,
) -> int:
    """Find the smallest black list that makes a check pass.

    COMMAND is your own check. It is run once for each trial, with {mixlist}, {trial} and {cache} replaced by paths;
    OPSINFO_MIXLIST and ASCEND_CACHE_PATH are set too. Exit status 0 passes, 1 to 124 fails, 125 cannot tell; 126 and
    127 stop the search; after 128 and more, or a signal, the run is repeated.

    Exit status: found, or nothing to do 0; cannot be cured, or out of budget 1; the check is unusable 3; SIGHUP 129,
    Ctrl-C 130, SIGTERM 143. A signal and a spent budget leave the best list known.

    \b
    Examples:
      opsinfo bisect --against ascend910b --model m.onnx -- ./check.sh {mixlist}
      opsinfo bisect --against ascend910b --model m.onnx -o ops_info.json -- python eval.py
      opsinfo bisect --against ascend910b --model m.onnx --budget 6h --resume -- ./check.sh
      opsinfo bisect --against ascend910b --among @types.txt --devices 0,1,2,3 -- ./check.sh
      opsinfo bisect --against ascend910b --model m.onnx --grow white -- ./check.sh
      opsinfo bisect --against ascend910b --model m.onnx --simulate --max-error 0.01
    """
    output = output_of("bisect", printing)
    run = BisectRun(running, Check(running, simulating, check), out, writing, output)
    return run.search(problem(opened(searching, options, output), output))
