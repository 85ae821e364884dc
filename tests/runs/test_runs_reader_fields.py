"""The fields that readers take from a line, and what they make of a few lines."""

from __future__ import annotations

import pytest
from log_reading import read, text_of

from opsinfo_cli.runs.readers import (
    BMTrain,
    DeepSpeed,
    Fairseq,
    Megatron,
    MindSpore,
    Paddle,
    ScaleColumn,
    TfNpu,
    TorchNpu,
    mindspore,
)
from opsinfo_cli.runs.readers.reader import Reader

TENSORS = (
    b"epoch: 1 step: 3, outputs are (Tensor(shape=[1], dtype=Float32, [ 1.0]), Tensor(shape=[], dtype=Bool, True), "
    b"Tensor(shape=[], dtype=Float32, 8))"
)


@pytest.mark.parametrize("alone", [False, True], ids=["by its row", "alone"])
@pytest.mark.parametrize(
    ("line", "step", "over", "scale", "is_average", "is_dynamic"),
    [
        (b"iter 3 of a step, overflow: True, scale: 8", 3, True, 8.0, False, False),
        (b"loss scale: 8, overflow: True, step: 3", 3, True, 8.0, False, False),
        (b"scale: 8, overflow: False, Step 3", 3, False, 8.0, False, False),
        (b"Epoch 2 step:[ 3/ 40], overflow cond: True, loss_scale: 8", 3, True, 8.0, False, False),
        (b"Epoch 2 step:[ 3], overflow is True", 3, True, None, False, False),
        (b"step: 3, overflow: 0.5, scaling_sens: 8", 3, True, 8.0, True, True),
        (b"step: 3, overflow: 0, scaling_sens: 8", 3, False, 8.0, False, True),
        (b"step: 3, overflow: 1.0, scaling_sens: 8", 3, True, 8.0, False, True),
        (b"step: 3, overflow: 1, scale: 8", 3, True, 8.0, False, False),
        (b"step: 3, overflow: True, scaling_sens: 8", 3, True, 8.0, False, False),
        (b"step: 3, overflow: 5, overflow: True, scale: 8, scale: 4", 3, True, 8.0, False, False),
        (b"overflow: True, scale: 8", None, True, 8.0, False, False),
        (TENSORS, 3, True, 8.0, False, False),
        (TENSORS.replace(b"True", b"False"), 3, False, 8.0, False, False),
    ],
)
def test_mindspores_flag_step_and_scale(
    line: bytes,
    step: int | None,
    over: bool,
    scale: float | None,
    is_average: bool,
    is_dynamic: bool,
    alone: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if alone:
        monkeypatch.setattr(MindSpore, "row", lambda *_: None)
    reader = read(MindSpore, text_of(line))
    found, flags = reader.found, reader.flags
    assert (flags.last, flags.printed, flags.unnumbered, flags.overflows) == (step, 1, step is None, over)
    assert [(point.at, point.scale) for point in reader.scale.points] == ([(step or 1, scale)] if scale else [])
    assert (flags.averaged, found.scaling) == (is_average, "dynamic" if is_dynamic else None)
    assert (reader.lines, found.level, found.at_is_step) == (1, "float16" if is_dynamic else None, step is not None)


@pytest.mark.parametrize("alone", [False, True], ids=["by rows", "alone"])
@pytest.mark.parametrize("first", [0, 1, 7])
def test_steps_of_epochs_are_counted_from_the_first_epoch(
    first: int, alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if alone:
        monkeypatch.setattr(MindSpore, "row", lambda *_: None)
    form = b"Epoch:[%d/ 9], step:[%d/ 40], overflow cond: False, loss_scale: %d"
    rows = [(first, 39, 8), (first, 40, 4), (first + 1, 1, 4), (first + 2, 2, 2)]
    for odd in ([], [b"epoch 3, step: 90, overflow: True, scale: 1"]):
        reader = read(MindSpore, text_of(*(form % row for row in rows), *odd))
        points = [(point.at, point.scale) for point in reader.scale.points]
        assert points == [(39, 8.0), (40, 4.0), (82, 2.0), (90, 1.0)][: 3 + len(odd)]
        assert (reader.flags.first, reader.flags.printed) == (39, 4 + len(odd))
    windows = read(MindSpore, text_of(form % rows[0], form % rows[1]), text_of(form % rows[2], form % rows[3]))
    assert [point.at for point in windows.scale.points] == [39, 40, 82]


def test_a_drop_of_mindyolo_is_placed_at_its_step_or_its_number() -> None:
    drop = b"overflow, drop step, loss scale adjust to "
    epochs = b"epoch: %d step:[%d/ 40], "
    reader = read(MindSpore, text_of(epochs % (2, 3) + drop + b"8", epochs % (3, 5) + drop + b"4", drop + b"2"))
    assert [(point.at, point.scale) for point in reader.scale.points] == [(3, 8.0), (45, 4.0), (45, 2.0)]
    assert (reader.dropped, reader.lines, reader.found.level) == (3, 3, "float16")
    alone = read(MindSpore, text_of(b"step: 1, " + drop + b"8"), text_of(b"overflow!!!", drop + b"4"))
    assert [(point.at, point.scale) for point in alone.scale.points] == [(1, 8.0), (2, 4.0)]
    assert (alone.dropped, alone.lines, alone.messages.total) == (2, 3, 1)


def test_shares_are_kept_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mindspore, "_MOST", 2)
    shares = mindspore._Shares()
    texts = [b"0", b"1", b"0.25", b"0.0", b"7", b"0", b"1"]
    assert [shares[text] for text in texts] == [False, True, True, False, None, False, True]
    assert shares.averaged
    assert set(shares) == {b"0", b"1"}


@pytest.mark.parametrize(
    ("kind", "line", "is_step"),
    [
        (TfNpu, b"global_step:3,overflow_status_reduce_all:True", False),
        (TfNpu, b"global_step:3,lossscale:8,overflow_status_reduce_all:True", True),
        (TfNpu, b"lossscale:8,overflow_status_reduce_all:True", False),
        (MindSpore, b"step: 3, overflow: True", True),
        (MindSpore, b"overflow: True, scale: 8", False),
    ],
)
def test_scales_are_placed_at_steps_if_lines_show_them(kind: type[Reader], line: bytes, is_step: bool) -> None:
    assert read(kind, text_of(line)).found.at_is_step is is_step


PRINTED = b"[2023-04-28 06:51:30,648] [INFO] [config.py:955:print]   "
DYNAMIC_ARGUMENTS = PRINTED + b"dynamic_loss_scale_args ...... {'init_scale': 65536, 'scale_window': 1000}"


@pytest.mark.parametrize(
    ("lines", "scaling", "static", "level", "start", "understood"),
    [
        ([PRINTED + b"loss_scale ................... 0"], "dynamic", None, None, None, 1),
        ([PRINTED + b"loss_scale ................... 0.0 "], "dynamic", None, None, None, 1),
        ([PRINTED + b"loss_scale ................... 128.0"], "static", 128.0, None, None, 1),
        ([PRINTED + b"loss_scale ................... auto"], "static", None, None, None, 1),
        ([b"  loss_scale ................... 128.0"], None, None, None, None, 0),  # of Megatron
        ([b"  fp16_enabled ........ True", b"  loss_scale ..... 128.0"], "static", 128.0, "fp16", None, 2),
        ([b"  fp16_enabled ........ False"], None, None, None, None, 1),
        ([b"  bfloat16_enabled .... True"], None, None, "bf16", None, 1),
        ([DYNAMIC_ARGUMENTS], "dynamic", None, None, 65536.0, 1),
        ([PRINTED + b"dynamic_loss_scale_args ...... None"], "dynamic", None, None, None, 1),
        ([PRINTED + b"loss_scale ..... 8", DYNAMIC_ARGUMENTS], "static", 8.0, None, 65536.0, 2),
        ([b"  bfloat16_enabled .... True", DYNAMIC_ARGUMENTS], None, None, "bf16", 65536.0, 2),
        ([b"  bfloat16_enabled .... True", PRINTED + b"loss_scale ..... 8"], "static", 8.0, "bf16", None, 2),
        ([b"  fp16_enabled ........ True", DYNAMIC_ARGUMENTS], "dynamic", None, "fp16", 65536.0, 2),
        ([b"x fp16_enabled .. True", b"my_loss_scale .. 8"], None, None, None, None, 0),
    ],
)
def test_the_configuration_that_deepspeed_prints(
    lines: list[bytes],
    scaling: str | None,
    static: float | None,
    level: str | None,
    start: float | None,
    understood: int,
) -> None:
    found = read(DeepSpeed, text_of(*lines)).evidence(None, None)
    precision = {"fp16": "float16", "bf16": "bfloat16", None: None}[level]
    assert (found.scaling, found.static_scale, found.level, found.precision) == (scaling, static, level, precision)
    assert (found.scale.start, found.lines) == (start, understood)
    assert [point.at for point in found.scale.points] == [0] * (start is not None)


OVERFLOW = b"Gradient overflow. Skipping step"
LOWER = b"Loss scaler reducing loss scale to %d"


@pytest.mark.parametrize(
    ("messages", "values", "ranks", "expected"),
    [
        (1, [8], None, (1, 1)),
        (2, [8], None, (1, 2)),
        (2, [8, 4], None, (2, 2)),
        (4, [8, 8], None, (1, 4)),
        (4, [8, 8], 2, (1, 2)),
        (3, [8, 8], 2, (1, 2)),
        (2, [], None, (1, 2)),
        (4, [], 2, (2, 2)),
    ],
)
def test_torch_npus_two_messages_per_overflow(
    messages: int, values: list[int], ranks: int | None, expected: tuple[int, int]
) -> None:
    reader = read(TorchNpu, text_of(*[OVERFLOW] * messages, *(LOWER % value for value in values)))
    count = reader.tally(100, ranks)
    assert (count.low, count.high, count.steps) == (*expected, 100)
    assert any("overflow messages" in note for note in count.notes) == (messages > len(values) > 0)


def test_as_many_overflows_as_lower_scales_leave_the_bounds_of_the_ranks() -> None:
    """No number of ranks fits 2, 3, 5 and 7 copies: from 17 in parts of 7 up to ceil(2/2 + 3/2 + 5/2 + 7/2)."""
    parts = [
        text_of(*[OVERFLOW, LOWER % value] * many, b"step: %d of a run" % (500 * many))
        for value, many in ((64, 2), (32, 3), (16, 5), (8, 7))
    ]
    count = read(TorchNpu, text_of(b"step: 1 of a run", b"step: 2 of a run"), b"".join(parts)).tally(9000, None)
    assert (count.low, count.high) == (3, 1 + 2 + 3 + 4)
    assert not any("overflow messages" in note for note in count.notes)


def test_messages_on_one_line_show_the_fewest_ranks() -> None:
    assert read(TorchNpu, text_of(OVERFLOW * 3, OVERFLOW * 2)).occurrences.together == 3
    assert read(TorchNpu, text_of(OVERFLOW, OVERFLOW)).occurrences.together == 1
    assert read(TorchNpu, text_of(OVERFLOW * 3, OVERFLOW * 2)).tally(None, None).high == 2


@pytest.mark.parametrize(
    ("printed", "steps", "expected"),
    [
        ([(1, 8), (2, 8), (3, 8)], 5000, (0, 0)),  # each step is printed
        ([(10, 8), (20, 8), (30, 8)], 5000, (0, 5)),
        ([(10, 8), (20, 8), (30, 8)], 999, (0, 0)),
        ([(10, 8), (20, 8), (30, 8)], 1000, (0, 1)),
        ([(10, 8), (20, 16), (30, 16)], 5000, (0, 4)),
        ([(10, 8), (20, 4), (30, 1)], 5000, (3, 8)),
        ([(10, 8), (20, 16), (30, 32)], None, (0, 0)),
        ([(1000, 8), (2000, 8), (3000, 8)], None, (0, 3)),
        ([(10, 8)], None, (0, 0)),
    ],
)
def test_a_printed_scale_may_grow_and_fall_unseen_once_in_a_thousand_steps(
    printed: list[tuple[int, int]], steps: int | None, expected: tuple[int, int]
) -> None:
    reader = read(ScaleColumn, text_of(*(b"iter: %d, loss_scale: %d" % row for row in printed)))
    count = reader.tally(steps, None)
    assert (count.low, count.high) == expected
    assert count.steps == (steps or (printed[-1][0] if len(printed) > 1 else None))
    assert bool(count.notes) == (expected[0] < expected[1])
    assert bool(count.proof) == (len({scale for _, scale in printed}) > 1)


def test_fairseqs_steps_are_its_updates_and_overflows() -> None:
    message = b"overflow detected, setting loss scale to: 8"
    reader = read(Fairseq, text_of(message))
    assert ([(point.at, point.scale) for point in reader.scale.points], reader.found.at_is_step) == ([(1, 8.0)], True)
    assert [reader.tally(steps, None).steps for steps in (None, 500)] == [None, 500]
    known = read(Fairseq, text_of(b"num_updates=7, loss_scale=16", message))
    assert [known.tally(steps, None).steps for steps in (None, 500)] == [8, 500]
    assert read(Fairseq, text_of(b"num_updates=0, loss_scale=16")).updates == 0


def test_a_scale_of_fairseq_that_rises_ends_the_first_descent() -> None:
    """From 0.5 to 1, so that 0.5 is no copy of the first overflow; 0.25 follows it."""
    message, update = b"overflow detected, setting loss scale to: %g", b"num_updates=%d, loss_scale=%g"
    lines = [message % 0.5, update % (5, 0.5), update % (6, 1), message % 0.5, message % 0.25]
    assert read(Fairseq, text_of(*lines)).tally(None, None).calibrating == 1
    assert read(Fairseq, text_of(*lines[:2], *lines[3:])).tally(None, None).calibrating == 2


FP16, BF16 = b"  fp16 ............................................ True", b"  bf16 ............ True"
LOSS_SCALE = b"  loss_scale ...................................... "


@pytest.mark.parametrize(
    ("lines", "scaling", "static", "level", "understood"),
    [
        ([FP16], None, None, "fp16", 1),
        ([FP16, LOSS_SCALE + b"None"], "dynamic", None, "fp16", 2),
        ([BF16, LOSS_SCALE + b"None"], None, None, "bf16", 2),
        ([LOSS_SCALE + b"None"], None, None, None, 1),
        ([FP16, LOSS_SCALE + b"128.0"], "static", 128.0, "fp16", 2),
        ([FP16.replace(b"True", b"False")], None, None, None, 1),
        ([b"my fp16 ......... True", b"a loss_scale .... 3"], None, None, None, 0),
    ],
)
def test_the_arguments_that_megatron_prints(
    lines: list[bytes], scaling: str | None, static: float | None, level: str | None, understood: int
) -> None:
    found = read(Megatron, text_of(*lines)).evidence(None, None)
    precision = {"fp16": "float16", "bf16": "bfloat16", None: None}[level]
    assert (found.scaling, found.static_scale, found.level, found.precision) == (scaling, static, level, precision)
    assert found.lines == understood


def test_hooks_of_tensorflow_that_run_together_in_a_line_are_a_step_each() -> None:
    found, applied = b"Find overflow in this step, skip apply gradients", b"Apply gradients"
    line = applied + b", loss scale value=8 " + found + b", loss scale value=4"
    reader = read(TfNpu, text_of(b"global_step:3,lossscale:16,overflow_status_reduce_all:True", line))
    assert (reader.lines, reader.flags.printed, reader.flags.overflows) == (2, 3, 1)
    assert [point.scale for point in reader.scale.points] == [16.0, 8.0, 4.0]
    assert not reader.found.at_is_step
    single = read(TfNpu, text_of(found + b", loss scale value=8"), text_of(applied + b", loss scale value=4"))
    assert (single.lines, single.flags.overflows, single.scale.final) == (2, 1, 4.0)


def test_deepspeeds_descent_before_any_counter_is_of_one_rank() -> None:
    lower = b"[deepspeed] OVERFLOW! Rank 3 Skipping step. Attempted loss scale: %d, reducing to %d"
    count = read(DeepSpeed, text_of(lower % (8, 4), lower % (4, 2))).tally(None, None)
    assert (count.low, count.high, count.calibrating) == (2, 2, 2)


@pytest.mark.parametrize(
    ("lines", "points"),
    [
        ([b"| 5/40 [00:01, 2.1it/s] loss_scale 8.0", b"| 6/40 [00:01, 2.1it/s] loss_scale 4.0"], [(5, 8.0), (6, 4.0)]),
        (
            [b"Train: [2/3][1/9] loss_scale 8.0 (9.0)", b"Train: [2/3][2/9] loss_scale 4.0 (9.0)"],
            [(10, 8.0), (11, 4.0)],
        ),
        (
            [b"iter: 7, loss_scale: 8", b"| 9/40 [00:01, 2.1it/s] loss_scale 4.0", b"iter: 9, loss_scale: 2"],
            [(7, 8.0), (7, 4.0), (9, 2.0)],
        ),
    ],
)
def test_a_column_of_scales_is_placed_at_the_steps_of_its_lines(
    lines: list[bytes], points: list[tuple[int, float]]
) -> None:
    """Of two counters the named one counts."""
    reader = read(ScaleColumn, text_of(*lines))
    assert (reader.lines, reader.found.at_is_step) == (len(lines), True)
    assert [(point.at, point.scale) for point in reader.scale.points] == points


def test_overflows_of_bmtrain_at_a_scale_that_rose_again_are_a_fall_each() -> None:
    message = b"Gradient overflow, change scale from 8.0000 to 4.0000"
    lines = [part for at in range(3, 9) for part in (b"step: %d of a run" % at, message)]
    reader = read(BMTrain, text_of(b"step: 1 of a run", b"step: 2 of a run", message), text_of(*lines))
    assert (reader.lines, reader.scale.falls, reader.scale.rises) == (7, 7, 6)
    still = [line.replace(b"8.0", b"4.0") for line in lines]
    assert read(BMTrain, text_of(*still)).scale.falls == 0


def test_messages_of_bmtrain_are_of_one_rank_if_no_number_is_given() -> None:
    reader = read(BMTrain, text_of(*[b"Gradient overflow, change scale from 8.0000 to 4.0000"] * 4))
    counts = [reader.tally(None, ranks) for ranks in (None, 2)]
    assert [(count.low, count.high) for count in counts] == [(4, 4), (2, 2)]


def test_paddles_messages_at_the_lowest_scale_are_copies_or_overflows() -> None:
    message = b"Found inf or nan, current scale is: 2.0, decrease to: 2.0*0.5"
    count = read(Paddle, text_of(b"step: 1 of a run", b"step: 2 of a run", *[message] * 8)).tally(None, None)
    assert (count.low, count.high) == (1, 8)
