"""TensorFlow models: a GraphDef in binary or text form, and SavedModel, to CANN's graph before fusion.

Source: tensorflow/tensorflow tensorflow/core/framework/ (field numbers and names: graph.proto, node_def.proto,
attr_value.proto, tensor.proto, tensor_shape.proto, op_def.proto; function.proto also for how inputs inside functions
are written), core/protobuf/ (saved_model.proto, meta_graph.proto). Read on real files: GraphDefs of both forms (a
frozen autoencoder, Monodepth, a TF 1 loop), whose dtypes are those of TensorFlow; SavedModels that TensorFlow 2.21
wrote (branches and loops of ``tf.function``, a Keras LSTM, a TF 1 session), whose operators are those that TensorFlow's
own freezing leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ....core.cann.input_shapes import ModelInput
from ....core.cann.op_names import tensorflow_names
from ....core.package_data import package_data
from ....errors import Damaged
from ..dtypes import tensorflow_dtype, word_dtype
from ..graph import GraphTensor, ModelFacts, Weights
from .framework_model import CONST, Notes, SourceGraph, SourceNode, assemble, fold
from .protobuf import (
    NUMBER,
    PLACE,
    TEXT,
    VARINTS,
    Decoder,
    WireFault,
    messages,
    number,
    numbers,
    parse,
    values,
    word,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import IO

    from ....core.cann.input_shapes import ShapesOf
    from ..graph import ModelFormat, ModelGraph
    from .protobuf import Message

_FIELDS: dict[str, dict[int, tuple[str, str]]] = {
    "SavedModel": {2: ("meta_graphs", "MetaGraph")},
    "MetaGraph": {2: ("graph_def", "Graph"), 5: ("signature_def", "SignatureEntry")},
    "SignatureEntry": {1: ("key", TEXT), 2: ("value", "Signature")},
    "Signature": {2: ("outputs", "OutputEntry")},
    "OutputEntry": {1: ("key", TEXT), 2: ("value", "Named")},
    "Named": {1: ("name", TEXT)},
    "Graph": {1: ("node", "Node"), 2: ("library", "Library")},
    "Library": {1: ("function", "Function")},
    "Function": {1: ("signature", "Operator"), 3: ("node_def", "Node"), 4: ("ret", "Return")},
    "Operator": {1: ("name", TEXT), 2: ("input_arg", "Named"), 3: ("output_arg", "Named")},
    "Return": {1: ("key", TEXT), 2: ("value", TEXT)},
    "Node": {1: ("name", TEXT), 2: ("op", TEXT), 3: ("input", TEXT), 5: ("attr", "Attribute")},
    "Attribute": {1: ("key", TEXT), 2: ("value", "Value")},
    "Value": {
        1: ("list", "List"),
        2: ("s", TEXT),
        3: ("i", NUMBER),
        5: ("b", NUMBER),
        6: ("type", NUMBER),
        7: ("shape", "Shape"),
        8: ("tensor", "Tensor"),
        10: ("func", "Named"),
    },
    "List": {6: ("type", NUMBER), 9: ("func", "Named")},
    "Shape": {2: ("dim", "Dim"), 3: ("unknown_rank", NUMBER)},
    "Dim": {1: ("size", NUMBER)},
    "Tensor": {
        1: ("dtype", NUMBER),
        2: ("tensor_shape", "Shape"),
        **dict.fromkeys((4, 5, 6, 8, 9), ("values", PLACE)),
        **dict.fromkeys((7, 10, 11, 13), ("values", VARINTS)),  # int_val, int64_val, bool_val, half_val
    },
}
"""The fields that are read of each message, by number: name, and kind or message."""


_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_BODIES = {
    "If": (("then_branch", "else_branch"), 1),
    "StatelessIf": (("then_branch", "else_branch"), 1),
    "_If": (("then_branch", "else_branch"), 1),
    "While": (("cond", "body"), 0),
    "StatelessWhile": (("cond", "body"), 0),
    "_While": (("cond", "body"), 0),
    "Case": (("branches",), 1),
    "StatelessCase": (("branches",), 1),
}
"""Attributes that name functions, and the first input that is an argument of theirs."""

DEEPEST = 48
MOST_NODES = 200_000
"""The most nodes that inlining may create: functions that call each other twice grow without bounds."""
_SIGNATURE = "serving_default"
_PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "_Arg"})
_VARIABLE = "VarHandleOp"
_SHAPED = frozenset({"VariableV2", "Variable", _VARIABLE, "PlaceholderWithDefault"})
_LOOP_ENDS = (("Enter", "NextIteration"), ("NextIteration", "Enter"))
MOST_OUTPUTS = 1 << 14
"""The most outputs that an attribute may set."""


def read_tensorflow(
    file: IO[bytes], path: str, shapes_of: ShapesOf | None = None, *, is_saved: bool, is_text: bool
) -> ModelGraph:
    """The graph of a GraphDef, or of a SavedModel's default signature.

    :raises WireFault: if it is broken
    :raises Damaged: if it has no signature, or an edge refers to a missing node
    """
    name, read = ("SavedModel", _read_saved) if is_saved else ("Graph", _read_graph)
    data = file.read()
    message = parse(data) if is_text else Decoder(data, _FIELDS, path).message(name, 0, len(data))
    return read(message, path, shapes_of)


def _read_graph(message: Message, path: str, shapes_of: ShapesOf | None) -> ModelGraph:
    library = _Library([message], Notes())
    graph = library.graph("", library.nodes)
    read = {value for node in graph.nodes for value in node.inputs}
    graph.outputs = [  # of nodes without a reader, as of ATC
        node.outputs[0] for node in graph.nodes if node.outputs and node.type != CONST and read.isdisjoint(node.outputs)
    ]
    return _finish(graph, path, "tensorflow", library.notes, shapes_of)


def _read_saved(message: Message, path: str, shapes_of: ShapesOf | None) -> ModelGraph:
    """Return the part of the graph for the default signature; the rest saves and restores variables."""
    meta = next(iter(messages(message, "meta_graphs")), {})
    signatures = {
        word(entry, "key"): [
            word(info, "name")
            for signature in messages(entry, "value")
            for output in messages(signature, "outputs")
            for info in messages(output, "value")
            if "name" in info
        ]
        for entry in messages(meta, "signature_def")
    }
    wanted = {name: outputs for name, outputs in signatures.items() if outputs and not name.startswith("__")}
    name = _SIGNATURE if _SIGNATURE in wanted else next(iter(wanted), "")
    if not name:
        hint = "save it with a signature (tf.saved_model.save(model, path, signatures=...))"
        raise Damaged("the SavedModel has no signature with outputs", name="no-signature", path=path, hint=hint)
    notes = Notes()
    if len(wanted) > 1:
        notes.add("signature", f"`{name}` is read, of the signatures {', '.join(sorted(wanted))}", name)
    library = _Library(messages(meta, "graph_def"), notes)
    graph = library.graph(name, _needed_nodes(library.nodes, wanted[name]), outputs=wanted[name])
    return _finish(graph, path, "saved-model", notes, shapes_of)


class _Function(NamedTuple):
    """A function of a library: results by name, and nodes whose inputs are ``node:result:number``."""

    arguments: list[str]
    results: dict[str, str]
    nodes: list[SourceNode]
    places: dict[str, int]
    """The number of each result."""


def _node(message: Message) -> SourceNode:
    """The node of a NodeDef: its inputs are ``name``, ``name:1``, or ``^name`` for a control edge."""
    node = SourceNode(word(message, "name"), word(message, "op"), words(message, "input"), [])
    node.attributes = {
        word(entry, "key"): value for entry in messages(message, "attr") for value in messages(entry, "value")
    }
    return node


def _function(message: Message) -> _Function:
    signature = next(iter(messages(message, "signature")), {})
    results = {word(entry, "key"): word(entry, "value") for entry in messages(message, "ret")}
    places = {word(result, "name"): number for number, result in enumerate(messages(signature, "output_arg"))}
    return _Function(
        [word(argument, "name") for argument in messages(signature, "input_arg")],
        {name: results.get(name, "") for name in places},
        list(map(_node, messages(message, "node_def"))),
        places,
    )


class _Library:
    """The nodes of GraphDefs, and their functions: calls are inlined, those of control operators become bodies.

    Names inside are the caller's and the function's own, joined by a slash, as TensorFlow's inliner writes them.
    """

    def __init__(self, definitions: list[Message], notes: Notes) -> None:
        self.notes = notes
        self.nodes = [_node(node) for definition in definitions for node in messages(definition, "node")]
        self._functions = {
            word(signature, "name"): _function(function)
            for definition in definitions
            for library in messages(definition, "library")
            for function in messages(library, "function")
            for signature in messages(function, "signature")
        }
        self._made = 0

    def graph(
        self,
        name: str,
        nodes: Iterable[SourceNode],
        inputs: Iterable[str] = (),
        outputs: Iterable[str] = (),
        tensors: Mapping[str, GraphTensor] | None = None,
        depth: int = 0,
    ) -> SourceGraph:
        """A source graph with calls inlined and the functions of control operators as bodies.

        :param inputs: values from outside, besides the placeholders
        """
        if depth > DEEPEST:
            raise WireFault(0, f"functions are nested more than {DEEPEST} deep")
        aliases: dict[str, str] = {}
        inlined = self._inline(nodes, aliases)
        if aliases:  # connect inputs from calls with the nodes that compute them; drop control edges from the calls
            names = {node.name for node in inlined}
            for node in inlined:
                node.inputs = [
                    text if text.startswith("^") else _final(aliases, _value_name(text))
                    for text in node.inputs
                    if not text.startswith("^") or text[1:] in names
                ]
        wanted = [_final(aliases, _value_name(value)) for value in outputs]
        graph = _source_graph(name, _needed_nodes(inlined, wanted) if wanted else inlined, inputs, tensors)
        graph.outputs = wanted
        for node in graph.nodes:
            if node.op in _BODIES:
                attributes, first = _BODIES[node.op]
                functions = [(name, key == "cond") for key in attributes for name in _function_names(node, key)]
                bodies = (self._function_body(graph, node, *function, first, depth) for function in functions)
                node.bodies = list(filter(None, bodies))
        return graph

    def _function_body(
        self, graph: SourceGraph, node: SourceNode, name: str, is_condition: bool, first: int, depth: int
    ) -> SourceGraph | None:
        function = self._function_of(name)
        if function is None:
            return None
        nodes, results = self._body(function, "", function.arguments, [])
        self._count(len(nodes) + 1)
        inputs = [f"{argument}:0" for argument in function.arguments]
        tensors = {value: graph.tensor(given) for value, given in zip(inputs, node.inputs[first:], strict=False)}
        body = self.graph(f"{node.name}/{name}", nodes, inputs, results, tensors, depth + 1)
        body.parent_inputs = [*range(first, first + len(inputs)), *[-1] * (len(body.inputs) - len(inputs))]
        body.parent_outputs = [-1 if is_condition else index for index in range(len(body.outputs))]
        return body

    def _function_of(self, name: str) -> _Function | None:
        if name not in self._functions:
            self.notes.add("missing-function", f"function `{name}` is not in the file", name)
        return self._functions.get(name)

    def _inline(self, nodes: Iterable[SourceNode], aliases: dict[str, str], depth: int = 0) -> list[SourceNode]:
        """Return nodes with their calls inlined, and add the new values of the calls to ``aliases``.

        :raises WireFault: if functions call each other too deep or make too many nodes
        """
        if depth > DEEPEST:
            raise WireFault(0, f"functions call each other more than {DEEPEST} deep")
        made: list[SourceNode] = []
        for node in nodes:
            if node.op in _CALLS:
                function = self._function_of(next(iter(_function_names(node, "f")), ""))
            else:
                function = self._functions.get(node.op)
            if function is None:
                made.append(node)
                continue
            arguments = [text for text in node.inputs if not text.startswith("^")]
            control = [text for text in node.inputs if text.startswith("^")]
            inner, results = self._body(function, node.name + "/", arguments, control)
            self._count(len(inner) + 1)
            made += self._inline(inner, aliases, depth + 1)
            aliases.update({f"{node.name}:{index}": _value_name(result) for index, result in enumerate(results)})
        return made

    def _count(self, nodes: int) -> None:
        """:raises WireFault: if functions make too many nodes; an empty one counts too"""
        self._made += nodes
        if self._made > MOST_NODES:
            raise WireFault(0, f"functions make more than {MOST_NODES:,} nodes")

    def _body(
        self, function: _Function, lead: str, arguments: list[str], control: list[str]
    ) -> tuple[list[SourceNode], list[str]]:
        """Return a function's nodes for one call, and its results, in the form of a graph's inputs.

        :param lead: stands before the names of its nodes
        """
        given = dict(zip(function.arguments, arguments, strict=False))
        by_name = {node.name: node for node in function.nodes}

        def reference(text: str) -> str:
            if text.startswith("^"):
                return f"^{lead}{text[1:]}" if text[1:] in by_name else ""
            if text in given:
                return given[text]
            name, *rest = text.split(":")
            if not rest or name not in by_name:
                return given.get(name, lead + text)
            index = _digits(rest[1]) if len(rest) > 1 else 0
            return f"{lead}{name}:{self._output(by_name[name], rest[0], index or 0)}"

        nodes = []
        for node in function.nodes:
            inputs = [*filter(None, map(reference, node.inputs)), *control]
            made = SourceNode(lead + node.name, node.op, inputs, [])
            made.attributes = node.attributes
            nodes.append(made)
        return nodes, list(map(reference, function.results.values()))

    def _output(self, node: SourceNode, name: str, index: int) -> int:
        """Return the number of an output ``name:index``; an unknown operator has one result, which may be a list."""
        called = self._functions.get(node.op)
        if called and name in called.places:
            return called.places[name] + index
        names = () if called else _NAMES.get(node.op, ())
        if name in names:
            return names.index(name) + index
        if names:
            message = f"output `{name}` of `{node.op}` is unknown; taken as its output {index}"
            self.notes.add("output-name", message, node.op)
        return index


def _digits(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def _value_name(text: str) -> str:
    """Return the value that an input ``name`` or ``name:1`` reads."""
    name, _, index = text.rpartition(":")
    return f"{text}:0" if ":" not in text or _digits(index) is None else f"{name}:{int(index)}"


def _final(aliases: Mapping[str, str], value: str) -> str:
    for _ in range(DEEPEST * 2):
        if value not in aliases:
            break
        value = aliases[value]
    return value


def _needed_nodes(nodes: list[SourceNode], outputs: Iterable[str]) -> list[SourceNode]:
    """Return the nodes that some values depend on, including through control edges."""
    by_name = {node.name: node for node in nodes}
    waiting = [text.rpartition(":")[0] or text for text in outputs]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in found:
            found.add(name)
            waiting += [text.removeprefix("^").partition(":")[0] for text in by_name[name].inputs]
    return [node for node in nodes if node.name in found]


# attributes


def _function_names(node: SourceNode, attribute: str) -> list[str]:
    value = node.attributes.get(attribute)
    return [word(function, "name") for part in (value, *messages(value, "list")) for function in messages(part, "func")]


def _dtypes(value: object) -> list[str | None]:
    """Return the dtypes of an attribute: one, or those of a list."""
    return [_dtype(dtype) for part in (value, *messages(value, "list")) for dtype in values(part, "type")]


def _dtype(value: object) -> str | None:
    if isinstance(value, str) and not (value.isdigit() and len(value) < 10):
        return word_dtype(value)
    return tensorflow_dtype(number(value)) if isinstance(value, (int, str)) and number(value) >= 0 else None


def _shape(message: object, name: str) -> tuple[int, ...] | None:
    """Return the TensorShapeProto of a field; None if it is missing or its rank is unknown."""
    for shape in reversed(messages(message, name)):
        unknown = any(map(number, values(shape, "unknown_rank")))
        return None if unknown else tuple(sum(numbers(dim, "size")[:1]) for dim in messages(shape, "dim"))
    return None


# nodes to a source graph


def _source_graph(
    name: str, nodes: list[SourceNode], inputs: Iterable[str], tensors: Mapping[str, GraphTensor] | None
) -> SourceGraph:
    """Return nodes of TensorFlow as a source graph, with the dtypes of their outputs; placeholders are inputs too."""
    graph = SourceGraph(name)
    graph.inputs = list(inputs)
    graph.tensors.update(tensors or {})
    by_name: dict[str, SourceNode] = {}
    for node in _producers_first(nodes):
        by_name[node.name] = node
        _set_outputs(graph, node)
    for reader in by_name.values():  # an operator not in the table has the outputs that others read, of unknown dtypes
        for value in reader.inputs:
            producer, _, index = value.rpartition(":")
            found = by_name.get(producer)
            if found is not None and len(found.outputs) <= int(index) < MOST_OUTPUTS and found.op not in _RULES:
                found.outputs += [f"{producer}:{number}" for number in range(len(found.outputs), int(index) + 1)]
    for node in nodes:
        if node.op in _PLACEHOLDERS:
            graph.inputs.append(f"{node.name}:0")
            graph.tensors[f"{node.name}:0"] = _placeholder(node)
        else:
            graph.nodes.append(by_name[node.name])
    graph.input_names = {value: value.rpartition(":")[0] for value in graph.inputs}
    _mark_loops(graph)
    return graph


def _producers_first(nodes: list[SourceNode]) -> list[SourceNode]:
    """Return nodes after their producers; a loop is cut at its closing edge."""
    by_name = {node.name: node for node in nodes}
    order: dict[str, SourceNode] = {}
    opened: set[str] = set()
    for node in nodes:
        waiting = [node]
        while waiting:
            current = waiting[-1]
            if current.name in opened:
                waiting.pop()
                order.setdefault(current.name, current)
                continue
            opened.add(current.name)
            for text in reversed(current.inputs):
                name = text.removeprefix("^")
                producer = by_name.get(name.rpartition(":")[0] or name)
                if producer is not None and producer.name not in opened:
                    waiting.append(producer)
    return list(order.values())


def _set_outputs(graph: SourceGraph, node: SourceNode) -> None:
    """Split a node's inputs from its control edges, and add its outputs."""
    inputs = [_value_name(text) for text in node.inputs if not text.startswith("^")]
    node.control = [text[1:].partition(":")[0] for text in node.inputs if text.startswith("^")]
    node.inputs = inputs
    first = graph.tensor(inputs[0]).dtype if inputs else None
    rules = _RULES.get(node.op)
    if rules is None:
        known = (_dtypes(node.attributes.get(name)) for name in ("T", "dtype", "Tout"))
        dtypes = next(filter(None, known), [first])
    else:
        dtypes = [dtype for rule in rules for dtype in _dtypes_by(rule, node.attributes, first)]
    node.outputs = [f"{node.name}:{index}" for index in range(len(dtypes))]
    for index, dtype in enumerate(dtypes):
        shape = _shape(node.attributes.get("shape"), "shape") if not index and node.op in _SHAPED else None
        graph.tensors[node.outputs[index]] = GraphTensor(dtype, shape=shape)
    if node.op == CONST:
        node.type = CONST
        for tensor in messages(node.attributes.get("value"), "tensor"):
            dtype = next(map(_dtype, values(tensor, "dtype")), None)
            shape = _shape(tensor, "tensor_shape") if messages(tensor, "tensor_shape") else ()
            graph.tensors[node.outputs[0]] = GraphTensor(dtype, shape=shape)
            places = [value for value in values(tensor, "values") if isinstance(value, Weights)]
            node.weights = places[-1] if places else None


