"""GE dumps ``ge_onnx_*.pbtxt``: the graph engine's graph in the text form of ONNX, read as a stream.

Types are ``ge:<type>``; dtypes, shapes and formats are attributes of the node. Written from the code that writes such
files (hicann/ge graph_metadef/graph/utils/ge_ir_utils.cc:26-92, 327-478, 672-760, 1296-1320); never tried on a real
file, since none is public.
"""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

from .blocks import blocks, printed
from .dtypes import word_dtype
from .ge_model import CONTINUOUS, FUSED_FROM, LISTS, NUMBERS, PARENT, Desc, GeModel, Op
from .textproto import TextFault, parse, string

if TYPE_CHECKING:
    from typing import IO

    from ..graph import ModelGraph

_CONTAINERS = frozenset({("graph",)})
_ATTRIBUTE = b"\n    attribute {\n"
_TENSOR = re.compile(r"(input|output)_desc_([a-z_]+):([0-9]{1,6})")
_WHOLE = re.compile(r"(input|output)_desc_([0-9]{1,6})")
_STRING = re.compile(rb'^ *(?:s|strings): "(.*)"$', re.M)
_NUMBER = re.compile(rb"^ *(?:i|ints): (-?\d{1,20})$", re.M)
_NAME = re.compile(rb' *name: "(.*)"\n')
_MOST_TENSORS = 1 << 16

Said = dict[str, object]


def read_ge_onnx(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a dump.

    :raises TextFault: if the text is broken
    :raises Damaged: if an edge refers to a missing node
    """
    model = GeModel("ge-onnx", path)
    model.open_graph()
    later: list[bytes] = []
    for block in blocks(file, _CONTAINERS):
        try:
            if block.inside and block.name == "node":
                _node(model, block.text, later)
            elif block.inside and block.name == "name":
                model.name_graph(string(block.text.split(b'"', 1)[1].rstrip()[:-1]) if b'"' in block.text else "")
        except TextFault as fault:
            raise TextFault(block.at + fault.at, fault.said) from None
    for text in later:
        _subgraph(model, text)
    return model.close()


def _node(model: GeModel, text: bytes, later: list[bytes]) -> None:
    if b'\n    op_type: "subgraph"\n' in text:
        later.append(text)
        return
    parts = text.split(_ATTRIBUTE)
    head = b"\n".join(
        line for part in parts for line in part.split(b"\n") if line.startswith(b"    ") and line[4:5] != b" "
    )
    name = op_type = ""
    inputs: list[str] = []
    for line in head.split(b"\n"):
        field, _, value = line.strip().partition(b": ")
        if field == b"input":
            inputs.append(string(value[1:-1]))
        elif field == b"name":
            name = string(value[1:-1])
        elif field == b"op_type":
            op_type = string(value[1:-1]).removeprefix("ge:")
    attributes: dict[str, int | tuple[int, ...]] = {}
    fused: list[str] = []
    tensors: dict[tuple[str, int], Said] = {}
    for part in parts[1:]:
        _attribute(part, attributes, fused, tensors)
    descs = {side: _descs(model, tensors, side) for side in ("input", "output")}
    model.add(Op(name, op_type, inputs, descs["input"], descs["output"], attributes, (), fused))


def _attribute(
    part: bytes, attributes: dict[str, int | tuple[int, ...]], fused: list[str], tensors: dict[tuple[str, int], Said]
) -> None:
    named = _NAME.match(part)
    name = string(named[1]) if named else ""
    if name in NUMBERS and (number := _NUMBER.search(part)):
        attributes[name] = int(number[1])
    elif name in LISTS:
        attributes[name] = tuple(map(int, _NUMBER.findall(part)))
    elif name == FUSED_FROM:
        fused += [string(each) for each in _STRING.findall(part)]
    elif match := _TENSOR.fullmatch(name):
        side, what, index = match[1], match[2], int(match[3])
        said = tensors.setdefault((side, index), {})
        if words := _STRING.search(part):
            said[what] = string(words[1])
        else:
            said[what] = [int(each) for each in _NUMBER.findall(part)]
    elif (match := _WHOLE.fullmatch(name)) and (words := _STRING.search(part)):
        tensors[match[1], int(match[2])] = _from_json(string(words[1]))


def _from_json(text: str) -> Said:
    """Return a tensor whose description is one attribute, as in nodes with at least twenty inputs."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise TextFault(0, "the JSON of a tensor's description is broken") from None
    if not isinstance(said, dict):
        raise TextFault(0, "the JSON of a tensor's description is not an object")
    for name in (CONTINUOUS, PARENT):
        if isinstance(shown := said.get(name), str) and (number := _NUMBER.search(shown.encode())):
            said[f"attr_{name}"] = [int(number[1])]
    return said


def _descs(model: GeModel, tensors: dict[tuple[str, int], Said], side: str) -> list[Desc]:
    last = max((index for which, index in tensors if which == side), default=-1)
    if last >= _MOST_TENSORS:
        raise TextFault(0, f"a node has more than {_MOST_TENSORS} tensors")
    return [_desc(model, tensors.get((side, index), {})) for index in range(last + 1)]


def _desc(model: GeModel, said: Said) -> Desc:
    words = {}
    for ours, theirs in (("origin_data_type", "origin_dtype"), ("origin_format", "origin_layout")):
        if isinstance(word := said.get(theirs), str) and word not in ("DT_UNDEFINED", "RESERVED"):
            words[ours] = word
    numbers = {name: each[0] for name in (CONTINUOUS, PARENT) if (each := _integers(said.get(f"attr_{name}")))}
    dtype, layout = said.get("dtype"), said.get("layout")
    return model.descriptor(
        word_dtype(dtype) if isinstance(dtype, str) else None,
        layout if isinstance(layout, str) else None,
        _integers(said.get("shape")) or (),
        words,
        _integers(said.get("origin_shape")),
        numbers,
    )


def _integers(value: object) -> tuple[int, ...] | None:
    return tuple(each for each in value if isinstance(each, int)) if isinstance(value, list) else None


def _subgraph(model: GeModel, text: bytes) -> None:
    """A node of type ``subgraph`` holds another graph in its attribute."""
    for node in parse(text).get("node", []):
        for attribute in node.get("attribute", []) if isinstance(node, dict) else []:
            for graph in attribute.get("g", []) if isinstance(attribute, dict) else []:
                if not isinstance(graph, dict):
                    continue
                model.open_graph()
                names = graph.get("name", [b""])
                model.name_graph(names[0].decode("utf-8", "replace") if isinstance(names[0], bytes) else "")
                again: list[bytes] = []
                for block in blocks(io.BytesIO(printed({"graph": [{"node": graph.get("node", [])}]})), _CONTAINERS):
                    if block.name == "node":
                        _node(model, block.text, again)
                for inner in again:
                    _subgraph(model, inner)
