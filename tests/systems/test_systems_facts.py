"""The stored facts: complete, with their version, and as published."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import opsinfo_cli.systems
from opsinfo_cli.core.cann.name_tables import forms_of, name_table
from opsinfo_cli.core.cann.onnx_opsets import onnx_operators
from opsinfo_cli.core.cann.op_names import onnx_names, tensorflow_names
from opsinfo_cli.core.package_data import package_data
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.systems.facts import facts
from opsinfo_cli.systems.registry import SYSTEMS, lists_of
from opsinfo_cli.systems.vocabulary import OperatorClass

DATA = Path(opsinfo_cli.systems.__file__).parent / "data"
LEVELS = [
    f"{system.name}:{level}" if level else system.name
    for system in SYSTEMS.values()
    for level in (system.levels or ([""] if system.facts else []))
]


def names(system: str, cls: str) -> list[str]:
    return [each.name for each in lists_of(system).entries if each.cls == cls]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_every_fact_file_has_its_version_and_source(path: Path) -> None:
    content = json.loads(path.read_text("utf-8"))
    assert content["version"]
    if "levels" in content:
        assert content["source"]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_a_fact_file_with_lists_states_an_upstream_version(path: Path) -> None:
    content = json.loads(path.read_text("utf-8"))
    if "levels" in content and path.stem != "habana_hmp":  # a page of documents, without a version of its own
        assert re.search(r"\d+\.\d+|\b[0-9a-f]{8}\b", content["version"])


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_the_page_shows_the_version_of_every_list(path: Path) -> None:
    content = json.loads(path.read_text("utf-8"))
    page = (DATA.parents[2] / "docs/neighbours.md").read_text("utf-8")
    if "levels" in content and path.stem not in ("habana_hmp", "optimum_habana"):
        assert f"| {content['version']} |" in page
    if path.stem == "optimum_habana":
        assert f"| {content['version'].partition(',')[0]};" in page


@pytest.mark.parametrize("system", LEVELS)
def test_no_list_names_an_operator_twice(system: str) -> None:
    listed = [(each.origin, each.module, each.name) for each in lists_of(system).entries]
    assert len(set(listed)) == len(listed)
    assert lists_of(system).version


@pytest.mark.parametrize(
    ("system", "counts"),
    [
        ("mindspore:O0", {}),
        ("mindspore:O1", {"low": 20}),
        ("mindspore:O2", {"high": 4}),
        ("mindspore:O3", {}),
        ("mindspore:auto", {"low": 20, "high": 46, "promote": 10}),
        ("apex:O0", {}),
        ("apex:O1", {"low": 8 + 14 + 3 + 8 + 1, "high": 29 + 23 + 4, "promote": 16 + 2 + 21, "banned": 1}),
        ("apex:O2", {"high": 1}),
        ("apex:O3", {}),
        ("apex-npu:O1", {"low": 8 + 14 + 8 + 1, "high": 29 + 23 + 4, "promote": 16 + 2 + 21, "banned": 1, "follow": 3}),
        ("torch-amp", {"low": 33, "high": 59 + 11 + 2, "promote": 11, "banned": 1}),
        ("torch-npu", {"low": 34, "high": 46 + 11 + 2, "promote": 10, "banned": 1}),
        ("tensorflow:ALL", {"low": 29 + 2 + 5 + 3, "follow": 43 + 3, "high": 9, "clear": 95 + 15}),
        ("tensorflow:TENSOR_CORES_ONLY", {"low": 39}),
        ("habana-hmp", {"low": 25, "high": 15, "promote": 4}),
        ("habana-autocast", {"low": 27, "high": 49, "promote": 12}),
        ("optimum-habana", {"low": 27, "high": 49, "promote": 12}),
        ("paddle:OD", {"low": 10 + 4}),
        ("paddle:O1", {"low": 10 + 4, "high": 45 + 8}),
        ("paddle:O2", {"low": 10 + 4, "high": 8}),
        ("onnxconverter", {"high": 28}),
        ("modelopt", {"high": 3}),
    ],
)
def test_built_in_lists_have_as_many_names_as_their_sources(system: str, counts: dict[str, int]) -> None:
    found = {str(cls): len(names(system, cls)) for cls in OperatorClass}
    assert {cls: count for cls, count in found.items() if count} == counts


@pytest.mark.parametrize(
    ("level", "published"),
    [
        ("O0", ("float32", "False", "None", "False", "1.0")),
        ("O1", ("None", "True", "None", "None", "dynamic")),
        ("O2", ("float16", "False", "True", "True", "dynamic")),
        ("O3", ("float16", "False", "False", "False", "1.0")),
    ],
)
def test_the_levels_of_apex_are_those_published(level: str, published: tuple[str, ...]) -> None:
    assert tuple(facts("apex")["levels"][level]["properties"].values()) == published


def test_the_levels_of_mindspore_are_those_published() -> None:
    levels = {name: tuple(level["properties"].values()) for name, level in facts("mindspore")["levels"].items()}
    assert levels == {
        "O0": ("False", "float32", "none"),
        "O1": ("False", "float32", "none"),
        "O2": ("True", "float16", "DynamicLossScaleManager()"),
        "O3": ("False", "float16", "none"),
        "auto": ("False", "float32", "none"),
    }


@pytest.mark.parametrize(("system", "cls"), [("apex:O1", "low"), ("apex-npu:O1", "follow")])
def test_bmm_is_low_for_apex_on_cuda_and_on_neither_list_on_an_npu(system: str, cls: str) -> None:
    listed = lists_of(system).deciding()
    assert {str(listed[name].cls) for name in ("bmm", "baddbmm", "addbmm")} == {cls}
    assert "CUDA 9.1" in str(listed["bmm"].note)


@pytest.mark.parametrize("name", ["rnn_relu", "rnn_tanh", "gru", "lstm", "lstm_cell", "gru_cell"])
def test_apex_runs_rnns_and_their_cells_low(name: str) -> None:
    assert lists_of("apex:O1").deciding()[name].cls is OperatorClass.LOW


@pytest.mark.process
def test_the_lists_are_read_from_a_zip(tmp_path: Path) -> None:
    package = DATA.parents[1]
    with ZipFile(tmp_path / "opsinfo.zip", "w") as archive:
        for path in package.rglob("*"):
            if path.suffix in (".py", ".json"):
                archive.write(path, path.relative_to(package.parent))
    code = "from opsinfo_cli.systems.registry import *; print(len(SYSTEMS), len(lists_of('apex').entries))"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "opsinfo.zip")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["19", "130"]


def test_apex_states_when_upstream_removed_it() -> None:
    assert "cb65b8ed of 2025-05-08" in facts("apex")["version"]


def test_optimum_habana_has_no_own_lists() -> None:
    own, bridge = lists_of("optimum-habana"), lists_of("habana-autocast")
    assert own.entries == bridge.entries


@pytest.mark.parametrize("name", ["sum.dim_IntList", "prod.dim_int", "norm.Scalar", "norm.ScalarOpt_dim",
                                  "linalg_matrix_norm.str_ord"])  # fmt: skip
def test_torch_npu_lists_these_overloads_as_float32(name: str) -> None:
    assert lists_of("torch-npu").deciding()[name].cls is OperatorClass.HIGH


def test_the_lower_list_of_habana_wins_over_fp32_and_that_over_promote() -> None:
    listed = lists_of("habana-autocast").deciding()
    assert [str(listed[name].cls) for name in ("mul", "div", "add")] == ["low", "high", "promote"]


def test_torch_npu_differs_from_upstream_as_known() -> None:
    npu, upstream = lists_of("torch-npu").deciding(), lists_of("torch-amp").deciding()
    stems = {name.partition(".")[0] for name in npu}
    more = {name.partition(".")[0] for name in upstream} - stems
    assert {name for name in more if "upsample" not in name} == {"linalg_vecdot", "vdot", "rms_norm"}
    assert len(more) == 15


@pytest.mark.parametrize("system", ["torch", "tensorflow", "onnx", "mindspore"])
def test_the_table_of_names_has_its_inverse(system: str) -> None:
    table = name_table(system)
    internal = (
        set(package_data("opsinfo_cli.core.cann", "mindspore_to_ascend")["internal"])
        if system == "mindspore"
        else set()
    )
    assert all(name in table.names[op] for name in table.ops.keys() - internal for op in table.ops[name])
    assert not internal & {name for names in table.names.values() for name in names}
    assert not set(table.unclear) & set(table.ops)


@pytest.mark.parametrize(("level", "unknown"), [("O1", 0), ("O2", 0), ("auto", 20)])
def test_the_names_of_mindspores_own_lists_are_known(level: str, unknown: int) -> None:
    """Of auto's 76 names 51 were unknown when the table was written by hand; 20 have no adapter and no expansion."""
    table = name_table("mindspore")
    listed = [entry.name for entry in lists_of(f"mindspore:{level}").entries]
    assert sum(name not in table.ops and name not in table.unclear for name in listed) == unknown


