"""Rules on the text itself, for mixlists and libraries alike."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import Damaged
from ..cann.mixlist_text import MOVE_TAIL, is_left_over, line_numbers
from ..text.layout import drop_part
from ..text.scanner import KEEP_COMMENTS, Document, Node, after_blanks, without_tail
from ..text.source import Source
from .finding import Finding, Fix, at, at_error

_HINTS = {
    "comment": KEEP_COMMENTS,
    "trailing-comma": "`opsinfo fmt` removes it",
    "missing-comma": "`opsinfo fmt` adds it",
    "invisible-character": "it comes with copying from a page; `opsinfo fmt` makes it a blank",
    "empty-file": "an empty mixlist is `{}`",
}


def faults(document: Document, fixable: bool) -> Iterator[Finding]:
    """Yield syntax, comment, trailing-comma, missing-comma, invisible-character, empty-file.

    :param fixable: whether opsinfo may fix the file: a mixlist, not a vendor's library
    """
    can = fixable and document.root is not None  # faults that cannot be fixed automatically must be fixed first
    for fault in document.refused:
        yield at(
            fault.name,
            document.source,
            (fault.start, fault.end),
            f"{fault.message}; the engine refuses the file",
            hint=_HINTS.get(fault.name) if fixable else None,
            fix=Fix((fault.fix,)) if fault.fix and can else None,
        )


def syntax_finding(error: Damaged) -> Finding:
    return at_error("syntax", error, error.path or "", error.message, error.hint)


def trailing_text(source: Source, end: int, fixable: bool) -> Iterator[Finding]:
    """:param end: offset after the first value
    :param fixable: as in :func:`faults`; text that may be meant is not removed
    """
    begin = after_blanks(source.text, end)
    if begin >= len(source.text):
        return
    message = "text after the end of the value; the engine ignores it"
    hint = MOVE_TAIL if fixable else None
    fix = None
    if fixable and is_left_over(source.text, end):
        hint, fix = "`opsinfo fmt` removes it", Fix((without_tail(source.text, end),))
    yield at("trailing-text", source, (begin, begin + 1), message, hint=hint, fix=fix)


def pasted_line_numbers(source: Source) -> Iterator[Finding]:
    """Yield pasted-line-numbers for a mixlist that was copied from a listing; its fix takes the numbers away."""
    edits = line_numbers(source)
    if edits:
        span = edits[0].start, edits[0].start + len(source.text[edits[0].start : edits[0].end].rstrip())
        message = "line numbers of a listing stand before the text; the engine does not read the mixlist"
        hint = "`opsinfo fmt` removes the numbers"
        yield at("pasted-line-numbers", source, span, message, hint=hint, fix=Fix(tuple(edits)))


def bom(source: Source, fixable: bool) -> Iterator[Finding]:
    """:param fixable: as in :func:`faults`"""
    if source.bom:
        message = "the file begins with a byte order mark, which the engine skips"
        hint, fix = ("`opsinfo fmt` removes it", Fix(drops_bom=True)) if fixable else (None, None)
        yield at("bom", source, (0, 0), message, pointer="", hint=hint, fix=fix)


def duplicate_keys(source: Source, node: Node, fixable: bool, pointer: str = "") -> Iterator[Finding]:
    """Yield every key that replaces an earlier one in the same object. Removing the earlier one is an unsafe fix."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for index, member in enumerate(node):
        below = f"{pointer}/{pointer_step(member.name)}"
        at_first = first.setdefault(member.name, member.start)
        if member.name in last:
            fix = Fix((drop_part(node, last[member.name]),), is_safe=False) if fixable else None
            yield duplicate_key(source, member.name, (member.start, member.key.end), at_first, below, fix)
        last[member.name] = index
        yield from duplicate_keys(source, member.value, fixable, below)
    for index, item in enumerate(node.items):
        yield from duplicate_keys(source, item, fixable, f"{pointer}/{index}")


def duplicate_key(
    source: Source, name: str, span: tuple[int, int], first: int, pointer: str, fix: Fix | None = None
) -> Finding:
    """:param first: offset of the first of the equal keys"""
    line = source.place(first).line
    message = f"`{name}` appears twice, first on line {line}; the engine reads only the last one"
    return at("duplicate-key", source, span, message, pointer=pointer, hint="merge the two", fix=fix)


def pointer_step(key: str) -> str:
    """Return a key as one step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def pointer_to(*steps: str | int) -> str:
    return "".join(f"/{pointer_step(str(step))}" for step in steps)
