"""Findings: a rule, and a place where a file breaks it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, cast, get_args

from ...errors import OpsinfoError, brief, counted
from ..cann.file_kind import OptionKind
from ..document import Count, LineNumber, Schema, as_json, internal
from ..text.patch import Edit
from ..text.source import Excerpt, Place, Source, excerpt, is_commented
from .rules import RULES, Reaction, Rule, Severity

CheckedKind: TypeAlias = Literal[
    "library", "mixlist", OptionKind, "script", "ini", "opdef", "store", "install", "vault", "mode"
]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The worst first."""


FixKind: TypeAlias = Literal["safe", "unsafe"]


@dataclass(frozen=True)
class Fix:
    """The fix of a finding.

    :param is_safe: whether the fix cannot change what the author meant
    :param drops_bom: whether the byte order mark is removed, which is not an edit of the text
    :param renames: an op type and the one it becomes
    :param renames_key: a key and the one it becomes
    :param drops: entries that go: the keys of list and action, and the op type
    """

    edits: tuple[Edit, ...] = ()
    is_safe: bool = True
    drops_bom: bool = False
    renames: tuple[str, str] | None = None
    renames_key: tuple[str, str] | None = None
    drops: tuple[tuple[str, str, str], ...] = ()

    @property
    def kind(self) -> FixKind:
        return "safe" if self.is_safe else "unsafe"


@dataclass(frozen=True)
class FindingFacts:
    """One finding of a rule."""

    code: Annotated[str, Schema(pattern="^[A-Z][0-9]{3}$", examples=["M001"])]
    """The rule's code."""
    name: Annotated[str, Schema(pattern="^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$", examples=["unknown-list"])]
    """The rule's name; it never changes."""
    severity: Severity
    """error: the engine refuses the input, or the file cannot do what it says. warning: accepted but suspect. note:
    style.
    """
    engine: Reaction
    """What the engine does in this case."""
    path: str
    """The affected file or directory, as given or under the path given."""
    line: LineNumber | None
    """The line number of the start, from 1."""
    column: LineNumber | None
    """The column of the start, in code points, from 1."""
    end_line: LineNumber | None
    """The line number of the end, from 1."""
    end_column: LineNumber | None
    """The column after the end, in code points, from 1."""
    pointer: Annotated[str | None, Schema(examples=["/black-list/to-add/0"])]
    """JSON pointer (RFC 6901) to the value; null if there is none."""
    message: str
    """The message of the finding."""
    hint: str | None
    """A hint on how to fix it; null if there is none."""
    fixable: bool
    """Whether opsinfo has a fix."""
    fix: FixKind | None
    """The kind of fix: safe is applied by --fix, unsafe by --fix --unsafe-fixes; null if there is no fix."""
    fingerprint: Annotated[str, Schema(pattern="^[0-9a-f]{32}$")]
    """Identifies the finding in later runs: a hash of the rule, the file, the pointer without indexes, and the message
    without line numbers.
    """


def named(label: str, facts: str) -> str:
    """Return how a message names a target or model: to people by its label, in the identity by its facts, which stay
    the same where it is moved or renamed.
    """
    return f"\x02{label}\x03{facts}\x04"


# Both texts stay in one message until the Finding takes it apart; names hardly have these control characters.
_NAMED = re.compile("\x02([^\x02-\x04]*)\x03([^\x02-\x04]*)\x04")


