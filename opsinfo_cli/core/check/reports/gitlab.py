"""Findings as GitLab's Code Quality report: an array of issues."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ....errors import OpsinfoError
from ...text.escape import visible
from ..checked import Checked
from ..finding import Finding

_SEVERITIES = {"error": "critical", "warning": "minor", "note": "info"}


def gitlab(checked: Checked) -> str:
    issues = [_of_failure(checked, error) for error in checked.failures]
    issues += (_of_finding(checked, finding) for finding in checked.findings)
    issues += (_of_remark(checked, remark) for remark in checked.remarks)
    return json.dumps(issues, indent=2) + "\n"


def _of_finding(checked: Checked, finding: Finding) -> dict[str, Any]:
    hint = f" ({finding.hint})" if finding.hint else ""
    return {
        "description": visible(f"{finding.rule.code}: {finding.message}{hint}"),
        "check_name": finding.rule.name,
        "fingerprint": finding.fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": _location(checked, finding.path, finding.start.line if finding.start else 1),
    }


def _of_remark(checked: Checked, remark: str) -> dict[str, Any]:
    """Return an issue that says what the report leaves out: the format has no other place for it."""
    return {
        "description": visible(remark),
        "check_name": "opsinfo",
        "fingerprint": hashlib.sha256(remark.encode("utf-8", "surrogateescape")).hexdigest()[:32],
        "severity": "info",
        "location": _location(checked, ".", 1),
    }


def _of_failure(checked: Checked, error: OpsinfoError) -> dict[str, Any]:
    """Return an issue for a file that could not be checked, so that it does not look clean."""
    location = _location(checked, error.path or "-", error.line or 1)
    known = "\0".join((error.name, location["path"], error.message))
    return {
        "description": visible(error.message),
        "check_name": error.name,
        "fingerprint": hashlib.sha256(known.encode("utf-8", "surrogateescape")).hexdigest()[:32],
        "severity": "blocker",
        "location": location,
    }


def _location(checked: Checked, path: str, line: int) -> dict[str, Any]:
    return {"path": visible(checked.relative(path)), "lines": {"begin": line}}
