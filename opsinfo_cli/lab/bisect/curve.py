"""The loss of lists against their cost: a loss is the last number that the check prints, and less is better."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from ...core.document import Count, LineNumber, Schema, internal, renamed
from ..profile.table import Microseconds

if TYPE_CHECKING:
    from .problem import Problem
    from .session import SearchSession


@dataclass(frozen=True)
class CostOfAList:
    """What the list costs. With a profile only the time is compared, else Casts, nodes and bytes."""

    microseconds: Microseconds | None
    """Time in the profile of the nodes that the list moves to high; null without a profile."""
    casts: Count
    """Number of Casts that run with the list."""
    nodes: Count
    """Number of nodes that the list moves to high."""
    bytes: Count
    """Bytes of the outputs of these nodes, as far as shapes are known."""


@dataclass(frozen=True)
class CurvePoint:
    """One list."""

    loss: Annotated[float | str, Schema(examples=[0.012, "inf"])]
    """The last number that the check printed in the last run of the list; less is better."""
    cost: CostOfAList
    """What the list costs. With a profile only the time is compared, else Casts, nodes and bytes."""
    trial: LineNumber
    """The number of the last trial of the list."""
    dominated: bool
    """Whether another list costs no more and loses no more, and one of both less."""
    names: list[Annotated[str, Schema(examples=["SoftmaxV2"])]] = renamed("list")
    """Op types that stay in high precision."""
    number: float = internal(0.0)
    """The loss, also if JSON has no number for it."""

    @property
    def amounts(self) -> tuple[float, ...]:
        """Loss and cost, each the less the better; time replaces nodes, bytes and Casts."""
        cost, loss = self.cost, self.number
        amounts = (cost.nodes, cost.bytes, cost.casts) if cost.microseconds is None else (cost.microseconds,)
        return (math.inf if math.isnan(loss) else loss, *amounts)


def curve_of(problem: Problem, session: SearchSession) -> list[CurvePoint]:
    """Return the lists that were run and have a loss, the cheapest first; of those with one effect the shortest."""
    assert problem.sets is not None
    points: dict[str, CurvePoint] = {}
    for run in session.knowledge.runs:
        types = problem.types(run.kept)
        key = session.knowledge.key_of(run.kept)
        if run.trial in session.losses and (key not in points or len(types) <= len(points[key].names)):
            cost, casts = problem.sets.effect(types).cost, problem.sets.answer(types).cast_counts.run
            price = CostOfAList(cost.microseconds, casts, cost.nodes, cost.bytes)
            loss = session.losses[run.trial]
            shown = loss if math.isfinite(loss) else str(loss)
            points[key] = CurvePoint(shown, price, run.trial, False, sorted(types), loss)
    curve = sorted(points.values(), key=lambda point: (*point.amounts[1:], point.amounts[0]))
    every = [point.amounts for point in curve]

    def is_dominated(mine: tuple[float, ...]) -> bool:
        return any(other != mine and all(x <= y for x, y in zip(other, mine, strict=True)) for other in every)

    return [replace(point, dominated=is_dominated(point.amounts)) for point in curve]
