"""ONNX operators as CANN's front end builds them: applies the plugins of ``core.cann.onnx_plugins`` to nodes.

The node that is the operator itself keeps its name; the others have its name and their own. Values that exist only
between them are named after the node that yields them. Nodes that no output of the operator needs are left out: the
compiler removes them.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ....core.cann import onnx_rules as rules
from ....core.cann.onnx_plugins import DEFAULT_DOMAIN, plugin_of
from ....errors import Damaged
from ..dtypes import ONNX
from ..graph import UNKNOWN, GraphTensor, Weights
from .framework_model import SourceGraph, SourceNode, constant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

_SAME_SHAPE = {"Identity", "Cast", "Muls", "Adds", "Abs", "Power", "Log", "Rsqrt", "Relu", "Threshold", "TensorMove"}
"""Op types whose result has the shape of their first input."""
_RESULT_SHAPE = {"Maximum", "Minimum", "MatMulV2", "AccumulateNV2", "Add", "Mul", "Div"}
"""Op types that, as the operator itself, have the shape of its result also between the nodes."""
_MOST_OUTPUTS = 8
_UNCHANGED = {"Identity", "Unsqueeze", "Squeeze", "Reshape", "ExpandDims"}
"""Op types whose result has the values of their first input: of a constant they are one."""
_FOLDED = {"Shape", "Size", "Cast", "Mul", "Add", "Sub", "Rsqrt", "Fill", "Slice", "Transpose", "GatherV2", "Range"}
"""Op types that the compiler computes from constants (hicann/ge ffdcbc9f, compiler/host_kernels)."""


class OnnxOperator(NamedTuple):
    """A node, and its graph before translation."""

    graph: SourceGraph
    node: SourceNode
    defaults: Mapping[str, int | float | str]

    def ints(self, name: str) -> list[int]:
        value = self.node.attributes.get(name)
        return [int(number) for number in value] if isinstance(value, list) else []

    def number(self, name: str, default: float) -> float:
        value = self.node.attributes.get(name, default)
        return value if isinstance(value, (int, float)) else default

    def word(self, name: str, default: str) -> str:
        return str(self.node.attributes.get(name, default))

    def has(self, at: int) -> bool:
        return at < len(self.node.inputs) and bool(self.node.inputs[at])

    @property
    def dims(self) -> int:
        """The number of dimensions of a kernel, from the attributes alone, as the plugins count."""
        lists = [self.ints(name) for name in ("kernel_shape", "strides", "dilations")]
        counted = next((len(numbers) for numbers in lists if numbers), len(self.ints("pads")) // 2)
        return 3 if counted > 3 else counted


def _is_large(it: OnnxOperator) -> bool:
    """A kernel or stride that the pooling of AI Core does not take."""
    return prod(it.ints("kernel_shape")) > 255 or any(stride > 63 for stride in it.ints("strides"))


def _is_output_short(it: OnnxOperator) -> bool:
    """An output_shape or output_padding with fewer values than dimensions, of which there are two at least."""
    dims, shape, padding = max(it.dims, 2), len(it.ints("output_shape")), len(it.ints("output_padding"))
    return 0 < shape < dims or 0 < (2 if padding == 1 else padding) < dims


def _size_along_axis(it: OnnxOperator) -> int:
    shape, axis = it.graph.tensor(it.node.inputs[0]).shape or (), int(it.number("axis", 0))
    return shape[axis] if -len(shape) <= axis < len(shape) else 0


CONDITIONS: dict[str, Callable[[OnnxOperator], bool]] = {
    "0d": lambda it: not 1 <= len(it.ints("kernel_shape")) <= 3,
    "1d": lambda it: it.dims == 1,
    "3d": lambda it: it.dims == 3,
    "odd_pads": lambda it: len(it.ints("pads")) % 2 == 1,
    "other_pads": lambda it: len(it.ints("pads")) not in (0, 2 * len(it.ints("kernel_shape"))),
    "short_output": _is_output_short,
    "large": _is_large,
    "padded": lambda it: any(it.ints("pads")),
    "same_padding": lambda it: it.word("auto_pad", "NOTSET") not in ("NOTSET", "VALID"),
    "nearest": lambda it: it.word("mode", "nearest") == "nearest",
    "not_interpolating": lambda it: it.word("mode", "nearest") not in ("linear", "cubic"),
    "not_pairs": lambda it: any(len(it.ints(name)) != 2 for name in ("dilations", "pads", "strides")),
    "other_selu": lambda it: (
        abs(it.number("alpha", 1.67326) - 1.67326) > 1e-5 or abs(it.number("gamma", 1.0507) - 1.0507) > 1e-5
    ),
    "wrong_split": lambda it: len(it.ints("split")) != len(it.node.outputs),
    "wrong_outputs": lambda it: int(it.number("num_outputs", 0)) != len(it.node.outputs),
    "uneven": lambda it: _size_along_axis(it) % len(it.node.outputs) != 0,
    "not_float_dtype": lambda it: it.number("dtype", 1) not in (1, 10, 11),
    "not_half_dtype": lambda it: it.number("dtype", 1) not in (1, 10),
}
"""What a case may ask of a node beyond its attributes and inputs."""


def _pairs(values: Sequence[int]) -> list[int]:
    """Return begins and ends of all axes as begin and end of each."""
    half = len(values) // 2
    return [number for pair in zip(values[:half], values[half:], strict=False) for number in pair]


def _nhwc_paddings(it: OnnxOperator) -> list[int]:
    return [0, 0, *[*_pairs(it.ints("pads")), 0, 0, 0, 0][:4], 0, 0]


def _unpool_rest(it: OnnxOperator) -> list[int]:
    kernel = it.ints("kernel_shape")
    pads = it.ints("pads") or [0] * 2 * len(kernel)
    return [0, 0, *(pads[at] + pads[at + len(kernel)] - size for at, size in enumerate(kernel))]


VALUES: dict[str, Callable[[OnnxOperator], Any]] = {
    "pads": lambda it: _pairs(it.ints("pads")),
    "paddings": _nhwc_paddings,
    "unpool_sub": lambda it: [0, 0] + [1] * len(it.ints("kernel_shape")),
    "unpool_strides": lambda it: [1, 1, *(it.ints("strides") or [1] * len(it.ints("kernel_shape")))],
    "unpool_rest": _unpool_rest,
    "even": lambda it: [_size_along_axis(it) // len(it.node.outputs)] * len(it.node.outputs),
    "range": lambda it: it.number("high", 1.0) - it.number("low", 0.0),
    "num_gts": lambda it: [int(it.number("num_gts", 128))],
    "scale": lambda it: it.number("Y_scale", 1.0),
}
"""Values of constants that are computed."""


class Translation(NamedTuple):
    """How the front end translates a node.

    :param case: what it becomes; None: one node of the type
    :param refused: why atc refuses the model; empty if it does not
    """

    type: str = ""
    case: rules.Case | None = None
    refused: str = ""


def find(graph: SourceGraph, node: SourceNode, opsets: dict[str, int]) -> Translation:
    """Return how the front end translates a node."""
    domain, _, op = node.op.rpartition("::")
    key = (domain or DEFAULT_DOMAIN, opsets.get(domain, 1), op)
    plugin = plugin_of(*key)
    name = "::".join(map(str, key))
    if plugin is None:
        return Translation(name, refused=f"no plugin for {name}")
    given = OnnxOperator(graph, node, plugin.defaults)
    for case in plugin.cases:
        if all(_holds(condition, given) for condition in case.conditions):
            return Translation(name, refused=case.refused) if case.refused else Translation(case=case)
    return Translation(plugin.type)


def _holds(condition: rules.Condition, it: OnnxOperator) -> bool:
    match condition:
        case str():
            return CONDITIONS[condition](it)
        case rules.Has():
            return _is_given(condition.what, it)
        case rules.Lacks():
            return not _is_given(condition.what, it)
        case rules.Inputs():
            return condition.least <= len(it.node.inputs) <= condition.most
        case rules.Outputs():
            return condition.least <= len(it.node.outputs) <= condition.most
        case rules.Is():
            return _value(condition.attribute, it) == condition.value
        case rules.IsNot():
            return _value(condition.attribute, it) != condition.value


def _is_given(what: int | str, it: OnnxOperator) -> bool:
    return it.has(what) if isinstance(what, int) else what in it.node.attributes


def _value(attribute: str, it: OnnxOperator) -> object:
    return it.node.attributes.get(attribute, it.defaults.get(attribute))


def expand(graph: SourceGraph, node: SourceNode, case: rules.Case, path: str) -> list[SourceNode]:
    """Return the nodes that replace an operator, with their types; the operator's own node is one of them.

    :raises Damaged: if an attribute is not a number of the dtype that it has as a constant
    """
    return _Expansion(graph, node, path).run(case)


class _Expansion:
    def __init__(self, graph: SourceGraph, node: SourceNode, path: str) -> None:
        self.graph = graph
        self.node = node
        self.path = path
        self.given = list(node.inputs)
        self.results = list(node.outputs)
        self.made: list[SourceNode] = []
        self.values: dict[str, list[str]] = {}
        self.measured: dict[str, tuple[int, ...] | None] = {}
        """By result of a Shape, the shape that it gives."""

    def run(self, case: rules.Case) -> list[SourceNode]:
        steps = list(case.steps)
        if case.is_chain:
            op_type = steps[0].type
            for number in range(2, len(self.given)):
                steps.append(rules.step(op_type, steps[-1].name, number, name=f"{op_type}_{number}"))
        results = case.results or (steps[-1].name, *(f"*:{at}" for at in range(1, len(self.results))))
        wanted = dict(zip(results, self.results, strict=False))
        needed = {name.partition(":")[0] for name, value in wanted.items() if value} | {"*"}
        kept: list[rules.Step] = []
        for step in reversed(steps):
            if step.name in needed:
                kept.insert(0, step)
                needed.update(text.partition(":")[0] for text in step.inputs if isinstance(text, str))
        read = {text for step in kept for text in step.inputs if isinstance(text, str)}
        for step in kept:
            inputs = [value for read_input in step.inputs for value in self._inputs(read_input, step)]
            self._add(step, inputs, wanted, read)
        return self.made

    def _add(self, step: rules.Step, inputs: list[str], wanted: dict[str, str], read: set[str]) -> None:
        """Add the node of a step.

        :param wanted: the operator's own results, by reference
        :param read: the references that other steps read
        """
        graph, is_main = self.graph, step.name == "*"
        name = self.node.name if is_main else f"{self.node.name}_{step.name}"
        first = graph.tensor(next(iter(inputs), ""))
        result = graph.tensor(self.results[0]) if self.results else UNKNOWN
        dtype = result.dtype if step.dtype == "@output" or (is_main and not step.dtype) else step.dtype or first.dtype
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
        for at in range(_MOST_OUTPUTS):
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

    def _inputs(self, input: rules.Input, step: rules.Step) -> list[str]:
        """Return the values that a step reads for an input, mostly one."""
        it = OnnxOperator(self.graph, self.node, {})
        match input:
            case None:
                return [""]
            case int():
                return self.given[input : input + 1] or [""]
            case rules.From():
                return self.given[input.input :]
            case str():
                name, _, output = input.partition(":")
                return [self.values[name][int(output or 0)]]
            case rules.Copy() if not it.has(input.input):
                return [self._made_constant(step, "float32", [])]
            case rules.Copy():
                source, name = self.given[input.input], f"{self.node.name}_{input.name}"
                self.graph.tensors[name] = self.graph.tensor(source)
                self._append(name, "Identity", [source], [name])
                return [name]
            case rules.Tensor():
                tensor = self.node.attributes.get(input.attribute)
                value, dtype = tensor if isinstance(tensor, tuple) else (0.0, "float32")
                return [self._made_constant(step, dtype, value)]
            case rules.Computed():
                return [self._made_constant(step, input.dtype, VALUES[input.name](it))]
            case rules.Constant(dtype, number, attribute):
                if attribute:
                    number = it.ints(attribute) if isinstance(number, list) else it.number(attribute, number)
                if dtype == "@output":
                    dtype = self.graph.tensor(self.results[0]).dtype or "float32"
                return [self._made_constant(step, dtype, number)]

    def _append(self, name: str, op_type: str, inputs: list[str], outputs: list[str]) -> None:
        extra, number = {"source": self.node.name}, self.node.number
        self.made.append(SourceNode(name, op_type, inputs, outputs, number=number, extra=extra, type=op_type))

    def _made_constant(self, step: rules.Step, dtype: str, value: Any) -> str:
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
    for node in graph.nodes:
        if instead:
            node.inputs = [instead.get(value, value) for value in node.inputs]
        fed = [value for value in node.inputs if value]
        is_added = "source" in node.extra and bool(fed) and not set(node.outputs) & set(graph.outputs)
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
    read = {value for node in kept for value in node.inputs} | set(graph.outputs)
    graph.nodes = [node for node in kept if "source" not in node.extra or not read.isdisjoint(node.outputs)]
