"""Plans: requests, refusals, and the proof that stops a broken edit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raised
from tables import cases

from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.cann.marks import Mark
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change import plan as moves
from opsinfo_cli.core.change.fmt import BuildPlan, FmtPlan
from opsinfo_cli.core.change.plan import LibraryPlan, MixlistPlan, prove_library
from opsinfo_cli.core.text.patch import Edit
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged, Refused, Stale, UsageFault

TEXT = '{"Add":{"opFile":{"value":"a"},"precision_reduce":{"flag":"true"}},"Log":{"opFile":{"value":"l"}}}'


def source_of(text: str) -> Source:
    return Source(text.encode(), "f.json")


def moved(text: str, **policies: str) -> str:
    """The text after the moves, with the proof run."""
    source = source_of(text)
    plan = LibraryPlan({name: Policy(policy) for name, policy in policies.items()})
    result = source_of(plan.patch(source).apply(source).decode())
    plan.prove(source, result)
    return result.text


def test_the_moves_have_the_policy_before() -> None:
    plan = LibraryPlan({"Add": Policy.BLACK, "Log": Policy.GRAY})
    assert [tuple(map(str, move)) for move in plan.moves(source_of(TEXT))] == [
        ("Add", "white", "black"),
        ("Log", "gray", "gray"),
    ]


def test_marks_have_the_effect_on_the_policy_at_the_time_of_writing() -> None:
    plan = LibraryPlan({"Add": frozenset({Mark("to-remove", Policy.WHITE)}), "Log": frozenset({REMOVE_BLACK})})
    assert [tuple(map(str, move)) for move in plan.moves(source_of(TEXT))] == [
        ("Add", "white", "gray"),
        ("Log", "gray", "gray"),
    ]
    assert "`Log`" in raised(Stale, plan.moves, source_of('{"Add":{}}')).message


REMOVE_BLACK = Mark("to-remove", Policy.BLACK)
NAMES = st.sampled_from(["Add", "Log", "Mul", "Pow", "a/b", "\u4e2d"])
SECTIONS = st.sampled_from(["attr", "input0", "opFile", "precision_reduce", "slicePattern", "zzz"])
CONTENT = st.dictionaries(
    st.sampled_from(["flag", "name", "value"]), st.sampled_from(["", "true", "False"]), max_size=2
)
LIBRARIES = st.dictionaries(NAMES, st.dictionaries(SECTIONS, CONTENT, max_size=4), min_size=1, max_size=4)
WRITERS = st.sampled_from(
    [
        {"indent": 4, "separators": (",", ":"), "sort_keys": True},
        {"indent": 2},
        {"indent": "\t", "separators": (",", " : ")},
        {"separators": (",", ":")},
        {},
    ]
)


@given(LIBRARIES, WRITERS, st.booleans(), st.data())
def test_any_moves_give_the_requested_policies_and_nothing_else(
    content: dict[str, Any], style: dict[str, Any], crlf: bool, data: st.DataObject
) -> None:
    text = json.dumps(content, **style)
    if crlf:
        text = text.replace("\n", "\r\n")
    names = data.draw(st.lists(st.sampled_from(sorted(content)), min_size=1, unique=True))
    wanted = {name: data.draw(st.sampled_from(Policy)) for name in names}
    before = Library.of(source_of(text))
    result = moved(text, **{name: policy.value for name, policy in wanted.items()})
    after = Library.of(source_of(result))
    assert list(after.entries) == list(before.entries)
    for name, entry in after.entries.items():
        old = before.entries[name]
        assert entry.policy is wanted.get(name, old.policy)
        assert _others(entry.value) == _others(old.value)
        if name not in wanted or wanted[name] is old.policy:
            assert result[entry.member.start : entry.member.end] == text[old.member.start : old.member.end]
    assert moved(result, **{name: policy.value for name, policy in wanted.items()}) == result
    assert ("\r" in result) == ("\r" in text)


def _others(sections: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    kept = {name: dict(content) for name, content in sections.items()}
    kept.get("precision_reduce", {}).pop("flag", None)
    if not kept.get("precision_reduce", {"x": "y"}):
        del kept["precision_reduce"]
    return kept


@cases(
    "text, lines",
    {
        "entry": ('{\n"Add":{},\n"Log":{},\n"Add":{}}', "2 and 4"),
        "section": ('{"Add":{\n"precision_reduce":{"flag":"true"},\n"precision_reduce":{"flag":"true"}}}', "2 and 3"),
        "flag": ('{"Add":{"precision_reduce":{\n"flag":"true",\n"flag":"true"}}}', "2 and 3"),
    },
)
def test_a_key_that_appears_twice_is_not_edited_and_both_lines_are_named(text: str, lines: str) -> None:
    error = raised(Refused, moved, text, Add="black")
    assert error.name == "duplicate-key"
    assert lines in error.message


@pytest.mark.parametrize("to", ["black", "gray"])
@cases(
    "text",
    {
        "a blank section first": '{"Add":{" precision_reduce":{"flag":"true"},"precision_reduce":{"flag":"true"}}}',
        "a blank section last": '{"Add":{"precision_reduce":{"flag":"true"}," precision_reduce":{"flag":"true"}}}',
        "key with a blank": '{"Add":{"precision_reduce":{" flag":"true","flag":"true"}}}',
        "two flags": '{"Add":{"precision_reduce":{"flag":"true"},"precision_reduce ":{"flag":"false"}}}',
    },
)
def test_two_spellings_of_one_name_are_refused_with_the_reason(text: str, to: str) -> None:
    """The engine trims names, so that each is the other's duplicate."""
    assert raised(Refused, moved, text, Add=to).name == "duplicate-key"


