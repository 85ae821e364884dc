"""`opsinfo qualify`: pipes, plots, and files that are not logs. Its other answers are in tests/answers."""

from __future__ import annotations

import gzip
import os
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Run

from opsinfo_cli.logs.commands.qualify import _distinct

BLOCK = "opt_level              : O1\nloss_scale             : dynamic\n"
OVER = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {:.1f}\n"


def log(folder: Path, name: str, metric: float = 76.1, overflows: int = 3, block: str = BLOCK) -> Path:
    path = folder / name
    steps = "".join(f"global_step: {step}\n" for step in range(100, 10_001, 100))
    falls = "".join(OVER.format(2.0 ** (15 - number)) for number in range(overflows))
    path.write_text(f"{block}{falls}{steps} * Acc@1 {metric} Acc@5 92.9\n", encoding="utf-8")
    return path


def test_standard_input_plain_and_packed(opsinfo: Run, tmp_path: Path) -> None:
    data = log(tmp_path, "a.log").read_bytes()
    plain = opsinfo("qualify", "-", "--format", "json", input=data).json
    packed = opsinfo("qualify", "-", "--format", "json", input=gzip.compress(data)).json
    assert plain == packed
    assert plain["runs"][0]["overflows"]["low"] == 3


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 100_000, bytes(range(256)) * 2000, b"\x1f\x8b\x08\x00"],
    ids=["empty", "zeros", "every byte", "cut gzip"],
)
def test_a_file_that_is_not_a_log_proves_nothing(opsinfo: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    ran = opsinfo("qualify", tmp_path / "x")
    assert (ran.code, ran.out) == (3 if content.startswith(b"\x1f") else 2, "")


def test_a_missing_log_and_an_empty_folder_are_refused(opsinfo: Run, tmp_path: Path) -> None:
    assert opsinfo("qualify", tmp_path / "none.log").code == 3
    (tmp_path / "empty").mkdir()
    assert opsinfo("qualify", tmp_path / "empty").code == 2


def test_the_plot_is_valid_svg_for_any_log_name(opsinfo: Run, tmp_path: Path) -> None:
    hostile = log(tmp_path, "<script>alert('x')&amp;\x1b[31m\u202e.log")
    for _ in range(2):  # a plot replaces a plot
        assert opsinfo("qualify", hostile.name, "--plot", "out.svg", cwd=tmp_path).code == 0
    text = (tmp_path / "out.svg").read_text("utf-8")
    tree = ElementTree.fromstring(text)
    assert [child.tag for child in tree.iter() if child.tag.endswith("script")] == []
    assert "\x1b" not in text
    assert any("<script>" in (child.text or "") for child in tree.iter())


def test_a_process_substitution_is_read(opsinfo: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    data = log(tmp_path, "a.log").read_bytes()
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
    writer.start()
    ran = opsinfo("qualify", tmp_path / "pipe", "--format", "json")
    writer.join()
    assert ran.json["runs"][0]["overflows"]["low"] == 3


def test_a_page_of_text_is_not_a_log(opsinfo: Run) -> None:
    ran = opsinfo("qualify", Path(__file__).resolve().parents[3] / "SECURITY.md")
    assert ran.code == 2
    assert "known format" in ran.err


@pytest.mark.parametrize(
    "option", ["--precision_mode_v2=mixed_float16", "`fp16=True`", '`"precision_mode": "force_fp16"`']
)
def test_an_option_in_a_page_of_text_does_not_make_it_a_log(opsinfo: Run, tmp_path: Path, option: str) -> None:
    page, run = tmp_path / "page.md", tmp_path / "run.log"
    page.write_text(f"# Modes\n\nTo reduce operators, call atc with {option} and a mixlist.\n")
    ran = opsinfo("qualify", page)
    assert (ran.code, "not a training log" in ran.err) == (2, True)
    run.write_text(f"+ python train.py {option}\n" + "".join(f"step: {n}, loss: {9 / n}\n" for n in range(1, 9)))
    ran = opsinfo("qualify", run, "--format", "json")
    assert (ran.code, ran.json["runs"][0]["precision"]) == (0, "float16")


def test_a_log_that_grows_ends(opsinfo: Run, tmp_path: Path) -> None:
    path = log(tmp_path, "a.log")
    done = threading.Event()

    def write() -> None:
        with path.open("a") as file:
            while not done.is_set():
                file.write("global_step: 20000\n" * 1000)
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert opsinfo("qualify", path).code == 0
    finally:
        done.set()
        writer.join()


def test_a_terminal_shows_the_plots_of_eight_runs_and_says_how_many_it_leaves_out(
    terminal: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    logs = [log(tmp_path, f"{number}.log") for number in range(10)]
    for number, more in ((8, ""), (9, "1 more run"), (10, "2 more runs")):
        _, shown = terminal("qualify", *logs[:number], "--color", "never", env={"PAGER": "cat"})
        assert shown.count("loss scale of ") == 8
        last = shown.rstrip().splitlines()[-1]
        left_out = f"the loss scales of {more} are not drawn; --plot FILE draws all"
        assert (last == left_out) is bool(more)


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["logs/mlperf_bert_r0.txt", "logs/mlperf_gnmt_r0.txt"], ["...bert_...", "...gnmt_..."]),
        (["first/of_the_runs.log", "second/of_the_runs.log"], ["first/...", "second/..."]),
        (["of_many_long_names.log", "of_many_long_names.log.1"], ["...log", "...log.1"]),
        (["./first_of_the_runs.log", "./other_of_the_runs.log"], ["./first_...", "./other_..."]),
        (["run.log", "run.log.1"], ["run.log", "run.log.1"]),
        (["x", "y"], ["x", "y"]),
    ],
)
def test_runs_of_a_table_can_be_told_apart(names: list[str], shown: list[str]) -> None:
    assert _distinct(names) == shown
