"""Messages of the graph engine and of TensorFlow, made with the protobuf package from descriptors written here.

The results of the readers are compared with these, which share no code with them.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_TYPES = {
    "bytes": 12,
    "string": 9,
    "int64": 3,
    "int32": 5,
    "uint32": 13,
    "float": 2,
    "double": 1,
    "bool": 8,
}

_GE_DTYPES = """UNDEFINED FLOAT FLOAT16 INT8 UINT8 INT16 UINT16 INT32 INT64 UINT32 UINT64 BOOL DOUBLE STRING
DUAL_SUB_INT8 DUAL_SUB_UINT8 COMPLEX64 COMPLEX128
QINT8 QINT16 QINT32 QUINT8 QUINT16 RESOURCE STRING_REF DUAL VARIANT BF16 INT4 UINT1
INT2 UINT2 COMPLEX32 HIFLOAT8"""
_LIST_TYPES = "NONE STRING INT FLOAT BOOL BYTES TENSOR_DESC TENSOR GRAPH NAMED_ATTRS DATA_TYPE"

_GE = """
ListValue: s*=2:bytes i*=3:int64 f*=4:float b*=5:bool bt*=7:bytes td*=8:TensorDescriptor t*=9:TensorDef g*=10:GraphDef
ListValue: na*=11:NamedAttrs dt*=12:int64 val_type=20:ListValueType
AttrDef: s=2:bytes i=3:int64 f=4:float b=5:bool bt=7:bytes list=1:ListValue func=10:NamedAttrs td=11:TensorDescriptor
AttrDef: t=12:TensorDef g=13:GraphDef dt=15:int64 expression=17:bytes
AttrEntry: key=1:string value=2:AttrDef
NamedAttrs: name=1:string attr*=2:AttrEntry
ShapeDef: dim*=1:int64
TensorDescriptor: name=1:string dtype=2:DataType shape=3:ShapeDef layout=4:string attr*=5:AttrEntry
TensorDescriptor: has_out_attr=9:bool
TensorDescriptor: size=10:int64 weight_size=11:int64 device_type=14:string real_dim_cnt=16:int64 data_offset=18:int64
TensorDescriptor: output_tensor=13:bool
TensorDef: desc=1:TensorDescriptor data=2:bytes
OpDef: name=1:string type=2:string input*=5:string attr*=10:AttrEntry has_out_attr=20:bool
OpDef: id=21:int64 stream_id=22:int64
OpDef: input_name*=23:string src_name*=24:string src_index*=25:int64 dst_name*=26:string dst_index*=27:int64
OpDef: input_i*=28:int64 output_i*=29:int64 workspace*=30:int64 workspace_bytes*=31:int64 is_input_const*=32:bool
OpDef: input_desc*=33:TensorDescriptor output_desc*=34:TensorDescriptor subgraph_name*=35:string
GraphDef: name=1:string input*=4:string output*=5:string op*=6:OpDef attr*=11:AttrEntry
ModelDef: name=1:string version=2:uint32 custom_version=3:string graph*=7:GraphDef attr*=11:AttrEntry
"""

_TF = """
Dim: size=1:int64 name=2:string
TensorShapeProto: dim*=2:Dim unknown_rank=3:bool
TensorProto: dtype=1:int32 tensor_shape=2:TensorShapeProto version_number=3:int32 tensor_content=4:bytes
TensorProto: half_val*=13:int32
TensorProto: float_val*=5:float double_val*=6:double int_val*=7:int32 string_val*=8:bytes int64_val*=10:int64
ListValue: s*=2:bytes i*=3:int64 f*=4:float b*=5:bool type*=6:int32 shape*=7:TensorShapeProto func*=9:NameAttrList
AttrValue: s=2:bytes i=3:int64 f=4:float b=5:bool type=6:int32 shape=7:TensorShapeProto tensor=8:TensorProto
AttrValue: list=1:ListValue func=10:NameAttrList
NameAttrList: name=1:string
AttrEntry: key=1:string value=2:AttrValue
NodeDef: name=1:string op=2:string input*=3:string device=4:string attr*=5:AttrEntry
ArgDef: name=1:string type=3:int32
OpDef: name=1:string input_arg*=2:ArgDef output_arg*=3:ArgDef
WordEntry: key=1:string value=2:string
FunctionDef: signature=1:OpDef node_def*=3:NodeDef ret*=4:WordEntry
Library: function*=1:FunctionDef
GraphDef: node*=1:NodeDef library=2:Library
TensorInfo: name=1:string dtype=2:int32
InfoEntry: key=1:string value=2:TensorInfo
SignatureDef: inputs*=1:InfoEntry outputs*=2:InfoEntry
SignatureEntry: key=1:string value=2:SignatureDef
MetaGraphDef: graph_def=2:GraphDef signature_def*=5:SignatureEntry
SavedModel: saved_model_schema_version=1:int64 meta_graphs*=2:MetaGraphDef
"""


def _pool(package: str, text: str, enums: dict[str, list[str]]) -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for name, words in enums.items():
        enum = file.enum_type.add(name=name)
        for number, word in enumerate(words):
            enum.value.add(name=word, number=number)
    for line in text.strip().splitlines():
        name, _, members = line.partition(": ")
        message = next((each for each in file.message_type if each.name == name), None) or file.message_type.add(
            name=name
        )
        for member in members.split():
            field, kind = member.split(":")
            word, _, tag = field.partition("=")
            made = message.field.add(name=word.rstrip("*"), number=int(tag), label=3 if word.endswith("*") else 1)
            if name in ("AttrDef", "AttrValue"):
                if not message.oneof_decl:
                    message.oneof_decl.add(name="value")
                made.oneof_index = 0
            if kind in _TYPES:
                made.type = _TYPES[kind]
            else:
                made.type, made.type_name = (14 if kind in enums else 11), f".{package}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        each.name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{each.name}"))
        for each in file.message_type
    }


GE = _pool(
    "ge_test",
    _GE,
    {
        "DataType": [f"DT_{word}" for word in _GE_DTYPES.split()],
        "ListValueType": [f"VT_LIST_{word}" for word in _LIST_TYPES.split()],
    },
)
TF = _pool("tf_test", _TF, {})

_TF_DTYPES = {"float32": 1, "float64": 2, "int32": 3, "int64": 9, "bool": 10, "float16": 19, "resource": 20}


def put(owner: Any, name: str, **value: Any) -> None:
    """Give a message an attribute; ``strings`` and ``integers`` make lists."""
    entry = owner.attr.add(key=name)
    for kind, content in value.items():
        if kind == "strings":
            entry.value.list.s.extend(each.encode() for each in content)
            entry.value.list.val_type = 1
        elif kind == "integers":
            entry.value.list.i.extend(content)
            entry.value.list.val_type = 2
        else:
            setattr(entry.value, kind, content)


def node(graph: Any, name: str, op: str, *inputs: str, **attributes: Any) -> Any:
    """Add a node to a GraphDef of TensorFlow; attributes that are dtypes are given by name."""
    made = (graph.node if hasattr(graph, "node") else graph.node_def).add(name=name, op=op, input=inputs)
    for key, value in attributes.items():
        entry = made.attr.add(key=key)
        if value in _TF_DTYPES if isinstance(value, str) else False:
            entry.value.type = _TF_DTYPES[value]
        elif isinstance(value, str):
            entry.value.func.name = value
        elif isinstance(value, int):
            entry.value.i = value
        elif isinstance(value, tuple):
            entry.value.list.type.extend(_TF_DTYPES[each] for each in value)
        elif isinstance(value, list):
            entry.value.shape.dim.extend(TF["Dim"](size=each) for each in value)
        else:
            entry.value.tensor.CopyFrom(value)
    return made


def om_bytes(model: bytes, weights: bytes = b"", large: bool = False) -> bytes:
    """A compiled model's file around a ModelDef."""
    import struct

    parts = [(0, model), (1, weights)]
    table, at = struct.pack("<I4x" if large else "<I", len(parts)), 0
    for kind, data in parts:
        table += struct.pack("<I4xQQ" if large else "<III", kind, at, len(data))
        at += len(data)
    body = table + model + weights
    header = bytearray(256)
    header[:12] = struct.pack("<4sII", b"IMOD", 256, 0x20000000)
    struct.pack_into("<I", header, 0x4C, 0 if large else len(body))
    struct.pack_into("<I", header, 0x9C, 1)
    struct.pack_into("<Q", header, 0xB8, len(body) if large else 0)
    return bytes(header) + body
