"""The operators of onnx's own tests, in every version, by the columns of two real libraries."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "lab/graph"))

onnx = pytest.importorskip("onnx")
numpy = pytest.importorskip("numpy")

from onnx import numpy_helper  # noqa: E402
from test_readers_onnx_front_end import _refused, needs_vectors  # noqa: E402

from opsinfo_cli.core.cann.onnx_opsets import onnx_operators  # noqa: E402


@needs_vectors
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of onnx, while it makes its tests
def test_the_libraries_accept_the_operators_of_onnxs_own_tests() -> None:
    """Each operator with a rule, in each version that opsets 9 to 18 have of it; shapes, axes and scales constant."""
    models = list(_operators())
    assert len({name.partition("@")[2] for name, _ in models}) > 300
    assert _refused(models) == {}


def _operators() -> Iterator[tuple[str, bytes]]:
    """The models of one operator that onnx tests it with, in other opsets too if it is valid there."""
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        graph = case.model.graph
        if len(graph.node) != 1 or graph.node[0].domain or case.model.functions or not case.data_sets:
            continue
        values = dict(zip([each.name for each in graph.input], case.data_sets[0][0], strict=False))
        made: set[tuple[int, int | None]] = set()
        for opset in range(9, 19):
            version = _version(graph.node[0].op_type, opset)
            if version is None or version in made:
                continue
            model = onnx.ModelProto(ir_version=8)
            model.graph.CopyFrom(graph)
            model.opset_import.add(version=opset)
            del model.graph.input[:]
            for at, each in enumerate(graph.input):
                value: Any = values.get(each.name)
                is_small = at > 0 and isinstance(value, numpy.ndarray) and value.ndim < 2
                if is_small and (value.dtype.kind in "iu" or each.name in ("scales", "roi")):
                    model.graph.initializer.append(numpy_helper.from_array(value, each.name))
                else:
                    model.graph.input.append(each)
            with suppress(onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
                onnx.checker.check_model(model, full_check=True)
                made.add(version)
                yield f"{case.name}@{graph.node[0].op_type}-{version[0]}", model.SerializeToString()


def _version(op: str, opset: int) -> tuple[int, int | None] | None:
    """The version of an operator in an opset, and which row of the tables it has there; None if it is not in it."""
    with suppress(onnx.defs.SchemaError):
        rows = enumerate(onnx_operators().get(("ai.onnx", op), []))
        return onnx.defs.get_schema(op, opset, "").since_version, next(
            (at for at, row in rows if opset in row[0]), None
        )
    return None
