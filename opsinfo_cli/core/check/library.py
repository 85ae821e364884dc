"""Rules on libraries: structure by the schema, the rest by the engine's checks on loading an entry."""

from __future__ import annotations

from collections.abc import Iterator

from ..cann.entry import Entry
from ..cann.entry_rules import EntryFault
from ..cann.library import Library
from ..cann.policy import BLANKS
from ..text.members import Members
from ..text.source import Source
from .finding import Finding, at
from .structure import library_faults
from .text import bom, duplicate_key, duplicate_keys, pointer_to, trailing_text

ON_BUILDING = ("bad-flag", "bad-value", "column-mismatch", "engine-crash")
"""Rules that the engine applies only to an entry that it builds a kernel from."""


def check_library(library: Library, members: Members) -> Iterator[tuple[str | None, Finding]]:
    """Yield the findings on a library, each with the op type that it is about; None for text around the entries."""
    yield from ((None, finding) for finding in text_findings(library, members))
    yield from ((entry.name, finding) for entry, _, finding in entry_findings(library))


def text_findings(library: Library, members: Members) -> Iterator[Finding]:
    """Yield findings on text outside the entries: byte order mark, trailing text, keys that the engine drops."""
    source = library.source
    yield from bom(source, fixable=False)
    yield from trailing_text(source, members.end, fixable=False)
    first: dict[str, int] = {}
    for member in library.members:
        if first.setdefault(member.key, member.key_start) != member.key_start:
            span, pointer = (member.key_start, member.key_end), pointer_to(member.key)
            yield duplicate_key(source, member.key, span, first[member.key], pointer)
        if member.has_duplicates:
            yield from duplicate_keys(source, library.entry_of(member).node, False, pointer_to(member.key))


def entry_findings(library: Library) -> Iterator[tuple[Entry, EntryFault | None, Finding]]:
    """Yield findings on the structure and values of every entry, one for each place, with their faults.

    The values of an entry are checked once its structure is right.
    """
    blank = {entry.name: fault for entry, fault in library.structure_faults() if fault.name == "blank-in-name"}
    read = [entry for entry in library.entries.values() if not library.is_passed_over(entry)]
    by_schema = library_faults(read)
    for entry in library.entries.values():
        if library.is_passed_over(entry):
            name = entry.name.strip(BLANKS)
            message = f"`{entry.name}` is never read: the engine strips the blanks and reads `{name}` instead"
            span, pointer = (entry.member.key_start, entry.member.key_end), pointer_to(entry.name)
            hint = "merge the two entries"
            yield entry, None, at("duplicate-key", library.source, span, message, pointer=pointer, hint=hint)
            continue
        faults = by_schema.get(entry.name, [])
        if entry.member.is_sound:
            faults = [*faults, *entry.combination_faults(not faults)]
        places = {(fault.section, fault.key, fault.token): fault for fault in reversed(faults)}
        for fault in reversed(places.values()):
            yield entry, fault, _finding(library, entry, fault)
        if entry.name in blank:
            yield entry, blank[entry.name], _finding(library, entry, blank[entry.name])


def root_is_no_object(source: Source, members: Members) -> Finding:
    message = "a library must be an object of operators; the engine refuses the store"
    return at("wrong-type", source, (members.start, members.end), message, pointer="")


def _finding(library: Library, entry: Entry, fault: EntryFault) -> Finding:
    hint = f"did you mean {' or '.join(f'`{word}`' for word in fault.near)}?" if fault.near else None
    steps = [step for step in (fault.section, fault.key) if step is not None]
    return at(
        fault.name,
        library.source,
        entry.span(fault),
        f"`{entry.name}`: {fault.message}",
        pointer=pointer_to(entry.name, *steps),
        hint=hint,
    )
