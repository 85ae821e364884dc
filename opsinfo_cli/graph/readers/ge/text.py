"""GE dumps ``ge_proto_*.txt``: ``ge.proto.ModelDef`` as text, read as a stream.

Protobuf's layout is regular, so an operator is split by searching for its separating lines, and descriptions
of tensors that were seen before are not read again. Source: hicann/ge graph_metadef/proto/ge_ir.proto:60-353; read on
four real dumps of the graph engine's own tests.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ...dtypes import ge_dtype, word_dtype
from ...graph import Weights
from ..textproto import TextFault, string
from .model import CONTINUOUS, FACTS, FUSED_FROM, LISTS, MODE, NUMBERS, PARENT, Desc, GeModel, Op

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from ...graph import ModelGraph

_INPUT_DESC, _OUTPUT_DESC = b"\n    input_desc {\n", b"\n    output_desc {\n"
_ATTR, _CLOSED = b"\n    attr {\n", b"\n    }"
_SUBGRAPH = b'\n    subgraph_name: "'
_DTYPE = re.compile(rb"^      dtype: (\w+)$", re.M)
_LAYOUT = re.compile(rb'^      layout: "(.*)"$', re.M)
_SHAPE = re.compile(rb"^      shape \{\n((?:        dim: .*\n)*)      \}$", re.M)
_NUMBER = re.compile(rb"\b(?:i|dim): (-?\d{1,20})")
_LISTED = re.compile(rb'^ *s: "(.*)"$', re.M)
_KEY = re.compile(rb'^ *key: "(.*)"$', re.M)
_MOST_CACHED = 1 << 14
_LONGEST_CACHED = 1 << 13


_OPENING = re.compile(rb"( *)([A-Za-z_]\w*) \{\n")
_SCALAR = re.compile(rb"( *)([A-Za-z_]\w*): ")
_STRICT = re.compile(rb"(?: *(?:[A-Za-z_]\w*(?: \{|: (?:[-+\w.]+|\"(?:[^\"\\\n]|\\.)*\"))|\}))?")

_CHUNK = 1 << 20
_LOOKED_AT = 1 << 14
"""The bytes at the beginning that are read line by line, to detect the layout."""


def read_ge_text(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a dump.

    :raises TextFault: if the text is broken
    :raises Damaged: if an edge refers to a missing node
    """
    return _Text(GeModel("ge-proto", path)).read(file)