def test_the_table_of_mindspore_has_the_registrations_of_its_adapters() -> None:
    content = package_data("opsinfo_cli.core.cann", "mindspore_to_ascend")
    assert len(content["names"]) + sum(not name.startswith("nn.") for name in content["custom"]) == 933
    assert not content["names"].keys() & (set(content["custom"]) | content["composed"].keys())
    assert {each for made in content["composed"].values() for each in made} <= content["names"].keys()


def test_the_tables_shipped_for_tensorflow_and_onnx_are_complete() -> None:
    assert len(tensorflow_names()) == 885
    assert len(onnx_names()) > 300


@pytest.mark.parametrize(
    ("op_type", "forms"),
    [
        ("ReduceSum", {"ReduceSumD"}),
        ("ReduceMeanD", {"ReduceMean"}),
        ("BatchMatMul", {"BatchMatMulV2", "BatchMatMulV3"}),
        ("MatMulV3", {"MatMul", "MatMulV2"}),
        ("TopK", {"TopKD", "TopKV2", "TopKV2D"}),
        ("SpaceToBatchND", {"SpaceToBatchNDD"}),
        ("Conv3D", {"Conv3DV2"}),
        ("Conv2D", set()),
        ("SplitV", {"SplitVD"}),
        ("NoSuchOp", set()),
    ],
)
def test_the_forms_of_an_op_type(op_type: str, forms: set[str]) -> None:
    assert set(forms_of(op_type)) == forms