def _placeholder(node: SourceNode) -> GraphTensor:
    """Return the facts in the attributes of a placeholder or variable."""
    attributes = node.attributes
    dtypes = _dtypes(attributes.get("dtype", attributes.get("T")))
    return GraphTensor(dtypes[0] if dtypes else None, shape=_shape(attributes.get("shape"), "shape"))


def _mark_loops(graph: SourceGraph) -> None:
    """Set the marks that the graph compiler sets before the judge: input 0 of Switch, output 0 of Merge, and of the
    Enter and NextIteration that feed a Merge (hicann/ge compiler/graph/passes/control_flow_and_stream/
    mark_agnostic_pass.cc:23-148).
    """
    producer = {value: node for node in graph.nodes for value in node.outputs}

    def mark(value: str) -> None:
        graph.tensors[value] = graph.tensor(value)._replace(continuous=True)

    readers: dict[str, str] = {}
    for node in graph.nodes:
        for value in node.inputs:
            readers.setdefault(value, node.op)
    for node in graph.nodes:
        if node.op == "Switch" and node.inputs:
            node.extra = {"continuous_input": 0}
        if node.op != "Merge":
            continue
        mark(node.outputs[0])
        if not any(value in readers for value in node.outputs):
            continue  # it feeds the graph's output
        ends = [producer.get(value) for value in node.inputs]
        if tuple(end.op if end else "" for end in ends) in _LOOP_ENDS:
            for end in ends:
                if end is not None:
                    mark(end.outputs[0])


