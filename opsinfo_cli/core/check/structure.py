"""Structure by the published schemas: the errors of jsonschema as faults with their places.

What no schema can say is judged elsewhere: combinations and columns, load order, names that the engine trims.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ..cann.entry_rules import EntryFault, missing_key, tensor_key, tensor_word_fault, word_fault, wrong_type_in_entry
from ..cann.marks import ACTIONS, LISTS
from ..cann.mixlist import StructureFault, meant_and_missing, member_of, unknown_key, wrong_type
from .schema import load_schema, validator_for

if TYPE_CHECKING:
    from ..cann.entry import Entry
    from ..text.scanner import Node

_LEVELS: tuple[Collection[str], ...] = (LISTS, ACTIONS)


def mixlist_faults(root: Node) -> list[StructureFault]:
    """Return the faults of a mixlist's structure, in the order of the text.

    A list or action under a near key is checked too, so that its faults are found before it is renamed.
    """
    errors = validator_for("mixlist").iter_errors(_as_meant(root))
    return sorted((_mixlist_fault(root, error) for error in errors), key=lambda fault: fault.node.start)


def _as_meant(node: Node, depth: int = 0) -> Any:
    """Return a value with the values under near keys also under the keys that they mean."""
    if node.kind != "object" or depth == len(_LEVELS):
        return node.plain(lambda number: 0)
    known, members = _LEVELS[depth], node.by(str)
    content: dict[str, Any] = {name: None for name in members if name not in known}
    for name in known:
        if member := member_of(node, name, by_near_keys=True):
            content[name] = _as_meant(member.value, depth + 1)
    return content


def _mixlist_fault(root: Node, error: Any) -> StructureFault:
    node, steps = root, tuple[str | int, ...]()
    for step in error.absolute_path:
        if isinstance(step, int):
            node, steps = node.items[step], (*steps, step)
        else:
            member = member_of(node, step, by_near_keys=True)
            assert member is not None  # _as_meant made the step of it
            node, steps = member.value, (*steps, member.name)
    if error.validator == "type":
        return wrong_type(node, steps)
    member = node.by(str)[error.instance]
    return unknown_key(member, steps, meant_and_missing(node, member.name, _LEVELS[len(steps)]))


def library_faults(entries: Iterable[Entry]) -> dict[str, list[EntryFault]]:
    """Return the faults of entries of one library, by op type.

    A sound entry is judged section by section: of `entry` the schema has only types, properties and patternProperties.
    """
    found: dict[str, list[EntryFault]] = {}
    for entry in entries:
        if entry.member.is_sound:
            faults = [fault for each in entry.sections.items() for fault in _section_faults(each[0], _judged(*each))]
        else:  # only what is of a wrong type counts; the schema names the finding of any other value
            errors = validator_for(_LIBRARY).evolve(schema={"$ref": "#/$defs/entry"}).iter_errors(entry.value)
            wrong = (error for error in errors if "x-opsinfo-finding" not in error.schema)
            faults = [_entry_fault(error, *error.absolute_path) for error in wrong]
        if faults:
            found[entry.name] = faults
    return found


_LIBRARY = "ops-info-library"
_Judged: TypeAlias = tuple[tuple[str, str], ...]
"""The keys and values of a section, with the values that the schema does not judge left empty."""


def _judged(section: str, content: Mapping[str, str]) -> _Judged:
    keys = _judge_of(section)[1]
    return tuple((key, value if key in keys else "") for key, value in content.items())


@lru_cache(maxsize=1 << 14)
def _section_faults(section: str, judged: _Judged) -> tuple[EntryFault, ...]:
    """Return the faults of all sections that are alike to the schema: an install has the same ones for each chip."""
    errors = _judge_of(section)[0].iter_errors(dict(judged))
    return tuple(_entry_fault(error, section, *error.absolute_path) for error in errors)


@lru_cache(maxsize=1 << 12)
def _judge_of(section: str) -> tuple[Any, frozenset[str]]:
    """Return the validator of a section, and the keys whose values it judges; all others are only strings to it."""
    schema = load_schema(_LIBRARY)
    entry = schema["$defs"]["entry"]
    by_pattern = (part for pattern, part in entry["patternProperties"].items() if re.search(pattern, section))
    part: dict[str, Any] = entry["properties"].get(section) or next(by_pattern, {})
    part = schema["$defs"].get(part.get("$ref", "").removeprefix("#/$defs/"), part)
    keys = frozenset(key for key, value in part.get("properties", {}).items() if value.keys() - _ANNOTATIONS)
    return validator_for(_LIBRARY).evolve(schema=part), keys


_ANNOTATIONS = {"type", "title", "description", "examples"}


def _entry_fault(error: Any, section: str | None = None, key: str | None = None) -> EntryFault:
    if error.validator == "type":
        return wrong_type_in_entry(section, key)
    assert section is not None  # only sections have words and required keys
    if error.validator == "required":
        return missing_key(section, error.validator_value[0], error.instance)
    assert key is not None
    if tensor_key(section):
        return tensor_word_fault(section, key, error.instance)
    return word_fault(section, key, error.instance, error.schema["x-opsinfo-words"])
