"""Uniform texts, read in pieces, give the result of the exact reader."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opsinfo_cli.text import uniform_members
from opsinfo_cli.text.document import Document, Node
from opsinfo_cli.text.json_values import Members, value_of
from opsinfo_cli.text.members import read_members
from opsinfo_cli.text.scanner import scan
from opsinfo_cli.text.source import Source
from opsinfo_cli.text.uniform_members import regular_members

TEMPTING = ["}},", '"}},"', '"', "{", "}", ",", ":", "\\", "\\u0022", " ", "\n", "Add", "Mul", "x", "名", ""]
WORDS = st.lists(st.sampled_from(TEMPTING), max_size=3).map("".join)
ENTRY = st.dictionaries(WORDS, st.dictionaries(WORDS, WORDS, min_size=1, max_size=2), min_size=1, max_size=2)
ENTRIES = st.dictionaries(WORDS, ENTRY, min_size=2, max_size=6)
INDENTS = st.sampled_from([None, 0, 1, 4, "\t"])
PIECES = st.sampled_from([1, 10, 60, 1 << 17])
ODD = ["", '"', "{", "}", ",", ":", "\\", " ", "x", "null", '"Add":{"a":{"b":"c"}},', '"a":null,', ',"Add":{}', "}}"]


def has_twins(node: Node) -> bool:
    if node.kind != "object":
        return False
    names = [member.name for member in node]
    return len(set(names)) != len(names) or any(has_twins(member.value) for member in node)


def agree(text: str) -> None:
    source = Source(text.encode("utf-8", "surrogatepass"), "f.json")
    outcome, exact = read_members(source), scan(source)
    if isinstance(outcome, Document):
        assert outcome.faults == exact.faults != []
        return
    assert exact.faults == []
    root = exact.require_root()
    assert (outcome.start, outcome.end) == (root.start, root.end)
    if outcome.members is None:
        return
    assert [(m.key, m.key_start, m.key_end, m.start, m.end, m.has_duplicates) for m in outcome.members] == [
        (m.name, m.key.start, m.key.end, m.value.start, m.value.end, has_twins(m.value)) for m in root
    ]
    for read, member in zip(outcome.members, root, strict=True):
        if read.is_sound:
            assert read.value == json.loads(text[member.value.start : member.value.end])


@given(ENTRIES, INDENTS, PIECES, st.booleans())
@example({"Add": {"a": {"b": '"}},'}}, "Mul": {"a": {"b": "c"}}, "Sub": {"a": {"b": "c"}}}, None, 1, False)
def test_a_uniform_text_is_read_as_by_the_exact_reader(
    entries: dict[str, Any], indent: int | str | None, piece: int, escapes: bool
) -> None:
    with mock.patch.object(uniform_members, "_PIECE", piece):
        agree(json.dumps(entries, indent=indent, ensure_ascii=escapes))


@given(ENTRIES, INDENTS, PIECES, st.data())
def test_a_uniform_text_with_one_change_is_read_as_by_the_exact_reader(
    entries: dict[str, Any], indent: int | str | None, piece: int, data: st.DataObject
) -> None:
    text = json.dumps(entries, indent=indent, ensure_ascii=False)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 3)))
    with mock.patch.object(uniform_members, "_PIECE", piece):
        agree(text[:start] + data.draw(st.sampled_from(ODD)) + text[end:])


@given(ENTRIES, INDENTS, PIECES, st.data())
def test_a_uniform_text_with_a_repeated_member_is_read_as_by_the_exact_reader(
    entries: dict[str, Any], indent: int | str | None, piece: int, data: st.DataObject
) -> None:
    names = list(entries)
    again = data.draw(st.sampled_from(names))
    gap = data.draw(st.sampled_from([",", ", ", ",\n    ", " ,"]))
    value = data.draw(st.sampled_from([entries[again], {}, {"a": {}}, None, "x"]))
    text = json.dumps(entries, indent=indent, ensure_ascii=False)
    closing = text.rindex("}")
    with mock.patch.object(uniform_members, "_PIECE", piece):
        agree(text[:closing].rstrip() + gap + f"{json.dumps(again)}:{json.dumps(value)}" + text[closing:])


@given(ENTRIES, PIECES, st.sampled_from([*"\x00\x0b\x0c\x1d\x85\u00a0\u2028\ufeff", "\\n", "//"]))
@example({"Add": {"a": {"b": "c"}}, "Log": {"a": {"b": "c"}}}, 1, "\x1d")
def test_characters_that_only_look_blank_are_not_blanks_between_members(
    entries: dict[str, Any], piece: int, blank: str
) -> None:
    with mock.patch.object(uniform_members, "_PIECE", piece):
        agree(json.dumps(entries, separators=("," + blank, ":"), ensure_ascii=False))


@given(ENTRIES, ENTRIES, INDENTS, PIECES, st.sampled_from(["", " ", "\n", ",", "}", '"']))
@example(
    {"Add": {"a": {"b": "c"}}, "Log": {}, "Pow": {}},
    {"Add": {"a": {"b": "c"}}, "Pow": {"a": {"b": "c"}}, "Log": {"a": {"b": "c"}}},
    4,
    1 << 17,
    "",
)
def test_text_after_the_root_is_not_read(
    entries: dict[str, Any], others: dict[str, Any], indent: int | str | None, piece: int, between: str
) -> None:
    with mock.patch.object(uniform_members, "_PIECE", piece):
        agree(json.dumps(entries, indent=indent) + between + json.dumps(others, indent=indent))


@pytest.mark.parametrize("piece", [1, 300, 1 << 17])
@pytest.mark.parametrize("indent", [None, 4, "\t"], ids=["one line", "blanks", "tabs"])
def test_the_judge_is_called_for_every_value_in_order(piece: int, indent: int | str | None) -> None:
    entries = {f"Op{number}": {"input0": {"name": f"x{number}"}} for number in range(40)}
    text = json.dumps(entries, indent=indent)
    asked: list[int] = []

    def judge(value: Any) -> str:
        asked.append(1)
        return str(value["input0"]["name"])

    with mock.patch.object(uniform_members, "_PIECE", piece):
        found = regular_members(text, 0, text.index('"'), judge)
    assert isinstance(found, Members)
    assert found.members is not None
    assert [(member.key, member.judged) for member in found.members] == [(f"Op{n}", f"x{n}") for n in range(40)]
    assert sum(asked) == 40
    assert found.names == {"input0", "name"}


@pytest.mark.parametrize("piece", [1, 300, 1 << 17])
@pytest.mark.parametrize("indent", [None, 4, "\t"])
def test_a_value_that_was_not_kept_is_read_again(piece: int, indent: int | str | None) -> None:
    entries = {f"Op{number}": {"input0": {"name": f"x{number}\n\\"}} for number in range(40)}
    text = json.dumps(entries, indent=indent)

    def judge(value: Any) -> bool | None:
        return value["input0"]["name"].startswith("x1") or None

    with mock.patch.object(uniform_members, "_PIECE", piece):
        found = regular_members(text, 0, text.index('"'), judge, keeps=False)
    assert found is not None
    assert found.members is not None
    assert {member.key: value_of(text, member) for member in found.members} == entries
    assert [member.value is None for member in found.members] == [f"{n}".startswith("1") for n in range(40)]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": {"c": "d"}}, "a": {"b": {"c": "d"}}}',
        '{"a": {"b": {"c": "d", "c": "e"}}, "f": {"b": {"c": "d"}}}',
        '{"a": {"b": {"c": "d"}}, "f": {"b": {"c": 1}}}',
        '{"a": {"b": {"c": "d"}}, "f": {"b": {}}, "g": {"b": {"c": "d"}}}',
        '{"a": {"b": {"c": "\\u0022"}}, "f": {"b": {"c": "d"}}}',
        '{"a": {"b": {"c": "d"}}, ":f": {"b": {"c": "d"}}}',
        '{"a": {"b": {"c": "d"}}}',
    ],
    ids=["op type twice", "key twice", "number", "empty section", "escaped quote", "colon in a name", "one member"],
)
def test_a_text_that_is_not_uniform_is_left_to_the_other_readers(text: str) -> None:
    assert regular_members(text, 0, 1, None) is None
    agree(text)
