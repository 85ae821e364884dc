"""Image preprocessing (AIPP): the operator Aipp that a configuration inserts after an input.

Its input, and with it the model's, takes the dtype of the image; its output is float32 until the engine chooses.
Source: hicann/ge ffdcbc9f, compiler/graph/preprocess/insert_op/aipp_op.cc:186-296, 459-540 (where it goes) and
insert_aipp_op_util.cc:289-304, 431-520 (the input follows), graph_metadef/proto/insert_op.proto (the file);
Ascend canndev, ops/built-in/op_proto/aipp.cc, AippInfer and GetSrcImageSizeDtype (dtypes; a public copy is in
dengguojie/vue-element-admin@f0e043f2).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ...errors import Damaged, UsageFault
from ...text.source import read_bytes
from ..graph import GraphNode, GraphTensor, ModelGraph, Producer, Subgraph
from ..readers.protobuf import TextFault, parse
from ..topology import consumers_of

if TYPE_CHECKING:
    from ..readers.protobuf import Message

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
            before = text[: fault.at]
            line, column = before.count(b"\n") + 1, fault.at - (before.rfind(b"\n") + 1) + 1
            raise Damaged(fault.message, name="bad-aipp", path=path, line=line, column=column) from None
        messages = [each for each in found if isinstance(each, dict)]
        if not messages or len(messages) < len(found):
            raise Damaged("no `aipp_op { ... }`", name="bad-aipp", path=path, hint="is this an AIPP configuration?")
        return [_aipp(each, path) for each in messages]


def _aipp(message: Message, path: str) -> Aipp:
    def word(key: str, default: str) -> str:
        value = message.get(key, [default])[-1]
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
    if not rank.isdecimal():
        raise Damaged(f"`related_input_rank` is a number, not `{rank}`", name="bad-aipp", path=path)
    return Aipp(int(rank), "uint8" if mode == "dynamic" else IMAGE_DTYPES[form], mode == "dynamic")


def with_aipp(graph: ModelGraph, aipp: Aipp) -> ModelGraph:
    """Return the graph with the operator after its input.

    :raises UsageFault: if the graph has no such input, or the input is ambiguous
    """
    return _inserted(graph, _target(graph, aipp.rank), aipp)


def _target(graph: ModelGraph, rank: int) -> GraphNode:
    """Return the Data of a rank. Only ONNX files state the rank of an input; other files must have only one input."""
    inputs = [node for node in graph.main_nodes() if node.type == "Data"]
    if rank >= len(inputs):
        message = f"`related_input_rank` is {rank}, the model has {len(inputs)} inputs"
        raise UsageFault(f"--insert_op_conf: {message}", name="bad-aipp")
    if len(inputs) > 1 and graph.model.format != "onnx":
        message = f"a {graph.model.format} file does not say which of its {len(inputs)} inputs has which rank"
        raise UsageFault(f"--insert_op_conf: {message}", name="bad-aipp")
    data = inputs[rank]
    if any(node.type in _CONTROL for node in consumers_of(graph, data.index)):
        message = f"input `{data.name}` feeds a subgraph, where atc would insert the operator"
        raise UsageFault(f"--insert_op_conf: {message}", name="bad-aipp")
    return data


def _inserted(graph: ModelGraph, data: GraphNode, aipp: Aipp) -> ModelGraph:
    """Return a new graph with Aipp at the end of the main graph, and the Data of its parameters if it is dynamic."""
    end = graph.subgraphs[0].nodes.stop
    operator = end + aipp.is_dynamic
    added = operator + 1 - end
    image = data.outputs[0]._replace(dtype=aipp.dtype, original_dtype=None)

    def moved(index: int) -> int:
        return index if index < end else index + added

    def source(each: Producer | None) -> Producer | None:
        if each is None:
            return None
        return Producer(operator, 0) if each == (data.index, 0) else Producer(moved(each.node), each.output)

    nodes = [
        replace(
            node,
            index=moved(node.index),
            sources=tuple(map(source, node.sources)),
            control=tuple(map(moved, node.control)),
        )
        for node in graph
    ]
    nodes[data.index] = replace(data, inputs=(image,) * len(data.sources), outputs=(image,))
    sources, images = [Producer(data.index, 0)], [image]
    made = []
    if aipp.is_dynamic:
        parameters = GraphTensor("uint8", format="ND")
        made.append(GraphNode(end, f"{_PARAMETERS}_{data.name}", "Data", (), (), (parameters,)))
        sources.append(Producer(end, 0))
        images.append(parameters)
    output = image._replace(dtype="float32")
    made.append(GraphNode(operator, f"{data.name}_0_aipp", "Aipp", tuple(sources), tuple(images), (output,)))
    subgraphs = [
        Subgraph(
            body.name,
            None if body.parent is None else moved(body.parent),
            range(moved(body.nodes.start), moved(body.nodes.stop - 1) + 1) if number else range(end + added),
        )
        for number, body in enumerate(graph.subgraphs)
    ]
    return ModelGraph([*nodes[:end], *made, *nodes[end:]], graph.model, subgraphs)
