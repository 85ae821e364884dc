"""Structure by the published schemas: the errors of jsonschema as faults with their places.

What no schema can say is judged elsewhere: combinations and columns, load order, names that the engine trims.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
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
    """Return the faults of entries of one library, by op type; sections that are alike to the schema are judged once,
    and those without a fault once for all libraries: the stores of an install have the same ones for each chip.

    The values of an entry are judged once its structure is right. Of `entry` the schema has only types, properties and
    patternProperties: a rule on two sections of one entry would be judged on entries that nobody wrote.
    """
    # One library of made-up op types has every section that differs to the schema: the first op type one section of
    # each name, the second the next different one, and so on. Entries that are no objects of objects of strings are in
    # it as they are.
    instance: dict[str, Any] = {}
    owners: dict[tuple[str | int, str | int | None], list[str]] = {}  # (made-up op type, section) -> op types
    broken: dict[str | int, str] = {}  # made-up op type -> op type
    places: dict[str, dict[_Judged, str]] = {}
    for entry in entries:
        if not entry.member.is_sound:
            made_up = f"broken {len(broken)}"
            broken[made_up] = entry.name
            instance[made_up] = entry.value
            continue
        for section, content in entry.sections.items():
            judged = _judged_keys(section)
            alike = {key: value if key in judged else "" for key, value in content.items()}
            key = tuple(alike.items())
            if (section, key) in _without_fault:
                continue
            of_section = places.setdefault(section, {})
            made_up = of_section.setdefault(key, str(len(of_section)))
            having = owners.setdefault((made_up, section), [])
            if not having:
                instance.setdefault(made_up, {})[section] = alike
            having.append(entry.name)
    found: dict[str, list[EntryFault]] = {}
    faulty: set[tuple[str | int, str | int | None]] = set()
    for error in validator_for("ops-info-library").iter_errors(instance):
        where, *steps = error.absolute_path
        names = owners.get((where, steps[0] if steps else None), [])
        if where in broken:
            # the schema names the finding of a value so: of a broken entry only what is of a wrong type counts
            names = [] if "x-opsinfo-finding" in error.schema else [broken[where]]
        for name in names:
            found.setdefault(name, []).append(_entry_fault(error, *steps))
        faulty.add((where, steps[0] if steps else None))
    if len(_without_fault) > _MOST_REMEMBERED:
        _without_fault.clear()
    sections = ((made_up, section, key) for section, keys in places.items() for key, made_up in keys.items())
    _without_fault.update((section, key) for made_up, section, key in sections if (made_up, section) not in faulty)
    return found


_Judged: TypeAlias = tuple[tuple[str, str], ...]
"""The keys and values of a section, with the values that the schema does not judge left empty."""
_without_fault: set[tuple[str, _Judged]] = set()
_MOST_REMEMBERED = 1 << 16
"""The sections after which the process begins anew, so that it does not grow without end."""


@lru_cache(maxsize=1 << 12)
def _judged_keys(section: str) -> frozenset[str]:
    """Return the keys of a section whose values the schema judges; all others are only strings to it."""
    schema = load_schema("ops-info-library")
    entry = schema["$defs"]["entry"]
    by_pattern = (part for pattern, part in entry["patternProperties"].items() if re.search(pattern, section))
    part: dict[str, Any] = entry["properties"].get(section) or next(by_pattern, {})
    part = schema["$defs"].get(part.get("$ref", "").removeprefix("#/$defs/"), part)
    return frozenset(key for key, value in part.get("properties", {}).items() if value.keys() - _ANNOTATIONS)


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
