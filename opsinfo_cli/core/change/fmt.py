"""Fixing the syntax of a mixlist, and writing one file from the fixed text of another."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from warnings import warn

from ...errors import Refused, UsageFault, quoted
from ..cann.file_kind import foreign_of, kind_of
from ..cann.mixlist import Mixlist
from ..cann.mixlist_text import line_numbers, mixlist_patch
from ..cann.targets.defined import what_defines
from ..text.patch import Patch, edits_between, splice
from ..text.scanner import scan
from ..text.source import Source, is_commented
from .plan import Job, Plan, Result, planned, proof_failed
from .write_settings import WriteSettings
from .writer import write_files

if TYPE_CHECKING:
    from typing_extensions import Unpack


def fmt(
    mixlists: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    output: str | os.PathLike[str] | None = None,
    say: Callable[[str], None] = warn,
    **settings: Unpack[WriteSettings],
) -> Result:
    """Fix the syntax of mixlists so that the engine accepts them, as ``opsinfo fmt``.

    :param output: write the fixed text of one mixlist to this file, and leave the mixlist as it is
    :param say: called with what a writer finds on the way
    :param settings: :class:`.WriteSettings`
    :raises UsageFault: if a file is no mixlist, or one whose comments are kept
    :raises Refused: if a file cannot be read or written; with ``output`` also if the engine would still refuse it
    """
    paths = [os.fspath(each) for each in ([mixlists] if isinstance(mixlists, (str, os.PathLike)) else mixlists)]
    if output is not None:
        if len(paths) != 1:
            raise UsageFault("-o requires exactly one mixlist")
        source = Source.read(paths[0])
        require_no_library(source)
        result = fixed(source)
        Mixlist(scan(result))
        return write_files("fmt", build_jobs(os.fspath(output), result.text, [source]), settings, say)
    for path in paths:
        if os.path.isdir(path):
            hint = f"`opsinfo validate {quoted(path)} --fix` fixes the mixlists in it"
            raise UsageFault("this is a directory", name="is-directory", path=path, hint=hint)
        if is_commented(path):
            hint = f"`opsinfo fmt {quoted(path)} -o {quoted(path[:-1])}` makes the engine's file of it"
            raise UsageFault("the comments of a .jsonc are kept", name="keeps-comments", path=path, hint=hint)
        with suppress(Refused):  # the writer says so
            require_no_library(Source.read(path))
    return write_files("fmt", [Job(path, FmtPlan()) for path in paths], settings, say)


class FmtPlan(Plan):
    """Fix the syntax for a strict reader; leave everything else unchanged."""

    def patch(self, source: Source) -> Patch:
        return mixlist_patch(source)

    def prove(self, source: Source, result: Source) -> None:
        """Check that the result is strict, has the same content, and needs no further fix."""
        numbered = source.replaced(source.with_text(splice(source.text, line_numbers(source))))
        before, after = scan(numbered), scan(result)
        same = before.root is not None and after.require_root().plain() == before.root.plain()
        if not same or mixlist_patch(result):
            raise proof_failed(source.path)


def fixed(source: Source) -> Source:
    """:raises Damaged: if a fault cannot be fixed"""
    return planned(Job(source.path, FmtPlan()), source).result


@dataclass(frozen=True)
class BuildPlan(Plan):
    """Give a file the content of another source.

    :param made_from: SHA-256 of the file, if the text was made from its content
    """

    text: str
    made_from: str | None = None

    def patch(self, source: Source) -> Patch:
        """:raises Stale: if the file changed since the text was made from it"""
        return Patch(self.made_from or source.sha256, tuple(edits_between(source.text, self.text)), drop_bom=source.bom)

    def prove(self, source: Source, result: Source) -> None:
        if result.text != self.text or result.bom:
            raise proof_failed(source.path)


def build_jobs(
    out: str, text: str, sources: Sequence[Source], require: Callable[[Source], None] | None = None
) -> list[Job]:
    """Return the job of writing a text to ``out``.

    :param sources: the files that the text was made from; ``out`` may be one of them, and is stale if it changed since
    :param require: raises if ``out`` may not be replaced; None: if it is no mixlist
    """
    if not os.path.lexists(out):
        return [new_file(out, text)]
    (require or require_no_library)(Source.read(out))
    real = os.path.realpath(out)
    made_from = next((source.sha256 for source in sources if os.path.realpath(source.path) == real), None)
    return [Job(out, BuildPlan(text, made_from))]


def new_file(path: str, text: str) -> Job:
    return Job(path, BuildPlan(text), start=Source(b"", path), must_be_new=True)


def require_no_library(source: Source) -> None:
    """:raises UsageFault: if the file is a library, a snapshot, an ini or source of operators, or another file of CANN,
    which is not fixed, read as a mixlist or overwritten by one"""
    hints = {
        "snapshot": "take it again: `opsinfo snapshot TARGET -o FILE`",
        "library": "`opsinfo restore` undoes changes by opsinfo; the vendor's package has the original",
    }
    if foreign := foreign_of(source):
        raise UsageFault(f"this is {foreign.what}, not a mixlist", name="wrong-kind", path=source.path)
    if what := what_defines(source):
        hint = "opsinfo never writes inis and sources; `opsinfo show TARGET OP --format opdef` prints what to change"
        raise UsageFault(f"this is {what}, not a mixlist", name="wrong-kind", path=source.path, hint=hint)
    kind = kind_of(source)
    if kind in hints:
        raise UsageFault(f"this is a {kind}, not a mixlist", name="wrong-kind", path=source.path, hint=hints[kind])
