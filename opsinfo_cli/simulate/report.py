"""The results of one simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .limits import Limit
    from .simulation import Simulated, Simulation, TypeCost
    from .trace import Trace


class SimulationReport(NamedTuple):
    """The computed values, and their bounds.

    :param trace: the error along the graph; None: not requested
    :param types: op types, the most costly first
    :param mixlist: the path of the mixlist
    :param reference: the path of the recorded outputs; None: float32
    """

    simulation: Simulation
    simulated: Simulated
    trace: Trace | None
    types: list[TypeCost]
    limits: list[Limit]
    mixlist: str | None
    reference: str | None
    max_error: float | None
    min_cosine: float | None

    @property
    def passes(self) -> bool | None:
        """Whether every output is within the bounds; None: there are no bounds."""
        if self.max_error is None and self.min_cosine is None:
            return None
        return self.simulated.passes(self.max_error, self.min_cosine)
