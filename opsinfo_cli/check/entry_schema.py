"""The published schema of a library entry, evaluated once for each distinct input.

A library has thousands of sections, and the schema looks at few of their keys. If all leaves of an entry are strings,
only those keys matter, so sections that agree in them are checked once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from ..model.entry_rules import EntryFault, Sections
from .schema import load_schema, structure_errors, validator_for

_ANNOTATIONS = frozenset({"title", "description", "examples", "default", "$comment"})
_PLAIN_STRING = frozenset({"type"})


@cache
def entry_schema() -> EntrySchema:
    return EntrySchema(load_schema("ops-info-library")["$defs"])


class EntrySchema:
    """``$defs/entry`` with the definitions that it refers to."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions
        self._asked: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._known: dict[tuple[int | str | None, ...], list[EntryFault]] = {}

    def faults(self, entry: Any) -> Iterator[EntryFault]:
        """Yield violations of an entry of any structure."""
        for name, path, error in structure_errors(self._validator, entry):
            steps = [str(step) for step in path[:2]]
            section, key = (*steps, None, None)[:2]
            yield EntryFault(name, section, key, _said(name, path, error))

    def faults_of_strings(self, sections: Sections) -> Iterator[EntryFault]:
        """Yield violations of an entry whose leaves are all strings."""
        for section, content in sections.items():
            schema, asked = self.asked(section)
            seen = (schema, *map(content.get, asked))
            faults = self._known.get(seen)
            if faults is None:
                faults = self._known[seen] = list(self.faults({section: content}))
            for fault in faults:
                yield fault._replace(section=section, message=fault.message.replace(str(fault.section), section, 1))

    def asked(self, section: str) -> tuple[int, tuple[str, ...]]:
        """Return the schema for a section of this name, and the keys with further rules on their values."""
        if section not in self._asked:
            schema = self._schema_of(section)
            required = {key for each in (schema, *schema.get("allOf", ())) for key in each.get("required", ())}
            properties = schema.get("properties", {})
            more = {key for key, each in properties.items() if each.keys() - _ANNOTATIONS - _PLAIN_STRING}
            self._asked[section] = id(schema), tuple(sorted(required | more))
        return self._asked[section]

    def _schema_of(self, section: str) -> Mapping[str, Any]:
        entry = self.definitions["entry"]
        found = entry["properties"].get(section) or next(
            (schema for pattern, schema in entry["patternProperties"].items() if re.search(pattern, section)),
            entry["additionalProperties"],
        )
        schema: Mapping[str, Any] = self.definitions[found["$ref"].rsplit("/", 1)[1]] if "$ref" in found else found
        return schema

    @cached_property
    def _validator(self) -> Any:
        whole = {"$ref": "#/$defs/entry", "$defs": self.definitions}
        return validator_for("ops-info-library").evolve(schema=whole)


def _said(name: str, path: tuple[str | int, ...], error: Any) -> str:
    where = ".".join(map(str, path)) or "an operator's entry"
    if name == "wrong-type":
        return f"`{where}` must be a{'n' if error.validator_value == 'object' else ''} {error.validator_value}"
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"`{where}` requires a `{missing[0]}`"
    return f"`{where}` is `{error.instance}`, which the engine cannot read"
