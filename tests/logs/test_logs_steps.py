"""The steps that lines show, the counters made of them, and the step at a place of a log."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_reading import evidence_of, log_of

from opsinfo_cli.logs.blocks import Block
from opsinfo_cli.logs.log import Log
from opsinfo_cli.logs.steps import BARS, EPOCHS, NAMED, Field, Kind, StepCounters, Steps, _FieldTrack, step_field

STEP, GLOBAL, ITER = Kind(NAMED, b"step"), Kind(NAMED, b"global_step"), Kind(NAMED, b"iter")
GLOBAL_ITER = Kind(NAMED, b"global_iter")
EPOCH, BAR = Kind(EPOCHS, b""), Kind(BARS, b"bar of 10")


# Lines


@pytest.mark.parametrize(
    ("line", "kind", "place"),
    [
        (b"step5", STEP, (0, 5, 0)),
        (b"step: 5", STEP, (0, 5, 0)),
        (b"STEP = [ 5/ 90]", STEP, (0, 5, 0, 90)),
        (b"step'" + b" " * 4 + b"=" + b" " * 4 + b"[" + b" " * 8 + b"5", STEP, (0, 5, 0)),
        (b"'global_step': 7, 'loss': 1", GLOBAL, (0, 7, 0)),
        (b"global_steps: 7", Kind(NAMED, b"global_steps"), (0, 7, 0)),
        (b"training_steps': 7", Kind(NAMED, b"training_steps"), (0, 7, 0)),
        (b"eta: 4:44:47  iter: 20  loss: 2.2", ITER, (0, 20, 0)),
        (b"iteration 7/ 9", Kind(NAMED, b"iteration"), (0, 7, 0, 9)),
        (b"epoch 2 step: 7/90", Kind(EPOCHS, b"step"), (2, 7, 90)),
        (b"epoch 2 step: 7/0", STEP, (0, 7, 0)),
        (b"Epoch: [3][7/90] loss", EPOCH, (3, 7, 90)),
        (b"Train: [3/300][7/90]", EPOCH, (3, 7, 90)),
        (b"TRAIN [3][7/90]", EPOCH, (3, 7, 90)),
        (b"Epoch(train) [3][ 7/90]", EPOCH, (3, 7, 90)),
        (b" 5%|#   | 7/10 [00:01<00:02, 2it/s]", BAR, (0, 7, 0, 10)),
        (b" 5%|#   | 7/10 [00:01<00:02, 2.1s/batch, loss=1]", BAR, (0, 7, 0, 10)),
        (b"7it [00:01, 2it/s]", Kind(BARS, b"bar of 0"), (0, 7, 0)),
        (b"Epoch 1: : 7it [00:01, 2it/s]", Kind(BARS, b"bar of 0"), (0, 7, 0)),
        (b"|  | 7/? [00:01<?, 2it/s]", Kind(BARS, b"bar of 0"), (0, 7, 0)),
        (b"inner iter:   3/  8 | ppo epoch:  2/ 4 | global iter:     27/  5000", GLOBAL_ITER, (0, 27, 0, 5000)),
        (b"step 3 of 8, global_step: 27", GLOBAL, (0, 27, 0)),
        (b"Micro iter 3/8, epoch 1", None, None),
        (b"micro-step: 3", None, None),
        (b"Epoch: [3][7]  Loss 2.1", EPOCH, (3, 7, 0)),
        (b"step: 5.5", None, None),
        (b"my_step: 5", None, None),
        (b"Grad overflow on iteration 21000", None, None),
        (b"one step of many", None, None),
        (b"step: 1234567890123456", None, None),
        (b"", None, None),
    ],
)
def test_the_step_of_a_line(line: bytes, kind: Kind | None, place: tuple[int, ...] | None) -> None:
    assert step_field(line) == (Field(kind, *place) if kind and place else None)


@pytest.mark.parametrize(("blanks", "step"), [(2000, 21000), (2034, 21000), (2037, None), (2041, None), (2100, None)])
def test_a_step_far_in_a_line_is_read_whole_or_not_at_all(blanks: int, step: int | None) -> None:
    field = step_field(b" " * blanks + b"step: 21000 of a run")
    assert (field and field.step) == step


# One counter


def track(*fields: Field) -> _FieldTrack:
    taken = _FieldTrack(fields[0])
    for field in fields[1:]:
        taken.take(field)
    return taken


def named(*steps: int, kind: Kind = STEP) -> list[Field]:
    return [Field(kind, 0, step, 0) for step in steps]


def epochs(*places: tuple[int, int], length: int = 10) -> list[Field]:
    return [Field(EPOCH, epoch, step, length) for epoch, step in places]


def ended(*steps: int, length: int = 10) -> list[Field]:
    return [Field(STEP, 0, step, 0, length) for step in steps]


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
        (epochs((0, 0), (0, 5), (0, 10), (1, 0), (1, 5), length=0), 17, 5),  # at least 11 of the first epoch
        (epochs((1, 5), (1, 10), (2, 5), (2, 10), (3, 5), length=0), 25, 5),
        (epochs((1, 5), (1, 10), (3, 5), length=0), None, 5),  # an epoch is missing
        (ended(40, 100, 40, 100, 40, length=100), 240, 60),  # begins again at its end
        (ended(1, 2, 95, 1, 2, length=100), 102, 1),
        (ended(1, 2, 99, 100, 1, 100, 1, 2, length=100), 102, 1),  # another rank is late
        (ended(5, 8, 0), 8, 3),  # another rank may be 8 steps late
        (ended(5, 80, 5, length=100), None, 75),  # begins again before its end
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


# Several counters


def counters(*kinds: tuple[Kind, list[int]]) -> StepCounters:
    taken = StepCounters()
    for kind, steps in kinds:
        for field in named(*steps, kind=kind):
            taken.take(field)
    return taken


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
def test_the_most_complete_counter_gives_the_steps(kinds: list[tuple[Any, list[int]]], total: int | None) -> None:
    assert counters(*kinds).total == total


@pytest.mark.parametrize(("bars", "at"), [(255, 5), (256, 1)])
def test_counters_are_kept_up_to_a_limit(bars: int, at: int) -> None:
    bar_kinds = [(Kind(BARS, b"bar of %d" % length), [1]) for length in range(bars)]
    assert counters(*bar_kinds, (STEP, [5])).at == at


def test_a_log_without_fields_has_no_step() -> None:
    taken = StepCounters()
    assert (taken.at, taken.spacing, taken.total, taken.note) == (None, 0, None, None)


@pytest.mark.parametrize(
    ("places", "ats"),
    [
        ([(1, 0), (1, 1), (0, 3), (1, 2)], [0, 1, 0, 2]),  # epochs from 1, and then a field of epoch 0
        ([(3, 9), (4, 1)], [29, 31]),
        ([(0, 9), (1, 1)], [9, 11]),
    ],
)
def test_the_place_in_the_run_is_counted_from_the_first_epoch(places: list[tuple[int, int]], ats: list[int]) -> None:
    taken = StepCounters()
    for field, at in zip(epochs(*places), ats, strict=True):
        taken.take(field)
        assert taken.at == at


# The step at a place of a log

OVERFLOW = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {}"


def at_each(lines: list[bytes], places: list[int], *, every: bool = False) -> list[int | None]:
    steps = Steps()
    steps.begin(lines, 0, every)
    return [steps.upto(place).at for place in places]


def test_the_step_before_each_place_is_looked_up() -> None:
    lines = [b"a", b"step: 1", b"b", b"step: 2", b"step: 3", b"c"]
    for every in (False, True):
        assert at_each(lines, [0, 1, 2, 3, 5, 6], every=every) == [None, None, 1, 1, 3, 3]


@given(st.lists(st.sampled_from([b"no", b"step: %d", b"one step"]), max_size=40), st.data())
def test_the_newest_step_is_found_from_any_places(kinds: list[bytes], data: st.DataObject) -> None:
    lines = [kind % number if b"%" in kind else kind for number, kind in enumerate(kinds, 1)]
    places = sorted(data.draw(st.lists(st.integers(0, len(lines)), max_size=5)))
    shown = [[number for number, kind in enumerate(kinds[:place], 1) if b"%" in kind] for place in places]
    assert (
        at_each(lines, places)
        == at_each(lines, places, every=True)
        == [steps[-1] if steps else None for steps in shown]
    )


def test_every_step_of_the_first_two_mebibytes_is_read_and_then_the_newest_of_each_block() -> None:
    def total_of(first: int) -> int | None:
        log = Log()
        log.take(Block(b"x" * (first - 1) + b"\n", continues=False))
        log.take(Block(b"".join(b"step: %d\n" % step for step in [*range(100, 200), *range(1, 30)]), continues=False))
        log.take(Block(b"step: 30\n", continues=False))
        return log.evidence().count.steps

    assert total_of(1 << 20) is None  # the counter begins again
    assert total_of(1 << 21) == 9  # 22 to 30


@pytest.mark.parametrize("filling", [b"nothing here\n" * 9000, (b"one step of many" + b"x" * 900 + b"\n") * 99])
def test_the_rest_of_a_block_is_read_if_its_end_has_no_step(filling: bytes) -> None:
    log = Log()
    log.take(Block(b"x" * (1 << 21) + b"\n", continues=False))
    log.take(Block(b"step: 1\nstep: 2\n" + filling, continues=False))
    assert log.evidence().count.steps == 2


def mask_rcnn(progress: bool) -> bytes:
    """Ranks of FP16_Optimizer print the iteration of each overflow; a block ends with little else."""
    line = b"Grad overflow on iteration  21000\nUsing dynamic loss scale of 65536.0\n"
    return b"iter: 20990 loss: 2.2\n" * progress + line * 800


@pytest.mark.parametrize("cut", range(72))
def test_a_line_is_never_read_from_its_middle(cut: int) -> None:
    """`Grad overflow on iteration 21000`, cut after `on `, would show a step of 21000."""
    log = Log()
    log.take(Block(b"x" * (1 << 21) + b"\n", continues=False))
    for _ in range(3):
        log.take(Block(b"z" * cut + b"\n" + mask_rcnn(progress=False), continues=False))
    assert log.evidence().count.steps is None
    words = Log()  # no word of a format, so that only the end of the block is looked at
    words.take(Block(b"x" * (1 << 21) + b"\n", continues=False))
    text = b"Gradient on iteration 21000 was large".ljust(70, b".") + b"\n"  # fewer than 256 in what is looked at
    text = text * 300 + b"z" * cut + b"\n"
    words.take(Block(text, continues=False))
    words.take(Block(text.replace(b"21000", b"22000"), continues=False))
    assert words.evidence().count.steps is None


def test_what_continues_a_line_that_was_cut_is_no_line() -> None:
    log = log_of(OVERFLOW.format(8.0) + "\nGrad overflow on ")
    log.take(Block(b"iteration 21000\n" + OVERFLOW.format(4.0).encode() + b"\n", continues=True))
    log.take(Block(b"iteration 22000\n" + OVERFLOW.format(2.0).encode() + b"\n", continues=True))
    evidence = log.evidence()
    assert (evidence.count.steps, evidence.at_is_step) == (None, False)


def test_a_message_is_at_the_step_before_it() -> None:
    evidence = evidence_of("step: 10", OVERFLOW.format(8.0), "step: 20", "step: 30", *[OVERFLOW.format(4.0)] * 3)
    assert [tuple(point) for point in evidence.scale.points] == [(10, 16.0), (10, 8.0), (30, 4.0)]
