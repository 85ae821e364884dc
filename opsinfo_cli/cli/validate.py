"""`opsinfo validate`: findings on mixlists and libraries."""

from __future__ import annotations

import sys
from typing import Any

import click

from ..check.finding import Outcome
from ..check.run import validate
from ..report.findings import finding_lines, findings_document, summary_line
from ..report.output import Output, failure_document
from .options import as_option, format_option, open_against, output_of

__all__ = ["command", "report_findings"]


@click.command("validate")
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
@click.option("--soc", metavar="SOC", help="Which chip of an install given with --against.")
@as_option
@format_option()
def command(
    paths: tuple[str, ...],
    against: tuple[str, ...],
    modes: tuple[str, ...],
    soc: str | None,
    format_: str,
    **options: Any,
) -> int:
    """Check files, stores and trees: what the engine refuses or ignores, and what cannot work.

    Exit status 1 where a finding is an error. Op names are checked against the targets given with --against.

    \b
    Examples:
      opsinfo validate ops_info.json --against ascend910b
      opsinfo validate ops_info.json --against ascend910b --precision-mode mixed_bfloat16
      opsinfo validate /usr/local/Ascend/ascend-toolkit/latest/opp
    """
    output = output_of("validate", options, format_)
    targets = [open_against(text, output, {"soc": soc}) for text in against]
    stdin = sys.stdin.buffer.read() if "-" in paths else None
    outcome = validate(*paths, against=targets, modes=modes, kind=options["kind"], stdin=stdin)
    if not targets and any(file.kind == "mixlist" for file in outcome.files):
        output.say("op names were not checked; --against TARGET does that")
    return report_findings(output, outcome, list(against))


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
