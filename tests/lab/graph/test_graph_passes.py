"""Passes that look at values, shapes, readers and chips: each condition as a small ONNX model, in ``passes.txt``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from case_support import entry_of, library_of
from onnx import numpy_helper, parser
from test_graph_fusions import LIBRARY, PATTERNS, pattern_graph

from opsinfo_cli.core.cann.library import Operators
from opsinfo_cli.lab.graph.fusions.fuse import RULES
from opsinfo_cli.lab.graph.fusions.rule import FusionGraph, FusionRule
from opsinfo_cli.lab.graph.fusions.toolkit_rules import json_rules
from opsinfo_cli.lab.graph.graph import ModelGraph
from opsinfo_cli.lab.graph.limits import fusion_limits
from opsinfo_cli.lab.graph.prepare import PreparedModel, prepare
from opsinfo_cli.lab.graph.readers import read_graph

FLOATS = "float,float16"
INPUTS = {
    1: "Square Muls Gelu LeakyRelu Erf Tanh Sqrt Relu ReduceMeanD ReduceSumD TransposeD SquareSumV1 "
    "ConfusionTransposeD",
    2: "Pow RealDiv Add Mul Sub Maximum Minimum",
    3: "ClipByValue BNInferenceD Conv2D Conv3D FullyConnection BatchMatMulV2 LayerNorm",
}
"""Op types by the number of their inputs."""
CASES = [
    line for line in (Path(__file__).parent / "passes.txt").read_text("utf-8").splitlines() if line and line[0] != "#"
]


def library() -> Operators:
    rows = {name: ([FLOATS] * (count + 1), count) for count, names in INPUTS.items() for name in names.split()}
    rows["LayerNorm"] = [FLOATS] * 6, 3
    rows["SplitV"] = [FLOATS, "int64,int64", "int32,int32", FLOATS, FLOATS], 3
    rows["ReduceMean"] = [FLOATS, "int32,int32", FLOATS], 2
    rows["SplitVD"] = [FLOATS] * 3, 1
    return library_of(
        {name: {**entry_of("", *row), "dynamicShapeSupport": {"flag": "true"}} for name, row in rows.items()}
    )


def constant(text: str) -> onnx.TensorProto:
    """``name[dims] = values`` of float32, or ``name:count = values`` of int64; one value fills the dimensions."""
    name, dims, count, values = re.fullmatch(r"(\w+)(?:\[(.*)\]|:(\d+))? = (.*)", text).groups()
    shape = [int(count)] if count else [int(each) for each in (dims or "").split(",") if each]
    numbers = np.array([float(each) for each in values.split(",")], "i8" if count else "f4")
    return numpy_helper.from_array(np.resize(numbers, prod(shape)).reshape(shape), name)


def model(folder: Path, text: str) -> ModelGraph:
    """The graph of ``shape; constants; nodes``; outputs are ``y`` and ``z``."""
    dims, *parts = text.split("; ")
    nodes = [part for part in parts if "(" in part]
    shape = ", ".join("N" if dim == "?" else dim for dim in dims.split("x"))
    outputs = ", ".join(f"float[] {name}" for name in ("y", "z") if any(re.match(rf"(y, )?{name}\b", n) for n in nodes))
    source = f"<ir_version: 8, opset_import: ['' : 13]> g (float[{shape}] x) => ({outputs}) {{ {' '.join(nodes)} }}"
    proto = parser.parse_model(source.replace("'", '"'))
    proto.graph.initializer.extend(constant(part) for part in parts if "(" not in part)
    for number, node in enumerate(proto.graph.node):
        node.name = f"{node.op_type}{number}"
    path = folder / "model.onnx"
    onnx.save(proto, path)
    return read_graph(str(path))


def prepared(made: ModelGraph, soc: str, *without: str) -> PreparedModel:
    return prepare(made, library(), soc=soc, no_fusion=without)


def types(made: PreparedModel) -> list[str]:
    return [node.type for node in made.fused.graph if node.type not in ("Data", "Const", "NetOutput")]


def parts_of(case: str) -> tuple[str, list[str], str, str]:
    """The pass of a line, its SoCs, its model and the op types after fusion."""
    head, text = case.split(": ", 1)
    name, chips = head.split(" ")
    text, _, expected = text.partition(" => ")
    names = {"910": "ascend910", "950": "ascend910_95"}
    return name, [names.get(chip, f"ascend{chip}") for chip in chips.split(",")], text, expected


@pytest.mark.parametrize("case", CASES)
def test_a_pass_keeps_its_conditions(tmp_path: Path, case: str) -> None:
    name, socs, text, expected = parts_of(case)
    made = model(tmp_path, text)
    for soc in socs:
        after = prepared(made, soc)
        assert types(after) == expected.split(), soc
        times = sum(each.name == name for each in after.fused.fusions)
        without = prepared(made, soc, name)
        assert bool(times) == (types(without) != types(after)) or name == "HostBNFusionPass"
        assert not any(each.name == name for each in without.fused.fusions)


def test_every_rule_takes_effect_in_a_line_that_names_it_or_in_a_pattern(tmp_path: Path) -> None:
    found = {each.name for pattern in PATTERNS for each in prepare(pattern_graph(pattern), LIBRARY).fused.fusions}
    for name, socs, text, _ in map(parts_of, CASES):
        found |= {name} & {each.name for soc in socs for each in prepared(model(tmp_path, text), soc).fused.fusions}
    assert [name for name in RULES if name not in found] == [], "add a case to passes.txt or fusions.txt"


def test_passes_run_in_the_order_of_the_engine() -> None:
    names = list(RULES)
    order = [
        *("DropOutPass", "AABiasaddConvFusion", "ConvBatchnormFusionPass", "ConstToAttrPass", "PadConv2dFusionPass"),
        *("PadFusionPass", "LayerNormONNXFusionPass", "BatchMatMulFusionPass", "GeluFusionPass", "GeluONNXFusionPass"),
        *("Pow2SquareFusionPass", "RealDiv2MulsFusionPass", "TBEConvAddFusion", "TransposeReshapeFusionPass"),
        *("SquareSumV1", "ClipFusionRule0", "ZConcatExt2FusionPass", "MatMulBiasAddFusionPass"),
        *("BatchNormBnInferFusionPass", "HostBNFusionPass"),
    ]
    assert [name for name in names if name in order] == order


def test_every_pass_has_a_source_and_a_text() -> None:
    assert [rule.name for rule in RULES.values() if not rule.source or not rule.text.endswith(".")] == []


def test_a_pass_on_a_chip_of_which_it_is_unknown_is_named_with_its_nodes(tmp_path: Path) -> None:
    made = model(tmp_path, "2x16; c = 8; y = Div(x, c)")
    after = prepare(made, library(), soc="ascend310").fused
    assert dict(after.not_applied) == {"RealDiv2MulsFusionPass": ["Div0"]}
    assert [each.kind for each in fusion_limits(after)] == ["fusions-not-applied"]
    (limit,) = fusion_limits(after)
    assert limit.message.endswith("RealDiv2MulsFusionPass (1 node: `Div0`)")


def test_what_the_host_computes_is_said_and_not_rounded(tmp_path: Path) -> None:
    text = "?x4x8x8; g[4] = 1; b[4] = 0; m[4] = 0; v[4] = 1e6; y = BatchNormalization(x, g, b, m, v)"
    made = prepared(model(tmp_path, text), "ascend910b")
    node = next(node for node in made.fused.graph if node.type == "BNInferenceD")
    assert node.origin is not None
    assert (list(node.origin.inputs), node.sources[1:]) == (["x", "", ""], (None, None))
    assert [each.kind for each in fusion_limits(made.fused)] == ["host-computed"]


def test_rules_of_an_older_source_are_said(tmp_path: Path) -> None:
    text = "2x16; a = .1; m = Mul(x, a); y = Max(m, x)"
    (limit,) = fusion_limits(prepared(model(tmp_path, text), "ascend910b").fused)
    assert (limit.kind, limit.nodes) == ("older-fusions", ("Mul0",))


ODD: list[Any] = [None, True, 0, -7, 1e99, "", "Relu", "n:-5", "n:9", [], [[]], [None], [7, "Relu"], {}, {"name": None}]


def odd_documents(document: Any) -> Iterator[tuple[Any, str]]:
    """A JSON document with each of its values replaced by each odd one, and left out."""

    def variants(value: Any) -> Iterator[tuple[Any, str]]:
        yield from ((odd, f"={odd!r}") for odd in ODD)
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            kept = value.copy()
            del kept[key]
            yield kept, f".{key} left out"
            for inner, where in variants(value[key]):
                changed = value.copy()
                changed[key] = inner
                yield changed, f".{key}{where}"

    return variants(document)


def test_json_rules_of_a_toolkit_are_read(tmp_path: Path) -> None:
    rule: dict[str, Any] = {
        "RuleName": "Own",
        "OuterInputs": [{"name": "a"}],
        "OuterOutputs": [{"name": "o"}],
        "OriginGraph": {
            "Nodes": [{"name": "n", "type": ["Sqrt", "Tanh"]}, {"name": "m", "type": ["Relu"]}],
            "Edges": [{"src": "a", "dst": "n:0"}, {"src": "n:0", "dst": "m:0"}, {"src": "m:0", "dst": "o"}],
        },
        "FusionGraph": {
            "Nodes": [{"name": "r", "type": ["Erf"]}],
            "Edges": [{"src": "a", "dst": "r:0"}, {"src": "r:0", "dst": "o"}],
        },
    }
    broken: list[Any] = [None, {"RuleName": "Broken", "OriginGraph": {}}]
    for edge in ({"src": "m:0", "dst": "n:0"}, {"src": "a", "dst": "q:0"}, {"src": "a", "dst": "n:x"}):
        before = {**rule["OriginGraph"], "Edges": [*rule["OriginGraph"]["Edges"], edge]}
        broken.append({**rule, "OriginGraph": before})
    broken.append({**rule, "FusionGraph": {**rule["FusionGraph"], "Edges": [{"src": "b", "dst": "r:0"}]}})
    assert json_rules({"Rules": broken}, "file") == json_rules([], "file") == []
    for odd, where in odd_documents({"Rules": [rule]}):
        for read in json_rules(odd, "file"):
            assert isinstance(read.name, str), where
            fused = prepared(model(tmp_path, "2x16; s = Sqrt(x); y = Relu(s)"), "ascend910b").fused.graph
            list(read.changes(FusionGraph(fused, lambda _: True)))
    (read,) = json_rules({"Rules": [rule]}, "file")
    assert isinstance(read, FusionRule)
    made = prepared(
        model(tmp_path, "2x16; s = Sqrt(x); r = Relu(s); t = Tanh(r); y = Relu(t); z = Relu(t)"), "ascend910b"
    )
    changes = list(read.changes(FusionGraph(made.fused.graph, lambda _: True)))
    assert [[part.type for part in each.parts] for each in changes] == [["Relu", "Sqrt"]]
    nodes = [{"name": "n", "type": ["Mul"]}, {"name": "m", "type": ["Relu"]}]
    edges = [*rule["OriginGraph"]["Edges"], {"src": "a", "dst": "n:1"}]
    (read,) = json_rules({"Rules": [{**rule, "OriginGraph": {"Nodes": nodes, "Edges": edges}}]}, "file")
    made = prepared(
        model(tmp_path, "2x16; e = Exp(x); s = Mul(x, x); y = Relu(s); t = Mul(x, e); z = Relu(t)"), "ascend910b"
    )
    changes = list(read.changes(FusionGraph(made.fused.graph, lambda _: True)))
    assert [[part.name for part in each.parts] for each in changes] == [["Relu2", "Mul1"]], "a square"


RULE = """
n Erf/Sqrt a; m Relu n; Erf a
 a node that became an inner type after the matches were found: 2x16; e = Sqrt(x); r = Relu(e); y = Relu(r) => 1
