"""Kernels that were fused after dtypes were chosen: what they were made of, and whether a list moves them."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run

from opsinfo_cli.errors import Damaged, Refused
from opsinfo_cli.lab.profile.lists import fused_parts
from opsinfo_cli.lab.profile.times import Profile

SUMMARY = "Op Name,OP Type,Task Type,Task Duration(us),Input Data Types,Output Data Types\n"
FUSIONS = "Device_id,Model Name,Model ID,Fusion Op,Original Ops,Memory Input(KB)\n"


def _export(folder: Path, rows: str, fusions: str | None = None) -> Path:
    (folder / "op_summary_1.csv").write_text(SUMMARY + rows, "utf-8")
    if fusions is not None:
        (folder / "fusion_op_1.csv").write_text(fusions, "utf-8")
    return folder / "op_summary_1.csv"


def _row(name: str, op_type: str, dtype: str = "FLOAT16") -> str:
    return f"{name},{op_type},AI_CORE,10.0,{dtype},{dtype}\n"


def test_the_parts_are_those_of_the_kernels_that_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _row("te_fused_0", "AutomaticBufferFusionOp") + _row("pointwise_0", "FusedAscBackend") + _row("add", "Add")
    rows += _row("te_fused_1", "AutomaticBufferFusionOp")
    fusions = f'{FUSIONS}0,m,1,te_fused_0,"MatMul_1,Add_1",8\n0,m,1,other,"Mul_9",8\n0,m,1,add,add,8\n'
    fusions += '0,m,1,te_fused_1,"Relu_1,Add_1",8\n'
    table = _export(tmp_path, rows, fusions)
    monkeypatch.chdir(tmp_path)
    for path in (table, Path(table.name)):
        assert fused_parts(Profile.read(path)) == {
            "AutomaticBufferFusionOp": ["MatMul_1", "Add_1", "Relu_1"],
            "FusedAscBackend": [],
        }
    assert fused_parts(Profile.read(_export(tmp_path, _row("add", "Add"), "not read"))) == {}


@pytest.mark.parametrize(
    ("fusions", "error", "line"),
    [("a,b\n", Refused, 1), (f"{FUSIONS}0,m,1\n", Damaged, 2)],
)
def test_a_table_of_fusions_that_is_none_is_named(
    tmp_path: Path, fusions: str, error: type[Refused], line: int
) -> None:
    table = _export(tmp_path, _row("k", "AscBackend"), fusions)
    with pytest.raises(error) as caught:
        fused_parts(Profile.read(table))
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "fusion_op_1.csv"), line)


@pytest.mark.parametrize("op_type", ["AutomaticBufferFusionOp", "AscBackend", "FusedAscBackend"])
def test_it_is_unknown_whether_a_list_moves_a_fused_kernel(
    opsinfo: Run, opp: Path, tmp_path: Path, op_type: str
) -> None:
    table = _export(tmp_path, _row("k", op_type) + _row("mul", "Mul"), f'{FUSIONS}0,m,1,k,"fc,add",8\n')
    ran = opsinfo("profile", table, "--against", opp, "--soc", "ascend910b", "--format", "json")
    movable = {row["type"]: row["movable"] for row in ran.json["types"]}
    assert movable[op_type] is None
    text = opsinfo("profile", table, "--against", opp, "--soc", "ascend910b")
    assert f"{op_type} was fused after dtypes were chosen, of fc, add: a list moves it by its parts" in text.err
    assert "of 10 us (1 call) it is unknown" in text.err


def test_with_a_model_its_parts_say_whether_a_list_moves_it(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    head = '<ir_version: 8, opset_import: ["" : 13]> g (float[4,4] x) => (float[4,4] y)'
    model = onnx.parser.parse_model(f"{head} {{ [fc] a = Relu (x) [add] y = Softmax (a) }}")
    onnx.save(model, tmp_path / "m.onnx")
    table = _export(tmp_path, _row("k", "AutomaticBufferFusionOp"), f'{FUSIONS}0,m,1,k,"fc,add",8\n')
    target = ["--against", opp, "--soc", "ascend910b", "--format", "json"]
    ran = opsinfo("profile", table, *target, "--model", tmp_path / "m.onnx")
    assert [row["movable"] for row in ran.json["types"]] == [True], ran.err


def test_validate_says_what_the_name_of_a_fused_kernel_is(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    path = tmp_path / "mix.json"
    path.write_text('{"black-list": {"to-add": ["AutomaticBufferFusionOp"]}}', "utf-8")
    ran = opsinfo("validate", path, "--against", opp, "--soc", "ascend910b")
    assert "hint: a profile calls a kernel so that was fused after dtypes were chosen" in ran.out.replace("\n", " ")
