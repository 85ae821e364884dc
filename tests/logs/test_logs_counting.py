"""Counts of overflowed steps: counters, flags of steps, messages of ranks."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.logs.count import Overflows
from opsinfo_cli.logs.counters import Counters
from opsinfo_cli.logs.flags import Flags
from opsinfo_cli.logs.occurrences import Occurrences

Bounds = tuple[int, int]


def bounds(count: Overflows) -> Bounds:
    return count.low, count.high


def flagged(*flags: tuple[int | None, bool]) -> Flags:
    taken = Flags()
    for step, overflow in flags:
        taken.add(step, overflow)
    return taken


def occurrences(*messages: tuple[float | None, int | None, int], spacing: int = 10) -> Occurrences:
    taken = Occurrences()
    for value, at, copies in messages:
        taken.add(value, at, spacing, copies)
    return taken


# Count


@pytest.mark.parametrize(
    ("low", "high", "narrow"),
    [(0, 0, True), (0, 1, True), (0, 2, False), (5, 6, True), (5, 7, False), (20, 22, True), (20, 23, False)],
)
def test_bounds_are_narrow_within_one_step_or_a_tenth(low: int, high: int, narrow: bool) -> None:
    assert Overflows(low, high, 100, 0, "").is_narrow is narrow


def test_more_overflows_than_steps_leave_the_steps_unknown() -> None:
    assert Overflows(5, 5, 5, 0, "").without_wrong_steps().steps == 5
    wrong = Overflows(6, 6, 5, 7, "").without_wrong_steps()
    assert (wrong.steps, wrong.calibrating) == (None, 6)
    assert "6 overflows in 5 steps" in wrong.notes[0]
    assert Overflows(6, 6, None, 0, "").without_wrong_steps().notes == ()


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
        (True, [(510, 7), (520, 8), (530, 8)], (8, 530, 0)),  # what was counted before a resume belongs to the run
        (True, [(160, 21), (170, 21), (160, 21), (170, 22)], (22, 180, 0)),  # only once
        (True, [(9000, 4), (9010, 4), (9020, 14)], (10, 20, 0)),  # but not if it became worse
        (False, [(510, 7), (520, 1), (530, 0)], (8, 30, 0)),
        (True, [(10, 5), (20, 7), (10, 1), (20, 1)], (8, 40, 8)),  # a restart in the same file
        (True, [(10, 5), (20, 2), (30, 3)], (8, 30, 8)),  # a counter that was reset
        (True, [(10, 5), (10, 5), (20, 5)], (5, 20, 5)),  # another rank's copy
        (True, [(10, 5), (20, 5), (20, 9), (30, 6)], (6, 30, 5)),  # the copy does not change the counter
        (False, [(10, 10), (20, 5), (30, 5), (40, 0)], (20, 40, 20)),  # just half
        (False, [(10, 0), (20, 1), (30, 1)], (2, 30, 0)),
        (False, [(10, 2), (20, 12), (30, 0)], (12, 30, 12)),  # no more than the steps
        (True, [(100, 1), (200, 2), (5, 0), (10, 1)], (3, 210, 1)),
        (True, [(20, 15), (30, 16)], (16, 30, 0)),  # resumed after few steps
        (True, [(10, 5), (5, 1), (10, 1)], (6, 20, 6)),  # a restart after the first line
        (False, [(40, 3), (50, 2), (60, 0), (50, 1), (60, 1), (70, 0)], (7, 60, 0)),  # restarts after a resume
        (True, [(7, 3)], (3, 7, 3)),
        (False, [(10, 50)], (10, 10, 10)),
        (True, [], (0, 0, 0)),
    ],
)
def test_counters(cumulative: bool, lines: list[tuple[int, int]], expected: tuple[int, int, int]) -> None:
    assert counted(cumulative, *lines) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([(6502, 0), (6503, 0), (6504, 0), (8600, 0)], (0, 2095, 2099, 4)),
        ([(14000, 0)], (0, 13999, 14000, 1)),
        ([(14000, 3)], (3, 14000, 14000, 3)),
        ([(10, 0), (20, 1), (40, 0), (50, 0)], (1, 11, 50, 40)),  # a line is missing
        ([(20, 0), (40, 5), (41, 0)], (5, 31, 41, 15)),  # one of them has counted 5
        ([(7, 0), (12, 0), (19, 0)], (0, 14, 17, 3)),
        ([(1, 0), (10, 0), (30, 0)], (0, 10, 30, 20)),  # a first step besides every tenth
        ([(1, 0), (10, 0), (20, 0)], (0, 0, 20, None)),
        ([(1, 1), (2, 1)], (2, 2, 2, None)),
        ([(1, 1), (2, 1), (9, 0)], (2, 8, 9, 3)),
        ([(20, 0), (30, 1), (5, 0)], (1, 1, 25, None)),  # a restart whose only line is as the others
        ([*((10 * at, 0) for at in range(1, 10)), (200, 1), (50, 0), (60, 0)], (1, 101, 220, 120)),
    ],
)
def test_a_counter_that_is_reset_covers_no_more_steps_than_its_lines_can_be_apart(
    lines: list[tuple[int, int]], expected: tuple[int, int, int, int | None]
) -> None:
    counters = Counters(cumulative=False)
    for step, skipped in lines:
        counters.add(step, skipped)
    count = counters.count(None)
    assert (count.low, count.high, count.steps, count.logged) == expected
    assert bool(count.doubt) == (count.low != count.high)


def test_given_steps_replace_those_of_the_counter() -> None:
    assert counted(True, (10, 2), steps=100) == (2, 100, 2)
    assert counted(True, (10, 9), steps=5) == (5, 5, 5)


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


def test_copies_of_ranks_count_once_and_a_single_rank_counts() -> None:
    found = flagged((1, False), (1, False), (2, False), (2, True), (2, True), (3, False))
    count = found.count(None, None)
    assert (bounds(count), count.steps, found.printed) == ((1, 1), 3, 3)


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


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([(step, False) for step in range(2, 41, 2)], (0, 40, "sampled")),
        ([*((step, False) for step in range(2, 41, 2)), (7, True)], (1, 40, None)),
        ([(step, step == 5) for step in range(1, 21)], (1, 20, None)),
        ([(1, False), (2, True), (9, True)], (2, 9, "sampled")),  # one clean step shows no distance
        ([(1, True), (4, True)], (2, 4, "sampled")),
        ([(1, False), (2, False), (9, True)], (1, 9, "sampled")),
        ([(2, False), (4, False), (7, True)], (1, 7, "sampled")),  # two clean steps are no regular lines
        ([*((step, False) for step in (2, 4, 6, 8)), (11, True)], (1, 11, "sampled")),
        ([*((step, False) for step in (2, 4, 6, 8, 10)), (13, True)], (1, 13, None)),
        ([(0, False), (1, False)], (0, 2, None)),
        ([(10, False), (20, False)], (0, 20, "sampled")),
        ([(11, False), (21, False)], (0, 11, "sampled")),
        ([(4, False), (3, False)], (0, 2, None)),
        ([(7, True)], (1, 1, "sampled")),
        ([(2, False), (3, False)], (0, 2, None)),
        ([(1, False), (11, False), (21, False), (31, True)], (1, 31, "sampled")),
        ([(2, False), (4, False), (6, False), (9, False), (11, False), (14, True)], (1, 13, "sampled")),
    ],
)
def test_flags_are_a_measurement_if_no_overflow_can_be_missing(
    flags: list[tuple[int, bool]], expected: tuple[int, int, str | None]
) -> None:
    count = flagged(*flags).count(None, None)
    assert (count.low, count.steps, count.doubt and count.doubt.partition(":")[0]) == expected
    assert count.high == (count.steps if count.doubt else count.low)


def test_the_words_for_doubt_name_what_was_printed() -> None:
    assert flagged((10, True), (20, False), (30, False)).count(None, None) == Overflows(
        1,
        30,
        30,
        1,
        "flags of 3 steps, 10 to 30",
        logged=3,
        even=True,
        doubt="sampled: 1 of 3 printed steps overflowed, of 30 steps made",
        proof="the log prints an overflow flag",
    )
    averaged = flagged((10, True), (20, False))
    averaged.averaged = True
    assert averaged.count(50, None).doubt == "sampled: 1 of 2 flags averaged over several steps, of 50 steps made"


def test_flags_without_steps_are_divided_among_ranks() -> None:
    found = flagged(*((None, number in (0, 1, 2, 7)) for number in range(20)))
    found.each_step = True
    assert found.count(None, 3) == Overflows(
        2, 2, 7, 1, "20 lines with a flag", 3, proof="the log prints an overflow flag"
    )
    assert found.count(20, None).steps == 20
    assert flagged((None, False)).count(1, None).steps == 1


@pytest.mark.parametrize(
    ("steps", "even"),
    [
        (range(100, 2001, 100), True),
        ([100, 200, 400, 500], True),  # one is missing
        ([0, 1, 2, 3, 62496, 62497], False),  # the first and the last lines of a run
        ([100, 200, 500], False),
        ([100], False),
    ],
)
def test_logged_steps_stand_for_all_if_their_distances_are_equal(steps: Iterable[int], even: bool) -> None:
    assert flagged(*((step, True) for step in steps)).count(None, None).even is even


def test_flags_without_steps_are_a_sample_if_the_log_shows_more_steps_or_none() -> None:
    found = flagged(*((None, number == 3) for number in range(20)))
    assert found.count(None, None).doubt == "sampled: 1 of 20 lines without a step, of an unknown number of steps made"
    assert found.count(None, None, 2000).doubt == "sampled: 1 of 20 lines without a step, of 2000 steps made"
    assert (found.count(None, None, 20).doubt, found.count(None, None, 2000).logged) == (None, 20)
    found.each_step = True
    assert (found.count(None, None).doubt, found.count(None, None, 2000).logged) == (None, 20)


def test_without_flags_only_the_given_steps_are_known() -> None:
    assert Flags().count(9, 2) == Overflows(0, 0, 9, 0, "no step")


def test_more_flags_than_are_remembered_are_counted_all() -> None:
    flags = flagged(*((step, step % 100 == 0) for step in range(1, 10_001) for _ in range(2)))
    count = flags.count(None, None)
    assert (count.low, count.high, count.steps, flags.printed) == (100, 100, 10_000, 10_000)


def test_the_newest_4096_steps_are_remembered() -> None:
    flags = flagged(*((step, False) for step in range(1, 9001)))
    assert [flags.add(step, True) for step in (9000, 4905)] == [False, False]
    assert (flags.overflows, flags.printed) == (2, 9000)
    assert flags.add(4904, True)
    assert (flags.overflows, flags.printed) == (3, 9001)


# Messages


@pytest.mark.parametrize(
    ("messages", "expected", "ranks"),
    [
        ([(512, 0, 8), (256, 0, 8), (256, 1000, 8)], (3, 3), 8),  # the scale grew in between
        ([(512, 0, 8), (256, 0, 8), (256, 400, 8)], (2, 3), 8),  # as close as this they may also be late copies
        ([(512, 0, 5), (512, 100, 3)], (1, 3), 3),
        ([(512, 0, 1), (256, 10, 1), (256, 20, 1)], (2, 3), None),  # steps stand between: one rank, or two
        ([(512, 0, 1), (512, 10, 1)], (1, 2), None),
        ([(512, 0, 1), (256, 10, 1), (128, 20, 1), (128, 30, 1)], (4, 4), 1),
        ([(512, 0, 1), (256, 10, 1), (512, 1200, 1), (256, 2400, 1)], (4, 4), 1),
        ([(512, 0, 1), (256, 0, 1), (128, 0, 1)], (3, 3), 1),
        ([(512, 0, 5), (256, 0, 2), (512, 0, 3), (256, 10, 6), (128, 100, 8)], (3, 3), 8),  # ranks interleave
        ([(512, 0, 8), (256, 0, 8), (128, 0, 7)], (3, 3), 8),  # the log was cut
        ([(32, 0, 8)], (1, 1), 8),
        ([(1, 0, 8)], (1, 8), None),  # at the floor the value repeats
        ([(4, 0, 2), (2, 0, 2), (1, 0, 20)], (12, 12), 2),
        ([(64, 0, 1), (32, 500, 3), (16, 900, 5), (8, 1500, 7)], (4, 16), None),  # no number of ranks fits
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
        ({512: 8, 256: 8, 128: 8, 64: 6}, (4, 4)),  # the log was cut
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


@pytest.mark.parametrize(("spacing", "skew"), [(0, 16), (4, 16), (5, 20), (10, 40)])
def test_copies_of_a_message_are_a_few_printed_steps_apart(spacing: int, skew: int) -> None:
    near, far = occurrences((512, 0, 1)), occurrences((512, 0, 1))
    assert near.add(512, skew, spacing) is False
    assert far.add(512, skew + 1, spacing) is True
    near.add(256, skew, spacing)
    far.add(256, skew + 1, spacing)
    assert (near.count(None, 1).calibrating, far.count(None, 1).calibrating) == (2, 1)


def test_a_scale_that_had_the_time_to_grow_is_no_copy() -> None:
    near, far = occurrences((512, 0, 1)), occurrences((512, 0, 1))
    assert (near.add(512, 999, 500), far.add(512, 1000, 500)) == (False, True)


def test_copies_that_spread_are_one_overflow_from_their_first_to_their_last() -> None:
    found = occurrences((512, 0, 1))
    assert [found.add(512, at, 1) for at in (15, 30, 46, 60, 77, 90, 84, 83)] == [False] * 4 + [True] + [False] * 3


@pytest.mark.parametrize(("others", "new"), [(3, False), (4, True)])
def test_the_last_four_messages_are_kept_for_copies(others: int, new: bool) -> None:
    found = occurrences((512, 0, 1), *((2.0**at, 0, 1) for at in range(others)))
    assert found.add(512, 0) is new


def test_a_value_that_is_not_a_number_is_no_value() -> None:
    found = occurrences((float("nan"), 0, 1), (512, 1, 1))
    assert (found.count(None, None).calibrating, bounds(found.count(None, None))) == (1, (1, 2))


def test_a_value_that_returns_after_other_messages_is_not_lower() -> None:
    found = occurrences((512, 0, 1), *[(float("nan"), 0, 1)] * 4, (512, 0, 1), (256, 0, 1))
    count = found.count(None, 1)
    assert (bounds(count), count.calibrating) == ((7, 7), 1)


def test_known_values_are_counted_and_new_ones_left_out_at_the_limit() -> None:
    found = Occurrences()
    for number in range(5000):
        found.add(float(number + 2), number * 1000, 10, copies=number + 1)
    found.add(2.0, 9_000_000, 10)
    found.rose()
    assert (len(found._values), found._values[2.0], len(found._sizes)) == (4096, 2, 4096)


def test_given_ranks_stay_if_there_are_no_messages() -> None:
    assert Occurrences().count(100, 8).ranks == 8


@pytest.mark.parametrize(
    ("copies", "expected", "ranks"),
    [
        ([1, 1, 1, 2], (5, 5), 1),
        ([2, 2, 2, 4, 4, 6, 8], (14, 14), 2),  # each is a multiple of what three are
        ([2, 2, 4, 4, 6], (9, 18), None),  # two are not enough to be sure
        ([2, 2, 2, 3, 5, 7], (10, 12), 2),  # half of them, and some messages are missing
        ([2, 2, 2, 3, 5, 7, 9], (7, 30), None),
        ([1, 1, 2], (4, 4), 1),
        ([1, 2], (2, 3), None),  # one rank, or two of which a message is missing
        ([4, 4, 4, 2, 2, 2], (9, 9), 2),
        ([3, 3, 3, 2], (4, 4), 3),
        ([3, 3, 2], (3, 8), None),
        ([6, 4], (5, 10), None),
    ],
)
def test_copies_of_each_value_give_the_ranks_of_a_log_without_steps(
    copies: list[int], expected: tuple[int, int], ranks: int | None
) -> None:
    for some in (copies, copies[::-1]):
        count = occurrences(*((2.0**-at, None, many) for at, many in enumerate(some))).count(None, None)
        assert (bounds(count), count.ranks) == (expected, ranks)


@pytest.mark.parametrize(
    ("copies", "expected", "ranks"),
    [
        ([8, 4, 4], (3, 4), 4),  # as many of 8 as of 4 above the lowest value: a visit of 8 is one or two overflows
        ([4, 8, 4], (3, 4), 4),
        ([8, 4, 2, 8], (4, 11), None),
        ([8, 8, 4, 8], (4, 4), 8),
        ([1, 1, 3], (5, 5), 1),
        ([2, 3], (2, 3), 2),
        ([9, 9, 3], (3, 3), 9),
    ],
)
def test_visits_above_the_lowest_value_give_the_ranks(
    copies: list[int], expected: tuple[int, int], ranks: int | None
) -> None:
    """Each value is printed a thousand steps after the one before it; the last is the lowest."""
    count = occurrences(*((2.0 ** (20 - at), 1000 * at, many) for at, many in enumerate(copies))).count(None, None)
    assert (bounds(count), count.ranks) == (expected, ranks)


@pytest.mark.parametrize(
    ("value", "copies", "expected"),
    [
        (1, [1], (1, 1)),
        (1, [1, 1], (2, 2)),
        (1, [2], (1, 2)),
        (1, [1, 2], (1, 3)),
        (2, [2, 2], (2, 2)),
        (2, [1, 2], (2, 3)),
    ],
)
def test_at_the_floor_of_the_scale_a_value_repeats(value: float, copies: list[int], expected: tuple[int, int]) -> None:
    found = occurrences(*((value, 1000 * at, many) for at, many in enumerate(copies)))
    assert bounds(found.count(None, None)) == expected


def test_the_basis_names_several_ranks_only() -> None:
    assert occurrences((512, 0, 3)).count(None, 1).basis == "3 messages"
    assert occurrences((512, 0, 3)).count(None, 3).basis == "3 messages of 3 ranks"


@given(
    values=st.lists(st.integers(0, 12), min_size=1, max_size=9, unique=True).map(
        lambda some: sorted(some, reverse=True)
    ),
    ranks=st.integers(1, 9),
    apart=st.integers(0, 200),
)
def test_overflows_of_a_falling_scale_are_counted_once_for_any_number_of_ranks(
    values: list[int], ranks: int, apart: int
) -> None:
    """The bounds contain the truth; with the number of ranks they are exact."""
    messages = []
    for number, value in enumerate(values):
        messages += [(2.0**value, number * apart, 1)] * ranks
    assert bounds(occurrences(*messages).count(None, ranks)) == (len(values), len(values))
    low, high = bounds(occurrences(*messages).count(None, None))
    assert low <= len(values) <= high