n Mul a,b; m Relu n; Add a,b
 all inputs: 2x16; s = Mul(x, x); e = Exp(x); t = Mul(e, x); y = Relu(t) => 1
n Sqrt a,b; m Relu n; Add a,b
 an input that the node lacks: 2x16; s = Sqrt(x); y = Relu(s) => 0
n Exp a; m Mul n,n; Square a
 one node that is read twice: 2x16; e = Exp(x); y = Mul(e, e) => 1
 two nodes, of which the second is read elsewhere too: 2x16; e = Exp(x); f = Exp(e); y = Mul(e, f); z = Relu(f) => 0
"""
"""Rules of a toolkit, ``name types inputs; ...; result inputs``, each with models and how often it takes effect."""


def rule_of(text: str) -> FusionRule:
    """The rule of a line of :data:`RULE`; its last node before the result yields the output."""
    *nodes, result = [part.split() for part in text.split("; ")]
    edges = [(source, f"{name}:{at}") for name, _, given in nodes for at, source in enumerate(given.split(","))]
    feeds = [(source, f"r:{at}") for at, source in enumerate(result[1].split(","))]

    def part(named: list[list[str]], pairs: list[tuple[str, str]], last: str) -> dict[str, Any]:
        return {
            "Nodes": [{"name": name, "type": types.split("/")} for name, types, *_ in named],
            "Edges": [{"src": source, "dst": end} for source, end in [*pairs, (last, "o")]],
        }

    before, after = part(nodes, edges, nodes[-1][0]), part([["r", result[0]]], feeds, "r")
    rule = {"RuleName": "Own", "OuterOutputs": [{"name": "o"}], "OriginGraph": before, "FusionGraph": after}
    (read,) = json_rules({"Rules": [rule]}, "file")
    return read


def test_a_rule_of_a_toolkit_matches_inputs_nodes_and_types_as_they_were(tmp_path: Path) -> None:
    rule: FusionRule | None = None
    for line in RULE.strip().splitlines():
        if not line.startswith(" "):
            rule = rule_of(line)
            continue
        assert rule is not None
        text, _, times = line.partition(": ")[2].partition(" => ")
        it = FusionGraph(prepared(model(tmp_path, text), "ascend910b").fused.graph, lambda _: True)
        found = 0
        for change in rule.changes(it):
            it.apply("Own", change)
            assert change.node is not None
            assert it.nodes[change.node.index].first_type == change.node.type, "another operator was none before"
            found += 1
        assert found == int(times), line


def test_a_pass_that_was_seen_on_a_chip_is_certain_there_alone() -> None:
    seen = [(rule, soc) for rule in RULES.values() for soc in rule.seen]
    assert seen
    for rule, soc in seen:
        assert (rule.confidence_on(soc), rule.confidence_on("ascend910b")) == ("high", rule.confidence)
    assert {rule.confidence for rule, _ in seen} != {"high"}
