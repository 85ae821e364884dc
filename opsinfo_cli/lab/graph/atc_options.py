"""Options of atc that change the graph before dtypes are chosen: outputs, inputs in float16, image preprocessing.

Source: hicann/ge ffdcbc9f; compiler/graph/manager/graph_manager.cc:1132-1137 applies them after fusion and before the
judge:
- compiler/graph/preprocess/graph_prepare.cc:726-761, 891-926 (inputs), 1060-1095 (outputs), 2675-2700 (when)
- compiler/graph/passes/feature/net_output_pass.cc:33-42, 80-160 (``--output_type``)
- api/atc/omg.cc:172-215 (``--input_fp16_nodes``), 352-398 (``--output_type``)
- compiler/graph/passes/feature/constant_clip_pass.cc:67-112 (``--is_weight_clip``: values only, no dtype)

Image preprocessing (AIPP) is the operator Aipp, inserted after an input: its input, and with it the model's, takes the
dtype of the image; its output is float32 until the engine chooses. Source:
- compiler/graph/preprocess/insert_op/aipp_op.cc:186-296, 459-540 (where it goes) and insert_aipp_op_util.cc:289-304,
  431-520 (the input follows), graph_metadef/proto/insert_op.proto (the file)
- Ascend canndev, ops/built-in/op_proto/aipp.cc, AippInfer and GetSrcImageSizeDtype (dtypes; a public copy is in
  dengguojie/vue-element-admin@f0e043f2)
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ...core.text.source import read_bytes
from ...errors import Damaged, OpsinfoError, UsageFault, counted
from .graph import GraphNode, GraphTensor, Producer
from .readers.protobuf import TextFault, parse
from .topology import consumers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from .graph import ModelGraph
    from .readers.protobuf import Message

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
"""graph_metadef/graph/utils/op_type_utils.cc:19."""
_LAYOUT = ("is_input_adjust_hw_layout", "is_output_adjust_hw_layout")
"""They set NC1HWC0, and float16 for outputs; the judge does not follow them."""
IMAGE_DTYPES = {
    **dict.fromkeys(("YUV420SP_U8", "XRGB8888_U8", "RGB888_U8", "YUV400_U8", "ARGB8888_U8", "YUYV_U8"), "uint8"),
    **dict.fromkeys(("YUV422SP_U8", "AYUV444_U8", "RGB8_IR"), "uint8"),
    **dict.fromkeys(("RAW10", "RAW12", "RAW16", "RGB16", "RGB16_IR"), "uint16"),
    **dict.fromkeys(("RAW24", "RGB20", "RGB24", "RGB24_IR"), "uint32"),
    "NC1HWC0DI_FP16": "float16",
    "NC1HWC0DI_S8": "int8",
}
"""Dtype of an image by ``input_format``."""
_PARAMETERS = "ascend_dynamic_aipp_data"
_CONTROL = frozenset({"PartitionedCall", "StatefulPartitionedCall", "Case", "StatelessCase"})


class AtcOptions(NamedTuple):
    """Options of atc, as written there; None: not given. The first four change the graph.

    :param output_type: ``FP16``, or ``node:0:FP16;other:0:UINT8``
    :param input_fp16_nodes: names of inputs, with semicolons
    :param is_weight_clip: ``0`` or ``1``
    :param insert_op_conf: the path of an AIPP configuration
    :param op_precision_mode: the path of a file
    :param op_select_implmode: one of ``SELECT_IMPLMODE``
    :param optypelist_for_implmode: op types, with commas
    :param allow_hf32: one of ``ALLOW_HF32``
    """

    output_type: str | None = None
    input_fp16_nodes: str | None = None
    is_weight_clip: str | None = None
    insert_op_conf: str | None = None
    op_precision_mode: str | None = None
    op_select_implmode: str | None = None
    optypelist_for_implmode: str | None = None
    allow_hf32: str | None = None


NO_OPTIONS = AtcOptions()


class Considered(NamedTuple):
    """The outcome of the options that change the graph.

    :param applied: each that was applied, as ``--name=value``
    :param ignored: why other options of the compiler's command were not, by ``--name=value``
    :param unknown: names of options that were not given, if the file does not state how it is compiled
    :param clips: whether constants are clipped to the range of their low dtype; None: unknown
    """

    applied: tuple[str, ...] = ()
    ignored: Mapping[str, str] = MappingProxyType({})
    unknown: tuple[str, ...] = ()
    clips: bool | None = None


RAW_OPTIONS = {
    **{f"ge.exec.{name}": name for name in ("precision_mode", "precision_mode_v2", "modify_mixlist")},
    **{f"ge.exec.{name}": name for name in ("op_precision_mode", "allow_hf32")},
    "ge.opSelectImplmode": "op_select_implmode",
    "ge.optypelistForImplmode": "optypelist_for_implmode",
    "ge.customizeDtypes": "customize_dtypes",
    "keep_dtype": "keep_dtype",
    "ge.outputDatatype": "output_type",
    "ge.INPUT_NODES_SET_FP16": "input_fp16_nodes",
    "ge.insertOpFile": "insert_op_conf",
    "ge.is_weight_clip": "is_weight_clip",
    **{name: name for name in _LAYOUT},
}
"""Keys of ``--raw_ge_options`` and their options of atc, those that are read here. Source: hicann/ge ffdcbc9f,
api/atc/atc_option_map.cc:21-99; the file: api/atc/main_impl.cc:261-373."""


def raw_ge_options(path: str) -> dict[str, str]:
    """Return the options of atc that a file of ``--raw_ge_options`` sets; ``graph`` wins over ``session`` and
    ``global``.

    :raises Refused: if the file cannot be read
    :raises Damaged: if atc refuses it
    """
    try:
        levels = json.loads(read_bytes(path))["compile options"]
        options = {
            key: value for level in ("global", "session", "graph") for key, value in levels.get(level, {}).items()
        }
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        message = "not an object with `compile options` of `global`, `session` and `graph`"
        raise Damaged(message, name="bad-raw-options", path=path) from None
    return {RAW_OPTIONS[key]: value for key, value in options.items() if key in RAW_OPTIONS and isinstance(value, str)}


def command_options(command: Sequence[str]) -> dict[str, str]:
    """Return the options of a command, without dashes: ``precision_mode``, ``modify_mixlist``, ``soc_version`` ...

    Reads ``--name=value`` and ``--name value``; the last one wins. Options of ``--raw_ge_options`` follow, if that file
    can be read here; those of the command win.
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
    with suppress(OpsinfoError):
        return {**raw_ge_options(found["raw_ge_options"]), **found} if found.get("raw_ge_options") else found
    return found


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
    unknown = () if command else tuple(name for name in AtcOptions._fields[: len(_STEPS)] if not getattr(given, name))
    return graph, Considered(tuple(applied), ignored, unknown, clips)


