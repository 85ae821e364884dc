"""Messages whose scale changes often are taken at once, and count as if each was taken alone."""

from __future__ import annotations

from itertools import cycle, islice

import pytest
from counts_seen import occurrences
from hypothesis import given
from hypothesis import strategies as st
from log_reading import read, state, text_of

from opsinfo_cli.runs.occurrences import Occurrences
from opsinfo_cli.runs.readers.apex import Apex
from opsinfo_cli.runs.readers.bmtrain import BMTrain
from opsinfo_cli.runs.readers.deepspeed import DeepSpeed
from opsinfo_cli.runs.readers.fp16_optimizer import Fp16Optimizer
from opsinfo_cli.runs.readers.messages import Messages
from opsinfo_cli.runs.readers.paddle import Paddle
from opsinfo_cli.runs.readers.reader import Reader
from opsinfo_cli.runs.readers.torch_npu import TorchNpu
from opsinfo_cli.runs.trajectory import Trajectory

APEX = b"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to %s"
NPU = b"Gradient overflow. Skipping step\nLoss scaler reducing loss scale to %s"
BMTRAIN = b"Gradient overflow, change scale from 9.0 to %s"
PADDLE = b"Found inf or nan, current scale is: %s, decrease to: %s*0.5"
PADDLENLP = b"optimizer not run, scale_before: %s, scale_after: 1.0"
BEGINNING = (b"step: 1 of a run", b"step: 2 of a run")
EPOCHS = (b"epoch: [1/9], iter: 1/99", b"epoch: [1/9], iter: 2/99")
MESSAGES = {
    "apex": (Apex, APEX),
    "torch_npu": (TorchNpu, NPU),
    "fp16_optimizer": (Fp16Optimizer, b"Using dynamic loss scale of %s"),
    "bmtrain": (BMTrain, BMTRAIN),
    "paddle": (Paddle, PADDLE),
    "paddlenlp": (Paddle, PADDLENLP),
}
TIME = b"[2023-04-28 06:51:33,912] [INFO] "
ZERO = TIME + b"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 9.0, reducing to %s"
FUSED = b"%s[Rank 0] Overflow detected. Skipping step. Attempted loss scale: 9.0, reducing to %%s" % TIME
UNFUSED = TIME + b"fp16 dynamic loss scale overflow! Skipping step. Attempted loss scale: 9.0, reducing to %s"
MOVED = TIME + b"Reducing dynamic loss scale from 9.0 to %s"
IN_LINES = {
    "apex": (Apex, b"worker-0.log: " + APEX),
    "torch_npu": (TorchNpu, b"[rank 12]: " + NPU.replace(b"\n", b"\n[rank 12]: ")),
    "bmtrain": (BMTrain, BMTRAIN + b" on the first rank"),
    "paddlenlp": (Paddle, TIME + PADDLENLP + b", again"),
    "deepspeed": (DeepSpeed, ZERO),
    "deepspeed with a counter": (DeepSpeed, b"[INFO] step=7, skipped=3\n" + ZERO),
    "deepspeed of two ranks": (DeepSpeed, ZERO + b"\n" + ZERO.replace(b"Rank 0", b"Rank 11")),
    "deepspeed, fused": (DeepSpeed, MOVED + b"\n" + FUSED),
    "deepspeed, unfused": (DeepSpeed, UNFUSED),
    "deepspeed, fused, cut before a move": (DeepSpeed, FUSED + b"\n" + MOVED),
    "deepspeed, one move": (DeepSpeed, MOVED),
}
NOT_AT_ONCE = {
    "a step in the line": (Apex, b"step: 7 of a run " + APEX),
    "a step after the message": (BMTrain, BMTRAIN + b", step: 7 of a run"),
    "too little between messages": (Apex, b"0: " + APEX),
    "two in a line": (Apex, b"worker-0.log: " + APEX + b", " + APEX),
    "a counter in the line": (DeepSpeed, UNFUSED + b", step=7, skipped=3"),
    "a move and a counter in a line": (DeepSpeed, MOVED + b", step=7, skipped=3"),
}
each_in_lines = pytest.mark.parametrize(("kind", "message"), IN_LINES.values(), ids=IN_LINES)
each_message = pytest.mark.parametrize(("kind", "message"), MESSAGES.values(), ids=MESSAGES)


