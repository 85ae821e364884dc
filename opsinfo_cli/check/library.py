"""Findings on a library: its structure by the schema, the rest by what the engine asks when it loads an entry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model.library import Entry, Library
from ..model.load_fault import LoadFault
from ..model.loading import is_sound
from ..text.members import Members
from ..text.source import Source
from .finding import Finding, at
from .schema import load_schema, structure_errors, validator_for
from .text import bom, duplicate_key, duplicate_keys, pointer_to, trailing_text

__all__ = ["check_library", "entry_findings", "root_is_no_object", "text_findings"]


def text_findings(library: Library, members: Members) -> Iterator[Finding]:
    """What stands in the text but in no entry: byte order mark, tail, keys that vanish."""
    source = library.source
    yield from bom(source)
    yield from trailing_text(source, members.end)
    first: dict[str, int] = {}
    for member in library.members:
        if member.key in first:
            span, pointer = (member.key_start, member.key_end), pointer_to(member.key)
            yield duplicate_key(source, member.key, span, first[member.key], pointer)
        first[member.key] = member.key_start
        if member.has_duplicates:
            yield from duplicate_keys(source, Entry(library, member).node, pointer_to(member.key))


def check_library(library: Library, members: Members) -> Iterator[Finding]:
    """Everything that can be said of a library taken alone."""
    yield from text_findings(library, members)
    yield from entry_findings(library)


def entry_findings(library: Library) -> Iterator[Finding]:
    """Structure and values of every entry, each place once; the schema speaks first."""
    broken = set()
    said = set()
    for entry, fault in _schema_faults(library):
        said.add((entry.name, fault.section, fault.key))
        yield _finding(library, entry, fault)
    for entry, fault in library.structure_faults():
        if fault.name == "wrong-type":
            broken.add(entry.name)
        if (entry.name, fault.section, fault.key) not in said:
            yield _finding(library, entry, fault)
    for entry in library.entries.values():
        for fault in () if entry.name in broken else entry.faults:
            if (entry.name, fault.section, fault.key) not in said:
                yield _finding(library, entry, fault)


def root_is_no_object(source: Source, members: Members) -> Finding:
    said = "a library must be an object of operators; the engine refuses the store"
    return at("wrong-type", source, (members.start, members.end), said, pointer="")


def _schema_faults(library: Library) -> Iterator[tuple[Entry, LoadFault]]:
    """Violations of the published schema.

    What a section says does not depend on its neighbours, so each distinct section is checked once and its
    violations are told of every entry that has it.
    """
    schema = load_schema("ops-info-library")
    validator = validator_for("ops-info-library").evolve(schema={"$ref": "#/$defs/entry", "$defs": schema["$defs"]})
    known: dict[object, list[tuple[str, tuple[str | int, ...], str]]] = {}
    for entry in library.entries.values():
        value = entry.member.value
        if is_sound(value):
            value = entry.sections
        for section, content in value.items() if isinstance(value, dict) else [(None, value)]:
            instance: Any = {section: content} if section is not None else content
            key = (section, _frozen(content))
            if key not in known:
                errors = structure_errors(validator, instance)
                known[key] = [(name, path, _said(name, path, error)) for name, path, error in errors]
            for name, path, message in known[key]:
                steps = [str(step) for step in path[:2]]
                yield entry, LoadFault(name, steps[0] if steps else None, steps[1] if len(steps) > 1 else None, message)


def _frozen(content: Any) -> object:
    try:
        return tuple(content.items()) if isinstance(content, dict) else repr(content)
    except TypeError:
        return repr(content)


def _said(name: str, path: tuple[str | int, ...], error: Any) -> str:
    where = ".".join(map(str, path)) or "an operator's entry"
    if name == "wrong-type":
        return f"`{where}` must be a{'n' if error.validator_value == 'object' else ''} {error.validator_value}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"`{where}` needs a `{missing[0]}`"
    return f"`{where}` is `{error.instance}`, which the engine cannot read"


def _finding(library: Library, entry: Entry, fault: LoadFault) -> Finding:
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
