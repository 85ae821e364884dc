"""The line of a span, cut only if it is longer than the reach."""

from __future__ import annotations

import pytest

from opsinfo_cli.core.text.source import Excerpt, excerpt


@pytest.mark.parametrize("line_end", ["", "\n", "\nnext", "\r\nnext"])
@pytest.mark.parametrize("line_start", ["", "before\n"])
@pytest.mark.parametrize("left", [0, 199, 200, 201])
@pytest.mark.parametrize("right", [0, 199, 200, 201])
def test_a_line_is_cut_200_code_points_from_the_span_and_marked_only_if_there_is_more_of_it(
    line_start: str, left: int, right: int, line_end: str
) -> None:
    text = line_start + "a" * left + "b" * right + line_end
    start = len(line_start) + left
    shown = "a" * min(left, 200) + "b" * min(right, 200)
    assert excerpt(text, start, start + 3) == Excerpt(
        shown, min(left, 200), min(min(left, 200) + 3, len(shown)), left > 200, right > 200
    )


def test_a_span_over_two_lines_ends_with_its_first_line() -> None:
    assert excerpt("one\ntwo\nthree", 5, 10) == Excerpt("two", 1, 3, False, False)
