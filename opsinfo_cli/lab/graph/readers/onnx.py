"""ONNX models: CANN's graph before fusion, and the ModelProto, which is read once for the graph and for simulations.

Dtypes of inner tensors are inferred by the ``onnx`` package; external data is not loaded; functions of the model are
inlined. Nodes without a name get one as ATC gives it: the operator and a number, counted over the nameless ones, bodies
of ``If`` behind the graph around them (hicann/ge parser/parser/onnx/onnx_parser.cc:890-905).
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from ....core.cann.input_shapes import OPEN, ModelInput
from ....core.cann.onnx_opsets import is_standard
from ....errors import Damaged, MissingPackage, installing, join_some
from ..dtypes import onnx_dtype
from ..graph import GraphTensor, ModelFacts, Refusal, Weights
from .framework_model import CONST, Notes, SourceGraph, SourceNode, assemble, fold, prune
from .onnx_expansion import Translation, expand, find, fold_added
from .onnx_shapes import infer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO, Any

    from ....core.cann.input_shapes import Shapes, ShapesOf
    from ..graph import ModelGraph

EXTERNAL = 1
"""The location of a tensor whose values are in another file."""
_LARGE = 1 << 16
"""The largest initializer, in bytes, whose values inference gets: those of shapes and axes are much smaller."""
MOST_NODES, MOST_BYTES = 200_000, 1 << 30
"""The largest model that functions may expand to: functions that call the next one twice double it with each."""
_VALUES = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
_UNREAD = {"value_float", "value_floats", "value_int", "value_ints", "value_string", "value_strings", "sparse_value"}
"""Attributes of a Constant that the front end does not read: the constant becomes an empty float32 (hicann/ge ffdcbc9f,
parser/parser/onnx/onnx_constant_parser.cc)."""
_WITH_ATTRIBUTES = ("Conv", "Pad")
"""Operators whose attributes decide a fusion."""
_BY_POSITION = {"Loop": 1, "Scan": 0}
"""Operators whose bodies take the inputs in order; so many outputs of the body come first and go nowhere."""


def parse_model(data: bytes, path: str) -> Any:
    """Return the ModelProto of a file's content.

    :raises MissingPackage: if the ``onnx`` package is not installed
    :raises Damaged: if it is not an ONNX model
    """
    try:
        import onnx
    except ImportError:
        raise MissingPackage(
            "reading an ONNX model requires the `onnx` package",
            hint=f"`{installing()}`, or give a compiled model or a dump",
        ) from None
    try:
        proto = onnx.load_model_from_string(data)
    except Exception as error:  # protobuf raises its own exceptions
        message = f"not an ONNX model: {brief(error)}"
        if "MaxDepth" in str(error):
            message = "the model is nested too deep: protobuf reads messages in 100 messages, about 33 bodies in bodies"
        raise Damaged(message, name="damaged-model", path=path) from None
    if not proto.HasField("graph"):
        raise Damaged("not an ONNX model: it has no graph", name="damaged-model", path=path)
    return proto


def inline_functions(proto: Any, path: str) -> Any:
    """Return the model with its own functions inlined.

    :raises MissingPackage: if the ``onnx`` package is too old to inline
    :raises Damaged: if functions call themselves, would become too many nodes or bytes, or cannot be inlined
    """
    if not proto.functions:
        return proto
    functions = {(function.domain, function.name, function.overload): function for function in proto.functions}
    content = {key: list(_nodes(function.node)) for key, function in functions.items()}
    content["", "", ""] = list(_nodes(proto.graph.node))  # the model itself
    calls = {key: [(node.domain, node.op_type, node.overload) for node in nodes] for key, nodes in content.items()}
    called = {key: functions.keys() & called for key, called in calls.items()}
    try:
        order = list(TopologicalSorter(called).static_order())
    except CycleError:
        raise Damaged("a function of the model calls itself", name="damaged-model", path=path) from None
    cost: dict[tuple[str, str, str], tuple[int, int]] = {}  # nodes and bytes; calls multiply
    for key in order:
        inner = [cost.get(callee, (1, 0)) for callee in calls[key]]
        nodes = sum(count for count, _ in inner)
        size = sum(count for _, count in inner) + sum(node.ByteSize() for node in content[key])
        cost[key] = nodes, size
        if nodes > MOST_NODES or size > MOST_BYTES:
            message = f"its functions expand to more than {MOST_NODES:,} nodes or {MOST_BYTES >> 20} MiB"
            raise Damaged(f"the model is too large: {message}", name="damaged-model", path=path)
    try:
        from onnx.inliner import inline_local_functions
    except ImportError:
        raise MissingPackage("inlining a model's functions requires onnx 1.16", hint=installing("-U onnx")) from None
    try:
        return inline_local_functions(proto)
    except Exception as error:  # the package raises several kinds of exceptions
        message = f"the model's functions cannot be inlined: {brief(error)}"
        raise Damaged(message, name="damaged-model", path=path) from None


def _require_complete(proto: Any, opsets: dict[str, int], path: str) -> None:
    """Require the inputs and outputs that the operators of ONNX must have: the package itself crashes without some.

    :raises Damaged: if a node lacks one, or has more outputs than it states
    """
    from onnx import defs

    @cache
    def needed(op: str) -> tuple[list[int], int]:
        """Return the numbers of the inputs that an operator must have, and how many outputs."""
        newest = defs.onnx_opset_version()
        stated = max(1, min(opsets.get("", 1), newest))
        for opset in (stated, newest):  # an operator may be newer than the model says
            with suppress(defs.SchemaError):
                schema = defs.get_schema(op, opset)
                kinds = defs.OpSchema.FormalParameterOption
                inputs = {number for number, parameter in enumerate(schema.inputs) if parameter.option == kinds.Single}
                inputs |= {0} if schema.min_input and schema.inputs[0].option == kinds.Variadic else set()
                return sorted(inputs), schema.min_output
        return [], 0

    for node in _nodes(proto.graph.node):
        if _domain(node.domain):
            continue
        inputs, outputs = needed(node.op_type)
        given = node.input[:]
        missing = [str(number) for number in inputs if number >= len(given) or not given[number]]
        parts = next((attribute.i for attribute in node.attribute if attribute.name == "num_outputs"), len(node.output))
        what = ""
        if missing or len(node.output) < outputs:
            what = "lacks " + (f"input {', '.join(missing)}" if missing else f"one of its {outputs} outputs")
        elif len(node.output) > parts:
            what = f"has {len(node.output)} outputs, but num_outputs is {parts}"
        if what:
            name = node.name or next(iter(node.output), "")
            raise Damaged(f"`{name}` ({node.op_type}) {what}", name="damaged-model", path=path)


def _nodes(nodes: Any) -> Iterator[Any]:
    """Yield nodes, and those of their bodies."""
    for node in nodes:
        yield node
        for _, body in bodies(node):
            yield from _nodes(body.node)


def brief(error: Exception) -> str:
    """Return the first line of an exception's message."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def bodies(node: Any) -> Iterator[tuple[str, Any]]:
    """Return the name of each attribute of a node that is a graph, and the graph."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.name, attribute.g
        for graph in attribute.graphs:
            yield attribute.name, graph


def graphs(graph: Any) -> Iterator[Any]:
    """Yield a graph and all bodies in it."""
    yield graph
    for node in graph.node:
        for _, body in bodies(node):
            yield from graphs(body)


def other_tensors(graph: Any) -> Iterator[Any]:
    """Yield the tensors in a graph's attributes, and the sparse ones; those of its bodies are left out."""
    sparse = list(graph.sparse_initializer)
    for node in graph.node:
        for attribute in node.attribute:
            yield from attribute.tensors
            if attribute.HasField("t"):
                yield attribute.t
            sparse += attribute.sparse_tensors
            if attribute.HasField("sparse_tensor"):
                sparse.append(attribute.sparse_tensor)
    for tensor in sparse:
        yield from (tensor.values, tensor.indices)


