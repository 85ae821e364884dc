"""One run of `validate`: check, fix, update the baseline, report."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ...check.finding import Finding, Outcome
from ...check.fixes import FixPlan
from ...check.mixlist import MixlistTarget
from ...check.run import Checker, CheckResult, Narrowing, validate
from ...errors import OpsinfoError
from ...model.target import Target
from ...report.formats.findings_json import findings_document
from ...report.terminal.output import Output
from ...report.terminal.progress import Steps
from ...text.source import Source, read_standard_input
from ..shared.findings import say_findings, say_fixable, talk_about

if TYPE_CHECKING:
    from ...change.moves import Result
    from .fix import FixRun
    from .report_files import ReportFile


@dataclass
class Validation:
    """One run of `validate`.

    :param baseline: the path of the baseline, if there is one
    """

    output: Output
    paths: tuple[str, ...]
    targets: list[Target]
    modes: list[str]
    models: list[str]
    kind: str | None
    narrowing: Narrowing
    baseline: str | None
    checked: CheckResult = field(init=False)
    result: Result | None = None

    def check(self) -> None:
        stdin = read_standard_input() if "-" in self.paths else None
        steps = Steps(self.output)
        try:
            outcome = validate(
                *self.paths,
                against=self.targets,
                modes=self.modes,
                models=self.models,
                kind=self.kind,
                stdin=stdin,
                step=steps,
            )
        finally:
            steps.done()
        if not self.targets and self.result is None and any(file.kind == "mixlist" for file in outcome.files):
            self.output.say("op names were not checked; --against TARGET checks them")
        for note in outcome.notes:
            self.output.say(note)
        self.checked = self.narrowing.of(outcome)

    def fix(self, fixing: FixRun) -> None:
        """Apply fixes and check again. The findings are kept if a fix cannot be written."""
        plan = FixPlan(self._found, fixing.unsafe)
        jobs = fixing.plan(self.checked, plan)
        failure = None
        if jobs:
            try:
                self.result = fixing.run(jobs, self.output)
            except OpsinfoError as error:
                failure = error
        if self.result and self.output.format == "text":
            fixing.report(self.result, plan, self.output)
        if self.result and self.result.change:
            self.check()
        if failure:
            self.checked.failures.append(failure)

    def accept(self) -> None:
        """Write the baseline, and drop its findings."""
        from .baseline import update_baseline

        assert self.baseline is not None
        try:
            update_baseline(self.baseline, self.narrowing.baseline, self.checked, self.output)
        except OpsinfoError as error:
            self.checked.failures.append(error)
        else:
            self.checked.outcome.findings, self.checked.gone = [], []

    def report(self, format: str, reports: list[ReportFile], against: list[str], fixing: FixRun | None) -> int:
        """Print and write everything; a report that cannot be written is a failure of the run.

        :returns: the exit status
        """
        for report in reports:
            try:
                report.write(self.checked, self.output.headed(self._document(against, fixing)))
            except OpsinfoError as error:
                self.checked.failures.append(error)
        if fixing and not fixing.writes and format != "json":
            talk_about(self.output, self.checked)
        else:
            say_findings(self.output, self.checked, format, self._document(against, fixing))
        if format != "json":
            if self.baseline:
                from .baseline import say_baseline

                say_baseline(self.baseline, self.checked, self.output)
            if not fixing:
                say_fixable(self.checked, self.output)
        would = bool(fixing and not fixing.writes and self.result and self.result.would_change)
        return max(self.checked.status, int(would))

    def _found(self, source: Source) -> list[Finding]:
        """Return the findings of a mixlist's text."""
        outcome = Outcome()
        checker = Checker([MixlistTarget(target) for target in self.targets], self.modes)
        outcome.add(source.path, "mixlist", checker.mixlist(source))
        return self.narrowing.of(outcome).outcome.findings

    def _document(self, against: list[str], fixing: FixRun | None) -> dict[str, Any]:
        return {
            **findings_document(self.checked, against),
            "baseline": self._baseline_document(),
            "fixes": fixing.document(self.result) if fixing else None,
        }

    def _baseline_document(self) -> dict[str, Any] | None:
        if self.baseline is None:
            return None
        gone = [asdict(entry) for entry in self.checked.gone]
        return {"path": self.baseline, "known": self.checked.known, "gone": gone}
