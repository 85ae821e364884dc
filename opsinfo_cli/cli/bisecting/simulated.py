"""The check of `--simulate`: computes the model on the CPU with low tensors rounded."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from ...bisect.judged_nodes import JudgedNodes
from ...bisect.places.here import HerePlace
from ...errors import UsageFault
from ...graph.judging import Ready
from ...model.mixlist import Mixlist
from ...simulate.simulation import Simulation
from ...text.scanner import scan
from ...text.source import Source
from ..simulating.options import SimulateOptions, opened_simulation
from .subject import Opened

if TYPE_CHECKING:
    from ...bisect.places.place import Trial


def require_bounds(options: SimulateOptions, simulates: bool) -> None:
    """:raises UsageFault: if a simulation has no bound, or its options are given without one"""
    if simulates and not options.is_check:
        hint = "--max-error 0.01 bounds max|a-b| / max|b| of every output"
        raise UsageFault("--simulate requires --max-error or --min-cosine", name="needs-bound", hint=hint)
    given = {
        "--inputs": options.inputs,
        "--shape": options.shapes,
        "--saturate": options.saturate,
        "--reference": options.reference,
        "--max-error": options.max_error is not None,
        "--min-cosine": options.min_cosine is not None,
    }
    word = next((word for word, value in given.items() if value), None)
    if word and not simulates:
        raise UsageFault(f"{word} requires --simulate")


def simulated_place(opened: Opened, options: SimulateOptions) -> HerePlace:
    """Return a place that simulates each trial.

    :raises UsageFault: if there is no model, or an option does not fit it
    :raises Refused: if the model cannot be computed
    """
    if opened.sets is None or opened.options.model is None:
        raise UsageFault("--simulate requires --model", name="needs-model")
    sets = opened.sets
    simulation = opened_simulation(opened.options.model, sets.ready, sets.mode, options)
    nodes = JudgedNodes(sets)

    def simulate(trial: Trial) -> tuple[int, str]:
        mine = simulation
        if "keep_dtype" in trial.files:
            mine = _with(simulation, nodes.ready(trial.files["keep_dtype"][1].decode("utf-8").splitlines()))
        name, content = trial.files["mixlist"]
        simulated = mine.run(Mixlist(scan(Source(content, name))))
        cosine = "unknown" if simulated.min_cosine is None else f"{simulated.min_cosine:.9g}"
        said = f"max_rel_error {simulated.max_rel_error:.6g}, cosine {cosine}"
        return 0 if simulated.passes(options.max_error, options.min_cosine) else 1, said

    return HerePlace(simulate, "simulation")


def _with(simulation: Simulation, ready: Ready) -> Simulation:
    """Return the same simulation with the graph judged in another way; computed results are reused."""
    made = copy(simulation)
    made.ready = ready
    return made