@pytest.mark.parametrize(
    ("name", "opset", "op_types"),
    [
        ("Gemm", None, ("MatMulV2",)),
        ("Clip", 9, ("ClipByValue",)),
        ("Clip", 13, ("ClipByValue",)),
        ("Pad", 9, ("PadV3", "MirrorPad")),
        ("Pad", 13, ("PadV3",)),
        ("Pad", None, ("PadV3", "MirrorPad")),
        ("LayerNormalization", 17, ("LayerNorm",)),
        ("LayerNormalization", 16, ()),
        ("ReduceLogSum", 13, ("ReduceSum", "Log")),
        ("ReduceLogSum", 12, ("ReduceSum", "Log")),
        ("ReduceLogSum", None, ("ReduceSum", "Log")),
        ("ScatterND", None, ("ScatterNdUpdate", "ScatterNdAdd", "ScatterNdMax", "ScatterNdMin")),
        ("ScatterND", 16, ("ScatterNdUpdate", "ScatterNdAdd", "ScatterNdMax", "ScatterNdMin")),
        ("Col2Im", 18, ("Col2ImV2",)),
        ("NPULstm", None, ("DynamicRNN",)),
        ("npu::NPULstmCell", None, ("DynamicRNNV2",)),
        ("NPUGru", 11, ("DynamicGRUV2",)),
        ("AveragePool", None, ("AvgPoolV2", "AvgPool3D")),
        ("Constant", None, ()),
        ("Relu", 19, ()),
        ("Transpose", None, ("Transpose",)),
        ("MatMul", 11, ("BatchMatMulV2",)),
        ("Squeeze", None, ("Squeeze", "SqueezeV3")),
        ("Squeeze", 11, ("Squeeze",)),
        ("Max", None, ("Maximum",)),
        ("Int8ConvRelu", None, ("Conv2D",)),
        ("Compress", None, ()),
        ("aten::adaptive_max_pool2d", 11, ("AdaptiveMaxPool2d",)),
    ],
)
def test_an_onnx_operator_at_an_opset(name: str, opset: int | None, op_types: tuple[str, ...]) -> None:
    table = name_table("onnx", opset)
    assert table.ops.get(name, ()) == op_types
    assert op_types or table.unclear[name]


def test_what_is_written_by_hand_about_expansions_is_in_the_table_of_plugins() -> None:
    written = package_data("opsinfo_cli.core.cann", "names")["systems"]["onnx"]
    assert [name for name, own in written["own"].items() if not set(own) <= set(onnx_names()[name])] == []
    built = {op_type for op_types in onnx_names().values() for op_type in op_types}
    assert set(package_data("opsinfo_cli.core.cann", "names")["plumbing"]) - built == set()
    assert not set(written["unclear"]) & set(onnx_names())


@pytest.mark.parametrize(("opset", "known"), [(7, "8-18"), (19, "8-18")])
def test_an_opset_without_a_plugin_names_those_that_have_one(opset: int, known: str) -> None:
    assert name_table("onnx", opset).unclear["TopK"] == f"not in opset {opset}; known in {known}"


def test_an_opset_of_an_onnx_operator_has_one_plugin() -> None:
    for rows in onnx_operators().values():
        assert sum(len(opsets) for opsets, _ in rows) == len(frozenset().union(*(opsets for opsets, _ in rows)))


def test_shared_op_types_of_an_expansion_belong_to_no_operator() -> None:
    table = name_table("onnx")
    assert table.plumbing["Gemm"] == ("Muls", "Add")
    plain = {name for (_, name), rows in onnx_operators().items() if any(len(op_types) == 1 for _, op_types in rows)}
    for name, ops in table.ops.items():
        if name not in plain and table.plumbing[name]:
            assert not {"Cast", "Identity", "Shape", "Muls", "Squeeze", "Unsqueeze"} & set(ops)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("apex:O9", "unknown-level"),
        ("mindspore", "usage"),
        ("habana-hmp:O2", "not-known"),
        ("torch-amp:O1", "unknown-level"),
        ("mixlist", "wrong-kind"),
        ("apx:O1", "unknown-system"),
    ],
)
def test_unknown_levels_and_systems_are_refused(text: str, word: str) -> None:
    with pytest.raises(UsageFault) as caught:
        lists_of(text)
    assert caught.value.name == word
