"""`opsinfo validate`: findings on mixlists and libraries."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from ..check.finding import Outcome
from ..check.run import validate
from ..model.target import Target
from ..report.findings import finding_lines, findings_document, summary_line
from ..report.output import Output, failure_document
from ..report.progress import Steps
from .config import Configured, config_in_use, config_options
from .options import as_option, format_option, open_against, output_of

__all__ = ["command", "report_findings"]


@click.command("validate", cls=Configured)
@click.argument("paths", nargs=-1, required=True, metavar="FILE|DIR...")
@click.option(
    "--against", "against", multiple=True, metavar="TARGET", help="A target that the mixlists are for; repeatable."
)
@click.option(
    "--precision-mode",
    "modes",
    multiple=True,
    metavar="MODE",
    help="The precision mode that the mixlists are used with.",
)
@click.option(
    "--soc", "socs", multiple=True, metavar="SOC", help="Which chip of an install given with --against; repeatable."
)
@as_option
@config_options
@format_option()
def command(
    paths: tuple[str, ...],
    against: tuple[str, ...],
    modes: tuple[str, ...],
    socs: tuple[str, ...],
    format_: str,
    **options: Any,
) -> int:
    """Check files, stores and trees: what the engine refuses or ignores, and what cannot work.

    Exit status 1 where a finding is an error. Op names are checked against the targets given with
    --against, one for each chip the mixlist must serve; snapshots do where there is no CANN. Of a
    tree, mixlists and libraries are checked, but for what .gitignore files exclude. What is said
    every time can stand in opsinfo.toml, or in pyproject.toml under [tool.opsinfo].

    \b
    Examples:
      opsinfo validate ops_info.json --against ascend910b
      opsinfo validate ops_info.json --against ascend910b --precision-mode mixed_bfloat16
      opsinfo validate . --against ascend910b.opsinfo.json --against ascend910_93.opsinfo.json
      opsinfo validate /usr/local/Ascend/ascend-toolkit/latest/opp
    """
    output = output_of("validate", options, format_)
    config = config_in_use(click.get_current_context())
    if config:
        output.detail(f"defaults from {config}")
    targets = [each for text in against for each in _chips(text, socs, output)]
    stdin = sys.stdin.buffer.read() if "-" in paths else None
    steps = Steps(output)
    try:
        outcome = validate(*paths, against=targets, modes=modes, kind=options["kind"], stdin=stdin, step=steps)
    finally:
        steps.done()
    if not targets and any(file.kind == "mixlist" for file in outcome.files):
        output.say("op names were not checked; --against TARGET does that")
    return report_findings(output, outcome, list(against))


def _chips(text: str, socs: tuple[str, ...], output: Output) -> list[Target]:
    """A target, or of an install one for each chip."""
    if socs and os.path.isdir(text):
        return [open_against(text, output, {"soc": soc}) for soc in dict.fromkeys(socs)]
    return [open_against(text, output, {})]


def report_findings(output: Output, outcome: Outcome, against: list[str]) -> int:
    """Everything found, and the exit status."""
    if output.format == "json":
        document = {**findings_document(outcome), "against": against}
        if outcome.failures:
            document["error"] = failure_document(outcome.failures[0])
        output.document(document)
    else:
        output.lines(finding_lines(output, outcome.findings))
        for verdict in outcome.files:
            word = {True: "accepts", False: "refuses", None: "is not asked of"}[verdict.engine_accepts]
            output.detail(f"{verdict.path}: {verdict.kind}; the engine {word} it")
        for error in outcome.failures:
            output.failure(error)
        output.tell(summary_line(outcome))
    if outcome.failures:
        return max(error.exit_code for error in outcome.failures)
    return 1 if outcome.tally.errors else 0