def _without_variables(graph: SourceGraph) -> None:
    """Replace a resource variable and its reads by one ``Variable`` with the dtype of its value, in bodies too."""
    waiting: list[tuple[SourceGraph, set[str]]] = [(graph, set())]
    while waiting:
        part, variables = waiting.pop()
        for node in part.nodes:
            if node.op == _VARIABLE and node.outputs:
                node.type = "Variable"
                part.tensors[node.outputs[0]] = _placeholder(node)
                variables.add(node.outputs[0])
        held: dict[str, str] = {}
        gone: set[str] = set()
        for node in part.nodes:
            if node.op == "ReadVariableOp" and node.inputs and node.inputs[0] in variables and node.outputs:
                held[node.outputs[0]] = node.inputs[0]
                gone.add(node.name)
        if held:
            part.nodes = [node for node in part.nodes if node.name not in gone]
            for node in part.nodes:
                node.inputs = [held.get(value, value) for value in node.inputs]
                node.control = [name for name in node.control if name not in gone]
            part.outputs = [held.get(value, value) for value in part.outputs]
        for node in part.nodes:
            waiting += [(body, _variable_inputs(part, node, body, variables)) for body in node.bodies]


def _variable_inputs(graph: SourceGraph, node: SourceNode, body: SourceGraph, variables: set[str]) -> set[str]:
    """Return the inputs of a body that are variables; a loop that passes one on has it as an output as well."""
    found = set()
    for value, index in zip(body.inputs, body.parent_inputs, strict=False):
        if 0 <= index < len(node.inputs) and node.inputs[index] in variables:
            found.add(value)
            body.tensors[value] = graph.tensor(node.inputs[index])
            if node.op.endswith("While") and index < len(node.outputs):
                graph.tensors[node.outputs[index]] = body.tensors[value]
    return found


