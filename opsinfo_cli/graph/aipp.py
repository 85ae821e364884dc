"""Image preprocessing (AIPP): the operator Aipp that a configuration inserts after an input.

Its input, and with it the model's, takes the dtype of the image; its output is float32 until the engine chooses.
Source: hicann/ge ffdcbc9f, compiler/graph/preprocess/insert_op/aipp_op.cc:186-296, 459-540 (where it goes) and
insert_aipp_op_util.cc:289-304, 431-520 (the input follows), graph_metadef/proto/insert_op.proto (the file);
Ascend canndev, ops/built-in/op_proto/aipp.cc, AippInfer and GetSrcImageSizeDtype (dtypes; a public copy is in
dengguojie/vue-element-admin@f0e043f2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..errors import Damaged, UsageFault
from ..text.source import read_bytes
from .builder import GraphBuilder
from .readers.textproto import TextFault, parse
from .topology import consumers_of

if TYPE_CHECKING:
    from .graph import GraphTensor, ModelGraph
    from .readers.textproto import Message

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
            raise Damaged(fault.said, name="bad-aipp", path=path, line=line, column=column) from None
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
        said = "`related_input_name` names an input of Caffe, which is not read here"
        raise Damaged(said, name="bad-aipp", path=path, hint="use `related_input_rank`")
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


def _target(graph: ModelGraph, rank: int) -> int:
    """Return the Data of a rank. Only ONNX files state the rank of an input; other files must have only one input."""
    columns = graph.columns
    inputs = [node for node in graph.subgraphs[0].nodes if columns.types[node] == "Data"]
    if rank >= len(inputs):
        said = f"`related_input_rank` is {rank}, the model has {len(inputs)} inputs"
        raise UsageFault(f"--insert_op_conf: {said}", name="bad-aipp")
    if len(inputs) > 1 and graph.model.format != "onnx":
        said = f"a {graph.model.format} file does not say which of its {len(inputs)} inputs has which rank"
        raise UsageFault(f"--insert_op_conf: {said}", name="bad-aipp")
    data = inputs[rank]
    if any(columns.types[node] in _CONTROL for node in consumers_of(graph, data)):
        said = f"input `{columns.names[data]}` feeds a subgraph, where atc would insert the operator"
        raise UsageFault(f"--insert_op_conf: {said}", name="bad-aipp")
    return data


def _inserted(graph: ModelGraph, data: int, aipp: Aipp) -> ModelGraph:
    """Return a new graph with Aipp at the end of the main graph, and the Data of its parameters if it is dynamic."""
    columns, builder = graph.columns, GraphBuilder(path=graph.model.path)
    end = graph.subgraphs[0].nodes.stop
    operator = end + aipp.is_dynamic
    image = columns.output_tensors[columns.outputs_of[data]]._replace(dtype=aipp.dtype, original_dtype=None)

    def moved(node: int) -> int:
        return node if node < end else node + operator + 1 - end

    for number, body in enumerate(graph.subgraphs):
        if number == 0:
            builder.name_graph(body.name)
        else:
            builder.subgraph(body.name, None if body.parent is None else moved(body.parent))
        for index in body.nodes:
            node = graph[index]
            sources = [None if each is None else (moved(each.node), each.output) for each in node.sources]
            tensors = [image] if index == data else None
            builder.add(
                node.name,
                node.type,
                [(operator, 0) if each == (data, 0) else each for each in sources],
                tensors or node.outputs,
                inputs=tensors[: len(sources)] if tensors else node.inputs,
                control=[moved(each) for each in node.control],
                attributes=node.attributes,
                fused_from=node.fused_from,
                weights=graph.weights.get(index),
            )
        if number == 0:
            _add_operator(builder, columns.names[data], data, image, aipp)
    return builder.build(graph.model)


def _add_operator(builder: GraphBuilder, name: str, data: int, image: GraphTensor, aipp: Aipp) -> None:
    sources = [(data, 0)]
    if aipp.is_dynamic:
        parameters = builder.tensor("uint8", format="ND")
        sources.append((builder.add(f"{_PARAMETERS}_{name}", "Data", [], [parameters]), 0))
    builder.add(f"{name}_0_aipp", "Aipp", sources, [image._replace(dtype="float32")])
