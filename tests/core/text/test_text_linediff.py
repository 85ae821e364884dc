"""Differing lines: correct for any two texts, and bounded where the standard library's matcher takes minutes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.core.text.patch import changed_lines

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=40)


@given(LINES, LINES)
def test_the_differing_blocks_turn_the_old_text_into_the_new_one(old: list[str], new: list[str]) -> None:
    at = new_at = 0
    for changed in changed_lines(old, new):
        assert changed.start < changed.end or changed.new_start < changed.new_end
        assert old[at : changed.start] == new[new_at : changed.new_start]
        at, new_at = changed.end, changed.new_end
    assert old[at:] == new[new_at:]


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("abc", "abc", []),
        ("", "ab", [(0, 0, 0, 2)]),
        ("abcd", "axcd", [(1, 2, 1, 2)]),
        ("abcdef", "acdxef", [(1, 2, 1, 1), (4, 4, 3, 4)]),
        ("aaab", "aab", [(2, 3, 2, 2)]),
        ("xaybz", "xcydz", [(1, 2, 1, 2), (3, 4, 3, 4)]),
    ],
)
def test_unchanged_lines_are_not_reported_as_changed(old: str, new: str, changes: list[tuple[int, ...]]) -> None:
    assert [tuple(each) for each in changed_lines(old, new)] == changes


@given(st.sets(st.integers(0, 99)), st.sets(st.integers(0, 99)))
def test_of_a_text_with_different_lines_only_what_was_removed_or_added_is_changed(
    removed: set[int], added: set[int]
) -> None:
    old = [str(number) for number in range(100)]
    new = [line for at in range(100) for line in ["new"] * (at in added) + [old[at]] * (at not in removed)]
    changes = list(changed_lines(old, new))
    assert [at for each in changes for at in range(each.start, each.end)] == sorted(removed)
    assert sum(each.new_end - each.new_start for each in changes) == len(added)


def test_two_changes_far_apart_in_a_long_text_are_two_blocks() -> None:
    old = [line for number in range(5000) for line in ("{", f'"{number}": "float16",', '"format": "ND"', "},")]
    new = [*old]
    new[100], new[19_000:19_000] = "changed", ["added", "added"]
    assert [tuple(each) for each in changed_lines(old, new)] == [(100, 101, 100, 101), (19_000, 19_000, 19_000, 19_002)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["x"] * 20_000, [*["x"] * 20_000, "y"]),
        (["x"] * 20_000, ["y", *["x"] * 12_000]),
        (["x", "y"] * 10_000, ["x", "z"] * 10_000),
        ([str(number % 7) for number in range(20_000)], [str(number % 5) for number in range(20_000)]),
        ([str(number) for number in range(20_000)], [str(number) for number in range(0, 40_000, 2)]),
        ([str(number) for number in range(20_000)], [str(number) for number in reversed(range(20_000))]),
    ],
    ids=["line added", "lines removed", "every second changed", "different periods", "different numbers", "reversed"],
)
def test_the_comparison_of_tens_of_thousands_of_lines_ends(old: list[str], new: list[str]) -> None:
    at = new_at = 0
    for changed in changed_lines(old, new):
        assert old[at : changed.start] == new[new_at : changed.new_start]
        at, new_at = changed.end, changed.new_end
    assert old[at:] == new[new_at:]
