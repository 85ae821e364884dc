"""Overflows that several ranks print: flags of steps, and messages with a scale."""

from __future__ import annotations

import pytest
from counts_seen import bounds, flagged, occurrences
from hypothesis import given
from hypothesis import strategies as st
from log_reading import flags_state

from opsinfo_cli.runs import flags as flags_module
from opsinfo_cli.runs.count import Count
from opsinfo_cli.runs.flags import Flags
from opsinfo_cli.runs.occurrences import Occurrences
from opsinfo_cli.runs.visits import skew_of

# Flags

step_groups = st.one_of(
    st.lists(st.tuples(st.none() | st.integers(1, 25), st.booleans()), min_size=1, max_size=6),
    st.builds(
        lambda start, apart, copies, overs: [
            (start + apart * at, over) for at, flags in enumerate(overs) for over in flags[:copies]
        ],
        st.integers(1, 25),
        st.integers(1, 3),
        st.integers(1, 2),
        st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=12),
    ),
)


@given(st.lists(step_groups, max_size=6))
def test_flags_of_more_steps_than_are_remembered_count_as_one_by_one(
    groups: list[list[tuple[int | None, bool]]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flags_module, "_REMEMBERED", 4)
        together, single = Flags(), Flags()
        for group in groups:
            new = [row for row, (step, over) in enumerate(group) if single.add(step, over)]
            assert list(together.add_rows([step for step, _ in group], [over for _, over in group])) == new
        assert together.count(None, None) == single.count(None, None)
        assert flags_state(together) == flags_state(single)
        assert len(together._recent) <= 4


def test_a_rank_that_overflowed_alone_counts_in_a_window_of_more_steps_than_are_remembered() -> None:
    found = Flags()
    steps = [step for step in range(1, 5001) for _ in range(2)]
    found.add_rows(steps, [row in (21, 9001, 9002, 9003) for row in range(10_000)])
    assert (found.overflows, found.printed) == (3, 5000)


@pytest.mark.parametrize("size", [500, 1500, 4096, 9000])
def test_the_newest_4096_steps_are_remembered(size: int) -> None:
    found = Flags()
    for begin in range(1, 9001, size):
        steps = range(begin, min(begin + size, 9001))
        found.add_rows(steps, [False] * len(steps))
    assert [found.add(step, True) for step in (9000, 4905)] == [False, False]
    assert (found.overflows, found.printed) == (2, 9000)
    assert found.add(4904, True)
    assert (found.overflows, found.printed) == (3, 9001)


@pytest.mark.parametrize(
    ("steps", "new"),
    [
        ([10, 20, 30], 3),
        ([7, 9, 10], 3),
        ([6], 1),
        ([None, None], 2),
        ([6, 6, 7, 7, 7, 9], 3),
    ],
    ids=["regular", "rising", "one", "without numbers", "ranks"],
)
def test_flags_after_all_known_ones_are_added_at_once(
    steps: list[int | None], new: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = flagged((1, False), (5, False))
    monkeypatch.setattr(found, "add", None)
    assert len(found.add_rows(steps, [False] * len(steps))) == new
    assert found.printed == 2 + new


@pytest.mark.parametrize("size", [300, 900])
def test_flags_of_runs_that_restarted_are_added_at_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window has the end of a run and the beginning of the next one."""
    steps = [*range(1, 6001), *range(1, 9001), *range(3, 5001)]
    found = Flags()
    monkeypatch.setattr(found, "add", None)
    for begin in range(0, len(steps), size):
        some = steps[begin : begin + size]
        assert len(found.add_rows(some, [step == 7 for step in some])) == len(some)
    assert (found.printed, found.overflows, found.first, found.last) == (19_998, 3, 1, 9000)


def test_the_rows_of_copies_between_runs_are_not_new() -> None:
    found = Flags()
    steps = [*range(1, 101), *range(41, 101), *range(200, 260)]
    assert list(found.add_rows(steps, [False] * len(steps))) == [*range(100), *range(160, 220)]


def test_only_known_steps_at_the_start_of_a_window_are_added_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found = flagged((1, False), (5, False))
    add, added = found.add, []
    monkeypatch.setattr(found, "add", lambda step, over: added.append(step) or add(step, over))
    assert list(found.add_rows([4, 5, 6, 8, 9], [False] * 5)) == [0, 2, 3, 4]
    assert added == [4, 5]
    assert list(found.add_rows([8, 9], [False, True])) == []
    assert (found.overflows, found.printed) == (1, 6)
    assert list(found.add_rows([], [])) == []


@pytest.mark.parametrize(
    ("steps", "apart"),
    [
        ([8, 10, 12], 2),
        ([6, 7], 1),
        ([5, 6], 0),
        ([6], 0),
        ([8, 8], 0),
        ([9, 8], 0),
        ([8, 10, 13], 0),
        ([8, 11, 12], 0),
    ],
)
def test_the_distance_of_steps_is_known_if_all_are_equal(steps: list[int], apart: int) -> None:
    assert flagged((5, False))._apart(steps) == apart


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([(step, False) for step in range(2, 41, 2)], (0, 40, "sampled")),
        ([*((step, False) for step in range(2, 41, 2)), (7, True)], (1, 40, None)),
        ([(step, step == 5) for step in range(1, 21)], (1, 20, None)),
        ([(1, False), (2, True), (9, True)], (2, 9, "sampled")),  # one clean step shows no distance
        ([(1, True), (4, True)], (2, 4, "sampled")),
        ([(1, False), (2, False), (9, True)], (1, 9, "sampled")),
        ([(2, False), (4, False), (7, True)], (1, 7, None)),
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
    at_once, in_windows = Flags(), Flags()
    for together, size in ((at_once, len(flags)), (in_windows, 2)):
        for begin in range(0, len(flags), size):
            some = flags[begin : begin + size]
            together.add_rows([step for step, _ in some], [over for _, over in some])
    for found in (flagged(*flags), at_once, in_windows):
        count = found.count(None, None)
        assert (count.low, count.steps, count.doubt and count.doubt.partition(":")[0]) == expected
        assert count.high == (count.steps if count.doubt else count.low)


def test_the_words_for_doubt_name_what_was_printed() -> None:
    assert flagged((10, True), (20, False), (30, False)).count(None, None) == Count(
        1,
        30,
        30,
        1,
        "flags of 3 steps, 10 to 30",
        doubt="sampled: 1 of 3 printed steps overflowed, of 30 steps made",
        proof="the log prints an overflow flag",
    )
    averaged = flagged((10, True), (20, False))
    averaged.averaged = True
    assert averaged.count(50, None).doubt == "sampled: 1 of 2 flags averaged over several steps, of 50 steps made"


def test_flags_without_steps_are_divided_among_ranks() -> None:
    found = flagged(*((None, number in (0, 1, 2, 7)) for number in range(20)))
    assert found.count(None, 3) == Count(
        2, 2, 6, 1, "20 lines, one per step", 3, proof="the log prints an overflow flag"
    )
    assert found.count(30, None).steps == 30
    assert flagged((None, False)).count(None, None).steps == 1


def test_without_flags_only_the_given_steps_are_known() -> None:
    assert Flags().count(9, 2) == Count(0, 0, 9, 0, "no step")


# Messages


@pytest.mark.parametrize(("spacing", "skew"), [(0, 16), (4, 16), (5, 20), (10, 40)])
def test_copies_of_a_message_are_a_few_printed_steps_apart(spacing: int, skew: int) -> None:
    assert skew_of(spacing) == skew
    for since in (None, skew):
        near, far = occurrences((512, 0, 1)), occurrences((512, 0, 1))
        assert near.add(512, skew, spacing, since=since) is False
        assert far.add(512, skew + 1, spacing, since=since and since + 1) is True
        assert near._visits._in_lead is True
        assert far._visits._in_lead is False


def test_copies_that_spread_are_one_overflow_from_their_first_to_their_last() -> None:
    found = occurrences((512, 0, 1))
    assert [found.add(512, at, 1, since=since) for at, since in ((30, 15), (60, 46), (100, 77))] == [False, False, True]
    assert [found.add(512, at, 1) for at in (90, 84, 83)] == [False, False, True]


@pytest.mark.parametrize(("others", "new"), [(3, False), (4, True)])
def test_the_last_four_messages_are_kept_for_copies(others: int, new: bool) -> None:
    found = occurrences((512, 0, 1), *((2.0**at, 0, 1) for at in range(others)))
    assert found.add(512, 0) is new


def test_a_value_that_is_not_a_number_is_no_value() -> None:
    found = occurrences((float("nan"), 0, 1), (512, 1, 1))
    assert found.values == {512: 1}
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
    assert (len(found.values), found.values[2.0], len(found._visits.sizes)) == (4096, 2, 4096)


def test_given_ranks_stay_if_there_are_no_messages() -> None:
    assert Occurrences().count(100, 8).ranks == 8


@pytest.mark.parametrize(
    ("copies", "expected", "ranks"),
    [
        ([1, 1, 1, 2], (5, 5), 1),
        ([2, 2, 2, 4, 4, 6, 8], (14, 14), 2),  # each is a multiple of what three are
        ([2, 2, 4, 4, 6], (9, 18), None),  # two are not enough to be sure
        ([2, 2, 2, 3, 5, 7], (10, 12), 2),  # half of them, and some messages are missing
        ([2, 2, 2, 3, 5, 7, 9], (30, 30), 1),
        ([4, 4, 4, 2, 2, 2], (9, 9), 2),
        ([3, 3, 3, 2], (3, 4), 3),
        ([3, 3, 2], (8, 8), 1),
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
        ([8, 4, 4], (4, 4), 4),  # as many of 8 as of 4 above the lowest value: a visit of 8 is two overflows
        ([4, 8, 4], (4, 4), 4),
        ([8, 4, 2, 8], (3, 11), None),
        ([8, 8, 4, 8], (3, 4), 8),
        ([1, 1, 3], (5, 5), 1),
        ([2, 3], (2, 3), 2),
        ([9, 9, 3], (2, 3), 9),
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
        (2, [1, 2], (3, 3)),
    ],
)
def test_at_the_floor_of_the_scale_a_value_repeats(value: float, copies: list[int], expected: tuple[int, int]) -> None:
    found = occurrences(*((value, 1000 * at, many) for at, many in enumerate(copies)))
    assert bounds(found.count(None, None)) == expected


def test_the_basis_names_several_ranks_only() -> None:
    assert occurrences((512, 0, 3)).count(None, 1).basis == "3 messages"
    assert occurrences((512, 0, 3)).count(None, 3).basis == "3 messages of 3 ranks"
