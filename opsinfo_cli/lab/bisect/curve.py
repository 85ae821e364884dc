"""The loss of lists against their cost: a loss is the last number that the check prints, and less is better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..documents import bisect as documents
    from .problem import Problem
    from .session import SearchSession


class CurvePoint(NamedTuple):
    """One list that was run.

    :param loss: of its last run
    :param microseconds: that the nodes which it moves to high took in the profile; None without one
    :param casts: how many Casts run with it
    :param nodes: that it moves to high
    :param bytes: of their outputs, as far as shapes are known
    :param names: the op types on it
    :param trial: the number of its last run
    :param dominated: whether another list costs no more and loses no more, and one of both less
    """

    loss: float
    microseconds: float | None
    casts: int
    nodes: int
    bytes: int
    names: list[str]
    trial: int
    dominated: bool = False

    def to_dict(self) -> documents.PointOfTheCurve:
        time = None if self.microseconds is None else round(self.microseconds, 3)
        return {
            "loss": self.loss if math.isfinite(self.loss) else str(self.loss),
            "cost": {"microseconds": time, "casts": self.casts, "nodes": self.nodes, "bytes": self.bytes},
            "list": self.names,
            "trial": self.trial,
            "dominated": self.dominated,
        }

    @property
    def amounts(self) -> tuple[float, ...]:
        """Loss and cost, each the less the better; time replaces nodes, bytes and Casts."""
        cost = (self.nodes, self.bytes, self.casts) if self.microseconds is None else (self.microseconds,)
        return (math.inf if math.isnan(self.loss) else self.loss, *cost)


def curve_of(problem: Problem, session: SearchSession) -> list[CurvePoint]:
    """Return the lists that were run and have a loss, the cheapest first; of those with one effect the shortest."""
    assert problem.sets is not None
    points: dict[str, CurvePoint] = {}
    for run in session.knowledge.runs:
        types = problem.types(run.kept)
        key = session.knowledge.key_of(run.kept)
        if run.trial in session.losses and (key not in points or len(types) <= len(points[key].names)):
            cost, casts = problem.sets.cost(types), problem.sets.answer(types).cast_counts.run
            points[key] = CurvePoint(
                session.losses[run.trial], cost.microseconds, casts, cost.nodes, cost.bytes, sorted(types), run.trial
            )
    curve = sorted(points.values(), key=lambda point: (*point.amounts[1:], point.loss))
    every = [point.amounts for point in curve]

    def is_dominated(mine: tuple[float, ...]) -> bool:
        return any(other != mine and all(x <= y for x, y in zip(other, mine, strict=True)) for other in every)

    return [point._replace(dominated=is_dominated(point.amounts)) for point in curve]
