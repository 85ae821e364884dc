"""Filter findings: fingerprints, selection, baseline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..model.repository import Repository
from .check_result import CheckResult
from .finding import Finding
from .fingerprint import fingerprinted
from .rule_selection import RuleSelection

if TYPE_CHECKING:
    from .baseline import Baseline, Known


@dataclass(frozen=True)
class FindingFilter:
    """:param baseline: None if none was given"""

    repository: Repository
    selection: RuleSelection
    baseline: Baseline | None = None

    def selected(self, findings: Iterable[Finding], checked: CheckResult) -> list[Finding]:
        """Return the selected findings with fingerprints, which do not depend on the selection."""
        known = fingerprinted(findings, checked.relative)
        return [finding for finding in known if self.selection.keeps(finding.rule, finding.pointer)]

    def unknown(self, selected: Iterable[Finding]) -> list[Finding]:
        """Return findings that are not in the baseline."""
        accepted = self.baseline.fingerprints if self.baseline else frozenset()
        return [finding for finding in selected if finding.fingerprint not in accepted]

    def gone(self, selected: Iterable[Finding], checked: CheckResult) -> list[Known]:
        """Return entries of the baseline that this run covered and whose finding is gone."""
        if self.baseline is None:
            return []
        paths = {checked.relative(verdict.path) for verdict in checked.outcome.files}
        return self.baseline.gone(selected, paths, self.selection, self.repository.root)