def _with_output_type(graph: ModelGraph, value: str, _: bool) -> ModelGraph:
    """NetOutput takes the dtype at all its inputs, or at those that a named output feeds; a Merge before it too."""
    inputs = _output_inputs(graph)
    if ":" not in value:
        dtype = _output_dtype(value)
        return _with_outputs(graph, dict.fromkeys(inputs, dtype))
    dtypes: dict[Input, str] = {}
    for part in filter(None, value.split(";")):
        words = [word.strip() for word in part.split(":")]
        if len(words) != 3 or not _is_number(words[1]):
            message = f"`{part}` is not NODE:OUTPUT:TYPE"
            raise UsageFault(f"--output_type: {message}", name="bad-output-type", hint="for example conv1:0:FP16")
        fed = [place for place, source in inputs.items() if _is_named(graph, source, words[0], int(words[1]))]
        if not fed:
            raise UsageFault(
                f"--output_type: `{words[0]}:{words[1]}` is not an output of the model",
                name="unknown-node",
                hint="give the name of the node before fusion, and the number of its output",
            )
        dtype = _output_dtype(words[2])
        dtypes |= dict.fromkeys(fed, dtype)
    return _with_outputs(graph, dtypes)


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 10


def _output_dtype(word: str) -> str:
    if word not in OUTPUT_TYPES:
        hint = f"one of {', '.join(OUTPUT_TYPES)}"
        raise UsageFault(f"--output_type: unknown type `{word}`", name="bad-output-type", hint=hint)
    return OUTPUT_TYPES[word]


