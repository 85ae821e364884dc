"""Logs larger than a reader's memory, unreadable logs, and values at the ends of their ranges."""

from __future__ import annotations

from pathlib import Path

import pytest

from opsinfo_cli.errors import Refused
from opsinfo_cli.runs.count import Count
from opsinfo_cli.runs.flags import Flags
from opsinfo_cli.runs.readers.fp16_optimizer import Fp16Optimizer
from opsinfo_cli.runs.readers.reader import Evidence
from opsinfo_cli.runs.scale import advise, judge_scale
from opsinfo_cli.runs.scan import read_log
from opsinfo_cli.runs.sheet import Sheet
from opsinfo_cli.runs.steps import StepFields
from opsinfo_cli.runs.student_t import t_quantile, t_tail
from opsinfo_cli.runs.trajectory import MOST, Trajectory


def test_more_iterations_than_are_remembered_are_counted_all() -> None:
    reader = Fp16Optimizer()
    data = b"".join(b"Grad overflow on iteration  %d\n" % each * 2 for each in range(0, 50_000, 10))
    reader.sheet(Sheet(data, len(data)), StepFields())
    count = reader.tally(None, None)
    assert (count.low, count.high, count.ranks) == (5000, 5000, 2)


def test_more_flags_than_are_remembered_are_counted_all() -> None:
    flags = Flags()
    for step in range(1, 10_001):
        for _ in range(2):
            flags.add(step, step % 100 == 0)
    count = flags.count(None, None)
    assert (count.low, count.high, count.steps, flags.printed) == (100, 100, 10_000, 10_000)


def test_a_rank_that_overflowed_alone_counts_once() -> None:
    flags = Flags()
    for overflow in (False, True, True, False):
        flags.add(7, overflow)
    assert (flags.overflows, flags.printed) == (1, 1)


def test_a_long_trajectory_keeps_its_extremes_and_its_end() -> None:
    scale = Trajectory()
    for at in range(1, 20_001):
        scale.add(at, 2.0 ** {7_001: 30, 9_001: -3}.get(at, 10 + at % 2))
    assert MOST // 4 < len(scale.points) <= MOST
    assert {2.0**30, 2.0**-3} <= {point.scale for point in scale.points}
    assert (scale.start, scale.final, scale.lowest, scale.highest) == (2.0**11, 2.0**10, 2.0**-3, 2.0**30)
    assert scale.rises + scale.falls == 19_999
    assert [point.at for point in scale.points] == sorted(point.at for point in scale.points)


@pytest.mark.parametrize(
    ("name", "message"),
    [("absent.log", "No such file or directory"), ("", "Is a directory"), ("a\0b", "embedded null byte")],
    ids=["missing", "folder", "NUL"],
)
def test_a_log_that_cannot_be_read_is_refused_with_the_systems_reason(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(Refused) as caught:
        read_log(f"{tmp_path}/{name}")
    assert (caught.value.message, caught.value.name) == (message, "unreadable")


def test_standard_input_that_is_closed_is_refused() -> None:
    with pytest.raises(Refused, match="standard input is closed"):
        read_log("-")


@pytest.mark.parametrize(("t", "tail"), [(0.0, 1.0), (1e200, 0.0), (float("inf"), 0.0), (1.0, 0.5)])
def test_the_tail_at_the_ends_of_its_range(t: float, tail: float) -> None:
    """One degree of freedom: P(|T| > t) = 1 - 2 atan(t) / pi."""
    assert t_tail(t, 1) == pytest.approx(tail, abs=1e-12)


def test_the_quantile_of_one_degree_of_freedom_far_out() -> None:
    assert t_quantile(1e-6, 1) == pytest.approx(636_619.77, rel=1e-6)


def fell(*values: float, floor: float) -> Evidence:
    found = Evidence("x", floor=floor)
    for at, value in enumerate(values):
        found.scale.add(at, value)
    return found


@pytest.mark.parametrize(
    ("values", "floor", "status", "reason"),
    [
        ((4.0, 2.0, 1.0), 1.0, "fails", "the scale fell to its floor of 1 and stayed there"),
        ((4.0, 2.0, 1.0, 2.0), 1.0, "fails", "the scale fell to its floor of 1 once"),
        ((4.0, 2.0, 1.0), 0.0, "holds", "start 4, final 1, lowest 1, highest 4; 2 falls, 0 rises"),
        ((4.0, 0.5), 0.0, "fails", "the scale fell below 1, to 0.5"),
        ((0.01, 0.001), 1e-4, "holds", "start 0.01, final 0.001, lowest 0.001, highest 0.01; 1 falls, 0 rises"),
        ((1.0,), 1.0, "holds", "start 1, final 1, lowest 1, highest 1; 0 falls, 0 rises"),
        ((), 1.0, "cannot be told", "the log prints no loss scale"),
        ((4.0, float("nan")), 1.0, "fails", "the scale was not a number 1 times"),
    ],
    ids=["at the floor", "once at the floor", "no floor", "below 1", "small floor", "constant", "no scale", "NaN"],
)
def test_a_scale_gets_its_verdict_and_reason(values: tuple[float, ...], floor: float, status: str, reason: str) -> None:
    assert judge_scale(fell(*values, floor=floor))[:2] == (status, reason)


@pytest.mark.parametrize(("later", "window"), [(25, 1000), (24, None), (1, None)])
def test_rarer_growth_is_advised_from_half_the_limit_on(later: int, window: int | None) -> None:
    """Half the limit of 0.5 % is 25 of 10,000 steps; each is 400 steps from the next."""
    found = fell(1024.0, 2048.0, floor=0.0)
    found.count = Count(later, later, 10_000, 0, "", proof="x")
    assert advise(found, 0.005).window == window


@pytest.mark.parametrize(("calibrating", "initial"), [(1, None), (2, 256.0), (3, 256.0)])
def test_a_lower_start_is_advised_if_the_descent_took_more_than_one_overflow(
    calibrating: int, initial: float | None
) -> None:
    found = fell(1024.0, 512.0, 256.0, floor=0.0)
    found.at_is_step = True
    found.count = Count(calibrating, calibrating, 1000, calibrating, "", proof="x")
    assert advise(found, 0.005).initial == initial
