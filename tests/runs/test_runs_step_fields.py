"""Where texts show steps: every one, or the last ones; what lines of one shape have in common is searched once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.runs.step_fields import FIELDS, NEAR, Spot, every_spot, has_none, is_bare, last_spots, line_spot


def numbers(text: bytes, spots: list[Spot]) -> list[int]:
    return [spot.read(text).step for spot in spots]


def test_a_step_is_read_in_its_shortest_form_and_at_the_first_byte() -> None:
    assert numbers(b"step5", every_spot(b"step5")) == [5]
    for text in (b"step: 5", b"step: 5\nlast\n", b"iter5\n"):
        assert numbers(text, last_spots(text, 0, len(text))) == [5]


@pytest.mark.parametrize("pieces", [256, 257, 300])
def test_the_last_pieces_of_a_line_are_read_each(pieces: int) -> None:
    bar = b"".join(b"\rstep: %d" % number for number in range(1, pieces))
    text = b"no\nstep: 0\n" + bar + b"\nstep: 7\n"
    assert numbers(text, every_spot(text)) == [0, *range(max(1, pieces - 256), pieces), 7]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"step: %d", b"no %d", b"a step %d.5", b"| %d/40 [00:01, 2it/s]", b"", b"long " * 50]),
            st.sampled_from([b"\n", b"\n", b"\r", b"\r\n"]),
        ),
        max_size=60,
    )
)
def test_the_last_fields_of_a_text_are_the_last_of_its_fields(pairs: list[tuple[bytes, bytes]]) -> None:
    text = b"".join((line % at if b"%" in line else line) + end for at, (line, end) in enumerate(pairs))
    assert last_spots(text, 0, len(text)) == every_spot(text)[-FIELDS:]
    begin = len(text) // 2
    assert last_spots(text, begin, len(text)) == [spot.moved(begin) for spot in every_spot(text[begin:])[-FIELDS:]]


@pytest.mark.parametrize(("lines", "found"), [(255, [5]), (256, [])])
def test_a_text_is_searched_until_256_lines_had_no_step(lines: int, found: list[int]) -> None:
    for line in (b"one step of many\n", b"one step of many\n" + b"no word\n"):
        text = b"step: 5\n" + line * lines
        assert numbers(text, last_spots(text, 0, len(text))) == found


class Asked:
    """Finds the step of a line, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def __call__(self, line: bytes) -> Spot | None:
        self.lines.append(line)
        return line_spot(line)


def test_lines_of_one_shape_in_a_long_text_are_searched_once() -> None:
    asked = Asked()
    text = b"step: 5\nno number\n" * 200
    assert numbers(text, every_spot(text, asked)) == [5] * 200
    assert sorted(asked.lines) == [b"", b"no number", b"step: 0"]


def test_lines_of_a_short_text_are_searched_if_they_have_a_word_of_steps() -> None:
    asked = Asked()
    assert numbers(b"no number\nstep: 5\n", every_spot(b"no number\nstep: 5\n", asked)) == [5]
    assert asked.lines == [b"step: 5"]


@pytest.mark.parametrize("longest", [20, NEAR])
def test_the_last_lines_are_searched_once_if_they_have_no_step(longest: int) -> None:
    asked = Asked()
    text = b"first\n" + b"one step of many\n" * 99 + b"a step".ljust(longest)
    assert last_spots(text, 0, len(text), asked) == []
    assert len(asked.lines) == 100


@pytest.mark.parametrize(
    ("lines", "bare"),
    [
        ([b"x" * length for length in range(256)], True),
        ([b"x" * length for length in range(257)], False),
        ([b"x" * NEAR], True),
        ([b"x" * (NEAR + 1)], False),
        ([b"a\rb", b"c"], False),
        ([b"a step", b"step: 5"], False),
        ([b"a step", b"no step"], True),
    ],
    ids=["256 shapes", "257 shapes", "long", "too long", "pieces", "step", "no step"],
)
def test_lines_without_a_step_are_recognised_if_few_and_short(lines: list[bytes], bare: bool) -> None:
    assert has_none(lines, line_spot) is bare
    assert is_bare(b"\n".join(lines), line_spot) is bare
