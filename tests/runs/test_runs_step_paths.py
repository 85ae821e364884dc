"""Steps are read at once or shape by shape if a text allows it, with the answer of reading line by line."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from log_reading import fields_state

from opsinfo_cli.runs import steps as step_module
from opsinfo_cli.runs.shapes import ZEROS
from opsinfo_cli.runs.sheet import Sheet
from opsinfo_cli.runs.step_fields import FIELDS, NEAR
from opsinfo_cli.runs.steps import StepFields

MEBIBYTE = 1 << 20
LOOK = 1 << 14
GAP = 1 << 10
NOTHING = b"nothing to read\n"


def shown(steps: Iterable[int], line: bytes = b"step: %d\n") -> bytes:
    return b"".join(line % step for step in steps)


def at_the_end(text: bytes, size: int) -> bytes:
    """A window of a size that ends with a text."""
    return b"x" * (size - len(text) - 1) + b"\n" + text


def begun(*steps: int, line: bytes = b"step: %d\n") -> StepFields:
    """Fields that know a counter, so that the next steps can be taken at once."""
    fields = StepFields()
    data = shown(steps, line)
    fields.finish(Sheet(data, len(data)))
    return fields


def finished(fields: StepFields, data: bytes, by_shape: bool = False) -> int:
    """Read a window; returns the number of fields read so far."""
    fields.finish(Sheet(data, len(data), by_shape))
    return fields.seen


# Windows


def test_every_step_of_the_first_two_mebibytes_is_read_and_then_the_last_of_each_window() -> None:
    fields = StepFields()
    window, short = at_the_end(shown(range(1, 41)), MEBIBYTE), shown(range(1, 41))
    assert [finished(fields, window) for _ in range(3)] == [40, 80, 80 + FIELDS]
    assert finished(fields, short) == 80 + 2 * FIELDS


def test_every_step_of_short_windows_is_read_before_two_mebibytes() -> None:
    fields = StepFields()
    assert [finished(fields, shown(range(1, 41))) for _ in range(2)] == [40, 80]
    assert finished(fields, NOTHING * (2 * MEBIBYTE // len(NOTHING) - 100)) == 80
    assert finished(fields, shown(range(1, 41))) == 120


@pytest.mark.parametrize(("after", "last"), [(LOOK - 9, 2), (LOOK - 8, 1)], ids=["inside", "cut"])
def test_the_end_of_a_window_is_read_and_the_rest_only_if_it_has_no_step(
    after: int, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of 8 characters, and one line before it that is too far from the end."""
    monkeypatch.setattr(step_module, "_WHOLE", 0)
    fields = StepFields()
    far = b"step: 1\n" + b"x" * LOOK + b"\n"
    assert finished(fields, far) == 1
    assert finished(fields, far + b"step: 2\n" + b"x" * after + b"\n") == 2
    assert fields.at == last


