"""`opsinfo validate`: findings on mixlists and libraries."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...check.narrowing import Narrowing
from ...check.selection import Selection
from ...errors import UsageFault
from ...model.repository import Repository
from ...model.target import Target
from ...report.terminal.output import Output
from ..line import declare
from ..shared.options import as_option, format_option, lock_options, open_against, output_of, stacked
from ..validation.config import Configured, config_in_use, config_options
from ..validation.run import Validation

if TYPE_CHECKING:
    from ...check.baseline import Baseline
    from ..validation.fix import Fixing
    from ..validation.report_files import Report

__all__ = ["command"]

_narrowing_options = stacked(
    declare.option(
        "--select", metavar="CODE|NAME", multiple=True, help="Only these findings; M means all of M...; repeatable."
    ),
    declare.option(
        "--ignore",
        metavar="CODE[:POINTER]",
        multiple=True,
        help="Not these, or not at and below a JSON pointer; repeatable.",
    ),
    declare.option("--baseline", metavar="FILE", help="Findings that are known and accepted."),
    declare.option("--update-baseline", is_flag=True, help="Write what is found into the baseline; exit 0."),
    declare.option("--strict", is_flag=True, help="Warnings fail too."),
)
_fix_options = stacked(
    declare.option("--fix", is_flag=True, help="Mend mixlists where that is safe; say what stays."),
    declare.option("--diff", "show_diff", is_flag=True, help="Show what --fix would change; exit 1 where it would."),
    declare.option("--unsafe-fixes", is_flag=True, help="Mend by guesses too: near names, keys that stand twice."),
    lock_options,
)


@declare.command("validate", cls=Configured)
@declare.argument("paths", nargs=-1, required=True, metavar="FILE|DIR...")
@declare.option(
    "--against", "against", multiple=True, metavar="TARGET", help="A target that the mixlists are for; repeatable."
)
@declare.option(
    "--precision-mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help="The precision mode that the mixlists are used with.",
)
@declare.option(
    "--soc", "socs", multiple=True, metavar="SOC", help="Which chip of an install given with --against; repeatable."
)
@as_option
@_narrowing_options
@_fix_options
@declare.option("--report", "reports", metavar="FORMAT:FILE", multiple=True, help="Write a report too; repeatable.")
@config_options
@format_option("concise", "github", "gitlab", "sarif", "junit", "auto")
def command(paths: tuple[str, ...], against: tuple[str, ...], format_: str, **options: Any) -> int:
    """Check files, stores and trees: what the engine refuses or ignores, and what cannot work.

    Exit status 1 where a finding is an error. Op names are checked against the targets given with
    --against, one for each chip the mixlist must serve; snapshots do where there is no CANN. Of a
    tree, mixlists and libraries are checked, but for what .gitignore files exclude. What is said
    every time can stand in opsinfo.toml, or in pyproject.toml under [tool.opsinfo].

    Format concise is one line for each finding; github adds annotations to the text, and auto does so inside
    GitHub Actions.

    \b
    Examples:
      opsinfo validate ops_info.json --against ascend910b
      opsinfo validate ops_info.json --against ascend910b --precision-mode mixed_bfloat16
      opsinfo validate . --against ascend910b.opsinfo.json --against ascend910_93.opsinfo.json
      opsinfo validate /usr/local/Ascend/ascend-toolkit/latest/opp
      opsinfo validate . --report sarif:opsinfo.sarif --report junit:opsinfo.xml
      opsinfo validate . --ignore T006 --ignore unknown-operator:/black-list/to-add
      opsinfo validate . --baseline opsinfo-baseline.json --update-baseline
      opsinfo validate ops_info.json --diff
    """
    output = output_of("validate", options, "json" if format_ == "json" else "text")
    config = config_in_use()
    if config:
        output.detail(f"defaults from {config}")
    elif options["socs"] and not against:
        raise UsageFault("--soc requires --against", hint="--soc chooses the chips of the install given with --against")
    fixing, baseline, reports = _fixing(options, paths, format_), _baseline(options), _reports(options, paths)
    selection = Selection.of(options["select"], options["ignore"])
    targets = [each for text in against for each in _chips(text, options["socs"], output)]
    validation = Validation(
        output,
        paths,
        targets,
        list(options["modes"]),
        options["kind"],
        Narrowing(Repository.around(os.getcwd(), os.environ), selection, baseline),
        options["strict"],
        options["baseline"],
    )
    validation.check()
    if fixing:
        validation.fix(fixing)
    if options["update_baseline"]:
        validation.accept()
    return validation.report(_chosen(format_), reports, list(against), fixing)


def _chips(text: str, socs: tuple[str, ...], output: Output) -> list[Target]:
    """A target, or of an install one for each chip."""
    if socs and os.path.isdir(text):
        return [open_against(text, output, {"soc": soc}) for soc in dict.fromkeys(socs)]
    return [open_against(text, output, {})]


# what few runs ask for is loaded where it is asked for


def _fixing(options: dict[str, Any], paths: tuple[str, ...], format_: str) -> Fixing | None:
    if not (options["fix"] or options["show_diff"] or options["unsafe_fixes"]):
        return None
    from ..validation.fix import fixing_of

    return fixing_of(options, paths, format_)


def _baseline(options: dict[str, Any]) -> Baseline | None:
    if not (options["baseline"] or options["update_baseline"]):
        return None
    from ..validation.baseline import baseline_of

    return baseline_of(options["baseline"], options["update_baseline"])


def _reports(options: dict[str, Any], paths: tuple[str, ...]) -> list[Report]:
    if not options["reports"]:
        return []
    from ..validation.report_files import parsed_reports

    return parsed_reports(options["reports"], [*paths, *([options["baseline"]] if options["baseline"] else [])])


def _chosen(format_: str) -> str:
    if format_ != "auto":
        return format_
    return "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
