"""TensorFlow models: a GraphDef in binary or text form, and SavedModel.

Read on real files: GraphDefs of both forms (a frozen autoencoder, Monodepth, a TF 1 loop), whose dtypes are those
of TensorFlow; SavedModels that TensorFlow 2.21 wrote (branches and loops of ``tf.function``, a Keras LSTM, a TF 1
session), whose operators are those that TensorFlow's own freezing leaves.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...errors import Damaged
from .blocks import blocks
from .notes import Notes
from .slim import slim
from .textproto import TextFault, parse
from .tf_functions import FunctionLibrary, graph_of, needed
from .tf_graph import finished, leaves
from .tf_values import GRAPH_PLAN, BinaryValues, TextValues, TfFunction, TfNode
from .wire import fields, key, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from ..graph import ModelGraph
    from .slim import Plan
    from .textproto import Message

_SIGNATURE = "serving_default"
_SAVED_PLAN: Plan = {key(2): {key(2): GRAPH_PLAN, key(7): None}}


class _Contents:
    """The content of a GraphDef."""

    def __init__(self) -> None:
        self.nodes: list[TfNode] = []
        self.functions: list[TfFunction] = []


def read_graph_def(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a binary GraphDef.

    :raises WireFault: if it is broken
    :raises Damaged: if an edge refers to a missing node
    """
    structure = slim(file, 0, file.seek(0, 2), GRAPH_PLAN)
    with structure.placed():
        values = BinaryValues(structure, path)
        contents = _Contents()
        _graph_def(structure.data, values, 0, len(structure.data), contents)
    return _finished(contents, path)


def read_graph_text(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a GraphDef in text form.

    :raises TextFault: if it is broken
    :raises Damaged: if an edge refers to a missing node
    """
    contents = _Contents()
    for block in blocks(file, frozenset()):
        with _placed(block.at):
            if block.name in ("node", "library"):
                _message(parse(block.text), contents)
    return _finished(contents, path)


@contextmanager
def _placed(at: int) -> Iterator[None]:
    try:
        yield
    except TextFault as fault:
        raise TextFault(at + fault.at, fault.said) from None


def _graph_def(data: bytes, values: BinaryValues, start: int, end: int, contents: _Contents) -> None:
    for tag, first, last in fields(data, start, end):
        if tag == 0x0A:
            contents.nodes.append(values.node(first, last))
        elif tag == 0x12:
            contents.functions += [
                values.function(*span) for inner, *span in fields(data, first, last) if inner == 0x0A
            ]


def _message(message: Message, contents: _Contents) -> None:
    values = TextValues()
    contents.nodes += [values.node(each) for each in message.get("node", []) if isinstance(each, dict)]
    for library in message.get("library", []):
        if isinstance(library, dict):
            contents.functions += [
                values.function(each) for each in library.get("function", []) if isinstance(each, dict)
            ]


def _finished(contents: _Contents, path: str) -> ModelGraph:
    notes = Notes()
    graph = graph_of("", contents.nodes, FunctionLibrary(contents.functions, notes))
    graph.outputs = leaves(graph)
    return finished(graph, path, "tensorflow", notes, {})


def read_saved_model(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a SavedModel's default signature.

    :raises WireFault: if it is broken
    :raises Damaged: if it has no signature, or an edge refers to a missing node
    """
    structure = slim(file, 0, file.seek(0, 2), _SAVED_PLAN)
    contents = _Contents()
    signatures: dict[str, list[str]] = {}
    with structure.placed():
        data, values = structure.data, BinaryValues(structure, path)
        meta = next((span for tag, *span in fields(data, 0, len(data)) if tag == 0x12), None)
        for tag, first, last in fields(data, *meta) if meta else ():
            if tag == 0x12:
                _graph_def(data, values, first, last, contents)
            elif tag == 0x2A:
                name, outputs = _binary_signature(data, first, last)
                signatures[name] = outputs
    return _saved(contents, signatures, path)


def read_saved_text(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a SavedModel in text form; see :func:`read_saved_model`."""
    contents = _Contents()
    signatures: dict[str, list[str]] = {}
    for block in blocks(file, frozenset({("meta_graphs",)})):
        with _placed(block.at):
            if block.name == "graph_def":
                for each in parse(block.text)["graph_def"]:
                    if isinstance(each, dict):
                        _message(each, contents)
            elif block.name == "signature_def":
                for each in parse(block.text)["signature_def"]:
                    if isinstance(each, dict):
                        _text_signature(each, signatures)
    return _saved(contents, signatures, path)


def _binary_signature(data: bytes, start: int, end: int) -> tuple[str, list[str]]:
    name, outputs = "", []
    for tag, first, last in fields(data, start, end):
        if tag == 0x0A:
            name = text(data, first, last)
        elif tag == 0x12:
            for inner, begin, stop in fields(data, first, last):
                if inner == 0x12:  # outputs
                    entry = {each: span for each, *span in fields(data, begin, stop)}
                    said = {each: span for each, *span in fields(data, *entry[0x12])} if 0x12 in entry else {}
                    if 0x0A in said:
                        outputs.append(text(data, *said[0x0A]))
    return name, outputs


def _text_signature(message: Message, signatures: dict[str, list[str]]) -> None:
    name = message.get("key", [b""])[0]
    outputs = [
        said[0].decode("utf-8", "replace")
        for value in message.get("value", [])
        if isinstance(value, dict)
        for output in value.get("outputs", [])
        if isinstance(output, dict)
        for info in output.get("value", [])
        if isinstance(info, dict) and isinstance((said := info.get("name", [b""]))[0], bytes)
    ]
    signatures[name.decode("utf-8", "replace") if isinstance(name, bytes) else ""] = outputs


def _saved(contents: _Contents, signatures: dict[str, list[str]], path: str) -> ModelGraph:
    """Return the part of the graph for the default signature; the rest saves and restores variables."""
    wanted = {name: outputs for name, outputs in signatures.items() if outputs and not name.startswith("__")}
    name = _SIGNATURE if _SIGNATURE in wanted else next(iter(wanted), "")
    if not name:
        hint = "save it with a signature (tf.saved_model.save(model, path, signatures=...))"
        raise Damaged("the SavedModel has no signature with outputs", name="no-signature", path=path, hint=hint)
    notes = Notes()
    if len(wanted) > 1:
        notes.add("signature", f"`{name}` is read, of the signatures {', '.join(sorted(wanted))}", name)
    nodes = needed(contents.nodes, wanted[name])
    graph = graph_of(name, nodes, FunctionLibrary(contents.functions, notes), outputs=wanted[name])
    return finished(graph, path, "saved-model", notes, {"signature": name})
