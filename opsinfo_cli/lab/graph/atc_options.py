"""Options of atc that change the graph before dtypes are chosen: outputs, and inputs in float16.

Source: hicann/ge ffdcbc9f; compiler/graph/manager/graph_manager.cc:1132-1137 applies them after fusion and before the
judge:
- compiler/graph/preprocess/graph_prepare.cc:726-761, 891-926 (inputs), 1060-1095 (outputs), 2675-2700 (when)
- compiler/graph/passes/feature/net_output_pass.cc:33-42, 80-160 (``--output_type``)
- api/atc/omg.cc:172-215 (``--input_fp16_nodes``), 352-398 (``--output_type``)
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ...errors import OpsinfoError, UsageFault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from .graph import GraphTensor, ModelGraph

    Input: TypeAlias = tuple[int, int]

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
"""Inputs of a model for these options (graph_metadef/graph/utils/op_type_utils.cc:19), not those of the judge: that
leaves QueueData alone, too, but not AnnData."""
_NOT_FOLLOWED = ("is_weight_clip", "insert_op_conf")
"""Options that change constants or insert operators, and are not followed; a compiled model has these operators."""
_IGNORED = {
    "is_weight_clip": "constants that overflow are clipped instead",
    "raw_ge_options": "its file is not read",
    "is_input_adjust_hw_layout": "it sets a layout",
    "is_output_adjust_hw_layout": "it sets a layout",
}
"""Options in the command of a compiled model that are not followed, and why; a layout is NC1HWC0, with float16 for
outputs.
"""


class AtcOptions(NamedTuple):
    """Options of atc, as written there; None: not given. The first two change the graph.

    :param output_type: ``FP16``, or ``node:0:FP16;other:0:UINT8``
    """

    output_type: str | None = None
    input_fp16_nodes: str | None = None
    op_precision_mode: str | None = None
    op_select_implmode: str | None = None
    optypelist_for_implmode: str | None = None
    allow_hf32: str | None = None


NO_OPTIONS = AtcOptions()


class Considered(NamedTuple):
    """The outcome of the options that change the graph.

    :param applied: each that was applied, as ``--name=value``
    :param ignored: why other options of the compiler's command were not, by ``--name=value``
    :param unknown: names of options that are not considered, if the file does not state how it is compiled
    """

    applied: tuple[str, ...] = ()
    ignored: Mapping[str, str] = MappingProxyType({})
    unknown: tuple[str, ...] = ()


def command_options(command: Sequence[str]) -> dict[str, str]:
    """Return the options of a command, without dashes: ``precision_mode``, ``modify_mixlist``, ``soc_version`` ...

    Reads ``--name=value`` and ``--name value``; the last one wins.
    """
    found: dict[str, str] = {}
    name = ""
    for argument in command:
        if argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            found[name] = value
            name = "" if equals else name
        elif name:
            found[name] = argument
            name = ""
    return found


def with_options(graph: ModelGraph, given: AtcOptions = NO_OPTIONS) -> tuple[ModelGraph, Considered]:
    """Return the graph changed by the options, and the outcome of the options.

    An option that is not given is taken from the command that compiled the model.

    :raises UsageFault: if a given option has a wrong value, or names a node that the graph lacks
    """
    command = command_options(graph.model.command)
    applied: list[str] = []
    ignored: dict[str, str] = {}
    for name, step in _STEPS.items():
        own = getattr(given, name)
        value = command.get(name) if own is None else own
        if not value:
            continue
        try:
            graph = step(graph, value)
        except OpsinfoError as error:
            if own is not None:
                raise
            ignored[f"--{name}={value}"] = error.message
            continue
        applied.append(f"--{name}={value}")
    for name, why in _IGNORED.items():
        if (value := command.get(name)) and set(value.split(",")) - {"0", "false"}:
            ignored[f"--{name}={value}"] = why
    unknown = () if command else (*(name for name in _STEPS if not getattr(given, name)), *_NOT_FOLLOWED)
    return graph, Considered(tuple(applied), ignored, unknown)


def _with_output_type(graph: ModelGraph, value: str) -> ModelGraph:
    """NetOutput takes the dtype at all its inputs, or at those that a named output feeds; a Merge before it too."""
    inputs = {
        (node.index, number): source
        for node in graph.main_nodes()
        if node.type == "NetOutput"
        for number, source in enumerate(node.sources)
        if source is not None
    }
    if ":" not in value:
        return _with_outputs(graph, dict.fromkeys(inputs, _output_dtype(value)))
    dtypes: dict[Input, str] = {}
    for part in filter(None, value.split(";")):
        words = [word.strip() for word in part.split(":")]
        if len(words) != 3 or not (words[1].isascii() and words[1].isdigit() and len(words[1]) < 10):
            message = f"`{part}` is not NODE:OUTPUT:TYPE"
            raise UsageFault(f"--output_type: {message}", name="bad-output-type", hint="for example conv1:0:FP16")
        name, output, dtype = words[0], int(words[1]), words[2]
        fed = [
            place
            for place, source in inputs.items()
            if source.output == output
            and name in (graph[source.node].name, *graph[source.node].fused_names[-1:])  # the last one fused into it
        ]
        if not fed:
            raise UsageFault(
                f"--output_type: `{name}:{words[1]}` is not an output of the model",
                name="unknown-node",
                hint="give the name of the node before fusion, and the number of its output",
            )
        dtypes |= dict.fromkeys(fed, _output_dtype(dtype))
    return _with_outputs(graph, dtypes)


def _output_dtype(word: str) -> str:
    if word not in OUTPUT_TYPES:
        hint = f"one of {', '.join(OUTPUT_TYPES)}"
        raise UsageFault(f"--output_type: unknown type `{word}`", name="bad-output-type", hint=hint)
    return OUTPUT_TYPES[word]


def _with_outputs(graph: ModelGraph, dtypes: Mapping[Input, str]) -> ModelGraph:
    """Set inputs of NetOutput, and all inputs and the first output of a Merge that feeds one."""
    nodes = list(graph.nodes)
    for (index, number), dtype in dtypes.items():
        output = nodes[index]
        inputs = list(output.inputs)
        inputs[number] = _of(inputs[number], dtype)
        nodes[index] = replace(output, inputs=tuple(inputs))
        source = output.sources[number]
        if source is not None and nodes[source.node].type == "Merge":
            merge = nodes[source.node]
            nodes[source.node] = replace(
                merge,
                inputs=tuple(_of(tensor, dtype) for tensor in merge.inputs),
                outputs=(_of(merge.outputs[0], dtype), *merge.outputs[1:]),
            )
    return graph.with_nodes(nodes)


def _with_fp16_inputs(graph: ModelGraph, value: str) -> ModelGraph:
    """Make the named inputs float16; their consumers keep their dtypes."""
    nodes = list(graph.nodes)
    for name in filter(None, value.split(";")):
        node = graph.find(name)
        if node is None or node.type not in _DATA or node.index not in graph.subgraphs[0].nodes:
            raise UsageFault(
                f"--input_fp16_nodes: `{name}` is not an input of the model",
                name="unknown-node",
                hint=f"its inputs: {', '.join(other.name for other in graph.main_nodes() if other.type in _DATA)}",
            )
        preprocessing = (other for other in graph.main_nodes() if other.type == "Aipp")
        if any(source and source.node == node.index for other in preprocessing for source in other.sources):
            message = f"--input_fp16_nodes: `{name}` has image preprocessing; atc refuses both (E10034)"
            raise UsageFault(message, name="bad-input-fp16")
        nodes[node.index] = replace(
            node,
            inputs=tuple(_of(tensor, "float16") for tensor in node.inputs),
            outputs=tuple(_of(tensor, "float16") for tensor in node.outputs),
        )
    return graph.with_nodes(nodes)


_STEPS: dict[str, Callable[[ModelGraph, str], ModelGraph]] = {
    "output_type": _with_output_type,
    "input_fp16_nodes": _with_fp16_inputs,
}


def _of(tensor: GraphTensor, dtype: str) -> GraphTensor:
    return tensor._replace(dtype=dtype, original_dtype=None)
