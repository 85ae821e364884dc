"""`opsinfo numerics`."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import ROOT, Run, rows


def test_the_table_of_formats(opsinfo: Run) -> None:
    ran = opsinfo("numerics")
    table = {row[0]: row[1:] for row in rows(ran)}
    assert list(table) == ["fp64", "fp32", "bf16", "fp16", "fp8-e4m3", "fp8-e5m2", "hif8"]
    assert table["fp16"] == ["16", "65504", "6.103515625e-05", "5.960464477539063e-08", "0.0009765625"]
    document = opsinfo("numerics", "--format", "json").json
    assert [each["largest"] for each in document["formats"]][3:] == [65504.0, 448.0, 57344.0, 32768.0]


def test_dumps_by_operator_with_their_policy(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    np = pytest.importorskip("numpy", reason="dumps are read with numpy")
    dump = tmp_path / "dump"
    dump.mkdir()
    for name, values in {"Add": [1e5, 1.0], "MatMul": [1e-9, 1.0], "Nowhere": [1.0]}.items():
        np.save(dump / f"{name}.layer.12.1700000000.output.0.npy", np.array(values, np.float32))
    np.save(dump / "Add.layer.12.1700000000.input.0.npy", np.arange(3))
    ran = opsinfo("numerics", dump, "--against", opp, "--soc", "ascend910b")
    assert [row[:3] for row in rows(ran)] == [
        ["Add", "gray", "50 %"],
        ["MatMul", "white", "0 %"],
        ["Nowhere", "-", "0 %"],
    ]
    assert "candidates for the black list in fp16: Add, MatMul" in ran.err
    document = opsinfo("numerics", dump, "--low", "bfloat16", "--format", "json").json
    assert [each["candidate"] for each in document["operators"]] == [False] * 3
    (plain,) = rows(opsinfo("numerics", dump / "MatMul.layer.12.1700000000.output.0.npy"))
    assert plain[0] == "MatMul"


def test_a_plain_tensor_in_each_format(opsinfo: Run, tmp_path: Path) -> None:
    np = pytest.importorskip("numpy", reason="tensors are read with numpy")
    np.save(tmp_path / "gradient.npy", np.array([2.0**-26, 2.0**-20, 1.0, 2.0], np.float32))
    table = {row[1]: row[2:] for row in rows(opsinfo("numerics", tmp_path / "gradient.npy"))}
    assert table["fp16"] == ["0 %", "25 %", "25 %", "0 %", "2^12"]
    assert table["bf16"] == ["0 %", "0 %", "0 %", "0 %", "-"]


@pytest.mark.process
def test_a_missing_numpy_is_reported(opsinfo: Run, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['numpy'] = None\n")
    path = f"{tmp_path}:{ROOT}"
    ran = opsinfo("numerics", "x.npy", env={"PYTHONPATH": path})
    assert (ran.code, ran.out) == (3, "")
    assert "needs numpy" in ran.err
    assert "pip install onnx onnxruntime numpy" in ran.err
    assert opsinfo("numerics", env={"PYTHONPATH": path}).code == 0


def test_files_that_are_not_tensors_are_refused(opsinfo: Run, tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="tensors are read with numpy")
    (tmp_path / "x.npy").write_bytes(b"\x80\x04}q\x00.")
    assert opsinfo("numerics", tmp_path / "x.npy").code == 3
    assert opsinfo("numerics", tmp_path / "none.npy").code == 3
    assert "single numbers are no longer taken" in opsinfo("numerics", "65504").err
