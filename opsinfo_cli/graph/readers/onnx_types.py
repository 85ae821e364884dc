"""Dtypes of an ONNX model's inner tensors, inferred by the ``onnx`` package because the file does not have them."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from ...errors import MissingPackage
from .onnx_structure import Parser
from .slim import Slim
from .source import CONST
from .wire import WireFault, fields, key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from .source import SourceGraph

_MOST = (1 << 31) - 1


def package() -> ModuleType:
    """The ``onnx`` package.

    :raises MissingPackage: if it is not installed
    """
    try:
        import onnx
    except ImportError:
        raise MissingPackage(
            "reading an ONNX model requires the `onnx` package, to infer dtypes that are not in the file",
            hint="python -m pip install 'opsinfo[graph]', or give a compiled model or a dump",
        ) from None
    found: ModuleType = onnx
    return found


def inlined(data: bytes) -> bytes:
    """The model with its own functions inlined.

    :raises MissingPackage: if the ``onnx`` package is not installed, or too old to inline
    :raises WireFault: if the model cannot be inlined
    """
    onnx = package()
    try:
        from onnx.inliner import inline_local_functions
    except ImportError:
        raise MissingPackage("inlining a model's functions requires onnx 1.16", hint="pip install -U onnx") from None
    try:
        made: bytes = inline_local_functions(onnx.load_model_from_string(data)).SerializeToString()
    except Exception as error:
        raise WireFault(0, f"the model's functions cannot be inlined: {_brief(error)}") from None
    return made


def infer(graph: SourceGraph, data: bytes) -> str:
    """Add dtypes that the ``onnx`` package infers to the graph and its bodies; return its error, or an empty text.

    :param data: the model that the graph was read from
    """
    package()
    from onnx.shape_inference import infer_shapes

    if len(data) > _MOST:
        return "the structure is longer than a model may be"
    try:
        made: bytes = infer_shapes(data).SerializeToString()
    except Exception as error:  # the package raises several kinds of exceptions
        return _brief(error)
    _Found(made).add(graph)
    return ""


def _brief(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


class _Found:
    """Reads only the inferred values of a model, and the bodies of its nodes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._parser = Parser(Slim(data, array("q", [0]), array("q", [0])), "")

    def add(self, graph: SourceGraph) -> None:
        for tag, start, end in fields(self._data, 0, len(self._data)):
            if tag == key(7):
                self._graph(graph, start, end)

    def _graph(self, graph: SourceGraph, start: int, end: int) -> None:
        data, parser = self._data, self._parser
        nodes = [node for node in graph.nodes if node.op != CONST]
        at = 0
        for tag, first, last in fields(data, start, end):
            if tag in (0x5A, 0x62, 0x6A):  # input = 11, output = 12, value_info = 13
                parser.value(graph, first, last)
            elif tag == 0x0A:
                if at < len(nodes) and nodes[at].bodies:
                    self._bodies(nodes[at].bodies, first, last)
                at += 1

    def _bodies(self, bodies: Sequence[SourceGraph], start: int, end: int) -> None:
        number = 0
        for tag, first, last in fields(self._data, start, end):
            if tag != 0x2A:  # attribute = 5
                continue
            for inner, begin, stop in fields(self._data, first, last):
                if inner in (0x32, 0x5A) and number < len(bodies):
                    self._graph(bodies[number], begin, stop)
                    number += 1
