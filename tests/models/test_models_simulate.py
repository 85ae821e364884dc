"""`opsinfo simulate` on trained models: every node and the whole agree with an independent rounding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from node_by_node import LOW, NodeByNode, Values, branch, options, unit_of
from onnx import helper
from trained import TRAINED, Trained, path_of, target

from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers import read_graph
from opsinfo_cli.lab.simulate.inputs import InputSet, input_sets
from opsinfo_cli.lab.simulate.rounded_model import PREFIX
from opsinfo_cli.lab.simulate.simulation import Simulation


class Case(NamedTuple):
    """A model simulated, and the same model for the independent computation."""

    simulation: Simulation
    model: onnx.ModelProto
    inputs: InputSet


@pytest.fixture(scope="module", params=TRAINED, ids=lambda model: model.name)
def trained(request: pytest.FixtureRequest) -> Trained:
    found: Trained = request.param
    return found


@pytest.fixture(scope="module", params=["mixed_float16", "mixed_bfloat16"])
def case(request: pytest.FixtureRequest, trained: Trained) -> Case:
    path = path_of(trained)
    place, soc = target()
    against = resolve(place, TargetOptions(soc=soc), {})
    graph = read_graph(path, shapes_of=trained.shapes_of)
    joining = {each.name for each in prepare(graph, against).fused.fusions if len(each.nodes) > 1}
    prepared = prepare(graph, against, no_fusion=joining)  # the independent computation knows single nodes
    inputs = input_sets("random:0", graph.model.onnx)[0]
    for name, value in trained.numbers.items():
        inputs.feeds[name] = np.asarray(value, inputs.feeds[name].dtype)
    return Case(Simulation(path, prepared, request.param, [inputs]), onnx.load(path), inputs)


def test_every_node_agrees_with_an_independent_rounding_of_the_values_that_it_was_given(case: Case) -> None:
    """Computed by onnxruntime in float16, and by the reference of onnx in bfloat16."""
    simulation = case.simulation
    by_reference = simulation.mode == "mixed_bfloat16"
    alone = NodeByNode(case.model, simulation.answer(), by_reference)
    made = onnx.load_from_string(simulation.rewriter.model(simulation.plan()))
    checked = low = 0
    put_back(made.graph, simulation.file.weights)
    for graph, values in graphs(case.model.graph, made, made.graph, dict(case.inputs.feeds)):
        for node in graph.node:
            if node.op_type in ("Constant", "If") or not all(name in values for name in node.output if name):
                continue
            before, after = alone.dtypes(node)
            for name, expected, dtype in zip(node.output, alone.node(node, values), after, strict=True):
                if name and expected.dtype == np.float32:
                    assert_within_one_unit(values[name], expected, dtype, node.name, 2e-5 if by_reference else 0)
                    checked, low = checked + 1, low + sum(each in LOW for each in (*before, dtype))
    assert checked > 20
    assert low >= 5


def test_the_error_of_the_outputs_is_within_a_fifth_of_that_of_an_independent_run(case: Case) -> None:
    exact = NodeByNode(case.model, None).run(case.inputs.feeds)
    low = NodeByNode(case.model, case.simulation.answer()).run(case.inputs.feeds)
    errors = [
        float(np.abs(a.astype("f8") - b.astype("f8")).max() / np.abs(b.astype("f8")).max())
        for a, b in zip(low, exact, strict=True)
    ]
    found = case.simulation.run()
    assert max(errors) > 1e-5
    assert found.max_rel_error == pytest.approx(max(errors), rel=0.2)


def put_back(graph: onnx.GraphProto, weights: Values) -> None:
    """Put the weights that the simulation keeps apart into the model."""
    for each in graph.initializer:
        if each.name in weights:
            each.CopyFrom(onnx.numpy_helper.from_array(weights[each.name], each.name))


def assert_within_one_unit(found: Any, expected: Any, dtype: str | None, name: str, share: float) -> None:
    """:param share: of the largest value, by which float32 sums in another order and approximations may differ"""
    assert found.shape == expected.shape, name
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        most = unit_of(expected, dtype) + share * np.abs(expected).max(initial=0.02)
        near = np.abs(found.astype("f8") - expected.astype("f8")) <= most
    assert (same | near).all(), name


def graphs(
    graph: onnx.GraphProto, model: onnx.ModelProto, made: onnx.GraphProto, given: Values
) -> Iterator[tuple[onnx.GraphProto, Values]]:
    """The graph of the user's file and the bodies that are computed, each with the values of the simulation.

    :param made: the same graph in the model that the simulation computes, ``model``
    """
    values = {**given, **values_of(made, model, given)}
    yield graph, values
    owners = {node.output[0]: node for node in made.node if node.op_type == "If"}
    for node in graph.node:
        if node.op_type == "If":
            chosen = bool(np.ravel(values[node.input[0]])[0])
            changed = owners.get(node.output[0]) or next(each for each in owners.values() if each.name == node.name)
            yield from graphs(branch(node, chosen), model, branch(changed, chosen), values)


def values_of(graph: onnx.GraphProto, model: onnx.ModelProto, given: Values) -> Values:
    """All values of a graph of the simulation's model, computed as a model of its own."""
    initializers = {each.name for each in graph.initializer}
    own = {name for node in graph.node for name in node.output} | initializers
    wanted = {name for name in read_by(graph) if name and name not in own}
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(given[name].dtype), None)
        for name in sorted(wanted)
    ]
    names = sorted(name for node in graph.node for name in node.output if name and not name.startswith(PREFIX))
    outputs = [onnx.ValueInfoProto(name=name) for name in names]
    alone = helper.make_graph(list(graph.node), "alone", inputs, outputs, list(graph.initializer))
    whole = helper.make_model(alone, opset_imports=model.opset_import, ir_version=8)
    session = ort.InferenceSession(whole.SerializeToString(), options(), ["CPUExecutionProvider"])
    found = dict(zip(names, session.run(None, {name: given[name] for name in wanted}), strict=True))
    return {**found, **{each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}}


def read_by(graph: onnx.GraphProto) -> Iterator[str]:
    """The names that a graph reads, its bodies included; those that a body yields itself are left out."""
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            if attribute.HasField("g"):
                body = attribute.g
                own = {name for each in body.node for name in each.output} | {each.name for each in body.initializer}
                yield from (name for name in (*read_by(body), *(each.name for each in body.output)) if name not in own)
