"""Conversions: the user's entries first, and every entry converted or reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conversion_check import marks_in, unaccounted
from habana_lists import BF16, FP32
from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.core.cann.library import Library, Operators, Store
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.name_tables import name_table
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.systems.conversion import Conversion, convert_lists
from opsinfo_cli.systems.facts import facts
from opsinfo_cli.systems.input_lists import of_mixlist, read_lists
from opsinfo_cli.systems.model_nodes import with_model
from opsinfo_cli.systems.registry import SYSTEMS, lists_of
from opsinfo_cli.systems.system import ConversionOptions
from opsinfo_cli.systems.vocabulary import ListEntry, OperatorClass, OperatorLists, ReadLists

WRITABLE = [system.name for system in SYSTEMS.values() if system.writes]
BUILT_IN = ["torch-npu", "torch-amp", "apex:O1", "tensorflow", "mindspore:auto", "habana-hmp", "paddle:O1"]


def library() -> Operators:
    """Every op type that a name of torch, TensorFlow or MindSpore becomes, all with both kernels, lists mixed."""
    tensor = {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND,ND"}
    flags: list[dict[str, object]] = [
        {},
        {"precision_reduce": {"flag": "true"}},
        {"precision_reduce": {"flag": "false"}},
    ]
    names = sorted({op for system in ("torch", "tensorflow", "mindspore") for op in name_table(system).names})
    content = {name: {"input0": tensor, "output0": tensor, **flags[n % 3]} for n, name in enumerate(names)}
    content |= {name: {"input0": tensor, "output0": tensor} for name in ("Muls", "BNInferenceD", "FullyConnection")}
    return Operators([Store([Library.of(Source(json.dumps(content).encode(), "lib.json"))])])


OPERATORS = library()
BASE = ConversionOptions(operators=OPERATORS, target="lib.json")


def read(system: str, *texts: str) -> ReadLists:
    return read_lists(SYSTEMS[system], [Source(text.encode(), f"f{number}") for number, text in enumerate(texts)])


def mixlist(text: object) -> Mixlist:
    return Mixlist(scan(Source(json.dumps(text).encode(), "m.json")))


def to_mixlist(found: ReadLists, with_defaults: bool = False) -> Conversion:
    return convert_lists(found, SYSTEMS["mixlist"], BASE._replace(with_defaults=with_defaults))


@pytest.mark.parametrize("to", WRITABLE)
@pytest.mark.parametrize("system", BUILT_IN)
def test_every_entry_of_a_built_in_list_is_converted_or_dropped_with_a_reason(system: str, to: str) -> None:
    lists = lists_of(system)
    made = convert_lists(ReadLists(lists), SYSTEMS[to], BASE)
    assert set(made.given) == {each.name for each in lists.entries}
    assert {each.name for each in made.entries.dropped} <= set(made.given)
    assert all(each.reason and each.reason != "other entries decide its op types" for each in made.entries.dropped)


@given(
    low=st.sets(st.sampled_from([*name_table("torch").ops, "t", "view", "no_such_op"]), max_size=12),
    high=st.sets(st.sampled_from([*name_table("torch").ops, "iadd", "nonsense"]), max_size=12),
)
def test_a_mixlist_expresses_or_reports_every_entry_of_two_lists(low: set[str], high: set[str]) -> None:
    made = to_mixlist(read("habana-autocast", "\n".join(sorted(low)), "\n".join(sorted(high))))
    wanted = {**dict.fromkeys(high, "high"), **dict.fromkeys(low, "low")}
    assert set(made.given) == set(wanted)
    assert unaccounted(made, wanted, OPERATORS) == []


@given(st.dictionaries(st.sampled_from(sorted(OPERATORS.names)), st.sampled_from(["black", "white"]), max_size=12))
def test_a_mixlist_through_keep_dtype_keeps_its_black_marks_and_names_the_rest(marks: dict[str, str]) -> None:
    lists = {
        f"{word}-list": {"to-add": [n for n, each in marks.items() if each == word]} for word in ("black", "white")
    }
    made = convert_lists(of_mixlist(mixlist(lists), OPERATORS), SYSTEMS["keep-dtype"], ConversionOptions())
    assert set(made.given) == set(marks)
    assert {each.name for each in made.entries.dropped} == {name for name, word in marks.items() if word == "white"}


def test_a_users_entry_overrides_a_built_in_one() -> None:
    own = {"autocast_bf16_ops": ["div", "mm"], "autocast_fp32_ops": ["softmax"]}
    marks = json.loads(to_mixlist(read("optimum-habana", json.dumps(own))).texts["ops_info.json"])
    assert "RealDiv" not in marks.get("black-list", {}).get("to-add", ())
    white = Mixlist(scan(Source(json.dumps(marks).encode(), "m.json"))).effective(
        "RealDiv", OPERATORS["RealDiv"].entry.policy
    )
    assert str(white) == "white"


def test_built_in_entries_are_translated_only_with_defaults() -> None:
    pair = read("habana-autocast", BF16["0.13.0 ResNet"].replace(" ", "\n"), FP32["0.13.0 ResNet"].replace(" ", "\n"))
    assert "Pow" not in marks_in(to_mixlist(pair).texts["ops_info.json"])
    assert "pow" not in to_mixlist(pair).given
    assert "pow" in to_mixlist(pair, with_defaults=True).given


def test_the_marks_of_a_mixlist_are_translated_and_the_library_only_with_defaults() -> None:
    found = of_mixlist(mixlist({"black-list": {"to-add": ["SoftmaxV2", "Nonsense"]}}), OPERATORS)
    made = convert_lists(found, SYSTEMS["habana-autocast"], ConversionOptions())
    assert made.texts == {"ops_bf16.txt": "", "ops_fp32.txt": "softmax\n"}
    assert made.given == ("Nonsense", "SoftmaxV2")
    assert [(each.name, each.reason) for each in made.entries.dropped] == [("Nonsense", "no source names it in torch")]
    assert set(convert_lists(found, SYSTEMS["habana-autocast"], ConversionOptions(with_defaults=True)).given) == {
        *OPERATORS.names,
        "Nonsense",
    }


def test_a_misspelled_name_is_dropped_with_a_suggestion() -> None:
    found = of_mixlist(mixlist({"black-list": {"to-add": ["matmulv2", "SoftmaxV2"]}}), OPERATORS)
    made = convert_lists(found, SYSTEMS["habana-autocast"], ConversionOptions())
    assert [each.reason for each in made.entries.dropped] == ["no source names it in torch; did you mean `MatMulV2`?"]


def test_a_mark_that_removes_needs_the_library() -> None:
    text = mixlist({"black-list": {"to-remove": ["Add"]}, "white-list": {"to-add": ["Mul"]}})
    alone = convert_lists(of_mixlist(text), SYSTEMS["habana-hmp"], ConversionOptions())
    assert [each.name for each in alone.entries.dropped] == ["Add"]
    assert "--against" in alone.entries.dropped[0].reason


def test_added_forms_are_listed_separately_and_those_without_a_kernel_left_out() -> None:
    tensor = {"name": "x", "paramType": "required", "format": "ND"}
    both, low = {**tensor, "dtype": "float16,float", "format": "ND,ND"}, {**tensor, "dtype": "float16"}
    content = {name: {"input0": both, "output0": both} for name in ("ReduceSum", "ReduceSumD", "SoftmaxV2")}
    content["SoftmaxV2WithDropOutDoMaskV3D"] = {"input0": low, "output0": low}
    operators = Operators([Store([Library.of(Source(json.dumps(content).encode(), "lib.json"))])])
    base = ConversionOptions(operators=operators, target="lib.json")
    made = convert_lists(read("habana-hmp", "mm\n", "sum\nsoftmax\n"), SYSTEMS["mixlist"], base)
    assert json.loads(made.texts["ops_info.json"]) == {
        "black-list": {"to-add": ["ReduceSum", "ReduceSumD", "SoftmaxV2"]}
    }
    assert made.added == ("ReduceSumD",)
    assert [(each.name, each.reason) for each in made.entries.dropped] == [("mm", "not an op type of lib.json")]


def test_blocking_gemm_does_not_move_add_and_muls() -> None:
    made = to_mixlist(read("onnxconverter", "op_block_list = ['Gemm']"))
    assert not {"Add", "Muls"} & marks_in(made.texts["ops_info.json"])
    assert (made.given, made.entries.dropped) == (("Gemm",), ())
    assert [loss.kind for loss in made.losses if "Gemm" in loss.names] == ["expansion"]


def test_a_name_on_two_lists_of_another_system_gets_one_class() -> None:
    made = to_mixlist(read("habana-autocast", "log2\n", "log\n"))
    assert [(each.name, each.reason) for each in made.entries.dropped] == [("log2", "Log is high because of log")]


def test_built_in_names_that_no_table_knows_are_few() -> None:
    """Detects a change of a list or a table that loses names."""
    known = name_table("tensorflow").ops
    names = [n for each in facts("tensorflow")["levels"]["ALL"]["lists"] for n in each["names"]]
    assert len([name for name in names if name not in known]) == 34


@pytest.mark.parametrize("low", ["float16", "bfloat16"])
def test_added_forms_have_a_kernel_of_the_dtype_of_the_lists(low: str) -> None:
    other = {"float16": "bfloat16", "bfloat16": "float16"}[low]
    tensor = {"name": "x", "paramType": "required", "format": "ND,ND"}
    columns = {"MatMul": other, "MatMulV2": other, "MatMulV3": low}
    content = {n: {"input0": {**tensor, "dtype": f"{dtype},float"}} for n, dtype in columns.items()}
    operators = Operators([Store([Library.of(Source(json.dumps(content).encode(), "lib.json"))])])
    lists = OperatorLists(
        system="some",
        names="tensorflow",
        entries=(ListEntry("MatMul", cls=OperatorClass.LOW),),
        unlisted="inputs",
        low=low,
    )
    made = convert_lists(
        ReadLists(lists), SYSTEMS["mixlist"], ConversionOptions(operators=operators, target="lib.json")
    )
    marked = marks_in(made.texts["ops_info.json"])
    named = {name for loss in made.losses if loss.kind == "no-kernel" for name in loss.names}
    assert "MatMulV3" in marked
    assert named == marked - {"MatMulV3"}  # those that the list names itself
    assert len(named) == 1


SCRIPT = "convert(m, op_block_list=['Exp'], node_block_list=['/a/Softmax', '/b/Div_1'])"


def test_node_names_are_lines_of_a_keep_dtype_file() -> None:
    made = convert_lists(read("onnxconverter", SCRIPT), SYSTEMS["keep-dtype"], ConversionOptions())
    assert made.texts["keep_dtype.cfg"].splitlines() == ["OpType::Exp", "/a/Softmax", "/b/Div_1"]
    assert made.entries.dropped == ()


@pytest.mark.parametrize(
    ("text", "lines", "dropped"),
    [
        ("autocast -ne '/enc/.*' -ope Exp", ["OpType::Exp"], ["/enc/.*"]),
        ("autocast --nodes_to_exclude /enc/Conv_9", ["/enc/Conv_9"], []),
        ("autocast -ne /a/Conv -ni /b/Conv", ["/a/Conv"], ["/b/Conv"]),
    ],
)
def test_a_pattern_of_node_names_needs_a_model(text: str, lines: list[str], dropped: list[str]) -> None:
    made = convert_lists(read("modelopt", text), SYSTEMS["keep-dtype"], ConversionOptions())
    assert made.texts["keep_dtype.cfg"].splitlines() == lines
    assert [each.name for each in made.entries.dropped] == dropped


def onnx_model(path: Path) -> str:
    onnx = pytest.importorskip("onnx")
    kinds = {"/a/Softmax": "Softmax", "/b/Softmax": "Softmax", "/b/Div_1": "Div", "/b/Div_10": "Div"}
    nodes = [onnx.helper.make_node(kind, ["x"] * (1 + (kind == "Div")), [name], name) for name, kind in kinds.items()]
    value = onnx.helper.make_tensor_value_info("x", 1, [2])
    graph = onnx.helper.make_graph(nodes, "g", [value], [onnx.helper.make_tensor_value_info("/b/Div_10", 1, [2])])
    onnx.save(onnx.helper.make_model(graph), path)
    return str(path)


@pytest.mark.parametrize(
    ("system", "text", "names", "types"),
    [
        ("onnxconverter", "f(node_block_list=['/a/Softmax', '/x'])", ["/a/Softmax"], ["Softmax"]),
        ("modelopt", "autocast -ne /b/Div_1", ["/b/Div_1", "/b/Div_10"], ["Div"]),
        ("modelopt", "autocast -ne '.*/Softmax$' -ope Exp", ["/a/Softmax", "/b/Softmax"], ["Softmax"]),
    ],
)
def test_a_model_says_which_nodes_and_op_types_names_mean(
    system: str, text: str, names: list[str], types: list[str], tmp_path: Path
) -> None:
    model = onnx_model(tmp_path / "m.onnx")
    found = read(system, text)
    own = [each.name for each in with_model(found, model, True).lists.own if each.scope == "node"]
    assert own == names
    of_types = with_model(found, model, False)
    assert [each.name for each in of_types.lists.own if each.name != "Exp"] == types
    kinds = {loss.kind: loss.names for loss in of_types.losses}
    assert kinds.get("not-a-name", ()) == (("/x",) if "/x" in text else ())
    assert ("broader" in kinds) == (len(names) == 1)


@pytest.mark.parametrize(
    ("system", "text", "made"),
    [
        ("onnxconverter", "op_block_list = ['Pow', 'ReduceMean']", "Square"),
        ("modelopt", "python -m modelopt.onnx.autocast --op_types_to_exclude Pow", "Square"),
        ("paddle", "auto_cast(custom_black_list=['elementwise_pow'])", "Square"),
        ("onnxconverter", "op_block_list = ['Div']", "Muls"),
        ("onnxconverter", "op_block_list = ['BatchNormalization']", "BNInferenceD"),
        ("onnxconverter", "op_block_list = ['Conv']", "FullyConnection"),
    ],
)
def test_what_the_compiler_makes_of_an_op_type_is_protected_with_it(system: str, text: str, made: str) -> None:
    converted = to_mixlist(read(system, text))
    assert made in marks_in(converted.texts["ops_info.json"])
    assert made in converted.added
