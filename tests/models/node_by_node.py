"""A model computed one node at a time, rounded by arithmetic of this file: the reference for simulations.

It shares nothing with the simulation but the judge, and onnxruntime's kernels, unless it uses those of onnx's reference
evaluator: dtypes are looked up by the names of nodes, bodies are walked here, and rounding is done with integers and
with rint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from opsinfo_cli.lab.graph.result import Answer

LOW = ("float16", "bfloat16")
MADE_FIRST = {"Conv2DTranspose": 1, "Conv3DTranspose": 1}
"""Inputs that the compiler adds before those of the model: `input_size`."""
WRONG_IN_REFERENCE = ("BatchNormalization", "GlobalMaxPool")
"""What onnx 1.23 computes wrongly: as in training up to opset 13, and without the reduced dimensions."""
Values = dict[str, Any]


def to_float16(array: Any) -> Any:
    """The nearest float16, ties to even, from exact arithmetic in float64."""
    x = array.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        exponent = np.maximum(np.frexp(np.where(np.isfinite(x), x, 0))[1] - 1, -14)
        unit = np.ldexp(1.0, exponent - 10)
        near = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
        return np.where(np.abs(near) > 65504, np.copysign(np.inf, x), near).astype(np.float32)


def to_bfloat16(array: Any) -> Any:
    """The nearest bfloat16, ties to even, from the bits of float32."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    near = rounded.astype(np.uint32).view(np.float32).reshape(np.shape(array))
    return np.where(np.isnan(array), array, near)


ROUND: dict[str, Callable[[Any], Any]] = {"float16": to_float16, "bfloat16": to_bfloat16}


def rounded(value: Any, dtype: str | None) -> Any:
    return ROUND[dtype](value) if dtype in ROUND and getattr(value, "dtype", None) == np.float32 else value


def unit_of(values: Any, dtype: str | None) -> Any:
    """One unit in the last place of each value in a dtype."""
    bits, least = {"float16": (10, -14), "bfloat16": (7, -126)}.get(dtype or "", (23, -126))
    finite = np.where(np.isfinite(values), values, 0).astype(np.float64)
    return np.ldexp(1.0, np.maximum(np.frexp(finite)[1] - 1, least) - bits)


class NodeByNode:
    """Computes the nodes of one model with the dtypes of an answer.

    :param by_reference: with the kernels of onnx's reference evaluator
    """

    def __init__(self, model: onnx.ModelProto, answer: Answer | None, by_reference: bool = False) -> None:
        self.model = model
        self.answer = answer
        self.by_reference = by_reference
        self._sessions: dict[bytes, ort.InferenceSession | ReferenceEvaluator] = {}

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        """The model's outputs."""
        values = {**{each.name: numpy_helper.to_array(each) for each in self.model.graph.initializer}, **feeds}
        self.graph(self.model.graph, values)
        return [values[each.name] for each in self.model.graph.output]

    def graph(self, graph: onnx.GraphProto, values: Values) -> None:
        """Compute a graph; its values are added."""
        values.update({each.name: numpy_helper.to_array(each) for each in graph.initializer})
        for node in graph.node:
            values.update(zip(node.output, self.node(node, values), strict=False))

    def node(self, node: onnx.NodeProto, values: Values) -> list[Any]:
        """The outputs of one node, rounded as it stores them."""
        if node.op_type == "Constant":
            return [constant(node)]
        before, after = self.dtypes(node)
        given = [rounded(values[name], dtype) if name else None for name, dtype in zip(node.input, before, strict=True)]
        if node.op_type == "If":
            body = branch(node, bool(np.ravel(np.asarray(given[0]))[0]))
            inner = dict(values)
            self.graph(body, inner)
            found = [inner[each.name] for each in body.output]
        else:
            found = self._kernel(node, given)
        return [rounded(value, dtype) for value, dtype in zip(found, after, strict=True)]

    def dtypes(self, node: onnx.NodeProto) -> tuple[list[str | None], list[str | None]]:
        """The dtypes of a node's inputs and outputs; None if unknown."""
        nothing: tuple[list[str | None], list[str | None]] = [None] * len(node.input), [None] * len(node.output)
        found = self.answer.find(node.name) if self.answer else None
        if found is None or not found.judged:
            return nothing
        inputs = list(found.inputs[MADE_FIRST.get(found.type, 0) :])
        hosted = self.answer.graph[found.index].attributes.get("host_inputs", ()) if self.answer else ()
        if hosted:  # what the host computes is not rounded
            inputs = inputs[: min(hosted)]  # type: ignore[call-overload]
        return [*inputs, *nothing[0]][: len(node.input)], [*found.outputs, *nothing[1]][: len(node.output)]

    def _kernel(self, node: onnx.NodeProto, given: list[Any]) -> list[Any]:
        bare = onnx.NodeProto()
        bare.CopyFrom(node)
        names = [f"i{at}" if value is not None else "" for at, value in enumerate(given)]
        del bare.input[:], bare.output[:]
        bare.input.extend(names)
        bare.output.extend(f"o{at}" if name else "" for at, name in enumerate(node.output))
        kinds = [helper.np_dtype_to_tensor_dtype(value.dtype) if value is not None else 0 for value in given]
        key = bare.SerializeToString() + bytes(kinds)
        if key not in self._sessions:
            inputs = [helper.make_tensor_value_info(n, k, None) for n, k in zip(names, kinds, strict=True) if n]
            outputs = [onnx.ValueInfoProto(name=name) for name in bare.output if name]
            made = helper.make_model(
                helper.make_graph([bare], "one", inputs, outputs), opset_imports=self.model.opset_import, ir_version=8
            )
            if self.by_reference and node.op_type not in WRONG_IN_REFERENCE:
                self._sessions[key] = ReferenceEvaluator(made)
            else:
                self._sessions[key] = ort.InferenceSession(
                    made.SerializeToString(), options(), ["CPUExecutionProvider"]
                )
        feeds = {name: value for name, value in zip(names, given, strict=True) if name}
        found = iter(self._sessions[key].run(None, feeds))
        return [np.asarray(next(found)) if name else None for name in node.output]


def options() -> ort.SessionOptions:
    made = ort.SessionOptions()
    made.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    made.intra_op_num_threads, made.log_severity_level = 1, 4
    return made


def constant(node: onnx.NodeProto) -> Any:
    value = helper.get_attribute_value(node.attribute[0])
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def branch(node: onnx.NodeProto, chosen: bool) -> onnx.GraphProto:
    """The body of an If that is computed."""
    name = "then_branch" if chosen else "else_branch"
    found: onnx.GraphProto = next(each.g for each in node.attribute if each.name == name)
    return found
