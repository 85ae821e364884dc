"""Invariants of the readers for every input: a graph or an error with a place, and valid edges."""

from __future__ import annotations

import os
import tempfile

from opsinfo_cli.errors import OpsinfoError
from opsinfo_cli.lab.graph.graph import ModelGraph, Weights
from opsinfo_cli.lab.graph.readers import read_graph


def check_bytes(data: bytes) -> None:
    """Read the bytes as a model: only opsinfo's errors, and a graph with valid edges.

    :raises AssertionError: if an invariant fails; any other exception is a failure too
    """
    handle, path = tempfile.mkstemp(prefix="opsinfo-model-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        check_file(path)
    finally:
        os.unlink(path)


def check_file(path: str) -> None:
    """The same for a file."""
    refused: OpsinfoError | None = None
    try:
        graph = read_graph(path)
    except OpsinfoError as error:
        refused = error
    if refused is not None:
        assert 0 < len(refused.message) <= 1000
        return
    for index, node in enumerate(graph):
        assert node.index == index
        assert len(node.inputs) == len(node.sources)
        for source in node.sources:
            assert source is None or 0 <= source.output < len(graph[source.node].outputs)
    covered = [index for subgraph in graph.subgraphs for index in subgraph.nodes]
    assert covered == list(range(len(graph)))
    for tensor in {tensor for node in graph for tensor in (*node.inputs, *node.outputs)}:
        assert tensor.dtype is None or isinstance(tensor.dtype, str)
    size = os.path.getsize(path)
    for weights in weights_of(graph).values():
        assert (
            weights.tensor is not None
            or weights.path != path
            or 0 <= weights.offset <= weights.offset + weights.size <= size
        )


def weights_of(graph: ModelGraph) -> dict[int, Weights]:
    """The places of the values of constants, by node."""
    return {node.index: node.weights for node in graph if node.weights is not None}
