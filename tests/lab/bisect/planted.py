"""Searches with planted culprits: a check with known answers, and a session without files and processes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import ceil, log2
from typing import Any

from opsinfo_cli.lab.bisect.search.cheapest_set import cheapen, find_cheapest
from opsinfo_cli.lab.bisect.search.minimal_set import END_RUNS, SearchEnd
from opsinfo_cli.lab.bisect.session import OutOfBudget, Rules, RunBudget, SearchSession, SearchSubject
from opsinfo_cli.lab.bisect.trial import Trial, TrialEnd
from opsinfo_cli.lab.graph.cost import Cost

RISKY_CULPRITS, RISKY_OTHERS = 0.7, 0.2
"""Shares of the culprits, and of the other types, whose names are known risks."""


@dataclass
class Planted:
    """A check that needs some candidates.

    :param pairs: (a, b): a list with a and without b fails, so that the check is not monotone
    :param noise: the probability of a wrong verdict; with ``one_sided`` only passing runs fail
    :param dies: the probability that a run ends by a signal
    """

    count: int
    culprits: frozenset[int]
    weights: list[float]
    pairs: list[tuple[int, int]] = field(default_factory=list)
    noise: float = 0.0
    one_sided: bool = False
    dies: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def truth(self, kept: frozenset[int]) -> bool:
        return self.culprits <= kept and not any(a in kept and b not in kept for a, b in self.pairs)

    def run(self, kept: frozenset[int]) -> TrialEnd:
        if self.random.random() < self.dies:
            return TrialEnd(None, signal=9)
        passes = self.truth(kept)
        if self.random.random() < self.noise and (passes or not self.one_sided):
            passes = not passes
        return TrialEnd(0 if passes else 1)

    def is_minimal(self, kept: frozenset[int]) -> bool:
        return self.truth(kept) and not any(self.truth(kept - {each}) for each in kept)


def planted(count: int, culprits: int, seed: int, pairs: int = 0, **options: Any) -> Planted:
    """Return a check with ``culprits`` culprits among ``count`` candidates, the most suspected first."""
    chance = random.Random(f"{count} {culprits} {seed}")
    chosen = set(chance.sample(range(count), culprits))
    risky = {each for each in range(count) if chance.random() < (RISKY_CULPRITS if each in chosen else RISKY_OTHERS)}
    order = sorted(range(count), key=lambda each: (each not in risky, chance.random()))
    where = {each: at for at, each in enumerate(order)}
    linked = [tuple(where[each] for each in chance.sample(range(count), 2)) for _ in range(pairs)]
    return Planted(
        count,
        frozenset(where[each] for each in chosen),
        [4.0 if each in risky else 1.0 for each in order],
        pairs=[(a, b) for a, b in linked],
        seed=seed,
        **options,
    )


class PlantedPlace:
    """Judges all trials that run at once, as one round.

    :param one_by_one: judges the first of them only
    :ivar stop_at: the round that is interrupted by Ctrl-C
    """

    def __init__(self, check: Planted, slots: int = 1, one_by_one: bool = False) -> None:
        self.check = check
        self.slots = slots
        self.one_by_one = one_by_one
        self.running: list[Trial] = []
        self.busy: list[int] = []
        self.stop_at: int | None = None

    def start(self, trial: Trial) -> None:
        assert len(self.running) < self.slots
        self.running.append(trial)

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        self.busy.append(len(self.running))
        if len(self.busy) == self.stop_at:
            raise KeyboardInterrupt
        count = 1 if self.one_by_one else len(self.running)
        done, self.running = self.running[:count], self.running[count:]
        return [(trial, self.check.run(trial.kept)) for trial in done]

    def stop(self) -> None:
        self.running.clear()


class Nowhere:
    """A run folder and a journal that keep nothing."""

    path = "nowhere"

    def trial(self, number: int, files: Mapping[str, tuple[str, bytes]]) -> str:
        return self.path

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None


@dataclass
class Ended:
    """The end of a search, and its cost.

    :param busy: how many trials ran whenever one was waited for
    """

    found: SearchEnd
    runs: int
    busy: list[int]
    session: SearchSession


def find_cheaper(cost: Callable[[frozenset[int]], Cost] | None, effect: Any = None) -> Any:
    """Return the search for cheaper sets of op types, by their cost, or of nodes, by rank and reach."""
    if effect is not None:
        return partial(find_cheapest, rank=effect[0], reach=effect[1])
    return None if cost is None else partial(cheapen, cost=cost)


def search(
    check: Planted,
    jobs: int = 1,
    lead: int | None = None,
    retries: int = 1,
    cost: Callable[[frozenset[int]], Cost] | None = None,
    budget: RunBudget = RunBudget(),  # noqa: B008
    one_by_one: bool = False,
    effect: Any = None,
    stop_at: int | None = None,
) -> Ended:
    """Search with the real session, which a spent budget or a signal ends as in a command.

    :param stop_at: the round that is interrupted by Ctrl-C
    """
    names: Sequence[str] = [f"Type{number}" for number in range(check.count)]
    digest, cheaper = lambda kept: ",".join(map(str, sorted(kept))), find_cheaper(cost, effect)
    subject = SearchSubject(names, digest, lambda *_: {}, cheaper, END_RUNS if effect is None else 1)
    place = PlantedPlace(check, jobs, one_by_one)
    nowhere: Any = Nowhere()
    session = SearchSession(subject, Rules(["check"], lead, retries=retries, budget=budget), place, nowhere, nowhere)
    place.stop_at = stop_at
    try:
        found = session.search(check.weights)
    except OutOfBudget:
        found = session.so_far("budget")
    except KeyboardInterrupt:
        found = session.so_far("interrupted")
    return Ended(found, session.spent.runs, place.busy, session)


def most_runs(count: int, culprits: int) -> int:
    """The bound of every single search: k(ceil(log2 n) + 2) + 6, or that of linear removal, if it is less.

    Linear removal takes both ends twice, a run for each candidate, and one for each culprit that proves it is needed.
    The halving that finds the first culprit comes first: only then it is known that linear removal is cheaper.
    """
    deep = ceil(log2(count))
    return min(culprits * (deep + 2) + 6, 4 + count + culprits + deep)
