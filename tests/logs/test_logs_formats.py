"""Every log format gives the known share, and misleading lines do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_makers import (
    MAKERS,
    Maker,
    apex,
    apex_block,
    deepspeed,
    fairseq,
    megatron,
    mindformers,
    nvidia_bert,
    paddle,
    scales,
    torch_npu,
)
from log_reading import evidence_of, log_of, points_of

from opsinfo_cli.logs.evidence import Evidence
from opsinfo_cli.logs.formats import FORMATS
from opsinfo_cli.logs.formats.fp16_optimizer import Fp16Optimizer
from opsinfo_cli.logs.log import WORDS, read_log
from opsinfo_cli.logs.points import Facts, Share, run_points, share_of
from opsinfo_cli.logs.scale import advise
from opsinfo_cli.logs.steps import Steps
from opsinfo_cli.logs.training_run import run_evidence, runs_of

OVERFLOWS = (1, 2, 3, 4, 777)
STEPS = 1000


def found(text: str | bytes, folder: Path, **known: int) -> Evidence:
    path = folder / "train.log"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_log(str(path)).evidence(**known)


def statuses(evidence: Evidence, facts: Facts | None = None) -> dict[str, str]:
    return {point.name: point.status for point in run_points(evidence, facts or Facts())}


@pytest.mark.parametrize(("reader", "maker"), MAKERS.values(), ids=MAKERS)
def test_every_reader_finds_the_known_share(tmp_path: Path, reader: str, maker: Maker) -> None:
    evidence = found(maker(STEPS, OVERFLOWS), tmp_path)
    assert evidence.format == reader
    assert evidence.scaling == "dynamic"
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.high, evidence.count.steps) == (5, 5, STEPS)
    share = share_of(evidence)
    assert share.low == share.high == 0.005
    if reader != "tf_npu" or evidence.at_is_step:  # without steps nothing shows the start of the run
        assert share.without_calibration == pytest.approx(1 / 996)
    assert evidence.scale.falls >= {"megatron": 1, "named_values": 0}.get(reader, 4)


@pytest.mark.parametrize(("reader", "maker"), MAKERS.values(), ids=MAKERS)
def test_a_share_at_the_limit_fails_and_one_below_it_holds(tmp_path: Path, reader: str, maker: Maker) -> None:
    assert statuses(found(maker(STEPS, OVERFLOWS), tmp_path))["overflow-share"] == "fails"
    below = found(maker(STEPS, OVERFLOWS[:4]), tmp_path)
    assert statuses(below)["overflow-share"] == "holds"
    assert statuses(below, Facts(limit=0.001))["overflow-share"] == "fails"


@pytest.mark.parametrize(("reader", "maker"), MAKERS.values(), ids=MAKERS)
def test_every_line_of_a_format_has_a_mark_and_a_word(reader: str, maker: Maker) -> None:
    (kind,) = (kind for kind in FORMATS if kind.name == reader)
    for line in maker(STEPS, OVERFLOWS).encode().replace(b"\r", b"\n").splitlines():
        single = kind()
        single.line(line, Steps(), 0, 1)
        if single.lines:
            assert any(mark in line for mark in kind.marks), line
            assert any(word in line for word in WORDS), line


@pytest.mark.parametrize("maker", [apex, torch_npu])
@pytest.mark.parametrize("ranks", [1, 2, 8])
def test_overflows_printed_by_several_ranks_are_counted_once(tmp_path: Path, maker: Maker, ranks: int) -> None:
    evidence = found(maker(STEPS, OVERFLOWS, ranks), tmp_path)  # type: ignore[call-arg]
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.high, evidence.count.ranks) == (5, 5, ranks)


def test_ranks_that_buffer_their_output_count_once(tmp_path: Path) -> None:
    one = "".join(
        f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {after}\n"
        for _, over, _, after in scales(10, OVERFLOWS)
        if over
    )
    evidence = found(apex_block() + one * 8, tmp_path)
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.ranks) == (4, 8)


def test_one_repeated_value_may_be_ranks_or_repetitions(tmp_path: Path) -> None:
    text = apex_block() + "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0\n" * 8
    evidence = found(text, tmp_path, steps=1000)
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.high) == (1, 8)
    assert statuses(evidence)["overflow-share"] == "cannot be told"
    assert statuses(found(text, tmp_path, steps=1000, ranks=8))["overflow-share"] == "holds"
    assert statuses(found(text, tmp_path, steps=1000, ranks=1))["overflow-share"] == "fails"
    assert statuses(found(text, tmp_path, steps=100_000))["overflow-share"] == "cannot be told"


def test_a_rank_that_logs_alone_is_not_added_to_the_others(tmp_path: Path) -> None:
    for rank in range(4):
        (tmp_path / f"rank_{rank}.log").write_text(mindformers(STEPS, OVERFLOWS))
    (run,) = runs_of(tuple(str(tmp_path / f"rank_{rank}.log") for rank in range(4)))
    evidence = run_evidence(run).runs[0].evidence
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.steps) == (5, STEPS)


def test_interleaved_ranks_of_flagged_steps_count_once(tmp_path: Path) -> None:
    lines = mindformers(STEPS, OVERFLOWS).splitlines(keepends=True)
    evidence = found("".join(line for line in lines for _ in range(4)), tmp_path)
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.steps) == (5, STEPS)


def test_deepspeed_counts_are_cumulative_and_megatrons_are_not(tmp_path: Path) -> None:
    text = deepspeed(STEPS, OVERFLOWS).splitlines()
    counters = "\n".join(line for line in text if "skipped=" in line)
    cumulative = found(counters, tmp_path)
    assert cumulative.count is not None
    assert (cumulative.count.low, cumulative.count.steps) == (5, STEPS)
    reset = found(megatron(STEPS, (5, 105, 205)), tmp_path)
    assert reset.count is not None
    assert (reset.count.low, reset.count.steps) == (3, STEPS)


def test_a_log_that_begins_after_a_resume_is_counted_from_there(tmp_path: Path) -> None:
    resumed = found(megatron(2000, (5, 1505), first=1001), tmp_path)
    assert resumed.count is not None
    assert (resumed.count.low, resumed.count.steps) == (1, 1000)
    lines = [line for line in deepspeed(2000, (5, 1505)).splitlines() if "skipped=" in line]
    later = found("\n".join(lines[100:]), tmp_path)
    assert later.count is not None
    assert (later.count.low, later.count.steps) == (2, 2000)


def test_a_silent_apex_log_does_not_prove_zero_overflows(tmp_path: Path) -> None:
    evidence = found(apex(STEPS, ()), tmp_path)
    assert (evidence.known, evidence.scaling) == (True, "dynamic")
    assert share_of(evidence) == Share(None, None, None)
    points = statuses(evidence)
    assert (points["overflow-share"], points["loss-scale"]) == ("cannot be told", "cannot be told")


@pytest.mark.parametrize("maker", [deepspeed, megatron, mindformers, fairseq, nvidia_bert])
def test_a_counter_or_flag_without_overflows_is_a_measured_zero(tmp_path: Path, maker: Maker) -> None:
    share = share_of(found(maker(STEPS, ()), tmp_path))
    assert (share.low, share.high) == (0, 0)


@pytest.mark.parametrize("ranks", [1, 4])
def test_copies_of_paddles_message_do_not_move_the_scale(tmp_path: Path, ranks: int) -> None:
    lines = paddle(STEPS, (1, 2, 3)).splitlines(keepends=True)
    text = "".join(line * (ranks if "Found inf" in line else 1) for line in lines)
    scale = found(text, tmp_path).scale
    assert (scale.start, scale.final, scale.falls, scale.rises) == (65536, 8192, 3, 0)


def sampled(every: int, scale: float, also: tuple[int, ...] = ()) -> str:
    return "".join(
        f"epoch: [1/9] step: [{step}/5000], loss: 1.1, overflow: {step in also}, scale: "
        f"{65536 if step < 1000 else scale:g}, lr: 0.1\n"
        for step in range(1, 5001)
        if step % every == 0 or step in also
    )


def test_sampled_lines_prove_only_the_falls_of_the_scale(tmp_path: Path) -> None:
    evidence = found(sampled(10, 16384), tmp_path)
    (point,) = (point for point in run_points(evidence, Facts()) if point.name == "overflow-share")
    assert point.status == "not measurable"
    assert "0 of 500), a sample of 5000 steps" in point.says
    assert "prove at least 2" in point.says


def test_falls_between_sampled_lines_can_be_enough_to_fail(tmp_path: Path) -> None:
    evidence = found(sampled(10, 65536 / 2**30), tmp_path)
    assert statuses(evidence)["overflow-share"] == "fails"


def test_lines_beside_the_regular_ones_show_that_no_overflow_is_missing(tmp_path: Path) -> None:
    evidence = found(sampled(10, 32768, also=(3, 777)), tmp_path)
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.high, evidence.count.steps, evidence.count.doubt) == (2, 2, 5000, None)


@pytest.mark.parametrize("size", [10, 70, 1000])
@pytest.mark.parametrize("name", ["megatron", "gnmt", "fairseq", "fp16-optimizer", "torch_npu"])
def test_the_ends_of_blocks_do_not_change_the_result(
    tmp_path: Path, name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = MAKERS[name][1](300, (3, 4, 250))
    whole = found(text, tmp_path)
    monkeypatch.setattr("opsinfo_cli.logs.blocks.BLOCK", size)
    cut = found(text, tmp_path)
    assert (cut.count, cut.scale.drawn, cut.level) == (whole.count, whole.scale.drawn, whole.level)


def test_a_progress_bar_is_one_endless_line(tmp_path: Path) -> None:
    one = "\r" + "x" * 5000 + "Gradient overflow. Skipping step" + "y" * 5000
    evidence = found(one * 300, tmp_path, steps=10**6, ranks=1)
    assert evidence.count is not None
    assert evidence.count.low == 300


def test_an_endless_line_loses_at_most_one_message_per_megabyte(tmp_path: Path) -> None:
    one = "x" * 5000 + "Gradient overflow. Skipping step" + "y" * 5000
    evidence = found(one * 300, tmp_path, steps=10**6, ranks=1)
    assert evidence.count is not None
    assert 297 <= evidence.count.low <= 300


HOSTILE = {
    "beyond a double": b"reducing loss scale to 1e999, overflow: True, loss scale: 1e-999 step: 99999999999999999999",
    "many digits": b"step=999999999999999, skipped=999999999999999999999999999",
    "100000 digits": b"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to " + b"9" * 100_000,
    "Megatron": b"iteration        1/       1 | loss scale: nan | number of skipped iterations: 999999999999999 |",
    "negative scales": b"overflow: True, loss scale: -5\noverflow: True, loss scale: -7\noverflow: False, scale: 0",
    "binary": b"\x00\xff\xfe overflow cond: True, loss_scale: 1e308\n overflow cond: True, loss_scale: 1e-308",
    "infinite expression": b"Found inf or nan, current scale is: inf, decrease to: inf*0.5",
    "repeated word": b"iteration " * 20_000 + b"number of skipped iterations: 1",
    "not UTF-8": b"opt_level: " + b"\xff" * 1000 + b"\nprecision_mode : \xe4\xb8\xad",
}


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_hostile_lines_raise_no_error(line: bytes) -> None:
    log = log_of(line + b"\n")
    for facts in (Facts(), Facts(steps=1), Facts(ranks=3)):
        run_points(log.evidence(facts.steps, facts.ranks), facts)


@pytest.mark.parametrize(
    "piece",
    [
        b"iteration 1 ",
        b" iteration 1",
        b"training_steps': 1, ",
        b"num_updates=1 ",
        b"overflow: ",
        b"=====overflow",
        b"=" * 99,
        b"outputs are (Tensor(dtype=Bool, ",
        b"Gradient overflow. Skipping step",
        b"loss_scale : ",
        b"step: 1 ",
        b"fp16 ",
    ],
)
def test_a_long_line_takes_time_in_proportion_to_its_length(piece: bytes) -> None:
    """A search that begins again at each piece and runs to the end of the line would take minutes."""
    marks = b"".join(mark + b" " for kind in FORMATS for mark in (*kind.marks, *kind.option_marks))
    log_of(marks + piece * (1_000_000 // len(piece)) + b"\n").evidence()


def probing(steps: int, every: int) -> str:
    """A scale that grows and overflows at once, every few steps."""
    return "".join(
        f"step: {step}, loss is 1, overflow is {step % every == 0}, loss scale is {2048 if step % every else 4096}\n"
        for step in range(1, steps + 1)
    )


def test_advice_is_a_start_near_the_scale_in_use_and_a_rarer_growth(tmp_path: Path) -> None:
    evidence = found(mindformers(STEPS, (1, 2, 3, 4, 5)), tmp_path)
    assert advise(evidence, 0.005).initial == 2048.0
    assert advise(evidence, 0.005).window is None
    advice = advise(found(probing(STEPS, 100), tmp_path), 0.005)
    assert (advice.initial, advice.growth_factor, advice.window) == (None, 2.0, 500)
    without_rises = advise(found(mindformers(STEPS, range(100, 1000, 100)), tmp_path), 0.005)
    assert without_rises.window is None
    clean = advise(found(mindformers(STEPS, ()), tmp_path), 0.005)
    assert (clean.initial, clean.growth_factor, clean.window, clean.reasons) == (None, None, None, ())
    collapsed = advise(found(mindformers(STEPS, range(1, 30)), tmp_path), 0.005)
    assert (collapsed.initial, collapsed.window) == (None, None)
    assert "operator" in collapsed.reasons[0]


# What single formats take from a few lines


@pytest.mark.parametrize(
    ("line", "name", "counts"),
    [
        (b"[Rank 0] step=0, skipped=0, lr=[0.1]", "deepspeed", False),
        (b"[Rank 0] step=1, skipped=0, lr=[0.1]", "deepspeed", True),
        (b"[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 8, reducing to 4", "deepspeed", True),
        (b" iteration 1/ 9 | number of skipped iterations: 0 |", "megatron", True),
        (b"Grad overflow on iteration  3", "fp16_optimizer", True),
        (b"Grad overflow", "fp16_optimizer", False),
        (b"Minimum loss scale reached (0.0001)", "fairseq", True),
        (b"--min-loss-scale: Minimum loss scale before training is stopped", "fairseq", False),
        (b"overflow: True, scale: 8", "mindspore", True),
        (b"step: 3 has overflow 1 in a layer", "mindspore", False),
        (b"step: 4 loss_scale 3.0", "scale_column", True),
        (b"step: 4 overflow, loss_scale 3.0", "scale_column", True),
        (b"loss_scale 3.0", "scale_column", False),
    ],
)
def test_which_lines_count(line: bytes, name: str, counts: bool) -> None:
    """A counter at step 0 is printed before the first step, and gives way to any other format."""
    is_read = counts or b"step=0" in line
    evidence = evidence_of(line)
    assert (evidence.format, evidence.lines) == ((name, 1) if is_read else ("unknown", 0))
    other = evidence_of(line, "step: 1 loss_scale 2.0")
    assert other.format == (name if counts else "scale_column")


@pytest.mark.parametrize(
    ("copies", "printed", "ranks", "expected"),
    [
        ([8, 8, 8], (), None, (3, 3, 8)),
        ([1, 1], (), None, (2, 2, 1)),
        ([1, 1], (2,), None, (2, 2, 1)),
        ([2, 2, 1], (), None, (2, 5, 2)),  # a garbled copy, or an iteration of its own
        ([2, 2, 1, 1], (), None, (3, 3, 2)),
        ([4, 4, 3, 1], (), None, (3, 3, 4)),
        ([4, 4, 3, 1], (4, 6), None, (3, 3, 4)),
        ([4, 4, 3, 1], (3, 5), None, (3, 3, 4)),  # fewer than print, and no divisor of the messages
        ([4, 4, 3, 1], (3, 6), None, (2, 2, 6)),
        ([4, 4, 4], (6,), None, (3, 3, 4)),  # nothing is garbled
        ([2, 1], (), 2, (1, 3, 2)),
        ([1, 1, 1, 1], (), 2, (2, 2, 2)),
        ([2, 2], (), 1, (4, 4, 1)),
        ([], (), None, (0, 0, 1)),
    ],
)
def test_iterations_and_copies_give_the_number_of_ranks(
    copies: list[int], printed: tuple[int, ...], ranks: int | None, expected: tuple[int, int, int]
) -> None:
    reader = Fp16Optimizer()
    for at, many in enumerate(copies):
        reader.line(b"Grad overflow on iteration  %d" % (100 * at), Steps(), 0, many)
    reader.printed_ranks = printed
    count = reader.tally(None, ranks)
    assert (count.low, count.high, count.ranks) == expected
    assert bool(count.proof) == bool(copies)
    assert ("ranks" in count.basis) == (expected[2] > 1)


def test_more_iterations_than_are_remembered_are_counted_all() -> None:
    count = evidence_of(
        *(b"Grad overflow on iteration  %d" % step for step in range(0, 50_000, 10) for _ in "ab")
    ).count
    assert (count.low, count.high, count.ranks) == (5000, 5000, 2)


@pytest.mark.parametrize(
    ("iterations", "leading"),
    [([0], 1), ([1], 1), ([2], 0), ([0, 2], 2), ([0, 3], 1), ([0, 1, 2, 9, 10], 3)],
)
def test_overflows_of_the_first_steps_are_the_first_descent(iterations: list[int], leading: int) -> None:
    lines = [b"Grad overflow on iteration  %d" % iteration for iteration in iterations]
    assert evidence_of(*lines).count.calibrating == leading


@pytest.mark.parametrize(
    ("line", "is_read"),
    [
        (b"Using dynamic loss scale of  8.0", True),
        (b"3: Using dynamic loss scale of  8.0", True),
        (b"[1,0]<stdout>:Using dynamic loss scale of  8.0", True),
        (b"[2020-06-20 09:05:05] [INFO] Using dynamic loss scale of 8.0", True),
        (b"Using dynamic loss scale of  8.0 ", False),
        (b"Using dynamic loss scale of  8.08.0", False),
        (b" Using dynamic loss scale of  8.0", False),
        (b"8.0Using dynamic loss scale of  8.0", False),
        (b"Grad overflow on iteration Using dynamic loss scale of  8", False),
        (b"Using dynamic loss scale of Using dynamic loss scale of  8.0", False),
        (b"Using dynamic loss scale of ", False),
    ],
)
def test_a_scale_counts_if_nothing_runs_into_its_line(line: bytes, is_read: bool) -> None:
    """One message that is mixed up shows that the ranks write into one line, so that no scale of the log is certain."""
    messages = [*[b"Grad overflow on iteration  3"] * 9, *[b"Using dynamic loss scale of  8.0"] * 9]
    evidence = evidence_of(*messages, line, *messages)
    assert (evidence.scale.final, evidence.unreadable is None) == ((8.0, True) if is_read else (None, False))


@pytest.mark.parametrize(
    ("text", "lines", "steps", "low"),
    [
        (" iteration 1/ 9 | skipped iterations: 1 | iteration 2/ 9 | skipped iterations: 0", 2, 2, 1),
        (" iteration x | skipped iterations: 3 |", 0, None, 0),
        (" iteration x | iteration 6/ 9 | skipped iterations: 4", 1, 6, 4),
        ("skipped iterations: 1 iteration 2 | skipped iterations: 3", 1, 2, 2),
        ("0: {'training_steps': 4, 'skipped_steps': 1}", 1, None, 1),
        ("0: {'skipped_steps': 1, 'training_steps': 4}", 1, None, 1),
        ("step=1, skipped=1, step=2, skipped=2", 2, 2, 2),
    ],
)
def test_a_counter_belongs_to_the_step_before_it_in_its_line(
    text: str, lines: int, steps: int | None, low: int
) -> None:
    evidence = evidence_of(text)
    assert (evidence.lines, evidence.count.low) == (lines, low)
    assert steps is None or evidence.count.steps == steps


@pytest.mark.parametrize(
    ("text", "scales"),
    [
        (" iteration 7/ 9 | loss scale: 4.0 | loss scale: 2.0 | number of skipped iterations: 1 |", [4.0]),
        (" iteration 8/ 9 | loss scale: x | number of skipped iterations: 1 |", []),
        (" iteration 9/ 9 | number of skipped iterations: 1 | loss scale: 4.0 |", [4.0]),
        (" iteration 9/ 9 | loss scale: -1.0 | number of skipped iterations: 1 |", []),
        (
            "num_updates=3 loss_scale=8 | setting loss scale to: 4 | overflow detected, setting loss scale to: 2",
            [8.0, 2.0],
        ),
        ("overflow detected, setting loss scale to: 4 num_updates=9, loss_scale=16", [8.0, 4.0, 16.0]),
        ("loss_scale=32 num_updates=9", []),
    ],
)
def test_a_scale_belongs_to_the_message_before_it_in_its_line(text: str, scales: list[float]) -> None:
    assert [scale for _, scale in points_of(evidence_of(text))] == scales


def test_scales_of_fairseq_that_are_no_numbers_are_counted_and_left_out() -> None:
    def over(scale: str) -> str:
        return f"NOTE: overflow detected, setting loss scale to: {scale}"

    update = "train | num_updates={} | loss_scale={}"
    found = evidence_of(*[over("inf")] * 3, over("8"), update.format(5, 8), *[over("nan")] * 2)
    assert (found.scale.not_numbers, found.lines) == (5, 7)
    assert found.scale.drawn == [(4, 16.0), (4, 8.0), (11, 8.0)]
    alone = evidence_of(over("inf"))
    assert (alone.scaling, alone.level, alone.at_is_step) == ("dynamic", "fp16", True)


@pytest.mark.parametrize("first", [0, 1, 7])
def test_steps_of_epochs_are_counted_from_the_first_epoch(first: int) -> None:
    form = "Epoch:[{}/ 9], step:[{}/ 40], overflow cond: False, loss_scale: {}"
    rows = [(first, 39, 8), (first, 40, 4), (first + 1, 1, 4), (first + 2, 2, 2)]
    odd = "epoch 3, step: 90, overflow: True, scale: 1"
    evidence = evidence_of(*(form.format(*row) for row in rows), odd)
    assert points_of(evidence) == [(39, 8.0), (40, 4.0), (82, 2.0), (90, 1.0)]


def test_a_drop_of_mindyolo_is_placed_at_its_step_or_its_number() -> None:
    drop = "overflow, drop step, loss scale adjust to "
    evidence = evidence_of(f"epoch: 2 step:[3/ 40], {drop}8", f"epoch: 3 step:[5/ 40], {drop}4", drop + "2")
    assert (points_of(evidence), evidence.lines, evidence.level) == ([(3, 8.0), (45, 4.0), (45, 2.0)], 3, "float16")
    alone = evidence_of(f"step: 1, {drop}8", "overflow!!!", *[drop + "8"] * 2, drop + "4")
    assert (points_of(alone), alone.lines) == ([(1, 8.0), (4, 4.0)], 5)


MOVED = "[INFO] [fused_optimizer.py:345:_update_scale] {}ing dynamic loss scale from {} to {}"
COUNTER = "[Rank 0] step={}, skipped=1, lr=[0.1]"


def test_a_move_of_deepspeeds_scale_is_at_the_step_of_its_counter() -> None:
    """Other lines may count other steps."""
    first, second = MOVED.format("Reduc", 8.0, 4.0), MOVED.format("Reduc", 4.0, 2.0)
    counted = evidence_of(COUNTER.format(1), "step: 7", first, COUNTER.format(9), "step: 12", second)
    assert points_of(counted) == [(1, 8.0), (1, 4.0), (9, 2.0)]
    assert points_of(evidence_of("step: 7", first, "step: 9", second)) == [(7, 8.0), (7, 4.0), (9, 2.0)]
    before = evidence_of(first, second, COUNTER.format(10), MOVED.format("Increas", 2.0, 4.0))
    assert (points_of(before), before.at_is_step) == ([(0, 8.0), (0, 4.0), (0, 2.0), (10, 4.0)], True)


ATTEMPTED = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: "


@pytest.mark.parametrize(
    ("message", "falls"),
    [
        (ATTEMPTED + "8, reducing to 4", 3),
        (ATTEMPTED + "1, reducing to 1", 0),
        (ATTEMPTED + "8, but hysteresis is 2. Reducing hysteresis to 1", 0),
        ("[deepspeed] OVERFLOW! Rank 0 Skipping step.", 0),
    ],
)
def test_between_equal_overflows_of_one_rank_the_scale_rose(message: str, falls: int) -> None:
    evidence = evidence_of(*[message] * 3)
    assert (evidence.count.low, evidence.scale.falls, evidence.scale.rises) == (3, falls, max(0, falls - 1))


NPU_OVERFLOW = "Gradient overflow. Skipping step"
NPU_LOWER = "Loss scaler reducing loss scale to {}"


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
def test_both_messages_of_torch_npu_bound_the_overflows(
    messages: int, values: list[int], ranks: int | None, expected: tuple[int, int]
) -> None:
    lines = [*[NPU_OVERFLOW] * messages, *(NPU_LOWER.format(value) for value in values)]
    count = evidence_of(*lines, ranks=ranks).count
    assert (count.low, count.high) == expected
