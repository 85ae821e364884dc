"""The front end of ONNX: answers of the compiler's own parser, and the columns of two real libraries."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from corpus_place import CORPUS
from vector_support import VECTORS, places, vectors

from opsinfo_cli.core.cann.install import Install
from opsinfo_cli.core.cann.onnx_opsets import onnx_operators
from opsinfo_cli.core.cann.op_names import onnx_names
from opsinfo_cli.lab.graph.graph import ModelGraph, Producer
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers.framework_model import SourceGraph, SourceNode
from opsinfo_cli.lab.graph.readers.onnx_expansion import PLUGINS, find

onnx = pytest.importorskip("onnx")
numpy = pytest.importorskip("numpy")

from onnx import numpy_helper  # noqa: E402

from opsinfo_cli.lab.graph.readers.onnx import read_onnx  # noqa: E402

needs_vectors = pytest.mark.skipif(not (VECTORS / "onnx.jsonl.gz").exists(), reason="requires the corpus")


_CHOSEN = {
    **dict.fromkeys(("ArgMaxV2", "ArgMin", "Empty", "Multinomial", "Shape", "Size"), "dtype"),
    **dict.fromkeys(("RandomStandardNormal", "RandomUniform"), "dtype"),
    "Cast": "dst_type",
}
"""Op types with an attribute for the dtype of their output; without it, it is int32."""
_PARSED = ("Data", "Const", "NetOutput")


class _Read:
    """A graph as a tree of operators from its outputs, without names."""

    def __init__(self, graph: ModelGraph) -> None:
        self.graph = graph
        self.known: dict[int, Any] = {}
        main = graph.subgraphs[0].nodes
        output = next(node for node in graph if node.index in main and node.type == "NetOutput")
        self.outputs = [self.value(source) for source in output.sources if source]

    def value(self, source: Producer) -> Any:
        node = self.graph[source.node]
        if node.type == "Data":
            return "input", node.name
        if node.type != "Const":
            return self.operator(source.node), source.output
        tensor = node.outputs[0]
        return "const", tensor.dtype, tensor.shape, _values(node.weights, tensor.shape)

    def operator(self, index: int) -> Any:
        if index not in self.known:
            node = self.graph[index]
            inputs = [None if source is None else self.value(source) for source in node.sources]
            chosen = node.outputs[0].dtype if node.type in _CHOSEN else None
            self.known[index] = node.type, chosen, _shortened(inputs), self.bodies(index)
        return self.known[index]

    def bodies(self, owner: int) -> list[Any]:
        """The operators of the bodies of a node."""
        owned = [body.nodes for body in self.graph.subgraphs if body.parent == owner]
        nodes = [[self.graph[index] for index in body] for body in owned]
        return [
            sorted((node.type, len(_shortened(list(node.sources)))) for node in body if node.type not in _PARSED)
            for body in nodes
        ]


class _Answered:
    """The same of a vector."""

    def __init__(self, vector: dict[str, Any]) -> None:
        self.operators = {each["name"]: each for each in vector["operators"]}
        self.known: dict[str, Any] = {}
        self.outputs = [self.reference(each) for each in vector["graph_outputs"]]

    def value(self, given: dict[str, Any]) -> Any:
        if given["from"] is None:
            return None
        if given["from"] != "const":
            return self.reference(given["from"])
        values = given.get("value")
        if values is not None and given["dtype"] == "float16":
            values = numpy.array(values, "u2").view("f2")
        made = None if values is None else tuple(float(each) for each in values)
        return "const", given["dtype"], tuple(given["shape"]), made

    def reference(self, text: str) -> Any:
        if text.startswith("input:"):
            return "input", text[6:]
        name, _, output = text[3:].rpartition(":")
        if name not in self.known:
            found = self.operators[name]
            op_type = found["type"]
            chosen = found["attrs"].get(_CHOSEN[op_type], "int32") if op_type in _CHOSEN else None
            inputs = _shortened([self.value(each) for each in found["inputs"]])
            bodies = [
                sorted((each["type"], sum(given["from"] is not None for given in each["inputs"])) for each in body)
                for _, body in sorted(found.get("subgraphs", {}).items())
            ]
            self.known[name] = op_type, chosen, inputs, bodies
        return self.known[name], int(output)


def _values(weights: Any, shape: Any) -> Any:
    """The values of a constant, as many as the vectors have."""
    if weights is None:
        return ()
    values = numpy_helper.to_array(weights.tensor).reshape(-1)
    return tuple(float(each) for each in values) if values.size <= 32 else None


def _shortened(inputs: list[Any]) -> tuple[Any, ...]:
    while inputs and inputs[-1] is None:
        inputs.pop()
    return tuple(inputs)


@pytest.mark.parametrize(("folder", "family"), places("onnx"))
def test_models_become_what_the_compilers_front_end_makes_of_them(
    folder: Path, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Types, number and order of inputs, constants with dtype, shape and value, and refusals, before folding."""
    for step in ("prune", "fold", "fold_added"):
        monkeypatch.setattr(f"opsinfo_cli.lab.graph.readers.onnx.{step}", lambda *_: [])
    wrong: list[Any] = []
    for vector in vectors(family, folder):
        graph = read_onnx(io.BytesIO(base64.b64decode(vector["model_b64"])), vector["name"])
        if bool(vector["refused"]) != bool(graph.model.refused):
            wrong.append((vector["name"], vector["refused"], graph.model.refused))
        elif not vector["refused"] and _Read(graph).outputs != _Answered(vector).outputs:
            wrong.append((vector["name"], _Answered(vector).outputs, _Read(graph).outputs))
    assert wrong == []


