"""Findings as a JSON document."""

from __future__ import annotations

from typing import Any

from ...check.finding import Finding
from ...check.run import CheckResult
from ..terminal.failure import failure_document


def findings_document(checked: CheckResult, against: list[str]) -> dict[str, Any]:
    outcome, tally = checked.outcome, checked.outcome.tally
    document: dict[str, Any] = {
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
        "against": against,
    }
    if checked.failures:
        document["error"] = failure_document(checked.failures[0])
    return document


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
        "fixable": finding.fix is not None,
        "fix": finding.fix.kind if finding.fix else None,
        "fingerprint": finding.fingerprint,
    }
