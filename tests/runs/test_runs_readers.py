"""Every log format gives the known share, and misleading lines do not."""

from __future__ import annotations

import gzip
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

from opsinfo_cli.runs.evidence import run_evidence
from opsinfo_cli.runs.grouping import TrainingRun, runs_of
from opsinfo_cli.runs.points import Asked, run_points, share_of
from opsinfo_cli.runs.readers import READERS
from opsinfo_cli.runs.readers.reader import Evidence, Reader
from opsinfo_cli.runs.scale import advise
from opsinfo_cli.runs.scan import FILTERS, Log
from opsinfo_cli.runs.sheet import Sheet
from opsinfo_cli.runs.startup import MARKS
from opsinfo_cli.runs.steps import StepFields
from opsinfo_cli.runs.stream import Window

OVERFLOWS = (1, 2, 3, 4, 777)
STEPS = 1000


def found(text: str | bytes, folder: Path, **asked: int) -> Evidence:
    path = folder / "train.log"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return run_evidence(TrainingRun("train.log", (str(path),)), Asked(**asked), None, "last").evidence


def statuses(evidence: Evidence, asked: Asked | None = None) -> dict[str, str]:
    return {point.name: point.status for point in run_points(evidence, asked or Asked())}


@pytest.mark.parametrize(("reader", "maker"), MAKERS.values(), ids=MAKERS)
def test_every_reader_finds_the_known_share(tmp_path: Path, reader: str, maker: Maker) -> None:
    evidence = found(maker(STEPS, OVERFLOWS), tmp_path)
    assert evidence.format == reader
    assert evidence.scaling == "dynamic"
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.high, evidence.count.steps) == (5, 5, STEPS)
    share = share_of(evidence)
    assert share.low == share.high == 0.005
    assert share.without == pytest.approx(1 / 996)
    assert evidence.scale.falls >= {"megatron": 1, "step_dictionary": 0}.get(reader, 4)


@pytest.mark.parametrize(("reader", "maker"), MAKERS.values(), ids=MAKERS)
def test_a_share_at_the_limit_fails_and_one_below_it_holds(tmp_path: Path, reader: str, maker: Maker) -> None:
    assert statuses(found(maker(STEPS, OVERFLOWS), tmp_path))["overflow-share"] == "fails"
    below = found(maker(STEPS, OVERFLOWS[:4]), tmp_path)
    assert statuses(below)["overflow-share"] == "holds"
    assert statuses(below, Asked(large_batch=True))["overflow-share"] == "fails"


@pytest.mark.parametrize(("reader", "maker"), MAKERS.values(), ids=MAKERS)
def test_every_line_of_a_format_passes_the_filters(reader: str, maker: Maker) -> None:
    kind = next(each for each in READERS if each.name == reader)
    for line in maker(STEPS, OVERFLOWS).encode().splitlines(keepends=True):
        one: Reader = kind()
        one.sheet(Sheet(line, len(line)), StepFields())
        if one.counts and one.lines:
            assert any(mark in line for mark in kind.marks), line
            assert any(word in line for word in FILTERS), line


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


def test_messages_on_one_line_are_counted_each(tmp_path: Path) -> None:
    line = "Gradient overflow. Skipping stepGradient overflow. Skipping step\n"
    evidence = found(line, tmp_path, steps=1000, ranks=2)
    assert evidence.count is not None
    assert evidence.count.low == 1
    assert "2 messages" in evidence.count.basis


def test_the_one_space_copy_of_the_apex_message_is_apex(tmp_path: Path) -> None:
    text = "Gradient overflow. Skipping step, loss scaler 0 reducing loss scale to 1024.0\n"
    assert found(text, tmp_path).format == "apex"


def test_a_rank_that_logs_alone_is_not_added_to_the_others(tmp_path: Path) -> None:
    for rank in range(4):
        (tmp_path / f"rank_{rank}.log").write_text(mindformers(STEPS, OVERFLOWS))
    (run,) = runs_of(tuple(str(tmp_path / f"rank_{rank}.log") for rank in range(4)))
    evidence = run_evidence(run, Asked(), None, "last").evidence
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.steps) == (5, STEPS)


