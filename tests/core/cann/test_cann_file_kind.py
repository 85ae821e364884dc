"""Which files of a tree are recognised, and what may be known of that before their JSON is read."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opsinfo_cli.core.cann.file_kind import foreign_of, is_marked, may_be_recognised
from opsinfo_cli.core.cann.foreign_files import KERNEL_INDEX
from opsinfo_cli.core.text.members import read_members
from opsinfo_cli.core.text.source import Source

KEYS = (
    *("white-list", "black-list", "gray-list", "grey_list", "Trust List", "blocklist", "blackli\u017ft"),
    *("blac\u212a-list", "to-add", "to_add", "To Remove", "toadd", "add", "remove", "precision_reduce", "flag"),
    *("input", "input0", "Output12", "output1", "inputs", "paramType", "dtype", "type", "name", "op", "input_desc"),
    *("opInfo", "engine", "DNN_VM_AICPU", "AIcoreEngine", "binaryList", "binFileName", "kernelName", "binList"),
    *("op_type", "op_list", "server_count", "server_list", "group_count", "group_list", "file_list", "images"),
)
"""Keys by which files are recognised, near ones, and keys of other tools."""
RECOGNISED = (
    {"black-list": {"to-add": ["Add"]}},
    *({"file_list": [], key: {}} for key in ("blac\u212a-list", "whiteli\u017ft", "grayl\u0131st", "TRUST L\u0130ST")),
    {"file_list": {"To Add": ["Add"]}},
    {"Add": {"input0": {"dtype": "float16"}}},
    {"Add": {"Output": {"name": "y"}}},
    {"Add": {"precision_reduce": {"flag": "true"}}},
    {"Add": {"opInfo": {"engine": "DNN_VM_AICPU"}}},
    {"Add": {"binaryList": []}},
    {"binFileName": "a", "kernelName": "b"},
    {"binList": []},
    {"op_type": "Add", "op_list": []},
    {"server_count": "1", "server_list": []},
    {"group_count": "1", "group_list": []},
    [{"op": "Add", "input_desc": []}],
)
VALUES = st.recursive(
    st.sampled_from([*KEYS, *RECOGNISED, "true", 1, None, False]),
    lambda inner: (
        st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
        | st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(KEYS), st.dictionaries(st.sampled_from(KEYS), inner, min_size=1), min_size=1)
    ),
    max_leaves=12,
)
NAMES = st.sampled_from(["a.json", KERNEL_INDEX, "mixlist.json"])


def spelled(text: str, chance: random.Random) -> str:
    """Write some characters of a JSON text as escapes, and damage some texts."""
    out, inside = [], False
    for character in text:
        inside ^= character == '"'
        is_letter = inside and character not in '"\\u' and text.isascii()
        out.append(f"\\u{ord(character):04x}" if is_letter and chance.random() < 0.02 else character)
    text = "".join(out)
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        at = chance.randrange(len(text) + 1)
        before, after = text[:at], text[at:]
        text = chance.choice((before, f"{before}// note\n{after}", before + after[1:], f"\ufeff{text}"))
    return text


def source_of(text: str, name: str = "a.json") -> Source:
    return Source(text.encode("utf-8", "surrogatepass"), name, strict=False)


@settings(max_examples=400)
@given(VALUES, st.booleans(), st.randoms(use_true_random=False), NAMES)
def test_no_file_is_passed_over_unread_that_would_be_recognised(
    value: object, is_ascii: bool, chance: random.Random, name: str
) -> None:
    source = source_of(spelled(json.dumps(value, ensure_ascii=is_ascii), chance), name)
    outcome = read_members(source)
    if is_marked(source, outcome) or foreign_of(source, outcome):
        assert may_be_recognised(source)


@pytest.mark.parametrize("content", RECOGNISED, ids=str)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_each_kind_is_recognised(content: object, is_ascii: bool) -> None:
    source = source_of(json.dumps(content, ensure_ascii=is_ascii))
    assert is_marked(source) or foreign_of(source)
    assert may_be_recognised(source)


def test_an_ini_with_a_name_of_json_is_recognised() -> None:
    source = source_of("[Add]\nopInfo.engine=DNN_VM_AICPU\n")
    assert foreign_of(source)
    assert may_be_recognised(source)


def test_json_of_another_tool_is_passed_over_unread() -> None:
    text = json.dumps({"images": [{"file_name": "1.jpg"}], "file_list": ["a"], "\u00fcber": "input0.png"})
    assert not may_be_recognised(source_of(text))
