"""Counts of overflowed steps: messages of ranks, flags of steps, counters."""

from __future__ import annotations

import re

import pytest
from counts_seen import Bounds, bounds, flagged, occurrences

from opsinfo_cli.runs.count import Count, checked
from opsinfo_cli.runs.counters import Counters, counter_places
from opsinfo_cli.runs.flags import Flags
from opsinfo_cli.runs.occurrences import Occurrences

# Count


@pytest.mark.parametrize(
    ("low", "high", "narrow"),
    [(0, 0, True), (0, 1, True), (0, 2, False), (5, 6, True), (5, 7, False), (20, 22, True), (20, 23, False)],
)
def test_bounds_are_narrow_within_one_step_or_a_tenth(low: int, high: int, narrow: bool) -> None:
    assert Count(low, high, 100, 0, "").is_narrow is narrow


def test_more_overflows_than_steps_leave_the_steps_unknown() -> None:
    assert checked(Count(5, 5, 5, 0, "")).steps == 5
    wrong = checked(Count(6, 6, 5, 0, ""))
    assert wrong.steps is None
    assert "6 overflows in 5 steps" in wrong.notes[0]
    assert checked(Count(6, 6, None, 0, "")).notes == ()


# Counters


def counted(cumulative: bool, *lines: tuple[int, int], steps: int | None = None) -> tuple[int, int | None, int]:
    counters = Counters(cumulative)
    for step, skipped in lines:
        counters.add(step, skipped)
    count = counters.count(steps)
    assert count.low == count.high
    return count.low, count.steps, count.calibrating


@pytest.mark.parametrize(
    ("cumulative", "lines", "expected"),
    [
        (True, [(10, 2), (20, 2), (30, 3)], (3, 30, 2)),
        (False, [(10, 2), (20, 0), (30, 1)], (3, 30, 2)),
        (True, [(0, 0), (10, 10), (20, 16), (30, 17), (90, 17)], (17, 90, 17)),  # all of the first descent
        (False, [(10, 10), (20, 6), (30, 6), (40, 0)], (22, 40, 22)),  # half of the steps and more still calibrate
        (False, [(10, 10), (20, 4), (30, 4), (40, 0)], (18, 40, 14)),
        (False, [(100, 3), (200, 3), (300, 0)], (6, 300, 3)),
        (True, [(510, 7), (520, 8), (530, 8)], (1, 20, 1)),  # a resumed run begins at its first line
        (False, [(510, 7), (520, 1), (530, 0)], (8, 30, 8)),
        (True, [(10, 5), (20, 7), (10, 1), (20, 1)], (8, 40, 8)),  # a restart in the same file
        (True, [(10, 5), (20, 2), (30, 3)], (8, 30, 8)),  # a counter that was reset
        (True, [(10, 5), (10, 5), (20, 5)], (5, 20, 5)),  # another rank's copy
        (True, [(10, 5), (20, 5), (20, 9), (30, 6)], (6, 30, 5)),  # the copy does not change the counter
        (False, [(10, 10), (20, 5), (30, 5), (40, 0)], (20, 40, 20)),  # just half
        (False, [(10, 0), (20, 1), (30, 1)], (2, 30, 0)),
        (False, [(10, 2), (20, 12), (30, 0)], (12, 30, 12)),  # no more than the steps
        (True, [(100, 1), (200, 2), (5, 0), (10, 1)], (3, 210, 1)),
        (True, [(20, 15), (30, 16)], (1, 10, 1)),  # resumed after few steps
        (True, [(10, 5), (5, 1), (10, 1)], (6, 20, 6)),  # a restart after the first line
        (False, [(40, 3), (50, 2), (60, 0), (50, 1), (60, 1), (70, 0)], (7, 60, 5)),  # restarts after a resume
        (True, [(7, 3)], (3, 7, 3)),
        (False, [(10, 50)], (10, 10, 10)),
        (True, [], (0, 0, 0)),
    ],
)
def test_counters(cumulative: bool, lines: list[tuple[int, int]], expected: tuple[int, int, int]) -> None:
    assert counted(cumulative, *lines) == expected


def test_a_first_line_of_updates_and_skipped_steps_begins_the_run() -> None:
    """`global_steps` of 10, 20 and 30 with a skipped step before the first."""
    counters = Counters(cumulative=True)
    counters.without_skipped = True
    for step, skipped in ((11, 1), (21, 1), (32, 2)):
        counters.add(step, skipped)
    count = counters.count(None)
    assert (count.low, count.steps) == (2, 32)