def test_interleaved_ranks_of_flagged_steps_count_once(tmp_path: Path) -> None:
    lines = mindformers(STEPS, OVERFLOWS).splitlines(keepends=True)
    evidence = found("".join(line for line in lines for _ in range(4)), tmp_path)
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.steps) == (5, STEPS)


def test_the_tf_flag_means_no_overflow(tmp_path: Path) -> None:
    text = "".join(f"global_step:{step},lossscale:64,overflow_status_reduce_all:True\n" for step in range(1, 101))
    evidence = found(text, tmp_path)
    assert evidence.count is not None
    assert evidence.count.low == 0


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
    assert (later.count.low, later.count.steps) == (1, 990)


def test_deepspeed_of_bf16_measures_nothing(tmp_path: Path) -> None:
    text = "[deepspeed] OVERFLOW! Rank 0 Skipping step.\n[Rank 0] step=1000, skipped=1, lr=[0.1]\n"
    evidence = found(text, tmp_path)
    assert evidence.precision == "bfloat16"
    assert statuses(evidence)["overflow-share"] == "not measurable"


def test_bf16_needs_no_scaling_even_if_deepspeed_prints_a_scale(tmp_path: Path) -> None:
    text = (
        "  bfloat16_enabled ............. True\n  fp16_enabled ................. False\n  loss_scale ........... 1.0\n"
    )
    evidence = found(text + "[Rank 0] step=1000, skipped=0, lr=[0.1]\n", tmp_path)
    assert (evidence.precision, evidence.scaling) == ("bfloat16", "static")
    assert statuses(evidence)["dynamic-scaling"] == "holds"
    assert statuses(evidence, Asked(expect_dynamic=True))["dynamic-scaling"] == "fails"


def test_hysteresis_lines_are_overflows_that_do_not_lower_the_scale(tmp_path: Path) -> None:
    text = (
        "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, but hysteresis is 2. Reducing "
        "hysteresis to 1\n[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768\n"
    )
    evidence = found(text, tmp_path, steps=1000)
    assert evidence.count is not None
    assert (evidence.count.low, evidence.scale.falls) == (2, 1)


def test_a_static_scale_measures_nothing(tmp_path: Path) -> None:
    evidence = found(apex_block("O2", "128.0") + "global_step: 10\nglobal_step: 20\n", tmp_path)
    assert (evidence.level, evidence.scaling, evidence.static_scale) == ("O2", "static", 128.0)
    points = statuses(evidence)
    assert (points["dynamic-scaling"], points["overflow-share"]) == ("fails", "not measurable")


def test_a_silent_apex_log_does_not_prove_zero_overflows(tmp_path: Path) -> None:
    evidence = found(apex(STEPS, ()), tmp_path)
    assert (evidence.known, evidence.scaling) == (True, "dynamic")
    assert share_of(evidence) == (None, None, None)
    points = statuses(evidence)
    assert (points["overflow-share"], points["loss-scale"]) == ("cannot be told", "cannot be told")


@pytest.mark.parametrize("maker", [deepspeed, megatron, mindformers, fairseq, nvidia_bert])
def test_a_counter_or_flag_without_overflows_is_a_measured_zero(tmp_path: Path, maker: Maker) -> None:
    share = share_of(found(maker(STEPS, ()), tmp_path))
    assert (share.low, share.high) == (0, 0)


def test_a_log_without_any_message_measures_nothing(tmp_path: Path) -> None:
    evidence = found("step: 10 loss: 1\nstep: 1000 loss: 0.5\n", tmp_path)
    assert evidence.format == "unknown"
    assert statuses(evidence) == dict.fromkeys(
        ("mixed-precision", "dynamic-scaling", "loss-scale"), "cannot be told"
    ) | {"overflow-share": "not measurable"}


def test_options_do_not_turn_a_silent_log_into_zero_overflows(tmp_path: Path) -> None:
    evidence = found("{'loss': 2.0, 'step': 10}\n{'loss': 1.0, 'step': 5000}\n", tmp_path)
    assert statuses(evidence, Asked(amp="O1", loss_scale="dynamic"))["overflow-share"] == "not measurable"


