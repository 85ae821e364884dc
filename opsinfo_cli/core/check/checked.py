"""What a run of checks found: narrowed to what is asked for, and what every report format is made of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...errors import UsageFault, counted
from ...near_names import did_you_mean
from ..cann.repository import Repository
from ..document import Count, Failure, FileChange, headed, optional
from .baseline import Baseline, KnownFinding, fingerprinted
from .finding import SEVERITIES, BaseUsed, FileVerdict, Finding, FindingFacts, Outcome, Tally
from .mode import PLACE
from .rules import Severity
from .selection import RuleSelection

if TYPE_CHECKING:
    from ..change.plan import Result


@dataclass(frozen=True)
class Narrowing:
    """Which findings are reported, and which of them fail the run.

    :param baseline: the findings that are known
    :param strict: whether a warning fails
    :param severity: the least that is reported; what fails the run is reported in any case
    :param config: the configuration file that gave some of this; ``without`` is the same without it
    """

    repository: Repository
    selection: RuleSelection = field(default_factory=RuleSelection)
    baseline: Baseline = Baseline()
    strict: bool = False
    severity: Severity = "note"
    config: str | None = None
    without: Narrowing | None = None

    @classmethod
    def of(
        cls,
        select: Sequence[str],
        ignore: Sequence[str],
        severity: Severity,
        strict: bool,
        baseline: Baseline,
    ) -> Narrowing:
        """:raises UsageFault: if a word names no rule or severity"""
        if severity not in SEVERITIES:
            hint = did_you_mean(str(severity), SEVERITIES) or f"known: {', '.join(SEVERITIES)}"
            raise UsageFault(f"unknown severity `{severity}`", name="unknown-severity", hint=hint)
        repository = Repository.around(os.getcwd(), os.environ)
        return cls(repository, RuleSelection.of(select, ignore), baseline, strict, severity)

    def shows(self, finding: Finding, result: Checked) -> bool:
        """Return whether a finding is reported, unless it is known."""
        reported = SEVERITIES[: SEVERITIES.index(self.severity) + 1]
        return (finding.severity in reported or result.fails(finding)) and self.selection.keeps(
            finding.rule, finding.pointer
        )

    def narrow(self, outcome: Outcome) -> Checked:
        """Select findings, the worst first, give them fingerprints, which do not depend on the selection, and leave out
        known ones.
        """
        result = Checked(**vars(outcome), repository=self.repository, strict=self.strict)
        findings = fingerprinted(outcome.findings, result.relative)
        ordered = sorted(findings, key=lambda each: (SEVERITIES.index(each.severity), each.order))
        result.selected = [finding for finding in ordered if self.shows(finding, result)]
        if self.config and self.without:
            shown = sum(self.without.shows(finding, result) for finding in ordered)
            result.ignored = Ignored(self.config, shown - len(result.selected))
        result.baseline = self.baseline.renewed(findings, result.relative)
        known = result.baseline.fingerprints
        result.findings = [finding for finding in result.selected if finding.fingerprint not in known]
        paths = {result.relative(verdict.path) for verdict in outcome.files}
        result.gone = result.baseline.gone(findings, paths, self.selection, self.repository.root)
        return result


NO_FILES = frozenset({"-", PLACE})
"""Places of findings that are not files: standard input and the command line."""


@dataclass(frozen=True)
class BaselineUsed:
    """The baseline, if one was given; its findings are not in findings."""

    path: str
    """The file, as given."""
    known: Count
    """Number of findings that the baseline hides."""
    gone: list[KnownFinding]
    """Entries of the baseline that were looked for and no longer occur."""


@dataclass(frozen=True)
class Ignored:
    """What a configuration file hides by select, ignore and severity."""

    path: str
    """The configuration file."""
    findings: Count
    """Number of findings that are not reported because of it."""


@dataclass(frozen=True)
class FixesMade:
    """What --fix changed, or would change with --dry-run; null without --fix."""

    change: str | None
    """The id of the change, for opsinfo restore; null if nothing was written."""
    files: list[FileChange]
    """The files that were fixed."""
    dry_run: bool
    """Whether writing was skipped."""


@dataclass(frozen=True)
class ValidateDocument:
    """Findings about files, stores, installs and the vault. Later versions may add keys."""

    findings: list[FindingFacts]
    """The findings."""
    files: list[FileVerdict]
    """The files, directories and modes that were checked."""
    summary: Tally
    """Numbers of files and findings."""
    against: list[str]
    """The targets that names and policies were compared with."""
    base: BaseUsed | None = optional()
    """What the files were compared with; missing without --base."""
    ignored: Ignored | None = optional()
    """What a configuration file hides; missing if it has no option that hides findings."""
    baseline: BaselineUsed | None = optional(null=True)
    """The baseline, if one was given; its findings are not in findings."""
    fixes: FixesMade | None = optional(null=True)
    """What --fix changed, or would change with --dry-run; null without --fix."""
    error: Failure | None = optional()
    """The error for the first file that could not be read at all, if there is one; the exit status is then 3."""


@dataclass(repr=False, kw_only=True)
class Checked(Outcome):
    """The result of a run of checks, the input of every report format: an outcome with the findings that are reported.

    :param selected: these, and the known ones of the baseline
    :param fixed: what fixes changed; None if there were none to apply
    :param said: what the fixes did, for people
    :param baseline: the known findings, with the fingerprints of today
    :param gone: entries of the baseline whose finding no longer occurs
    """

    repository: Repository
    strict: bool = False
    baseline: Baseline = Baseline()
    selected: list[Finding] = field(default_factory=list)
    gone: list[KnownFinding] = field(default_factory=list)
    fixed: Result | None = None
    ignored: Ignored | None = None
    said: list[str] = field(default_factory=list)
    _relative: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo validate``."""
        return headed("validate", self.document())

    def document(self, baseline: BaselineUsed | None = None, fixes: FixesMade | None = None) -> ValidateDocument:
        return ValidateDocument(
            findings=[finding.facts for finding in self.findings],
            files=self.files,
            summary=self.tally,
            against=self.against,
            base=self.base,
            ignored=self.ignored,
            baseline=baseline,
            fixes=fixes,
            error=Failure.of(self.failures[0]) if self.failures else None,
        )

    @property
    def known(self) -> int:
        """The number of findings that the baseline hides."""
        return len(self.selected) - len(self.findings)

    @property
    def remarks(self) -> list[str]:
        """What every report says of findings that it does not have."""
        said = []
        if base := self.base:
            what = base.text if base.commit is None else f"{base.text} ({base.commit[:12]})"
            said.append(f"only what {what} does not have; {counted(base.left_out, 'finding')} of it left out")
        if self.ignored and self.ignored.findings:
            said.append(f"{counted(self.ignored.findings, 'finding')} ignored by {self.ignored.path}")
        return said

    def fails(self, finding: Finding) -> bool:
        return finding.severity == "error" or (self.strict and finding.severity == "warning")

    @property
    def status(self) -> int:
        """The exit status."""
        if self.failures:
            return max(error.exit_code for error in self.failures)
        return int(any(map(self.fails, self.findings)))

    def is_file(self, path: str) -> bool:
        return path not in NO_FILES

    def relative(self, path: str) -> str:
        """Return a path as in output for programs; standard input and the command line keep their names."""
        if not self.is_file(path):
            return path
        if path not in self._relative:
            self._relative[path] = self.repository.relative(path)
        return self._relative[path]
