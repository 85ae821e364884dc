"""The script that writes the lists: what it reads from a source, and the form of the data files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import opsinfo_cli.systems

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(opsinfo_cli.systems.__file__).parent / "data"
NAMES = [
    DATA.parents[1] / "core/cann/data" / f"{name}.json"
    for name in ("families", "mindspore_to_ascend", "names", "paddle_to_ascend", "snippets", "tf_to_ascend")
]

sys.path.append(str(ROOT))


def part(name: str) -> Any:
    """A module of the script."""
    reason = "the script is in the repository, not in the source distribution"
    return pytest.importorskip(f"tools.neighbour_lists.{name}", reason=reason)


MAKERS = part("__main__").MAKERS
dumped = part("data_text").dumped
stem = part("families").stem
Upstream = part("upstream").Upstream


@pytest.mark.parametrize("path", sorted([*DATA.glob("*.json"), *NAMES]), ids=lambda path: path.stem)
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


ADAPTERS = "mindspore/ccsrc/plugin/res_manager/ascend/op_adapter"
MINDSPORE = {
    "version.txt": "9.9.0\n",
    f"{ADAPTERS}/op_declare/some_ops_declare.cc": """
INPUT_MAP(Sum) = {{1, INPUT_DESC(x)}};
REG_ADPT_DESC(Sum, kNameSum, ADPT_DESC(ReduceSum))
REG_ADPT_DESC(Times, prim::kPrimTimes->name(), ADPT_DESC(Mul))
REG_ADPT_DESC(Max, ops::kNameMaxDim,
              ADPT_DESC(ArgMaxWithValue))
REG_ADPT_DESC(Word, "Word", ADPT_DESC(Constant, Const))
REG_ADPT_DESC(Own, kNameOwn, CUST_ADPT_DESC(Own))
// REG_ADPT_DESC(Gone, kNameGone, ADPT_DESC(Gone))
REG_ADPT_DESC(Add, prim::kPrimAdd->name(),
              std::make_shared<OpAdapterDesc>(
                std::make_shared<OpAdapter<Add>>("Add", ExtraAttr({}))))
#ifdef BUILD_LITE
REG_ADPT_DESC(Product, prim::kPrimProduct->name(), ADPT_DESC(Light))
#else
REG_ADPT_DESC(Product, prim::kPrimProduct->name(), ADPT_DESC(MatMulV2))
#endif
""",
    "mindspore/ops/op_def/some_ops.h": """
constexpr auto kNameSum = "ReduceSum";
constexpr auto kNameOwn = "Own";
constexpr const char kTimesOpName[] = "Times";
GVAR_DEF(PrimitivePtr, kPrimTimes, std::make_shared<Primitive>(kTimesOpName));
GVAR_DEF(PrimitivePtr, kPrimProduct, std::make_shared<Primitive>("Product"));
""",
    "mindspore/core/include/ir/core_ops_primitive.h": "",
    "mindspore/ops/op_def/yaml/add_op.yaml": "#operator add\nadd:\n    args:\n",
    "mindspore/ops/op_def/yaml/max_dim_op.yaml": "max_dim:\n    class :\n        name : MaxDim\n",
    "mindspore/ccsrc/backend/common/expander/fallback/some_ops.cc": """
REG_FALLBACK_BUILDER("Affine").SetBody(BODYFUNC(ib) {
  auto made = ib->Product(ib->Reshape(x, s), w);
  return {ib->Emit("ReduceSum", {Times(ib, made)})};
});
NodePtr Helper(FallbackIRBuilder *ib) { return ib->Add(x, y); }
REG_FALLBACK_BUILDER("Times").SetBody(BODYFUNC(ib) { return {ib->Product(x, x)}; });
""",
    "mindspore/python/mindspore/ops/operations/some.py": "class Product(Primitive):\n    pass\n",
    "mindspore/python/mindspore/nn/layer/some.py": """
from mindspore.ops import operations as P
__all__ = ["Linear", "Named", "Unread"]
class Base(Cell):
    def __init__(self):
        self.shape = P.Shape()
    def construct(self, x):
        return self.scale(self.product(self.shape(x)))
    def scale(self, x):
        return _scaled(x)
def _scaled(x):
    return P.Times()(x)