@pytest.mark.parametrize(("folder", "family"), places("onnx"))
def test_the_names_of_op_types_are_those_that_the_compiler_gives_the_nodes(folder: Path, family: str) -> None:
    """``systems convert`` and ``validate`` read the table by name, the reader by node: one text serves both."""
    for vector in vectors(family, folder):
        model = onnx.load_from_string(base64.b64decode(vector["model_b64"]))
        nodes = [*model.graph.node, *(node for each in model.functions for node in each.node)]
        bodies = [at.g for node in model.graph.node for at in node.attribute if at.HasField("g")]
        nodes += [node for body in bodies for node in body.node]
        named = {op_type for node in nodes for op_type in onnx_names().get(node.op_type, ())}
        answered = {each["type"] for each in vector["operators"]} - {*_PARSED, "Constant"}
        assert vector["refused"] or answered <= named, vector["name"]


@pytest.mark.parametrize(
    ("attributes", "types"),
    [
        ({"dilations": [1, 1], "pads": [0, 0], "strides": [1, 1]}, ["Cast", "Col2ImV2"]),
        ({"dilations": [1, 1], "pads": [0, 0, 0, 0], "strides": [1, 1]}, []),
        ({"pads": [0, 0], "strides": [1, 1]}, []),
    ],
)
def test_col2im_is_built_where_its_plugin_takes_the_attributes(attributes: dict[str, Any], types: list[str]) -> None:
    values = [onnx.helper.make_tensor_value_info("x", 1, [1, 4, 4])]
    values += [onnx.helper.make_tensor_value_info(name, 7, [2]) for name in ("image", "block")]
    node = onnx.helper.make_node("Col2Im", ["x", "image", "block"], ["y"], "fold", **attributes)
    made = onnx.helper.make_graph([node], "g", values, [onnx.helper.make_tensor_value_info("y", 1, [1, 1, 3, 3])])
    model = onnx.helper.make_model(made, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=8)
    graph = read_onnx(io.BytesIO(model.SerializeToString()), "fold.onnx")
    assert bool(graph.model.refused) == (not types)
    assert not types or [node.type for node in graph if node.type not in _PARSED] == types


def test_the_tables_cover_the_keys_of_the_plugins() -> None:
    keys = {
        (domain, op, number)
        for (domain, op), rows in onnx_operators().items()
        for numbers, _ in rows
        for number in numbers
    }
    assert sum(domain == "ai.onnx" for domain, _, _ in keys) > 2300
    for op in ("Conv", "Gather", "ReduceMean", "LSTM", "Slice", "Resize"):
        assert {number for domain, name, number in keys if (domain, name) == ("ai.onnx", op)} >= {*range(10, 19)}
    assert not any(number > 18 for _, name, number in keys if not name.startswith(("Ascend", "NPUWeightQuant")))
    overlapping = [
        key
        for key, rows in onnx_operators().items()
        if sum(len(numbers) for numbers, _ in rows) > len({*()}.union(*(n for n, _ in rows)))
    ]
    assert overlapping == []


_GIVEN: dict[str, list[object]] = {
    "kernel_shape": [[3], [3, 3], [3, 3, 3], [16, 17], [300]],
    "pads": [[1, 1, 1, 1], [1, 1], []],
    "mode": ["nearest", "linear", "reflect"],
    "direction": ["LEFT", "RIGHT"],
    "reduction": ["none", "add", "max", "min"],
    "dtype": [1, 6, 2],
    "keepdims": [1, 0],
    "split": [[1, 1]],
    "num_outputs": [1],
    "alpha": [0.5],
    "stash_type": [1, 0],
    "hasBias": [1, 0],
    "axis": [0],
}
"""Values of attributes that decide what plugins build."""
_REQUIRED: dict[str, object] = {
    "blocksize": 2,
    **dict.fromkeys(("starts", "ends", "perm", "shape", "k", "axes", "depth", "iou_threshold", "output_height"), 1),
    **dict.fromkeys(("output_width", "spatial_scale", "size", "equation", "pooled_shape", "kernel_size", "to"), 1),
    **dict.fromkeys(("dilation", "padding", "stride", "featmap_sizes", "strides", "num_base_anchors", "dim"), 1),
    **dict.fromkeys(("max_shapes", "output_dim", "group_size", "pooled_height", "pooled_width", "paddings"), 1),
    "dilations": 1,
}


