"""Evidence of the user: the order of suspicion."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opsinfo_cli.bisect.suspicion import is_risky, ordered, read_evidence
from opsinfo_cli.errors import Damaged, UsageFault

HEAD = "Index,OpSequence,OpType,NPUDump,DataType,OverFlow,CosineSimilarity,MaxAbsoluteError"


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


def tensor(largest: object, smallest: object = 0.0, dtype: str = "torch.float16") -> dict[str, object]:
    shape = {"type": "torch.Tensor", "dtype": dtype, "shape": [2, 2]}
    return {**shape, "Max": largest, "Min": smallest, "Mean": None, "Norm": None, "requires_grad": True}


def test_calls_of_a_dump_come_by_how_near_their_values_are_to_overflow(tmp_path: Path) -> None:
    """Written as the files in the tests of Ascend/mstt."""
    calls = {
        "Tensor.__mul__.7.forward": {
            "input_args": [tensor(1.4, -1.4), {"type": "int", "value": 70000}],
            "input_kwargs": {"other": tensor(3.0, -30000.0)},
            "output": [tensor(1.3)],
        },
        "Torch.cat.8.forward": {"input_args": [[tensor(1.4), tensor(4000.0)]], "input_kwargs": {}, "output": []},
        "Functional.softmax.0.backward": {"input": [tensor(6000.0)], "output": [tensor(float("nan")), None]},
        "Torch.matmul.1.forward": {"input_args": [tensor(7.0), tensor(70000.0, 0.0, "torch.bfloat16")]},
        "Primitive.norm.RmsNorm.0.forward": {"input_args": [tensor(20000.0, 0.0, "Float32")], "output": []},
        "Torch.argmax.0.forward": {"input_args": [tensor(90000.0, 0.0, "torch.int64")], "output": [tensor(None, None)]},
        "Module.layer.0.Linear.forward.0": {"input_args": [tensor(90000.0)], "input_kwargs": {}, "output": []},
    }
    file = tmp_path / "dump.json"
    document = {"task": "statistics", "level": "mix", "dump_data_dir": None, "data": calls}
    file.write_text(json.dumps(document), "utf-8")
    found = read_evidence(str(file))
    assert [name for name in found if name in ("softmax", "matmul", "mul", "RmsNorm", "cat", "argmax", "Linear")] == [
        "matmul", "softmax", "mul", "RmsNorm",
    ]  # fmt: skip
    assert [name for name in found if name in ("SoftmaxV2", "BatchMatMul", "Mul", "ConcatD")] == [
        "BatchMatMul", "SoftmaxV2", "Mul",
    ]  # fmt: skip
    for text in ('{"data": 3}', '{"data": {"Torch.add.0.forward": {"output": [{"Max": [], "dtype": "float16"}]}}}'):
        file.write_text(text, "utf-8")
        with pytest.raises(Damaged, match="neither JSON of"):
            read_evidence(str(file))


def test_a_file_without_evidence_is_refused(tmp_path: Path) -> None:
    for text in ("", "a,b\n1,2\n", "OpType,Index\nMul,1\n"):
        (tmp_path / "file").write_text(text, "utf-8")
        with pytest.raises(UsageFault, match="neither a comparison CSV"):
            read_evidence(str(tmp_path / "file"))
    for text in ('{"types": 3}', '{"types": ' + 200_000 * "["):
        (tmp_path / "file").write_text(text, "utf-8")
        with pytest.raises(Damaged, match="neither JSON of"):
            read_evidence(str(tmp_path / "file"))
    (tmp_path / "file").write_text(f"{HEAD}\n{200_000 * 'x'}\n", "utf-8")
    with pytest.raises(Damaged, match="not a comparison CSV"):
        read_evidence(str(tmp_path / "file"))


def test_evidence_comes_before_risks_and_neighbours_stay_together() -> None:
    names = ["Conv2D", "SoftmaxV2", "Relu", "ReduceMeanD", "Mul"]
    assert ordered(names).names == ["SoftmaxV2", "ReduceMeanD", "Conv2D", "Relu", "Mul"]
    found = ordered(names, ["Mul", "Unknown", "Conv2D"])
    assert found.names == ["Mul", "Conv2D", "SoftmaxV2", "ReduceMeanD", "Relu"]
    assert found.weights == sorted(found.weights, reverse=True)


RISKY = (
    "ReduceSumD ReduceMean Pow Exp Log LogSoftmaxV2 Square Rsqrt RealDiv LayerNorm BNTrainingUpdate CumsumD AddN L2Loss"
)
PLAIN = "Conv2D Relu MatMulV2 Reshape TransData Add Mul Expand LogicalAnd"


def test_types_that_lose_digits_are_risky() -> None:
    assert [name for name in f"{RISKY} {PLAIN}".split() if is_risky(name)] == RISKY.split()
