"""`opsinfo graph` and `modes`: high nodes that read low, and modes whose names promise what kernels do not give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Run, write

onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")

MATMULS = '<ir_version: 8, opset_import: ["" : 13]> g (float[4,4] a, float[4,4] b) => (float[4,4] y) {{ {} }}'


def library(path: Path, **columns: str) -> Path:
    """A library with the columns of each op type, ``input0 input1 output0``, columns apart by a comma."""
    entries = {}
    for name, text in columns.items():
        rows = [part.split() for part in text.split(",")]
        sides = ["input0", "input1", "output0"] if len(rows[0]) == 3 else ["input0", "output0"]
        entries[name] = {
            side: {
                "name": side,
                "paramType": "required",
                "dtype": ",".join(row[at] for row in rows),
                "format": ",".join("ND" for _ in rows),
            }
            for at, side in enumerate(sides)
        }
    return write(path / "aic-ascend910b-ops-info.json", json.dumps(entries))


def judged(opsinfo: Run, tmp_path: Path, target: Path, mode: str, text: str) -> Any:
    onnx.save_model(onnx.parser.parse_model(MATMULS.format(text)), tmp_path / "model.onnx")
    words = ("graph", tmp_path / "model.onnx", "--against", target, "--precision-mode", mode)
    document = opsinfo(*words, "--format", "json").json
    found = [(each["type"], each["dtype"], each["nodes"]) for each in document["reads_low"]]
    return found, document["counts"], opsinfo(*words).err


PRODUCTS = "c = MatMul(a, b) d = Relu(c) y = MatMul(d, b)"
WIDENING = "float16 float16 float, float float float"
NARROW = "float16 float16 float16"
WIDE = "float float float"
RELU = "float16 float16, float float"


@pytest.mark.parametrize("mode", ["force_fp32", "cube_fp16in_fp32out"])
def test_force_fp32_is_not_believed_where_matrix_products_read_float16(opsinfo: Run, tmp_path: Path, mode: str) -> None:
    target = library(tmp_path, BatchMatMulV2=WIDENING, Relu=RELU)
    found, counts, told = judged(opsinfo, tmp_path, target, mode, PRODUCTS)
    assert found == [("BatchMatMulV2", "float16", 2)]
    assert (counts["low"], counts["high"]) == (0, 3)
    assert "high nodes that read float32 inputs in a low dtype: 2 BatchMatMulV2 in float16" in told
    other = {"force_fp32": "cube_fp16in_fp32out", "cube_fp16in_fp32out": "force_fp32"}[mode]
    assert f"{mode} is the same mode as {other}" in told


@pytest.mark.parametrize(
    ("columns", "mode", "low", "reading"),
    [
        (WIDE, "force_fp32", 0, []),
        (NARROW, "force_fp32", 2, []),
        (WIDENING, "must_keep_origin_dtype", 0, []),
        ("float16 float16 float", "mixed_float16", 0, [("BatchMatMulV2", "float16", 2)]),
        ("bfloat16 bfloat16 float", "mixed_bfloat16", 0, [("BatchMatMulV2", "bfloat16", 2)]),
        ("float16 float16 float", "allow_fp32_to_fp16", 0, [("BatchMatMulV2", "float16", 2)]),
    ],
)
def test_it_is_counted_from_the_columns_in_every_mode(
    opsinfo: Run, tmp_path: Path, columns: str, mode: str, low: int, reading: list[tuple[str, str, int]]
) -> None:
    target = library(tmp_path, BatchMatMulV2=columns, Relu="float float")
    found, counts, told = judged(opsinfo, tmp_path, target, mode, PRODUCTS)
    assert (found, counts["low"]) == (reading, low)
    assert ("in a low dtype" in told) == bool(reading)


def test_what_the_model_has_in_float16_and_a_cast_are_not_counted(opsinfo: Run, tmp_path: Path) -> None:
    target = library(
        tmp_path, BatchMatMulV2=WIDENING, Cast="float16 float, float float16, float float, float16 float16"
    )
    text = "c = Cast<to = 10>(a) d = Cast<to = 10>(b) e = MatMul(c, d) y = Cast<to = 1>(e)"
    found, _, _ = judged(opsinfo, tmp_path, target, "must_keep_origin_dtype", text)
    assert found == []


def test_modes_say_what_the_engine_does_beside_their_names(opsinfo: Run) -> None:
    document = opsinfo("modes", "--format", "json").json
    says = {mode["name"]: mode["says"] for mode in document["modes"]}
    assert "read float16" in says["force_fp32"]
    assert says["force_fp32"] == says["cube_fp16in_fp32out"]
    assert "float32 where no kernel has float16" in says["force_fp16"]
    assert "even where one has" in says["allow_fp32_to_fp16"]
    rows = [line.split("\t") for line in opsinfo("modes").out.splitlines()]
    assert all(row[-1] == says[row[1]] for row in rows if row[0] == "mode")