def _given(op: str) -> Iterator[dict[str, Any]]:
    """Attributes of an operator: what it requires, and each value and each two values that decide."""
    if op == "Col2Im":
        yield {name: [1, 1] for name in ("dilations", "pads", "strides")}
    pairs = [(name, value) for name, values in _GIVEN.items() for value in values]
    yield _REQUIRED
    for name, value in pairs:
        for other, second in pairs:
            yield {**_REQUIRED, name: value, other: second}


def test_the_table_of_names_is_what_the_plugins_build() -> None:
    """For each opset with a row, all op types of all cases, and no other; each plugin is met."""
    wrong, met = [], set()
    for (domain, op), rows in onnx_operators().items():
        for opsets, op_types in rows:
            found: set[str] = set()
            for given in _given(op) if op in PLUGINS else [{}]:
                for inputs in (1, 2, 3, 4) if op in PLUGINS else (1,):
                    met.add(op)
                    name = op if domain == "ai.onnx" else f"{domain}::{op}"
                    node = SourceNode("n", name, [f"x{at}" for at in range(inputs)], ["y"], attributes=given)
                    if inputs == 3:
                        node.inputs[1] = ""
                    key = "" if domain == "ai.onnx" else domain
                    made = find(SourceGraph("g", nodes=[node]), node, {key: min(opsets)})
                    found.update([made.type] if made.built is None else [step.type for step in made.built.steps])
                    found.discard(made.type if made.refused else "")
            if found != set(op_types):
                wrong.append((domain, op, sorted(opsets), sorted(found ^ set(op_types))))
    assert wrong == []
    assert met >= PLUGINS.keys()


_REFUSED = {
    "Cast": "a pair of dtypes, or equal dtypes, without a column",
    "BatchNorm": "in training, with statistics of unknown shape",
    "Pow": "an exponent of another dtype",
    "Reshape ascend910": "an unknown shape",
    **dict.fromkeys(("Add ascend910", "Mod", "OneHot"), "OneHot with indices of int64 or float32, or such a depth"),
    **dict.fromkeys(("ScatterNdAdd ascend910", "ScatterNdUpdate ascend910"), "indices of int64"),
    "PadV3 ascend910": "the model's paddings of int64",
    "StridedSlice ascend910": "that of MaxUnpool, and of slices with negative steps: no column for static shapes",
}
"""What AI Core refuses of floating-point numbers in models of tests, with the chip if it is one, and why the front
end is not at fault: the compiler refuses it too, and another engine computes it."""
_FLOATS = {"float32", "float16", "bfloat16"}


def _refused(models: Iterable[tuple[str, bytes]]) -> dict[str, set[str]]:
    """Nodes with floating-point numbers that AI Core refuses on the two chips, with the models that have them."""
    refused: dict[str, set[str]] = {}
    for soc in ("ascend910", "ascend910b"):
        operators = Install.open(str(CORPUS / soc.replace("ascend", "cann-") / "opp"), soc).operators
        for name, data in models:
            graph = read_onnx(io.BytesIO(data), name)
            answer = prepare(graph, operators, soc=soc).judge("mixed_float16")
            for row in [] if graph.model.refused else answer:
                node = answer.graph[row.index]
                is_floating = not _FLOATS.isdisjoint(tensor.dtype for tensor in (*node.inputs, *node.outputs))
                if (
                    row.code.startswith("refused")
                    and is_floating
                    and not {row.type, f"{row.type} {soc}"} & _REFUSED.keys()
                ):
                    refused.setdefault(f"{row.type} {soc}: {row.why}", set()).add(name)
    return refused


@needs_vectors
def test_the_libraries_accept_what_the_front_end_makes() -> None:
    models = [(each["name"], base64.b64decode(each["model_b64"])) for each in vectors("onnx") if not each["refused"]]
    assert _refused(models) == {}


