"""The loss scale over a run: its moves, the points that are kept, and the scale that is in use for half of the time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.logs import trajectory
from opsinfo_cli.logs.trajectory import MOST, Trajectory


def of(points: Iterable[tuple[int, float]]) -> Trajectory:
    found = Trajectory()
    for at, scale in points:
        found.add(at, scale)
    return found


def used(*scales: float) -> Trajectory:
    return of(enumerate(scales, 1))


def test_a_new_trajectory_has_neither_moves_nor_points() -> None:
    new = Trajectory()
    assert (new.start, new.final, new.drawn, new.changes, new.stable(0, 10)) == (None, None, [], 0, None)
    assert (new.lowest, new.highest) == (math.inf, -math.inf)
    assert (new.rises, new.falls, new.halvings, new.not_numbers) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("scales", "rises", "falls", "halvings"),
    [
        ((8.0,), 0, 0, 0),
        ((8.0, 8.0, 8.0), 0, 0, 0),
        ((8.0, 4.0), 0, 1, 1),
        ((8.0, 0.5), 0, 1, 4),
        ((8.0, 7.0), 0, 1, 1),  # less than half is one overflow all the same
        ((8.0, 4.0, 8.0, 16.0), 2, 1, 1),
        ((8.0, 0.0), 0, 1, 1),
        ((0.0, -8.0), 0, 1, 1),
        ((0.0, 8.0, 1.0), 1, 1, 3),
    ],
)
def test_the_moves_of_a_scale(scales: tuple[float, ...], rises: int, falls: int, halvings: int) -> None:
    found = used(*scales)
    assert (found.rises, found.falls, found.halvings, found.changes) == (rises, falls, halvings, rises + falls)
    assert (found.start, found.final, found.lowest, found.highest) == (
        scales[0],
        scales[-1],
        min(scales),
        max(scales),
    )


def test_values_that_are_not_numbers_are_counted_and_left_out() -> None:
    found = used(math.nan, 8.0, math.inf, -math.inf, 4.0)
    assert (found.not_numbers, found.start, found.final, found.falls, found.rises) == (3, 8.0, 4.0, 1, 0)


def test_the_last_scale_is_drawn_up_to_the_last_step() -> None:
    assert of([(1, 8.0), (5, 4.0), (9, 4.0)]).drawn == [(1, 8.0), (5, 4.0), (9, 4.0)]
    assert of([(1, 8.0), (5, 4.0)]).drawn == [(1, 8.0), (5, 4.0)]
    assert of([(1, 8.0), (9, 4.0), (5, 4.0), (7, 2.0)]).drawn == [(1, 8.0), (9, 4.0), (9, 2.0)]
    assert of([(4, 8.0), (6, 8.0)]).drawn == [(4, 8.0), (6, 8.0)]


def test_more_points_than_are_kept_leave_every_second_and_the_extremes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectory, "MOST", 6)
    scales = (4.0, 8.0, 4.0, 1.0, 4.0, 2.0)
    assert [point.scale for point in used(*scales).points] == list(scales)
    assert [tuple(point) for point in used(*scales, 4.0).points] == [
        (1, 4.0),
        (2, 8.0),
        (3, 4.0),
        (4, 1.0),
        (5, 4.0),
        (7, 4.0),
    ]


def test_2048_points_are_kept() -> None:
    points = [(at, 8.0 + at % 2) for at in range(2049)]
    assert len(of(points[:-1]).points) == 2048
    assert len(of(points).points) == 1026


@pytest.mark.parametrize(
    ("points", "calibrating", "end", "scale"),
    [
        ([(0, 8.0), (10, 4.0)], 0, 30, 4.0),  # for 10 steps and for 20
        ([(0, 8.0), (10, 4.0)], 0, 15, 8.0),
        ([(0, 8.0), (10, 4.0)], 0, 20, 4.0),  # for 10 each: the lower
        ([(0, 4.0), (10, 8.0)], 0, 20, 4.0),
        ([(0, 8.0), (10, 4.0), (11, 2.0)], 0, 12, 8.0),
        ([(0, 8.0), (10, 4.0), (11, 2.0)], 1, 12, 2.0),
        ([(0, 8.0), (10, 4.0), (11, 2.0)], 1, 0, 2.0),  # a scale is in use for a step at least
        ([(0, 8.0), (10, 4.0), (13, 2.0)], 1, 0, 4.0),
        ([(0, 8.0), (10, 4.0), (13, 2.0)], 9, 0, 2.0),  # the last one is always later
        ([(0, 8.0)], 2, 0, 8.0),
        ([(0, 2.0), (0, 4.0), (0, 8.0)], 0, 0, 4.0),
    ],
)
def test_the_median_of_the_scales_after_the_first_falls(
    points: list[tuple[int, float]], calibrating: int, end: int, scale: float
) -> None:
    assert of(points).stable(calibrating, end) == scale


@pytest.mark.parametrize(
    ("messages", "points", "rises"),
    [
        ([8.0], [16.0, 8.0], 0),
        ([8.0, 4.0], [16.0, 8.0, 4.0], 0),
        ([8.0, 8.0], [16.0, 8.0, 16.0, 8.0], 1),
        ([8.0, 32.0], [16.0, 8.0, 64.0, 32.0], 1),
        ([8.0, 2.0], [16.0, 8.0, 2.0], 0),  # the message of a fall is missing
        ([math.inf, 8.0], [16.0, 8.0], 0),
    ],
)
def test_a_scale_printed_after_an_overflow_was_twice_as_high_before(
    messages: list[float], points: list[float], rises: int
) -> None:
    found = Trajectory()
    for at, scale in enumerate(messages):
        found.fell_to(at, scale)
    assert [point.scale for point in found.points] == points
    assert (found.rises, found.falls, found.seen) == (rises, len([m for m in messages if m < math.inf]), len(messages))


@pytest.mark.parametrize(("lowest", "highest"), [(1, 3), (7, 8), (1001, 1003), (2047, 5), (4, 2046)])
def test_extremes_stay_at_their_step_if_every_second_change_is_dropped(lowest: int, highest: int) -> None:
    scales = [float(8 + at % 2) for at in range(MOST + 1)]
    scales[lowest], scales[highest] = 1.0, 64.0
    kept = [at for at in range(MOST + 1) if at % 2 == 0 or at in (lowest, highest)]
    assert [tuple(point) for point in of(enumerate(scales)).points] == [(at, scales[at]) for at in kept]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(-3, 9)), min_size=1, max_size=60))
def test_a_trajectory_counts_every_move_whatever_it_keeps(moves: list[tuple[int, int]]) -> None:
    """Powers of two: each fall is as many halvings."""
    points = [(at, 2.0**power) for at, (_, power) in enumerate(moves)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trajectory, "MOST", 6)
        found = of(points)
    steps = [after - before for (_, before), (_, after) in pairwise(moves)]
    assert (found.rises, found.falls) == (sum(step > 0 for step in steps), sum(step < 0 for step in steps))
    assert found.halvings == -sum(step for step in steps if step < 0)
    scales = [scale for _, scale in points]
    assert (found.start, found.final, found.lowest, found.highest) == (scales[0], scales[-1], min(scales), max(scales))
    assert {found.lowest, found.highest} <= {point.scale for point in found.points}
    assert len(found.points) <= 8


def test_scales_before_the_first_step_are_at_the_start() -> None:
    found = used(8.0, 4.0)
    found.move_to_start()
    found.add(10, 2.0)
    assert found.drawn == [(0, 8.0), (0, 4.0), (10, 2.0)]
