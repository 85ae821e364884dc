"""Findings as annotations of GitHub Actions: workflow commands that the runner reads from the log.

GitHub keeps ten errors, ten warnings and ten notices per step and silently drops the rest, so the worst come first
and a notice counts the rest. ``col`` is allowed only if a span ends on its first line.
"""

from __future__ import annotations

import re

from ....errors import OpsinfoError
from ...text.escape import visible
from ..checked import Checked
from ..finding import SEVERITIES, Finding

_KEPT = 10
_POLICIES = ("new-policy", "changed-policy", "removed-policy")
"""What a reviewer looks for first, after errors."""
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def github(checked: Checked) -> str:
    """Return the annotations; a complete report is printed as well."""
    commands: dict[str, list[str]] = {severity: [] for severity in SEVERITIES}
    commands["error"] += (_of_failure(checked, error) for error in checked.failures)
    ordered = sorted(checked.findings, key=lambda each: (each.rule.name not in _POLICIES, each.engine != "refuses"))
    for finding in ordered:
        commands[finding.severity].append(_of_finding(checked, finding))
    policies = {_of_finding(checked, each) for each in ordered if each.rule.name in _POLICIES}
    last = [_command("notice", [("title", "opsinfo")], remark) for remark in checked.remarks]
    room = {**dict.fromkeys(SEVERITIES, _KEPT), "note": _KEPT - len(last)}
    if any(len(commands[severity]) > room[severity] for severity in SEVERITIES):
        room["note"] -= 1  # for the notice that counts the rest
        hidden = sum(max(0, len(commands[severity]) - room[severity]) for severity in SEVERITIES)
        last.insert(0, f"::notice title=opsinfo::{hidden} more in the log")
    lines = [line for severity in SEVERITIES for line in commands[severity][: room[severity]]]
    lines.sort(key=lambda line: not line.startswith("::error") and line not in policies)
    return "".join(f"{line}\n" for line in [*lines, *last])


def _of_finding(checked: Checked, finding: Finding) -> str:
    path, start, end = visible(checked.relative(finding.path)), finding.start, finding.end
    where: list[tuple[str, object]] = [("title", f"opsinfo ({finding.rule.code} {finding.rule.name})")]
    if checked.is_file(finding.path):
        where.append(("file", path))
        if start and end:
            where.append(("line", start.line))
            if start.line == end.line:
                where += [("col", start.column), ("endLine", end.line), ("endColumn", end.column)]
            else:
                where.append(("endLine", end.line))
    place = f"{path}:{start.line}:{start.column}" if start else path
    text = f"{place}: {finding.rule.code} {visible(finding.message)}"
    if finding.hint:
        text += f"\nhint: {visible(finding.hint)}"
    return _command(_COMMANDS[finding.severity], where, text)


def _of_failure(checked: Checked, error: OpsinfoError) -> str:
    where: list[tuple[str, object]] = [("title", f"opsinfo ({error.name})")]
    text = visible(error.message)
    if error.path:
        path = visible(checked.relative(error.path))
        where.append(("file", path))
        text = f"{path}: {text}"
    return _command("error", where, text)


def _command(name: str, properties: list[tuple[str, object]], message: str) -> str:
    values = ",".join(f"{key}={_escape(str(value), '%:,')}" for key, value in properties)
    return f"::{name} {values}::{_escape(message, '%')}"


def _escape(text: str, signs: str) -> str:
    """Return text with ends of lines and some signs as ``%0A``."""
    return re.sub(f"[\r\n{signs}]", lambda sign: f"%{ord(sign[0]):02X}", text)