def external_files(proto: Any) -> list[str]:
    """Return the names of the files with values of a ModelProto, as it has them; None has none."""
    if proto is None:
        return []
    tensors = (tensor for graph in graphs(proto.graph) for tensor in (*graph.initializer, *other_tensors(graph)))
    places = (entry for tensor in tensors if tensor.data_location == EXTERNAL for entry in tensor.external_data)
    return sorted({entry.value for entry in places if entry.key == "location"})


def without_large(proto: Any, most: int, keep: Callable[[Any], Any] | None = None) -> Any:
    """Return a copy of a model in which large initializers of the main graph have a dtype and a shape only.

    :param most: the largest size in bytes of one that is copied whole
    :param keep: called with each larger one; returns what takes its place, None to copy it whole
    """
    made = type(proto)()
    _copy_fields(proto, made, "graph")
    _copy_fields(proto.graph, made.graph, "initializer")
    for tensor in proto.graph.initializer:
        bare = None
        if tensor.data_location != EXTERNAL and tensor.ByteSize() > most:
            bare = type(tensor)(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
            bare = bare if keep is None else keep(tensor)
        made.graph.initializer.append(tensor if bare is None else bare)
    return made


def _copy_fields(message: Any, made: Any, left_out: str) -> None:
    for field, value in message.ListFields():
        if field.name == left_out:
            continue
        if hasattr(value, "extend"):
            getattr(made, field.name).extend(value)
        else:
            setattr(made, field.name, value)


def model_inputs(proto: Any) -> list[ModelInput]:
    """Return the inputs that a ModelProto requires, in its order."""
    from onnx import TensorProto, helper

    known = set(TensorProto.DataType.values()) - {TensorProto.UNDEFINED}
    given = {tensor.name for tensor in proto.graph.initializer}
    found = []
    for value in proto.graph.input:
        if value.name in given:
            continue
        tensor = value.type.tensor_type
        dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type).name if tensor.elem_type in known else ""
        dims: list[int | str] = []
        for dim in tensor.shape.dim:
            is_known = dim.HasField("dim_value") and dim.dim_value >= 0
            name = dim.dim_param if any(map(str.isalnum, dim.dim_param)) else ""  # Paddle calls all of them `?`
            dims.append(dim.dim_value if is_known else name)
        has_rank = tensor.HasField("shape")
        found.append(ModelInput(value.name, tuple(dims) if has_rank else None, "str" if dtype == "object" else dtype))
    return found


