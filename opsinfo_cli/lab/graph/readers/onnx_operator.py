"""An ONNX operator as CANN's plugins see it, and the nodes that they build for it.

A function of ``onnx_plugins`` gets an :class:`OnnxOperator`, asks for its attributes and inputs, and adds nodes with
:meth:`OnnxOperator.add`; one that adds none leaves the operator one node. ``onnx_expansion`` makes nodes of a model of
what was added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn, TypeAlias

    from .framework_model import SourceGraph, SourceNode

    Input: TypeAlias = "int | str | From | Copy | Constant | None"
    """An input of the operator by its number, or what :meth:`OnnxOperator.add` returned; None for none."""
    OnnxPlugin: TypeAlias = "Callable[[OnnxOperator], None]"

MAIN = "*"
"""The name of the node that is the operator itself."""
OUTPUT = "@output"
"""In place of a dtype: that of the operator's output."""


class From(NamedTuple):
    """An input of the operator and all after it."""

    input: int


class Copy(NamedTuple):
    """An Identity of an input of the operator; an empty float32 constant if it is not given."""

    name: str
    input: int


class Constant(NamedTuple):
    """A constant that the plugin adds.

    :param dtype: also ``OUTPUT``
    :param value: of a list a tensor of one dimension
    """

    dtype: str
    value: float | Sequence[float]


class ExpansionStep(NamedTuple):
    """A node that the plugin builds.

    :param dtype: that of its output, also ``OUTPUT``; empty for that of its first input, or of the operator for the
        operator itself
    """

    type: str
    inputs: tuple[Input, ...]
    name: str
    dtype: str


class RefusedByPlugin(Exception):
    """The front end refuses the operator; its text is the reason."""


class OnnxOperator:
    """A node, its graph before translation, and what its plugin builds.

    :ivar steps: the nodes, in order
    :ivar results: the outputs of steps that become those of the operator, in order; empty: the last step yields output
        0, and the operator itself the others
    """

    def __init__(self, graph: SourceGraph, node: SourceNode, opset: int) -> None:
        self.graph = graph
        self.node = node
        self.opset = opset
        self.steps: list[ExpansionStep] = []
        self.results: tuple[str, ...] = ()

    def add(self, op_type: str, *inputs: Input, name: str = MAIN, dtype: str = "") -> str:
        """Add a node and return its output 0 as an input of others; ``f"{...}:1"`` is its output 1."""
        self.steps.append(ExpansionStep(op_type, inputs, name, dtype))
        return name

    def refuse(self, why: str) -> NoReturn:
        raise RefusedByPlugin(why)

    def require(self, *attributes: str) -> None:
        """Refuse the operator without one of these attributes."""
        for attribute in attributes:
            if not self.has(attribute):
                self.refuse(f"the attribute {attribute} is missing")

    def has(self, what: int | str) -> bool:
        """Whether an input, by its number, or an attribute is given."""
        if isinstance(what, str):
            return what in self.node.attributes
        return what < len(self.node.inputs) and bool(self.node.inputs[what])

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return len(self.node.inputs)

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return len(self.node.outputs)

    def value(self, attribute: str, default: Any = None) -> Any:
        return self.node.attributes.get(attribute, default)

    def ints(self, attribute: str) -> list[int]:
        value = self.value(attribute)
        return [int(number) for number in value] if isinstance(value, list) else []

    def number(self, attribute: str, default: float) -> float:
        value = self.value(attribute, default)
        return value if isinstance(value, (int, float)) else default

    def word(self, attribute: str, default: str) -> str:
        return str(self.value(attribute, default))

    @property
    def dims(self) -> int:
        """The number of dimensions of a kernel, from the attributes alone, as the plugins count."""
        lists = [self.ints(name) for name in ("kernel_shape", "strides", "dilations")]
        counted = next((len(numbers) for numbers in lists if numbers), len(self.ints("pads")) // 2)
        return 3 if counted > 3 else counted

    def require_even_pads(self) -> None:
        if len(self.ints("pads")) % 2:
            self.refuse("pads must have an even number of values")

    def require_two_or_three_inputs(self) -> None:
        if self.inputs not in (2, 3):
            self.refuse("two or three inputs")


def pairs(values: Sequence[int]) -> list[int]:
    """Return begins and ends of all axes as begin and end of each."""
    half = len(values) // 2
    return [number for pair in zip(values[:half], values[half:], strict=False) for number in pair]