def _output_inputs(graph: ModelGraph) -> dict[Input, Producer]:
    """Return the inputs of the main graph's NetOutput that have a producer, and the producers."""
    return {
        (node.index, number): source
        for node in graph.main_nodes()
        if node.type == "NetOutput"
        for number, source in enumerate(node.sources)
        if source is not None
    }


def _is_named(graph: ModelGraph, source: Producer, name: str, output: int) -> bool:
    """Return whether an output has this name, by its node's name or as the last operator fused into it."""
    producer = graph[source.node]
    return name in (producer.name, *producer.fused_from[-1:]) and source.output == output


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


def _with_fp16_inputs(graph: ModelGraph, value: str, _: bool) -> ModelGraph:
    """Make the named inputs float16; their consumers keep their dtypes."""
    nodes = list(graph.nodes)
    for name in filter(None, value.split(";")):
        node = graph.find(name)
        if node is None or node.type not in _DATA or node.index not in graph.subgraphs[0].nodes:
            raise UsageFault(
                f"--input_fp16_nodes: `{name}` is not an input of the model",
                name="unknown-node",
                hint=f"its inputs: {', '.join(each.name for each in graph.main_nodes() if each.type in _DATA)}",
            )
        if any(each.type == "Aipp" for each in consumers_of(graph, node.index)):
            message = f"--input_fp16_nodes: `{name}` has image preprocessing; atc refuses both (E10034)"
            raise UsageFault(message, name="bad-input-fp16")
        nodes[node.index] = replace(
            node,
            inputs=tuple(_of(tensor, "float16") for tensor in node.inputs),
            outputs=tuple(_of(tensor, "float16") for tensor in node.outputs),
        )
    return graph.with_nodes(nodes)


def _with_weight_clip(graph: ModelGraph, value: str, _: bool) -> ModelGraph:
    """Return the graph unchanged: values are clipped before Casts that are folded afterwards."""
    if value not in ("0", "1"):
        raise UsageFault(f"--is_weight_clip: `{value}` is neither 0 nor 1", name="bad-weight-clip")
    return graph


def _with_insert_op_conf(graph: ModelGraph, value: str, given: bool) -> ModelGraph:
    """Insert the operators of the configuration; a compiled model and a dump already have them."""
    if "Aipp" in graph.types or graph.model.format == "om" or not (given or graph.model.predicted):
        return graph
    for each in Aipp.read(value):
        graph = _with_aipp(graph, each)
    return graph


class Aipp(NamedTuple):
    """One ``aipp_op`` of a configuration.

    :param rank: ``related_input_rank``, the number of the model's input
    :param dtype: the dtype of the image
    """

    rank: int
    dtype: str
    is_dynamic: bool

    @classmethod
    def read(cls, path: str) -> list[Aipp]:
        """Return the operators of a configuration file.

        :raises Refused: if the file cannot be read
        :raises Damaged: if it has another form, or uses unknown settings
        """
        text = read_bytes(path)
        try:
            found = parse(text).get("aipp_op", [])
        except TextFault as fault:
            line, column = fault.place(text)
            raise Damaged(fault.message, name="bad-aipp", path=path, line=line, column=column) from None
        messages = [each for each in found if isinstance(each, dict)]
        if not messages or len(messages) < len(found):
            raise Damaged("no `aipp_op { ... }`", name="bad-aipp", path=path, hint="is this an AIPP configuration?")
        return [_aipp(each, path) for each in messages]


