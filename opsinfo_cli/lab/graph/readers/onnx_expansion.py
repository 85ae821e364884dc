"""ONNX operators as CANN's front end builds them: makes nodes of what ``onnx_plugins`` build for an operator.

The node that is the operator itself keeps its name; the others have its name and their own. Values that exist only
between them are named after the node that yields them. Nodes that no output of the operator needs are left out: the
compiler removes them.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple

from ....core.cann.onnx_opsets import DEFAULT_DOMAIN, onnx_op_types
from ....errors import Damaged
from ..dtypes import ONNX
from ..graph import UNKNOWN, GraphTensor, Weights
from . import onnx_plugins
from .framework_model import SourceGraph, SourceNode, constant
from .onnx_operator import MAIN, OUTPUT, Constant, Copy, ExpansionStep, From, OnnxOperator, RefusedByPlugin

if TYPE_CHECKING:
    from typing import Any

    from .onnx_operator import Input, OnnxPlugin

_SAME_SHAPE = {"Identity", "Cast", "Muls", "Adds", "Abs", "Power", "Log", "Rsqrt", "Relu", "Threshold", "TensorMove"}
"""Op types that plugins build and whose result has the shape of their first input; by hand, and of the others the shape
is unknown."""
_RESULT_SHAPE = {"Maximum", "Minimum", "MatMulV2", "AccumulateNV2", "Add", "Mul", "Div"}
"""Op types that, as the operator itself, have the shape of its result also between the nodes; likewise."""
_UNCHANGED = {"Identity", "Unsqueeze", "Squeeze", "Reshape", "ExpandDims"}
"""Op types whose result has the values of their first input: of a constant they are one."""
_FOLDED = {"Shape", "Size", "Cast", "Mul", "Add", "Sub", "Rsqrt", "Fill", "Slice", "Transpose", "GatherV2", "Range"}
"""Op types that the compiler computes from constants (hicann/ge ffdcbc9f, compiler/host_kernels)."""


PLUGINS: dict[str, OnnxPlugin] = {
    op: plugin
    for module in iter_modules(onnx_plugins.__path__, f"{onnx_plugins.__name__}.")
    for op, plugin in import_module(module.name).PLUGINS.items()
}
"""The plugins that build nodes or refuse some, by operator."""


class Translation(NamedTuple):
    """How the front end translates a node.

    :param type: of the one node that it becomes; empty if it becomes several
    :param refused: why atc refuses the model; empty if it does not
    """

    type: str = ""
    built: OnnxOperator | None = None
    refused: str = ""


def find(graph: SourceGraph, node: SourceNode, opsets: dict[str, int]) -> Translation:
    """Return how the front end translates a node."""
    domain, _, op = node.op.rpartition("::")
    key = (domain or DEFAULT_DOMAIN, opsets.get(domain, 1), op)
    op_types = onnx_op_types(*key)
    name = "::".join(map(str, key))
    if not op_types:
        return Translation(name, refused=f"no plugin for {name}")
    plugin = PLUGINS.get(op)
    if plugin is not None:
        built = OnnxOperator(graph, node, key[1])
        try:
            plugin(built)
        except RefusedByPlugin as reason:
            return Translation(name, refused=str(reason))
        if built.steps:
            return Translation(built=built)
    return Translation(op_types[0])


def expand(built: OnnxOperator, path: str) -> list[SourceNode]:
    """Return the nodes that replace an operator, with their types; the operator's own node is one of them.

    :raises Damaged: if an attribute is not a number of the dtype that it has as a constant
    """
    return _Expansion(built, path).run()


class _Expansion:
    def __init__(self, built: OnnxOperator, path: str) -> None:
        self.built = built
        self.graph = built.graph
        self.node = built.node
        self.path = path
        self.given = list(built.node.inputs)
        self.results = list(built.node.outputs)
        self.made: list[SourceNode] = []
        self.values: dict[str, list[str]] = {}
        self.measured: dict[str, tuple[int, ...] | None] = {}
        """By result of a Shape, the shape that it gives."""
        self.most_outputs = 1

    def run(self) -> list[SourceNode]:
        steps = self.built.steps
        results = self.built.results or (steps[-1].name, *(f"{MAIN}:{at}" for at in range(1, len(self.results))))
        wanted = dict(zip(results, self.results, strict=False))
        needed = {name.partition(":")[0] for name, value in wanted.items() if value} | {MAIN}
        kept: list[ExpansionStep] = []
        for step in reversed(steps):
            if step.name in needed:
                kept.insert(0, step)
                needed.update(text.partition(":")[0] for text in step.inputs if isinstance(text, str))
        read = {text for step in kept for text in step.inputs if isinstance(text, str)}
        self.most_outputs += max((int(text.partition(":")[2] or 0) for text in (*wanted, *read)), default=0)
        for step in kept:
            inputs = [value for read_input in step.inputs for value in self._inputs(read_input, step)]
            self._add(step, inputs, wanted, read)
        return self.made

    def _add(self, step: ExpansionStep, inputs: list[str], wanted: dict[str, str], read: set[str]) -> None:
        """Add the node of a step.

        :param wanted: the operator's own results, by reference
        :param read: the references that other steps read
        """
        graph, is_main = self.graph, step.name == MAIN
        name = self.node.name if is_main else f"{self.node.name}_{step.name}"
        first = graph.tensor(next(iter(inputs), ""))
        result = graph.tensor(self.results[0]) if self.results else UNKNOWN
        dtype = result.dtype if step.dtype == OUTPUT or (is_main and not step.dtype) else step.dtype or first.dtype
        shape = None  # of values between the nodes, as far as it is known
        if step.type in _SAME_SHAPE:
            shape = first.shape
        elif step.type == "Shape":
            shape = None if first.shape is None else (len(first.shape),)
        elif step.type == "BroadcastTo":
            shape = self.measured.get(inputs[1])
        elif is_main and step.type in _RESULT_SHAPE and len(self.results) == 1:
            shape = result.shape
        outputs: list[str] = []
        for at in range(self.most_outputs):
            reference = f"{step.name}:{at}" if at else step.name
            value = wanted.get(reference, "")
            if not value and reference in read:
                value = f"{name}:{at}" if at else f"{name}:inner" if is_main else name
                graph.tensors[value] = GraphTensor(dtype, shape=shape)
                if step.type == "Shape":
                    self.measured[value] = first.shape
            elif value and step.dtype and not at:
                graph.tensors[value] = graph.tensor(value)._replace(dtype=dtype)
            outputs.append(value)
        while outputs and not outputs[-1]:
            outputs.pop()
        self.values[step.name] = outputs
        if is_main:
            self.node.type, self.node.inputs, self.node.outputs = step.type, inputs, outputs
            self.made.append(self.node)
        else:
            self._append(name, step.type, inputs, outputs)

    def _inputs(self, input: Input, step: ExpansionStep) -> list[str]:
        """Return the values that a step reads for an input, mostly one."""
        match input:
            case None:
                return [""]
            case int():
                return self.given[input : input + 1] or [""]
            case From():
                return self.given[input.input :]
            case str():
                name, _, output = input.partition(":")
                return [self.values[name][int(output or 0)]]
            case Copy() if not self.built.has(input.input):
                return [self._made_constant(step, "float32", [])]
            case Copy():
                source, name = self.given[input.input], f"{self.node.name}_{input.name}"
                self.graph.tensors[name] = self.graph.tensor(source)
                self._append(name, "Identity", [source], [name])
                return [name]
            case Constant(dtype, value):
                if dtype == OUTPUT:
                    dtype = self.graph.tensor(self.results[0]).dtype or "float32"
                return [self._made_constant(step, dtype, value)]

    def _append(self, name: str, op_type: str, inputs: list[str], outputs: list[str]) -> None:
        extra, number = {"source": self.node.name}, self.node.number
        self.made.append(SourceNode(name, op_type, inputs, outputs, number=number, extra=extra, type=op_type))

    def _made_constant(self, step: ExpansionStep, dtype: str, value: Any) -> str:
        from onnx import helper

        values = value if isinstance(value, list) else [value]
        name = f"{self.node.name}_{'' if step.name == '*' else step.name}const{len(self.made)}"
        shape = (len(values),) if isinstance(value, list) else ()
        made = constant(self.graph, name, dtype, shape)
        try:
            if "int" in dtype or dtype == "bool":
                values = [int(number) for number in values]
            tensor = helper.make_tensor(name, ONNX.index(dtype), shape, values)
        except (ValueError, OverflowError):  # NaN, infinity, or a number that the dtype has not
            message = f"`{self.node.name}` ({self.node.op}): an attribute is not a number of {dtype}"
            raise Damaged(message, name="damaged-model", path=self.path) from None
        made.weights = Weights(self.path, tensor=tensor)
        self.made.append(made)
        return name


def fold_added(graph: SourceGraph) -> None:
    """Fold the nodes that expansions added, where they depend on constants only; remove an Identity between others."""
    constants = {value for node in graph.nodes if node.type == "Const" for value in node.outputs}
    instead: dict[str, str] = {}
    kept: list[SourceNode] = []
    results = set(graph.outputs)
    for node in graph.nodes:
        if instead:
            node.inputs = [instead.get(value, value) for value in node.inputs]
        fed = [value for value in node.inputs if value]
        is_added = "source" in node.extra and bool(fed) and results.isdisjoint(node.outputs)
        shaped = node.type == "Shape" and all(dim >= 0 for dim in graph.tensor(fed[0]).shape or (-1,)) if fed else False
        is_inner = node.outputs == [node.name]
        if is_added and is_inner and (node.type == "Identity" or (node.type in _UNCHANGED and fed[0] in constants)):
            instead[node.outputs[0]] = fed[0]
        elif is_added and (shaped or (node.type in _FOLDED and constants.issuperset(fed))):
            constants.update(node.outputs)
            kept.append(
                SourceNode(node.name, "Const", [], node.outputs, number=node.number, extra=node.extra, type="Const")
            )
        else:
            kept.append(node)
    if instead:
        for node in kept:
            node.inputs = [instead.get(value, value) for value in node.inputs]
    read = {value for node in kept for value in node.inputs} | results
    graph.nodes = [node for node in kept if "source" not in node.extra or not read.isdisjoint(node.outputs)]
