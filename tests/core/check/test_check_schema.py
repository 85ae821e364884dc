"""The published schemas and the loader agree: two statements of one rule must not diverge."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.core.cann.entry_rules import ATTR_TYPES, ENUMERATIONS, PARAM_TYPES, build_faults
from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.cann.mixlist import structure_faults
from opsinfo_cli.core.check.schema import load_schema, schema_names, validator_for
from opsinfo_cli.core.check.structure import library_faults
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source

WORDS = sorted({word for rule in ENUMERATIONS.values() for word in rule.words} | PARAM_TYPES | ATTR_TYPES)
BLANKS = st.text(" \t\n\v\f\r", max_size=2)


@st.composite
def near_words(draw: st.DrawFn) -> str:
    """A word of some list, with changed case, blanks around it, and perhaps a misspelling."""
    word = draw(st.sampled_from([*WORDS, "", "yes", "1"]))
    word = draw(st.sampled_from([word, word.upper(), word.title(), word.swapcase(), word + "s", word[1:], word + ","]))
    around = st.one_of(BLANKS, st.sampled_from(["\u00a0", "\u3000", "\x1f"]))
    return draw(around) + word + draw(around)


def by_schema(sections: dict[str, dict[str, str]]) -> set[str]:
    instance = {"Op": sections}
    errors = validator_for("ops-info-library").iter_errors(instance)
    return {error.schema.get("x-opsinfo-finding", "wrong-type") for error in errors}


def by_loader(sections: dict[str, dict[str, str]]) -> set[str]:
    source = Source(json.dumps({"Op": sections}).encode(), "f.json")
    return {fault.name for fault in Library.of(source).entries["Op"].faults}


@given(st.sampled_from(sorted(ENUMERATIONS)), near_words())
def test_an_enumeration_is_judged_alike(section: str, word: str) -> None:
    sections = {section: {ENUMERATIONS[section].key: word}}
    loader = by_loader(sections) & {"bad-flag", "bad-value"}
    if section == "op" and "column-mismatch" in by_loader(sections):
        loader -= {"bad-value"}
    assert by_schema(sections) == loader


@pytest.mark.parametrize("section", ENUMERATIONS)
def test_every_word_of_an_enumeration_passes_in_any_case(section: str) -> None:
    rule = ENUMERATIONS[section]
    for word in rule.words:
        for spelt in (word, word.upper(), f" {word.title()}\t", ""):
            sections = {section: {rule.key: spelt}}
            assert by_schema(sections) == set()
            assert by_loader(sections) & {"bad-flag", "bad-value"} == set()


@given(near_words(), st.sampled_from(["name", "paramType", "tuneformatSwitch"]))
def test_a_tensor_is_judged_alike(word: str, key: str) -> None:
    sections = {"input0": {"name": "x", "paramType": "required", key: word}}
    assert by_schema(sections) == by_loader(sections)


SECTIONS = st.sampled_from(
    [*ENUMERATIONS, "input0", "output1", "input", "attr_x", "attr", "opFile", "Input0", "input0x"]
)
KEYS_OF_SECTIONS = st.sampled_from(["flag", "value", "pattern", "name", "paramType", "tuneformatSwitch", "dtype", "x"])
VALUES = near_words() | st.sampled_from(["true", "required", "x", "broadcast"])
ENTRIES = st.dictionaries(SECTIONS, st.dictionaries(KEYS_OF_SECTIONS, VALUES, max_size=3), max_size=4)


@given(st.dictionaries(st.sampled_from(["A", "B", "C"]), ENTRIES, max_size=3))
def test_sections_that_are_judged_once_have_the_errors_of_the_whole_library(content: dict[str, Any]) -> None:
    library = Library.of(Source(json.dumps(content).encode(), "f.json"))
    found = library_faults(library.entries.values())
    whole: dict[str, set[tuple[str, str, str | None]]] = {}
    for error in validator_for("ops-info-library").iter_errors(content):
        name, section, *key = error.absolute_path
        place = (error.schema["x-opsinfo-finding"], str(section), str(key[0]) if key else None)
        whole.setdefault(str(name), set()).add(place)
    assert {name: {fault[:3] for fault in faults} for name, faults in found.items()} == whole


@pytest.mark.parametrize(("section", "key"), [(name, rule.key) for name, rule in ENUMERATIONS.items()])
def test_the_words_of_the_schema_are_those_of_the_loader(section: str, key: str) -> None:
    (error,) = validator_for("ops-info-library").iter_errors({"A": {section: {key: "?"}}})
    assert error.schema["x-opsinfo-words"] == sorted(ENUMERATIONS[section].words)
    by_schema = library_faults(
        Library.of(Source(b'{"A": {"%s": {"%s": "?"}}}' % (section.encode(), key.encode()), "f")).entries.values()
    )
    by_rules = build_faults({section: {key: "?"}})
    assert [fault for fault in by_rules if fault.key == key and "?" in fault.message] == by_schema["A"]


def test_a_long_run_of_blanks_is_judged_in_linear_time() -> None:
    start = time.process_time()
    assert by_schema({"precision_reduce": {"flag": " " * 200_000 + "x"}}) == {"bad-flag"}
    assert time.process_time() - start < 1


@pytest.mark.parametrize("missing", ["name", "paramType"])
def test_a_tensor_that_lacks_something_is_judged_alike(missing: str) -> None:
    content = {"name": "x", "paramType": "required"}
    del content[missing]
    assert by_schema({"output3": content}) == by_loader({"output3": content}) == {"bad-value"}


@pytest.mark.parametrize(
    ("content", "key", "near"),
    [
        ({"name": "x", "paramtype": "required"}, "paramtype", ("paramType",)),
        ({"name": "x", "param_type": "required"}, "param_type", ("paramType",)),
        ({"Name": "x", "paramType": "required"}, "Name", ("name",)),
        ({"name": "x", "paramType": "requierd"}, "paramType", ("required",)),
        ({"name": "x", "paramType": "optinal"}, "paramType", ("optional",)),
        ({"name": "x", "type": "required"}, None, ()),
    ],
)
def test_a_misspelt_key_or_word_of_a_tensor_has_a_near_name(
    content: dict[str, str], key: str | None, near: tuple[str, ...]
) -> None:
    (fault,) = build_faults({"input0": content})
    assert (fault.name, fault.key, fault.near) == ("bad-value", key, near)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(["A", "B"]), JSON, max_size=2))
def test_the_structure_of_a_library_is_judged_alike(content: dict[str, Any]) -> None:
    accepted = validator_for("ops-info-library").is_valid(content)
    try:
        Library.of(Source(json.dumps(content).encode(), "f.json"))
        loaded = True
    except Exception as error:
        assert type(error).__name__ == "Damaged"  # noqa: PT017
        loaded = False
    assert accepted is loaded


KEYS = st.sampled_from(["black-list", "white-list", "gray-list", "grey-list"])
ACTIONS = st.sampled_from(["to-add", "to-remove", "to_add"])
NAMES = st.lists(st.sampled_from(["A", "B", "", " "]) | st.none() | st.integers(0, 1), max_size=2)
LISTS: st.SearchStrategy[Any] = (
    st.dictionaries(ACTIONS, NAMES | st.none() | st.just("A"), max_size=2) | st.none() | st.just([])
)


@given(st.dictionaries(KEYS, LISTS, max_size=2))
def test_the_structure_of_a_mixlist_is_judged_alike(content: dict[str, Any]) -> None:
    accepted = validator_for("mixlist").is_valid(content)
    root = scan(Source(json.dumps(content).encode(), "f.json")).require_root()
    assert accepted is not any(structure_faults(root))


def undescribed(schema: Any, path: str = "") -> list[str]:
    """Properties of a schema, at any depth, without a description or a reference to one."""
    if not isinstance(schema, dict):
        return []
    properties = schema.get("properties", {})
    found = [f"{path}/{key}" for key, each in properties.items() if not {"description", "$ref"} & set(each)]
    inner = {**properties, **schema.get("$defs", {})}
    inner.update({key: schema[key] for key in ("items", "additionalProperties") if key in schema})
    return found + [each for key, part in inner.items() for each in undescribed(part, f"{path}/{key}")]


@pytest.mark.parametrize("name", schema_names())
def test_a_published_schema_has_a_description_and_an_example(name: str) -> None:
    schema = load_schema(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"].rpartition("/")[2] == f"{name}.schema.json"
    assert schema["title"]
    assert len(schema["description"]) > 20
    assert schema["examples"]
    assert undescribed(schema) == []
    assert "$ref" not in json.dumps(schema).replace('"$ref": "#', ""), "self-contained"


def test_ids_and_titles_of_schemas_are_unique() -> None:
    for key in ("$id", "title"):
        assert len({load_schema(name)[key] for name in schema_names()}) == len(schema_names())


@pytest.mark.parametrize("name", schema_names())
def test_a_published_schema_is_a_schema_and_its_examples_hold(name: str) -> None:
    from jsonschema import Draft202012Validator

    schema = load_schema(name)
    Draft202012Validator.check_schema(schema)
    for example in schema.get("examples", []):
        assert list(validator_for(name).iter_errors(example)) == []