class _Text:
    def __init__(self, model: GeModel) -> None:
        self._model = model
        self._descs: dict[bytes, Desc] = {}

    def read(self, file: IO[bytes]) -> ModelGraph:
        model = self._model
        start = file.tell()
        for block in _blocks(file):
            if block.inside:
                if block.name == "op":
                    try:
                        model.add(self._operator(block.text, start + block.at))
                    except TextFault as fault:
                        raise TextFault(block.at + fault.at, fault.message) from None
                elif block.name == "name":
                    model.name_graph(_quoted(block.text))
                elif block.name == "attr" and (mode := _attribute(block.text, b"    ", MODE.encode())) is not None:
                    number = _NUMBER.search(mode)
                    model.mode = int(number[1]) if number and model.mode is None else model.mode
            elif block.name == "graph":
                model.open_graph()
            elif block.name == "attr":
                self._fact(block.text)
        return model.close()

    def _fact(self, text: bytes) -> None:
        key, value = _KEY.search(text), _LISTED.search(text)
        if key and value and key[1].decode("ascii", "replace") in FACTS:
            self._model.facts[key[1].decode()] = string(value[1])

    def _operator(self, text: bytes, at: int) -> Op:
        """:param at: the byte of the file where the text begins"""
        parts = text.split(_OUTPUT_DESC)
        outputs = parts[1:]
        parts = parts[0].split(_INPUT_DESC)
        head, inputs = parts[0], parts[1:]
        top = head.find(_ATTR)
        name, op_type, sources = _top(head if top < 0 else head[:top])
        attributes: dict[str, int | tuple[int, ...]] = {}
        fused: list[str] = []
        if top >= 0:
            for attribute, said in _NUMBERS:
                if said in head and (value := _attribute(head, b"      ", said)) is not None:
                    attributes[attribute] = _first_number(value)
            for attribute, said in _LISTS if _AGNOSTIC in head else ():
                if (value := _attribute(head, b"      ", said)) is not None:
                    attributes[attribute] = tuple(map(int, _NUMBER.findall(value)))
            if _FUSED in head and (value := _attribute(head, b"      ", _FUSED)) is not None:
                fused = [string(each) for each in _LISTED.findall(value)]
        subgraphs = []
        if _SUBGRAPH in text:
            subgraphs = [_quoted(line) for line in text.split(b"\n") if line.startswith(b'    subgraph_name: "')]
        return Op(
            name,
            op_type,
            sources,
            [self._desc(said) for said in inputs],
            [self._desc(said) for said in outputs],
            attributes,
            subgraphs,
            fused,
            None if _VALUE not in head or op_type not in _CONSTANTS else self._weights(head, at),
        )

    def _weights(self, head: bytes, at: int) -> Weights | None:
        """Return the place of a constant's values; None if the dump omits them, as with ``DUMP_GE_GRAPH`` 2 and 3.

        Source: hicann/ge ffdcbc9f, inc/graph_metadef/graph/utils/graph_utils.h:59 and
        graph_metadef/graph/utils/graph_utils.cc:807.
        """
        if not (value := _attribute(head, b"      ", b"value")):
            return None
        line = value.find(_DATA)
        if line < 0 or (end := value.find(b'"\n', line + len(_DATA))) < 0:
            return None
        begin = line + len(_DATA)
        return Weights(self._model.path, at + head.find(value) + begin, end - begin, "escaped")

    def _desc(self, said: bytes) -> Desc:
        """Return a tensor's description, from the line after its opening one; text after its end is another field."""
        end = said.find(_CLOSED) + len(_CLOSED)
        if end != len(said):
            said = said[:end] if end >= len(_CLOSED) else b""
        found = self._descs.get(said)
        if found is None:
            found = self._described(said)
            if len(self._descs) >= _MOST_CACHED:
                self._descs.clear()
            if len(said) <= _LONGEST_CACHED:
                self._descs[said] = found
        return found

    def _described(self, said: bytes) -> Desc:
        dtype, layout, shape = _DTYPE.search(said), _LAYOUT.search(said), _SHAPE.search(said)
        words: dict[str, str] = {}
        numbers: dict[str, int] = {}
        original = None
        for name, key in _WORDS:
            if key in said and (value := _attribute(said, b"        ", key)) and (word := _LISTED.search(value)):
                words[name] = string(word[1])
        for name, key in _TENSOR_NUMBERS:
            if key in said and (value := _attribute(said, b"        ", key)) is not None:
                numbers[name] = _first_number(value)
        if _ORIGIN_SHAPE in said and (value := _attribute(said, b"        ", _ORIGIN_SHAPE)) is not None:
            original = tuple(map(int, _NUMBER.findall(value)))
        return self._model.descriptor(
            _dtype(dtype[1]) if dtype else None,
            string(layout[1]) if layout else None,
            tuple(map(int, _NUMBER.findall(shape[1]))) if shape else (),
            words,
            original,
            numbers,
        )


_NUMBERS = tuple((name, name.encode()) for name in NUMBERS)
_LISTS = tuple((name, name.encode()) for name in LISTS)
_AGNOSTIC = b"_format_agnostic_except_"
_TENSOR_NUMBERS = tuple((name, name.encode()) for name in (CONTINUOUS, PARENT))
_WORDS = tuple((name, name.encode()) for name in ("origin_data_type", "origin_format"))
_ORIGIN_SHAPE = b"origin_shape"
_FUSED = FUSED_FROM.encode()
_CONSTANTS = ("Const", "Constant")
_VALUE, _DATA = b'      key: "value"\n', b'\n          data: "'


def _top(head: bytes) -> tuple[str, str, list[str]]:
    """Name, type and inputs."""
    name = op_type = ""
    inputs = []
    for line in head.split(b"\n"):
        if line.startswith(b'    input: "'):
            inputs.append(_quoted(line))
        elif line.startswith(b'    name: "'):
            name = _quoted(line)
        elif line.startswith(b'    type: "'):
            op_type = _quoted(line)
    return name, op_type, inputs


def _quoted(line: bytes) -> str:
    """The string of a line ``name: "..."``.

    :raises TextFault: if the line has another form
    """
    begin = line.find(b'"') + 1
    if line[-1:] != b'"':
        line = line.rstrip()
    if begin == 0 or len(line) <= begin or line[-1:] != b'"':
        raise TextFault(0, "expected a string")
    body = line[begin:-1]
    return string(body) if b"\\" in body else body.decode("utf-8", "replace")


