"""Read mixlists for commands; one that the engine refuses is refused, with every reason."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ...errors import Damaged, MissingPackage, Refused
from ...report.terminal.output import Output

if TYPE_CHECKING:
    from ...model.mixlist import Mixlist
    from ...text.scanner import Document
    from ...text.source import Source


def accepted_mixlist(path: str, output: Output) -> Mixlist:
    """Return a mixlist that the engine accepts.

    :raises Refused: if it does not; every reason is printed to stderr
    """
    from ...text.scanner import scan
    from ...text.source import Source

    document = scan(Source.read(path))
    return _accepted(document, document, output)


def fixable_mixlist(source: Source, output: Output) -> Mixlist:
    """Return a mixlist that the engine accepts after `fmt` has fixed its syntax.

    :raises Refused: if it does not; every reason is printed to stderr
    """
    from ...change.fmt import fixed
    from ...text.scanner import scan

    try:
        document = scan(fixed(source))
    except Damaged:  # reported below, with all other findings
        document = scan(source)
    return _accepted(document, scan(source), output)


def _accepted(document: Document, unfixed: Document, output: Output) -> Mixlist:
    from ...model.mixlist import Mixlist

    try:
        return Mixlist(document)
    except Refused as error:
        reasons = report_refusals(unfixed, output)
        raise Refused(
            f"the engine refuses this mixlist ({reasons} finding{'' if reasons == 1 else 's'}); it was not used",
            name="mixlist-refused",
            path=document.source.path,
            line=error.line,
            column=error.column,
            hint=error.hint,
        ) from None


def report_refusals(document: Document, output: Output) -> int:
    """Report why the engine refuses a mixlist; without jsonschema only the first reason.

    :returns: the number of reasons
    """
    from ...model.mixlist import Mixlist

    try:
        Mixlist(document)
    except Damaged as error:
        first = error
    else:
        return 0
    from ...check.mixlist import check_mixlist
    from ...report.findings import finding_lines, plain
    from ...report.terminal.failure import failure_lines

    look = output.look(sys.stderr)
    try:
        refusing = [finding for finding in check_mixlist(document) if finding.engine == "refuses"]
        lines = iter([*map(plain, finding_lines(refusing, look.width if look.breaks else 0))])
    except MissingPackage:
        refusing, lines = [], failure_lines(first, look)
    for line in lines:
        output.complain(line)
    return len(refusing) or 1
