"""The JSON of `opsinfo validate`."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import NotRequired, TypedDict

from ..document import Count, Failure, FileChange, LineNumber, Schema
from .shared import Head


class Finding(TypedDict):
    """One finding of a rule."""

    code: Annotated[str, Schema(pattern="^[A-Z][0-9]{3}$", examples=["M001"])]
    """The rule's code."""
    name: Annotated[str, Schema(pattern="^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$", examples=["unknown-list"])]
    """The rule's name; it never changes."""
    severity: Literal["error", "warning", "note"]
    """error: the engine refuses the input, or the file cannot do what it says. warning: accepted but suspect. note:
    style.
    """
    engine: Literal["refuses", "crashes", "ignores", "accepts"]
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
    fix: Literal["safe", "unsafe"] | None
    """The kind of fix: safe is applied by --fix, unsafe by --fix --unsafe-fixes; null if there is no fix."""
    fingerprint: Annotated[str, Schema(pattern="^[0-9a-f]{32}$")]
    """Identifies the finding in later runs: a hash of the rule, the file, the pointer without indexes, and the message
    without line numbers.
    """


class Checked(TypedDict):
    """One file, directory or mode, and whether the engine accepts it."""

    path: str
    """The path, as given or under the path given."""
    kind: (
        Literal[
            "library",
            "mixlist",
            "keep_dtype",
            "customize_dtypes",
            "op_precision",
            "script",
            "ini",
            "opdef",
            "store",
            "install",
            "vault",
            "mode",
        ]
        | None
    )
    """The kind of file; null if unknown."""
    engine_accepts: bool | None
    """Whether the engine accepts it; null if unknown."""


class Summary(TypedDict):
    """Numbers of files and findings."""

    files: Count
    """Number of files, directories and modes checked."""
    errors: Count
    """Number of errors."""
    warnings: Count
    """Number of warnings."""
    notes: Count
    """Number of notes."""


class KnownFinding(TypedDict):
    """One accepted finding. Only the fingerprint is compared; the other keys are for readers."""

    path: Annotated[str, Schema(examples=["configs/ops_info.json"])]
    """The path relative to the root of the repository, with forward slashes."""
    code: Annotated[str, Schema(pattern="^[A-Z][0-9]{3}$", examples=["M005"])]
    """The rule's code."""
    name: Annotated[str, Schema(pattern="^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$", examples=["unknown-operator"])]
    """The rule's name; it never changes."""
    pointer: Annotated[str, Schema(examples=["/black-list/to-add/0"])]
    """JSON pointer (RFC 6901) to the value at the time the baseline was written; empty if there is none."""
    message: str
    """The message of the finding."""
    fingerprint: Annotated[str, Schema(pattern="^[0-9a-f]{32}$")]
    """Hash of the rule, the file, the pointer without indexes, and the message without line numbers."""


class Baseline(TypedDict):
    """The baseline, if one was given; its findings are not in findings."""

    path: str
    """The file, as given."""
    known: Count
    """Number of findings that the baseline hides."""
    gone: list[KnownFinding]
    """Entries of the baseline that were looked for and no longer occur."""


class BaseUsed(TypedDict):
    """The base: what it has, too, is not in findings."""

    text: str
    """The folder or revision, as given."""
    commit: str | None
    """The commit; null for a folder."""
    left_out: Count
    """Number of findings that the base has, too."""


class Ignored(TypedDict):
    """What a configuration file hides by select, ignore and severity."""

    path: str
    """The configuration file."""
    findings: Count
    """Number of findings that are not reported because of it."""


class Fixes(TypedDict):
    """What --fix changed, or would change with --dry-run; null without --fix."""

    change: str | None
    """The id of the change, for opsinfo restore; null if nothing was written."""
    files: list[FileChange]
    """The files that were fixed."""
    dry_run: bool
    """Whether writing was skipped."""


class ValidateDocument(Head):
    """Findings about files, stores, installs and the vault. Later versions may add keys."""

    findings: list[Finding]
    """The findings."""
    files: list[Checked]
    """The files, directories and modes that were checked."""
    summary: Summary
    """Numbers of files and findings."""
    against: list[str]
    """The targets that names and policies were compared with."""
    base: NotRequired[BaseUsed]
    """What the files were compared with; missing without --base."""
    ignored: NotRequired[Ignored]
    """What a configuration file hides; missing if it has no option that hides findings."""
    baseline: NotRequired[Baseline | None]
    """The baseline, if one was given; its findings are not in findings."""
    fixes: NotRequired[Fixes | None]
    """What --fix changed, or would change with --dry-run; null without --fix."""
    error: NotRequired[Failure]
    """The error for the first file that could not be read at all, if there is one; the exit status is then 3."""
