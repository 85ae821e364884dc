"""Rules on libraries: structure by the schema, the rest by the engine's checks on loading an entry."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.entry import Entry
from ..model.entry_rules import EntryFault, structure_faults
from ..model.library import Library
from ..model.policy import BLANKS
from ..text.members import Members
from ..text.source import Source
from .engine_files import DTYPES, KERNEL_INFO, STORE, WORDS
from .finding import Finding, Rule, at
from .text import DUPLICATE_KEY, WRONG_TYPE, bom, duplicate_key, duplicate_keys, pointer_to, trailing_text

BAD_FLAG = Rule(
    code="L001",
    name="bad-flag",
    about="library",
    severity="error",
    engine="refuses",
    why=(
        "precision_reduce.flag is true, false or empty, in any case and with blanks around it. Any other value fails "
        "the whole store, with every operator of the package."
    ),
    fails='{"Log": {"precision_reduce": {"flag": "flase"}}}',
    passes='{"Log": {"precision_reduce": {"flag": "false"}}}',
    source=f"{KERNEL_INFO}:1383-1402",
)
BLANK_IN_NAME = Rule(
    code="L002",
    name="blank-in-name",
    about="library",
    severity="error",
    engine="refuses",
    why=(
        "The engine trims an op type and looks up the trimmed name. It is not found if the key has blanks around it, "
        "which fails the whole store."
    ),
    fails='{"Log ": {"precision_reduce": {"flag": "false"}}}',
    passes='{"Log": {"precision_reduce": {"flag": "false"}}}',
    source=f"{STORE}:150-163",
)
BAD_VALUE = Rule(
    code="L003",
    name="bad-value",
    about="library",
    severity="error",
    engine="refuses",
    why=(
        "A value that the engine cannot read: a word that is not in its list, a dtype such as `bf16` (it is "
        "`bfloat16`), a format in lower case, a missing name or paramType. The whole store fails."
    ),
    fails='{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "bf16", "format": "ND"}}}',
    passes='{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "bfloat16", "format": "ND"}}}',
    source=f"{KERNEL_INFO}:314-995; {DTYPES}:91-105",
)
COLUMN_MISMATCH = Rule(
    code="L004",
    name="column-mismatch",
    about="library",
    severity="error",
    engine="refuses",
    why=(
        "Dtypes and formats are columns: every list of a tensor, and every tensor of an operator, must have the same "
        "number of them. Libraries of older CANN versions are known to break this, so opsinfo reads them "
        "with a warning."
    ),
    fails='{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND"}}}',
    passes='{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND,ND"}}}',
    source=f"{KERNEL_INFO}:858-995",
)
UNKNOWN_VALUE = Rule(
    code="L005",
    name="unknown-value",
    about="library",
    severity="warning",
    engine="accepts",
    why=(
        "A dtype, format or attribute type that the known engine commit does not have. A newer engine may have it; "
        "this one refuses it, or skips the attribute."
    ),
    fails='{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "float5_e2m2", "format": "ND"}}}',
    passes='{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "float8_e5m2", "format": "ND"}}}',
    source=f"{WORDS}:21-126",
)
UNKNOWN_SECTION = Rule(
    code="L006",
    name="unknown-section",
    about="library",
    severity="warning",
    engine="accepts",
    why="A section whose name is similar to one that the engine reads. The engine ignores it, so it has no effect.",
    fails='{"Log": {"precision_reduces": {"flag": "false"}}}',
    passes='{"Log": {"precision_reduce": {"flag": "false"}}}',
    source=f"{KERNEL_INFO}:320-334; {STORE}:144-182",
)
ENGINE_CRASH = Rule(
    code="L007",
    name="engine-crash",
    about="library",
    severity="error",
    engine="crashes",
    why=(
        "A formatAgnostic operator lists formats for one of its tensors but not the other, or fewer for the output "
        "than for the input. The engine reads past the end of the shorter list when it loads the store, and may crash."
    ),
    fails=(
        '{"Log": {"op": {"pattern": "formatAgnostic"}, '
        '"input0": {"name": "x", "paramType": "required", "dtype": "float16", "format": "ND"}, '
        '"output0": {"name": "y", "paramType": "required", "dtype": "float16"}}}'
    ),
    passes=(
        '{"Log": {"op": {"pattern": "formatAgnostic"}, '
        '"input0": {"name": "x", "paramType": "required", "dtype": "float16"}, '
        '"output0": {"name": "y", "paramType": "required", "dtype": "float16"}}}'
    ),
    source=f"{KERNEL_INFO}:350-428",
)

_OF_FAULTS = {
    rule.name: rule
    for rule in (
        *(BAD_FLAG, BLANK_IN_NAME, BAD_VALUE, COLUMN_MISMATCH, UNKNOWN_VALUE, UNKNOWN_SECTION, ENGINE_CRASH),
        WRONG_TYPE,
    )
}
"""The rules of the faults that the model finds in an entry."""

ON_BUILDING = (BAD_FLAG, BAD_VALUE, COLUMN_MISMATCH, ENGINE_CRASH)
"""Rules that the engine applies only to an entry that it builds a kernel from."""


def check_library(library: Library, members: Members) -> Iterator[Finding]:
    """Yield all findings on a library alone."""
    yield from text_findings(library, members)
    yield from entry_findings(library)


def text_findings(library: Library, members: Members) -> Iterator[Finding]:
    """Yield findings on text outside the entries: byte order mark, trailing text, keys that the engine drops."""
    source = library.source
    yield from bom(source, fixable=False)
    yield from trailing_text(source, members.end, fixable=False)
    first: dict[str, int] = {}
    for member in library.members:
        if member.key in first:
            span, pointer = (member.key_start, member.key_end), pointer_to(member.key)
            yield duplicate_key(source, member.key, span, first[member.key], pointer)
        first[member.key] = member.key_start
        if member.has_duplicates:
            yield from duplicate_keys(source, library.entry_of(member).node, False, pointer_to(member.key))


def entry_findings(library: Library) -> Iterator[Finding]:
    """Yield findings on the structure and values of every entry, one for each place.

    The values of an entry are checked once its structure is right.
    """
    blank = {entry.name: fault for entry, fault in library.structure_faults() if fault.name == "blank-in-name"}
    for entry in library.entries.values():
        if library.is_passed_over(entry):
            yield _passed_over(library, entry)
            continue
        faults = entry.faults if entry.member.is_sound else structure_faults(entry.value)
        places = {(fault.section, fault.key, fault.token): fault for fault in reversed([*faults])}
        for fault in reversed(places.values()):
            yield _finding(library, entry, fault)
        if entry.name in blank:
            yield _finding(library, entry, blank[entry.name])


def _passed_over(library: Library, entry: Entry) -> Finding:
    name = entry.name.strip(BLANKS)
    message = f"`{entry.name}` is never read: the engine strips the blanks and reads `{name}` instead"
    span, pointer = (entry.member.key_start, entry.member.key_end), pointer_to(entry.name)
    return at(DUPLICATE_KEY, library.source, span, message, pointer=pointer, hint="merge the two entries")


def root_is_no_object(source: Source, members: Members) -> Finding:
    message = "a library must be an object of operators; the engine refuses the store"
    return at(WRONG_TYPE, source, (members.start, members.end), message, pointer="")


def _finding(library: Library, entry: Entry, fault: EntryFault) -> Finding:
    hint = f"did you mean {' or '.join(f'`{word}`' for word in fault.near)}?" if fault.near else None
    steps = [step for step in (fault.section, fault.key) if step is not None]
    return at(
        _OF_FAULTS[fault.name],
        library.source,
        entry.span(fault),
        f"`{entry.name}`: {fault.message}",
        pointer=pointer_to(entry.name, *steps),
        hint=hint,
    )
