"""The file that a generated mixlist or snapshot is written to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ...change.fmt import BuildPlan
from ...change.moves import FileResult, Job, Result, planned
from ...report.views.changes import file_documents
from ...text.source import Source, encoded
from .targets import require_no_library
from .writing import WriteRun, writer_of

Require = Callable[[Source], None]


def built(
    run: WriteRun, out: str, text: str, sources: Sequence[Source], require: Require = require_no_library
) -> Result:
    """Write a text to ``out``, or show what would change. A file that already has the text is not written.

    :param sources: the files that the text was made from; ``out`` may be one of them
    :param require: raises if ``out`` may not be replaced

    :raises UsageFault: if ``out`` is a file of another kind
    :raises Stale: if it is a source and has changed since
    """
    if not os.path.lexists(out):
        return _created(run, out, encoded(text))
    require(Source.read(out))
    real = os.path.realpath(out)
    made_from = next((each.sha256 for each in sources if os.path.realpath(each.path) == real), None)
    return run.changed([Job(out, BuildPlan(text, made_from))])


def _created(run: WriteRun, out: str, data: bytes) -> Result:
    change = writer_of(run.writing, run.output).create({out: data}, run.kind).id if run.writes else None
    return Result([made(out, data)], change)


def made(out: str, data: bytes) -> FileResult:
    """Return the result for a file that did not exist."""
    nothing, source = Source(b"", out), Source(data, out)
    return FileResult(out, nothing, BuildPlan(source.text).patch(nothing), source, [], [], is_new=True)


def delivered(run: WriteRun, out: str | None, text: str, sources: Sequence[Source]) -> Result:
    """Write the text to ``out``, if given.

    Without ``out``, and if nothing is to be written, show what would change in the first source.
    """
    if out is not None:
        return built(run, out, text, sources)
    return Result([]) if run.writes else Result([planned(Job(sources[0].path, BuildPlan(text)), sources[0])])


def report_built(run: WriteRun, out: str | None, text: str, result: Result, document: dict[str, Any]) -> None:
    """:param document: the JSON document of the command, without the files"""
    if run.output.format == "json":
        tail = {"change": result.change, "files": file_documents(result), "dry_run": not run.writes}
        run.output.document({**document, "output": out, **tail})
    elif out is None and run.writes:
        run.output.data(text, exact=True)
    else:
        run.report(result)


def refused(run: WriteRun, out: str | None, document: dict[str, Any]) -> int:
    """Report that --strict refused the result: nothing is written, not even to standard output."""
    run.output.say("nothing was written, because of --strict", "error")
    if run.output.format == "json":
        run.output.document({**document, "output": out, "change": None, "files": [], "dry_run": True})
    return 1