def changing(message: bytes, *scales: bytes, many: int = 24) -> list[bytes]:
    return [message.replace(b"%s", scale) for scale in islice(cycle(scales), many)]


def runs_read(monkeypatch: pytest.MonkeyPatch, kind: type[Reader], *windows: bytes) -> int:
    """The number of messages that were read run by run."""
    read_so_far = 0
    runs = Messages.runs

    def counted(*asked, **options):  # type: ignore[no-untyped-def]
        nonlocal read_so_far
        for match, copies in runs(*asked, **options):
            read_so_far += copies * (match.re.groups > 0)
            yield match, copies

    with monkeypatch.context() as patch:
        patch.setattr(Messages, "runs", counted)
        read(kind, *windows)
    return read_so_far


@each_message
@pytest.mark.parametrize(
    ("lines", "one_by_one"),
    [
        (changing(b"%s", b"4.0", b"2.0"), 0),
        (changing(b"%s", b"4.0", b"2.0", b"16.0", b"1.0", b"128.0", b"0.5"), 0),
        (changing(b"%s", b"4.0", b"4.0", b"4.0", b"2.0"), 0),
        (changing(b"%s", b"4.0"), 24),
        (changing(b"%s", *[b"4.0"] * 12, *[b"2.0"] * 12), 24),  # they change too seldom
        (changing(b"%s", b"4.0", b"2.0", b"inf"), 24),
        (changing(b"%s", b"4.0", b"2e999"), 24),
    ],
    ids=["two in turn", "six in turn", "pairs", "one", "two in a row", "infinity", "too large a number"],
)
def test_only_messages_that_change_often_are_taken_at_once(
    monkeypatch: pytest.MonkeyPatch, kind: type[Reader], message: bytes, lines: list[bytes], one_by_one: int
) -> None:
    assert runs_read(monkeypatch, kind, text_of(*(message.replace(b"%s", line) for line in lines))) == one_by_one


@pytest.mark.parametrize(("kind", "message"), [(Apex, APEX), (TorchNpu, NPU)], ids=["apex", "torch_npu"])
def test_the_words_of_messages_taken_at_once_are_counted(kind: type[Reader], message: bytes) -> None:
    """Other readers search only for what is left over."""
    text = text_of(*changing(message, b"4.0", b"2.0"))
    reader = read(kind, text)
    assert (reader.overflow_words, reader.scale_words) == (text.count(b"verflow"), text.count(b"cale")) == (24, 48)
    assert read(BMTrain, text_of(*changing(BMTRAIN, b"4.0", b"2.0"))).overflow_words == 24


def test_messages_with_steps_between_are_taken_at_once_if_the_counter_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = changing(APEX, b"4.0", b"2.0")
    steps = [b"step: %d of a run" % at for at in range(100, 2500, 100)]
    text = text_of(*(part for pair in zip(lines, steps, strict=True) for part in pair))
    assert runs_read(monkeypatch, Apex, text) == 24
    assert runs_read(monkeypatch, Apex, *map(text_of, BEGINNING), text) == 0
    assert runs_read(monkeypatch, Apex, *map(text_of, BEGINNING), text.replace(b"step: 900 ", b"iter: 900 ")) == 24
    found = read(Apex, *map(text_of, BEGINNING), text)
    assert found.occurrences.count(None, None).low == 24
    assert [tuple(point) for point in found.scale.points[:3]] == [(2, 4.0), (100, 2.0), (200, 4.0)]


def test_messages_between_steps_of_an_epoch_are_taken_at_once_if_it_has_a_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = changing(PADDLE, b"4.0", b"2.0")
    steps = [b"epoch: [1/9], iter: %d/99" % at for at in range(3, 99, 4)]
    text = text_of(*(part for pair in zip(lines, steps, strict=True) for part in pair))
    assert runs_read(monkeypatch, Paddle, *map(text_of, EPOCHS), text) == 0
    assert runs_read(monkeypatch, Paddle, *map(text_of, EPOCHS), text.replace(b" 47/99", b" 47/0")) == 24


def test_messages_that_are_rare_among_other_lines_are_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = changing(APEX, b"4.0", b"2.0", many=8)
    for others, one_by_one in ((23, 0), (24, 8)):  # and the empty text after the last line end
        assert runs_read(monkeypatch, Apex, text_of(*lines, *[b"nothing to see"] * others)) == one_by_one