@pytest.mark.parametrize(
    ("node", "why"),
    [
        ("ConvTranspose <kernel_shape = [3], output_shape = [9]> (x, w)", "output_shape and output_padding need"),
        ("ConvTranspose <kernel_shape = [3, 3, 3], output_padding = [1]> (x, w)", "output_shape and output_padding"),
        ("Conv <kernel_shape = [3, 3], pads = [1, 1, 1]> (x, w)", "pads must have an even number"),
        ("MaxPool <kernel_shape = [2, 2], storage_order = 1> (x)", "storage_order must be 0"),
        ("MaxPool <kernel_shape = [2, 2, 2, 2]> (x)", "kernel_shape must have one to three values"),
        ("DepthToSpace <blocksize = 1> (x)", "blocksize must be 2 or more"),
        ("Split <num_outputs = 1, split = [1, 1]> (x)", "as many values of split as outputs"),
        ("RandomNormalLike <dtype = 6> (x)", "dtype must be float32, float16 or float64"),
        ("NPURoiAlign <spatial_scale = 1.0, pooled_height = 2> (x, w)", "the attribute pooled_width is missing"),
    ],
)
def test_what_a_plugin_refuses_is_refused(node: str, why: str) -> None:
    head = '<ir_version: 8, opset_import: ["" : 18]> g (float[1,4,4,4] x, float[4,4,3,3] w) => (float[n] y)'
    model = onnx.parser.parse_model(f"{head} {{ y = {node} }}")
    graph = read_onnx(io.BytesIO(model.SerializeToString()), "model.onnx")
    assert [each.why.startswith(why) for each in graph.model.refused] == [True], graph.model.refused


def test_the_then_branch_is_the_first_body_whatever_the_files_order() -> None:
    """The first body decides the dtype of the result; files of the onnx package have the else branch first."""
    head = '<ir_version: 8, opset_import: ["" : 13]> g (bool c, float[3] x) => (float[3] y)'
    then = "then_branch: graph = t () => (float[3] a) { a = Add(x, x) }"
    other = "else_branch: graph = e () => (float[3] b) { b = Mul(x, x) }"
    for first, second in ((then, other), (other, then)):
        model = f"{head} {{ y = If (c) <{first}, {second}> }}"
        graph = read_onnx(io.BytesIO(onnx.parser.parse_model(model).SerializeToString()), "model.onnx")
        assert [graph[body.nodes.start + 1].type for body in graph.subgraphs[1:]] == ["Add", "Mul"]


_SMALLEST = [
    ("y = ConvTranspose <kernel_shape = [3, 3]> (x, w)", {"Conv2DTransposeD": "low"}),
    ("c = Conv <kernel_shape = [3, 3]> (x, w) y, z = Split <axis = 1> (c)", {"Conv2D": "low", "SplitD": "low"}),
    (
        "i = Constant <value = int64[1] {1}> () c = Conv <kernel_shape = [3, 3]> (x, w) y = Gather (c, i)",
        {"Conv2D": "low", "GatherV2": "low"},
    ),
    (
        "b = Constant <value = int64[1] {0}> () e = Constant <value = int64[1] {1}> () "
        "c = Conv <kernel_shape = [3, 3]> (x, w) s = Slice (c, b, e) y = Exp (s)",
        {"Conv2D": "low", "StridedSliceD": "low", "Exp": "low"},
    ),
    (
        "c = Conv <kernel_shape = [3, 3]> (x, w) y = GlobalAveragePool (c)",
        {"Conv2D": "low", "ReduceMeanD": "high"},
    ),
    ("m = ReduceMean <axes = [1]> (x) y = Exp (m)", {"ReduceMeanD": "high", "Exp": "high"}),
    ("c = Conv <kernel_shape = [3, 3]> (x, w) y = ArgMax <keepdims = 0> (c)", {"Conv2D": "low", "ArgMax": "low"}),
    ("y = GRU <hidden_size = 4> (r, u, v)", {"DynamicGRUV2": "low"}),
]
"""The smallest models of readings that were wrong, in opset 12: op types that begin so, and what they are judged."""


@needs_vectors
@pytest.mark.parametrize("soc", ["ascend910", "ascend910b"])
@pytest.mark.parametrize(("nodes", "expected"), _SMALLEST)
def test_the_smallest_models_are_judged_by_what_the_compiler_makes_of_them(
    nodes: str, expected: dict[str, str], soc: str
) -> None:
    inputs = "float[1,4,8,8] x, float[4,4,3,3] w, float[2,1,4] r, float[1,12,4] u, float[1,12,4] v"
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 12]> g ({inputs}) => (float[n] y) {{ {nodes} }}'
    )
    model.graph.output[0].ClearField("type")
    operators = Install.open(str(CORPUS / soc.replace("ascend", "cann-") / "opp"), soc).operators
    answer = prepare(read_onnx(io.BytesIO(model.SerializeToString()), "m"), operators, soc=soc).judge("mixed_float16")
    runs = {each.type: each.runs for each in answer if each.runs}
    assert {name: next((runs[each] for each in runs if each.startswith(name)), None) for name in expected} == expected