@pytest.mark.parametrize("whole", [0, 2 * MEBIBYTE])
@pytest.mark.parametrize(
    "line",
    [
        b"step: %d loss 1.5\n",
        b"Epoch: [0][%d/900] loss\n",
        b"epoch:[ 2/9], step:[%d/ 900], loss\n",
        (b"step: %d " + b"x" * 502)[:510] + b"\n",
        b"x" * (LOOK // FIELDS - 11) + b" step: %d\n",
    ],
    ids=["name", "epochs", "epochs by name", "long", "longest"],
)
def test_a_window_of_one_kind_of_line_is_taken_at_once(
    whole: int, line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_module, "_WHOLE", whole)
    data = shown(range(100, 200), line)
    single, at_once = StepFields(), StepFields()
    single.finish(Sheet(data, len(data)))
    monkeypatch.setattr(at_once, "advance", None)
    assert finished(at_once, data, by_shape=True) == (100 if whole else FIELDS)
    assert fields_state(at_once) == fields_state(single)


def test_as_many_lines_as_are_read_of_a_window_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_module, "_WHOLE", 0)
    line = b"x" * (LOOK // FIELDS - 10) + b" step: %d\n"
    data = shown(range(10, 10 + FIELDS), line)
    fields = StepFields()
    monkeypatch.setattr(fields, "advance", None)
    assert len(data) == LOOK
    assert finished(fields, data, by_shape=True) == FIELDS


def test_of_lines_that_are_too_long_together_those_at_the_end_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_module, "_WHOLE", 0)
    data = shown(range(10, 10 + FIELDS), b"step: %d" + b"x" * (LOOK // FIELDS - 8) + b"\n")
    assert [finished(StepFields(), data, by_shape) for by_shape in (True, False)] == [FIELDS - 1] * 2


def test_fewer_lines_than_are_read_of_a_window_are_read_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_module, "_WHOLE", 0)
    data = shown(range(10, 10 + FIELDS - 1), b"step: %d" + b"x" * 50 + b"\n")
    assert [finished(StepFields(), data, by_shape) for by_shape in (True, False)] == [FIELDS - 1] * 2


@pytest.mark.parametrize("whole", [0, 2 * MEBIBYTE])
def test_a_line_that_is_too_long_to_be_searched_whole_keeps_a_window_from_being_taken_at_once(
    whole: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_module, "_WHOLE", whole)
    for length in (NEAR, NEAR + 1):
        line = b"x" * (length - 8) + b" step: %d\n"
        data = shown([7, 8, 9], line)
        single, by_shape = StepFields(), StepFields()
        if whole and length == NEAR:
            monkeypatch.setattr(by_shape, "advance", None)
        assert finished(by_shape, data, by_shape=True) == finished(single, data)
        assert fields_state(by_shape) == fields_state(single)


@pytest.mark.parametrize("by_shape", [False, True])
def test_after_a_window_without_steps_the_next_is_not_searched(by_shape: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_module, "_WHOLE", 0)
    fields = StepFields()
    bare = b"one step of many\n" * 100
    assert finished(fields, bare, by_shape) == 0
    with monkeypatch.context() as patch:
        patch.setattr(step_module, "last_spots", None)
        if by_shape:
            patch.setattr(fields, "advance", None)
        assert finished(fields, bare, by_shape) == 0
    assert finished(fields, bare + b"step: 5\n" + bare, by_shape) == 1
    assert finished(fields, bare, by_shape) == 1
    assert fields.at == 5


@pytest.mark.parametrize("by_shape", [False, True])
def test_only_after_a_window_without_steps_are_shapes_looked_at_first(
    by_shape: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_module, "_WHOLE", 0)
    fields, bare, data = StepFields(), b"one step of many\n" * 100, shown(range(200))
    with monkeypatch.context() as patch:
        patch.setattr(step_module, "is_bare", None)
        assert [finished(fields, data), finished(fields, bare)] == [FIELDS] * 2
    assert finished(fields, data, by_shape) == 2 * FIELDS
    monkeypatch.setattr(step_module, "is_bare", None)
    assert finished(fields, data) == 3 * FIELDS


# Texts between messages


def swept(fields: StepFields, gaps: list[bytes], first_end: int = 0) -> bool:
    fields.skip(first_end)
    return fields.sweep(gaps, first_end, first_end + sum(map(len, gaps)))


def one_by_one(fields: StepFields, gaps: list[bytes]) -> None:
    data, end = b"".join(gaps), 0
    for gap in gaps:
        end += len(gap)
        fields.advance(data, end)


@pytest.mark.parametrize(
    ("steps", "taken"),
    [
        ([2, 3, 4, 5], True),
        ([2, 2, 2, 3], True),
        ([1, 1, 1, 1], True),
        ([3, 19, 20, 36], True),  # 16 steps are near enough to be copies
        ([3, 20, 21, 22], False),
        ([18, 19, 20, 21], False),
        ([2, 4, 3, 5], False),
        ([0, 1, 2, 3], False),
    ],
)
@pytest.mark.parametrize("line", [b"step: %d\n", b"Epoch: [0][%d/900]\n", b"epoch:[ 1/9], step:[%d/ 900]\n"])
def test_texts_between_messages_are_taken_at_once_if_their_steps_rise_by_little(
    steps: list[int], taken: bool, line: bytes
) -> None:
    gaps = [line % step for step in steps]
    at_once, single = begun(0, 1, line=line), begun(0, 1, line=line)
    assert swept(at_once, gaps, first_end=50) is taken
    if taken:
        assert (at_once.since, at_once.at, at_once.seen) == (steps[0], steps[-1], 2 + len(steps))
        one_by_one(single, gaps)
        assert fields_state(at_once) == fields_state(single)
    else:
        assert (at_once.since, at_once.at, at_once.seen) == (None, 1, 2)


def test_the_distance_of_printed_steps_makes_copies_spread_further() -> None:
    """Four times the distance of 10."""
    assert swept(begun(0, 10), [b"step: %d\n" % step for step in (50, 90, 130)])
    assert not swept(begun(0, 10), [b"step: %d\n" % step for step in (51, 90, 130)])


@pytest.mark.parametrize("gaps", [[b"nothing here\n"] * 4, [b"nothing\n", b"to read\n", b"here\n"]])
def test_texts_without_steps_leave_the_messages_at_the_last_step(gaps: list[bytes]) -> None:
    fields = begun(0, 7)
    assert swept(fields, gaps)
    assert (fields.since, fields.at, fields.seen) == (7, 7, 2)


@pytest.mark.parametrize(("length", "taken"), [(GAP, True), (GAP + 1, False)])
def test_only_short_texts_are_taken_at_once(length: int, taken: bool) -> None:
    assert swept(begun(0, 1), [b"step: 2 ".ljust(length - 1) + b"\n", b"step: 3\n"]) is taken


def test_texts_that_were_read_are_not_taken_again() -> None:
    fields = begun(0, 1)
    fields.skip(10)
    assert not fields.sweep([b"step: 2\n"] * 4, 9, 41)
    assert fields.sweep([b"step: 2\n"] * 4, 10, 42)
    assert not fields.sweep([b"step: 2\n"] * 4, 41, 90)


@pytest.mark.parametrize(
    "gaps",
    [
        [b"step: 2\n", b"step: 3\niter: 3\n", b"step: 4\n"],
        [b"iter: 2\n", b"iter: 3\n", b"iter: 4\n"],
        [b"| 2/9 [00:01, 2it/s]\n", b"| 3/9 [00:01, 2it/s]\n"],
    ],
    ids=["beside", "alone", "bar"],
)
def test_texts_with_a_new_counter_are_read_one_by_one(gaps: list[bytes]) -> None:
    fields = begun(0, 1)
    assert not swept(fields, gaps)
    assert (fields.seen, fields.at) == (2, 1)


def test_texts_of_a_log_without_a_second_step_are_read_one_by_one() -> None:
    assert not swept(begun(1), [b"step: 2\n", b"step: 3\n"])
    assert not swept(StepFields(), [b"step: 2\n", b"step: 3\n"])


@pytest.mark.parametrize(("first", "made"), [(0, 10), (1, 10), (3, 30)])
def test_epochs_between_messages_give_the_place_in_the_run(first: int, made: int) -> None:
    """Epochs are numbered from 0 or 1; a log that begins with another one is resumed."""
    line = b"Epoch: [%d][%d/10]\n"
    rows = [(first, 8), (first, 9), (first + 1, 1), (first + 1, 2)]
    for also in (b"", b"iter: 1\n"):
        gaps = [line % row + also for row in rows]
        fields = StepFields()
        finished(fields, b"".join(gaps[:2]))
        assert swept(fields, gaps[2:])
        assert (fields.since, fields.at, fields.seen) == (made + 1, made + 2, 8 if also else 4)


def test_another_counter_between_messages_leaves_the_step() -> None:
    fields = StepFields()
    finished(fields, b"step: 0\niter: 0\nstep: 5\niter: 5\nstep: 6\n")
    assert swept(fields, [b"iter: 6\n", b"iter: 7\n", b"iter: 8\n"])
    assert (fields.since, fields.at, fields.seen) == (6, 6, 8)


def test_lines_whose_shapes_have_no_step_are_known_to_have_none() -> None:
    assert begun(0, 1).has_none([b"nothing", b"step of many"]) is True
    assert begun(0, 1).has_none([b"nothing", b"step: 0"]) is False


@pytest.mark.parametrize("gaps", [[b"iter: 2\niter: 3\n", b"iter: 4\niter: 5\n"], [b"iter: 2\n", b"iter: 3\n"]])
def test_messages_at_step_zero_stay_there_if_only_another_counter_moves(gaps: list[bytes]) -> None:
    fields = StepFields()
    finished(fields, b"step: 1\niter: 0\nstep: 0\niter: 1\n")
    assert swept(fields, gaps)
    assert (fields.since, fields.at, fields.seen) == (0, 0, 4 + b"".join(gaps).count(b"iter"))


# Lines between messages


def lines_swept(fields: StepFields, lines: list[bytes], first: int = 1, most: int = 1) -> bool:
    shapes = [line.translate(ZEROS) for line in lines]
    return fields.sweep_lines(lines, shapes, first, most, 0, sum(map(len, lines)) + len(lines))


@pytest.mark.parametrize(
    "line", [b"step: %d", b"Epoch: [0][%d/900]", b"TRAIN 0 [%d/900]"], ids=["name", "epochs", "TRAIN"]
)
@pytest.mark.parametrize("first", [1, 2, 3])
def test_lines_of_one_counter_are_taken_as_a_column(line: bytes, first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line % step for step in (8, 9, 10, 10, 12, 14)]
    at_once, single = begun(6, 7, line=line + b"\n"), begun(6, 7, line=line + b"\n")
    monkeypatch.setattr(at_once, "_take_moved", None)
    assert lines_swept(at_once, lines, first)
    assert (at_once.since, at_once.at) == ([8, 9, 10][first - 1], 14)
    finished(single, b"".join(each + b"\n" for each in lines))
    assert fields_state(at_once) == fields_state(single)


@pytest.mark.parametrize(
    ("steps", "most", "taken"),
    [
        ([8, 24, 24], 1, True),
        ([8, 25, 25], 1, False),
        ([24, 25, 26], 1, False),
        ([23, 25, 26], 1, True),
        ([8, 16, 17], 2, True),
        ([8, 17, 18], 2, False),
        ([8, 10, 9], 1, False),
        ([6, 7, 8], 1, False),
        ([7, 7, 7], 1, True),
    ],
)
@pytest.mark.parametrize("line", [b"step: %d", b"Epoch: [0][%d/900]"])
def test_lines_are_taken_at_once_if_the_step_rises_by_little_between_messages(
    steps: list[int], most: int, taken: bool, line: bytes
) -> None:
    fields = begun(6, 7, line=line + b"\n")
    assert lines_swept(fields, [line % step for step in steps], 1, most) is taken
    assert (fields.since, fields.at, fields.seen) == ((steps[0], steps[-1], 5) if taken else (None, 7, 2))


def test_lines_without_a_step_are_not_counted_among_those_before_a_message() -> None:
    fields = begun(6, 7)
    assert lines_swept(fields, [b"nothing", b"step: 8", b"nothing", b"step: 9"], first=2)
    assert (fields.since, fields.at, fields.seen) == (8, 9, 4)
    assert lines_swept(begun(6, 7), [b"nothing"] * 3)


def test_lines_whose_epoch_may_have_no_length_are_read_one_by_one() -> None:
    line = b"epoch:[ 1/9], step:[%d/ 900]"
    assert not lines_swept(begun(6, 7, line=line + b"\n"), [line % 8, line % 9])


def test_lines_of_several_epochs_give_the_place_in_the_run() -> None:
    fields = begun(8, 9, line=b"Epoch: [1][%d/10]\n")
    assert lines_swept(fields, [b"Epoch: [1][10/10]", b"Epoch: [2][1/10]", b"Epoch: [2][2/10]"])
    assert (fields.since, fields.at, fields.seen) == (10, 12, 5)


def test_lines_of_another_counter_leave_the_step() -> None:
    fields = StepFields()
    finished(fields, b"step: 0\niter: 0\nstep: 5\niter: 5\nstep: 6\n")
    assert lines_swept(fields, [b"iter: 6", b"iter: 7", b"iter: 30"])
    assert (fields.since, fields.at, fields.seen) == (6, 6, 8)


def test_lines_that_were_read_are_not_taken_again() -> None:
    fields = begun(6, 7)
    fields.skip(10)
    assert not fields.sweep_lines([b"step: 8"], [b"step: 0"], 1, 1, 9, 20)
    assert fields.sweep_lines([b"step: 8"], [b"step: 0"], 1, 1, 10, 20)
    assert not fields.sweep_lines([b"step: 9"], [b"step: 0"], 1, 1, 19, 30)
