"""`--fix` and `--diff` of `validate`: the fixes of findings, applied to mixlists."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ...change.moves import Job, Result
from ...check.fixes import FixPlan, applicable
from ...check.run import CheckResult
from ...errors import UsageFault
from ...report.formats.summary import counted
from ...report.terminal.output import Output
from ...report.views.changes import change_document
from ...text.source import Source
from ..shared.common_options import WriteOptions
from ..shared.writing import WriteRun, writer_of
from .fix_options import FixOptions


@dataclass(frozen=True)
class FixRun:
    """One run of ``--fix`` or ``--diff``.

    :param unsafe: whether to apply unsafe fixes as well
    :param writing: has ``dry_run`` if the fixes are only shown
    """

    unsafe: bool
    writing: WriteOptions

    @property
    def writes(self) -> bool:
        return self.writing.writes

    def plan(self, checked: CheckResult, plan: FixPlan) -> list[Job]:
        """Return a job for each mixlist with something to fix, each real file once."""
        with_fix = {each.path for each in checked.outcome.findings if applicable([each], self.unsafe)}
        mixlists = [verdict.path for verdict in checked.outcome.files if verdict.kind == "mixlist"]
        real = {os.path.realpath(path): path for path in reversed(mixlists) if path in with_fix}
        return [Job(path, plan) for path in reversed(real.values())]

    def run(self, jobs: list[Job], output: Output) -> Result:
        """:raises Refused: if the files cannot be written; then none is"""
        writer = writer_of(self.writing, output)
        return writer.run("validate", jobs) if self.writes else writer.preview(jobs)

    def report(self, result: Result, plan: FixPlan, output: Output) -> None:
        """Print the diff to standard output, or the written files to standard error."""
        WriteRun("validate", output, self.writing, undo=result.files[0].path).report(result)
        left = sum(self._fixable(plan, file.result) for file in result.files)
        count = sum(self._fixable(plan, file.source) for file in result.files) - left
        output.tell(f"{'fixed' if self.writes else 'would fix'} {counted(count, 'finding')}")

    def _fixable(self, plan: FixPlan, source: Source) -> int:
        return len(applicable(plan.find(source), self.unsafe))

    def document(self, result: Result | None) -> dict[str, Any]:
        whole = change_document(result or Result([]), [], dry_run=not self.writes)
        return {key: whole[key] for key in ("change", "files", "dry_run")}


def fix_run(
    fixing: FixOptions, writing: WriteOptions, paths: tuple[str, ...], format: str, updates_baseline: bool
) -> FixRun:
    """:raises UsageFault: if the options contradict each other"""
    if not (fixing.fix or fixing.show_diff):
        raise UsageFault("--unsafe-fixes requires --fix or --diff")
    if "-" in paths:
        raise UsageFault("standard input cannot be fixed in place", hint="`opsinfo fmt -` writes to standard output")
    if fixing.show_diff and format not in ("auto", "text", "concise", "json"):
        hint = f"--report {format}:FILE writes the report to a file"
        raise UsageFault("--diff prints to standard output, as text or json only", hint=hint)
    if fixing.show_diff and updates_baseline:
        raise UsageFault("--diff writes nothing, --update-baseline writes the baseline; use one of them")
    return FixRun(fixing.unsafe_fixes, writing._replace(dry_run=fixing.show_diff))
