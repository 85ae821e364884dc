"""`opsinfo profile`: totals of real tables, what a mixlist moves, models, folders, and files that are no tables."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import pytest
from bisect_support import CHAIN
from cli_support import Run, mixlist, rows, write
from model_files import dump

SUMMARY = Path("profiles/op_summary.csv")
HEADER = "Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Input Data Types,Output Data Types\n"
ROW = "mm,MatMulV2,AI_CORE,1,10.5,FLOAT16;FLOAT16,FLOAT16\n"
ONE = {"calls": 1, "microseconds": 10.5}


def document(opsinfo: Run, *words: Any) -> dict[str, Any]:
    ran = opsinfo("profile", *words, "--format", "json")
    assert "error" not in ran.json, ran.json
    found: dict[str, Any] = ran.json
    return found


def table(folder: Path, text: str | bytes, name: str = "op_summary.csv") -> Path:
    return write(folder / name, text)


REAL = {
    "kernel_details-2023.csv": {
        "MatMul": 14070.56,
        "ApplyAdamW": 12939.38,
        "Mul": 3370.56,
        "Add": 2129.80,
        "RealDiv": 1792.67,
        "casts": 5904.02,
        "not_engine": 346398.74,
    },
    "kernel_details-2025.csv": {
        "MatMulV3": 4122.34,
        "FlashAttentionScoreGrad": 3038.44,
        "FlashAttentionScore": 2033.78,
        "MatMulV2": 750.59,
        "Add": 116.00,
    },
}
"""Totals that were added by hand."""


@pytest.mark.parametrize("name", REAL)
def test_totals_of_real_tables(opsinfo: Run, corpus: Path, name: str) -> None:
    path = corpus / "profiles" / name
    if not path.exists():
        pytest.skip("this corpus has no profiles")
    found = document(opsinfo, path, "--by", "kernel")
    times = {each["type"]: each["microseconds"] for each in found["types"]}
    times |= {key: found[key]["microseconds"] for key in ("casts", "not_engine")}
    for key, expected in REAL[name].items():
        assert times[key] == pytest.approx(expected, abs=0.02), key
    with open(path, encoding="utf-8") as file:
        whole = [float(row["Duration(us)"]) for row in csv.DictReader(file)]
    parts = [found["totals"], found["casts"], found["not_engine"]]
    assert sum(part["calls"] for part in parts) == len(whole) == len(found["kernels"]) == found["files"][0]["rows"]
    assert sum(part["microseconds"] for part in parts) == pytest.approx(sum(whole), abs=0.02)
    states = [found["totals"][state] for state in ("low", "high", "hf32", "other")]
    assert sum(states) == pytest.approx(found["totals"]["microseconds"], abs=0.02)


HEADERS = {
    "torch_npu at level 0": (
        "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim",
        "0,aclnnMatmul_MatMulCommon_MatMulV2,N/A,N/A,1774670741777000.0,10.5,0.02,8",
        {"type": "MatMulV2", "other": 10.5, "movable": False},
    ),
    "torch_npu with steps": (
        "Step Id,Device_id,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Block Num,"
        "HF32 Eligible,Input Data Types,Output Data Types",
        '7,0,conv,Conv2D,static,MIX_AIC,"1\t",10.5,20,YES,DT_FLOAT;DT_FLOAT,FLOAT',
        {"type": "Conv2D", "hf32": 10.5, "movable": None},
    ),
    "msprof without a unit of the start": (
        "Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Task Wait Time(us),"
        "Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats",
        '1,2,3,mm,MatMulV2,AI_CORE,4\t,10.5,0,8,"8,8;8,8",FLOAT16;FLOAT16,ND;ND,"8,8",FLOAT16,ND',
        {"type": "MatMulV2", "low": 10.5, "movable": None},
    ),
    "msprof by graph": (
        "Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,"
        "Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,"
        "Input Data Types,Output Data Types",
        "0,net,1,2,3,1,mm,MatMulV2,static,AI_CORE,4\t,10.5,0,8,0,NO,DT_BF16;DT_UNDEFINED;INT8,FLOAT_",
        {"type": "MatMulV2", "high": 10.5, "movable": None},
    ),
}


@pytest.mark.parametrize("version", HEADERS)
def test_headers_of_all_versions(opsinfo: Run, tmp_path: Path, version: str) -> None:
    header, row, expected = HEADERS[version]
    found = document(opsinfo, table(tmp_path, f"\ufeff{header}\r\n{row}\r\n"))
    assert expected.items() <= found["types"][0].items()
    assert found["totals"]["calls"] == 1


def test_rows_that_are_not_the_engines(opsinfo: Run, tmp_path: Path) -> None:
    cores = ["HCCL", "COMMUNICATION", "AI_CPU", "DVPP", "N/A", "AI_VECTOR_CORE", "MIX_AIV", "DSA_SQE", "CCU"]
    lines = "".join(f"hcom_{core},T,{core},1,1,FLOAT,FLOAT\n" for core in cores)
    found = document(opsinfo, table(tmp_path, HEADER + lines + "c,Cast,AI_CPU,1,2,INT32,INT64\n"))
    assert {each["core"]: each["calls"] for each in found["not_engine"]["cores"]} == {
        "communication": 3,
        "AI_CPU": 1,
        "DVPP": 1,
        "CCU": 1,
    }
    assert (found["totals"]["calls"], found["casts"]) == (3, {"calls": 1, "microseconds": 2.0})


def test_lists_and_what_a_mixlist_moves(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    marks = mixlist(black_add=["Relu"], white_add=["Log"], white_remove=["MatMulV2"])
    path = write(tmp_path / "m.json", marks)
    found = document(opsinfo, fixtures / SUMMARY, "--against", fixtures / "opp@ascend910b", "--mixlist", path)
    lists = {each["type"]: (each["list"], each["movable"]) for each in found["types"]}
    assert lists["Relu"] == ("black", True)
    assert lists["MatMulV2"] == ("gray", True)  # as its kernel answered
    assert lists["Assign"] == (None, False)
    moved = {each["type"]: (each["from"], each["to"], each["calls"]) for each in found["moved"]["types"]}
    assert moved == {"Relu": ("gray", "black", 4), "Log": ("black", "white", 4)}
    assert found["moved"]["microseconds"] == pytest.approx(50.75 + 123.75)
    assert found["becomes_gray"] == {"calls": 4, "microseconds": 481.75}
    text = opsinfo("profile", fixtures / SUMMARY, "--mixlist", path).err
    assert "Log to low, Relu to high; their new time is unknown" in text


def test_no_mixlist_is_read_for_calls_of_aclnn(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["MatMulV3"]))
    words = ["--against", fixtures / "opp@ascend910b", "--mixlist", path]
    ran = opsinfo("profile", fixtures / "profiles/kernel_details.csv", *words)
    assert "are calls of aclnn, as in eager mode: no mixlist is read for them" in ran.err
    assert "moves nothing that ran" in ran.err
    assert rows(ran)[0][-1] == "no"


def test_devices_and_steps_are_told_apart(opsinfo: Run, fixtures: Path) -> None:
    found = document(opsinfo, fixtures / SUMMARY)
    assert [(run["device"], run["calls"]) for run in found["runs"]] == [("0", 17), ("1", 17)]
    one = document(opsinfo, fixtures / SUMMARY, "--device", "1", "--by", "kernel")
    assert [run["device"] for run in one["runs"]] == ["1"]
    assert {each["device"] for each in one["kernels"]} == {"1"}
    step = document(opsinfo, fixtures / "profiles/kernel_details.csv", "--step", "8")
    assert [run["step"] for run in step["runs"]] == ["8"]
    assert opsinfo("profile", fixtures / SUMMARY, "--device", "9").code == 2


def test_a_folder_is_read_without_counting_rows_twice(opsinfo: Run, tmp_path: Path) -> None:
    """torch_npu makes its table of those of msprof, and msprof writes one for every export."""
    result = tmp_path / "worker_ascend_pt"
    kernels = "Name,Type,Accelerator Core,Duration(us)\nmm,MatMulV2,AI_CORE,10.5\n"
    table(result, kernels, "ASCEND_PROFILER_OUTPUT/kernel_details.csv")
    for name in ("op_summary_20260102030405.csv", "op_summary_20260102030406.csv"):
        table(result, HEADER + ROW, f"PROF_1/mindstudio_profiler_output/{name}")
    assert document(opsinfo, tmp_path)["totals"]["calls"] == 1
    exports = opsinfo("profile", result / "PROF_1", "-v")
    assert "op_summary_20260102030405.csv: not read: an earlier export of the same run" in exports.err
    assert rows(exports)[0][1] == "1"
    for number in (0, 1):
        table(tmp_path, HEADER + ROW, f"sliced/op_summary_slice_{number}_20260102030405.csv")
    assert document(opsinfo, tmp_path / "sliced")["totals"]["calls"] == 2
    one = tmp_path / "sliced/op_summary_slice_0_20260102030405.csv"
    assert document(opsinfo, one, one)["totals"]["calls"] == 1


@pytest.mark.parametrize(
    ("mode", "status", "agreement"),
    [
        ([], 0, 100.0),
        (["--precision-mode", "force_fp16"], 1, 200 / 3),
        (["--precision-mode", "must_keep_origin_dtype"], 1, 100 / 3),
    ],
)
def test_a_model_against_what_ran(opsinfo: Run, fixtures: Path, mode: list[str], status: int, agreement: float) -> None:
    model = fixtures / "graphs/ge_proto_00020_FeTopoSortingAfter.txt"
    words = [fixtures / SUMMARY, "--model", model, "--against", fixtures / "opp@ascend910b", *mode]
    ran = opsinfo("profile", *words, "--format", "json")
    back = ran.json["read_back"]
    assert (ran.code, back["matched"], back["agreement"]) == (status, 3, pytest.approx(agreement))
    unmatched = {each["name"]: each["why"] for each in back["unmatched"]}
    assert unmatched["conv"] == "the model has no node of this name, and 3 more calls"
    assert opsinfo("profile", *words).code == status


DUMP = "graphs/ge_proto_00020_FeTopoSortingAfter.txt"


def test_graph_shows_the_time_of_what_a_mixlist_moves_to_high(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    black = write(tmp_path / "black.json", mixlist(black_add=["MatMulV2"]))
    words = ["graph", fixtures / DUMP, "--against", fixtures / "opp@ascend910b", "--profile", fixtures / SUMMARY]
    expected = {"nodes": 2, "bytes": 256, "microseconds": pytest.approx(481.75 + 50.75)}
    assert opsinfo(*words, "--mixlist", black, "--format", "json").json["cost"] == expected
    assert opsinfo(*words, "--compare-mixlist", black, "--format", "json").json["cost"] == expected
    ran = opsinfo(*words, "--mixlist", black)
    assert "3 of 3 compute nodes ran under their names" in ran.err
    assert "which took 532.5 us in the profile, to high" in ran.err
    white = write(tmp_path / "white.json", mixlist(white_add=["Log"]))
    assert "the mixlist moves no node to high" in opsinfo(*words, "--mixlist", white).err
    assert "which took 532.5 us" in opsinfo(*words, "--mixlist", black, "--format", "html").out
    refused = opsinfo(*words)
    assert (refused.code, "requires --mixlist or --compare-mixlist" in refused.err) == (2, True)


@pytest.mark.parametrize(("softmax", "mul", "moved"), [(1, 1000, "SoftmaxV2"), (1000, 1, "Mul")])
def test_bisect_finds_the_list_that_moves_the_least_time(
    opsinfo: Run, fixtures: Path, tmp_path: Path, softmax: int, mul: int, moved: str
) -> None:
    """Either op type makes the check pass, and moves one node."""
    ran = f"c,SoftmaxV2,AI_CORE,1,{softmax},FLOAT16,FLOAT16\ne,Mul,AI_CORE,1,{mul},FLOAT16,FLOAT16\n"
    words = ["bisect", "--against", fixtures / "opp@ascend910b", "--profile", table(tmp_path, HEADER + ran)]
    check = ["--", "grep", "-qE", '"SoftmaxV2"|"Mul"', "{mixlist}"]
    found = opsinfo(*words, "--model", dump(tmp_path, CHAIN), "--format", "json", *check).json
    assert (found["moved"], found["cost"]["microseconds"]) == ([moved], 1)
    assert opsinfo(*words, "--among", "Add", *check).code == 2
    assert opsinfo(*words, "--model", dump(tmp_path, CHAIN), "--grow", "white", *check).code == 2


def test_a_page(opsinfo: Run, fixtures: Path) -> None:
    page = opsinfo("profile", fixtures / SUMMARY, "--format", "html").out
    assert '<svg class="bar"' in page
    assert "MatMulV2" in page


BROKEN: dict[str, tuple[str | bytes, int | None, str]] = {
    "empty": ("", None, "the file is empty"),
    "another table": ("OP Type,Core Type,Count,Total Time(us)\nAdd,AI_CORE,1,2\n", 1, "not a table of tasks"),
    "prose": ("# a readme\n", 1, "not a table of tasks"),
    "semicolons": (HEADER.replace(",", ";"), 1, "not a table of tasks"),
    "cut line": (HEADER + ROW + "mm,MatMul", 3, "2 cells in a table of 7 columns"),
    "comma in a name": (HEADER + "a," + ROW, 2, "8 cells in a table of 7 columns"),
    "cut number": (HEADER + ROW + ROW.replace("10.5", "10.5x"), 3, "`10.5x` in the column `Task Duration(us)`"),
    "infinite": (HEADER + ROW.replace("10.5", "inf"), 2, "is not a time"),
    "negative": (HEADER + ROW.replace("10.5", "-1"), 2, "is not a time"),
    "GBK": ((HEADER + "\n" + ROW.replace("mm", "矩阵")).encode("gbk"), 3, "not UTF-8"),
    "UTF-16": ((HEADER + ROW).encode("utf-16"), 1, "not a text file"),
    "a long line": (HEADER + "x" * 2**21, 2, "not a text file"),
    "open quote": (HEADER + '"' + "mm\n" * 50_000, 2, "a quote that is not closed"),
    "carriage returns": ((HEADER + ROW).replace("\n", "\r"), 1, "a carriage return inside a line"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_is_no_table(opsinfo: Run, tmp_path: Path, case: str) -> None:
    content, line, message = BROKEN[case]
    ran = opsinfo("profile", table(tmp_path, content), "--format", "json")
    assert ran.code == 3
    assert message in ran.json["error"]["message"]
    assert ran.json["error"]["line"] == line


def test_a_pipe_is_refused_because_it_cannot_be_read_again(opsinfo: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "op_summary_1.csv")
    ran = opsinfo("profile", tmp_path / "op_summary_1.csv")
    assert (ran.code, "not a regular file" in ran.err) == (3, True)
    assert "the folder has no profile table" in opsinfo("profile", tmp_path).err
    assert "not a regular file" in opsinfo("profile", os.devnull).err


def test_lines_that_are_passed_over(opsinfo: Run, tmp_path: Path) -> None:
    """Two tables in one file, blank lines, and a row whose time was not measured."""
    path = table(tmp_path, HEADER + ROW + "\n" + HEADER + ROW.replace("10.5", "N/A") + ROW)
    found = document(opsinfo, path, "--by", "kernel")
    assert [each["line"] for each in found["kernels"]] == [2, 6]
    assert found["files"] == [{"path": str(path), "format": "op_summary", "rows": 3, "skipped": 1}]


def test_wrong_use(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    assert opsinfo("profile", fixtures / SUMMARY, "--precision-mode", "mixed_float16").code == 2
    assert opsinfo("profile", tmp_path).code == 3
    assert opsinfo("profile", tmp_path / "nowhere.csv").code == 3


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    import tracemalloc

    from opsinfo_cli.profile.table import Table
    from opsinfo_cli.profile.times import profile_of

    def peak(count: int) -> int:
        path = table(tmp_path, HEADER + "".join(f"n{number}{ROW}" for number in range(count)))
        tracemalloc.start()
        assert profile_of([Table(str(path))]).totals.calls == count
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(5000) < 1.2 * peak(500)