def _attribute(text: bytes, indent: bytes, key: bytes) -> bytes | None:
    """Return the lines inside the value of an attribute; ``indent`` precedes its key."""
    start = text.find(b"\n" + indent + b'key: "' + key + b'"\n')
    if start < 0:
        return None
    end = text.find(b"\n" + indent + b"}", start)
    return text[start + len(indent) + len(key) + 9 : end if end >= 0 else len(text)]


def _first_number(value: bytes) -> int:
    """An attribute's integer; ``b: true`` counts as 1."""
    number = _NUMBER.search(value)
    return int(number[1]) if number else int(b"b: true" in value)


def _dtype(word: bytes) -> str | None:
    return ge_dtype(int(word)) if word.isdigit() and len(word) < 10 else word_dtype(word.decode())


class Block(NamedTuple):
    """A field: a message with its opening and closing line, or a scalar's line.

    :param inside: whether it is in a graph
    :param at: the byte of the file it begins at
    """

    inside: bool
    name: str
    text: bytes
    at: int


def _blocks(file: IO[bytes]) -> Iterator[Block]:
    """The fields of a text; graphs are entered, and given with an empty text before.

    :raises TextFault: if the text is broken; its place is that in the file
    """
    start = file.tell()
    head = file.read(_LOOKED_AT)
    file.seek(start)
    if not _canonical(head):
        raise TextFault(start, "the text is not laid out as the graph engine prints it, one field a line")
    yield from _Stream(file).blocks()


def _canonical(head: bytes) -> bool:
    lines = head.split(b"\n")[:-1] if b"\n" in head else []
    return bool(lines) and all(_STRICT.fullmatch(line) for line in lines if len(line) < 1 << 12)


class _Stream:
    """A text in protobuf's layout: one field per line, two blanks of indentation per level, a message closed on its own
    line. The end of a message is found by searching for that line, and its content need not be read.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._buffer = b""
        self._at = 0
        self._base = 0
        self._ended = False

    def blocks(self) -> Iterator[Block]:
        inside = False
        while self._has_line():
            indent = b"  " if inside else b""
            opening = _OPENING.match(self._buffer, self._at)
            if opening and opening[1] == indent:
                name = opening[2].decode()
                if name == "graph" and not inside:
                    yield Block(inside, name, b"", self._base + self._at)
                    inside = True
                    self._at = opening.end()
                    continue
                begin = self._base + self._at
                yield Block(inside, name, self._taken(b"\n" + indent + b"}\n", opening.end() - 1), begin)
                continue
            scalar = None if opening else _SCALAR.match(self._buffer, self._at)
            if scalar and scalar[1] == indent:
                begin = self._base + self._at
                yield Block(inside, scalar[2].decode(), self._taken(b"\n", scalar.end()), begin)
            elif inside and self._buffer.startswith(b"}\n", self._at):
                self._at += 2
                inside = False
            elif self._buffer.startswith(b"\n", self._at):
                self._at += 1
            else:
                raise TextFault(self._base + self._at, "this line is not a field of the message around it")
        if inside:
            raise TextFault(self._base + self._at, "the text ends inside `graph`")

    def _has_line(self) -> bool:
        """Return whether there is another line; its beginning is then in the buffer."""
        while self._buffer.find(b"\n", self._at) < 0 and len(self._buffer) - self._at < 1 << 16 and not self._ended:
            self._more()
        return self._at < len(self._buffer)

    def _taken(self, closing: bytes, search: int) -> bytes:
        """The text up to and with ``closing``."""
        search -= self._at
        while (end := self._buffer.find(closing, self._at + search)) < 0:
            if self._ended:
                raise TextFault(self._base + len(self._buffer), "the text ends inside a field")
            search = max(len(self._buffer) - self._at - len(closing), search)
            self._more()
        end += len(closing)
        text = self._buffer[self._at : end]
        self._at = end
        return text

    def _more(self) -> None:
        rest = self._buffer[self._at :]
        data = self._file.read(max(_CHUNK, len(rest)))
        self._base += self._at
        self._at = 0
        if not data:
            self._ended = True
            data = b"" if not rest or rest.endswith(b"\n") else b"\n"
        self._buffer = rest + data
