"""One simulation, from a model to its report: for the command, and for a program."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ...core.cann.input_shapes import settles
from ...errors import Refused
from ..graph.prepare import prepare
from ..graph.readers import read_graph
from ..graph.readers.onnx import model_inputs
from ..listener import PythonListener
from .inputs import GIVEN, InputSet, given_shapes, input_sets, require_fit, unknown_numbers
from .node_costs import rank_nodes
from .report import SimulationReport, not_shown
from .simulation import Simulation, onnx_model
from .trace import floating_values
from .trace import trace as trace_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...core.cann.input_shapes import Shapes
    from ...core.cann.library import Operators
    from ...core.cann.mixlist import AnyMixlist
    from ...core.cann.target import AnyTarget
    from ..graph.graph import ModelGraph
    from ..graph.prepare import PreparedModel
    from ..listener import Listener

Source: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"
"""A file, a folder, ``random:SEED``, or arrays by the name of the input."""

FIRST_SEED = "random:0"


def simulate_model(
    model: ModelGraph | str | os.PathLike[str],
    against: AnyTarget | Operators | None,
    mode: str = "mixed_float16",
    mixlist: AnyMixlist | None = None,
    *,
    inputs: Sequence[Source] | Source = (),
    shapes: Shapes | None = None,
    saturate: bool = False,
    max_error: float | None = None,
    min_cosine: float | None = None,
    traced: bool = True,
    ranked: bool = True,
    by_node: bool = False,
) -> SimulationReport:
    """Compute an ONNX model in float32 and with its low tensors rounded, as ``opsinfo simulate``.

    :param model: a graph that was read from ONNX, or the path of an ONNX file
    :param against: a target, an install, a store, a library, or the path or SoC name of one
    :param mixlist: a mixlist, its path, a parsed one, or marks by op type
    :param inputs: files, folders, ``random:SEED`` or arrays by name, one or several; empty for ``random:0``
    :param shapes: of inputs, by name, -1 for an open dimension: it is judged and computed as if the file had them, and
        those of arrays
    :param saturate: overflowing values become the largest value instead of Inf
    :param max_error: bound of every output's largest relative error, for ``passes``
    :param min_cosine: bound of every output's cosine, for ``passes``
    :param traced: whether the error along the graph is computed
    :param ranked: whether the cost of each op type is computed: two more computations for each
    :param by_node: whether that of each low node is computed too
    :raises UsageFault: if an argument does not fit the model
    :raises Refused: if a file cannot be read, or the model cannot be computed
    :raises MissingPackage: if onnx, onnxruntime or numpy is not installed
    """
    given = (inputs,) if isinstance(inputs, (str, os.PathLike, Mapping)) else inputs
    sources = [os.fspath(source) if isinstance(source, os.PathLike) else source for source in given]
    settle = partial(given_shapes, sources, shapes or {})
    if isinstance(model, (str, os.PathLike)):
        model = read_graph(os.fspath(model), shapes_of=settle)
    elif settles(settle(model.model.inputs), model.model.inputs) and model.model.path:
        model = read_graph(model.model.path, shapes_of=settle)
    simulation = open_simulation(prepare(model, against), mode, sources, saturate=saturate)
    report = report_of(simulation, mixlist, traced=traced, ranked=ranked, by_node=by_node)
    return report._replace(max_error=max_error, min_cosine=min_cosine)


def open_simulation(
    prepared: PreparedModel,
    mode: str,
    inputs: Sequence[str | Mapping[str, Any]] = (),
    *,
    saturate: bool = False,
    listener: Listener = PythonListener(),  # noqa: B008  # without state
) -> Simulation:
    """Return a model computed in float32, ready to be simulated; parameters as for :func:`simulate_model`."""
    graph = prepared.graph
    proto = onnx_model(graph)
    sets: list[InputSet] = []
    for source in inputs or (FIRST_SEED,):
        if isinstance(source, str):
            sets += input_sets(source, proto)
        else:
            require_fit(model_inputs(proto), dict(source), GIVEN)
            sets.append(InputSet(GIVEN, dict(source)))
    try:
        with listener.progress("computing in float32"):
            return Simulation(graph.model.path or "", prepared, mode, sets, saturate=saturate)
    except Refused as error:
        if error.name == "not-computed" and any(input_set.is_random for input_set in sets):
            error.hint = "random inputs may be the cause: give real ones with --inputs FILE.npz"
            if whole := ", ".join(f"`{name}`" for name in unknown_numbers(proto)):
                may = f"random whole numbers are 0 and 1, which may not serve {whole}"
                error.hint = f"{may}: give inputs with --inputs FILE.npz"
        raise


def report_of(
    simulation: Simulation,
    mixlist: AnyMixlist | None = None,
    *,
    traced: bool = True,
    ranked: bool = True,
    by_node: bool = False,
    listener: Listener = PythonListener(),  # noqa: B008  # without state
) -> SimulationReport:
    """Compute with the roundings of a mixlist, along the graph and by op type; the report has no bounds."""
    plan = simulation.plan(mixlist)
    with listener.progress("computing with roundings"):
        simulated = simulation.compute(plan)
    trace, types = None, []
    if traced:
        with listener.progress("comparing along the graph", len(floating_values(simulation))) as advance:
            trace = trace_of(simulation, plan, advance)
    if ranked:
        with listener.progress("ranking op types", len(plan.types)) as advance:
            types = simulation.rank(mixlist, advance)
    nodes = None
    if by_node:
        with listener.progress("ranking nodes", len(plan.nodes)) as advance:
            nodes = rank_nodes(simulation, plan, advance)
    answer = simulation.answer(mixlist)
    limits = not_shown(simulation, plan, answer)
    path = os.fspath(mixlist) if isinstance(mixlist, (str, os.PathLike)) else getattr(mixlist, "path", None)
    return SimulationReport(
        simulation,
        simulated,
        trace,
        types,
        limits,
        nodes,
        answer,
        path,
    )
