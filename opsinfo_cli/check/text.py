"""Rules on the text itself, for mixlists and libraries alike."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import Damaged
from ..text.layout import drop_part
from ..text.scanner import Document, Node, without_tail
from ..text.source import Source
from .engine_files import GENERATOR, JSON_READER, MANUAL, MIXLIST, STORE
from .finding import Finding, Fix, Rule, at, at_error

SYNTAX = Rule(
    code="T001",
    name="syntax",
    about="both",
    severity="error",
    engine="refuses",
    why=(
        "The engine reads strict JSON (RFC 8259) only: no single quotes, no NaN, no bytes that are not "
        "UTF-8, no lone surrogates. One wrong character makes the engine refuse the whole file; a library fails its "
        "whole store."
    ),
    fails="{'black-list': {}}",
    passes='{"black-list": {}}',
    source=f"{JSON_READER}:26-53; {MIXLIST}:186-206; error E21002",
)
COMMENT = Rule(
    code="T002",
    name="comment",
    about="both",
    severity="error",
    engine="refuses",
    why=(
        "JSON has no comments. The manuals show them in their samples, and the engine refuses those samples. "
        "`opsinfo fmt` removes comments and leaves the rest unchanged."
    ),
    fails='{\n  "black-list": {  // keeps float32\n    "to-add": ["Log"]\n  }\n}',
    passes='{\n  "black-list": {\n    "to-add": ["Log"]\n  }\n}',
    source=f"{MIXLIST}:186-206; {JSON_READER}:26-53; error E21002; samples with comments: {MANUAL}:81-100",
)
TRAILING_COMMA = Rule(
    code="T003",
    name="trailing-comma",
    about="both",
    severity="error",
    engine="refuses",
    why="A comma before a closing bracket is legal in Python and JavaScript, not in JSON. `opsinfo fmt` removes it.",
    fails='{"black-list": {"to-add": ["Log",]}}',
    passes='{"black-list": {"to-add": ["Log"]}}',
    source=f"{MIXLIST}:186-206; {JSON_READER}:26-53; error E21002",
)
MISSING_COMMA = Rule(
    code="T004",
    name="missing-comma",
    about="both",
    severity="error",
    engine="refuses",
    why=(
        "Two values or members follow each other without a comma, as in a sample of the ATC manual. "
        "`opsinfo fmt` adds it."
    ),
    fails='{"black-list": {"to-add": ["Log" "Pow"]}}',
    passes='{"black-list": {"to-add": ["Log", "Pow"]}}',
    source=f"{MIXLIST}:186-206; {JSON_READER}:26-53; error E21002; the sample: {MANUAL}:118-126",
)
EMPTY_FILE = Rule(
    code="T008",
    name="empty-file",
    about="both",
    severity="error",
    engine="refuses",
    why=(
        "An empty or blank file fails the start of the engine without a clear message (E29999). "
        "`{}` is the empty mixlist."
    ),
    fails="",
    passes="{}",
    source=f"{MIXLIST}:62-77, 118-121",
)

_OF_FAULTS = {rule.name: rule for rule in (SYNTAX, COMMENT, TRAILING_COMMA, MISSING_COMMA, EMPTY_FILE)}
_HINTS = {
    "comment": "`opsinfo fmt` removes it",
    "trailing-comma": "`opsinfo fmt` removes it",
    "missing-comma": "`opsinfo fmt` adds it",
    "empty-file": "an empty mixlist is `{}`",
}


def faults(document: Document, fixable: bool) -> Iterator[Finding]:
    """Yield syntax, comment, trailing-comma, missing-comma and empty-file.

    :param fixable: whether opsinfo may fix the file: a mixlist, not a vendor's library
    """
    can = fixable and document.root is not None  # faults that cannot be fixed automatically must be fixed first
    for fault in document.faults:
        yield at(
            _OF_FAULTS[fault.name],
            document.source,
            (fault.start, fault.end),
            f"{fault.message}; the engine refuses the file",
            hint=_HINTS.get(fault.name) if fixable else None,
            fix=Fix((fault.fix,)) if fault.fix and can else None,
        )


def unreadable(error: Damaged) -> Finding:
    """Return the finding for a file that is not UTF-8."""
    return at_error(SYNTAX, error, error.path or "", error.message, error.hint)


TRAILING_TEXT = Rule(
    code="T005",
    name="trailing-text",
    about="both",
    severity="warning",
    engine="accepts",
    why=(
        "The engine stops reading after the first value, so text after it has no effect; the vendor's own generator "
        "can leave such text. Other JSON readers refuse the file. An edit keeps the text, `opsinfo fmt` removes it."
    ),
    fails='{"black-list": {"to-add": ["Log"]}} }',
    passes='{"black-list": {"to-add": ["Log"]}}',
    source=f"{JSON_READER}:26-53; {MIXLIST}:197; the generator: {GENERATOR}:294-301",
)


def trailing_text(source: Source, end: int, fixable: bool) -> Iterator[Finding]:
    """:param end: offset after the first value
    :param fixable: as in :func:`faults`
    """
    rest = source.text[end:]
    begin = end + len(rest) - len(rest.lstrip(" \t\n\r"))
    if begin < len(source.text):
        message = "text after the end of the value; the engine ignores it"
        hint, fix = ("`opsinfo fmt` removes it", Fix((without_tail(source.text, end),))) if fixable else (None, None)
        yield at(TRAILING_TEXT, source, (begin, begin + 1), message, hint=hint, fix=fix)


BOM = Rule(
    code="T006",
    name="bom",
    about="both",
    severity="note",
    engine="accepts",
    why=(
        "The file begins with a UTF-8 byte order mark. The engine skips it; not every JSON reader does. "
        "`opsinfo fmt` removes it from a mixlist."
    ),
    fails='\ufeff{"black-list": {"to-add": ["Log"]}}',
    passes='{"black-list": {"to-add": ["Log"]}}',
    source=f"{JSON_READER}:26-53 (nlohmann::json skips a byte order mark)",
)


def bom(source: Source, fixable: bool) -> Iterator[Finding]:
    """:param fixable: as in :func:`faults`"""
    if source.bom:
        message = "the file begins with a byte order mark, which the engine skips"
        hint, fix = ("`opsinfo fmt` removes it", Fix(drops_bom=True)) if fixable else (None, None)
        yield at(BOM, source, (0, 0), message, pointer="", hint=hint, fix=fix)


DUPLICATE_KEY = Rule(
    code="T007",
    name="duplicate-key",
    about="both",
    severity="warning",
    engine="ignores",
    why=(
        "The same key appears twice in one object. The last one wins and the earlier one is silently dropped, "
        "perhaps a whole list of operators. opsinfo does not edit an entry that appears twice."
    ),
    fails='{"black-list": {"to-add": ["Log"]}, "black-list": {"to-add": ["Pow"]}}',
    passes='{"black-list": {"to-add": ["Log", "Pow"]}}',
    source=f"{JSON_READER}:26-53 (nlohmann::json keeps the last of equal keys)",
)


def duplicate_keys(source: Source, node: Node, fixable: bool, pointer: str = "") -> Iterator[Finding]:
    """Yield every key that a later one in the same object replaces. Removing it is an unsafe fix."""
    seen: dict[str, int] = {}
    for index, member in enumerate(node):
        below = f"{pointer}/{escaped(member.name)}"
        if member.name in seen:
            earlier = seen[member.name]
            fix = Fix((drop_part(node, earlier),), is_safe=False) if fixable else None
            span, first = (member.key.start, member.key.end), node.members[earlier].key.start
            yield duplicate_key(source, member.name, span, first, below, fix)
        seen[member.name] = index
        yield from duplicate_keys(source, member.value, fixable, below)
    for index, item in enumerate(node.items):
        yield from duplicate_keys(source, item, fixable, f"{pointer}/{index}")


def duplicate_key(
    source: Source, name: str, span: tuple[int, int], first: int, pointer: str, fix: Fix | None = None
) -> Finding:
    """:param first: offset of the earlier key"""
    line = source.place(first).line
    message = f"`{name}` appears twice, first on line {line}; the engine reads only the last one"
    return at(DUPLICATE_KEY, source, span, message, pointer=pointer, hint="merge the two", fix=fix)


def escaped(key: str) -> str:
    """Return a key as one step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def pointer_to(*steps: str | int) -> str:
    return "".join(f"/{escaped(str(step))}" for step in steps)


WRONG_TYPE = Rule(
    code="T009",
    name="wrong-type",
    about="both",
    severity="error",
    engine="refuses",
    why=(
        "The engine expects another type here: objects of arrays of strings in a mixlist, objects of objects of "
        "strings in a library. A number or `true` without quotes fails the whole store."
    ),
    fails='{"black-list": {"to-add": "Log"}}',
    passes='{"black-list": {"to-add": ["Log"]}}',
    source=f"{STORE}:144-188; {MIXLIST}:133-184",
)
"""Yielded where the structure of a mixlist or a library is checked."""
