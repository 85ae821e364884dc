"""The result of a run of checks, the input of every report format."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import OpsinfoError
from ..model.repository import Repository
from .finding import Finding, Outcome

_NO_FILES = frozenset({"-", "--precision-mode"})
"""Places of findings that are not files: standard input and the command line."""


@dataclass(frozen=True)
class CheckResult:
    """:param strict: whether a warning fails"""

    outcome: Outcome
    repository: Repository
    strict: bool = False
    _relative: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def failures(self) -> list[OpsinfoError]:
        """Errors for files that could not be checked."""
        return self.outcome.failures

    def fails(self, finding: Finding) -> bool:
        return finding.severity == "error" or (self.strict and finding.severity == "warning")

    @property
    def status(self) -> int:
        """The exit status."""
        if self.failures:
            return max(error.exit_code for error in self.failures)
        return int(any(map(self.fails, self.outcome.findings)))

    def is_file(self, path: str) -> bool:
        return path not in _NO_FILES

    def relative(self, path: str) -> str:
        """Return a path as in output for programs; standard input and the command line keep their names."""
        if not self.is_file(path):
            return path
        if path not in self._relative:
            self._relative[path] = self.repository.relative(path)
        return self._relative[path]
