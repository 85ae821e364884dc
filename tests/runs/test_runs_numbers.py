"""Columns of numbers, split from many lines at once."""

from __future__ import annotations

import re

import pytest

from opsinfo_cli.runs.columns import floats
from opsinfo_cli.runs.numbers import Order, number_columns, order_of

SHAPE = b"step 00: scale 000.0 to -00.0e"


def places(shape: bytes, *wanted: bytes) -> tuple[slice, ...]:
    return tuple(slice(*found.span()) for each in wanted if (found := re.search(re.escape(each), shape)))


@pytest.mark.parametrize(
    ("wanted", "order"),
    [
        ((b"00",), Order(3, (0,))),
        ((b"000.0", b"-00.0"), Order(3, (1, 2))),
        ((b"00", b"000.0", b"-00.0"), Order(3, (0, 1, 2))),
        ((b"-00.0e",), None),  # more than a number
        ((b"00.0",), None),  # a part of one
    ],
)
def test_an_order_says_which_of_the_numbers_of_a_line_are_wanted(
    wanted: tuple[bytes, ...], order: Order | None
) -> None:
    assert order_of(SHAPE, places(SHAPE, *wanted)) == order


def test_a_slice_that_is_open_ends_where_the_line_does() -> None:
    assert order_of(b"scale 00.0", (slice(6, None),)) == Order(1, (0,))


@pytest.mark.parametrize(("many", "wanted", "short"), [(2, 1, True), (3, 1, False), (4, 2, True), (5, 2, False)])
def test_lines_with_twice_as_many_numbers_as_are_wanted_are_split(many: int, wanted: int, short: bool) -> None:
    assert Order(many, tuple(range(wanted))).is_short is short


def test_each_wanted_number_makes_a_column() -> None:
    text = b"step 1: scale 512.0 to +8.5e\nstep\t22;scale\xff.5 to\r-1,e\n"
    assert number_columns(text, Order(3, (2, 0))) == [["+8.5", "-1"], ["1", "22"]]


@pytest.mark.parametrize(
    ("texts", "read_once"),
    [(["8.0", "4.0"] * 4, True), (["8.0", "4.0"] * 3, False), (["8.0"] * 300 + [str(at) for at in range(900)], True)],
)
def test_a_column_whose_first_numbers_are_often_equal_is_read_by_number(texts: list[str], read_once: bool) -> None:
    found = floats(texts)
    assert found == [float(text) for text in texts]
    assert (found[0] is found[texts.index(texts[0], 1)]) is read_once