def _finish(
    graph: SourceGraph,
    path: str,
    format: ModelFormat,
    notes: Notes,
    shapes_of: ShapesOf | None,
) -> ModelGraph:
    """Return the graph value of a source graph whose functions are bodies or inlined.

    :raises UsageFault: if shapes do not fit the inputs
    :raises Damaged: if an edge refers to a missing node
    """
    shapes = {} if shapes_of is None else shapes_of(_inputs(graph))
    for value, name in graph.input_names.items():
        if name in shapes:
            graph.tensors[value] = graph.tensor(value)._replace(shape=tuple(shapes[name]))
    inputs = tuple(_inputs(graph))
    _without_variables(graph)
    fold(graph)
    for part in graph.walk():
        for node in part.nodes:
            if node.type:
                continue
            if node.op == "Conv2D":
                given = {name: word(node.attributes.get(name), "s") for name in ("padding", "data_format")}
                node.extra = {**node.extra, "given": given}
            types = tensorflow_names().get(node.op, ())
            node.type = types[0] if types else node.op
            if node.type == "BatchNorm" and (numbers(node.attributes.get("is_training"), "b") or [1])[-1]:
                node.extra = {**node.extra, "is_training": True}  # also where it is not written down: the default
            if not types:
                message = f"`{node.op}` has no documented translation in CANN's parser"
                notes.add("unmapped-operator", message, node.op)
            elif len(types) > 1:
                message = f"`{node.op}` becomes {' or '.join(types)}; `{node.type}` is used"
                notes.add("alternatives", message, node.op)
    facts = ModelFacts(
        format,
        path,
        notes=notes.all(),
        inputs=inputs,
        shapes=shapes,
    )
    return assemble(graph, facts, path)


