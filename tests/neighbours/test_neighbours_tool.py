"""The script that writes the lists: what it reads from a source, and the form of the data files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import opsinfo_cli.neighbours

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(opsinfo_cli.neighbours.__file__).parent / "data"
TF_TABLE = DATA.parents[1] / "model" / "data" / "tf_to_ascend.json"

sys.path.append(str(ROOT))


def part(name: str) -> Any:
    """A module of the script."""
    reason = "the script is in the repository, not in the source distribution"
    return pytest.importorskip(f"tools.neighbour_lists.{name}", reason=reason)


MAKERS = part("__main__").MAKERS
dumped = part("data_text").dumped
stem = part("families").stem
Upstream = part("upstream").Upstream


@pytest.mark.parametrize("path", sorted([*DATA.glob("*.json"), TF_TABLE]), ids=lambda path: path.stem)
def test_a_data_file_has_the_layout_that_the_script_writes(path: Path) -> None:
    assert dumped(json.loads(path.read_text("utf-8"))) == path.read_text("utf-8")


def test_every_list_file_except_the_manual_one_has_a_maker() -> None:
    of_lists = {path.stem for path in DATA.glob("*.json") if "levels" in json.loads(path.read_text("utf-8"))}
    assert of_lists - {"habana_hmp"} == set(MAKERS)


@pytest.mark.parametrize(
    ("op_type", "expected"),
    [
        ("ReduceSumD", "ReduceSum"),
        ("BatchMatMulV3", "BatchMatMul"),
        ("TopKV2D", "TopK"),
        ("PriorBoxDV2", "PriorBox"),
        ("Conv2D", "Conv2D"),
        ("AvgPool3DD", "AvgPool3D"),
        ("SpaceToBatchND", "SpaceToBatchND"),
        ("SplitV", "SplitV"),
        ("ResizeNearestNeighborV2GradD", "ResizeNearestNeighborV2Grad"),
    ],
)
def test_the_stem_of_an_op_type(op_type: str, expected: str) -> None:
    assert stem(op_type) == expected


def test_lists_of_torch_npu_are_read_by_policy_and_overload(tmp_path: Path) -> None:
    lines = [
        "  KERNEL_PRIVATEUSEONE(mm, lower_precision_fp)",
        "  KERNEL_PRIVATEUSEONE(pow, Scalar, fp32)",
        "  // KERNEL_PRIVATEUSEONE(dot, fp32)",
        "  KERNEL_PRIVATEUSEONE(sum, fp32_set_opt_dtype)",
        '  KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE(\n ADD_NS(norm),\n "norm.Scalar",',
        "  KERNEL_PRIVATEUSEONE(cat, promote)",
        '  m.impl(TORCH_SELECTIVE_NAME("aten::binary_cross_entropy"),',
    ]
    path = tmp_path / "AutoCastOps.cpp"
    path.write_text("\n".join(lines), "utf-8")
    source = Upstream(str(path))
    source.version = lambda: "of a test"
    lists = {each["list"]: each["names"] for each in part("systems.torch_npu").read(source).levels[""]}
    assert lists == {
        "lower_precision_fp": ["mm"],
        "fp32": ["pow.Scalar"],
        "fp32_set_opt_dtype": ["sum"],
        "fp32_append_dtype": ["norm.Scalar"],
        "promote": ["cat"],
        "banned": ["binary_cross_entropy"],
    }


def test_a_wheel_gives_its_version_and_its_lists(tmp_path: Path) -> None:
    wheel = tmp_path / "nvidia_modelopt-0.99.1-py3-none-any.whl"
    text = (
        'OP_TYPES_NOT_SUPPORTED_IN_LOW_PRECISION = ["Celu"]\nOP_TYPES_NOT_SUPPORTED_IN_LOW_PRECISION.extend(["If"])\n'
    )
    with ZipFile(wheel, "w") as archive:
        archive.writestr("modelopt/onnx/autocast/precisionconverter.py", text)
    made = part("systems.modelopt").read(Upstream(str(wheel)))
    assert made.version == "nvidia-modelopt 0.99.1"
    assert made.levels[""][0]["names"] == ["Celu", "If"]


def test_defaults_of_optimum_habana_that_come_into_use_stop_the_script(tmp_path: Path) -> None:
    path = tmp_path / "gaudi_configuration.py"
    path.write_text('self.autocast_bf16_ops = kwargs.pop("autocast_bf16_ops", DEFAULT_BF16_OPS)\n', "utf-8")
    with pytest.raises(SystemExit, match="autocast_bf16_ops"):
        part("systems.optimum_habana").read(Upstream(str(path)))