def test_messages_of_growth_are_taken_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = changing(NPU, b"4.0", b"2.0")
    grown = NPU.replace(b"reducing", b"increasing") % b"8.0"
    assert runs_read(monkeypatch, TorchNpu, text_of(*lines, grown)) == 0
    found = read(TorchNpu, text_of(*lines, grown))
    assert (found.scale.final, found.scale.rises) == (8.0, 1)


def test_equal_messages_in_a_row_are_at_the_number_of_the_first_one() -> None:
    lines = changing(APEX, b"4.0", b"4.0", b"2.0", many=6)
    found = read(Apex, text_of(*lines[:4], b"nothing to see", *lines[4:]))
    again = read(Apex, text_of(*lines[:4], b"nothing to see", *lines[4:]), by_shape=False)
    assert [point.at for point in found.scale.points] == [1, 3]
    assert state(found) == state(again)


scale_texts = st.sampled_from([b"1.0", b"2.0", b"4.0", b"4.0", b"8.0", b"16.0", b"9e307"])
step_lines = st.one_of(
    st.none(),
    st.integers(1, 400).map(b"step: %d of a run".__mod__),
    st.integers(1, 99).map(b"epoch: [1/9], iter: %d/99".__mod__),
    st.sampled_from([b"epoch: [2/9], iter: 5/0", b"Grad overflow on iteration  7", b"Grad overflow on iteration  8"]),
    st.sampled_from([b"Loss scaler increasing loss scale to 8.0", b"Loss scaler increasing loss scale to 32.0"]),
)


def taken_at_once(monkeypatch: pytest.MonkeyPatch, kind: type[Reader], message: bytes) -> set[bool]:
    """Whether the messages of a window, in which each has another scale, were taken at once."""
    taken = set()
    scales = Messages.scales

    def asked(messages, *given):  # type: ignore[no-untyped-def]
        found = scales(messages, *given)
        if messages._message.mark in messages._sheet.data:
            taken.add(found is not None)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Messages, "scales", asked)
        read(kind, *map(text_of, BEGINNING), text_of(*changing(message, b"4.0", b"2.0")))
    return taken


@each_in_lines
def test_messages_in_lines_are_taken_at_once(
    monkeypatch: pytest.MonkeyPatch, kind: type[Reader], message: bytes
) -> None:
    assert taken_at_once(monkeypatch, kind, message) == {True}


@pytest.mark.parametrize(("kind", "message"), NOT_AT_ONCE.values(), ids=NOT_AT_ONCE)
def test_messages_that_must_be_searched_for_are_not_taken_at_once(
    monkeypatch: pytest.MonkeyPatch, kind: type[Reader], message: bytes
) -> None:
    assert taken_at_once(monkeypatch, kind, message) == {False}


@pytest.mark.parametrize(("kind", "message"), [*MESSAGES.values(), *IN_LINES.values(), *NOT_AT_ONCE.values()])
@given(
    st.sampled_from([BEGINNING, EPOCHS, ()]),
    st.lists(st.lists(st.tuples(scale_texts, step_lines), min_size=1, max_size=20), min_size=1, max_size=3),
)
def test_messages_taken_at_once_give_what_messages_taken_one_by_one_give(
    kind: type[Reader], message: bytes, beginning: tuple[bytes, ...], groups: list[list[tuple[bytes, bytes | None]]]
) -> None:
    windows = list(map(text_of, beginning))
    for group in groups:
        pairs = ((message.replace(b"%s", scale), step) for scale, step in group)
        windows.append(text_of(*(line for pair in pairs for line in pair if line)))
    assert state(read(kind, *windows)) == state(read(kind, *windows, by_shape=False))


@pytest.mark.parametrize("by_shape", [False, True])
def test_moves_of_a_log_without_steps_are_numbered(by_shape: bool) -> None:
    windows = [text_of(*changing(MOVED, b"4.0", b"2.0", many=5)), text_of(*changing(MOVED, b"4.0", b"2.0", many=4))]
    found = read(DeepSpeed, *windows, by_shape=by_shape)
    assert [tuple(point) for point in found.scale.points[::2]] == [(at, 9.0) for at in range(1, 9)]


