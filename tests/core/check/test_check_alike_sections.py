"""Sections that are alike in several libraries are judged once, and their faults are found in each of them."""

from __future__ import annotations

import json
import re
from typing import Any

from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.check import structure
from opsinfo_cli.core.check.schema import load_schema
from opsinfo_cli.core.text.source import Source


def faults(content: dict[str, Any]) -> dict[str, list[str]]:
    library = Library.of(Source(json.dumps(content).encode(), "aic-ascend910b-ops-info.json"))
    found = structure.library_faults(library.entries.values())
    return {name: [fault.name for fault in own] for name, own in found.items()}


def test_a_second_library_has_its_own_faults_and_is_judged_where_it_differs() -> None:
    good = {"input0": {"name": "x", "dtype": "float16", "paramType": "required"}, "precision_reduce": {"flag": "true"}}
    wrong = {**good, "input0": {"name": "x", "dtype": "float16", "paramType": "requierd"}}
    structure._section_faults.cache_clear()
    first = faults({"A": good, "B": wrong})
    assert first.keys() == {"B"}
    assert structure._section_faults.cache_info().misses == 3
    assert faults({"C": wrong, "D": good, "E": {**good, "precision_reduce": {"flag": "no"}}}) == {
        "C": first["B"],
        "E": ["bad-flag"],
    }
    assert structure._section_faults.cache_info().misses == 4


def test_the_schema_judges_each_section_by_itself() -> None:
    """Else sections, which are judged one by one, would have other faults than those of the library."""
    schema = load_schema("ops-info-library")
    said = {"$schema", "$id", "$defs", "title", "description", "examples"}
    assert schema.keys() - said == {"type", "additionalProperties"}
    assert schema["additionalProperties"] == {"$ref": "#/$defs/entry"}
    assert schema["$defs"]["entry"].keys() - said == {
        *("type", "properties", "patternProperties", "additionalProperties"),
    }
    patterns, names = schema["$defs"]["entry"]["patternProperties"], schema["$defs"]["entry"]["properties"]
    assert all(sum(bool(re.search(each, name)) for each in patterns) == 0 for name in names)
    assert all(sum(bool(re.search(each, name)) for each in patterns) == 1 for name in ("input0", "Output", "attr_a"))