def write_shapes(proto: Any, shapes: Shapes) -> None:
    """Write shapes of inputs into a ModelProto; open dimensions stay as they are."""
    for value in proto.graph.input:
        if value.name not in shapes:
            continue
        shape = value.type.tensor_type.shape
        shape.SetInParent()  # one without dimensions is that of a single value
        while len(shape.dim) < len(shapes[value.name]):
            shape.dim.add()
        for dim, size in zip(shape.dim, shapes[value.name], strict=True):
            if size != OPEN:
                dim.dim_value = size


def read_onnx(file: IO[bytes], path: str, shapes_of: ShapesOf | None = None) -> ModelGraph:
    """The graph of an ONNX model.

    :raises MissingPackage: if the ``onnx`` package is not installed
    :raises Damaged: if the file is broken, or an edge refers to a missing node
    """
    proto = parse_model(file.read(), path)
    functions = len(proto.functions)
    shapes: Shapes = {}
    proto = inline_functions(proto, path)
    notes = Notes()
    opsets = {_domain(opset.domain): opset.version for opset in proto.opset_import}
    try:
        reader = _OnnxReader(path)
        if shapes_of is not None:
            reader.require_text(*[value.name for value in proto.graph.input])
            shapes = shapes_of(model_inputs(proto))
            write_shapes(proto, shapes)
        graph = reader.graph(proto.graph)
        _require_complete(proto, opsets, path)
    except UnicodeDecodeError:
        raise Damaged("not an ONNX model: a name is not UTF-8", name="damaged-model", path=path) from None
    if functions:
        notes.add("functions", f"{functions} functions of the model were inlined")
    for name in sorted(reader.outside):
        notes.add("external-data", f"external data outside the model's folder is not read: `{name}`", name)
    failed = _infer(graph, proto, reader)
    if failed:
        notes.add("inference", f"the onnx package cannot infer dtypes: {failed}")
    _name_nodes(graph)
    for part in graph.walk():
        for node in part.nodes:
            if not reader.empty.isdisjoint(node.outputs):
                part.tensors.update(dict.fromkeys(node.outputs, GraphTensor("float32", shape=())))
            if node.bodies:
                _join(part, node)
    if reader.empty:
        message = "atc reads no attribute of Constant but `value`: these constants become empty float32 tensors"
        notes.add("empty-constant", message, nodes=len(reader.empty))
    refused = _translate(graph, opsets, path, notes)
    facts = ModelFacts(
        format="onnx",
        path=path,
        opset=opsets.get("", 0),
        notes=notes.all(),
        onnx=proto,
        refused=tuple(refused),
        inputs=tuple(model_inputs(proto)),
        shapes=shapes,
    )
    return assemble(graph, facts, path)


def _domain(domain: str) -> str:
    return "" if is_standard(domain) else domain


