"""ATC JSON (``atc --mode=1`` and ``--mode=5``): ``ge.proto.ModelDef`` as JSON.

Written from the code that writes such files (hicann/ge parser/parser/common/convert/pb2json.cc:36-249); never tried on
a real file, since none is public.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ....errors import Damaged
from ..dtypes import ge_dtype, word_dtype
from .model import CONTINUOUS, FACTS, FUSED_FROM, LISTS, MODE, NUMBERS, PARENT, Desc, GeModel, Op

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from ...graph import ModelGraph


_LONGEST = 1 << 30


def read_ge_json(file: IO[bytes], path: str) -> ModelGraph:
    """Return the graph of a file from ``atc --mode=1`` or ``--mode=5``.

    :raises Damaged: if it is not JSON, or not a model
    """
    data = file.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        raise Damaged(f"the JSON is longer than {_LONGEST >> 30} GiB", name="bad-json", path=path)
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
    graphs = _messages(document, "graph")
    if not graphs:
        raise Damaged("the JSON has no graph of the graph engine", name="bad-json", path=path)
    model = GeModel("atc-json", path)
    for name, value in _entries(document):
        if name in FACTS and isinstance(word := _plain(value, "s"), str):
            model.facts[name] = word
    for graph in graphs:
        model.open_graph()
        model.name_graph(_word(graph, "name"))
        for name, value in _entries(graph):
            if name == MODE and isinstance(mode := _plain(value, "i"), int) and model.mode is None:
                model.mode = mode
        for op in _messages(graph, "op"):
            model.add(_operator(model, op))
    return model.close()


def _operator(model: GeModel, op: dict[str, object]) -> Op:
    attributes: dict[str, int | tuple[int, ...]] = {}
    fused: list[str] = []
    for name, value in _entries(op):
        if name in NUMBERS:
            number = _number(value)
            if number is not None:
                attributes[name] = number
        elif name in LISTS:
            attributes[name] = _integers(_list(value, "i"))
        elif name == FUSED_FROM:
            fused = [each for each in _list(value, "s") if isinstance(each, str)]
    return Op(
        _word(op, "name"),
        _word(op, "type"),
        [each if isinstance(each, str) else "" for each in _listed(op.get("input"))],
        [_desc(model, each) for each in _messages(op, "input_desc")],
        [_desc(model, each) for each in _messages(op, "output_desc")],
        attributes,
        [each for each in _listed(op.get("subgraph_name")) if isinstance(each, str)],
        fused,
    )


def _desc(model: GeModel, said: dict[str, object]) -> Desc:
    words: dict[str, str] = {}
    numbers: dict[str, int] = {}
    original = None
    for name, value in _entries(said):
        if name in ("origin_data_type", "origin_format"):
            if isinstance(word := _plain(value, "s"), str):
                words[name] = word
        elif name == "origin_shape":
            original = _integers(_list(value, "i"))
        elif name in (CONTINUOUS, PARENT) and (number := _number(value)) is not None:
            numbers[name] = number
    dtype, shape = said.get("dtype"), said.get("shape")
    known = ge_dtype(dtype) if isinstance(dtype, int) else word_dtype(dtype) if isinstance(dtype, str) else None
    dims = _integers(_listed(shape.get("dim"))) if isinstance(shape, dict) else ()
    return model.descriptor(known, _word(said, "layout") or None, dims, words, original, numbers)


def _messages(parent: object, name: str) -> list[dict[str, object]]:
    """Return the messages of a repeated field; an empty one is written as null."""
    found = _listed(parent.get(name)) if isinstance(parent, dict) else []
    return [each if isinstance(each, dict) else {} for each in found]


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _word(parent: dict[str, object], name: str) -> str:
    value = parent.get(name)
    return value if isinstance(value, str) else ""


def _entries(parent: object) -> Iterator[tuple[str, object]]:
    """The attributes, a list of keys and values."""
    attributes = parent.get("attr") if isinstance(parent, dict) else None
    for entry in _listed(attributes):
        if isinstance(entry, dict) and isinstance(key := entry.get("key"), str):
            yield key, entry.get("value")


def _plain(value: object, field: str) -> object:
    """An attribute's value: ``{"s": ...}``."""
    return value.get(field) if isinstance(value, dict) else None


def _number(value: object) -> int | None:
    found = value.get("i", value.get("b")) if isinstance(value, dict) else None
    return int(found) if isinstance(found, int) else None


def _list(value: object, field: str) -> list[object]:
    """A list: ``{"list": {"s": [...]}}``."""
    inner = value.get("list") if isinstance(value, dict) else None
    return _listed(inner.get(field)) if isinstance(inner, dict) else []


def _integers(values: list[object]) -> tuple[int, ...]:
    return tuple(each for each in values if isinstance(each, int))
