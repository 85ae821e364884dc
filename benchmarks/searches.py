"""Measure what the numbers of a search cost: the mean runs of planted searches with each of them changed.

    python benchmarks/searches.py                 all numbers, 100 searches a cell: minutes
    python benchmarks/searches.py --seeds 20 --only share

A cell has 20, 60 or 200 candidates and 1, 3, 8 or 15 culprits, planted as in `tests/lab/bisect/planted.py`: 70 % of the
culprits and 20 % of the others are known risks. With evidence each culprit is among the suspects in 80 of 100 searches,
behind none to three others. One line a value: the mean runs over all cells, the change against the value in the code,
and the cell that changes most.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "lab" / "bisect")]

from planted import Planted, planted, search  # noqa: E402

from opsinfo_cli.lab.bisect import candidates  # noqa: E402
from opsinfo_cli.lab.bisect.search import cheapest_set, halving, minimal_set  # noqa: E402

CELLS = [(count, culprits) for count in (20, 60, 200) for culprits in (1, 3, 8, 15)]
KNOWN, MOST_BEFORE = 0.8, 3
"""How often evidence has a culprit, and how many other suspects come before it at most."""
HALVING = {"_LEAST": (1e-6, 1e-2), "_MOST": (0.5, 0.95), "_SHARE": (0.4, 1.0), "_FINISH": (0.0, 0.3)}


def weighted(count: int, culprits: int, seed: int, with_evidence: bool) -> Planted:
    """Return a planted check whose weights are those of the code."""
    check = planted(count, culprits, seed)
    if not with_evidence:
        risks = [candidates._RISK if weight > 1 else candidates._PLAIN for weight in check.weights]
        return Planted(count, check.culprits, risks, seed=seed)
    chance = random.Random(f"evidence {count} {culprits} {seed}")
    suspects: list[int] = []
    for culprit in sorted(check.culprits):
        if chance.random() < KNOWN:
            suspects += [chance.randrange(count) for _ in range(chance.randint(0, MOST_BEFORE))] + [culprit]
    names = [f"{'Softmax' if weight > 1 else 'Relu'}{number}" for number, weight in enumerate(check.weights)]
    order, weights = candidates.order_by_suspicion(names, [names[number] for number in suspects])
    places = {name: place for place, name in enumerate(order)}
    return Planted(count, frozenset(places[names[number]] for number in check.culprits), weights, seed=seed)


def means(seeds: int, with_evidence: bool) -> dict[tuple[int, int], float]:
    return {
        cell: sum(search(weighted(*cell, seed, with_evidence)).runs for seed in range(seeds)) / seeds for cell in CELLS
    }


@contextmanager
def changed(module: Any, **values: Any) -> Iterator[None]:
    with patch.multiple(module, **values):
        yield


@contextmanager
def spare(share: float) -> Iterator[None]:
    """Another bound of runs: linear removal, and this share more."""

    def most_runs(count: int) -> int:
        return count + max(halving._depth(count), int(count * share))

    changed_there = [patch.object(each, "most_runs", most_runs) for each in (halving, minimal_set, cheapest_set)]
    with changed_there[0], changed_there[1], changed_there[2]:
        yield


@contextmanager
def prior(power: float) -> Iterator[None]:
    """Other odds before the first answer: the rate to this power."""
    plain = halving._Belief.__init__

    def start(self: Any, weights: Any) -> None:
        plain(self, weights)
        self.odds = [old**power for old in self.odds]

    with patch.object(halving._Belief, "__init__", start):
        yield


Change = Callable[[], Any]


def changes() -> Iterator[tuple[str, bool, Change]]:
    """Yield the name of each changed value, whether evidence is given, and what changes it."""
    for name, others in HALVING.items():
        for value in others:
            yield f"{name} {value:g}", False, lambda name=name, value=value: changed(halving, **{name: value})
    for share in (0.0, 0.1, 0.5, 1.0):
        yield f"share more than linear {share:g}", False, lambda share=share: spare(share)
    for power in (0.0, 2.0):
        yield f"odds 1/rate^{power:g}", False, lambda power=power: prior(power)
    for value in (1.0, 2.0, 8.0, 16.0):
        yield f"_RISK {value:g}", False, lambda value=value: changed(candidates, _RISK=value)
    for value in (4.0, 12.0, 48.0, 200.0):
        yield f"_EVIDENCE {value:g}", True, lambda value=value: changed(candidates, _EVIDENCE=value)
    for value in (1.0, 3.0, 12.0, 24.0):
        yield f"_LEAST_EVIDENCE {value:g}", True, lambda value=value: changed(candidates, _LEAST_EVIDENCE=value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100, help="searches of each cell")
    parser.add_argument("--only", default="", help="numbers whose name contains a text")
    given = parser.parse_args()
    as_it_is: dict[bool, dict[tuple[int, int], float]] = {}
    for name, with_evidence, change in changes():
        if given.only not in name:
            continue
        if with_evidence not in as_it_is:
            as_it_is[with_evidence] = means(given.seeds, with_evidence)
            whole = sum(as_it_is[with_evidence].values()) / len(CELLS)
            print(f"as it is{', with evidence' if with_evidence else ''}: {whole:.2f} runs", flush=True)
        plain = as_it_is[with_evidence]
        with change():
            found = means(given.seeds, with_evidence)
        total = sum(found.values()) / sum(plain.values()) - 1
        worst = max(CELLS, key=lambda cell: abs(found[cell] / plain[cell] - 1))
        most = found[worst] / plain[worst] - 1
        print(f"{name}: {100 * total:+.1f} %, most {100 * most:+.1f} % with {worst[1]} of {worst[0]}", flush=True)


if __name__ == "__main__":
    main()