def test_a_duplicate_of_another_op_type_does_not_block() -> None:
    text = '{"Add":{"precision_reduce":{"flag":"true"}},"Log":{"x":{},"x":{}},"Pow":{},"Pow":{}}'
    assert moved(text, Add="black") == text.replace("true", "false")


def test_another_repeated_section_in_the_entry_does_not_block() -> None:
    text = '{"Add":{"x":{"a":"1"},"x":{"a":"2"},"precision_reduce":{"flag":"true"}}}'
    assert moved(text, Add="black") == text.replace("true", "false")


def test_a_damaged_library_is_not_edited() -> None:
    for text in ('{"Add":{},}', '{"Add":{"x":1}}', '{"Add ":{}}', "[]", ""):
        with pytest.raises(Damaged):
            LibraryPlan({"Add": Policy.BLACK}).patch(source_of(text))


# the proof


@cases(
    "broken",
    {
        "syntax": lambda text, at: Edit(at, at + 6, '"false'),
        "no change": lambda text, at: Edit(at, at + 6, '"true"'),
        "other section": lambda text, at: Edit(text.index('"opFile"'), text.index('"opFile"') + 8, '"opFile2"'),
        "other entry": lambda text, at: Edit(text.index('"l"'), text.index('"l"') + 3, '"m"'),
        "name": lambda text, at: Edit(text.index('"Log"'), len(text) - 1, '"Pow":{}'),
        "entry lost": lambda text, at: Edit(text.index(',"Log"'), len(text) - 1, ""),
        "after the end": lambda text, at: Edit(len(text), len(text), "\n"),
        "before": lambda text, at: Edit(0, 0, " "),
    },
)
def test_a_broken_edit_is_stopped_by_the_proof(broken: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def set_flag(library: Library, *_: Any) -> Edit:
        text = library.source.text
        edit: Edit = broken(text, text.index('"true"'))
        return edit

    monkeypatch.setattr(moves, "_set_flag", set_flag)
    with pytest.raises(Refused):
        moved(TEXT, Add="black")


def test_a_correct_edit_with_another_change_is_stopped_too() -> None:
    result = moved(TEXT, Add="black")
    for more in (result + "\n", " " + result, result.replace('"l"', '"m"'), result.replace('"a"', '"b"'), TEXT):
        error = raised(Refused, prove_library, Library.of(source_of(TEXT)), source_of(more), {"Add": Policy.BLACK})
        assert error.name == "proof-failed"


def test_a_broken_edit_of_a_mixlist_is_stopped_by_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of('{"black-list": {"to-add": ["Log"]}}')
    plan = MixlistPlan({"Add": Policy.BLACK})
    for wrong in (
        '{"black-list": {"to-add": ["Add"]}}',
        '{"black-list": {"to-add": ["Log", "Add", "X"]}}',
        source.text,
    ):
        assert raised(Refused, plan.prove, source, source_of(wrong)).name == "proof-failed"
    monkeypatch.setattr(moves, "add_items", lambda *_: Edit(0, 0, " "))
    result = source_of(plan.patch(source).apply(source).decode())
    with pytest.raises(Refused):
        plan.prove(source, result)


# mixlists


@pytest.mark.parametrize(
    "text",
    ['{"black-list": {"to-add": ["A",]}}', '{"grey-list": {}}', "[]", ""],
    ids=["trailing comma", "unknown list", "not an object", "empty"],
)
def test_a_mixlist_that_the_engine_would_refuse_is_not_edited(text: str) -> None:
    with pytest.raises(Damaged):
        MixlistPlan({"Add": Policy.BLACK}).patch(source_of(text))


def test_gray_without_a_library_needs_marks_to_drop() -> None:
    with pytest.raises(UsageFault) as caught:
        MixlistPlan({"Add": Policy.GRAY}).patch(source_of('{"black-list": {"to-add": ["Log"]}}'))
    assert caught.value.exit_code == 2
    assert "--against" in str(caught.value.hint)


@cases(
    "text, lines",
    {
        "list": ('{\n"black-list": {"to-add": ["Log"]},\n"black-list": {"to-add": ["Add"]}}', ("2", "3")),
        "action": ('{"black-list": {\n"to-add": ["Log"],\n"to-add": ["Add"]}}', ("2", "3")),
    },
)
def test_a_repeated_list_is_not_edited_and_both_lines_are_named(text: str, lines: tuple[str, str]) -> None:
    error = raised(Refused, MixlistPlan({"Add": Policy.WHITE}).patch, source_of(text))
    assert error.name == "duplicate-key"
    assert all(line in error.message for line in lines)


ITEMS = st.lists(st.sampled_from(["Add", "Log", "Mul"]), max_size=3)
MIXLISTS = st.dictionaries(
    st.sampled_from(["black-list", "white-list", "gray-list"]),
    st.dictionaries(st.sampled_from(["to-add", "to-remove"]), ITEMS, max_size=2),
    max_size=3,
)


@given(MIXLISTS, WRITERS, st.sampled_from(["Add", "Log", "Pow"]), st.sampled_from(Policy), st.sampled_from(Policy))
def test_a_move_against_a_library_reaches_the_policy_and_leaves_the_other_marks(
    content: dict[str, Any], style: dict[str, Any], name: str, library: Policy, to: Policy
) -> None:
    source = source_of(json.dumps(content, **style))
    plan = MixlistPlan({name: to}, {name: library})
    try:
        before = Mixlist(scan(source))
    except Damaged:
        with pytest.raises(Damaged):
            plan.patch(source)
        return
    result = source_of(plan.patch(source).apply(source).decode())
    plan.prove(source, result)
    after = Mixlist(scan(result))
    assert after.effective(name, library) is to
    assert {op: marks for op, marks in after.marks.items() if op != name} == {
        op: marks for op, marks in before.marks.items() if op != name
    }
    assert len(after.marks_of(name)) <= 1
    assert Mark("to-add", Policy.GRAY) not in after.marks_of(name)
    assert not plan.patch(result)
    empty = [(key, action) for key, lists in content.items() for action, names in lists.items() if not names]
    for key, lists in json.loads(result.text).items():
        assert lists or content.get(key) == {}
        for action, names in lists.items():
            assert names or (key, action) in empty


# fixing and building


def test_fixing_a_correct_file_changes_nothing() -> None:
    assert not FmtPlan().patch(source_of('{"black-list": {}}\n'))


def test_a_wrong_fix_is_stopped_by_the_proof() -> None:
    source = source_of('["a",]')
    for wrong in ('["b"]', "[]", '["a",]', '["a"] x'):
        with pytest.raises(Refused):
            FmtPlan().prove(source, source_of(wrong))
    FmtPlan().prove(source, source_of('["a"]'))


def test_a_file_is_built_from_another_text() -> None:
    source = Source(b"\xef\xbb\xbf{}\n", "f.json")
    plan = BuildPlan('{"black-list": {}}\n')
    result = Source(plan.patch(source).apply(source), "f.json")
    assert result.data == b'{"black-list": {}}\n'
    plan.prove(source, result)
    assert not plan.patch(result)
    for wrong in (source, source_of('{"black-list": {} }\n'), Source(b"\xef\xbb\xbf" + result.data, "f.json")):
        with pytest.raises(Refused):
            plan.prove(source, wrong)
