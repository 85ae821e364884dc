"""One counter of steps of a log, and which of several counts."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opsinfo_cli.runs.columns import Table
from opsinfo_cli.runs.step_counters import StepCounters
from opsinfo_cli.runs.step_fields import BARS, EPOCHS, NAMED, Field, Row, line_spot
from opsinfo_cli.runs.track import Track

STEP, GLOBAL, EPOCH, BAR = (NAMED, b"step"), (NAMED, b"global_step"), (EPOCHS, b""), (BARS, b"bar of 10")


def track(*found: Field) -> Track:
    taken = Track(found[0])
    for each in found[1:]:
        taken.take(each)
    return taken


def named(*steps: int, kind: tuple[int, bytes] = STEP) -> list[Field]:
    return [Field(kind, 0, step, 0) for step in steps]


def epochs(*places: tuple[int, int], length: int = 10) -> list[Field]:
    return [Field(EPOCH, epoch, step, length) for epoch, step in places]


@pytest.mark.parametrize(
    ("found", "total", "spacing"),
    [
        (named(1, 2, 3, 10), 10, 1),
        (named(0, 1, 9), 10, 1),
        (named(0, 10, 20), 21, 10),
        (named(10, 20, 30), 30, 10),
        (named(20, 30, 40), 40, 10),
        (named(21, 31, 41), 30, 10),  # begins after a resume
        (named(5, 5, 8), 8, 3),
        (named(30), None, 0),
        (named(30, 30), None, 0),
        (named(30, kind=GLOBAL), 30, 0),
        (named(0, kind=GLOBAL), 0, 0),
        (named(0, 5, 10, kind=BAR), 10, 5),
        (epochs((0, 0), (0, 1), (0, 9)), 10, 1),
        (epochs((0, 0), (0, 5), (0, 10)), 10, 5),
        (epochs((1, 1), (1, 2), (1, 10)), 10, 1),
        (epochs((0, 0), (0, 9), (1, 5)), 16, 9),
        (epochs((1, 5), (1, 10), (2, 5)), 15, 5),
        (epochs((5, 0), (5, 1), (5, 9)), 10, 1),  # epochs 1 to 4 were made before
        (epochs((0, 9), (1, 0), (1, 1)), 3, 1),  # begins after a resume
        (epochs((0, 3), (1, 2), length=0), None, 1),  # begins again, and no length shows how many there were
    ],
)
def test_the_first_second_and_last_field_give_the_number_of_steps(
    found: list[Field], total: int | None, spacing: int
) -> None:
    taken = track(*found)
    assert (taken.total, taken.spacing) == (total, spacing)


@pytest.mark.parametrize(
    ("steps", "total"),
    [
        ([1, 2, 10, 2], 10),  # another rank may be 8 steps late
        ([1, 2, 10, 1], None),
        ([1, 2, 20, 10], 20),  # or half of the run
        ([1, 2, 20, 9], None),
        ([1, 2, 20, 10, 21], 21),
        ([1, 2, 20, 9, 21], None),
        ([1, 2, 20, 9, 20], None),
    ],
)
def test_a_counter_that_begins_again_gives_no_number_of_steps(steps: list[int], total: int | None) -> None:
    assert track(*named(*steps)).total == total
    for groups in ([steps[1:]], [steps[1:3], steps[3:]]):
        by_steps, by_rows = track(*named(steps[0])), track(*named(steps[0]))
        for group in groups:
            by_steps.take_steps(group)
            by_rows.take_rows([(0, step, 0) for step in group])
        assert (by_steps.total, by_rows.total) == (total, total)


@pytest.mark.parametrize(
    ("places", "total"),
    [
        ([(0, 1), (0, 2), (1, 5), (0, 9)], 15),
        ([(0, 1), (0, 2), (2, 9), (2, 1)], 29),
        ([(0, 1), (0, 2), (2, 10), (2, 1)], None),
        ([(0, 1), (0, 2), (2, 10), (1, 1)], None),
    ],
)
def test_a_late_field_of_the_epoch_before_is_another_ranks(places: list[tuple[int, int]], total: int | None) -> None:
    found = epochs(*places)
    assert track(*found).total == total


rows = st.tuples(st.integers(0, 3), st.integers(0, 40), st.sampled_from([0, 10, 10, 10]))


@given(st.lists(st.lists(rows, min_size=1, max_size=8), min_size=1, max_size=5))
@example([[(0, 1, 10), (0, 2, 10), (0, 5, 10)], [(0, 3, 10), (0, 5, 20)]])
@example([[(0, 1, 10), (0, 2, 10), (0, 5, 10)], [(0, 5, 20)]])
@example([[(0, 1, 0), (0, 20, 0)], [(0, 12, 0), (0, 13, 0)], [(0, 9, 0), (0, 10, 0)]])
@example([[(0, 1, 0), (0, 10, 0)], [(0, 2, 0), (0, 3, 0)], [(0, 1, 0), (0, 2, 0)]])
@example([[(0, 1, 0), (0, 9, 0)], [(0, 9, 0), (1, 3, 0), (1, 4, 0)]])
@example([[(0, 1, 9), (0, 9, 9)], [(0, 9, 9), (1, 3, 9), (1, 4, 0)]])
def test_a_counter_taken_in_rows_is_the_counter_taken_field_by_field(groups: list[list[Row]]) -> None:
    first = Field(EPOCH, *groups[0][0])
    at_once, single = Track(first), Track(first)
    for group in groups:
        at_once.take_rows(group)
        for row in group:
            single.take(Field(EPOCH, *row))
    assert vars(at_once) == vars(single)


def test_rows_that_rise_or_that_are_late_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = track(*epochs((1, 1), (1, 2)))
    monkeypatch.setattr(taken, "take", None)
    taken.take_rows([(1, 2, 10), (1, 3, 10)])
    taken.take_rows([(1, 10, 10), (2, 1, 10), (2, 9, 10)])
    taken.take_rows([(2, 1, 10), (1, 10, 10)])
    assert (taken.seen, taken.last.step, taken.broken) == (9, 9, False)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=9).map(sorted), st.integers(0, 12))
def test_a_rising_counter_is_known_by_its_ends(steps: list[int], before: int) -> None:
    at_once, single = (track(*named(0, 1, before)) for _ in range(2))
    at_once.take_rising((0, steps[0], 0), (0, steps[-1], 0), len(steps))
    for each in named(*steps):
        single.take(each)
    assert vars(at_once) == vars(single)


# Several counters

LINES = [b"step: %d", b"iter: %d", b"Epoch: [0][%d/90]", b"Epoch: [1][%d/90]", b"epoch 1 step %d/90"]
groups = st.lists(
    st.tuples(st.sampled_from(LINES), st.lists(st.integers(0, 60), min_size=1, max_size=6)), min_size=1, max_size=8
)


@given(groups)
def test_a_table_of_lines_is_taken_as_its_lines_are(groups: list[tuple[bytes, list[int]]]) -> None:
    at_once, single = StepCounters(), StepCounters()
    for line, steps in groups:
        lines = [line % step for step in steps]
        spots = [spot for each in lines if (spot := line_spot(each))]
        expected = []
        for each, spot in zip(lines, spots, strict=True):
            single.take(spot.read(each))
            expected.append(single.at or 0)
        if spots[0].is_plain:
            assert at_once.take_table(Table.of(lines, spots)) == expected
        else:
            fields = [spot.read(each) for each, spot in zip(lines, spots, strict=True)]
            assert at_once.take_rows(spots[0].kind, [field[1:] for field in fields]) == expected
        assert (at_once.at, at_once.seen, at_once.spacing) == (single.at, single.seen, single.spacing)
    assert [vars(each) for each in at_once._kinds.values()] == [vars(each) for each in single._kinds.values()]


def counters(*kinds: tuple[tuple[int, bytes], list[int]]) -> StepCounters:
    taken = StepCounters()
    for kind, steps in kinds:
        for each in named(*steps, kind=kind):
            taken.take(each)
    return taken


ITER = (NAMED, b"iter")


@pytest.mark.parametrize(
    ("steps", "others", "note"),
    [
        ([*range(1, 101)], [*range(1, 90), 110], None),
        ([*range(1, 101)], [*range(1, 90), 111], "steps are `step` (100); `iter` shows 111"),
        ([*range(1, 101)], [*range(1, 91)], None),
        ([*range(1, 101)], [*range(1, 90)], "steps are `step` (100); `iter` shows 89"),
        ([*range(1, 11)] * 3, [1, 2, *[11] * 20], None),
        ([*range(1, 4), *[10] * 30], [1, 2, *[11] * 20], None),
        ([*range(1, 4), *[10] * 30], [1, 2, *[12] * 20], "steps are `step` (10); `iter` shows 12"),
        ([*range(1, 101)], [*range(1, 20), 200], "steps are `step` (100); `iter` shows 200"),
        ([*range(1, 101)], [*range(1, 19), 200], None),
        ([*range(1, 101)], [*range(1, 50), 1], None),
    ],
)
def test_a_counter_that_shows_another_number_of_steps_is_noted(
    steps: list[int], others: list[int], note: str | None
) -> None:
    assert counters((STEP, steps), (ITER, others)).note == note
    assert counters((ITER, others), (STEP, steps)).note == note


def test_a_bar_and_epochs_are_not_compared() -> None:
    taken = counters((STEP, [*range(1, 101)]), (BAR, [*range(50)]))
    assert (taken.total, taken.note) == (100, None)
    for each in epochs(*((0, step) for step in range(50)), length=50):
        taken.take(each)
    assert (taken.total, taken.note) == (50, None)


def test_a_log_without_a_number_of_steps_has_no_note() -> None:
    taken = counters((STEP, [1, 2, 30, 1, 30]), (GLOBAL, [7] * 20))
    assert (taken.total, taken.note) == (None, None)


@pytest.mark.parametrize(
    ("kinds", "total"),
    [
        ([(STEP, [1, 2, 3]), (ITER, [1, 2, 3, 9])], 9),  # the one that was printed more often
        ([(STEP, [1, 2, 3, 9]), (ITER, [1, 2, 3, 8])], 9),  # the one further on
        ([(STEP, [5, 5, 5, 5]), (BAR, [1, 2])], 2),  # the one that moves
        ([(STEP, [1, 2, 30, 1, 30]), (BAR, [1, 9])], 9),  # the one that does not begin again
        ([(STEP, [1, 2, 30, 1, 30])], None),
        ([(GLOBAL, [7])], 7),
        ([(STEP, [7])], None),
        ([], None),
    ],
)
def test_the_most_complete_counter_gives_the_steps(
    kinds: list[tuple[tuple[int, bytes], list[int]]], total: int | None
) -> None:
    assert counters(*kinds).total == total


@pytest.mark.parametrize(("bars", "at"), [(255, 5), (256, 1)])
def test_counters_are_kept_up_to_a_limit(bars: int, at: int) -> None:
    taken = counters(*(((BARS, b"bar of %d" % length), [1]) for length in range(bars)), (STEP, [5]))
    assert (taken.at, taken.seen) == (at, bars + 1)
    assert taken.take_rows(ITER, [(0, 9, 0), (0, 10, 0)]) == [at, at]
    assert taken.seen == bars + 3


def test_a_log_without_fields_has_no_step() -> None:
    taken = StepCounters()
    assert (taken.at, taken.spacing, taken.total, taken.note) == (None, 0, None, None)


def test_a_step_of_the_epoch_before_the_first_is_at_the_start() -> None:
    """Epochs from 1, and then a field of epoch 0."""
    taken = StepCounters()
    assert taken.take_rows(EPOCH, [(1, 0, 10), (1, 1, 10), (0, 3, 10), (1, 2, 10)]) == [0, 1, 0, 2]
    taken.take(Field(EPOCH, 0, 3, 10))
    assert taken.at == 0


def test_a_log_that_begins_with_a_later_epoch_is_at_its_place_in_the_run() -> None:
    assert StepCounters().take_rows(EPOCH, [(3, 9, 10), (4, 1, 10)]) == [29, 31]
