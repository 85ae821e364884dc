"""Opens what a search is about: the target, the base list and the model."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from ....core.cann.target import TargetOptions
from ....core.terminal.console import Console
from ....core.terminal.open import accepted_mixlist, open_given, report_doubts, report_mode, report_unknown
from ....errors import MissingPackage, OpsinfoError, UsageFault
from ...bisect.problem import Problem, SubjectOptions, problem_of, require_sense
from ...graph.atc_options import AtcOptions
from ...graph.judge.judge import prepare
from ..open import open_model, open_prices
from ..simulation_options import opened_simulation
from .check import Check

if TYPE_CHECKING:
    from ....core.cann.mixlist import Mixlist
    from ...graph.judge.judge import Ready


def open_problem(options: SubjectOptions, check: Check, target_options: TargetOptions, console: Console) -> Problem:
    """Open the target, the base list and the model, and find the candidates.

    :param check: with the inputs of the simulation that orders the candidates of an ONNX model
    :raises UsageFault: if options exclude each other, the mode has no lists, or an op type is unknown
    :raises Refused: if a file cannot be read, or the engine refuses it
    """
    require_sense(options)
    if check.simulating.shapes and options.model is None:
        raise UsageFault("--shape requires --model", name="needs-model")
    target = open_given(options.against, console, target_options)
    if target is None:
        check.require_simulation()
        return problem_of(options, None, None, None, console)
    report_doubts(target, console)
    report_mode(options.mode, target, console)
    base = accepted_mixlist(options.base, console) if options.base else None
    if base:
        report_unknown(base, target.operators, console)
    modes = AtcOptions(allow_hf32=options.allow_hf32)
    graph = open_model(options.model, console, check.simulating.shapes_of) if options.model else None
    ready = prepare(graph, target, atc=modes) if graph is not None else None
    simulated, singles = list[str](), list[str]()
    if ready is not None and ready.prepared.graph.model.onnx is not None and not (options.evidence or options.grow):
        simulated, singles = _simulated(ready, options.mode, base, check, console)
    else:
        check.require_simulation()
    prices = open_prices(ready.prepared.graph, options.profile, console) if ready and options.profile else None
    return problem_of(options, target, base, ready, console, simulated, prices, singles)


_ENOUGH, _SINGLES = 0.1, 3
"""A type may be enough alone if at most this share of the error is left when it stays high; how many are tried."""


def _simulated(
    ready: Ready, mode: str, base: Mixlist | None, check: Check, console: Console
) -> tuple[list[str], list[str]]:
    """Return the op types of a model in the order of their error in a simulation, and those that may be enough alone.

    Both are empty if it cannot be computed.
    """
    try:
        with console.progress("computing in float32"):
            simulation = opened_simulation(ready, mode, check.simulating)
        with console.progress("ranking op types", len(simulation.plan(base).types)) as advance:
            ranked = simulation.rank(base, advance)
        most = (simulation.error(simulation.plan(base)) or 0.0) * _ENOUGH
        left = sorted((each.error_without, each.type) for each in ranked if each.error_without is not None)
        singles = [name for error, name in left if error <= most and isfinite(error)]
        return [each.type for each in ranked if each.error_alone], singles[:_SINGLES]
    except MissingPackage as error:
        console.detail(f"candidates are not ranked by a simulation: {error.message}")
    except OpsinfoError as error:
        if check.simulating.inputs:
            raise
        console.note(f"candidates are not ranked by a simulation: {error.message}")
    return [], []
