"""The options of a simulation, and the simulation that they request."""

from __future__ import annotations

from typing import NamedTuple

from ...errors import UsageFault
from ...graph.judging import Ready
from ...simulate.inputs import input_sets, parse_shape, read_npz
from ...simulate.simulation import Simulation, onnx_model
from ..line import declare
from ..shared.common_options import Option

FIRST_SEED = "random:0"


class SimulateOptions(NamedTuple):
    """How a model is computed, and the bounds of its outputs.

    :param inputs: sources of inputs; empty: random ones
    :param shapes: ``NAME=DIMS`` of inputs with open dimensions
    :param saturate: whether overflowing values become the largest value
    :param reference: an ``.npz`` of outputs to compare with instead of those in float32
    :param max_error: bound of every output's largest relative error
    :param min_cosine: bound of every output's cosine
    """

    inputs: tuple[str, ...]
    shapes: tuple[str, ...]
    saturate: bool
    reference: str | None
    max_error: float | None
    min_cosine: float | None

    @property
    def is_check(self) -> bool:
        return self.max_error is not None or self.min_cosine is not None


SIMULATING = declare.Group("simulating", SimulateOptions)

simulate_options: Option = declare.stacked(
    declare.option(
        "--inputs",
        metavar="FILE|DIR|random:SEED",
        multiple=True,
        help="Inputs: an .npz, a folder of .npy or .pb files, or random ones; repeatable.  [default: random:0]",
        group=SIMULATING,
    ),
    declare.option(
        "--shape",
        "shapes",
        metavar="INPUT=DIMS",
        multiple=True,
        help="Shape of an input with open dimensions, as in x=1,3,224,224; repeatable.",
        group=SIMULATING,
    ),
    declare.option(
        "--saturate",
        is_flag=True,
        help="Clip what overflows, as a device in saturation mode; without it, it becomes Inf.",
        group=SIMULATING,
    ),
    declare.option(
        "--reference",
        metavar="FILE",
        help="Compare with these outputs, an .npz recorded on a device, instead of float32.",
        group=SIMULATING,
    ),
    declare.option(
        "--max-error",
        metavar="X",
        type=declare.FloatRange(min=0),
        help="Exit 1 if max|a-b| / max|b| of an output is larger.",
        group=SIMULATING,
    ),
    declare.option(
        "--min-cosine",
        metavar="X",
        type=declare.FloatRange(min=-1, max=1),
        help="Exit 1 if the cosine of an output is smaller.",
        group=SIMULATING,
    ),
)


def opened_simulation(model: str, ready: Ready, mode: str, options: SimulateOptions) -> Simulation:
    """Return a model computed in float32, ready to be simulated.

    :raises UsageFault: if an option does not fit the model
    :raises Refused: if a file cannot be read, or the model cannot be computed
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for text in options.shapes:
        name, shape = parse_shape(text)
        if name in shapes:
            raise UsageFault(f"--shape {name}: given twice", name="bad-shape")
        shapes[name] = shape
    proto = onnx_model(ready.prepared.graph)
    sets = [each for spec in options.inputs or (FIRST_SEED,) for each in input_sets(spec, proto, shapes)]
    reference = read_npz(options.reference) if options.reference else None
    return Simulation.open(model, ready, mode, sets, saturate=options.saturate, reference=reference)
