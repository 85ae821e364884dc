"""A finding: a rule and a place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..errors import Damaged, OpsinfoError, brief
from ..text.patch import Edit
from ..text.source import Excerpt, Place, Source, excerpt
from .rule import Rule
from .rules import rule

SEVERITIES = ("error", "warning", "note")
"""The worst first."""


@dataclass(frozen=True)
class Fix:
    """The fix of a finding.

    :param is_safe: whether the fix cannot change what the author meant
    :param drops_bom: whether the byte order mark is removed, which is not an edit of the text
    :param renames: an op type and the one it becomes
    :param renames_key: a key and the one it becomes
    """

    edits: tuple[Edit, ...] = ()
    is_safe: bool = True
    drops_bom: bool = False
    renames: tuple[str, str] | None = None
    renames_key: tuple[str, str] | None = None

    @property
    def kind(self) -> str:
        return "safe" if self.is_safe else "unsafe"


@dataclass(frozen=True)
class Finding:
    """A fault with its place, its effect in the engine, and a hint.

    :param message: shortened if it has long names; ``pointer`` is exact
    :param start: place of the offending token; ``end`` is exclusive; None for a whole file
    :param pointer: JSON pointer, if the text could be parsed
    :param fix: the fix, if there is one; ``places`` are the places of its edits
    :param snippet: the source line
    :param fingerprint: identifies it from run to run; see :mod:`.fingerprint`
    """

    rule: Rule
    message: str
    path: str
    start: Place | None = None
    end: Place | None = None
    pointer: str | None = None
    hint: str | None = None
    severity: str = ""
    engine: str = ""
    fix: Fix | None = None
    places: tuple[tuple[Place, Place], ...] = ()
    snippet: Excerpt | None = field(default=None, compare=False)
    fingerprint: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", brief(self.message))
        object.__setattr__(self, "hint", brief(self.hint) if self.hint else self.hint)
        object.__setattr__(self, "severity", self.severity or self.rule.severity)
        object.__setattr__(self, "engine", self.engine or self.rule.engine)

    @property
    def order(self) -> tuple[str, Place, str]:
        return self.path, self.start or Place(0, 0), self.rule.code


def at(
    name: str,
    source: Source,
    span: tuple[int, int],
    message: str,
    *,
    pointer: str | None = None,
    hint: str | None = None,
    severity: str = "",
    engine: str = "",
    fix: Fix | None = None,
) -> Finding:
    """A finding at a span of a text."""
    start, end = source.place(span[0]), source.place(span[1])
    places = tuple((source.place(edit.start), source.place(edit.end)) for edit in fix.edits) if fix else ()
    shown = excerpt(source.text, *span)
    return Finding(rule(name), message, source.path, start, end, pointer, hint, severity, engine, fix, places, shown)


def whole_file(name: str, path: str, message: str, hint: str | None = None) -> Finding:
    """Return a finding on a whole file or folder; in a file its place is the first character."""
    start, end = (Place(1, 1), Place(1, 2)) if path.endswith(".json") else (None, None)
    return Finding(rule(name), message, path, start, end, hint=hint)


def damage(error: Damaged) -> Finding:
    """Return the finding for an error."""
    start = Place(error.line, error.column) if error.line and error.column else None
    end = Place(start.line, start.column + 1) if start else None
    return Finding(rule("syntax"), error.message, error.path or "", start, end, hint=error.hint)


@dataclass(frozen=True)
class FileVerdict:
    """Whether the engine accepts a file. ``engine_accepts`` is None if the engine does not read it."""

    path: str
    kind: str
    engine_accepts: bool | None


@dataclass(frozen=True)
class Tally:
    files: int
    errors: int
    warnings: int
    notes: int


@dataclass
class Outcome:
    """Findings on any number of files.

    :param failures: errors for files that could not be checked
    :param passed_over: JSON files of a tree that are neither mixlists nor libraries
    """

    findings: list[Finding] = field(default_factory=list)
    files: list[FileVerdict] = field(default_factory=list)
    failures: list[OpsinfoError] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)

    @property
    def is_about_something(self) -> bool:
        """Whether there was anything to check."""
        return bool(self.files or self.failures)

    def extend(self, other: Outcome) -> None:
        """Add another outcome to this one."""
        self.findings += other.findings
        self.files += other.files
        self.failures += other.failures
        self.passed_over += other.passed_over

    def add(self, path: str, kind: str, findings: Iterable[Finding], accepts: bool | None = None) -> None:
        """Add a file with its distinct findings; by default the engine accepts it unless a finding refuses it."""
        mine = sorted(dict.fromkeys(findings), key=lambda finding: finding.order)
        if kind == "install":  # one per chip: report shared findings once
            mine = [finding for finding in mine if finding not in self.findings]
        if accepts is None:
            accepts = not any(finding.engine in ("refuses", "crashes") for finding in mine)
        self.findings += mine
        self.files.append(FileVerdict(path, kind, accepts))

    @property
    def tally(self) -> Tally:
        counts = [sum(finding.severity == severity for finding in self.findings) for severity in SEVERITIES]
        return Tally(len(self.files), *counts)
