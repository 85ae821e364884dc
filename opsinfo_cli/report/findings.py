"""Findings for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..check.finding import Finding, Outcome
from .output import Output
from .visible import visible

__all__ = ["finding_lines", "findings_document", "summary_line"]


def finding_lines(output: Output, findings: list[Finding]) -> Iterator[str]:
    """`path:line:column: severity[code] name: message`, and the hint below."""
    for finding in findings:
        place = visible(finding.path) + (f":{finding.start.line}:{finding.start.column}" if finding.start else "")
        severity = output.paint(f"{finding.severity}[{finding.rule.code}]", finding.severity)
        yield f"{place}: {severity} {finding.rule.name}: {visible(finding.message)}"
        if finding.hint:
            yield f"    {output.paint('hint:', 'hint')} {visible(finding.hint)}"


def summary_line(outcome: Outcome) -> str:
    tally = outcome.tally
    counts = [(tally.errors, "error"), (tally.warnings, "warning"), (tally.notes, "note")]
    said = ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count)
    files = sum(verdict.kind in ("library", "mixlist") for verdict in outcome.files)
    return f"{files} file{'' if files == 1 else 's'} checked: {said or 'no findings'}"


def findings_document(outcome: Outcome) -> dict[str, Any]:
    tally = outcome.tally
    return {
        "findings": [_finding(finding) for finding in outcome.findings],
        "files": [
            {"path": each.path, "kind": each.kind, "engine_accepts": each.engine_accepts} for each in outcome.files
        ],
        "summary": {
            "files": tally.files,
            "errors": tally.errors,
            "warnings": tally.warnings,
            "notes": tally.notes,
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    start, end = finding.start, finding.end
    return {
        "code": finding.rule.code,
        "name": finding.rule.name,
        "severity": finding.severity,
        "engine": finding.engine,
        "path": finding.path,
        "line": start.line if start else None,
        "column": start.column if start else None,
        "end_line": end.line if end else None,
        "end_column": end.column if end else None,
        "pointer": finding.pointer,
        "message": finding.message,
        "hint": finding.hint,
        "fixable": finding.edit is not None,
    }