def _aipp(message: Message, path: str) -> Aipp:
    def word(key: str, default: str) -> str:
        value = next(reversed(message.get(key, [])), default)
        return value if isinstance(value, str) else default

    mode, form, rank = word("aipp_mode", ""), word("input_format", ""), word("related_input_rank", "0")
    if "related_input_name" in message:
        reason = "`related_input_name` names an input of Caffe, which is not read here"
        raise Damaged(reason, name="bad-aipp", path=path, hint="use `related_input_rank`")
    if mode not in ("static", "dynamic"):
        raise Damaged(f"`aipp_mode` is static or dynamic, not `{mode}`", name="bad-aipp", path=path)
    if form not in IMAGE_DTYPES and (form or mode == "static"):
        hint = f"one of {', '.join(IMAGE_DTYPES)}"
        raise Damaged(f"unknown `input_format` `{form}`", name="bad-aipp", path=path, hint=hint)
    if not _is_number(rank):
        raise Damaged(f"`related_input_rank` is a number, not `{rank}`", name="bad-aipp", path=path)
    return Aipp(int(rank), "uint8" if mode == "dynamic" else IMAGE_DTYPES[form], mode == "dynamic")


def _image_input(graph: ModelGraph, rank: int) -> GraphNode:
    """Return the Data of a rank. Only ONNX files state the rank of an input; other files must have only one input.

    :raises UsageFault: if the graph has no such input, or the input is ambiguous
    """
    inputs = [node for node in graph.main_nodes() if node.type == "Data"]
    if rank >= len(inputs):
        message = f"`related_input_rank` is {rank}, the model has {counted(len(inputs), 'input')}"
    elif len(inputs) > 1 and graph.model.format != "onnx":
        message = f"a {graph.model.format} file does not say which of its {len(inputs)} inputs has which rank"
    elif any(node.type in _CONTROL for node in consumers_of(graph, inputs[rank].index)):
        message = f"input `{inputs[rank].name}` feeds a subgraph, where atc would insert the operator"
    else:
        return inputs[rank]
    raise UsageFault(f"--insert_op_conf: {message}", name="bad-aipp")


def _with_aipp(graph: ModelGraph, aipp: Aipp) -> ModelGraph:
    """Return a new graph with Aipp at the end of the main graph, and the Data of its parameters if it is dynamic."""
    data = _image_input(graph, aipp.rank)
    image = data.outputs[0]._replace(dtype=aipp.dtype, original_dtype=None)
    parameters = GraphTensor("uint8", format="ND")
    name, number = f"{_PARAMETERS}_{data.name}", len(graph)
    made = [GraphNode(number, name, "Data", (), (), (parameters,))] if aipp.is_dynamic else []
    operator = number + len(made)
    sources = (Producer(data.index, 0), *(Producer(each.index, 0) for each in made))
    images, output = (image, parameters)[: len(sources)], image._replace(dtype="float32")
    made.append(GraphNode(operator, f"{data.name}_0_aipp", "Aipp", sources, images, (output,)))
    bodies = [graph.nodes[body.nodes.start : body.nodes.stop] for body in graph.subgraphs]
    bodies[0] = [
        replace(node, sources=tuple(Producer(operator, 0) if each == sources[0] else each for each in node.sources))
        for node in bodies[0]
    ]
    bodies[0][data.index] = replace(data, inputs=(image,) * len(data.sources), outputs=(image,))
    bodies[0] += made
    return graph.arranged(bodies)


_STEPS: dict[str, Callable[[ModelGraph, str, bool], ModelGraph]] = {
    "output_type": _with_output_type,
    "insert_op_conf": _with_insert_op_conf,
    "input_fp16_nodes": _with_fp16_inputs,
    "is_weight_clip": _with_weight_clip,
}


def _of(tensor: GraphTensor, dtype: str) -> GraphTensor:
    return tensor._replace(dtype=dtype, original_dtype=None)
