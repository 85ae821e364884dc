"""The front end of ONNX: answers of the compiler's own parser, and the columns of two real libraries."""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest
from corpus_place import CORPUS
from vector_support import VECTORS, vectors

from opsinfo_cli.graph.graph import ModelGraph, Producer
from opsinfo_cli.graph.judging import prepare
from opsinfo_cli.graph.readers.onnx_expansion import CONDITIONS, VALUES, _plugins
from opsinfo_cli.model.install import Install

onnx = pytest.importorskip("onnx")
numpy = pytest.importorskip("numpy")

from onnx import numpy_helper  # noqa: E402

from opsinfo_cli.graph.readers.onnx import read_onnx  # noqa: E402

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


@needs_vectors
def test_models_become_what_the_compilers_front_end_makes_of_them() -> None:
    """Types, number and order of inputs, constants with dtype, shape and value, and refusals; 363 of 538 before."""
    wrong = []
    for vector in vectors("onnx"):
        graph = read_onnx(io.BytesIO(base64.b64decode(vector["model_b64"])), vector["name"], folded=False)
        if bool(vector["refused"]) != bool(graph.model.refused):
            wrong.append((vector["name"], vector["refused"], graph.model.refused))
        elif not vector["refused"] and _Read(graph).outputs != _Answered(vector).outputs:
            wrong.append((vector["name"], _Answered(vector).outputs, _Read(graph).outputs))
    assert wrong == []


def test_the_tables_cover_the_keys_of_the_plugins() -> None:
    keys = {
        (domain, op, number) for (domain, op), rows in _plugins().items() for numbers, _ in rows for number in numbers
    }
    assert sum(domain == "ai.onnx" for domain, _, _ in keys) > 2300
    for op in ("Conv", "Gather", "ReduceMean", "LSTM", "Slice", "Resize"):
        assert {number for domain, name, number in keys if (domain, name) == ("ai.onnx", op)} >= {*range(10, 19)}
    assert not any(number > 18 for _, name, number in keys if not name.startswith(("Ascend", "NPUWeightQuant")))
    overlapping = [
        key
        for key, rows in _plugins().items()
        if sum(len(numbers) for numbers, _ in rows) > len({*()}.union(*(n for n, _ in rows)))
    ]
    assert overlapping == []


def test_every_case_names_what_exists() -> None:
    cases = [case for rows in _plugins().values() for _, plugin in rows for case in plugin.cases]
    asked = {word.lstrip("!") for case in cases for word in case.conditions}
    assert asked >= CONDITIONS.keys()
    read = {text for case in cases for step in case.steps for text in step.inputs}
    computed = {text.partition("@")[2].rstrip("]") for text in read if "[@" in text or ":@" in text}
    assert computed == VALUES.keys()
    for case in cases:
        names: set[str] = set()
        for step in case.steps:
            words = {text.partition(":")[0] for text in step.inputs if text[0].isalpha() and "[" not in text}
            unknown = words - names - {"int32", "int64", "uint8", "float32", "float16"}
            assert not unknown, (step, unknown)
            names.add(step.name)


_AI_CPU = "data of integers: AI CPU computes it"
_REFUSED = {
    **dict.fromkeys(("Add", "Sub", "Mul", "RealDiv", "Mod", "Invert", "Equal", "Less", "Greater"), _AI_CPU),
    **dict.fromkeys(("ConcatD", "Split", "SplitVD"), _AI_CPU),
    "ArgMaxV2": "its result of int64, on ascend910: a fusion gives it int32 and a Cast",
    "BatchNorm": "in training, with float32 statistics of unknown shape",
    "Cast": "a pair of dtypes, or equal dtypes, without a column",
    "DynamicGRUV2": "sequence lengths, on columns that are assumed",
    "OneHot": "indices of int64",
    "PadV3": "paddings of int64: the model has them, or the columns are assumed",
    "Pow": "an exponent of another dtype",
    "ReduceMean": "the int64 axes of Globalavgpoolpass, on ascend910",
    "Reshape": "a dynamic shape, on ascend910",
    "Resize": "its sizes of int32, on columns that are assumed",
    "ScatterNdUpdate": "indices of int64, on ascend910",
    "StridedSlice": "the one of MaxUnpool, on ascend910",
}
"""Op types that AI Core refuses in the models below, and why the front end is not at fault."""


@needs_vectors
@pytest.mark.parametrize("soc", ["ascend910", "ascend910b"])
def test_the_libraries_accept_what_the_front_end_makes(soc: str) -> None:
    operators = Install.open(str(CORPUS / soc.replace("ascend", "cann-") / "opp"), soc).operators
    refused: dict[str, set[str]] = {}
    for vector in vectors("onnx"):
        if not vector["refused"]:
            graph = read_onnx(io.BytesIO(base64.b64decode(vector["model_b64"])), vector["name"])
            for row in prepare(graph, operators, columns=("library", "assumed")).judge("mixed_float16"):
                if "refused" in row.why:
                    refused.setdefault(row.type, set()).add(vector["name"])
    assert {op_type: names for op_type, names in refused.items() if op_type not in _REFUSED} == {}


@pytest.mark.parametrize(
    ("node", "why"),
    [
        ("ConvTranspose <kernel_shape = [3], output_shape = [9]> (x, w)", "output_shape and output_padding need"),
        ("ConvTranspose <kernel_shape = [3, 3, 3], output_padding = [1]> (x, w)", "output_shape and output_padding"),
        ("Conv <kernel_shape = [3, 3], pads = [1, 1, 1]> (x, w)", "pads must have an even number"),
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
