"""Evidence of the user: the order of suspicion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bisect_support import CHAIN, needing
from cli_support import Run
from model_files import dump

from opsinfo_cli.errors import Refused
from opsinfo_cli.lab.bisect.candidates import is_risky, order_by_suspicion
from opsinfo_cli.lab.graph.evidence import read_evidence

FIXTURES = Path(__file__).parents[3] / "fixtures"


def test_types_of_a_simulation_are_ordered_by_their_error_alone(tmp_path: Path) -> None:
    types = [
        {"type": "Add", "nodes": ["a"], "error_alone": 0.01, "error_without": 0.2},
        {"type": "Exp", "nodes": ["e"], "error_alone": "inf", "error_without": 0.0},
        {"type": "Log", "nodes": ["l"], "error_alone": None, "error_without": None},  # it could not be computed
        {"type": "Mul", "nodes": ["m"], "error_alone": 0.5, "error_without": 0.1},
        {"type": "Relu", "nodes": ["r"], "error_alone": 0.0, "error_without": 0.5},
    ]
    file = tmp_path / "simulated.json"
    file.write_text(json.dumps({"command": "simulate", "types": types}), "utf-8")
    assert read_evidence([str(file)]).types == ["Exp", "Mul", "Add"]


def test_calls_of_a_dump_come_by_how_near_their_values_are_to_overflow() -> None:
    found = read_evidence([str(FIXTURES / "dump/dump.json")]).types
    assert found == ["Linear", "MatMul", "MatMulV2", "linear", "Add", "ArgMaxV2", "Argmax", "AxpyV2", "add", "argmax"]


def test_a_file_without_evidence_is_refused(tmp_path: Path) -> None:
    huge = f'{{"types": [{{"type": "Mul", "error_alone": 1{400 * "0"}}}]}}'
    for text in ("", "OpType,CosineSimilarity\nMul,0.9\n", '{"types": 3}', '{"types": ' + 200_000 * "[", huge):
        (tmp_path / "file").write_text(text, "utf-8")
        with pytest.raises(Refused):
            read_evidence([str(tmp_path / "file")])


def test_evidence_comes_before_risks_and_neighbours_stay_together() -> None:
    names = ["Conv2D", "SoftmaxV2", "Relu", "ReduceMeanD", "Mul"]
    assert order_by_suspicion(names)[0] == ["SoftmaxV2", "ReduceMeanD", "Conv2D", "Relu", "Mul"]
    order, weights = order_by_suspicion(names, ["Mul", "Unknown", "Conv2D"])
    assert order == ["Mul", "Conv2D", "SoftmaxV2", "ReduceMeanD", "Relu"]
    assert weights == sorted(weights, reverse=True)


RISKY = (
    "ReduceSumD ReduceMean Pow Exp Log LogSoftmaxV2 Square Rsqrt RealDiv LayerNorm BNTrainingUpdate CumsumD AddN L2Loss"
)
PLAIN = "Conv2D Relu MatMulV2 Reshape TransData Add Mul Expand LogicalAnd"


def test_types_that_lose_digits_are_risky() -> None:
    assert [name for name in f"{RISKY} {PLAIN}".split() if is_risky(name)] == RISKY.split()


def test_a_compare_table_suspects_its_first_culprit_which_is_tried_alone(
    opsinfo: Run, opp: Path, tmp_path: Path
) -> None:
    tensors = "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape"
    header = f"{tensors},OverFlow,CosineSimilarity"
    rows = [
        f'{number},T,{name},float16,NaN,{name},float32,NaN,{name}:{side}:0,"[4]",NO,{cosine}'
        for number, (name, side, cosine) in enumerate(
            [("a", "output", 1), ("b", "output", 1), ("c", "input", 1), ("c", "output", 0.2), ("d", "input", 0.2)]
        )
    ]
    table = tmp_path / "result_20260101000000.csv"
    table.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    words = ["--against", opp, "--soc", "ascend910b", "--model", dump(tmp_path, CHAIN), "--evidence", table]
    check = needing(tmp_path / "check", ["SoftmaxV2"])
    ran = opsinfo("bisect", *words, "--format", "json", "--", check)
    assert "suspected by the evidence: SoftmaxV2" in ran.err
    assert [each["kept"] for each in ran.json["sets"]][:2] == [[], ["SoftmaxV2"]]
    assert [each["type"] for each in ran.json["culprits"]] == ["SoftmaxV2"]
    assert ran.json["trials"]["passed"] == 1


def test_evidence_about_other_op_types_is_warned_of(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    types = [{"type": "Conv3D", "nodes": [], "error_alone": 0.5, "error_without": 0.1}]
    file = tmp_path / "simulated.json"
    file.write_text(json.dumps({"command": "simulate", "types": types}), "utf-8")
    words = ["--against", opp, "--soc", "ascend910b", "--among", "Mul", "--evidence", file, "--dry-run"]
    ran = opsinfo("bisect", *words, "--budget", "1.5h", "--", needing(tmp_path / "check"))
    assert f"warning: {file} suspects no op type among the candidates" in ran.err
    assert "1 candidate: expect 6 runs of the check; allowed: 90 min" in ran.err
