"""The fast reader gives the standard library's result, and leaves doubtful texts to the exact reader."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import cases

from opsinfo_cli.core.text.members import Members, RawMember, _exact, read_members
from opsinfo_cli.core.text.scanner import Document, scan
from opsinfo_cli.core.text.source import Source

BLANKS = ["", "", "", " ", "\n", "\r\n", "\t", "  \n\t "]


def source_of(text: str) -> Source:
    return Source(text.encode("utf-8"), "f.json")


def members_of(text: str) -> list[RawMember]:
    outcome = read_members(source_of(text))
    assert isinstance(outcome, Members)
    assert outcome.members is not None
    return outcome.members


def spread(value: Any, pick: random.Random) -> str:
    """JSON with blanks and escapes at all allowed places."""

    def blank() -> str:
        return pick.choice(BLANKS)

    if isinstance(value, dict):
        parts = [f"{blank()}{spread(k, pick)}{blank()}:{blank()}{spread(v, pick)}{blank()}" for k, v in value.items()]
        return "{" + (",".join(parts) or blank()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(f"{blank()}{spread(item, pick)}{blank()}" for item in value) or blank()) + "]"
    return json.dumps(value, ensure_ascii=pick.random() < 0.5)


def as_floats(value: Any) -> Any:
    """Numbers compared as floats: both readers keep their text, which `json` does not."""
    if isinstance(value, dict):
        return {key: as_floats(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_floats(each) for each in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    return value


def agrees(read: Any, loaded: Any) -> bool:
    """Whether a value read by the fast reader, whose numbers keep their text, is what `json` loads."""
    if isinstance(loaded, dict):
        return isinstance(read, dict) and list(read) == list(loaded) and all(agrees(read[k], loaded[k]) for k in loaded)
    if isinstance(loaded, list):
        return isinstance(read, list) and len(read) == len(loaded) and all(map(agrees, read, loaded))
    if isinstance(loaded, (int, float)) and not isinstance(loaded, bool):
        return not isinstance(read, str) and float(repr(read)) == float(loaded)
    return type(read) is type(loaded) and bool(read == loaded)


WORDS = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, VALUES, max_size=6), st.integers(0, 2**32))
def test_the_readers_agree_with_the_standard_library_and_their_spans_hold(value: dict[str, Any], seed: int) -> None:
    pick = random.Random(seed)
    text = pick.choice(BLANKS) + spread(value, pick) + pick.choice(BLANKS)
    loaded = json.loads(text)
    members = members_of(text)
    assert [member.key for member in members] == list(loaded)
    for member in members:
        assert agrees(member.value, loaded[member.key])
        assert json.loads(text[member.key_start : member.key_end]) == member.key
        assert as_floats(json.loads(text[member.start : member.end])) == as_floats(loaded[member.key])
        assert not member.has_duplicates
    document = scan(source_of(text))
    assert document.faults == []
    assert document.require_root().plain() == as_floats(loaded)
    assert document.tail is None
    assert [(m.key.start, m.key.end, m.value.start, m.value.end) for m in document.require_root()] == [
        (m.key_start, m.key_end, m.start, m.end) for m in members
    ]


@cases(
    "text",
    {
        "nullAdd": "nullAdd",
        "true_": "true_",
        "false1": "false1",
        "null null": "null null",
        "null and a comma": "null,",
        "null and a dash": "null-",
        "1a": "1a",
        "1.": "1.",
        "01": "01",
        "1+": "1+",
        "1 a": "1 a",
        "string and a letter": '"a"b',
    },
)
def test_text_with_only_a_valid_prefix_is_refused_by_both_readers(text: str) -> None:
    outcome, document = read_members(source_of(text)), scan(source_of(text))
    assert isinstance(outcome, Document) is bool(document.faults)


@given(st.dictionaries(WORDS, VALUES, max_size=3), st.integers(0, 2**32), st.data())
def test_a_text_with_one_character_changed_is_read_by_both_or_by_neither(
    value: dict[str, Any], seed: int, data: st.DataObject
) -> None:
    text = spread(value, random.Random(seed))
    at = data.draw(st.integers(0, len(text) - 1))
    put = data.draw(st.sampled_from(["", '"', "{", "}", "[", "]", ",", ":", "\\", "\n", "0", "-", ".", "e", "/", "u"]))
    changed = text[:at] + put + text[at + 1 :]
    outcome = read_members(source_of(changed))
    document = scan(source_of(changed))
    if isinstance(outcome, Document):
        assert document.faults
        assert outcome.faults == document.faults
    else:
        assert document.faults == []
        assert (outcome.start, outcome.end) == (document.require_root().start, document.require_root().end)


def test_the_last_of_equal_keys_in_an_entry_is_read_and_marked() -> None:
    first, second = members_of('{"a": {"x": 1, "x": 2}, "b": {"x": 1}}')
    assert repr(first.value) == "{'x': 2}"
    assert (first.has_duplicates, second.has_duplicates) == (True, False)


def test_equal_keys_at_the_top_are_all_kept() -> None:
    assert [(m.key, m.value) for m in members_of('{"a": "1", "b": "2", "a": "3"}')] == [
        ("a", "1"),
        ("b", "2"),
        ("a", "3"),
    ]


@pytest.mark.parametrize(
    "text",
    ["[]", '"a"', "1", "null", '[{"a": 1}]'],
    ids=["empty array", "string", "number", "null", "array of an object"],
)
def test_a_root_that_is_not_an_object_has_no_members(text: str) -> None:
    outcome = read_members(source_of(" " + text))
    assert isinstance(outcome, Members)
    assert outcome.members is None
    assert (outcome.start, outcome.end) == (1, 1 + len(text))


def test_an_empty_object_has_no_members() -> None:
    outcome = read_members(source_of("{ }"))
    assert isinstance(outcome, Members)
    assert outcome.members == []
    assert (outcome.start, outcome.end) == (0, 3)


@pytest.mark.parametrize(
    "tail",
    ["}", " {", "\n// x", '"\\ud800"', '"\\ud8', '"\\udc00" \'', "NaN", "[" * 100_000],
    ids=["brace", "open brace", "comment", "lone surrogate", "cut escape", "quotes", "NaN", "deep nesting"],
)
def test_text_after_the_value_has_no_effect_on_reading(tail: str) -> None:
    text = '{"a": "b"}'
    outcome = read_members(source_of(text + " " + tail))
    assert isinstance(outcome, Members)
    assert outcome.end == len(text)


@pytest.mark.parametrize(
    "value",
    ["NaN", "-Infinity", "Infinity", '"\\ud800"', '"\\udc00\\ud800"', "01", "'x'"],
    ids=["NaN", "-Infinity", "Infinity", "high half", "halves in the wrong order", "leading zero", "single quotes"],
)
def test_texts_that_the_standard_scanner_accepts_wrongly_go_to_the_exact_one(value: str) -> None:
    outcome = read_members(source_of(f'{{"a": {value}}}'))
    assert isinstance(outcome, Document)
    assert outcome.faults


@cases(
    "written, is_whole",
    {
        "pairs": ("\\ud83d\\ude00" * 3000, True),
        "pair after other escapes": ("\\n" * 3000 + "\\ud83d\\ude00", True),
        "high half at the end": ("\\ud83d\\ude00" * 3000 + "\\ud83d", False),
        "low half at the end": ("\\ud83d\\ude00" * 3000 + "\\ude00", False),
        "two high halves": ("\\ud83d\\ud83d\\ude00", False),
        "blank inside": ("\\ud83d \\ude00", False),
        "newline inside": ("\\ud83d\\n\\ude00", False),
        "backslash inside": ("\\ud83d\\\\ude00", False),
        "escaped backslash": ("\\\\ud83d", True),
        "escaped backslash before a half": ("\\\\\\ud83d", False),
        "neighbours of the range": ("\\ud7ff\\ue000\\uD83D\\uDE00", True),
    },
)
def test_lone_surrogates_are_distinguished_from_pairs_everywhere(written: str, is_whole: bool) -> None:
    for text in (
        f'{{"Add": {{"op": {{"x": "{written}"}}}}}}',
        f'{{"{written}": {{}}}}',
        f'{{"a": {{}}, "b{written}": {{}}}}',
    ):
        assert isinstance(read_members(source_of(text)), Members) is is_whole
        assert (scan(source_of(text)).faults == []) is is_whole


@pytest.mark.parametrize("depth", [130, 500, 900, 5000, 100_000])
def test_both_readers_have_the_same_depth_limit(depth: int) -> None:
    text = '{"a":' + "[" * depth + "]" * depth + "}"
    outcome = read_members(source_of(text))
    assert isinstance(outcome, Document)
    assert [fault.name for fault in outcome.faults] == ["syntax"]


def test_a_number_of_5000_digits_is_read_fast() -> None:
    (member,) = members_of('{"a": 0.' + "7" * 5000 + "}")
    assert repr(member.value) == "0." + "7" * 5000
    assert type(member.value) is not str


def test_the_exact_reader_gives_the_members_of_an_object_and_their_places() -> None:
    text = '{"a": {"b": 1, "b": 2}, "c": 2.5}'
    document = scan(source_of(text))
    assert document.root is not None
    found = _exact(document.root)
    assert found.members is not None
    assert [(each.key, text[each.start : each.end]) for each in found.members] == [
        ("a", '{"b": 1, "b": 2}'),
        ("c", "2.5"),
    ]
    array = scan(source_of("[1]"))
    assert array.root is not None
    assert _exact(array.root) == Members(None, 0, 3)


REPEATS = {
    '{"x": 1, "x": 2}': True,
    '{"x": 1, "y": {"x": 1}}': False,
    '{"y": {"x": 1, "z": 2, "x": 1}}': True,
    '[[{"x": 1}, {"x": 1, "x": 1}]]': True,
    '[{"x": {"x": 1}}, {"x": {"y": []}}]': False,
}


@pytest.mark.parametrize("value", REPEATS)
def test_both_readers_find_a_repeated_key_at_any_depth_of_a_value(value: str) -> None:
    text = f'{{"before": {{}}, "a": {value}, "behind": 1}}'
    document = scan(source_of(text))
    exact = _exact(document.require_root()).members
    assert exact is not None
    for members in (exact, members_of(text)):
        assert [member.has_duplicates for member in members] == [False, REPEATS[value], False]
