"""The options of a simulation, and the simulation that they ask for; `simulate` and `bisect` share this."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UsageFault
from ..graph.judging import Ready
from ..simulate.inputs import input_sets, parse_shape, read_npz
from ..simulate.simulation import Simulation, onnx_model
from .params import FILE, Number, Word, bundle, option

FIRST_SEED = "random:0"


@dataclass(frozen=True)
class SimulateOptions:
    """How a model is computed, and the bounds of its outputs.

    :param inputs: sources of inputs; empty: random ones
    :param shapes: ``NAME=DIMS`` of inputs with open dimensions
    :param saturate: whether overflowing values become the largest value
    :param reference: an ``.npz`` of outputs to compare with instead of those in float32
    :param max_error: bound of every output's largest relative error
    :param min_cosine: bound of every output's cosine
    """

    inputs: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    saturate: bool = False
    reference: str | None = None
    max_error: float | None = None
    min_cosine: float | None = None

    @property
    def is_check(self) -> bool:
        return self.max_error is not None or self.min_cosine is not None


simulate_options = bundle(
    "simulating",
    SimulateOptions,
    option(
        "--inputs",
        type=Word("FILE|DIR|random:SEED", reads=True),
        multiple=True,
        help="Inputs: an .npz, a folder of .npy or .pb files, or random ones; repeatable.  [default: random:0]",
    ),
    option(
        "--shape",
        "shapes",
        type=Word("INPUT=DIMS"),
        multiple=True,
        help="Shape of an input with open dimensions, as in x=1,3,224,224; repeatable.",
    ),
    option(
        "--saturate",
        is_flag=True,
        help="Clip what overflows, as a device in saturation mode; without it, it becomes Inf.",
    ),
    option(
        "--reference",
        type=FILE,
        help="Compare with these outputs, an .npz recorded on a device, instead of float32.",
    ),
    option("--max-error", type=Number("X"), help="Exit 1 if max|a-b| / max|b| of an output is larger."),
    option("--min-cosine", type=Number("X", -1, 1), help="Exit 1 if the cosine of an output is smaller."),
)


def opened_simulation(ready: Ready, mode: str, options: SimulateOptions) -> Simulation:
    """Return a model computed in float32, ready to be simulated.

    :raises UsageFault: if it is no ONNX model, or an option does not fit it
    :raises Refused: if a file cannot be read, or the model cannot be computed
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for text in options.shapes:
        name, shape = parse_shape(text)
        if name in shapes:
            raise UsageFault(f"--shape {name}: given twice", name="bad-shape")
        shapes[name] = shape
    proto = onnx_model(ready.prepared.graph)
    sets = [each for source in options.inputs or (FIRST_SEED,) for each in input_sets(source, proto, shapes)]
    reference = read_npz(options.reference) if options.reference else None
    path = ready.prepared.graph.model.path or ""
    return Simulation.open(path, ready, mode, sets, saturate=options.saturate, reference=reference)
