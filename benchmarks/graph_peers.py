"""Tools in use today to inspect a model: the peers of `opsinfo graph`. Each prints op types and their numbers.

python benchmarks/graph_peers.py onnx FILE
python benchmarks/graph_peers.py dump FILE
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

_FIELDS = {
    "ModelDef": "name:s graph:GraphDef* attr:Attr*",
    "GraphDef": "name:s op:OpDef* attr:Attr*",
    "OpDef": "name:s type:s input:s* attr:Attr* has_out_attr:b id:i input_desc:Tensor* output_desc:Tensor*",
    "Tensor": "dtype:Dtype layout:s shape:Shape attr:Attr* has_out_attr:b size:i device_type:s real_dim_cnt:i",
    "Shape": "dim:i*",
    "Attr": "key:s value:Value",
    "Value": "s:s i:i b:b list:List",
    "List": "s:s* i:i* val_type:Kind",
}
"""The messages of ``ge.proto`` (hicann/ge graph_metadef/proto/ge_ir.proto) with the fields of the generated dumps."""
_ENUMS = {"Dtype": ["DT_UNDEFINED", "DT_FLOAT"], "Kind": ["VT_LIST_NONE", "VT_LIST_STRING", "VT_LIST_INT"]}


def onnx_types(path: str) -> Counter[str]:
    """The op types of an ONNX model, after a walk over all edges."""
    import onnx

    graph = onnx.load(path).graph
    producers = {value: node for node in graph.node for value in node.output}
    edges = sum(value in producers for node in graph.node for value in node.input)
    assert edges
    return Counter(node.op_type for node in graph.node)


def dump_types(path: str) -> Counter[str]:
    """The op types of a dump, by protobuf's own reader of text."""
    from google.protobuf import text_format

    with open(path, encoding="utf-8") as file:
        model = text_format.Parse(file.read(), _message("ModelDef"))
    return Counter(op.type for graph in model.graph for op in graph.op)


def _message(name: str) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="ge.proto", package="bench", syntax="proto3")
    kinds = {"s": 9, "i": 3, "b": 8}
    for enum, words in _ENUMS.items():
        made = file.enum_type.add(name=enum)
        for number, word in enumerate(words):
            made.value.add(name=word, number=number)
    for title, fields in _FIELDS.items():
        message = file.message_type.add(name=title)
        for number, declaration in enumerate(fields.split(), 1):
            field, _, kind = declaration.partition(":")
            own = message.field.add(name=field, number=number, label=3 if kind.endswith("*") else 1)
            kind = kind.rstrip("*")
            own.type = kinds.get(kind, 14 if kind in _ENUMS else 11)
            if kind not in kinds:
                own.type_name = f".bench.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"bench.{name}"))()


def main(words: list[str]) -> int:
    kind, path = words
    for op_type, count in sorted((onnx_types if kind == "onnx" else dump_types)(path).items()):
        print(op_type, count, sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
