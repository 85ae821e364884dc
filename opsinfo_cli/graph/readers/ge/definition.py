"""``ge.proto.ModelDef`` as a tree: the first partition of a compiled model, and ATC JSON (``--mode=1``, ``--mode=5``).

Field numbers: hicann/ge graph_metadef/proto/ge_ir.proto:60-353. JSON: from the code that writes such files (hicann/ge
parser/parser/common/convert/pb2json.cc:36-249); never tried on a real file, since none is public.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ....errors import Damaged
from ...dtypes import ge_dtype, word_dtype
from ...graph import Weights
from ..tree import NUMBER, PLACE, TEXT, Decoder, messages, numbers, values, word, words
from ..wire import fields, key
from .model import CONTINUOUS, FACTS, FUSED_FROM, LISTS, MODE, NUMBERS, PARENT, Desc, GeModel, Op

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from ...graph import ModelGraph
    from ..tree import Message

_WORDS = ("origin_data_type", "origin_format")
_ORIGIN_SHAPE, _VALUE = "origin_shape", "value"
_LONGEST_JSON = 1 << 30
_GRAPH, _OPERATOR = key(7), key(6)
_KEYS = (*NUMBERS, *LISTS, *FACTS, *_WORDS, FUSED_FROM, MODE, CONTINUOUS, _ORIGIN_SHAPE, _VALUE)
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
    "Attribute": {
        1: ("list", "List"),
        2: ("s", TEXT),
        3: ("i", NUMBER),
        5: ("b", NUMBER),
        12: ("t", "Tensor"),
    },
    "List": {2: ("s", TEXT), 3: ("i", NUMBER)},
    "Desc": {2: ("dtype", NUMBER), 3: ("shape", "Shape"), 4: ("layout", TEXT), 5: ("attr", "Entry")},
    "Shape": {1: ("dim", NUMBER)},
    "Tensor": {1: ("desc", "Place"), 2: ("data", PLACE)},
    "Place": {11: ("weight_size", NUMBER), 18: ("data_offset", NUMBER)},
}


def read_binary(data: bytes, start: int, model: GeModel, store: Weights | None) -> None:
    """Read the binary form, one operator at a time.

    :param start: the place of the data in the file
    :param store: the partition of weights, if the file has one
    :raises WireFault: if the data is broken; its place is that in the data
    """
    kept = frozenset(name.encode() for name in _KEYS)
    decoder = Decoder(data, _TABLE, model.path, start, kept, frozenset({"Desc"}))
    reader = _Reader(model, store)
    for tag, first, last in fields(data, 0, len(data)):
        if tag == _GRAPH:
            reader.open(decoder.message("Graph", first, last))
            for inner, begin, stop in fields(data, first, last):
                if inner == _OPERATOR:
                    model.add(reader.operator(decoder.message("Op", begin, stop)))
    reader.facts(decoder.message("Model", 0, len(data)))


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
        raise Damaged(
            "the JSON is nested too deep, or has a number of thousands of digits", name="bad-json", path=path
        ) from None
    if not messages(document, "graph"):
        raise Damaged("the JSON has no graph of the graph engine", name="bad-json", path=path)
    model = GeModel("atc-json", path)
    reader = _Reader(model, None)
    for graph in messages(document, "graph"):
        reader.open(graph)
        for op in messages(graph, "op"):
            model.add(reader.operator(op))
    reader.facts(document)
    return model.close()


class _Reader:
    def __init__(self, model: GeModel, store: Weights | None) -> None:
        self._model = model
        self._store = store
        self._descs: dict[int, tuple[Message, Desc]] = {}

    def facts(self, document: Message) -> None:
        for name, value in _entries(document):
            if name in FACTS and values(value, "s"):
                self._model.facts[name] = word(value, "s")

    def open(self, graph: Message) -> None:
        model = self._model
        model.open_graph()
        model.name_graph(word(graph, "name"))
        for name, value in _entries(graph):
            if name == MODE and model.mode is None:
                model.mode = _number(value)

    def operator(self, op: Message) -> Op:
        attributes: dict[str, int | tuple[int, ...]] = {}
        fused: list[str] = []
        weights: Weights | None = None
        for name, value in _entries(op):
            if name in NUMBERS:
                number = _number(value)
                if number is not None:
                    attributes[name] = number
            elif name in LISTS:
                attributes[name] = _integers(value)
            elif name == FUSED_FROM:
                fused += [each for listed in messages(value, "list") for each in words(listed, "s")]
            elif name == _VALUE:
                weights = weights or self._constant(value)
        return Op(
            word(op, "name"),
            word(op, "type"),
            words(op, "input"),
            [self._desc(each) for each in messages(op, "input_desc")],
            [self._desc(each) for each in messages(op, "output_desc")],
            attributes,
            words(op, "subgraph_name"),
            fused,
            weights,
        )

    def _desc(self, message: Message) -> Desc:
        known = self._descs.get(id(message))
        if known is not None:
            return known[1]
        texts: dict[str, str] = {}
        marks: dict[str, int] = {}
        original = None
        for name, value in _entries(message):
            if name in _WORDS and values(value, "s"):
                texts[name] = word(value, "s")
            elif name == _ORIGIN_SHAPE:
                original = _integers(value)
            elif name in (CONTINUOUS, PARENT) and (number := _number(value)) is not None:
                marks[name] = number
        dims = tuple(dim for shape in messages(message, "shape") for dim in numbers(shape, "dim"))
        layout = word(message, "layout") or None
        desc = self._model.descriptor(_dtype(message), layout, dims, texts, original, marks)
        self._descs[id(message)] = message, desc
        return desc

    def _constant(self, value: Message) -> Weights | None:
        """Return the place of a constant's values: in its own attribute, else in the partition of weights."""
        store = self._store
        for tensor in messages(value, "t"):
            place = next((each for each in values(tensor, "data") if isinstance(each, Weights)), None)
            if place is not None:
                return place
            for desc in messages(tensor, "desc"):
                offset, size = (next(iter(numbers(desc, name)), 0) for name in ("data_offset", "weight_size"))
                if store is not None and size > 0 and 0 <= offset <= store.size - size:
                    return Weights(store.path, store.offset + offset, size)
        return None


def _entries(message: Message) -> Iterator[tuple[str, Message]]:
    """The attributes: key and value."""
    for entry in messages(message, "attr"):
        yield word(entry, "key"), next(iter(messages(entry, "value")), {})


def _number(value: Message) -> int | None:
    return next(iter([*numbers(value, "i"), *numbers(value, "b")]), None)


def _integers(value: Message) -> tuple[int, ...]:
    return tuple(number for listed in messages(value, "list") for number in numbers(listed, "i"))


def _dtype(message: Message) -> str | None:
    """Return a dtype that is a number, or in JSON a word."""
    dtype = next(reversed(values(message, "dtype")), None)
    return ge_dtype(dtype) if isinstance(dtype, int) else word_dtype(dtype) if isinstance(dtype, str) else None
