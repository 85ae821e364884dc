"""One run of `validate`: checked, mended, accepted, reported."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ...check.against import Against
from ...check.checked import Checked
from ...check.finding import Finding, Outcome
from ...check.fixes import FixPlan
from ...check.narrowing import Narrowing
from ...check.run import Checker, validate
from ...errors import OpsinfoError
from ...model.target import Target
from ...report.formats.findings_json import findings_document
from ...report.terminal.output import Output
from ...report.terminal.progress import Steps
from ...text.source import Source, read_standard_input
from ..shared.findings import say_findings, say_fixable, talk_about

if TYPE_CHECKING:
    from ...change.job import Result
    from ...check.baseline import Known
    from .fix import Fixing
    from .report_files import Report

__all__ = ["Validation"]


@dataclass
class Validation:
    """:param baseline: the path of the baseline, where there is one"""

    output: Output
    paths: tuple[str, ...]
    targets: list[Target]
    modes: list[str]
    kind: str | None
    narrowing: Narrowing
    strict: bool
    baseline: str | None
    checked: Checked = field(init=False)
    selected: list[Finding] = field(init=False)
    """What was found and asked for, before the baseline took its own away."""
    gone: list[Known] = field(init=False)
    result: Result | None = None

    def check(self) -> None:
        stdin = read_standard_input() if "-" in self.paths else None
        steps = Steps(self.output)
        try:
            outcome = validate(
                *self.paths, against=self.targets, modes=self.modes, kind=self.kind, stdin=stdin, step=steps
            )
        finally:
            steps.done()
        if not self.targets and self.result is None and any(file.kind == "mixlist" for file in outcome.files):
            self.output.say("op names were not checked; --against TARGET does that")
        self.checked = Checked(outcome, self.narrowing.repository, self.strict)
        self.selected = self.narrowing.selected(outcome.findings, self.checked)
        self.gone = self.narrowing.gone(self.selected, self.checked)
        outcome.findings = self.narrowing.unknown(self.selected)

    def fix(self, fixing: Fixing) -> None:
        """Mend what can be mended, and look again. What cannot be written hides no finding."""
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
        """Write the baseline; what it holds now is no finding any more."""
        from .baseline import update_baseline

        assert self.baseline is not None
        try:
            update_baseline(self.baseline, self.narrowing, self.selected, self.gone, self.checked, self.output)
        except OpsinfoError as error:
            self.checked.failures.append(error)
        else:
            self.checked.outcome.findings, self.gone = [], []

    def report(self, format: str, reports: list[Report], against: list[str], fixing: Fixing | None) -> int:
        """Write and say everything; a report that cannot be written is one failure more.

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

                say_baseline(self.baseline, self._known, self.gone, self.output)
            if not fixing:
                say_fixable(self.checked, self.output)
        would = bool(fixing and not fixing.writes and self.result and self.result.would_change)
        return max(self.checked.status, int(would))

    @property
    def _known(self) -> int:
        return len(self.selected) - len(self.checked.outcome.findings)

    def _found(self, source: Source) -> list[Finding]:
        """What a mixlist has to be mended for."""
        outcome = Outcome()
        checker = Checker([Against(target) for target in self.targets], self.modes)
        outcome.add(source.path, "mixlist", checker.mixlist(source))
        return self.narrowing.unknown(self.narrowing.selected(outcome.findings, self.checked))

    def _document(self, against: list[str], fixing: Fixing | None) -> dict[str, Any]:
        return {
            **findings_document(self.checked, against),
            "baseline": self._baseline_document(),
            "fixes": fixing.document(self.result) if fixing else None,
        }

    def _baseline_document(self) -> dict[str, Any] | None:
        if self.baseline is None:
            return None
        gone = [asdict(entry) for entry in self.gone]
        return {"path": self.baseline, "known": self._known, "gone": gone}
