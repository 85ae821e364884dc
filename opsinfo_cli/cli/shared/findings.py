"""Findings as commands print them: the data on standard output, the summary on standard error."""

from __future__ import annotations

import sys
from typing import Any

from ...check.fixes import applicable
from ...check.run import CheckResult
from ...report.formats.concise import concise_lines
from ...report.formats.render import rendered
from ...report.formats.summary import summary_line
from ...report.formats.text import finding_lines
from ...report.terminal.output import Output


def say_findings(output: Output, checked: CheckResult, format: str, document: dict[str, Any]) -> None:
    """Print all findings in one format, and the summary if the format has none.

    :param document: the JSON document
    """
    if format == "json":
        output.document(document)
        return
    findings, look = checked.outcome.findings, output.look(sys.stdout)
    if format == "text":
        output.lines(finding_lines(findings, look))
    elif format == "concise":
        output.lines(concise_lines(findings, look))
    elif format == "github":
        from ...report.formats.github import github, harmless

        output.lines(map(harmless, finding_lines(findings, look)))
        output.data(github(checked), exact=True)
    else:
        output.data(rendered(format, checked, document), exact=True)
    talk_about(output, checked)


def talk_about(output: Output, checked: CheckResult) -> None:
    """Print whether the engine accepts each file, which files could not be checked, and the totals."""
    for verdict in checked.outcome.files:
        word = {True: "accepts", False: "refuses", None: "does not read"}[verdict.engine_accepts]
        output.detail(f"{verdict.path}: {verdict.kind}; the engine {word} it")
    for skipped in checked.outcome.passed_over:
        output.detail(f"{skipped.path}: skipped; {skipped.reason}")
    for error in checked.failures:
        output.failure(error)
    output.tell(summary_line(checked.outcome))


def say_fixable(checked: CheckResult, output: Output) -> None:
    """Print how many findings --fix would fix."""
    findings = checked.outcome.findings
    safe = len(applicable(findings, unsafe=False))
    unsafe = len(applicable(findings, unsafe=True)) - safe
    if safe and unsafe:
        output.tell(f"{safe} can be fixed with --fix, {unsafe} more with --fix --unsafe-fixes")
    elif safe or unsafe:
        output.tell(f"{safe or unsafe} can be fixed with --fix{'' if safe else ' --unsafe-fixes'}")
