"""`opsinfo numerics`."""

from __future__ import annotations

import struct
from collections.abc import Callable
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
    assert "or a number such as" in opsinfo("numerics", "65504x").err


@pytest.mark.process
def test_a_number_of_many_digits_is_the_title_of_its_table(terminal: Callable[..., tuple[int, str]]) -> None:
    for number in ("0.00006666666", "0.123456789012345678901234567890", "65520"):
        lines = terminal("numerics", number, width=80, env={"NO_COLOR": "1"})[1].splitlines()
        assert lines[0].strip() == number
        assert len(lines) == 3 + 6, "no row takes two lines"


def test_what_becomes_of_single_numbers(opsinfo: Run, tmp_path: Path) -> None:
    """0.00006666666 in fp16 is 1.0920 * 2^-14, so 0 00001 0001011110; 6e-8 is nearer to 2^-24 than to 2^-23."""
    table = {tuple(row[:2]): row[2:] for row in rows(opsinfo("numerics", "0.00006666666", "6e-8", "65520", "1e-9"))}
    assert table["0.00006666666", "fp16"] == ["0x045e", "6.663799285888672e-05", "0.00043", "rounded", "-"]
    assert table["6e-8", "fp16"] == ["0x0001", "5.960464477539063e-08", "0.00659", "subnormal", "2^10"]
    assert table["65520", "fp16"] == ["0x7c00", "-", "-", "infinite", "-"]
    assert table["65520", "bf16"] == ["0x4780", "65536", "0.000244", "rounded", "-"]
    assert table["1e-9", "fp16"] == ["0x0000", "0", "1", "zero", "2^16"]
    below = "65519." + "9" * 31  # more digits than the context of decimals has
    assert {row[1]: row[3] for row in rows(opsinfo("numerics", below))}["fp16"] == "65504"
    assert table["65520", "fp8-e4m3"] == ["0x7f", "-", "-", "not a number", "-"]  # it has no infinity
    assert table["65520", "fp8-e5m2"] == ["0x7c", "-", "-", "infinite", "-"]
    for text in ("1e-302", "3e-305", "1e-307", "2.2250738585072014e-308", "1e-310", "5e-324", "1e-300", "1.5e308"):
        known = {row[1]: row[2] for row in rows(opsinfo("numerics", text))}
        assert known["fp64"] == f"0x{struct.pack('>d', float(text)).hex()}"
    endless = rows(opsinfo("numerics", "--", "-inf"))
    assert {row[5] for row in endless if row[1] == "fp8-e4m3"} == {"not a number"}
    document = opsinfo("numerics", "--format", "json", "--", "-65504", "nan", "1e-99999", "1e99999").json
    fp16 = [next(known for known in value["formats"] if known["name"] == "fp16") for value in document["values"]]
    assert [known["outcome"] for known in fp16] == ["exact", "not a number", "zero", "infinite"]
    assert [known["bits"] for known in fp16] == ["0xfbff", "0x7e00", "0x0000", "0x7c00"]
    assert opsinfo("numerics", "1.5", tmp_path).code == 2
    assert "a number has no operator" in opsinfo("numerics", "1.5", "--against", "x").err
