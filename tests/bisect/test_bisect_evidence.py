"""Evidence of the user: the order of suspicion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opsinfo_cli.bisect.evidence import read_evidence
from opsinfo_cli.bisect.order import is_risky, ordered
from opsinfo_cli.errors import Damaged, UsageFault

HEAD = "Index,OpSequence,OpType,NPUDump,DataType,OverFlow,CosineSimilarity,MaxAbsoluteError"


def test_types_of_an_overflow_dump_come_by_the_number_of_their_operators(tmp_path: Path) -> None:
    folder = tmp_path / "20261122" / "0" / "model" / "1" / "0"
    folder.mkdir(parents=True)
    for name in (
        "Mul.mul_1.3.1.1700000000000000",
        "Mul.mul_2.4.1.1700000000000001",
        "SoftmaxV2.soft.5.1.1700000000000002",
        "Opdebug.Node_OpDebug.9.1.1700000000000003",
        "notes.txt",
    ):
        (folder / name).write_bytes(b"")
    (folder / "Exp.exp_1.7.1700000000000004.output.0.npy").write_bytes(b"")
    (folder / "Mul.mul_2.4.1700000000000001.output.0.npy").write_bytes(b"")
    assert read_evidence(str(tmp_path)) == ["Mul", "Exp", "SoftmaxV2"]


def test_types_of_a_comparison_come_by_their_worst_cosine_and_overflows_first(tmp_path: Path) -> None:
    rows = [
        "0,0,Conv2D,conv1,float16,NO,0.999990,0.1",
        "1,1,Mul,mul1,float16,NO,0.91,0.1",
        "2,2,Mul,mul2,float16,NO,0.99,0.1",
        "3,3,Exp,exp1,float16,YES,0.999999,0.1",
        "4,4,Relu,relu,float16,NO,1.000000,0.0",
        "5,5,Cast,cast,float16,NaN,NaN,NaN",
        "6,6,,x,float16,NO,0.1,0.1",
    ]
    file = tmp_path / "result.csv"
    file.write_text("\ufeff" + "\n".join([HEAD, *rows]) + "\n", "utf-8")
    assert read_evidence(str(file)) == ["Exp", "Mul", "Conv2D"]


def test_types_of_a_simulation_are_ordered_by_their_error_alone(tmp_path: Path) -> None:
    types = [
        {"type": "Add", "nodes": ["a"], "error_alone": 0.01, "error_without": 0.2},
        {"type": "Exp", "nodes": ["e"], "error_alone": None, "error_without": 0.0},
        {"type": "Mul", "nodes": ["m"], "error_alone": 0.5, "error_without": 0.1},
        {"type": "Relu", "nodes": ["r"], "error_alone": 0.0, "error_without": 0.5},
    ]
    file = tmp_path / "simulated.json"
    file.write_text(json.dumps({"command": "simulate", "types": types}), "utf-8")
    assert read_evidence(str(file)) == ["Exp", "Mul", "Add"]


def test_a_file_without_evidence_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="no dumped tensors"):
        read_evidence(str(tmp_path))
    for text in ("", "a,b\n1,2\n", "OpType,Index\nMul,1\n"):
        (tmp_path / "file").write_text(text, "utf-8")
        with pytest.raises(UsageFault, match="neither a comparison CSV"):
            read_evidence(str(tmp_path / "file"))
    (tmp_path / "file").write_text('{"types": 3}', "utf-8")
    with pytest.raises(Damaged, match="not JSON of"):
        read_evidence(str(tmp_path / "file"))


def test_evidence_comes_before_risks_and_neighbours_stay_together() -> None:
    names = ["Conv2D", "SoftmaxV2", "Relu", "ReduceMeanD", "Mul"]
    assert ordered(names).names == ["SoftmaxV2", "ReduceMeanD", "Conv2D", "Relu", "Mul"]
    found = ordered(names, ["Mul", "Unknown", "Conv2D"])
    assert found.names == ["Mul", "Conv2D", "SoftmaxV2", "ReduceMeanD", "Relu"]
    assert found.weights == sorted(found.weights, reverse=True)


@pytest.mark.parametrize(
    "name",
    [
        "ReduceSumD",
        "ReduceMean",
        "Pow",
        "Exp",
        "Log",
        "LogSoftmaxV2",
        "Square",
        "Rsqrt",
        "RealDiv",
        "LayerNorm",
        "BNTrainingUpdate",
        "SoftmaxV2",
        "SigmoidCrossEntropyWithLogits",
        "L2Loss",
        "CumsumD",
        "AddN",
    ],
)
def test_types_that_lose_digits_are_risky(name: str) -> None:
    assert is_risky(name)


@pytest.mark.parametrize(
    "name", ["Conv2D", "Relu", "MatMulV2", "Reshape", "TransData", "Add", "Mul", "Expand", "LogicalAnd"]
)
def test_other_types_are_not_risky(name: str) -> None:
    assert not is_risky(name)