class _OnnxReader:
    """Reads messages of the ``onnx`` package; equal tensors are shared.

    :ivar outside: names of the files with external data outside the model's folder, which ONNX forbids
    :ivar empty: values of constants that the front end makes empty
    """

    def __init__(self, path: str) -> None:
        self.outside: set[str] = set()
        self.empty: set[str] = set()
        self._path = path
        self._folder = os.path.dirname(path)
        self._tensors: dict[tuple[int, tuple[int, ...] | None], GraphTensor] = {}

    def graph(self, proto: Any, name: str = "") -> SourceGraph:
        """Return a graph; its initializers become constants before its nodes.

        :param name: of a body, the attribute with it
        """
        graph = SourceGraph(name or proto.name)
        nodes = [self._node(graph, node) for node in proto.node]
        constants = [self._constant(graph, tensor) for tensor in proto.initializer]
        constants += [self._constant(graph, tensor.values) for tensor in proto.sparse_initializer]
        self.values(graph, proto)
        known = {node.name for node in constants}
        graph.inputs = [value.name for value in proto.input if value.name not in known]
        graph.outputs = [value.name for value in proto.output]
        graph.nodes = [*constants, *nodes]
        for number, node in enumerate(graph.nodes):
            node.number = number
        return graph

    def values(self, graph: SourceGraph, proto: Any) -> None:
        for values in (proto.input, proto.output, proto.value_info):
            for value in values:
                self.require_text(value.name)
                tensor = self._type(value.type)
                if tensor is not None:
                    graph.tensors[value.name] = tensor

    def require_text(self, *names: object) -> None:
        """:raises Damaged: if a name is not UTF-8; the package gives it as bytes, or raises UnicodeDecodeError"""
        if bytes in map(type, names):
            raise Damaged("not an ONNX model: a name is not UTF-8", name="damaged-model", path=self._path)

    def _type(self, proto: Any) -> GraphTensor | None:
        """Return the tensor of a TypeProto, or the content of a sequence or an optional."""
        kind = proto.WhichOneof("value")
        if kind in ("tensor_type", "sparse_tensor_type"):
            tensor = getattr(proto, kind)
            shape = None
            if tensor.HasField("shape"):
                dims = tensor.shape.dim
                shape = tuple([dim.dim_value if dim.HasField("dim_value") else -1 for dim in dims])
            return self._tensor(tensor.elem_type, shape)
        if kind in ("sequence_type", "optional_type"):
            return self._type(getattr(proto, kind).elem_type)
        return None

    def _tensor(self, dtype: int, shape: tuple[int, ...] | None) -> GraphTensor:
        found = self._tensors.get((dtype, shape))
        if found is None:
            found = self._tensors[dtype, shape] = GraphTensor(onnx_dtype(dtype), shape=shape)
        return found

    def _node(self, graph: SourceGraph, proto: Any) -> SourceNode:
        domain = _domain(proto.domain)
        op = f"{domain}::{proto.op_type}" if domain else proto.op_type
        node = SourceNode(proto.name, op, list(proto.input), list(proto.output))
        self.require_text(node.name, proto.op_type, proto.domain, *node.inputs, *node.outputs)
        if not proto.attribute:
            return node
        kept: dict[str, object] = {}  # what decides the translation: numbers, words, lists of integers
        for attribute in proto.attribute:
            value: object = None
            if attribute.HasField("i"):
                value = attribute.i
            elif attribute.HasField("f"):
                value = attribute.f
            elif attribute.HasField("s"):
                value = attribute.s[:256].decode("utf-8", "replace")
            elif attribute.ints:
                value = list(attribute.ints)
            elif attribute.HasField("t") and op == "ConstantOfShape":
                value = _first_value(attribute.t)
            if value is not None:
                kept[attribute.name] = value
            if op == "Constant" and attribute.HasField("t"):
                made = self._constant(graph, attribute.t, node.outputs[0] if node.outputs else node.name)
                node.type, node.weights = CONST, made.weights
            elif op == "Constant" and attribute.name in _UNREAD and node.type != CONST:
                node.type = CONST
                self.empty.update(node.outputs)
        node.attributes = kept
        node.bodies = [self.graph(body, name) for name, body in bodies(proto)]
        return node

    def _constant(self, graph: SourceGraph, tensor: Any, value: str = "") -> SourceNode:
        name = value or tensor.name
        self.require_text(name)
        node = SourceNode(name, CONST, [], [name], type=CONST)
        if tensor.data_location == EXTERNAL:
            entries = {entry.key: entry.value for entry in tensor.external_data}
            file = entries.get("location", "")
            if not file or "\0" in file or os.path.isabs(file) or ".." in file.replace("\\", "/").split("/"):
                self.outside.add(file)
            else:  # a size of -1: up to the end of the file
                offset, size = max(_number(entries.get("offset", "0")), 0), _number(entries.get("length", "-1"))
                node.weights = Weights(os.path.join(self._folder, file), offset, size, folder=self._folder)
        elif any(getattr(tensor, field) for field in _VALUES):
            node.weights = Weights(self._path, tensor=tensor)
        graph.tensors[name] = self._tensor(tensor.data_type, tuple(tensor.dims))
        return node