def _inputs(graph: SourceGraph) -> list[ModelInput]:
    """Return the placeholders; a shape without dimensions says nothing, as older files have it for unknown ones."""
    found = []
    for value, name in graph.input_names.items():
        tensor = graph.tensor(value)
        dims = tuple("" if dim < 0 else dim for dim in tensor.shape or ())
        found.append(ModelInput(name, dims or None, tensor.dtype or ""))
    return found


# outputs: their number and dtypes, which a GraphDef does not list; the form of a rule is in the file


def _dtypes_by(rule: str, attributes: Mapping[str, object], first: str | None) -> list[str | None]:
    """:param first: the dtype of the first input, which stands for an attribute that is missing"""
    if rule.startswith("@"):
        return _dtypes(attributes.get(rule[1:]))
    count, star, rest = rule.rpartition("*")
    if star:
        times = sum(numbers(attributes.get(count), "i")[:1])
        return _dtypes_by(rest, attributes, first) * (min(times, MOST_OUTPUTS) if times > 0 else 1)
    if rest.startswith(":"):
        return [rest[1:]]
    name, _, default = rest.partition("=")
    return _dtypes(attributes.get(name))[:1] or [default or first]


_FACTS = package_data("opsinfo_cli.lab.graph", "tensorflow-outputs")
_RULES: dict[str, list[str]] = {op: rule.split() for rule, ops in _FACTS["outputs"].items() for op in ops}
_NAMES: dict[str, list[str]] = _FACTS["names"]
