"""Each reader by itself: a window at once gives what its lines give one by one, and the quick ways are taken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from log_lines import MEGATRON, MINDFORMERS, NO_SCALE, UPDATES
from log_makers import MAKERS, Maker
from log_reading import read, state, text_of

from opsinfo_cli.runs.readers import (
    READERS,
    DeepSpeed,
    Fairseq,
    Megatron,
    MindSpore,
    ScaleColumn,
    StepDictionary,
    TfNpu,
    deepspeed,
    megatron,
    step_dictionary,
)
from opsinfo_cli.runs.readers.reader import Reader
from opsinfo_cli.runs.sheet import Sheet
from opsinfo_cli.runs.steps import StepFields

steps = st.integers(1, 30)
scales = st.sampled_from([b"8.0", b"8.0", b"4.0", b"16.0", b"-1.0"])
flags = st.sampled_from([b"False", b"False", b"True"])


def lines_of(*forms: bytes, odd: tuple[bytes, ...] = ()) -> st.SearchStrategy[list[bytes]]:
    """Lines with the step, scale, flag and counter at ``S``, ``X``, ``F`` and ``K``, and some others."""
    line = st.builds(
        lambda form, step, scale, flag, skipped: (
            form.replace(b"<S>", b"%d" % step)
            .replace(b"<X>", scale)
            .replace(b"<F>", flag)
            .replace(b"<K>", b"%d" % skipped)
        ),
        st.sampled_from(forms),
        steps,
        scales,
        flags,
        st.integers(0, 2),
    )
    return st.lists(st.one_of(line, line, st.sampled_from(odd)) if odd else line, max_size=10)


TENSORS = (
    b"epoch: 1 step: <S>, outputs are (Tensor(shape=[1], dtype=Float32, [ 1.0]), "
    b"Tensor(shape=[], dtype=Bool, <F>), Tensor(shape=[], dtype=Float32, <X>))"
)
FLAGGED = MINDFORMERS.replace(b"%3d", b"<K>", 1).replace(b"%5d", b"<S>", 1).replace(b"%5d", b"40", 1)
FLAGGED = FLAGGED.replace(b"%s", b"<F>", 1).replace(b"%s", b"<X>", 1)
OWN: dict[type[Reader], st.SearchStrategy[list[bytes]]] = {
    Fairseq: lines_of(
        b"| epoch 001: <S> / 90 loss=1, num_updates=<S>, lr=1, loss_scale=<X>, wall=2",
        b"NOTE: overflow detected, setting loss scale to: <X>",
        b"NOTE: overflow detected, setting loss scale to: <X>",
        odd=(
            b"num_updates=7, lr=1",
            b"num_updates=9, loss_scale=4 overflow detected, setting loss scale to: 2.0",
            b"overflow detected, setting loss scale to: 2.0 num_updates=11, loss_scale=2",
        ),
    ),
    MindSpore: lines_of(
        FLAGGED,
        TENSORS,
        b"step: <S>, overflow: <F>, scale: <X>",
        b"overflow: <F>",
        b"loss scale: <X>, overflow: <F>, step: <S>",
        b"overflow is <F>, loss scale is <X>",
        b"step: <S>, overflow: <K>, scale: <X>",
        b"step: <S>, overflow: 0.<S>, scaling_sens: <X>",
        b"overflow, drop step, loss scale adjust to <X>",
        odd=(
            b"step: 5, overflow: 7, scale: 3",
            b"overflow!!! step 3",
            b"loss scale 3 without a flag",
            b"overflow: True overflow: False, scale: 8",
            b"step: 6, overflow: True, scale: 2, loss scale: 4",
            b"step: 4, overflow, drop step, loss scale adjust to 8.0",
            b"epoch: 2 step:[ 3/ 40], overflow, still update, loss scale adjust to 4.0",
            b"epoch: 2 step:[ 3/ 40], overflow: True, scale: 2, scale: 4",
        ),
    ),
    TfNpu: lines_of(
        b"global_step:<S>,lossscale:<X>,overflow_status_reduce_all:<F>",
        b"overflow_status_reduce_all:<F>",
        b"Step = <S> total loss = 1.2 Loss scale = <X> isFinite = <K>",
        b"Find overflow in this step, skip apply gradients, loss scale value=<X>",
        odd=(
            b"Apply gradients, loss scale value=8 Find overflow in this step, skip apply gradients, loss scale value=4",
            b"isFinite or not",
        ),
    ),
    ScaleColumn: lines_of(
        b"Train: [0/3][<S>/40] loss_scale <X> (9.0)",
        b"Train: [0/3][<S>/40] loss_scale <X> (9.0)",
        b'{"mode": "train", "iter": <S>, "loss_scale": <X>}',
        b"| <S>/40 [00:01, 2.1it/s] loss_scale <X>",
        odd=(b"loss_scale 3.0", b"step: 4 num_updates=4 loss_scale 3.0", b"step: 4 overflow loss_scale 3.0"),
    ),
    Megatron: lines_of(
        MEGATRON.replace(b"%8d", b"<S>").replace(b"%s", b"<X>").replace(b"%3d", b"<K>"),
        NO_SCALE.replace(b"%8d", b"<S>").replace(b"%3d", b"<K>"),
        odd=(
            b" iteration 7/ 9 | loss scale: 4.0 | loss scale: 2.0 | number of skipped iterations: 1 |",
            b" iteration 8/ 9 | loss scale: x | number of skipped iterations: 1 |",
            b" iteration 9/ 9 | number of skipped iterations: 1 | loss scale: 4.0 |",
            MEGATRON % (3, b"8.0", 1) + MEGATRON % (4, b"4.0", 1),
            NO_SCALE % (3, 1) + NO_SCALE % (4, 2),
            b"number of skipped iterations: 2",
            b"loss scale: 12.0",
        ),
    ),
    DeepSpeed: lines_of(b"[Rank 0] step=<S>, skipped=<K>, lr=[0.1]", odd=(b"step=3, skipped=1, step=4, skipped=2",)),
}


@pytest.mark.parametrize("kind", OWN, ids=lambda kind: kind.name)
@given(data=st.data(), by_shape=st.booleans())
def test_windows_of_one_format_give_what_their_lines_give(kind: type[Reader], data: Any, by_shape: bool) -> None:
    windows = data.draw(st.lists(OWN[kind].filter(bool), max_size=4))
    at_once = read(kind, *(b"".join(line + b"\n" for line in lines) for lines in windows), by_shape=by_shape)
    assert state(at_once) == state(read(kind, *(line + b"\n" for lines in windows for line in lines)))


@pytest.mark.parametrize("by_shape", [True, False])
@pytest.mark.parametrize(("name", "maker"), MAKERS.values(), ids=MAKERS)
def test_text_after_the_end_of_a_window_is_left_to_the_next(name: str, maker: Maker, by_shape: bool) -> None:
    text = maker(60, (1, 2, 30)).encode()
    later = text + b"Current loss scale already at minimum\nMinimum loss scale reached (0.0001)\n"
    kind = next(reader for reader in READERS if reader.name == name)
    cut = kind()
    cut.sheet(Sheet(text + later, len(text), by_shape), StepFields())
    assert state(cut) == state(read(kind, text, by_shape=by_shape))
    assert cut.found.fatal is None


COUNTED = {
    "apex": (True, True),
    "torch_npu": (True, True),
    "bmtrain": (True, False),
    "fairseq": (True, True),
    "fp16_optimizer": (True, True),
    "mindspore": (True, True),
    "tf_npu": (True, True),
    "megatron": (False, True),
    "scale_column": (False, True),
}
"""Whether a reader counts the words `overflow` and `scale` of the lines that it reads."""


@pytest.mark.parametrize("by_shape", [True, False])
@pytest.mark.parametrize(("name", "maker"), MAKERS.values(), ids=MAKERS)
def test_the_words_of_all_lines_with_a_message_are_counted(name: str, maker: Maker, by_shape: bool) -> None:
    """What is left over would make other readers search the window."""
    text = maker(200, (1, 2, 3, 150)).encode() + b"another loss scale, or an overflo\n"
    kind = next(reader for reader in READERS if reader.name == name)
    reader = read(kind, text, text, by_shape=by_shape)
    lines = [line for line in text.splitlines() if any(mark in line for mark in kind.marks if b" .." not in mark)]
    every = [2 * sum(line.count(word) for line in lines) for word in (b"verflow", b"cale")]
    counted = COUNTED.get(name, (False, False))
    assert [reader.overflow_words, reader.scale_words] == [
        many if is_counted else 0 for many, is_counted in zip(every, counted, strict=True)
    ]


def unusable(*_: Any) -> Any:
    raise AssertionError("a slow way was taken")


def counters_of(form: bytes, first: int) -> bytes:
    return text_of(*(form % (at, at // 7) for at in range(first, first + 20)))


def test_counters_of_deepspeed_are_read_by_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, form = DeepSpeed(), b"[Rank 0] step=%d, skipped=%d, lr=[0.1]"
    for first in (10, 30):
        data = counters_of(form, first)
        reader.sheet(Sheet(data, len(data), by_shape=True), StepFields())
        monkeypatch.setattr(deepspeed, "_COUNTER", None)
    assert (reader.lines, reader.counters.last_step, reader.tally(None, None).low) == (40, 49, 6)


def read_quickly(monkeypatch: pytest.MonkeyPatch, kind: type[Reader], module: Any, rows: str, data: bytes) -> Any:
    """Read a window with one search, as if its lines had many shapes, and by shape; the slower ways are unusable."""
    monkeypatch.setattr(module, "counted_lines", unusable)
    searched = read(kind, data, by_shape=False)
    monkeypatch.setattr(module, rows, unusable)
    by_shape = read(kind, data)
    assert state(by_shape) == state(searched)
    return by_shape


@pytest.mark.parametrize("form", [b" iteration %d | loss scale: 8.0 | skipped iterations: %d |", NO_SCALE])
def test_windows_of_megatron_are_not_read_line_by_line(form: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = read_quickly(monkeypatch, Megatron, megatron, "rows_of", counters_of(form, 10))
    assert (reader.lines, reader.counters.last_step) == (20, 29)
    assert reader.scale.final == (8.0 if form is not NO_SCALE else None)


@pytest.mark.parametrize("form", [b"0: {'training_steps': %d, 'loss': 1, 'skipped_steps': %d}", UPDATES])
def test_dictionaries_are_not_read_line_by_line(form: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = read_quickly(monkeypatch, StepDictionary, step_dictionary, "_read", counters_of(form, 10))
    assert (reader.lines, reader.tally(None, None).low) == (20, 3)


@pytest.mark.parametrize("by_shape", [True, False])
@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (MindSpore, b"step: %d, overflow: True, scale: 8"),
        (MindSpore, b"step: %d, overflow: 0, scale: 8"),
        (TfNpu, b"global_step:%d,lossscale:8,overflow_status_reduce_all:False"),
    ],
)
def test_a_window_of_flags_is_taken_at_once(
    kind: type[Reader], form: bytes, by_shape: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "_take_some", unusable)
    reader = read(kind, text_of(*(form % at for at in range(1, 31)), b"other lines"), by_shape=by_shape)
    assert (reader.lines, reader.flags.last, reader.scale.final) == (30, 30, 8.0)


def test_only_lines_without_a_row_are_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    row, word = b"step: 1, overflow: True, scale: 8", b"overflow!!!"
    alone: list[list[bytes]] = []
    monkeypatch.setattr(MindSpore, "several", lambda _, lines: alone.append(lines) or len(lines))
    reader = read(MindSpore, text_of(row, word, row, row, word, word, b"an overflow", word, row, row, word))
    assert alone == [[word], [word, word, word], [word]]
    assert reader.lines == 10


def test_messages_of_mindyolo_without_steps_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MindSpore, "line", unusable)
    drops = [b"overflow, drop step, loss scale adjust to %d" % scale for scale in (8, 8, 4)]
    reader = read(MindSpore, text_of(*drops), text_of(*drops[2:] * 2))
    assert (reader.dropped, reader.lines, reader.scale.drawn) == (5, 5, [(1, 8.0), (3, 4.0), (5, 4.0)])


def over(scale: float) -> bytes:
    return b"NOTE: overflow detected, setting loss scale to: %g" % scale


def update(number: int, scale: float) -> bytes:
    return b"train | num_updates=%d | loss_scale=%g" % (number, scale)


def words(reader: Fairseq) -> object:
    return state(reader), reader.overflow_words, reader.scale_words, reader.updates, reader.scale.behind


@pytest.mark.parametrize(
    ("before", "moves", "scales"),
    [
        ([1, 2], [1, 1, 1, 1], [8, 8, 8, 8]),
        ([1, 2], [0, 1, 1, 1, 1], [8, 8, 8, 8, 8]),
        ([1, 2], [1, 16, 0, 2], [8, 8, 8, 8]),
        ([1, 2], [16, 0, 0, 0], [8, 8, 8, 8]),
        ([1, 2], [1, 17, 0, 0], [8, 8, 8, 8]),  # farther apart than one rank's copies
        ([1, 11], [10, 40, 10, 10], [8, 8, 8, 8]),  # updates are printed every ten steps
        ([1, 11], [10, 41, 10, 10], [8, 8, 8, 8]),
        ([1, 2], [1, 1, 1, 1], [8, 8, 4, 4]),
        ([1, 2], [5, 1, -1, 1], [8, 8, 8, 8]),  # the updates go back
        ([], [1, 1, 1, 1], [8, 8, 8, 8]),
    ],
)
def test_overflows_among_updates_are_taken_at_once(
    before: list[int], moves: list[int], scales: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fairseq, "_take_unusable", unusable)
    at, lines = before[-1] if before else 0, [over(8)]
    for move, scale in zip(moves, scales, strict=True):
        at += move
        lines += [update(at, scale)] * (move != 0) + [over(scale)]
    lines.append(update(at + 3, scales[-1]))
    begin = text_of(*(update(number, 16) for number in before))
    single = read(Fairseq, *(text_of(line) for line in (*begin.splitlines(), *lines)))
    assert words(read(Fairseq, begin, text_of(*lines))) == words(single)


shown_scales = st.sampled_from([8.0, 4.0, 4.0, 2.0, 1.0, 0.5, 16.0, 0.0, float("inf"), float("nan")])
fairseq_lines = st.one_of(
    shown_scales.map(over),
    st.builds(update, st.integers(0, 400), shown_scales),
    st.integers(0, 400).map(b"train | num_updates=%d".__mod__),
    st.builds(lambda *parts: b" ".join(parts), shown_scales.map(over), shown_scales.map(over)),
    st.builds(
        lambda *parts: b" ".join(parts), st.builds(update, st.integers(0, 40), shown_scales), shown_scales.map(over)
    ),
)


@given(st.lists(st.lists(fairseq_lines, min_size=1, max_size=20), min_size=1, max_size=4))
def test_events_of_fairseq_count_alike_in_windows_and_alone(windows: list[list[bytes]]) -> None:
    together = read(Fairseq, *(text_of(*lines) for lines in windows))
    assert words(together) == words(read(Fairseq, *(text_of(line) for lines in windows for line in lines)))


def test_each_message_with_an_infinite_scale_is_one_without_a_number() -> None:
    found = read(Fairseq, text_of(*[over(float("inf"))] * 3, over(8), update(5, 8), *[over(float("nan"))] * 2))
    assert (found.scale.not_numbers, found.scale.behind, found.occurrences.total) == (5, 4, 6)
    assert found.scale.drawn == [(4, 8.0), (11, 8.0)]
    assert (found.lines, found.overflow_words, found.scale_words) == (7, 6, 7)
    alone = read(Fairseq, text_of(over(float("inf")))).found
    assert (alone.scaling, alone.level, alone.at_is_step) == ("dynamic", "fp16", True)
    assert read(Fairseq, text_of(over(8), over(float("inf")))).scale.drawn == [(1, 8.0), (2, 8.0)]


def test_an_update_with_an_infinite_scale_shows_a_rise_and_the_distance_between_updates() -> None:
    infinite = float("inf")
    found = read(Fairseq, text_of(update(10, 8), over(4), update(50, infinite), over(4), over(4)))
    assert (found.updates, found._apart, found.scale.not_numbers) == (50, 40, 1)
    assert sum(found.occurrences._visits.sizes.values()) == 1  # the rise ended the first visit
    small = read(Fairseq, text_of(over(0.5), update(1, infinite)))
    assert sum(small.occurrences._visits.sizes.values()) == 1
    same = read(Fairseq, text_of(over(infinite), update(1, infinite)))
    assert sum(same.occurrences._visits.sizes.values()) == 0
    back = read(Fairseq, text_of(update(50, 8), update(10, float("nan")), over(4)))
    assert (back.updates, back._apart) == (50, 50)


def test_a_message_before_an_update_in_its_line_is_before_it() -> None:
    found = read(Fairseq, text_of(update(3, 8), over(4) + b" " + update(9, 16), update(10, 16) + b" " + over(8)))
    assert [tuple(point) for point in found.scale.points] == [(3, 8.0), (4, 4.0), (10, 16.0), (12, 8.0)]


@pytest.mark.parametrize("begin", [(), (over(2),), (over(2), over(1))])
def test_copies_may_be_farther_apart_once_updates_are(begin: tuple[bytes, ...]) -> None:
    lines = (*begin, update(10, 8), update(20, 8), over(4), update(120, 4), over(4), update(121, 4), over(4))
    together, single = read(Fairseq, text_of(*lines)), read(Fairseq, *map(text_of, lines))
    assert words(together) == words(single)
    assert max(copies for _, copies in together.occurrences._visits.sizes) == 3


@given(lines=OWN[MindSpore])
def test_a_line_read_alone_shows_what_its_row_shows(lines: list[bytes]) -> None:
    by_row = read(MindSpore, text_of(*lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MindSpore, "row", lambda *_: None)
        assert state(read(MindSpore, text_of(*lines))) == state(by_row)


STEP = b"step: %d of a run"
ATTEMPTED = b"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: "


@pytest.mark.parametrize(
    ("message", "runs"),
    [
        (ATTEMPTED + b"8, reducing to 4", 6),
        (ATTEMPTED + b"1, reducing to 1", 2),
        (ATTEMPTED + b"8, but hysteresis is 2. Reducing hysteresis to 1", 2),
        (b"[deepspeed] OVERFLOW! Rank 0 Skipping step.", 2),
    ],
)
def test_overflows_of_deepspeed_are_a_run_each_if_they_lower_the_scale(
    message: bytes, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two scales in a message make a fall and, before the next one, a rise."""
    copies: list[int] = []
    monkeypatch.setattr(DeepSpeed, "_overflow", lambda self, match, many, *_: copies.append(many))
    steps_before, fields = text_of(STEP % 1, STEP % 2), StepFields()
    fields.finish(Sheet(steps_before, len(steps_before)))
    data = text_of(*(part for at in range(3, 9) for part in (STEP % at, message)))
    DeepSpeed().sheet(Sheet(data, len(data)), fields)
    assert (sum(copies), len(copies)) == (6, runs)
