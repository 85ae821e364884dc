"""Edits keep the style of the text, as if the file's own generator had written them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tables import cases

from opsinfo_cli.core.text.layout import Style, add_items, add_member, drop_items, drop_part, quote, style_of
from opsinfo_cli.core.text.patch import Edit, splice
from opsinfo_cli.core.text.scanner import Node, scan
from opsinfo_cli.core.text.source import Source


@dataclass(frozen=True)
class Way:
    """A way to write a file; ``unit`` None writes one line."""

    unit: str | None
    newline: str = "\n"
    colon: str = ":"
    final: str = "\n"

    def write(self, value: Any) -> str:
        return self.value(value, "") + self.final

    def value(self, value: Any, indent: str) -> str:
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
        inner = indent + (self.unit or "")
        if isinstance(value, list):
            parts, (opening, closing) = [self.value(each, inner) for each in value], "[]"
        else:
            parts = [f"{self.value(key, '')}{self.colon}{self.value(each, inner)}" for key, each in value.items()]
            opening, closing = "{}"
        if not parts:
            return opening + closing
        if self.unit is None:
            return opening + ("," if self.colon == ":" else ", ").join(parts) + closing
        line = self.newline + inner
        return opening + line + ("," + line).join(parts) + self.newline + indent + closing


WAYS = {
    "as the vendor's generator": Way("    ", final=""),
    "pretty": Way("  ", colon=": "),
    "tabs": Way("\t", colon=": "),
    "CRLF": Way("    ", "\r\n", ": ", "\r\n"),
    "CRLF with tabs": Way("\t", "\r\n", ":", ""),
    "no indent": Way("", colon=": "),
    "one blank": Way(" ", colon=" : "),
    "compact": Way(None, final=""),
    "one line": Way(None, colon=": "),
}

NAMES = st.text("abcXYZ_019", min_size=1, max_size=4) | st.sampled_from(
    ["", "a/b", "a~b", 'a"b', "a\\b", "\u4e2d", " a "]
)
SECTIONS = st.dictionaries(
    NAMES, st.dictionaries(NAMES, st.text('ab, {}[]":\u4e2d', max_size=5), max_size=3), max_size=4
)
FILES = st.dictionaries(NAMES, SECTIONS, min_size=1, max_size=4)
SHAPES = st.sampled_from(sorted(WAYS))
LAST = "\U0001f600"
"""A key that sorts after all others."""


def root_of(text: str) -> Node:
    return scan(Source(text.encode(), "f.json")).require_root()


def inserted(model: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The model after an insertion: at the sorted place if the keys are sorted, else at the end."""
    keys = list(model)
    at = sum(each < key for each in keys) if keys == sorted(keys) else len(keys)
    pairs = list(model.items())
    return dict([*pairs[:at], (key, value), *pairs[at:]])


@given(FILES, SHAPES, NAMES, st.data())
def test_an_inserted_section_has_the_style_of_the_file(
    model: dict[str, Any], shape: str, key: str, data: st.DataObject
) -> None:
    way = WAYS[shape]
    name = data.draw(st.sampled_from(sorted(model)))
    assume(key not in model[name])
    text = way.write(model)
    root = root_of(text)
    entry = root.get(name)
    assert entry is not None
    edit = add_member(text, entry, key, {"flag": "true"}, style_of(text, root))
    wanted = {**model, name: inserted(model[name], key, {"flag": "true"})}
    result = splice(text, [edit])
    loaded = json.loads(result)
    assert loaded == wanted
    assert list(loaded[name]) == list(wanted[name])
    assert result == way.write(wanted)


@given(FILES, SHAPES, st.data())
def test_a_dropped_member_leaves_the_text_that_the_generator_writes_without_it(
    model: dict[str, Any], shape: str, data: st.DataObject
) -> None:
    way = WAYS[shape]
    name = data.draw(st.sampled_from(sorted(model)))
    assume(model[name])
    index = data.draw(st.integers(0, len(model[name]) - 1))
    text = way.write(model)
    entry = root_of(text).get(name)
    assert entry is not None
    result = splice(text, [drop_part(entry, index)])
    section = list(model[name])[index]
    wanted = {**model, name: {key: value for key, value in model[name].items() if key != section}}
    assert result == way.write(wanted)


@given(FILES, SHAPES, st.data())
def test_nothing_outside_the_edited_entry_changes(model: dict[str, Any], shape: str, data: st.DataObject) -> None:
    text = WAYS[shape].write(model)
    root = root_of(text)
    index = data.draw(st.integers(0, len(model) - 1))
    entry = root.members[index].value
    edits: list[Edit] = [add_member(text, entry, "zzzzz", {"flag": "x"}, style_of(text, root))]
    if entry.members:
        edits.append(drop_part(entry, data.draw(st.integers(0, len(entry.members) - 1))))
    for edit in edits:
        assert entry.start < edit.start <= edit.end < entry.end
        result = splice(text, [edit])
        again = root_of(result)
        for place, (before, after) in enumerate(zip(root, again, strict=True)):
            assert text[before.key.start : before.key.end] == result[after.key.start : after.key.end]
            if place != index:
                assert text[before.value.start : before.value.end] == result[after.value.start : after.value.end]


