"""`opsinfo profile`: totals of real tables, pages, memory; `tests/answers/profile.case` has its answers."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from bisect_support import CHAIN
from cli_support import Run, mixlist, write
from model_files import dump

SUMMARY = Path("profiles/op_summary.csv")
HEADER = "Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Input Data Types,Output Data Types\n"
ROW = "mm,MatMulV2,AI_CORE,1,10.5,FLOAT16;FLOAT16,FLOAT16\n"


def document(opsinfo: Run, *words: Any) -> dict[str, Any]:
    ran = opsinfo("profile", *words, "--format", "json")
    assert "error" not in ran.json, ran.json
    found: dict[str, Any] = ran.json
    return found


def table(folder: Path, text: str | bytes, name: str = "op_summary.csv") -> Path:
    return write(folder / name, text)


TRANSPOSED = """\
t,Transpose,AI_VECTOR_CORE,1,10.5,FLOAT16,FLOAT16
aclnnPermute_Transpose_Transpose,Transpose,AI_VECTOR_CORE,2,4.0,FLOAT16,FLOAT16
"""


def test_a_transpose_of_a_graph_has_the_list_of_the_type_that_was_judged(opsinfo: Run, tmp_path: Path) -> None:
    tensor = {"name": "x", "dtype": "float16,float", "format": "ND,ND", "paramType": "required"}
    entry = {"input0": tensor, "output0": tensor}
    library = {
        "Transpose": {**entry, "precision_reduce": {"flag": "true"}},
        "TransposeD": {**entry, "precision_reduce": {"flag": "false"}},
    }
    target = write(tmp_path / "aic-ascend910b-ops-info.json", library)
    words = [table(tmp_path, HEADER + TRANSPOSED), "--against", target]
    (row,) = document(opsinfo, *words)["types"]
    assert (row["type"], row["judged"], row["list"], row["movable"]) == ("Transpose", "TransposeD", "black", True)
    black = [write(tmp_path / f"{name}.json", mixlist(white_add=[name])) for name in ("Transpose", "TransposeD")]
    assert "Transpose as TransposeD" in opsinfo("profile", *words).err
    assert [document(opsinfo, *words, "--mixlist", each)["types"][0]["list"] for each in black] == ["black", "white"]


def test_a_transpose_of_eager_mode_or_of_a_target_without_the_other_type_is_what_it_is(
    opsinfo: Run, tmp_path: Path
) -> None:
    tensor = {"name": "x", "dtype": "float16,float", "format": "ND,ND", "paramType": "required"}
    entry = {"input0": tensor, "output0": tensor}
    both = write(tmp_path / "aic-ascend910b-ops-info.json", {"Transpose": entry, "TransposeD": entry})
    eager = table(tmp_path, HEADER + TRANSPOSED.splitlines(keepends=True)[1])
    assert document(opsinfo, eager, "--against", both)["types"][0]["judged"] is None
    one = write(tmp_path / "aic-ascend910-ops-info.json", {"Transpose": entry})
    graph = table(tmp_path, HEADER + TRANSPOSED, "op_summary_2.csv")
    assert document(opsinfo, graph, "--against", one)["types"][0]["judged"] is None


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


DUMP = "graphs/ge_proto_00020_FeTopoSortingAfter.txt"


def test_the_page_of_a_model_has_the_time_that_a_mixlist_moves(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    black = write(tmp_path / "black.json", mixlist(black_add=["MatMulV2"]))
    words = ["graph", fixtures / DUMP, "--against", fixtures / "opp@ascend910b", "--profile", fixtures / SUMMARY]
    assert "which took 532.5 us" in opsinfo(*words, "--mixlist", black, "--format", "html").out


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
    assert opsinfo(*words, "--model", dump(tmp_path, CHAIN), "--grow", *check).code == 2


def test_a_page(opsinfo: Run, fixtures: Path) -> None:
    page = opsinfo("profile", fixtures / SUMMARY, "--format", "html").out
    assert '<svg class="bar"' in page
    assert "MatMulV2" in page


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    import tracemalloc

    from opsinfo_cli.lab.profile.table import TaskTable
    from opsinfo_cli.lab.profile.times import profile_of

    def peak(count: int) -> int:
        path = table(tmp_path, HEADER + "".join(f"n{number}{ROW}" for number in range(count)))
        tracemalloc.start()
        assert profile_of([TaskTable(str(path))]).totals.calls == count
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(5000) < 1.2 * peak(500)