class Linear(Base):
    def __init__(self):
        self.product = P.Product()
        self.unused = P.ReduceSum()
class Product(Cell):
    pass
class Named(Cell):
    def __init__(self):
        self.inner = Linear()
    def construct(self, x):
        return self.inner(x)
class Unread(Cell):
    def construct(self, x):
        return ops.relu(x)
""",
}


class MindSpore:
    """A checkout in memory."""

    def __init__(self, **changed: str) -> None:
        self.texts = {**MINDSPORE, **{path: text for path, text in MINDSPORE.items() if path in changed}, **changed}

    def read(self, path: str) -> str:
        return self.texts[path]

    def paths(self, folder: str, ending: str) -> list[str]:
        return [path for path in self.texts if path.startswith(f"{folder}/") and path.endswith(ending)]

    def lines(self, pattern: str, folders: Any) -> str:
        return "\n".join(text for path, text in self.texts.items() if path.startswith(tuple(folders)))

    def version(self) -> str:
        return "of a test"


def test_registrations_of_mindspore_are_read_in_every_form() -> None:
    made = json.loads(part("op_declare").mindspore_to_ascend(MindSpore()))
    assert made["version"] == "MindSpore 9.9.0, of a test"
    assert made["names"] == {
        "Add": ["Add"],
        "MaxDim": ["ArgMaxWithValue"],
        "Product": ["MatMulV2"],
        "ReduceSum": ["ReduceSum"],
        "Times": ["Mul"],
        "Word": ["Constant", "Const"],
    }
    assert made["custom"] == ["Own"]
    assert made["internal"] == ["Own", "ReduceSum", "Times", "Word"]
    assert made["composed"] == {
        "Affine": ["Product", "ReduceSum", "Times"],
        "nn.Linear": ["Product", "Times"],
        "nn.Named": ["Product", "Times"],
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("REG_ADPT_DESC(New, kNameNowhere, ADPT_DESC(New))\n", "kNameNowhere"),
        ("REG_ADPT_DESC(New, kNameSum, made_by_a_function(New))\n", "another form"),
    ],
)
def test_a_registration_that_is_not_understood_stops_the_script(text: str, reason: str) -> None:
    with pytest.raises(SystemExit, match=reason):
        part("op_declare").mindspore_to_ascend(MindSpore(**{f"{ADAPTERS}/op_declare/new_declare.cc": text}))


KERNELS = {
    "backends/npu/kernels/a.cc": """
// PD_REGISTER_PLUGIN_KERNEL(gone, npu, ALL_LAYOUT, custom_kernel::GoneKernel, float) {}
template <typename T>
void AclopSoftmaxKernel(const Context& c) { const auto& r = NpuOpRunner("SoftmaxV2", {x}, {y}); }
template <typename T>
void SoftmaxKernel(const Context& c) {
  DO_COMPATIBILITY(aclnnSoftmax, (custom_kernel::AclopSoftmaxKernel<T, Context>(c)));
  NpuOpRunner cast; cast.SetType("Cast");
}
template <typename T>
void NormKernel(const Context& c) { NpuOpRunner("AddV2", {}); NpuOpRunner("Inv", {}); }
template <typename T>
void SumKernel(const Context& c) { NpuOpRunner("ReduceSum", {}); NpuOpRunner("Cast", {}); }
PD_REGISTER_PLUGIN_KERNEL(softmax, npu, ALL_LAYOUT, custom_kernel::SoftmaxKernel, float) {}
PD_REGISTER_PLUGIN_KERNEL(group_norm, npu, ALL_LAYOUT, custom_kernel::NormKernel, float) {}
PD_REGISTER_PLUGIN_KERNEL(sum, npu, ALL_LAYOUT, custom_kernel::SumKernel, float) {}
""",
}


def test_kernels_of_paddle_give_the_op_types_that_they_run(tmp_path: Path) -> None:
    source = Upstream(str(tmp_path))
    source.paths = lambda folder, ending: list(KERNELS)
    source.read = KERNELS.__getitem__
    source.version = lambda: "of a test"
    made = json.loads(part("paddle_kernels").paddle_to_ascend(source))
    assert made["names"] == {"softmax": ["SoftmaxV2"], "sum": ["ReduceSum"], "reduce_sum": ["ReduceSum"]}
    assert made["composed"] == ["group_norm"]