@given(FILES, SHAPES, st.data())
def test_removing_and_inserting_a_section_gives_the_same_text(
    model: dict[str, Any], shape: str, data: st.DataObject
) -> None:
    way = WAYS[shape]
    model = {name: {**dict(sorted(sections.items())), LAST: {"flag": "true"}} for name, sections in model.items()}
    name = data.draw(st.sampled_from(sorted(model)))
    text = way.write(model)
    root = root_of(text)
    entry = root.get(name)
    assert entry is not None
    without = splice(text, [drop_part(entry, len(entry.members) - 1)])
    assert json.loads(without)[name] == {key: value for key, value in model[name].items() if key != LAST}
    entry = root_of(without).get(name)
    assert entry is not None
    back = splice(without, [add_member(without, entry, LAST, {"flag": "true"}, style_of(without, root_of(without)))])
    assert back == text


@given(st.lists(NAMES, min_size=1, max_size=4), SHAPES, st.lists(NAMES, min_size=1, max_size=3))
def test_items_are_appended_in_the_layout_of_the_others(names: list[str], shape: str, items: list[str]) -> None:
    way = WAYS[shape]
    text = way.write({"list": {"to-add": names}})
    root = root_of(text)
    array = root.members[0].value.members[0].value
    result = splice(text, [add_items(text, array, items, style_of(text, root))])
    assert result == way.write({"list": {"to-add": [*names, *items]}})


@given(st.lists(NAMES, min_size=1, max_size=4), SHAPES, st.data())
def test_an_item_is_dropped_with_its_comma_and_its_line(names: list[str], shape: str, data: st.DataObject) -> None:
    way = WAYS[shape]
    text = way.write({"list": {"to-add": names}})
    index = data.draw(st.integers(0, len(names) - 1))
    array = root_of(text).members[0].value.members[0].value
    result = splice(text, [drop_part(array, index)])
    assert result == way.write({"list": {"to-add": [name for at, name in enumerate(names) if at != index]}})


@given(st.lists(NAMES, min_size=2, max_size=6), SHAPES, st.data())
def test_several_items_are_dropped_as_one_by_one(names: list[str], shape: str, data: st.DataObject) -> None:
    way = WAYS[shape]
    text = way.write({"list": {"to-add": names}})
    indexes = sorted(data.draw(st.sets(st.integers(0, len(names) - 1), min_size=1, max_size=len(names) - 1)))
    array = root_of(text).members[0].value.members[0].value
    result = splice(text, drop_items(array, indexes))
    assert result == way.write({"list": {"to-add": [name for at, name in enumerate(names) if at not in indexes]}})


@pytest.mark.parametrize("shape", sorted(WAYS))
def test_a_list_is_added_beside_another_list(shape: str) -> None:
    """The neighbour's value is an object too, but of arrays, and so is the new one."""
    way = WAYS[shape]
    text = way.write({"black-list": {"to-add": ["Log", "Pow"]}})
    root = root_of(text)
    result = splice(text, [add_member(text, root, "white-list", {"to-add": ["Add"]}, style_of(text, root))])
    assert result == way.write({"black-list": {"to-add": ["Log", "Pow"]}, "white-list": {"to-add": ["Add"]}})


@pytest.mark.parametrize(
    "empty", ["{}", "{ }", "{\n}", "{\n\n    }"], ids=["no blanks", "blank", "newline", "blank line"]
)
def test_an_empty_object_with_any_blanks_gets_its_first_member(empty: str) -> None:
    text = '{\n    "a":' + empty + "\n}\n"
    root = root_of(text)
    result = splice(text, [add_member(text, root.members[0].value, "b", {"c": "d"}, style_of(text, root))])
    assert result == '{\n    "a":{\n        "b":{\n            "c":"d"\n        }\n    }\n}\n'


def test_keys_beyond_ascii_and_escapes_are_written_as_json() -> None:
    assert quote('a"\\\n\u4e2d\U0001f600') == '"a\\"\\\\\\n\u4e2d\U0001f600"'


@cases(
    "text, style",
    {
        "four blanks": ('{\n    "a":{}\n}', Style("    ", "\n", ":")),
        "tab and CRLF": ('{\r\n\t"a": {}\r\n}', Style("\t", "\r\n", ": ")),
        "one line": ('{"a":{}}', Style(None, "\n", ":")),
        "one line with a blank": ('{"a": {}}\n', Style(None, "\n", ": ")),
        "no indent": ('{\n"a": "b"\n}', Style("", "\n", ": ")),
        "empty object": ("{}", Style()),
        "empty object with CRLF": ("{}\r\n", Style(newline="\r\n")),
    },
)
def test_the_style_of_a_file_is_that_of_its_first_member(text: str, style: Style) -> None:
    assert style_of(text, root_of(text)) == style


def test_the_indent_of_a_line_is_found_if_the_text_begins_with_a_line_end() -> None:
    text = "\n    {}"
    root = scan(Source(text.encode(), "x")).root
    assert root is not None
    result = splice(text, [add_member(text, root, "b", {"c": "d"}, Style("    ", "\n", ": "))])
    assert result == '\n    {\n        "b": {\n            "c": "d"\n        }\n    }'
