"""The script that writes the lists: what it reads from a source, and the form of the data files."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import pytest

import opsinfo_cli.neighbours

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(opsinfo_cli.neighbours.__file__).parent / "data"
COPIES = ("tf_to_ascend", "onnx_to_ascend_by_opset")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    path = ROOT / "tools/neighbour_lists.py"
    if not path.exists():
        pytest.skip("the script is in the repository, not in the source distribution")
    spec = importlib.util.spec_from_file_location("neighbour_lists", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # NamedTuple looks its module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_a_data_file_has_the_layout_that_the_script_writes(tool: ModuleType, path: Path) -> None:
    if path.stem not in COPIES:
        assert tool.dumped(json.loads(path.read_text("utf-8"))) == path.read_text("utf-8")


def test_every_list_file_except_the_manual_one_has_a_maker(tool: ModuleType) -> None:
    of_lists = {path.stem for path in DATA.glob("*.json") if "levels" in json.loads(path.read_text("utf-8"))}
    assert of_lists - {"habana_hmp"} == set(tool.MAKERS)


@pytest.mark.parametrize(
    ("op_type", "stem"),
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
def test_the_stem_of_an_op_type(tool: ModuleType, op_type: str, stem: str) -> None:
    assert tool.stem(op_type) == stem


def test_lists_of_torch_npu_are_read_by_policy_and_overload(tool: ModuleType, tmp_path: Path) -> None:
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
    source = tool.Upstream(str(path))
    source.version = lambda: "of a test"
    lists = {each["list"]: each["names"] for each in tool.torch_npu(source).levels[""]}
    assert lists == {
        "lower_precision_fp": ["mm"],
        "fp32": ["pow.Scalar"],
        "fp32_set_opt_dtype": ["sum"],
        "fp32_append_dtype": ["norm.Scalar"],
        "promote": ["cat"],
        "banned": ["binary_cross_entropy"],
    }


def test_a_wheel_gives_its_version_and_its_lists(tool: ModuleType, tmp_path: Path) -> None:
    wheel = tmp_path / "nvidia_modelopt-0.99.1-py3-none-any.whl"
    text = (
        'OP_TYPES_NOT_SUPPORTED_IN_LOW_PRECISION = ["Celu"]\nOP_TYPES_NOT_SUPPORTED_IN_LOW_PRECISION.extend(["If"])\n'
    )
    with ZipFile(wheel, "w") as archive:
        archive.writestr("modelopt/onnx/autocast/precisionconverter.py", text)
    made = tool.modelopt(tool.Upstream(str(wheel)))
    assert made.version == "nvidia-modelopt 0.99.1"
    assert made.levels[""][0]["names"] == ["Celu", "If"]


def test_new_defaults_of_optimum_habana_stop_the_script(tool: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "gaudi_configuration.py"
    path.write_text('self.autocast_bf16_ops = kwargs.pop("autocast_bf16_ops", DEFAULT_BF16_OPS)\n', "utf-8")
    with pytest.raises(SystemExit, match="autocast_bf16_ops"):
        tool.optimum_habana(tool.Upstream(str(path)))
