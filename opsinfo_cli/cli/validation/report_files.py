"""`--report FORMAT:FILE`: reports written to files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...change.output_file import require_writable
from ...check.run import CheckResult
from ...errors import UsageFault
from ...model.near_names import did_you_mean
from ...report.formats.render import FORMATS, rendered
from ...report.report_file import require_report, write_report
from ..line.outputs import is_same


@dataclass(frozen=True)
class ReportFile:
    format: str
    path: str

    def write(self, checked: CheckResult, document: dict[str, Any]) -> None:
        """:raises Refused: if the report cannot be written"""
        write_report(self.path, rendered(self.format, checked, document).encode("utf-8", "backslashreplace"))


def parsed_reports(words: Iterable[str], inputs: Iterable[str]) -> list[ReportFile]:
    """Parse the values of ``--report``, and check them before anything is written.

    :param inputs: files that a report must not overwrite
    :raises UsageFault: if a value is wrong
    :raises Refused: if a report could not be written
    """
    reports = [_parsed(word) for word in words]
    taken = list(inputs)
    for report in reports:
        if any(is_same(report.path, each) for each in taken) and not report.path.startswith("/dev/"):
            said = f"--report {report.format}:{report.path} would overwrite a file that this run reads or writes"
            raise UsageFault(said, name="report-clash", hint="choose another name")
        taken.append(report.path)
        require_writable(report.path)
        require_report(report.path)
    return reports


def _parsed(word: str) -> ReportFile:
    format_, _, path = word.partition(":")
    if format_ not in FORMATS:
        hint = did_you_mean(format_, FORMATS) or "known formats: " + ", ".join(FORMATS)
        raise UsageFault(f"--report {word}: unknown format `{format_}`", name="unknown-format", hint=hint)
    if path in ("", "-"):
        raise UsageFault(
            f"--report {word}: no file given",
            name="report-without-file",
            hint=f"--report {format_}:FILE, or --format {format_} for standard output",
        )
    return ReportFile(format_, path)