def test_lines_of_each_step_after_the_first_descent_are_added_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counters = Counters(cumulative=True)
    counters.add_rows([1, 2], [1, 1])
    monkeypatch.setattr(counters, "add", None)
    assert counters.add_rows([3, 4, 5], [1, 2, 2]) == range(3)
    assert (counters.count(None).low, counters.count(None).steps) == (2, 5)


def test_given_steps_replace_those_of_the_counter() -> None:
    assert counted(True, (10, 2), steps=100) == (2, 100, 2)
    assert counted(True, (10, 9), steps=5) == (5, 5, 5)


def test_the_places_of_a_counter_are_known_if_a_line_has_it_once() -> None:
    pattern = re.compile(rb"at (\d+) skipped (\d+)")
    assert counter_places(b"x at 00 skipped 0", pattern, b"skipped") == (slice(5, 7), slice(16, 17))
    assert counter_places(b"x at 00 skipped 0 skipped", pattern, b"skipped") is None
    assert counter_places(b"x at 00 missed 0", pattern, b"skipped") is None
    assert counter_places(b"x at 00, skipped 0", pattern, b"skipped") is None


def test_a_copy_of_a_counter_line_is_not_new() -> None:
    counters = Counters(cumulative=True)
    assert [counters.add(10, 1), counters.add(10, 1), counters.add(20, 1)] == [True, False, True]
    assert (counters.lines, counters.last_step) == (2, 20)
    count = counters.count(None)
    assert "2 lines" in count.basis
    assert "cumulative" in count.basis
    assert "reset" in Counters(cumulative=False).count(None).basis
    assert count.proof


# Flags


def test_every_step_printed_is_a_measurement() -> None:
    count = flagged(*((step, step in (1, 2, 9)) for step in range(1, 11))).count(None, None)
    assert (bounds(count), count.steps, count.calibrating, count.doubt) == ((3, 3), 10, 2, None)
    assert "10 steps, 1 to 10" in count.basis


def test_steps_from_zero_are_one_more_than_the_last() -> None:
    assert flagged(*((step, False) for step in range(5))).count(None, None).steps == 5


def test_a_resumed_run_is_counted_from_its_first_step() -> None:
    assert flagged(*((step, False) for step in range(501, 511))).count(None, None).steps == 10


def test_copies_of_ranks_count_once_and_a_single_rank_counts() -> None:
    found = flagged((1, False), (1, False), (2, False), (2, True), (2, True), (3, False))
    count = found.count(None, None)
    assert (bounds(count), count.steps, found.printed) == ((1, 1), 3, 3)


def test_sampled_flags_are_not_a_measurement() -> None:
    count = flagged(*((step, step == 30) for step in range(10, 101, 10))).count(None, None)
    assert (bounds(count), count.steps) == ((1, 100), 100)
    assert count.doubt is not None
    assert "1 of 10 printed" in count.doubt


def test_an_overflow_between_the_regular_lines_shows_that_all_are_printed() -> None:
    steps = [(step, False) for step in range(10, 101, 10)]
    count = flagged(*steps[:3], (37, True), *steps[3:]).count(None, None)
    assert (bounds(count), count.doubt) == ((1, 1), None)
    on_grid = flagged(*steps[:3], (35, False), (40, True), *steps[4:]).count(None, None)
    assert on_grid.doubt is not None


def test_averaged_flags_and_a_single_line_are_not_a_measurement() -> None:
    averaged = flagged((1, True), (2, False))
    averaged.averaged = True
    assert "averaged" in (averaged.count(None, None).doubt or "")
    assert flagged((1, False)).count(None, None).doubt is not None


def test_lines_without_a_step_are_one_step_each() -> None:
    count = flagged(*((None, number in (0, 1, 5)) for number in range(20))).count(None, None)
    assert (bounds(count), count.steps, count.calibrating) == ((3, 3), 20, 2)
    shared = flagged(*((None, number < 3) for number in range(20))).count(None, 2)
    assert (bounds(shared), shared.steps) == ((2, 2), 10)


def test_without_flags_there_are_no_steps() -> None:
    count = Flags().count(None, None)
    assert (bounds(count), count.steps, count.proof) == ((0, 0), None, None)


# Occurrences


