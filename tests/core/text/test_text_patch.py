"""Edits as values, and fixes as edits."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raised

from opsinfo_cli.core.text.patch import Edit, Patch, splice
from opsinfo_cli.core.text.scanner import scan, syntax_patch
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged, Stale


def test_edits_are_applied_by_their_places_in_any_order() -> None:
    assert splice("abcdef", [Edit(4, 6, "X"), Edit(0, 1, ""), Edit(2, 2, "-")]) == "b-cdX"


def test_adjacent_edits_do_not_overlap() -> None:
    assert splice("abcd", [Edit(0, 2, "1"), Edit(2, 4, "2")]) == "12"


def test_an_insertion_before_a_replacement_at_the_same_place_comes_first() -> None:
    assert splice("abc", [Edit(1, 2, "Y"), Edit(1, 1, "X")]) == "aXYc"


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 3, "x"), Edit(2, 4, "y")],
        [Edit(0, 6, "x"), Edit(2, 3, "y")],
        [Edit(1, 2, "x"), Edit(1, 2, "y")],
        [Edit(5, 7, "x")],
        [Edit(-1, 1, "x")],
        [Edit(3, 2, "x")],
    ],
)
def test_edits_that_overlap_or_lie_outside_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps"):
        splice("abcdef", edits)


@given(st.text(max_size=30), st.data())
def test_text_outside_the_edits_is_unchanged(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6)))
    edits = [Edit(start, end, "\0") for start, end in zip(cuts[::2], cuts[1::2], strict=False)]
    starts, ends = [edit.start for edit in edits], [edit.end for edit in edits]
    kept = [text[a:b] for a, b in zip([0, *ends], [*starts, len(text)], strict=True)]
    assert splice(text, edits) == "\0".join(kept)


def test_a_patch_keeps_the_byte_order_mark_by_default() -> None:
    source = Source(b"\xef\xbb\xbf{}", "f")
    edits = (Edit(1, 1, " "),)
    assert Patch(source.sha256, edits).apply(source) == b"\xef\xbb\xbf{ }"
    assert Patch(source.sha256, edits, drop_bom=True).apply(source) == b"{ }"


def test_a_patch_without_edits_changes_nothing() -> None:
    assert not Patch("0", ())
    assert Patch("0", (), drop_bom=True)
    assert Patch("0", (Edit(0, 0, "x"),))


def fixed(text: str) -> str:
    source = Source(text.encode(), "f.json")
    return syntax_patch(scan(source)).apply(source).decode()


@pytest.mark.parametrize(
    "text",
    ["{'a': 1}", "", '["a', "[NaN]", '{"a": 1, // c\n "b": x}', "[01]", "// only\n"],
    ids=["single quotes", "empty", "cut off", "NaN", "fixable and unfixable", "leading zero", "comment alone"],
)
def test_a_text_with_an_unfixable_fault_is_refused(text: str) -> None:
    with pytest.raises(Damaged):
        fixed(text)


def test_the_reported_place_is_that_of_the_unfixable_fault() -> None:
    error = raised(Damaged, fixed, '{"a": 1, // c\n "b": x}')
    assert (error.line, error.column) == (2, 7)


COMMENTS = st.sampled_from(["", "", " ", "\n", "// c\n", " # c\n", "/* c */", "\n  // alone\n", " /* a\n b */ "])


@given(st.lists(st.sampled_from(["a", "b\\n", "\u4e2d", "//", "/* x */", "#"]), max_size=5), st.data())
def test_fixing_keeps_strings_and_is_idempotent(names: list[str], data: st.DataObject) -> None:
    filler = lambda: data.draw(COMMENTS)  # noqa: E731
    parts = [f'{filler()}"{name}"{filler()}' for name in names]
    gaps = [data.draw(st.sampled_from([",", " "])) for _ in parts]
    if gaps:
        gaps[-1] = data.draw(st.sampled_from(["", ","]))
    text = filler() + "[" + "".join(p + g for p, g in zip(parts, gaps, strict=True)) + filler() + "]" + filler()
    once = fixed(text)
    assert json.loads(once) == json.loads("[" + ",".join(f'"{name}"' for name in names) + "]")
    assert fixed(once) == once


def test_a_patch_for_another_text_is_refused_with_the_beginning_of_both_hashes() -> None:
    planned, now = Source(b"{}", "m.json"), Source(b"[]", "m.json")
    error = raised(Stale, Patch(planned.sha256, ()).apply, now)
    message = f"the file changed since the edit was planned: {planned.sha256[:12]} then, {now.sha256[:12]} now"
    assert (error.message, error.path, error.hint) == (message, "m.json", "plan the change again")
