"""Options of atc that change the graph before dtypes are chosen: outputs, inputs in float16, image preprocessing.

Source: hicann/ge ffdcbc9f; compiler/graph/manager/graph_manager.cc:1132-1137 applies them after fusion and before the
judge:
- compiler/graph/preprocess/graph_prepare.cc:726-761, 891-926 (inputs), 1060-1095 (outputs), 2675-2700 (when)
- compiler/graph/passes/feature/net_output_pass.cc:33-42, 80-160 (``--output_type``)
- api/atc/omg.cc:172-215 (``--input_fp16_nodes``), 352-398 (``--output_type``)
- compiler/graph/passes/feature/constant_clip_pass.cc:67-112 (``--is_weight_clip``: values only, no dtype)
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ..errors import OpsinfoError, UsageFault
from .aipp import Aipp, with_aipp
from .graph import ModelGraph
from .readers.command import options as command_options
from .topology import consumers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .graph import GraphTensor

OUTPUT_TYPES = {
    "FP32": "float32",
    "FP16": "float16",
    "BF16": "bfloat16",
    "DOUBLE": "float64",
    "HIF4": "hifloat4",
    "HIF8": "hifloat8",
    "FP8E5M2": "float8_e5m2",
    "FP8E4M3FN": "float8_e4m3fn",
    **{f"{sign}INT{bits}": f"{sign.lower()}int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)},
}
"""Words of ``--output_type`` (net_output_pass.cc:33-42)."""
_DATA = frozenset({"Data", "RefData", "AippData", "AnnData"})
"""graph_metadef/graph/utils/op_type_utils.cc:19."""
_LAYOUT = ("is_input_adjust_hw_layout", "is_output_adjust_hw_layout")
"""They set NC1HWC0, and float16 for outputs; the judge does not follow them."""


class AtcOptions(NamedTuple):
    """Options of atc, as written there; None: not given.

    :param output_type: ``FP16``, or ``node:0:FP16;other:0:UINT8``
    :param input_fp16_nodes: names of inputs, with semicolons
    :param is_weight_clip: ``0`` or ``1``
    :param insert_op_conf: the path of an AIPP configuration
    """

    output_type: str | None = None
    input_fp16_nodes: str | None = None
    is_weight_clip: str | None = None
    insert_op_conf: str | None = None


NO_OPTIONS = AtcOptions()


class Considered(NamedTuple):
    """The outcome of the options.

    :param applied: each that was applied, as ``--name=value``
    :param ignored: why other options of the compiler's command were not, by ``--name=value``
    :param unknown: names of options that were not given, if the file does not state how it is compiled
    :param clips: whether constants are clipped to the range of their low dtype; None: unknown
    """

    applied: tuple[str, ...] = ()
    ignored: Mapping[str, str] = MappingProxyType({})
    unknown: tuple[str, ...] = AtcOptions._fields
    clips: bool | None = None


NOTHING_CONSIDERED = Considered()


def with_options(graph: ModelGraph, given: AtcOptions = NO_OPTIONS) -> tuple[ModelGraph, Considered]:
    """Return the graph changed by the options, and the outcome of the options.

    An option that is not given is taken from the command that compiled the model.

    :raises UsageFault: if a given option has a wrong value, or names a node that the graph lacks
    :raises Refused: if a given AIPP configuration cannot be read
    """
    command = command_options(graph.model.command)
    applied: list[str] = []
    ignored: dict[str, str] = {}
    clips: bool | None = None
    for name, step in _STEPS.items():
        own = getattr(given, name)
        value = command.get(name) if own is None else own
        if not value:
            continue
        try:
            graph = step(graph, value, own is not None)
        except OpsinfoError as error:
            if own is not None:
                raise
            ignored[f"--{name}={value}"] = error.message
            continue
        applied.append(f"--{name}={value}")
        clips = value == "1" if name == "is_weight_clip" else clips
    ignored |= {f"--{name}={command[name]}": "it sets a layout" for name in _LAYOUT if "true" in command.get(name, "")}
    unknown = () if command else tuple(name for name in given._fields if not getattr(given, name))
    return graph, Considered(tuple(applied), ignored, unknown, clips)


def _with_output_type(graph: ModelGraph, value: str, _: bool) -> ModelGraph:
    """NetOutput takes the dtype at all its inputs, or at those that a named output feeds; a Merge before it too."""
    edit = _Edit(graph)
    slots = _output_slots(graph)
    if ":" not in value:
        dtype = _output_dtype(value)
        for slot in slots:
            edit.set_output(slot, dtype)
        return edit.done()
    for part in filter(None, value.split(";")):
        words = [word.strip() for word in part.split(":")]
        if len(words) != 3 or not words[1].isdecimal():
            said = f"`{part}` is not NODE:OUTPUT:TYPE"
            raise UsageFault(f"--output_type: {said}", name="bad-output-type", hint="for example conv1:0:FP16")
        found = [slot for slot in slots if _feeds(graph, slot, words[0], int(words[1]))]
        if not found:
            raise UsageFault(
                f"--output_type: `{words[0]}:{words[1]}` is not an output of the model",
                name="unknown-node",
                hint="give the name of the node before fusion, and the number of its output",
            )
        for slot in found:
            edit.set_output(slot, _output_dtype(words[2]))
    return edit.done()


def _output_dtype(word: str) -> str:
    if word not in OUTPUT_TYPES:
        hint = f"one of {', '.join(OUTPUT_TYPES)}"
        raise UsageFault(f"--output_type: unknown type `{word}`", name="bad-output-type", hint=hint)
    return OUTPUT_TYPES[word]


def _output_slots(graph: ModelGraph) -> list[int]:
    """Return the input slots of the main graph's NetOutput that have a producer."""
    columns = graph.columns
    return [
        slot
        for node in graph.subgraphs[0].nodes
        if columns.types[node] == "NetOutput"
        for slot in range(columns.inputs_of[node], columns.inputs_of[node + 1])
        if columns.source_node[slot] >= 0
    ]


