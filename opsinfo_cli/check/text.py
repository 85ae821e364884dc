"""Findings on the text of a file, whatever it holds."""

from __future__ import annotations

from collections.abc import Iterator

from ..text.patch import Edit
from ..text.scanner import Document, Node
from ..text.source import Source
from .finding import Finding, at

__all__ = ["bom", "duplicate_keys", "faults", "pointer_to", "trailing_text"]

_HINTS = {
    "comment": "`opsinfo fmt` takes it out",
    "trailing-comma": "`opsinfo fmt` removes it",
    "missing-comma": "`opsinfo fmt` puts it in",
    "empty-file": "an empty mixlist is `{}`",
}


def faults(document: Document) -> Iterator[Finding]:
    """syntax, comment, trailing-comma, missing-comma, empty-file."""
    for fault in document.faults:
        span = (fault.start, fault.end)
        yield at(
            fault.name,
            document.source,
            span,
            f"{fault.message}; the engine refuses the file",
            hint=_HINTS.get(fault.name),
            edit=fault.mend,
        )


def trailing_text(source: Source, end: int) -> Iterator[Finding]:
    """:param end: offset behind the first value"""
    rest = source.text[end:]
    begin = end + len(rest) - len(rest.lstrip(" \t\n\r"))
    if begin < len(source.text):
        said = "text after the end of the value; the engine never reads it"
        edit = Edit(end, len(source.text), "\n")
        yield at("trailing-text", source, (begin, begin + 1), said, hint="`opsinfo fmt` drops it", edit=edit)


def bom(source: Source) -> Iterator[Finding]:
    if source.bom:
        said = "the file begins with a byte order mark, which the engine skips"
        yield at("bom", source, (0, 0), said, pointer="", hint="`opsinfo fmt` drops it from a mixlist")


def duplicate_keys(source: Source, node: Node, pointer: str = "") -> Iterator[Finding]:
    """Every key that a later one of the same object makes vanish."""
    seen: dict[str, int] = {}
    for member in node:
        here = f"{pointer}/{escaped(member.name)}"
        if member.name in seen:
            yield duplicate_key(source, member.name, (member.key.start, member.key.end), seen[member.name], here)
        seen[member.name] = member.key.start
        yield from duplicate_keys(source, member.value, here)
    for index, item in enumerate(node.items):
        yield from duplicate_keys(source, item, f"{pointer}/{index}")


def duplicate_key(source: Source, name: str, span: tuple[int, int], first: int, pointer: str) -> Finding:
    line = source.place(first).line
    said = f"`{name}` stands in line {line} already; the engine reads only the last one"
    return at("duplicate-key", source, span, said, pointer=pointer, hint="join the two by hand")


def escaped(key: str) -> str:
    """A key as one step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def pointer_to(*steps: str | int) -> str:
    return "".join(f"/{escaped(str(step))}" for step in steps)
