"""What the commands that make a mixlist's text have in common: the file it goes to."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ...change.fmt_plan import BuildPlan
from ...change.job import FileResult, Job, Result, planned
from ...report.views.changes import file_documents
from ...text.source import Source, encoded
from .mixlist_input import require_no_library
from .writing import Run, writer_of

__all__ = ["built", "delivered", "made", "refused", "report_built"]


Require = Callable[[Source], None]


def built(run: Run, out: str, text: str, sources: Sequence[Source], require: Require = require_no_library) -> Result:
    """Make the file ``out`` say a text, or see what would change. One that says so already is not written.

    :param sources: what the text was made from; ``out`` may be one of them
    :param require: refuses what ``out`` may not replace

    :raises UsageFault: where ``out`` is something else; :raises Stale: where it is a source and was changed since
    """
    if not os.path.lexists(out):
        return _created(run, out, encoded(text))
    require(Source.read(out))
    real = os.path.realpath(out)
    made_from = next((each.sha256 for each in sources if os.path.realpath(each.path) == real), None)
    return run.changed([Job(out, BuildPlan(text, made_from))])


def _created(run: Run, out: str, data: bytes) -> Result:
    change = writer_of(run.options, run.output).create(out, data, run.kind, []) if run.writes else None
    return Result([made(out, data)], change)


def made(out: str, data: bytes) -> FileResult:
    """What is said of a file that did not exist."""
    nothing, source = Source(b"", out), Source(data, out)
    return FileResult(out, nothing, BuildPlan(source.text).patch(nothing), source, [], [], is_new=True)


def delivered(run: Run, out: str | None, text: str, sources: Sequence[Source]) -> Result:
    """What came of the text: written to ``out``, or to be printed.

    Where there is no ``out`` and nothing is to be written, what would change in the first source.
    """
    if out is not None:
        return built(run, out, text, sources)
    return Result([]) if run.writes else Result([planned(Job(sources[0].path, BuildPlan(text)), sources[0])])


def report_built(run: Run, out: str | None, text: str, result: Result, document: dict[str, Any]) -> None:
    """:param document: what the command says of the text, in JSON"""
    if run.output.format == "json":
        tail = {"change": result.change, "files": file_documents(result), "dry_run": not run.writes}
        run.output.document({**document, "output": out, **tail})
    elif out is None and run.writes:
        run.output.data(text, exact=True)
    else:
        run.report(result)


def refused(run: Run, out: str | None, document: dict[str, Any]) -> int:
    """What --strict does not let through: nothing is written, not even to standard output."""
    run.output.say("nothing was written, as --strict asks", "error")
    if run.output.format == "json":
        run.output.document({**document, "output": out, "change": None, "files": [], "dry_run": True})
    return 1
