"""Findings as annotations of GitHub Actions: workflow commands that the runner reads from the log.

GitHub keeps ten errors, ten warnings and ten notices per step and silently drops the rest, so the worst come first
and the last notice counts the rest. ``col`` is allowed only if a span ends on its first line.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....errors import OpsinfoError
from ...text.escape import visible
from ..finding import SEVERITIES, Finding
from ..run import CheckResult

_KEPT = 10
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def github(checked: CheckResult) -> str:
    """Return the annotations; a complete report is printed as well."""
    told: dict[str, list[str]] = {severity: [] for severity in SEVERITIES}
    told["error"] += (_of_failure(checked, error) for error in checked.failures)
    for finding in sorted(checked.outcome.findings, key=lambda each: each.engine != "refuses"):
        told[finding.severity].append(_of_finding(checked, finding))
    hidden = sum(max(0, len(lines) - _KEPT) for lines in told.values())
    lines = [line for severity in SEVERITIES for line in told[severity][:_KEPT]]
    if hidden:
        if len(told["note"]) >= _KEPT:  # the last notice makes room
            hidden += 1
            lines.pop()
        lines.append(f"::notice title=opsinfo::{hidden} more in the log")
    return "".join(f"{line}\n" for line in lines)


def _of_finding(checked: CheckResult, finding: Finding) -> str:
    place = visible(checked.relative(finding.path))
    if finding.start:
        place += f":{finding.start.line}:{finding.start.column}"
    said = f"{place}: {finding.rule.code} {visible(finding.message)}"
    if finding.hint:
        said += f"\nhint: {visible(finding.hint)}"
    title = f"opsinfo ({finding.rule.code} {finding.rule.name})"
    return _command(_COMMANDS[finding.severity], [("title", title), *_where(checked, finding)], said)


def _where(checked: CheckResult, finding: Finding) -> Iterator[tuple[str, object]]:
    start, end = finding.start, finding.end
    if checked.is_file(finding.path):
        yield "file", visible(checked.relative(finding.path))
        if start and end:
            yield "line", start.line
            if start.line == end.line:
                yield from (("col", start.column), ("endLine", end.line), ("endColumn", end.column))
            else:
                yield "endLine", end.line


def _of_failure(checked: CheckResult, error: OpsinfoError) -> str:
    where: list[tuple[str, object]] = [("title", f"opsinfo ({error.name})")]
    said = visible(error.message)
    if error.path:
        path = visible(checked.relative(error.path))
        where.append(("file", path))
        said = f"{path}: {said}"
    return _command("error", where, said)


def _command(name: str, properties: list[tuple[str, object]], message: str) -> str:
    said = ",".join(f"{key}={_property(str(value))}" for key, value in properties)
    return f"::{name} {said}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
