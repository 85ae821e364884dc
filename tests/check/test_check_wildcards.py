"""Patterns of .gitignore files: many wildcards match as few do, and fast."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.check import ignore_patterns
from opsinfo_cli.check.ignore_patterns import patterns_in
from opsinfo_cli.check.wildcard_match import WildcardMatcher

PARTS = st.sampled_from(["a", "b", "*", "?", "**/", "/", "[ab]", "[!a]", "**", "x/**/y"])


@given(st.lists(PARTS, min_size=1, max_size=9).map("".join), st.text("ab/xy", min_size=1, max_size=9))
def test_both_ways_to_match_agree(pattern: str, path: str) -> None:
    answers = set()
    for many in (0, 99):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ignore_patterns, "_MANY", many)
            matcher = ignore_patterns._matcher(pattern)
        assert matcher is None or isinstance(matcher, WildcardMatcher) == (many == 0)
        answers.add(matcher is not None and bool(matcher.fullmatch(path)))
    assert len(answers) == 1


BOMBS = {
    "stars": "*a" * 30_000 + "b",
    "stars and slashes": "*/" * 20_000 + "b",
    "folders at any depth": "**/" * 20_000 + "b",
    "names at any depth": "**/a" * 15_000 + "b",
    "unclosed sets": "[" * 60_000,
    "sets that hold sets": "[[:a:]" * 10_000,
    "stars in sets": "[*]*" * 15_000,
    "escapes": "\\" * 60_001,
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("situation", BOMBS)
def test_a_bomb_is_matched_like_any_other_pattern(situation: str) -> None:
    patterns = patterns_in(BOMBS[situation])
    for path in ("a" * 200, "a/" * 100 + "c", "x.json"):
        assert not any(pattern.fits(path, is_folder=False) for pattern in patterns)


def test_a_few_wildcards_stay_a_regular_expression() -> None:
    (pattern,) = patterns_in("build-*/**/*.json")
    assert isinstance(pattern.matcher, WildcardMatcher)
    (pattern,) = patterns_in("build-*.json")
    assert isinstance(pattern.matcher, re.Pattern)
    assert pattern.fits("a/build-1.json", is_folder=False)
