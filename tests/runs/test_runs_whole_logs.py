"""What a log shows as a whole: its start, which readers get a window, and the logs of several ranks."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from log_makers import MAKERS, Maker

from opsinfo_cli.errors import UsageFault
from opsinfo_cli.runs import startup as startup_module
from opsinfo_cli.runs.evidence import run_evidence
from opsinfo_cli.runs.grouping import TrainingRun, runs_of
from opsinfo_cli.runs.points import Asked
from opsinfo_cli.runs.readers import READERS
from opsinfo_cli.runs.scan import FILTERS, Log
from opsinfo_cli.runs.sheet import Sheet
from opsinfo_cli.runs.startup import Startup, level_kind
from opsinfo_cli.runs.stream import Window

MIB = 1 << 20
APEX = b"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to %d.0\n"

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
        (
            ["precision_mode_v2='mixed_hif8'"],
            {"level": "mixed_hif8", "precision": "hifloat8", "known": True},
        ),
        (["bf16=True"], {"level": "bf16", "precision": "bfloat16", "known": True}),
        (["loss_scale             : dynamic"], {"scaling": "dynamic", "known": True}),
        (["    loss_scale : 128.0 "], {"scaling": "static", "static_scale": 128.0, "known": True}),
        (["PARAMETER loss_scale : 1e3"], {"scaling": "static", "static_scale": 1000.0, "known": True}),
        (["loss_scale: dynamic", "loss_scale=3", "a : b"], {}),
        (
            [f"loss_scale : {scale}" for scale in ("dynamic", "8.0", "4.0", "2.0")],
            {"scaling": "static", "static_scale": 2.0, "known": True},
        ),
        (
            [f"loss_scale : {scale}" for scale in ("16.0", "8.0", "4.0", "2.0")],
            {"scaling": "dynamic", "known": True},
        ),
        (
            [f"loss_scale : {scale}" for scale in ("2.0", "1.0", "2.0", "1.0", "2.0")],
            {"scaling": "static", "static_scale": 2.0, "known": True},
        ),
        (["loss_scale : 8.0", "loss_scale : dynamic"], {"scaling": "dynamic", "known": True}),
        (["fp16_opt_level=O1"], {"known": True}),
        (["fp16=False"], {}),
        (["using 4 GPUs", "world_size=16", "NGPU=4", "world_size: 1"], {"ranks": (4, 16)}),
        ([f"nproc_per_node {many}" for many in range(1, 12)], {"ranks": (2, 3, 4, 5, 6, 7, 8, 9)}),
    ],
    ids=str,
)
def test_the_start_of_a_log(lines: list[str], shown: dict[str, Any]) -> None:
    found = Startup()
    found.lines([line.encode() for line in lines])
    unset = {"level": None, "precision": None, "scaling": None, "static_scale": None, "known": False, "ranks": ()}
    assert {name: getattr(found, name) for name in unset} == unset | shown


@pytest.mark.parametrize(
    ("lines", "is_float32"),
    [
        (["fp16=False", "fp16_opt_level=O1"], True),
        (["fp16=False, fp16_opt_level=O1"], True),
        (["fp16_opt_level=O1"], False),
        (["fp16=False"], False),
        (["fp16=False", "fp16_opt_level=O1", "bf16=True"], False),
        (["fp16=True", "fp16_opt_level=O1"], False),
    ],
    ids=str,
)
def test_only_arguments_without_fp16_and_bf16_show_float32(lines: list[str], is_float32: bool) -> None:
    found = Startup()
    found.lines([line.encode() for line in lines])
    assert found.is_float32 == is_float32


def test_the_dtype_of_a_level() -> None:
    kinds = {"O0": "off", "O2": "float16", "allow_fp32_to_bf16": "bfloat16", "mixed_hif8": "hifloat8", "O": None}
    assert {level: level_kind(level) for level in kinds} == kinds


def test_only_lines_with_their_words_are_searched_for_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Startup()
    monkeypatch.setattr(startup_module, "_SCALE", None)
    for name in ("_LEVEL", "_MODE", "_HALF", "_ARGUMENTS", "_FLOAT32", "_RANKS"):
        monkeypatch.setattr(startup_module, name, None)
    for line in (b"a : b", b"loss_scale=3", b"", b"loss scale : 3"):
        found._line(line)
    assert found == Startup(_shapes=found._shapes)


ARGUMENTS = b"  fp16 ............................................ True\n"


@pytest.mark.parametrize(
    ("before", "level", "lines"), [(0, "O1", 1), (64 * MIB - 1, "O1", 1), (64 * MIB, None, 0), (65 * MIB, None, 0)]
)
@pytest.mark.parametrize("by_shape", [True, False])
def test_the_start_of_a_log_is_64_mib_long(before: int, level: str | None, lines: int, by_shape: bool) -> None:
    """Neither the level nor the arguments of Megatron are searched for after it."""
    log = Log("log")
    log.bytes = before
    log._by_shape = by_shape
    data = b"opt_level : O1\n" + ARGUMENTS
    log.take(Window(data, len(data)))
    (megatron,) = (reader for reader in log._readers if reader.name == "megatron")
    assert (log.startup.level, megatron.lines, log.bytes) == (level, lines, before + len(data))


@pytest.mark.parametrize("by_shape", [True, False])
def test_options_are_read_from_every_window_of_the_start(by_shape: bool) -> None:
    log = Log("log")
    texts = (b"opt_level : O1\n", b"nothing\n" * 20, b"loss_scale : dynamic\nusing 8 GPUs\n", b"x\n")
    for data in texts:
        log._by_shape = by_shape
        log.take(Window(data + b"opt_level : O3", len(data)))
    assert log.bytes == sum(map(len, texts))
    assert (log.startup.level, log.startup.scaling, log.startup.ranks) == ("O1", "dynamic", (8,))


def test_lines_with_the_word_of_an_option_are_left_out_if_no_shape_can_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log("log")
    monkeypatch.setattr(log.startup, "lines", None)
    for line in (b"fp16 is a format\n", b"no option\n"):
        log.take(Window(line * 9, len(line) * 9))
        assert log._by_shape


# Which readers get a window


@pytest.mark.parametrize(("reader", "maker"), MAKERS.values(), ids=MAKERS)
def test_every_format_is_read_after_the_start_of_a_log(reader: str, maker: Maker) -> None:
    log = Log("log")
    log.bytes = 64 * MIB
    data = maker(1000, (1, 2, 777)).encode()
    log.take(Window(data, len(data)))
    found = log.evidence(None, None)
    assert (found.format, found.known) == (reader, True)
    assert found.count is not None
    assert (found.count.low, found.count.high, found.count.steps) == (3, 3, 1000)


def asked_words(monkeypatch: pytest.MonkeyPatch, log: Log, data: bytes) -> list[bytes]:
    """The words that a window is searched for."""
    asked: list[bytes] = []
    has = Sheet.has

    def kept(sheet: Sheet, word: bytes) -> bool:
        asked.append(word)
        return has(sheet, word)

    with monkeypatch.context() as patch:
        patch.setattr(Sheet, "has", kept)
        log.take(Window(data, len(data)))
    return asked


def later_log() -> Log:
    """A log after its start."""
    log = Log("log")
    log.bytes = 64 * MIB
    return log


def test_no_mark_is_searched_for_once_all_overflows_and_scales_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    log = later_log()
    asked_words(monkeypatch, log, APEX % 8)
    for messages in (APEX % 4, APEX % 2 + APEX % 1):
        assert asked_words(monkeypatch, log, b"text\n" + messages) == [*FILTERS, b"Gradient overflow"]


def test_the_reader_with_the_most_overflows_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    log = later_log()
    closure = b"OVERFLOW within closure. Skipping step.\n"
    fairseq = b"NOTE: gradient overflow detected, ignoring gradient, setting loss scale to: 8.0\n"
    for data in (fairseq, APEX % 8 * 3, fairseq):
        log.take(Window(data, len(data)))
    asked = asked_words(monkeypatch, log, APEX % 4 + fairseq)
    assert asked[: len(FILTERS) + 2] == [*FILTERS, b"Gradient overflow", b"overflow detected, "]
    assert closure not in asked


def test_a_mark_is_searched_for_only_beside_its_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked_words(monkeypatch, later_log(), b"nothing\n") == list(FILTERS)
    asked = asked_words(monkeypatch, later_log(), b"step=1, skipped\n")
    assert {b"skipped=", b"skipped iterations:", b"skipped_steps"} <= set(asked)
    assert not {b"loss_scale", b"isFinite", b"Gradient overflow", b"outputs are ("} & set(asked)


@pytest.mark.parametrize(("size", "by_shape"), [(300 * 512 - 1, True), (300 * 512, False)])
def test_lines_of_many_shapes_are_read_by_shape_if_messages_are_near_each_other(size: int, by_shape: bool) -> None:
    """300 messages are near each other if there are less than 512 bytes for each."""
    shapes = b"".join(b"x" * length + b"\n" for length in range(400))
    messages = APEX % 8 * 300
    data = shapes + messages + b"y" * (size - len(shapes) - len(messages) - 1) + b"\n"
    assert Sheet(data, size, by_shape=True).kinds is None
    log = later_log()
    log.take(Window(data, size))
    assert log._by_shape is by_shape
    one = shapes + APEX % 8
    for window in (one, shapes):
        log.take(Window(window, len(window)))
        assert not log._by_shape


# Evidence of a whole log


def evidence(*lines: str, steps: int | None = None, ranks: int | None = None) -> Any:
    log = Log("log")
    data = "\n".join(lines).encode() + b"\n"
    log.take(Window(data, len(data)))
    return log.evidence(steps, ranks)


def test_a_log_that_shows_only_an_option_is_known() -> None:
    for line in ("opt_level : O1", "loss_scale : dynamic", "fp16_opt_level=O1"):
        assert evidence(line).known
    assert not evidence("step: 3").known


def test_a_log_without_messages_has_a_count_of_nothing() -> None:
    count = evidence("opt_level : O1", "step: 10", "step: 20").count
    assert (count.low, count.high, count.steps, count.calibrating, count.proof) == (0, 0, 20, 0, None)
    assert evidence("opt_level : O1", steps=7).count.steps == 7


def test_more_overflows_than_steps_leave_the_steps_of_a_log_unknown() -> None:
    lines = [(APEX % 2**each).decode().strip() for each in (9, 8, 7)]
    found = evidence(*lines, steps=2)
    assert (found.count.low, found.count.steps) == (3, None)


def test_a_scaling_that_starts_static_is_that_of_the_options() -> None:
    found = evidence("opt_level : O2", "loss_scale : 128.0", (APEX % 8).decode().strip())
    assert (found.level, found.precision, found.scaling, found.static_scale) == ("O2", "float16", "static", 128.0)


DEEPSPEED = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 16, reducing to 8"


def test_of_a_log_with_several_formats_the_first_that_counts_is_used() -> None:
    apex, column = (APEX % 8).decode().strip(), "Train: [0/3][4/9] loss_scale 8.0 (8.0)"
    arguments = ARGUMENTS.decode().strip("\n")
    assert evidence(arguments).format == "megatron"
    assert evidence(arguments, apex).format == "apex"
    assert evidence(column, apex).format == "apex"
    assert evidence(apex, DEEPSPEED).format == "deepspeed"


def test_the_steps_of_megatron_on_deepspeed_go_on_if_the_run_begins_again() -> None:
    line = " iteration %8d/     900 | loss scale: 8.0 | number of skipped iterations:   0 |"
    found = evidence(*(line % step for step in (100, 200, 100, 200)), DEEPSPEED)
    assert (found.format, found.count.low, found.count.steps) == ("deepspeed", 1, 400)


def test_the_scale_of_deepspeed_is_not_that_of_an_option() -> None:
    found = evidence("loss_scale : 128.0", "bf16=True", DEEPSPEED)
    assert (found.scaling, found.static_scale, found.level) == ("dynamic", None, "bf16")


# Logs of several ranks


def ranks(folder: Path, *texts: bytes) -> TrainingRun:
    paths = []
    for number, text in enumerate(texts):
        path = folder / f"rank_{number}.log"
        path.write_bytes(text)
        paths.append(str(path))
    return TrainingRun("run", tuple(paths))


STEPS = b"step: 10 of 90\nstep: 20 of 90\n"


def best(folder: Path, *texts: bytes, **asked: Any) -> Any:
    return run_evidence(ranks(folder, *texts), Asked(**asked), None, "last").evidence


def test_the_log_of_a_known_format_is_used(tmp_path: Path) -> None:
    assert best(tmp_path, STEPS, APEX % 8, b"nothing\n").format == "apex"


def test_of_two_formats_the_first_in_the_order_of_readers_is_used(tmp_path: Path) -> None:
    swin = b"Train: [0/3][4/9] loss_scale 8.0 (8.0)\nTrain: [0/3][5/9] loss_scale 4.0 (8.0)\n"
    names = [reader.name for reader in READERS]
    assert names.index("apex") < names.index("scale_column")
    assert best(tmp_path, swin, APEX % 8).format == "apex"


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
    found = best(tmp_path, options, b"| 1 step: 5, overflow: 1, scale: 8\n| 2 step: 6, overflow: 0, scale: 8\n")
    assert (found.format, found.level, found.precision, found.scaling) == ("mindspore", "O2", "float16", "dynamic")
    fatal = b"FloatingPointError: Minimum loss scale reached (0.0001).\n"
    assert best(tmp_path, APEX % 8, fatal).fatal == "Minimum loss scale reached"
    kept = best(tmp_path, b"opt_level : O1\n" + APEX % 8, b"opt_level : O2\n")
    assert (kept.format, kept.level) == ("apex", "O1")


def test_the_metric_of_a_run_is_that_of_its_first_log_with_one(tmp_path: Path) -> None:
    run = ranks(tmp_path, b"nothing\n", b"acc 0\nacc 3\n", b"acc 4\n")
    assert run_evidence(run, Asked(), re.compile(rb"acc (\d)"), "last").metric == 3
    assert run_evidence(run, Asked(), re.compile(rb"acc (\d)"), "min").metric == 0
    assert run_evidence(run, Asked(), None, "last").metric is None
    assert run_evidence(run, Asked(), re.compile(rb"bcc (\d)"), "last").metric is None


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
