"""The options of a simulation; `simulate` and `bisect` share them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from ...core.cann.input_shapes import parse_shapes
from ...core.terminal.params import Decorator, Number, Word, bundle, option, shape_option_in

if TYPE_CHECKING:
    from ...core.cann.input_shapes import ShapesOf


@dataclass(frozen=True)
class SimulationOptions:
    """How a model is computed, and the bounds of its outputs."""

    inputs: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    saturate: bool = False
    max_error: float | None = None
    min_cosine: float | None = None

    @property
    def shapes_of(self) -> ShapesOf | None:
        """The shapes that the model is read with: those of ``--shape``, and of the arrays of ``--inputs``."""
        from ..simulate.inputs import given_shapes

        shapes = parse_shapes(self.shapes)
        return partial(given_shapes, self.inputs, shapes) if self.inputs or shapes else None

    @property
    def words(self) -> list[tuple[str, ...]]:
        """The given options as on a command line, each with its value."""
        found: list[tuple[str, ...]] = []
        for field in fields(self):
            word = "--shape" if field.name == "shapes" else f"--{field.name.replace('_', '-')}"
            value = getattr(self, field.name)
            values = value if isinstance(value, tuple) else (value,) if value != field.default else ()
            found += [(word,) if given is True else (word, str(given)) for given in values]
        return found


def _options(section: str) -> Decorator[Any]:
    """:param section: of the help, for all but the bounds"""
    return bundle(
        "simulating",
        SimulationOptions,
        option("--max-error", type=Number("X"), help="Largest max|a-b| / max|b| of an output that passes."),
        option("--min-cosine", type=Number("X", -1, 1), help="Smallest cosine of an output that passes."),
        option(
            "--inputs",
            type=Word("FILE|DIR|random:SEED", reads=True),
            multiple=True,
            help="Inputs: an .npz, a folder of .npy or .pb files, or random ones; repeatable.  [default: random:0]",
            section=section,
        ),
        shape_option_in(section),
        option(
            "--saturate",
            is_flag=True,
            help="Clip what overflows, as a device in saturation mode, instead of Inf.",
            section=section,
        ),
    )


simulation_options = _options("advanced")
simulate_options = _options("")
