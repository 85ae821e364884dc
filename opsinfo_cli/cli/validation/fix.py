"""`--fix` and `--diff` of `validate`: mixlists mended by what was found in them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ...change.job import Job, Result
from ...check.checked import Checked
from ...check.fixes import FixPlan, applicable
from ...errors import UsageFault
from ...report.formats.summary import counted
from ...report.terminal.output import Output
from ...report.views.changes import change_document
from ...text.source import Source
from ..shared.writing import Run, writer_of

__all__ = ["Fixing", "fixing_of"]


@dataclass(frozen=True)
class Fixing:
    """:param unsafe: whether guesses are wanted too; :param writes: or only shown"""

    unsafe: bool
    writes: bool
    options: dict[str, Any]

    def plan(self, checked: Checked, plan: FixPlan) -> list[Job]:
        """A job for every mixlist that has something to mend, each real file once."""
        with_fix = {each.path for each in checked.outcome.findings if applicable([each], self.unsafe)}
        mixlists = [verdict.path for verdict in checked.outcome.files if verdict.kind == "mixlist"]
        real = {os.path.realpath(path): path for path in reversed(mixlists) if path in with_fix}
        return [Job(path, plan) for path in reversed(real.values())]

    def run(self, jobs: list[Job], output: Output) -> Result:
        """:raises Refused: where they cannot be written; nothing is then"""
        writer = writer_of(self.options, output)
        return writer.run("validate", jobs) if self.writes else writer.preview(jobs)

    def report(self, result: Result, plan: FixPlan, output: Output) -> None:
        """The diff on standard output, or on standard error what was written."""
        options = {**self.options, "dry_run": not self.writes}
        Run("validate", output, options, undo=result.files[0].path).report(result)
        left = sum(self._mendable(plan, file.result) for file in result.files)
        count = sum(self._mendable(plan, file.source) for file in result.files) - left
        output.tell(f"{'mended' if self.writes else 'would mend'} {counted(count, 'finding')}")

    def _mendable(self, plan: FixPlan, source: Source) -> int:
        return len(applicable(plan.find(source), self.unsafe))

    def document(self, result: Result | None) -> dict[str, Any]:
        whole = change_document(result or Result([]), [], dry_run=not self.writes)
        return {key: whole[key] for key in ("change", "files", "dry_run")}


def fixing_of(options: dict[str, Any], paths: tuple[str, ...], format_: str) -> Fixing:
    """:raises UsageFault: where the options do not go together"""
    if not (options["fix"] or options["show_diff"]):
        raise UsageFault("--unsafe-fixes goes with --fix or --diff")
    if "-" in paths:
        raise UsageFault("standard input cannot be mended here", hint="`opsinfo fmt -` writes to standard output")
    if options["show_diff"] and format_ not in ("auto", "text", "concise", "json"):
        hint = f"--report {format_}:FILE writes the report beside it"
        raise UsageFault("--diff has standard output for itself, in text or json", hint=hint)
    if options["show_diff"] and options["update_baseline"]:
        raise UsageFault("--diff writes nothing; --update-baseline does")
    return Fixing(options["unsafe_fixes"], not options["show_diff"], options)
