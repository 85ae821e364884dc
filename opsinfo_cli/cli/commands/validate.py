"""`opsinfo validate`: findings on mixlists and libraries."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ...check.run import Narrowing
from ...check.selection import RuleSelection
from ...errors import UsageFault
from ...model.repository import Repository
from ...model.target import Target, TargetOptions
from ...report.terminal.output import Output
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.options import as_option, lock_options
from ..shared.targets import open_against
from ..validation.config import Configured, config_in_use, config_options, config_that_names
from ..validation.fix_options import FIXING, FixOptions
from ..validation.run import Validation

if TYPE_CHECKING:
    from ...check.baseline import Baseline
    from ..validation.fix import FixRun
    from ..validation.report_files import ReportFile


class NarrowingOptions(NamedTuple):
    """Options that choose the reported findings."""

    select: tuple[str, ...]
    ignore: tuple[str, ...]
    baseline: str | None
    update_baseline: bool
    strict: bool


_NARROWING = declare.Group("narrowing", NarrowingOptions)

_narrowing_options = declare.stacked(
    declare.option(
        "--select",
        metavar="CODE|NAME",
        multiple=True,
        help="Only these findings; M selects all of M...; repeatable.",
        group=_NARROWING,
    ),
    declare.option(
        "--ignore",
        metavar="CODE[:POINTER]",
        multiple=True,
        help="All findings but these, or these at and below a JSON pointer; repeatable.",
        group=_NARROWING,
    ),
    declare.option("--baseline", metavar="FILE", help="File of known findings to hide.", group=_NARROWING),
    declare.option(
        "--update-baseline", is_flag=True, help="Write the findings to the baseline; exit 0.", group=_NARROWING
    ),
    declare.option("--strict", is_flag=True, help="Fail on warnings too.", group=_NARROWING),
)
_fix_options = declare.stacked(
    declare.option("--fix", is_flag=True, help="Apply safe fixes; report the rest.", group=FIXING),
    declare.option(
        "--diff",
        "show_diff",
        is_flag=True,
        help="Show what --fix would change; exit 1 if anything would.",
        group=FIXING,
    ),
    declare.option(
        "--unsafe-fixes", is_flag=True, help="Also apply unsafe fixes: guessed names, duplicate keys.", group=FIXING
    ),
    lock_options,
)


@declare.command("validate", cls=Configured)
@declare.argument("paths", nargs=-1, required=True, metavar="FILE|DIR...")
@declare.option(
    "--against", "against", multiple=True, metavar="TARGET", help="Target that the mixlists are for; repeatable."
)
@declare.option(
    "--precision-mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help="Precision mode that the mixlists are used with.",
)
@declare.option(
    "--model", "models", multiple=True, metavar="MODEL", help="Model that the mixlists are used with; repeatable."
)
@declare.option(
    "--soc", "socs", multiple=True, metavar="SOC", help="Chip of the install given with --against; repeatable."
)
@as_option
@_narrowing_options
@_fix_options
@declare.option(
    "--report", "reports", metavar="FORMAT:FILE", multiple=True, help="Also write a report to FILE; repeatable."
)
@config_options
@format_option("concise", "github", "gitlab", "sarif", "junit", "auto")
def command(
    paths: tuple[str, ...],
    against: tuple[str, ...],
    modes: tuple[str, ...],
    models: tuple[str, ...],
    socs: tuple[str, ...],
    reports: tuple[str, ...],
    options: TargetOptions,
    narrowing: NarrowingOptions,
    fixing: FixOptions,
    writing: WriteOptions,
    printing: OutputOptions,
) -> int:
    """Check files, stores and directories for what the engine refuses or ignores, and for entries without effect.

    Exit status 1 if a finding is an error. Op names are checked against the targets given with --against, one
    for each chip that the mixlist is for; a snapshot replaces an install. Directories are searched for mixlists
    and libraries, respecting .gitignore. Put options you always use in opsinfo.toml, or in pyproject.toml under
    [tool.opsinfo].

    Format concise prints one line for each finding; github adds annotations to the text, and auto does so in
    GitHub Actions.

    \b
    Examples:
      opsinfo validate ops_info.json --against ascend910b
      opsinfo validate ops_info.json --against ascend910b --precision-mode mixed_bfloat16
      opsinfo validate ops_info.json --against ascend910b --model model.onnx
      opsinfo validate . --against ascend910b.opsinfo.json --against ascend910_93.opsinfo.json
      opsinfo validate /usr/local/Ascend/ascend-toolkit/latest/opp
      opsinfo validate . --report sarif:opsinfo.sarif --report junit:opsinfo.xml
      opsinfo validate . --ignore T006 --ignore unknown-operator:/black-list/to-add
      opsinfo validate . --baseline opsinfo-baseline.json --update-baseline
      opsinfo validate ops_info.json --diff
    """
    output = _output(printing)
    if socs and not against:
        raise UsageFault("--soc requires --against")
    if models and not against:
        raise UsageFault("--model requires --against")
    fixes = _fixes(fixing, narrowing, writing, paths, printing.format)
    inputs = [each for each in (*paths, *against, *models, narrowing.baseline, config_in_use()) if each is not None]
    baseline, files = _baseline(narrowing), _report_files(reports, inputs)
    targets = [each for text in against for each in _chips(text, socs, output)]
    validation = Validation(
        output,
        paths,
        targets,
        list(modes),
        list(models),
        options.kind,
        _filter(narrowing, baseline),
        narrowing.baseline,
    )
    validation.check()
    if fixes:
        validation.fix(fixes)
    if narrowing.update_baseline:
        validation.accept()
    return validation.report(_format(printing.format), files, list(against), fixes)


def _output(printing: OutputOptions) -> Output:
    """Where messages go: reports in other formats than JSON are made when the findings are known."""
    output = output_of("validate", printing._replace(format="json" if printing.format == "json" else "text"))
    config = config_in_use()
    if config:
        output.detail(f"defaults from {config}")
    return output


def _filter(narrowing: NarrowingOptions, baseline: Baseline | None) -> Narrowing:
    selection = RuleSelection.of(narrowing.select, narrowing.ignore)
    return Narrowing(Repository.around(os.getcwd(), os.environ), selection, baseline, narrowing.strict)


def _chips(text: str, socs: tuple[str, ...], output: Output) -> list[Target]:
    """Return a target, or one for each chip of an install."""
    if socs and os.path.isdir(text):
        return [open_against(text, output, TargetOptions(soc=soc)) for soc in dict.fromkeys(socs)]
    return [open_against(text, output)]


# imported on use, because few runs need them


def _fixes(
    fixing: FixOptions, narrowing: NarrowingOptions, writing: WriteOptions, paths: tuple[str, ...], format: str
) -> FixRun | None:
    if not any(fixing):
        return None
    from ..validation.fix import fix_run

    return fix_run(fixing, writing, paths, format, narrowing.update_baseline)


def _baseline(narrowing: NarrowingOptions) -> Baseline | None:
    if not (narrowing.baseline or narrowing.update_baseline):
        return None
    from ..validation.baseline import baseline_of

    config = config_that_names("baseline")
    if config and narrowing.update_baseline:
        raise UsageFault(
            "--update-baseline writes only a file that --baseline names on the command line",
            name="config-writes",
            path=config,
            hint=f"add --baseline {narrowing.baseline}",
        )
    return baseline_of(narrowing.baseline, narrowing.update_baseline)


def _report_files(words: tuple[str, ...], inputs: list[str]) -> list[ReportFile]:
    if not words:
        return []
    from ..validation.report_files import parsed_reports

    return parsed_reports(words, inputs)


def _format(chosen: str) -> str:
    if chosen != "auto":
        return chosen
    return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
