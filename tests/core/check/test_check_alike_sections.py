"""Sections that are alike in several libraries are judged once, and their faults are found in each of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.check import structure
from opsinfo_cli.core.check.schema import load_schema
from opsinfo_cli.core.text.source import Source


def faults(content: dict[str, Any]) -> dict[str, list[str]]:
    library = Library.of(Source(json.dumps(content).encode(), "aic-ascend910b-ops-info.json"))
    found = structure.library_faults(library.entries.values())
    return {name: [fault.name for fault in own] for name, own in found.items()}


def test_a_second_library_has_its_own_faults_and_is_judged_where_it_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[dict[str, Any]] = []

    class Recorder:
        def iter_errors(self, instance: dict[str, Any]) -> Any:
            judged.append(instance)
            return validator.iter_errors(instance)

    validator = structure.validator_for("ops-info-library")
    monkeypatch.setattr(structure, "validator_for", lambda name: Recorder())
    monkeypatch.setattr(structure, "_without_fault", set())
    good = {"input0": {"name": "x", "dtype": "float16", "paramType": "required"}, "precision_reduce": {"flag": "true"}}
    wrong = {**good, "input0": {"name": "x", "dtype": "float16", "paramType": "requierd"}}
    first = faults({"A": good, "B": wrong})
    assert first.keys() == {"B"}
    assert faults({"C": wrong, "D": good, "E": {**good, "precision_reduce": {"flag": "no"}}}) == {
        "C": first["B"],
        "E": ["bad-flag"],
    }
    sections = [sorted(section for entry in instance.values() for section in entry) for instance in judged]
    assert sections == [["input0", "input0", "precision_reduce"], ["input0", "precision_reduce"]]


def test_the_schema_judges_each_section_by_itself() -> None:
    """Else the made-up entries in which sections are judged would have other faults than those of the library."""
    schema = load_schema("ops-info-library")
    said = {"$schema", "$id", "$defs", "title", "description", "examples"}
    assert schema.keys() - said == {"type", "additionalProperties"}
    assert schema["additionalProperties"] == {"$ref": "#/$defs/entry"}
    assert schema["$defs"]["entry"].keys() - said == {
        *("type", "properties", "patternProperties", "additionalProperties"),
    }