def _feeds(graph: ModelGraph, slot: int, name: str, output: int) -> bool:
    """Return whether an output of this name feeds a slot, by its own name or as the last operator fused into it."""
    producer = graph.columns.source_node[slot]
    names = (graph.columns.names[producer], *graph.fused_from.get(producer, ())[-1:])
    return name in names and graph.columns.source_output[slot] == output


def _with_fp16_inputs(graph: ModelGraph, value: str, _: bool) -> ModelGraph:
    """Make the named inputs float16; their consumers keep their dtypes."""
    edit = _Edit(graph)
    columns = graph.columns
    for name in filter(None, value.split(";")):
        node = graph.find(name)
        if node is None or node.type not in _DATA or node.index not in graph.subgraphs[0].nodes:
            raise UsageFault(
                f"--input_fp16_nodes: `{name}` is not an input of the model",
                name="unknown-node",
                hint=f"its inputs: {', '.join(_inputs(graph))}",
            )
        if any(columns.types[each] == "Aipp" for each in consumers_of(graph, node.index)):
            said = f"--input_fp16_nodes: `{name}` has image preprocessing; atc refuses both (E10034)"
            raise UsageFault(said, name="bad-input-fp16")
        edit.set_input(node.index, "float16")
    return edit.done()


def _inputs(graph: ModelGraph) -> list[str]:
    columns = graph.columns
    return [columns.names[node] for node in graph.subgraphs[0].nodes if columns.types[node] in _DATA]


def _with_weight_clip(graph: ModelGraph, value: str, _: bool) -> ModelGraph:
    """Return the graph unchanged: values are clipped before Casts that are folded afterwards."""
    if value not in ("0", "1"):
        raise UsageFault(f"--is_weight_clip: `{value}` is neither 0 nor 1", name="bad-weight-clip")
    return graph


def _with_insert_op_conf(graph: ModelGraph, value: str, given: bool) -> ModelGraph:
    """Insert the operators of the configuration; a compiled model and a dump already have them."""
    if "Aipp" in graph.columns.types or graph.model.format == "om" or not (given or graph.model.predicted):
        return graph
    for each in Aipp.read(value):
        graph = with_aipp(graph, each)
    return graph


_STEPS: dict[str, Callable[[ModelGraph, str, bool], ModelGraph]] = {
    "output_type": _with_output_type,
    "insert_op_conf": _with_insert_op_conf,
    "input_fp16_nodes": _with_fp16_inputs,
    "is_weight_clip": _with_weight_clip,
}


class _Edit:
    """A graph with other dtypes on some tensors."""

    def __init__(self, graph: ModelGraph) -> None:
        self.graph = graph
        self.inputs = list(graph.columns.input_tensors)
        self.outputs = list(graph.columns.output_tensors)

    def set_output(self, slot: int, dtype: str) -> None:
        """Set an input of NetOutput, and all tensors of a Merge that feeds it."""
        columns = self.graph.columns
        self.inputs[slot] = _of(self.inputs[slot], dtype)
        producer = columns.source_node[slot]
        if columns.types[producer] == "Merge":
            self._set(self.inputs, columns.inputs_of, producer, dtype)
            first = columns.outputs_of[producer]
            self.outputs[first] = _of(self.outputs[first], dtype)

    def set_input(self, node: int, dtype: str) -> None:
        """Set the tensors of a Data."""
        self._set(self.inputs, self.graph.columns.inputs_of, node, dtype)
        self._set(self.outputs, self.graph.columns.outputs_of, node, dtype)

    @staticmethod
    def _set(tensors: list[GraphTensor], starts: Sequence[int], node: int, dtype: str) -> None:
        for slot in range(starts[node], starts[node + 1]):
            tensors[slot] = _of(tensors[slot], dtype)

    def done(self) -> ModelGraph:
        graph = self.graph
        columns = graph.columns._replace(input_tensors=self.inputs, output_tensors=self.outputs)
        return ModelGraph(
            columns, graph.model, graph.subgraphs, graph.control, graph.attributes, graph.fused_from, graph.weights
        )


def _of(tensor: GraphTensor, dtype: str) -> GraphTensor:
    return tensor._replace(dtype=dtype, original_dtype=None)