def test_flags_without_a_known_scaling_give_no_share(tmp_path: Path) -> None:
    text = "".join(f"step: {n}, loss is 1, overflow is {n == 5}, loss scale is 1024\n" for n in range(1, 1001))
    evidence = found(text, tmp_path)
    assert statuses(evidence)["overflow-share"] == "cannot be told"
    assert statuses(evidence, Asked(loss_scale="dynamic"))["overflow-share"] == "holds"


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
    (point,) = (point for point in run_points(evidence, Asked()) if point.name == "overflow-share")
    assert point.status == "not measurable"
    assert "0 of 500 printed" in point.says
    assert "prove at least 2" in point.says


def test_falls_between_sampled_lines_can_be_enough_to_fail(tmp_path: Path) -> None:
    evidence = found(sampled(10, 65536 / 2**30), tmp_path)
    assert statuses(evidence)["overflow-share"] == "fails"


def test_lines_beside_the_regular_ones_show_that_no_overflow_is_missing(tmp_path: Path) -> None:
    evidence = found(sampled(10, 32768, also=(3, 777)), tmp_path)
    assert evidence.count is not None
    assert (evidence.count.low, evidence.count.high, evidence.count.steps, evidence.count.doubt) == (2, 2, 5000, None)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Exception: Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.\n", "aborted"),
        ("FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding.\n", "aborted"),
        (
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 1.0\n"
            "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 1e-300\n",
            "below 1",
        ),
        (
            "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 2, reducing to 1\n",
            "floor",
        ),
        ("step: 1, overflow: True, loss scale: nan\n", "not a number"),
        ("step: 1, overflow: True, loss scale: inf\n", "not a number"),
    ],
    ids=["deepspeed aborts", "fairseq aborts", "below 1", "floor", "NaN", "infinite"],
)
def test_a_collapsed_scale_fails_regardless_of_the_share(tmp_path: Path, text: str, reason: str) -> None:
    (point,) = (each for each in run_points(found(text, tmp_path, steps=10**6), Asked()) if each.name == "loss-scale")
    assert point.status == "fails"
    assert reason in point.says


def test_gzip_reads_the_same(tmp_path: Path) -> None:
    plain = apex(STEPS, OVERFLOWS, 8)
    assert found(gzip.compress(plain.encode()), tmp_path).count == found(plain, tmp_path).count


@pytest.mark.parametrize("size", [1, 7, 100, 4096])
def test_the_ends_of_windows_do_not_change_the_result(
    tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = found(megatron(300, (3, 4, 250)), tmp_path).count
    monkeypatch.setattr("opsinfo_cli.runs.stream.BLOCK", size * 10)
    monkeypatch.setattr("opsinfo_cli.runs.stream.TAIL", 600)
    assert found(megatron(300, (3, 4, 250)), tmp_path).count == whole


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
    log = Log("x")
    data = line + b"\n"
    log.take(Window(data, len(data)))
    for asked in (Asked(), Asked(steps=1), Asked(ranks=3)):
        run_points(log.evidence(asked.steps, asked.ranks), asked)


def test_marks_of_the_start_are_found_in_every_startup_line() -> None:
    for line in (*apex_block().splitlines(), "  fp16 ....... True", "[GePlugin] precision_mode : allow_mix_precision"):
        words = ("opt_level", "loss_scale", "fp16", "precision_mode")
        if any(word in line for word in words):
            assert any(mark.decode() in line for mark in MARKS)


@pytest.mark.parametrize(
    ("line", "level", "precision"),
    [
        ("[GePlugin] precision_mode : allow_mix_precision_bf16", "allow_mix_precision_bf16", "bfloat16"),
        ("model = Model(net, amp_level='O2')", "O2", "float16"),
        ("opt_level              : O0", "O0", None),
        ("Namespace(fp16=True, lr=0.1)", "fp16", "float16"),
    ],
    ids=["GePlugin", "MindSpore", "APEX", "arguments"],
)
def test_levels_and_modes(tmp_path: Path, line: str, level: str, precision: str | None) -> None:
    evidence = found(line + "\n", tmp_path)
    assert (evidence.level, evidence.precision) == (level, precision)
    assert statuses(evidence)["mixed-precision"] == ("fails" if level == "O0" else "holds")


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