@pytest.mark.parametrize(
    ("messages", "expected", "ranks"),
    [
        ([(512, 0, 8), (256, 0, 8), (256, 400, 8)], (3, 3), 8),  # the scale grew in between
        ([(512, 0, 8), (256, 0, 8), (256, 30, 8)], (3, 3), 8),  # as close as this they may also be late copies
        ([(512, 0, 1), (256, 0, 1), (128, 0, 1)], (3, 3), 1),
        ([(512, 0, 5), (256, 0, 2), (512, 0, 3), (256, 10, 6), (128, 100, 8)], (3, 3), 8),  # ranks interleave
        ([(512, 0, 8), (256, 0, 8), (128, 0, 7)], (2, 3), 8),  # the log was cut
        ([(32, 0, 8)], (1, 1), 8),
        ([(1, 0, 8)], (1, 8), None),  # at the floor the value repeats
        ([(4, 0, 2), (2, 0, 2), (1, 0, 20)], (12, 12), 2),
        ([(64, 0, 1), (32, 500, 3), (16, 900, 5), (8, 1500, 7)], (3, 16), None),  # no number of ranks fits
    ],
)
def test_the_number_of_ranks_follows_from_messages_between_steps(
    messages: list[tuple[float, int, int]], expected: Bounds, ranks: int | None
) -> None:
    count = occurrences(*messages).count(None, None)
    assert (bounds(count), count.ranks) == (expected, ranks)
    assert bool(count.notes) == (expected[0] != expected[1])


@pytest.mark.parametrize(
    ("copies", "expected"),
    [
        ({512: 8, 256: 8, 128: 8}, (3, 3)),
        ({512: 8, 256: 16, 128: 8, 64: 8}, (5, 5)),
        ({512: 8, 256: 8, 128: 8, 64: 6}, (3, 4)),  # the log was cut
        ({512: 8}, (1, 8)),
        ({512: 1, 256: 1}, (2, 2)),
        ({512: 4, 256: 6}, (5, 10)),
    ],
)
def test_without_steps_the_number_of_ranks_follows_from_the_values(copies: dict[float, int], expected: Bounds) -> None:
    found = occurrences(*((value, None, number) for value, number in copies.items()))
    assert bounds(found.count(None, None)) == expected


def test_steps_printed_later_place_the_messages() -> None:
    assert bounds(occurrences((512, None, 8)).count(None, None, placed=True)) == (1, 1)


def test_given_ranks_divide_the_messages() -> None:
    count = occurrences((512, 0, 15)).count(100, 2)
    assert (bounds(count), count.ranks, count.steps) == ((7, 8), 2, 100)
    assert "15 messages of 2 ranks" in count.basis
    assert bounds(occurrences((512, 0, 1)).count(None, 8)) == (1, 1)


def test_messages_without_a_value_are_repetitions_or_copies() -> None:
    assert bounds(occurrences((None, 0, 15)).count(None, None)) == (1, 15)
    together = occurrences((None, 0, 15))
    together.together = 2
    count = together.count(None, None)
    assert count.high == 8
    assert "several ranks" in count.notes[0]
    assert bounds(occurrences((None, 0, 1)).count(None, None)) == (1, 1)


def test_a_log_without_messages_has_no_proof() -> None:
    count = Occurrences().count(100, None)
    assert (bounds(count), count.proof, count.calibrating) == ((0, 0), None, 0)
    assert occurrences((1024, 5, 1)).count(None, None).proof


def test_the_first_descent_ends_with_a_rise_a_repetition_or_clean_steps() -> None:
    def leading(*messages: tuple[float, int, int]) -> int:
        return occurrences(*messages).count(None, None).calibrating

    assert leading((512, 0, 1), (256, 5, 1), (128, 40, 1)) == 3
    assert leading((512, 0, 1), (256, 5, 1), (128, 46, 1)) == 2
    assert leading((512, 0, 1), (512, 41, 1), (256, 42, 1)) == 1
    assert leading((512, 300, 1), (256, 301, 1)) == 0
    assert leading((512, 0, 1), (1024, 1, 1), (256, 2, 1)) == 1
    risen = occurrences((512, 0, 1))
    risen.rose()
    risen.add(256, 1, 10)
    assert risen.count(None, None).calibrating == 1


def test_only_the_first_copy_is_new() -> None:
    found = Occurrences()
    assert [found.add(512, 0), found.add(256, 0), found.add(512, 1), found.add(512, 100)] == [True, True, False, True]


def test_values_are_kept_up_to_a_limit() -> None:
    found = Occurrences()
    for number in range(5000):
        found.add(float(number + 2), number * 1000, 10)
    assert len(found.values) == 4096
    assert found.total == 5000