def _first_value(tensor: Any) -> tuple[float, str] | None:
    from onnx import numpy_helper

    try:
        values = numpy_helper.to_array(tensor).reshape(-1)
        dtype = onnx_dtype(tensor.data_type)
        return None if dtype is None or not values.size else (float(values[0]), dtype)
    except Exception:  # the package raises several kinds of exceptions
        return None


def _number(text: str) -> int:
    try:
        return int(text) if len(text) < 20 else -1
    except ValueError:
        return -1


def _infer(graph: SourceGraph, proto: Any, reader: _OnnxReader) -> str:
    """Add dtypes and shapes that the package infers to the graph and its bodies; return its error, or an empty text."""
    large = any(tensor.ByteSize() > _LARGE for tensor in proto.graph.initializer)
    try:
        found = infer(without_large(proto, _LARGE) if large else proto)
    except Exception as error:  # the package raises several kinds of exceptions
        return brief(error)
    _add_types(graph, found.graph, reader)
    return ""


def _add_types(graph: SourceGraph, proto: Any, reader: _OnnxReader) -> None:
    reader.values(graph, proto)
    owners = [node for node in graph.nodes if node.op != CONST]
    if any(node.bodies for node in owners):
        for node, found in zip(owners, proto.node, strict=False):
            for body, (_, inner) in zip(node.bodies, bodies(found), strict=False):
                _add_types(body, inner, reader)


def _name_nodes(graph: SourceGraph) -> None:
    count = 0
    waiting = [graph]
    for current in waiting:  # grows by the bodies
        for node in current.nodes:
            if not node.name and node.op != CONST:
                node.name = f"{node.op.rpartition('::')[2]}_{count}"
                count += 1
            waiting += node.bodies


def _captured_values(body: SourceGraph) -> set[str]:
    """Return values that a body, or a body inside it, reads from the graph around it."""
    own = {value for node in body.nodes for value in node.outputs} | set(body.inputs)
    wanted = {value for node in body.nodes for value in node.inputs if value} | set(body.outputs)
    for node in body.nodes:
        for inner in node.bodies:
            wanted |= _captured_values(inner)
    return wanted - own


def _join(graph: SourceGraph, node: SourceNode) -> None:
    """Make values that a node's bodies capture its inputs, as ATC does for ``If``, and record their relation."""
    captured = sorted(set().union(*(_captured_values(body) for body in node.bodies)))
    first = len(node.inputs)
    node.inputs = [*node.inputs, *captured]
    skipped = _BY_POSITION.get(node.op)
    node.bodies = sorted(node.bodies, key=lambda body: body.name != "then_branch")  # first, whatever the file's order
    for body in node.bodies:
        formal = len(body.inputs)
        body.name = f"{node.name}/{body.name}"
        body.parent_inputs = [index if skipped is not None and index < first else -1 for index in range(formal)]
        body.parent_inputs += range(first, first + len(captured))
        body.inputs += captured
        for value in captured:
            body.tensors[value] = graph.tensor(value)
        body.parent_outputs = [max(index - (skipped or 0), -1) for index in range(len(body.outputs))]


def _translate(graph: SourceGraph, opsets: dict[str, int], path: str, notes: Notes) -> list[Refusal]:
    """Give the nodes of a graph and its bodies op types of CANN; return those that the front end refuses.

    Its key in the front end is the type of a node that is refused: no library has it.
    """
    refused: list[Refusal] = []
    for part in graph.walk():
        for node in part.nodes:
            translation = Translation() if node.type else find(part, node, opsets)
            if translation.refused:
                node.type = translation.type
                refused.append(Refusal(node.name, node.op.rpartition("::")[2], translation.refused))
    kept = {refusal.name for refusal in refused}
    unused = [name for part in graph.walk() for name in prune(part, kept)]
    if unused:
        nodes, them = ("node feeds", "it") if len(unused) == 1 else ("nodes feed", "them")
        message = f"{len(unused)} {nodes} no output, and the compiler removes {them}: {join_some(unused)}"
        notes.add("unused", message, nodes=len(unused))
    fold(graph)
    for part in graph.walk():
        translated: list[SourceNode] = []
        for node in part.nodes:
            if not node.type and node.op in _WITH_ATTRIBUTES:
                node.extra = {**node.extra, "given": node.attributes}
            translation = Translation() if node.type else find(part, node, opsets)
            if translation.built is not None:
                translated += expand(translation.built, path)
            else:
                node.type = node.type or translation.type
                translated.append(node)
        part.nodes = translated
        fold_added(part)
    return refused
