"""Models of the graph engine (``ge.proto.ModelDef``): compiled models (``.om``), dumps (``ge_proto_*.txt``), ATC JSON.

Field numbers: hicann/ge graph_metadef/proto/ge_ir.proto:60-353; inputs (``producer:output``, empty for an absent one,
``producer:-1`` for a control edge): graph_metadef/graph/serialization/model_serialize.cc:117-165. ``.om``:
inc/framework/common/framework_types_internal.h:675-790 (header, both tables, partition types),
base/common/helper/om_file_helper.cc:152-262 (which table it is, and that partitions are contiguous). JSON: from the
code that writes such files (parser/parser/common/convert/pb2json.cc:36-249); never tried on a real file, since none is
public. Read on real files: a compiled model of 2021 with the small table, and from the graph engine's own tests three
with the large one and four dumps.
"""

from __future__ import annotations

import json
import re
import shlex
import struct
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ....errors import Damaged, Refused
from ..builder import GraphBuilder
from ..dtypes import ge_dtype, word_dtype
from ..graph import CONSTANTS, GraphTensor, ModelFacts, Weights
from .framework_model import Notes
from .protobuf import (
    NUMBER,
    PLACE,
    TEXT,
    Decoder,
    TextFault,
    WireFault,
    fields,
    messages,
    numbers,
    parse,
    values,
    word,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import IO, TypeAlias

    from ..graph import ModelFormat, ModelGraph
    from .protobuf import Message

    Desc: TypeAlias = tuple[GraphTensor, int]
    """A tensor, and for a subgraph's output the parent's output that it feeds (-1: none)."""

_PARENT, _CONTINUOUS, _MODE = "_parent_node_index", "_format_continuous", "graph_precision_mode"
_NUMBERS = ("_keep_dtype", "_inherit_dtype_from_predecessor", "_force_fp32_to_fp16", _PARENT, "judge_match_idx")
"""Attributes of a node that are kept, integers."""
_LISTS = ("_format_agnostic_except_input", "_format_agnostic_except_output")
"""Attributes of a node that are kept, lists of integers: tensors that the pass after the judge spares."""
_FACTS = ("atc_cmdline", "soc_version")
"""Attributes of a model that are kept, strings."""
_FUSED_FROM, _VALUE = "_datadump_original_op_names", "value"
_ORIGINAL = ("origin_data_type", "origin_format", "origin_shape")
_KEPT = frozenset(
    name.encode() for name in (*_NUMBERS, *_LISTS, *_FACTS, *_ORIGINAL, _FUSED_FROM, _MODE, _CONTINUOUS, _VALUE)
)
_CASTS = "trans_Cast_"
_LARGEST_INDEX = (1 << 31) - 1
_LONGEST_JSON = 1 << 30
_MOST_CACHED = 1 << 14

_TABLE = {
    "Model": {11: ("attr", "Entry")},
    "Graph": {1: ("name", TEXT), 11: ("attr", "Entry")},
    "Op": {
        1: ("name", TEXT),
        2: ("type", TEXT),
        5: ("input", TEXT),
        10: ("attr", "Entry"),
        33: ("input_desc", "Desc"),
        34: ("output_desc", "Desc"),
        35: ("subgraph_name", TEXT),
    },
    "Entry": {1: ("key", TEXT), 2: ("value", "Attribute")},
    "Attribute": {1: ("list", "List"), 2: ("s", TEXT), 3: ("i", NUMBER), 5: ("b", NUMBER), 12: ("t", "Tensor")},
    "List": {2: ("s", TEXT), 3: ("i", NUMBER)},
    "Desc": {2: ("dtype", NUMBER), 3: ("shape", "Shape"), 4: ("layout", TEXT), 5: ("attr", "Entry")},
    "Shape": {1: ("dim", NUMBER)},
    "Tensor": {1: ("desc", "Place"), 2: ("data", PLACE)},
    "Place": {11: ("weight_size", NUMBER), 18: ("data_offset", NUMBER)},
}
_GRAPH, _OPERATOR = 7 << 3 | 2, 6 << 3 | 2


class _Model:
    """Takes graphs in the file's order as messages, and makes the graph value.

    :ivar store: the partition of weights, if the file has one
    """

    def __init__(self, format: ModelFormat, path: str) -> None:
        self.builder = GraphBuilder(path=path)
        self.path = path
        self.notes = Notes()
        self.store: Weights | None = None
        self._format = format
        self._facts: dict[str, str] = {}
        self._mode: int | None = None
        self._owners: dict[str, int] = {}
        self._owned: list[str] = []
        self._names: set[str] = set()
        self._tensors: dict[GraphTensor, GraphTensor] = {}
        self._waiting: list[tuple[str, list[Message]]] = []
        self._judged = False

    def facts(self, document: Message) -> None:
        for name, value in _entries(document):
            if name in _FACTS and values(value, "s"):
                self._facts[name] = word(value, "s")

    def graph(self, graph: Message, operators: Iterable[Message]) -> None:
        """Add a graph; the first one is the main graph, the others wait for the node that owns them."""
        name = word(graph, "name")
        for key, value in _entries(graph):
            if key == _MODE and self._mode is None:
                self._mode = _number(value)
        if not self._names:
            self.builder.name_graph(name)
            for operator in operators:
                self._add(operator)
        elif not name or name not in self._names:  # a file of several models repeats the subgraphs of the first
            self._waiting.append((name, list(operators)))
        self._names.add(name)

    def close(self) -> ModelGraph:
        """:raises Damaged: if an edge or a subgraph refers to a missing node"""
        position = {name: number for number, (name, _) in enumerate(self._waiting) if name}
        placed: set[int] = set()
        rest = iter(range(len(self._waiting)))
        while len(placed) < len(self._waiting):  # a subgraph comes after the graph that owns it, one without owner last
            ready = sorted(position.pop(name) for name in self._owned if name in position)
            self._owned.clear()
            ready = ready or [next(number for number in rest if number not in placed)]
            for number in ready:
                name, operators = self._waiting[number]
                position.pop(name, None)
                self.builder.subgraph(name, self._owners.get(name))
                for operator in operators:
                    self._add(operator)
            placed.update(ready)
        facts = self._facts
        command = facts.get("atc_cmdline", "")
        changed = any(tensor.original_dtype not in (None, tensor.dtype) for tensor in self._tensors)
        model = ModelFacts(
            format=self._format,
            path=self.path,
            soc_version=facts.get("soc_version") or None,
            atc_cmdline=command or None,
            graph_precision_mode=self._mode,
            command=_arguments(command),
            judged=self._judged or self._format == "om" or changed,
            notes=self.notes.all(),
        )
        return self.builder.build(model)

    def desc(self, message: Message) -> Desc:
        attributes = dict(_entries(message))
        shape = tuple(dim for proto in messages(message, "shape") for dim in numbers(proto, "dim"))
        dtype = next(reversed(values(message, "dtype")), None)
        if isinstance(dtype, str) and dtype.isdigit() and len(dtype) < 10:
            dtype = int(dtype)
        data_type, layout, shape_before = map(attributes.get, _ORIGINAL)
        made = GraphTensor(
            ge_dtype(dtype) if isinstance(dtype, int) else word_dtype(dtype) if isinstance(dtype, str) else None,
            word_dtype(word(data_type, "s")) if word(data_type, "s") else None,
            word(layout, "s") or word(message, "layout") or None,
            shape if shape_before is None else _integers(shape_before),
            bool(_number(attributes.get(_CONTINUOUS))),
        )
        parent = _number(attributes.get(_PARENT))
        return self._tensors.setdefault(made, made), -1 if parent is None else parent

    def _descs(self, operator: Message, name: str) -> list[Desc]:
        return [value if isinstance(value, tuple) else self.desc(value) for value in values(operator, name)]

    def _add(self, operator: Message) -> None:
        name, op_type = word(operator, "name"), word(operator, "type")
        inputs, outputs = self._descs(operator, "input_desc"), self._descs(operator, "output_desc")
        sources: list[tuple[int | str, int] | None] = []
        control: list[int | str] = []
        for source in words(operator, "input"):
            producer, _, number = source.rpartition(":") if ":" in source else (source, "", "0")
            if not producer:
                sources.append(None)
            elif number == "-1":
                control.append(producer)
            else:
                # 0 for other text, as in the engine's `strtol`
                is_number = number.isascii() and number.isdigit()
                sources.append((producer, min(int(number[:18]), _LARGEST_INDEX) if is_number else 0))
        sources += [None] * (len(inputs) - len(sources))
        attributes: dict[str, object] = {}
        fused: list[str] = []
        weights = None
        for key, value in _entries(operator):
            if key in _NUMBERS and (kept := _number(value)) is not None:
                attributes["parent_input" if key == _PARENT else key] = kept
            elif key in _LISTS:
                attributes[key] = _integers(value)
            elif key == _FUSED_FROM:
                fused += [text for listed in messages(value, "list") for text in words(listed, "s")]
            elif key == _VALUE and op_type in CONSTANTS:
                weights = weights or self._constant(value)
        if op_type == "NetOutput" and any(parent >= 0 for _, parent in inputs):
            attributes["parent_outputs"] = tuple(parent for _, parent in inputs)
        self._judged = self._judged or "judge_match_idx" in attributes or name.startswith(_CASTS)
        index = self.builder.add(
            name,
            op_type,
            sources,
            [tensor for tensor, _ in outputs],
            inputs=[tensor for tensor, _ in inputs],
            control=control,
            attributes=attributes,
            fused_names=fused,
            weights=weights,
        )
        for body in words(operator, "subgraph_name"):
            if self._owners.setdefault(body, index) == index:
                self._owned.append(body)

    def _constant(self, value: Message) -> Weights | None:
        """Return the place of a constant's values: in its own attribute, else in the partition of weights."""
        store = self.store
        for tensor in messages(value, "t"):
            place = next((data for data in values(tensor, "data") if isinstance(data, Weights)), None)
            if place is not None:
                return place
            for desc in messages(tensor, "desc"):
                offset, size = (next(iter(numbers(desc, name)), 0) for name in ("data_offset", "weight_size"))
                if store is not None and size > 0 and 0 <= offset <= store.size - size:
                    return Weights(store.path, store.offset + offset, size)
        return None


def _arguments(command: str) -> tuple[str, ...]:
    """Return the command split into arguments as in a shell; at blanks if its quotes do not match."""
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return tuple(command.split())


def _entries(message: object) -> Iterator[tuple[str, Message]]:
    for entry in messages(message, "attr"):
        yield word(entry, "key"), next(iter(messages(entry, "value")), {})


def _number(value: object) -> int | None:
    return next(iter([*numbers(value, "i"), *numbers(value, "b")]), None)


def _integers(value: object) -> tuple[int, ...]:
    return tuple(number for listed in messages(value, "list") for number in numbers(listed, "i"))


# compiled models

_HEADER = 256
_LENGTH, _ENCRYPTED, _KIND, _MODELS, _LONG_LENGTH = 0x4C, 0x50, 0x52, 0x9C, 0xB8
_FLOW_MODEL = 3
_SMALL, _LARGE = struct.Struct("<III"), struct.Struct("<IIQQ")
_MODEL_DEF, _WEIGHTS, _FLOW_SUBMODEL = 0, 1, 7
_MOST_PARTITIONS, _MOST_MODELS = 4096, 1 << 16


class Partition(NamedTuple):
    """A part of a compiled model; offset and size in bytes, from the start of the file."""

    kind: int
    offset: int
    size: int


def partitions(file: IO[bytes], path: str) -> list[list[Partition]]:
    """The partitions of each model of the file.

    :raises Damaged: if the header or a table is broken, or exceeds the file
    :raises Refused: if the model is encrypted
    """
    size = file.seek(0, 2)
    file.seek(0)
    header = file.read(_HEADER)
    if len(header) < _HEADER:
        raise _damaged(path, f"the header of a compiled model has {_HEADER} bytes, the file {size}", len(header))
    (short_length,), (long_length,) = (
        struct.unpack_from("<I", header, _LENGTH),
        struct.unpack_from("<Q", header, _LONG_LENGTH),
    )
    if header[_ENCRYPTED]:
        raise Refused("the compiled model is encrypted", name="encrypted-model", path=path)
    length = long_length or short_length
    if length > size - _HEADER:
        message = f"its header announces {length} bytes, there are {size - _HEADER}"
        raise _damaged(path, f"the compiled model is cut off: {message}", _LENGTH)
    large = bool(long_length) or header[_KIND] == _FLOW_MODEL
    models = max(min(struct.unpack_from("<I", header, _MODELS)[0], _MOST_MODELS), 1)
    entry, head_size = (_LARGE, 8) if large else (_SMALL, 4)
    found, at = [], _HEADER
    for _ in range(models):
        if at >= size:
            break
        begin = at + head_size
        file.seek(at)
        head = file.read(4)
        count = struct.unpack("<I", head)[0] if len(head) == 4 else 0
        if not 0 < count <= _MOST_PARTITIONS or begin + count * entry.size > size:
            raise _damaged(path, f"a table of {count} partitions does not fit into the file", at)
        file.seek(begin)
        rows = list(entry.iter_unpack(file.read(count * entry.size)))
        base = at = begin + count * entry.size
        table = []
        for row in rows:
            kind, offset, length = (row[0], row[2], row[3]) if large else row
            begin = base + offset if offset + length <= size - base else at
            if length > size or begin > size - length:
                raise _damaged(path, f"partition {kind} has {length} bytes, {max(size - begin, 0)} are left", begin)
            table.append(Partition(kind, begin, length))
            at = begin + length
        found.append(table)
    return found


def _damaged(path: str, message: str, at: int) -> Damaged:
    return Damaged(f"{message} (byte {at})", name="damaged-model", path=path)


def read_om(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a compiled model.

    :raises Damaged: if the file is broken
    :raises Refused: if it is encrypted
    :raises WireFault: if its graph is broken
    """
    model = _Model("om", path)
    found = False
    for table in partitions(file, path):
        weights = next((part for part in table if part.kind == _WEIGHTS), None)
        model.store = Weights(path, weights.offset, weights.size) if weights else None
        for part in table:
            if part.kind == _MODEL_DEF:
                found = True
                file.seek(part.offset)
                try:
                    _read_binary(file.read(part.size), part.offset, model)
                except WireFault as fault:
                    raise WireFault(part.offset + fault.at, fault.message) from None
            elif part.kind == _FLOW_SUBMODEL:
                model.notes.add("flow-submodel", "only the graph of a flow model is read, not the models inside")
    if not found:
        raise _damaged(path, "the compiled model has no graph", _HEADER)
    return model.close()


def _read_binary(data: bytes, start: int, model: _Model) -> None:
    """Read the binary form, one operator at a time."""
    decoder = Decoder(data, _TABLE, model.path, start, _KEPT, {"Desc": model.desc})
    for tag, first, last in fields(data, 0, len(data)):
        if tag == _GRAPH:
            places = [place for inner, *place in fields(data, first, last) if inner == _OPERATOR]
            model.graph(decoder.message("Graph", first, last), (decoder.message("Op", *place) for place in places))
    model.facts(decoder.message("Model", 0, len(data)))


# ATC JSON


def read_ge_json(file: IO[bytes], path: str) -> ModelGraph:
    """Return the graph of a file from ``atc --mode=1`` or ``--mode=5``.

    :raises Damaged: if it is not JSON, or not a model
    """
    data = file.read(_LONGEST_JSON + 1)
    if len(data) > _LONGEST_JSON:
        raise Damaged(f"the JSON is longer than {_LONGEST_JSON >> 30} GiB", name="bad-json", path=path)
    try:
        document = json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except json.JSONDecodeError as error:
        raise Damaged(error.msg, name="bad-json", path=path, line=error.lineno, column=error.colno) from None
    except UnicodeDecodeError as error:
        raise Damaged(f"the JSON is not UTF-8 (byte {error.start})", name="bad-json", path=path) from None
    except (RecursionError, ValueError):
        message = "the JSON is nested too deep, or has a number of thousands of digits"
        raise Damaged(message, name="bad-json", path=path) from None
    graphs = messages(document, "graph")
    if not graphs:
        raise Damaged("not a model (expected the JSON of atc --mode=1)", name="bad-json", path=path)
    model = _Model("atc-json", path)
    for graph in graphs:
        model.graph(graph, messages(graph, "op"))
    model.facts(document)
    return model.close()


# dumps

_LINE = re.compile(rb"( *)([A-Za-z_]\w*)(?: (\{)|: .*)\n")
_KEY = re.compile(rb' *key: "([^"\\\n]*)"\n')
_STRING = re.compile(rb' *\w+: "([^"\\\n]*)"\n')
_DATA = b'\n          data: "'


def read_ge_text(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a dump, which protobuf prints one field a line, two blanks of indentation a level.

    :raises TextFault: if the text is broken
    :raises Damaged: if an edge refers to a missing node
    """
    text = file.read()
    return _Dump(text if text.endswith(b"\n") else text + b"\n", _Model("ge-proto", path)).read()


class _Dump:
    """Splits a dump by searching for the lines that close messages; attributes that are not kept are not read."""

    def __init__(self, text: bytes, model: _Model) -> None:
        self._text = text
        self._model = model
        self._descs: dict[bytes, Desc] = {}
        self._parsed = lru_cache(_MOST_CACHED)(parse)

    def read(self) -> ModelGraph:
        document: Message = {}
        for field in self._fields(0, len(self._text), 0):
            if field.name == "graph":
                graph: Message = {}
                operators = []
                for inner in self._fields(field.inner, field.end - 2, 1):
                    if inner.name == "op":
                        operators.append(inner)
                    else:
                        self._put(graph, inner)
                self._model.graph(graph, map(self._operator, operators))
            else:
                self._put(document, field)
        self._model.facts(document)
        return self._model.close()

    def _operator(self, operator: _Field) -> Message:
        message: Message = {}
        for field in self._fields(operator.inner, operator.end - 4, 2):
            if field.name in ("input_desc", "output_desc"):
                message.setdefault(field.name, []).append(self._desc(field))
            else:
                self._put(message, field)
        return message

    def _desc(self, field: _Field) -> Desc:
        text = self._text[field.inner : field.end]
        found = self._descs.get(text)
        if found is None:
            message: Message = {}
            for inner in self._fields(field.inner, field.end - 6, 3):
                self._put(message, inner)
            if len(self._descs) >= _MOST_CACHED:
                self._descs.clear()
            found = self._descs[text] = self._model.desc(message)
        return found

    def _put(self, message: Message, field: _Field) -> None:
        """Add a field to a message; an attribute only if it is kept, and of a constant the place of its values."""
        text = self._text
        if field.name == "attr":
            key = _KEY.match(text, field.inner, field.end)
            if not key or key[1] not in _KEPT:
                return
            if key[1] == _VALUE.encode():
                data = text.find(_DATA, field.inner, field.end) + len(_DATA)
                end = text.find(b'"\n', data, field.end)
                if data >= len(_DATA) and end >= 0:  # omitted by DUMP_GE_GRAPH 2 and 3 (graph_utils.cc:807)
                    place = Weights(self._model.path, data, end - data, "escaped")
                    value = {"t": {"data": place}}
                    message.setdefault("attr", []).append({"key": _VALUE, "value": value})
                return
        elif string := _STRING.match(text, field.begin, field.end):
            message.setdefault(field.name, []).append(string[1])
            return
        try:
            message.setdefault(field.name, []).extend(self._parsed(text[field.begin : field.end])[field.name])
        except TextFault as fault:
            raise TextFault(field.begin + fault.at, fault.message) from None

    def _fields(self, at: int, end: int, depth: int) -> Iterator[_Field]:
        """The fields of a message between two places.

        :raises TextFault: if a line is not a field of this depth, or a field does not end
        """
        text = self._text
        indent = b"  " * depth
        closing = b"\n" + indent + b"}\n"
        while at < end:
            line = _LINE.match(text, at, end)
            if line and line[1] == indent:
                stop = line.end()
                if line[3]:
                    stop = text.find(closing, stop - 1, end) + len(closing)
                    if stop < len(closing):
                        raise TextFault(end, "the text ends inside a field")
                yield _Field(line[2].decode(), at, line.end(), stop)
                at = stop
            elif depth == 0 and text.startswith(b"\n", at):
                at += 1
            else:
                raise TextFault(at, "the text is not laid out as the graph engine prints it, one field a line")


class _Field(NamedTuple):
    """A field of a text: where it begins, where its second line begins, and where it ends."""

    name: str
    begin: int
    inner: int
    end: int
