"""`opsinfo bisect --curve` and `--max-drop`: the loss that a check prints, against the cost of the list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bisect_support import CHAIN, among, black, script
from cli_support import Run
from model_files import dump, onnx_model

from opsinfo_cli.lab.bisect.verdicts import loss_of

Search = Callable[..., Any]
LOSSES = {"MatMulV2": 0.5, "SoftmaxV2": 0.3, "Mul": 0.01}
"""What each op type loses while it is low."""


@pytest.fixture
def search(opsinfo: Run, opp: Path, tmp_path: Path) -> Search:
    """Run a search among the op types of a chain, with a check that prints the loss and always exits with 0."""
    graph = dump(tmp_path, CHAIN)
    tests = [f'grep -q \'"{name}"\' "$1" || sum="$sum + {loss}"' for name, loss in LOSSES.items()]
    check = script(tmp_path / "check", "sum=0.25", *tests, 'awk "BEGIN { print \\"loss\\", $sum }"')
    model = ("--model", graph)

    def run(*words: str | Path, command: Path = check, by: tuple[str | Path, ...] = model) -> Any:
        given = ["bisect", "--against", opp, "--soc", "ascend910b", *by, *words]
        return opsinfo(*given, "--", command, "{mixlist}")

    return run


@pytest.mark.parametrize(
    ("drop", "culprits"), [("0.05", ["MatMulV2", "SoftmaxV2"]), ("0.4", ["MatMulV2"]), ("0.001", sorted(LOSSES))]
)
def test_max_drop_bounds_the_loss_against_that_of_the_largest_list(
    search: Search, tmp_path: Path, drop: str, culprits: list[str]
) -> None:
    ran = search("--max-drop", drop, "-o", "out.json")
    assert ran.code == 0
    assert black(tmp_path / "out.json") == culprits


def test_a_drop_that_the_base_list_keeps_needs_no_list_and_devices_do_not_change_the_answer(
    search: Search, tmp_path: Path
) -> None:
    assert "there is nothing to do" in search("--max-drop", "2", "--journal", "a").err
    assert search("--max-drop", "0.05", "--journal", "b", "--jobs", "4", "-o", "out.json").code == 0
    assert black(tmp_path / "out.json") == ["MatMulV2", "SoftmaxV2"]


@pytest.mark.parametrize("source", ["simulation", "evidence"])
def test_max_drop_runs_the_largest_list_first_although_single_op_types_are_suspected(
    search: Search, tmp_path: Path, source: str
) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model = onnx_model(tmp_path, [[1.001, 0.3], [0.1, -2.7]])
    words = ["--max-drop", "0.05", "--format", "json"]
    if source == "evidence":
        types = [{"type": "MatMulV2", "nodes": [], "error_alone": 0.5, "error_without": 0.1}]
        (tmp_path / "simulated.json").write_text(json.dumps({"command": "simulate", "types": types}), "utf-8")
        words += ["--evidence", "simulated.json"]
    ran = search(*words, by=("--model", model))
    assert ran.code == 0, ran.err
    assert "MatMulV2" in ran.json["sets"][0]["kept"]
    assert [each["type"] for each in ran.json["culprits"]] == ["MatMulV2"]


def test_a_check_without_a_number_is_unusable_with_max_drop(search: Search, tmp_path: Path) -> None:
    ran = search("--max-drop", "1", command=script(tmp_path / "silent", "echo done"))
    assert (ran.code, "printed no number" in ran.err) == (3, True)
    ran = search("--max-drop", "1", "--journal", "b", command=script(tmp_path / "infinite", "echo loss inf"))
    assert (ran.code, "printed inf, and there is no finite loss of the largest list" in ran.err) == (3, True)
    check = script(tmp_path / "reversed", 'echo loss 0.5; ! grep -q black-list "$OPSINFO_MIXLIST"')
    ran = search("--max-drop", "1", "--journal", "c", command=check)
    assert (ran.code, "printed 0.5, and there is no finite loss of the largest list" in ran.err) == (3, True)


def test_a_resumed_search_has_the_same_reference_and_curve(search: Search) -> None:
    words = ("--max-drop", "0.05", "--curve", "--format", "json")
    whole = search(*words, "--journal", "a").json
    assert search(*words, "--journal", "b", "--budget", "3").code == 1
    resumed = search(*words, "--journal", "b", "--resume").json
    assert resumed["culprits"] == whole["culprits"]
    assert [each["list"] for each in resumed["curve"]] == [each["list"] for each in whole["curve"]]
    refused = search("--max-drop", "0.06", "--journal", "b", "--resume")
    assert (refused.code, "changed since: the command" in refused.err) == (2, True)


@pytest.mark.parametrize("first", ["9.9", "0.9", "-5"])
def test_a_largest_list_whose_check_failed_is_no_reference_after_a_resume(
    search: Search, tmp_path: Path, first: str
) -> None:
    once = f"test -e {tmp_path}/ran || {{ touch {tmp_path}/ran; echo {first}; exit 1; }}"
    check = script(tmp_path / "noisy", once, 'grep -q \'"Mul"\' "$1" && echo 0.1 || echo 0.9')
    words = ("--max-drop", "0.05", "--lead", "2", "-o", "out.json")
    assert search(*words, "--budget", "1", command=check).code == 1
    ran = search(*words, "--resume", command=check)
    assert ran.code == 0, ran.err
    assert black(tmp_path / "out.json") == ["Mul"]


def test_every_point_was_run_and_dominated_ones_are_marked(search: Search, tmp_path: Path) -> None:
    document = search("--max-drop", "0.05", "--curve", "--format", "json").json
    points = document["curve"]
    for point in points:
        lost = 0.25 + sum(loss for name, loss in LOSSES.items() if name not in point["list"])
        assert point["loss"] == pytest.approx(lost)
        folders = (tmp_path / ".opsinfo-bisect" / "trials").iterdir()
        (mixlist,) = next(each for each in folders if int(each.name) == point["trial"]).glob("*.json")
        assert sorted(black(mixlist)) == sorted(point["list"])
        better = [
            other
            for other in points
            if other is not point
            and all(other["cost"][key] <= point["cost"][key] for key in ("casts", "nodes", "bytes"))
            and other["loss"] <= point["loss"]
            and (other["cost"], other["loss"]) != (point["cost"], point["loss"])
        ]
        assert point["dominated"] is bool(better)
    costs = [each["cost"]["nodes"] for each in points]
    assert costs == sorted(costs)
    assert any(not each["list"] for each in points)
    assert any(each["list"] == ["MatMulV2", "SoftmaxV2"] and not each["dominated"] for each in points)


def test_the_curve_is_in_text_on_a_terminal_and_on_the_page(
    search: Search, terminal: Callable[..., tuple[int, str]], opp: Path, tmp_path: Path
) -> None:
    lines = [line.split("\t") for line in search("--max-drop", "0.05", "--curve").out.splitlines()]
    curve = [line for line in lines if line[0] == "curve"]
    assert [line[-1] for line in curve if line[-1] == "MatMulV2 SoftmaxV2"]
    assert {line[-2] for line in curve} <= {"dominated", "-"}
    page = search("--max-drop", "0.05", "--curve", "--journal", "b", "--format", "html").out
    assert "Loss against cost" in page
    words = ["bisect", "--against", f"{opp}@ascend910b", "--model", dump(tmp_path, CHAIN)]
    words += ["--curve", "--max-drop", "0.05", "--journal", "c", "--", tmp_path / "check", "{mixlist}"]
    code, shown = terminal(*words)
    assert (code, "Loss against cost" in shown) == (0, True)


def test_the_page_draws_every_list_that_was_run(search: Search, tmp_path: Path) -> None:
    points = search("--max-drop", "0.05", "--curve", "--format", "json").json["curve"]
    page = search("--max-drop", "0.05", "--curve", "--journal", "b", "--format", "html").out
    marks = re.findall(r'<circle class="mark (\w+)" cx="([\d.]+)" cy="([\d.]+)" r="4"><title>loss ([\d.]+), ', page)
    losses = sorted(each["loss"] for each in points)
    assert sorted(float(mark[3]) for mark in marks) == pytest.approx(losses, abs=1e-3)
    assert [mark[0] for mark in marks].count("c7") == sum(each["dominated"] for each in points) > 0
    by_loss = sorted(marks, key=lambda mark: float(mark[3]))
    heights = [float(mark[2]) for mark in by_loss]
    assert heights == sorted(heights, reverse=True)
    assert all(80 <= float(mark[1]) <= 780 and 40 <= float(mark[2]) <= 310 for mark in marks)
    endless = script(tmp_path / "endless", 'grep -q Mul "$1" && echo loss 0.5 || echo loss inf')
    page = search("--curve", "--journal", "c", "--format", "html", command=endless).out
    assert 'class="mark bad"' in page


def test_options_that_need_a_model_or_a_number_say_so(search: Search, opsinfo: Run, opp: Path) -> None:
    ran = search("--curve", by=tuple(among("Mul")))
    assert (ran.code, "--curve requires --model" in ran.err) == (2, True)
    ran = search("--curve", "--grow")
    assert (ran.code, "--curve cannot be combined with --grow" in ran.err) == (2, True)
    ran = opsinfo("bisect", "--against", opp, "--soc", "ascend910b", *among("Mul"), "-i", "--max-drop", "1")
    assert (ran.code, "--max-drop cannot be combined with -i" in ran.err) == (2, True)


def test_a_check_that_prints_no_number_has_an_empty_curve(search: Search, tmp_path: Path) -> None:
    ran = search("--curve", "--format", "json", command=script(tmp_path / "silent", "exit 0"))
    assert (ran.code, json.loads(ran.out)["curve"]) == (0, [])
    assert "the check printed no number" in ran.err


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("loss: 0.5", 0.5),
        ("top1=76.1%\nloss=-3e-4", -0.0003),
        ("0.5 float16", 0.5),
        ("epoch 3, v1.2.3", 3),
        ("diff .25, done", 0.25),
        ("[0.1, 2]", 2),
        ("loss INF", float("inf")),
        ("x1 y2z", None),
        ("", None),
    ],
)
def test_the_loss_is_the_last_number_that_stands_alone(text: str, loss: float | None) -> None:
    assert loss_of(text) == loss
