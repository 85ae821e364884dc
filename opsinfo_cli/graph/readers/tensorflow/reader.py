"""TensorFlow models: a GraphDef in binary or text form, and SavedModel.

Read on real files: GraphDefs of both forms (a frozen autoencoder, Monodepth, a TF 1 loop), whose dtypes are those
of TensorFlow; SavedModels that TensorFlow 2.21 wrote (branches and loops of ``tf.function``, a Keras LSTM, a TF 1
session), whose operators are those that TensorFlow's own freezing leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....errors import Damaged
from ..protobuf import messages, parse, word
from ..source import Notes
from .functions import FunctionLibrary, graph_of, needed
from .graph import finished, leaves
from .nodes import binary_message, function_of, node_of

if TYPE_CHECKING:
    from typing import IO

    from ...graph import ModelGraph
    from ..protobuf import Message
    from .nodes import TfFunction, TfNode

_SIGNATURE = "serving_default"


def read_graph_def(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a binary GraphDef.

    :raises WireFault: if it is broken
    :raises Damaged: if an edge refers to a missing node
    """
    return _graph(binary_message(file.read(), "Graph", path), path)


def read_graph_text(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a GraphDef in text form.

    :raises TextFault: if it is broken
    :raises Damaged: if an edge refers to a missing node
    """
    return _graph(parse(file.read()), path)


def read_saved_model(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a SavedModel's default signature.

    :raises WireFault: if it is broken
    :raises Damaged: if it has no signature, or an edge refers to a missing node
    """
    return _saved(binary_message(file.read(), "SavedModel", path), path)


def read_saved_text(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of a SavedModel in text form; see :func:`read_saved_model`."""
    return _saved(parse(file.read()), path)


def _contents(graph: Message) -> tuple[list[TfNode], list[TfFunction]]:
    """Return the nodes and the functions of a GraphDef."""
    functions = [each for library in messages(graph, "library") for each in messages(library, "function")]
    return list(map(node_of, messages(graph, "node"))), list(map(function_of, functions))


def _graph(message: Message, path: str) -> ModelGraph:
    nodes, functions = _contents(message)
    notes = Notes()
    graph = graph_of("", nodes, FunctionLibrary(functions, notes))
    graph.outputs = leaves(graph)
    return finished(graph, path, "tensorflow", notes, {})


def _saved(message: Message, path: str) -> ModelGraph:
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
    nodes: list[TfNode] = []
    functions: list[TfFunction] = []
    for definition in messages(meta, "graph_def"):
        more_nodes, more_functions = _contents(definition)
        nodes += more_nodes
        functions += more_functions
    library = FunctionLibrary(functions, notes)
    graph = graph_of(name, needed(nodes, wanted[name]), library, outputs=wanted[name])
    return finished(graph, path, "saved-model", notes, {"signature": name})
