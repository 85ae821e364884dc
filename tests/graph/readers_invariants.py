"""Invariants of the readers for every input: a graph or an error with a place, and valid edges."""

from __future__ import annotations

import os
import tempfile

from opsinfo_cli.errors import OpsinfoError
from opsinfo_cli.graph.readers import read_graph


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
    columns = graph.columns
    assert len(columns.inputs_of) == len(columns.outputs_of) == len(graph) + 1
    for producer, output in zip(columns.source_node, columns.source_output, strict=True):
        if producer >= 0:
            assert 0 <= output < columns.outputs_of[producer + 1] - columns.outputs_of[producer]
    covered = [index for subgraph in graph.subgraphs for index in subgraph.nodes]
    assert covered == list(range(len(graph)))
    for tensor in {*columns.input_tensors, *columns.output_tensors}:
        assert tensor.dtype is None or isinstance(tensor.dtype, str)
    size = os.path.getsize(path)
    for weights in graph.weights.values():
        assert weights.path != path or 0 <= weights.offset <= weights.offset + weights.size <= size
