"""What a log shows as a whole: its start, which format is used, the logs of several ranks."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Any

import pytest
from log_makers import MAKERS, Maker
from log_reading import evidence_of, log_of

from opsinfo_cli import qualify
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.logs import formats
from opsinfo_cli.logs import log as log_module
from opsinfo_cli.logs.blocks import Block
from opsinfo_cli.logs.evidence import Evidence
from opsinfo_cli.logs.formats import FORMATS
from opsinfo_cli.logs.log import Log
from opsinfo_cli.logs.startup import LEVELS
from opsinfo_cli.logs.training_run import TrainingRun, run_evidence, runs_of

MIB = 1 << 20
APEX = b"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to %d.0\n"


def test_every_module_of_the_folder_is_a_format() -> None:
    modules = {path.stem for path in Path(formats.__path__[0]).glob("*.py")} - {"__init__"}
    assert {kind.__module__.rpartition(".")[2] for kind in FORMATS} == modules
    assert [kind.strength for kind in FORMATS] == sorted(kind.strength for kind in FORMATS)


# The start of a log


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["nothing"], {}),
        (["opt_level : O1"], {"level": "O1", "precision": "float16", "known": True}),
        (["opt_level : O1", "opt_level : O2"], {"level": "O2", "precision": "float16", "known": True}),
        (["opt_level : O2", "opt_level : O0"], {"level": "O0", "known": True}),
        (["amp_level=auto"], {"level": "auto", "precision": "float16", "known": True}),
        (["precision_mode : other"], {}),
        (["precision_mode_v2='mixed_hif8'"], {"level": "mixed_hif8", "precision": "hifloat8", "known": True}),
        (["bf16=True"], {"level": "bf16", "precision": "bfloat16", "known": True}),
        (["loss_scale             : dynamic"], {"scaling": "dynamic", "known": True}),
        (["    loss_scale : 128.0 "], {"scaling": "static", "static_scale": 128.0, "known": True}),
        (["PARAMETER loss_scale : 1e3"], {"known": True}),
        (["loss_scale: dynamic", "loss_scale=3", "a : b"], {}),
        (
            [f"loss_scale : {scale}" for scale in ("dynamic", "8.0", "4.0", "2.0")],
            {"scaling": "static", "static_scale": 2.0, "known": True},
        ),
        ([f"loss_scale : {scale}" for scale in ("16.0", "8.0", "4.0", "2.0")], {"scaling": "dynamic", "known": True}),
        (
            [f"loss_scale : {scale}" for scale in ("2.0", "1.0", "2.0", "1.0", "2.0")],
            {"scaling": "static", "static_scale": 2.0, "known": True},
        ),
        (["loss_scale : 8.0", "loss_scale : dynamic"], {"scaling": "dynamic", "known": True}),
        (["fp16_opt_level=O1"], {"known": True}),
        (["fp16=False"], {}),
        (["fp16=False", "fp16_opt_level=O1"], {"level": "fp32", "known": True}),
        (["fp16=False, fp16_opt_level=O1"], {"level": "fp32", "known": True}),
        (["fp16=False", "fp16_opt_level=O1", "bf16=True"], {"level": "bf16", "precision": "bfloat16", "known": True}),
        (["fp16=True", "fp16_opt_level=O1"], {"level": "fp16", "precision": "float16", "known": True}),
    ],
    ids=str,
)
def test_the_start_of_a_log(lines: list[str], shown: dict[str, Any]) -> None:
    evidence = evidence_of(*lines)
    unset = {"level": None, "precision": None, "scaling": None, "static_scale": None, "known": False}
    assert {name: getattr(evidence, name) for name in unset} == unset | shown


def test_numbers_of_ranks_at_the_start_of_a_log() -> None:
    log = log_of("using 4 GPUs\nworld_size=16\nNGPU=4\nworld_size: 1\n")
    assert log._startup.ranks == (4, 16)
    many = log_of("".join(f"nproc_per_node {number}\n" for number in range(1, 12)))
    assert many._startup.ranks == (2, 3, 4, 5, 6, 7, 8, 9)


def test_the_dtype_of_a_level() -> None:
    kinds = {"O0": "off", "O2": "float16", "allow_fp32_to_bf16": "bfloat16", "mixed_hif8": "hifloat8", "O": None}
    assert {level: LEVELS.get(level) for level in kinds} == kinds


ARGUMENTS = b"  fp16 ............................................ True\n"


@pytest.mark.parametrize(("before", "level", "lines"), [(0, "O1", 1), (64 * MIB - 1, "O1", 1), (64 * MIB, None, 0)])
def test_the_start_of_a_log_is_64_mib_long(before: int, level: str | None, lines: int) -> None:
    """Neither the level nor the arguments of Megatron are searched for after it."""
    log = Log()
    log._bytes = before
    log.take(Block(b"opt_level : O1\n" + ARGUMENTS, continues=False))
    evidence = log.evidence()
    assert (evidence.level, evidence.lines) == (level, lines)


def test_options_are_read_from_every_block_of_the_start() -> None:
    evidence = log_of("opt_level : O1\n", "nothing\n" * 20, "loss_scale : dynamic\n", "x\n").evidence()
    assert (evidence.level, evidence.scaling) == ("O1", "dynamic")


@pytest.mark.parametrize(("reader", "maker"), MAKERS.values(), ids=MAKERS)
def test_every_format_is_read_after_the_start_of_a_log(
    reader: str, maker: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_module, "_STARTUP", 0)
    evidence = log_of(maker(1000, (1, 2, 777)).replace("\r", "\n")).evidence()
    assert (evidence.format, evidence.known) == (reader, True)
    assert (evidence.count.low, evidence.count.high, evidence.count.steps) == (3, 3, 1000)


# Evidence of a whole log


def test_a_log_that_shows_only_an_option_is_known() -> None:
    for line in ("opt_level : O1", "loss_scale : dynamic", "fp16_opt_level=O1"):
        assert evidence_of(line).known
    assert not evidence_of("step: 3").known


def test_a_log_without_messages_has_a_count_of_nothing() -> None:
    count = evidence_of("opt_level : O1", "step: 10", "step: 20").count
    assert (count.low, count.high, count.steps, count.calibrating, count.proof) == (0, 0, 20, 0, None)
    assert evidence_of("opt_level : O1", steps=7).count.steps == 7


def test_more_overflows_than_steps_leave_the_steps_of_a_log_unknown() -> None:
    evidence = evidence_of(*((APEX % 2**power).strip() for power in (9, 8, 7)), steps=2)
    assert (evidence.count.low, evidence.count.steps) == (3, None)


def test_a_message_of_a_lower_scale_counts_more_than_a_static_option() -> None:
    evidence = evidence_of("opt_level : O2", "loss_scale : 128.0", (APEX % 8).strip())
    assert (evidence.level, evidence.precision) == ("O2", "float16")
    assert (evidence.scaling, evidence.static_scale) == ("dynamic", None)
    assert evidence_of("loss_scale : 128.0", "step: 1").scaling == "static"


DEEPSPEED = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 16, reducing to 8"


def test_of_a_log_with_several_formats_the_first_that_counts_is_used() -> None:
    apex, column = (APEX % 8).strip(), "Train: [0/3][4/9] loss_scale 8.0 (8.0)"
    arguments = ARGUMENTS.strip(b"\n")
    assert evidence_of(arguments).format == "megatron"
    assert evidence_of(arguments, apex).format == "apex"
    assert evidence_of(column, apex).format == "apex"
    assert evidence_of(apex, DEEPSPEED).format == "deepspeed"


def test_the_steps_of_megatron_on_deepspeed_go_on_if_the_run_begins_again() -> None:
    line = " iteration {:8d}/     900 | loss scale: 8.0 | number of skipped iterations:   0 |"
    evidence = evidence_of(*(line.format(step) for step in (100, 200, 100, 200)), DEEPSPEED)
    assert (evidence.format, evidence.count.low, evidence.count.steps) == ("deepspeed", 1, 400)


def test_the_scale_of_deepspeed_is_not_that_of_an_option() -> None:
    evidence = evidence_of("loss_scale : 128.0", "bf16=True", DEEPSPEED)
    assert (evidence.scaling, evidence.static_scale, evidence.level) == ("dynamic", None, "fp16")


# Logs of several ranks


def ranks_of(folder: Path, *texts: bytes) -> TrainingRun:
    paths = []
    for number, text in enumerate(texts):
        path = folder / f"rank_{number}.log"
        path.write_bytes(text)
        paths.append(str(path))
    return TrainingRun("run", tuple(paths))


STEPS = b"step: 10 of 90\nstep: 20 of 90\n"


def best(folder: Path, *texts: bytes, ranks: int | None = None) -> Evidence:
    (run,) = run_evidence(ranks_of(folder, *texts), ranks=ranks).runs
    return run.evidence


def test_the_log_of_a_known_format_is_used(tmp_path: Path) -> None:
    assert best(tmp_path, STEPS, APEX % 8, b"nothing\n").format == "apex"


SWIN = b"Train: [0/3][4/9] loss_scale 8.0 (8.0)\nTrain: [0/3][5/9] loss_scale 4.0 (8.0)\n"


def test_logs_of_two_stacks_are_two_runs(tmp_path: Path) -> None:
    judged = run_evidence(ranks_of(tmp_path, SWIN, APEX % 8))
    assert [run.evidence.format for run in judged.runs] == ["scale_column", "apex"]
    (note,) = judged.notes
    assert "judged one by one: their formats differ (apex, scale_column)" in note


def test_a_stack_and_the_trainer_above_it_are_one_run(tmp_path: Path) -> None:
    trainer = b"{'loss': 1.2, 'grad_norm': 0.7, 'epoch': 0.1}\n"
    megatron = b" iteration 1/ 9 | loss scale: 8.0 | number of skipped iterations: 0 |\n"
    deepspeed = b"[Rank 0] step=10, skipped=0, lr=[1e-5]\n"
    assert best(tmp_path, trainer, APEX % 8 + trainer).format == "apex"
    assert best(tmp_path, megatron, deepspeed).format == "deepspeed"


def folder_of(folder: Path, **texts: bytes) -> TrainingRun:
    for name, text in texts.items():
        (folder / f"{name}.log").write_bytes(text)
    return TrainingRun("runs", tuple(str(folder / f"{name}.log") for name in texts))


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (APEX % 8 + b"step: 10\nstep: 20\n", None),
        (APEX % 8 + b"step: 10\nstep: 90\n", "they have 20 to 90 steps"),
        (APEX % 8 + APEX % 4 + b"step: 10\nstep: 20\n", "their overflows differ"),
        (b"opt_level : O2\n" + APEX % 8 + b"step: 10\nstep: 20\n", "their levels differ"),
        (b"nothing\n", None),
    ],
    ids=["equal", "steps", "overflows", "levels", "no log"],
)
def test_logs_of_a_folder_without_ranks_in_their_names_must_fit(
    tmp_path: Path, second: bytes, reason: str | None
) -> None:
    first = b"opt_level : O1\n" + APEX % 8 + b"step: 10\nstep: 20\n"
    judged = run_evidence(folder_of(tmp_path, one=first, two=second))
    assert len(judged.runs) == (2 if reason else 1)
    assert not reason or reason in judged.notes[0]


def test_a_file_without_a_known_line_is_named_and_no_rank(tmp_path: Path) -> None:
    judged = run_evidence(folder_of(tmp_path, one=APEX % 8, two=b"op\tcount\nMatMul\t3\n"))
    assert judged.runs[0].run.paths == (str(tmp_path / "one.log"),)
    assert judged.notes == (f"{tmp_path / 'two.log'}: no line of a known log format, so it is no log of the run runs",)
    (alone,) = run_evidence(folder_of(tmp_path, one=b"x\n", two=b"y\n")).runs
    assert not alone.evidence.known


def test_a_rank_with_nan_makes_the_run_fail(tmp_path: Path) -> None:
    step = b"step: 10 loss: %s\nstep: 20 loss: 1.0\n"
    losses = best(tmp_path, APEX % 8 + step % b"1.5", step % b"nan").losses
    assert (losses.losses.bad, losses.first and losses.first.step) == (1, 10)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("best val loss", 0),
        ("lowest validation set loss", 0),
        ("min_loss", 0),
        ("best acc 0.3 loss", 1),
        ("minibatch loss", 1),
        ("terminal loss", 1),
    ],
)
def test_the_best_loss_so_far_begins_at_infinity(name: str, bad: int) -> None:
    assert evidence_of("step: 1 loss: 0.3", f"step: 2 {name}: inf").losses.losses.bad == bad


def test_of_logs_of_one_format_the_one_with_steps_is_used(tmp_path: Path) -> None:
    count = best(tmp_path, APEX % 8 + APEX % 4 + APEX % 2, APEX % 8 + STEPS, APEX % 8).count
    assert (count.low, count.steps) == (1, 20)
    more = best(tmp_path, APEX % 8 + STEPS, APEX % 8 + STEPS + b"step: 30 of 90\n").count
    assert more.steps == 30
    assert best(tmp_path, APEX % 8 + APEX % 4, APEX % 8 + b"global_step: 1\n").count.steps == 1


def test_of_logs_with_the_same_steps_the_one_with_the_most_overflows_is_used(tmp_path: Path) -> None:
    assert best(tmp_path, APEX % 8, APEX % 8 + APEX % 4, APEX % 8).count.low == 2


def test_each_of_several_logs_is_of_one_rank(tmp_path: Path) -> None:
    both = APEX % 8 * 2
    assert best(tmp_path, both, both, ranks=2).count.low == 2
    assert best(tmp_path, both, ranks=2).count.low == 1


def test_what_the_log_in_use_lacks_comes_from_the_others(tmp_path: Path) -> None:
    options = b"opt_level : O2\nloss_scale : dynamic\n"
    evidence = best(tmp_path, options, b"| 1 step: 5, overflow: 1, scale: 8\n| 2 step: 6, overflow: 0, scale: 8\n")
    assert (evidence.format, evidence.level, evidence.precision) == ("mindspore", "O2", "float16")
    assert evidence.scaling == "dynamic"
    fatal = b"FloatingPointError: Minimum loss scale reached (0.0001).\n"
    overflow = b"NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: 64.0\n"
    assert best(tmp_path, overflow, fatal).fatal == "Minimum loss scale reached"
    kept = best(tmp_path, b"opt_level : O1\n" + APEX % 8, b"opt_level : O2\n")
    assert (kept.format, kept.level) == ("apex", "O1")


def test_the_metric_of_a_run_is_that_of_its_first_log_with_one(tmp_path: Path) -> None:
    run = ranks_of(tmp_path, b"nothing\n", b"acc 0\nacc 3\n", b"acc 4\n")

    def metric(pattern: re.Pattern[bytes] | None) -> float | None:
        return run_evidence(run, metric=pattern).runs[0].metric

    assert metric(re.compile(rb"acc (\d)")) == 3
    assert metric(None) is None


@pytest.mark.parametrize("known", [{"ranks": 0}, {"ranks": True}, {"steps": 1.5}, {"limit": math.nan}, {"spread": -1}])
def test_numbers_of_a_program_are_checked_as_those_of_the_prompt(tmp_path: Path, known: dict[str, Any]) -> None:
    (tmp_path / "a.log").write_bytes(APEX % 8)
    with pytest.raises(UsageFault, match=r"must be a|cannot be"):
        qualify(tmp_path / "a.log", **known)


# Logs of one run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("rank_0.log", "rank_1.log", "a.log", "b.log", "run/c/x.log", "run/b.log", "run/.hidden"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "grouped"),
    [
        (["a.log", "b.log"], [("a.log", "a.log"), ("b.log", "b.log")]),
        (["rank_1.log", "a.log", "rank_0.log"], [("rank*.log", "rank_1.log", "rank_0.log"), ("a.log", "a.log")]),
        (["rank_1.log"], [("rank_1.log", "rank_1.log")]),
        (["run"], [("run", "run/b.log", "run/c/x.log")]),
        (["run/c"], [("run/c/x.log", "run/c/x.log")]),
        (["-", "absent.log", "a.log"], [("-", "-"), ("absent.log", "absent.log"), ("a.log", "a.log")]),
        (["no\0.log"], [("no\0.log", "no\0.log")]),
    ],
    ids=["files", "ranks", "one rank", "a folder", "a folder of one", "standard input", "NUL"],
)
def test_logs_are_grouped_into_runs(folder: Path, given: list[str], grouped: list[tuple[str, ...]]) -> None:
    assert runs_of(tuple(given)) == [TrainingRun(name, tuple(paths)) for name, *paths in grouped]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["-", "a.log", "-"], "standard input is given twice"),
        (["a.log", "a.log"], "this log is given twice"),
        (["run", "run/c/x.log"], "this log is given twice"),
        (["absent.log", "rank_0.log", "b.log", "./b.log"], "this log is given twice"),
    ],
)
def test_a_log_that_is_given_twice_is_wrong_usage(folder: Path, given: list[str], message: str) -> None:
    with pytest.raises(UsageFault, match=message):
        runs_of(tuple(given))


def test_a_folder_without_logs_is_wrong_usage(folder: Path) -> None:
    (folder / "empty").mkdir()
    (folder / "empty" / ".hidden").write_text("x")
    os.symlink("absent", folder / "empty" / "link.log")
    with pytest.raises(UsageFault, match="the folder has no logs"):
        runs_of(("empty",))