@dataclass(frozen=True, repr=False)
class Finding:
    """A fault with its place, its effect in the engine, and a hint.

    :param message: shortened if it has long names; ``pointer`` is exact. Targets and models in it are :func:`named`
    :param start: place of the offending token; ``end`` is exclusive; None for a whole file
    :param pointer: JSON pointer, if the text could be parsed
    :param fix: the fix, if there is one; ``places`` are the places of its edits
    :param snippet: the source line
    :param identity: the message with the facts of targets instead of their paths; see :mod:`.baseline`
    :param fingerprint: identifies the finding from run to run; see :mod:`.baseline`
    """

    rule: Rule
    message: str
    path: str
    start: Place | None = None
    end: Place | None = None
    pointer: str | None = None
    hint: str | None = None
    # by default those of the rule, from __post_init__ on: nobody reads None, so the types do not have it
    severity: Severity = cast("Severity", None)
    engine: Reaction = cast("Reaction", None)
    fix: Fix | None = None
    places: tuple[tuple[Place, Place], ...] = ()
    snippet: Excerpt | None = field(default=None, compare=False)
    identity: str = field(default="", compare=False)
    fingerprint: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", _NAMED.sub(r"\2", self.identity or self.message))
        object.__setattr__(self, "message", brief(_NAMED.sub(r"\1", self.message)))
        object.__setattr__(self, "hint", brief(self.hint) if self.hint else self.hint)
        object.__setattr__(self, "severity", self.severity or self.rule.severity)
        object.__setattr__(self, "engine", self.engine or self.rule.engine)

    @property
    def name(self) -> str:
        """The name of its rule, which never changes: ``unknown-operator``."""
        return self.rule.name

    @property
    def code(self) -> str:
        """The code of its rule: ``M005``."""
        return self.rule.code

    def __str__(self) -> str:
        """As a line of ``--format concise``, without the hint."""
        place = f":{self.start.line}:{self.start.column}" if self.start else ""
        return f"{self.path}{place}: {self.severity}[{self.rule.code}] {self.rule.name}: {self.message}"

    def __repr__(self) -> str:
        return f"<Finding {self.rule.name} {self.path}{f':{self.start.line}' if self.start else ''}>"

    @property
    def facts(self) -> FindingFacts:
        start, end = self.start, self.end
        return FindingFacts(
            code=self.rule.code,
            name=self.rule.name,
            severity=self.severity,
            engine=self.engine,
            path=self.path,
            line=start.line if start else None,
            column=start.column if start else None,
            end_line=end.line if end else None,
            end_column=end.column if end else None,
            pointer=self.pointer,
            message=self.message,
            hint=self.hint,
            fixable=self.fix is not None,
            fix=self.fix.kind if self.fix else None,
            fingerprint=self.fingerprint,
        )

    @property
    def is_refused(self) -> bool:
        """Whether the engine does not go on with the file."""
        return self.engine in ("refuses", "crashes")

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as in the JSON document of ``opsinfo validate``."""
        document: dict[str, Any] = as_json(self.facts)
        return document

    @property
    def order(self) -> tuple[str, Place, str]:
        return self.path, self.start or Place(0, 0), self.rule.code


def at(
    rule: str,
    source: Source,
    span: tuple[int, int],
    message: str,
    *,
    pointer: str | None = None,
    hint: str | None = None,
    severity: Severity | None = None,
    fix: Fix | None = None,
    identity: str = "",
) -> Finding:
    """Return a finding at a span of a text.

    :param rule: its name
    """
    start, end = source.place(span[0]), source.place(span[1])
    return Finding(
        RULES[rule],
        message,
        source.path,
        start,
        end,
        pointer=pointer,
        hint=hint,
        severity=severity or RULES[rule].severity,
        fix=fix,
        places=tuple((source.place(edit.start), source.place(edit.end)) for edit in fix.edits) if fix else (),
        snippet=excerpt(source.text, *span),
        identity=identity,
    )


def at_error(rule: str, error: OpsinfoError, path: str, message: str, hint: str | None) -> Finding:
    """Return a finding at the place of an error, which is one character."""
    start = Place(error.line, error.column) if error.line and error.column else None
    end = Place(start.line, start.column + 1) if start else None
    return Finding(RULES[rule], message, path, start, end, hint=hint)


def whole_file(rule: str, path: str, message: str, hint: str | None = None) -> Finding:
    """Return a finding on a whole file or folder; of a `.json` the place is the first character."""
    start, end = (Place(1, 1), Place(1, 2)) if path.endswith(".json") else (None, None)
    return Finding(RULES[rule], message, path, start, end, hint=hint)


@dataclass(frozen=True)
class FileVerdict:
    """One file, directory or mode, and whether the engine accepts it."""

    path: str
    """The path, as given or under the path given."""
    kind: CheckedKind | None
    """The kind of file; null if unknown."""
    engine_accepts: bool | None
    """Whether the engine accepts it; null if unknown."""


@dataclass(frozen=True)
class Tally:
    """Numbers of files and findings."""

    files: Count
    """Number of files, directories and modes checked."""
    errors: Count
    """Number of errors."""
    warnings: Count
    """Number of warnings."""
    notes: Count
    """Number of notes."""


class PassedOver(NamedTuple):
    """A file or folder of a tree that is not checked."""

    path: str
    reason: str


@dataclass(frozen=True)
class BaseUsed:
    """The base: what it has, too, is not in findings."""

    text: str
    """The folder or revision, as given."""
    commit: str | None
    """The commit; null for a folder."""
    left_out: Count
    """Number of findings that the base has, too."""
    lacks: Callable[[list[Finding]], list[Finding]] = internal()
    """Returns of some findings those that the base does not have."""


@dataclass(repr=False)
class Outcome:
    """Findings on any number of files.

    :param failures: errors for files that could not be checked
    :param passed_over: what was met in a tree or named by a script, and was not checked
    :param notes: messages about how the files were found
    :param against: the targets of mixlists, as given
    :param trees: the folder in which a path was met, out of which no link is followed; a path that the user names has
        none
    """

    findings: list[Finding] = field(default_factory=list)
    files: list[FileVerdict] = field(default_factory=list)
    failures: list[OpsinfoError] = field(default_factory=list)
    passed_over: list[PassedOver] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    trees: dict[str, str] = field(default_factory=dict)
    against: list[str] = field(default_factory=list)
    base: BaseUsed | None = None

    def add(self, path: str, kind: CheckedKind, findings: Iterable[Finding], accepts: bool | None = None) -> None:
        """Add a file with its distinct findings; by default the engine accepts it unless a finding refuses it."""
        distinct = sorted(dict.fromkeys(findings), key=lambda finding: finding.order)
        if kind == "install":  # one per chip: report shared findings once
            distinct = [finding for finding in distinct if finding not in self.findings]
        if accepts is None and not is_commented(path):
            accepts = not any(finding.is_refused for finding in distinct)
        self.findings += distinct
        self.files.append(FileVerdict(path, kind, accepts))

    def __repr__(self) -> str:
        found = ", ".join(counted(count, severity) for severity, count in self.counts.items())
        files, failures = counted(len(self.files), "file"), counted(len(self.failures), "failure")
        return f"<{type(self).__name__} {files}: {found}, {failures}>"

    @property
    def ok(self) -> bool:
        """Whether every file could be checked, and no finding is an error."""
        return not self.failures and not self.tally.errors

    @property
    def tally(self) -> Tally:
        return Tally(len(self.files), *self.counts.values())

    @property
    def counts(self) -> dict[Severity, int]:
        """The number of findings of each severity, the worst first."""
        return {severity: sum(finding.severity == severity for finding in self.findings) for severity in SEVERITIES}