def test_a_counter_at_the_first_byte_of_a_window_shows_the_step_of_the_message_after_it() -> None:
    for by_shape in (False, True):
        found = read(DeepSpeed, b"step=70, skipped=1\n" + text_of(*changing(ZERO, b"4.0", b"2.0")), by_shape=by_shape)
        assert [point.at for point in found.scale.points] == [70] * 48


def test_a_message_is_of_the_first_descent_if_few_steps_are_before_it() -> None:
    for at, calibrating in ((16, 1), (17, 0)):
        assert occurrences((512, at, 1), spacing=1).count(100, 1).calibrating == calibrating


def test_a_ratio_that_makes_the_scale_infinite_is_no_scale() -> None:
    lines = changing(PADDLE.replace(b"0.5", b"9e307"), b"4.0", b"2.0", b"1.0")
    found = read(Paddle, text_of(*lines))
    assert found.scale.not_numbers > 0
    assert (found.scale.lowest, found.scale.highest) == (1.0, 9e307)
    assert state(found) == state(read(Paddle, text_of(*lines), by_shape=False))


values = st.integers(-2, 9).map(lambda power: 2.0**power)


@given(
    st.lists(st.lists(st.tuples(values, st.integers(-3, 40), st.booleans()), min_size=1, max_size=40), max_size=5),
    st.booleans(),
    st.integers(0, 5),
    st.booleans(),
)
def test_messages_added_together_count_as_messages_added_one_by_one(
    groups: list[list[tuple[float, int, bool]]], placed: bool, spacing: int, grows: bool
) -> None:
    together, single = Occurrences(), Occurrences()
    step = 100
    for group in groups:
        ats: list[int | None] = []
        for _, move, _ in group:
            step = max(0, step + move)
            ats.append(step if placed else None)
        new = together.add_rows(
            [value for value, *_ in group], ats, spacing, [rose for *_, rose in group] if grows else None
        )
        each = []
        for (value, _, rose), at in zip(group, ats, strict=True):
            if grows and rose:
                single.rose()
            each.append(single.add(value, at, spacing))
        assert new == each
    assert vars(together) == vars(single)
    assert together.count(None, None) == single.count(None, None)


def test_a_message_near_two_visits_to_its_value_belongs_to_the_newest() -> None:
    together, single = (occurrences((8, 0, 1), (4, 0, 1), (4, 20, 1), spacing=1) for _ in range(2))
    assert together.add_rows([4.0, 2.0, 4.0], [10, 10, 10], 1) == [False, True, False]
    for value in (4.0, 2.0, 4.0):
        single.add(value, 10, 1)
    assert vars(together) == vars(single)


def test_a_message_far_from_the_newest_visit_to_its_value_belongs_to_an_older_one() -> None:
    together = occurrences((8, 0, 1), (4, 20, 1), (4, 60, 1), spacing=1)
    assert together.add_rows([4.0, 4.0], [30, 78], 1) == [False, True]


@pytest.mark.parametrize("value", [8.0, 4.0, 2.0, 1.0])
@pytest.mark.parametrize(("at", "new"), [(84, False), (83, True), (116, False), (117, True)])
def test_a_message_belongs_to_each_open_visit_that_is_near(value: float, at: int, new: bool) -> None:
    together, single = (occurrences(*((2.0**each, 100, 1) for each in (3, 2, 1, 0)), spacing=1) for _ in range(2))
    assert together.add_rows([value], [at], 1) == [single.add(value, at, 1)] == [new]
    assert vars(together) == vars(single)


@pytest.mark.parametrize(("at", "new"), [(116, False), (117, True)])
def test_a_message_after_a_rise_belongs_to_a_visit_as_near_as_any_other(at: int, new: bool) -> None:
    found = occurrences((8, 100, 1), spacing=1)
    assert found.add_rows([4.0, 4.0], [100, at], 1, [True, False]) == [True, new]


@given(st.lists(st.lists(st.tuples(values, st.booleans()), min_size=1, max_size=20), max_size=4))
def test_moves_added_together_make_the_trajectory_of_each(groups: list[list[tuple[float, bool]]]) -> None:
    together, single = Trajectory(), Trajectory()
    at = 0
    for group in groups:
        together.moved_rows(range(at, at + len(group)), *zip(*group, strict=True))
        for scale, fell in group:
            (single.fell_to if fell else single.add)(at, scale)
            at += 1
    assert vars(together) == vars(single)
