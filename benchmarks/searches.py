"""How many runs of a check `opsinfo bisect` takes to find planted culprits.

    python benchmarks/searches.py               every cell, 100 searches each
    python benchmarks/searches.py --seeds 10    fewer

Every run of the check is counted, both ends twice included. The list must be right in every search. The limits
are a mean of 1.15 times the figure of the table, if it has one, and in every single search the bound of `most_runs`
(tests/bisect/planted.py). The figures of the table count both ends once. A search for one culprit among n types cannot
take less than log2(n) runs on average if nothing is known, and the four of the ends: the column `least`; if it is above
the limit, the cell is shown and not judged. Exit status 1: a limit is exceeded.
"""

from __future__ import annotations

import argparse
import sys
from math import comb, log2
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "bisect")]

from planted import most_runs, planted, search  # noqa: E402

from opsinfo_cli.bisect.verdicts import Counting  # noqa: E402

TABLE = {(20, 1): 6, (20, 3): 15, (20, 8): 37, (60, 1): 8, (60, 3): 20, (60, 8): 49, (60, 15): 61}
"""Halving over a list ordered by risk; with 15 culprits linear removal."""
NOISY = {(0.02, 2): 47, (0.05, 3): 74}
ROUNDS = {1: 20, 2: 15, 4: 12, 8: 10}
LIMIT = 1.15
ENDS = 4


class Figures(NamedTuple):
    """The results of the searches of one cell."""

    mean: float
    most: int
    rounds: float
    wrong: int


def measured(count: int, culprits: int, seeds: int, how: dict[str, Any], **plant: Any) -> Figures:
    runs, rounds, wrong = [], [], 0
    for seed in range(seeds):
        check = planted(count, culprits, seed, **plant)
        ended = search(check, **how)
        kept = ended.found.kept or frozenset()
        wrong += not (check.is_minimal(kept) if check.pairs else kept == check.culprits)
        runs.append(ended.runs)
        rounds.append(ended.rounds)
    return Figures(sum(runs) / seeds, max(runs), sum(rounds) / seeds, wrong)


def monotone(seeds: int) -> int:
    print("types culprits    mean  limit  least    most  bound  wrong")
    missed = 0
    for count in (20, 60, 200):
        for culprits in (0, 1, 3, 8, 15):
            found = measured(count, culprits, seeds, {})
            limit = LIMIT * TABLE[count, culprits] if (count, culprits) in TABLE else None
            least = ENDS + log2(comb(count, culprits))
            bound = ENDS if not culprits else most_runs(count, culprits)
            bad = found.wrong or found.most > bound or (limit is not None and least <= limit < found.mean)
            missed += bool(bad)
            allowed = "    -" if limit is None else f"{limit:5.1f}"
            line = f"{count:5} {culprits:8} {found.mean:7.1f}  {allowed}  {least:5.1f} {found.most:7}  {bound:5}"
            print(f"{line} {found.wrong:6}{'  MISSED' if bad else ''}", flush=True)
    return missed


def others(seeds: int) -> int:
    missed = 0
    for count in (20, 60):
        for culprits in (1, 3, 8, 15):
            pairs = max(2, count // 10)
            found = measured(count, culprits, seeds, {}, pairs=pairs)
            missed += bool(found.wrong)
            print(
                f"not monotone: {count} types, {culprits} culprits, {pairs} pairs: {found.mean:.1f} runs, "
                f"{found.wrong} wrong",
                flush=True,
            )
    for (noise, lead), figure in NOISY.items():
        found = measured(60, 3, seeds, {"counting": Counting(lead=lead)}, noise=noise)
        missed += found.wrong > 0 or found.mean > LIMIT * figure
        print(
            f"{noise:.0%} wrong verdicts, --lead {lead}: {found.mean:.1f} runs (limit {LIMIT * figure:.1f}), "
            f"{found.wrong} wrong",
            flush=True,
        )
    found = measured(60, 3, seeds, {"counting": Counting(lead=2)}, noise=0.05, one_sided=True)
    missed += bool(found.wrong)
    print(f"5% false failures, --lead 2: {found.mean:.1f} runs, {found.wrong} wrong", flush=True)
    found = measured(60, 3, seeds, {"retries": 5}, dies=0.05)
    missed += bool(found.wrong)
    print(f"5% of the runs die, --retries 5: {found.mean:.1f} runs, {found.wrong} wrong", flush=True)
    for jobs, figure in ROUNDS.items():
        found = measured(60, 3, max(1, seeds // 5), {"jobs": jobs})
        missed += found.wrong > 0 or found.rounds > LIMIT * figure
        print(f"{jobs} at the same time: {found.rounds:.1f} rounds (limit {LIMIT * figure:.1f})", flush=True)
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description="Count the runs of searches with planted culprits.")
    parser.add_argument("--seeds", type=int, default=100, help="searches for each cell (default: 100)")
    seeds = parser.parse_args().seeds
    return 1 if monotone(seeds) + others(seeds) else 0


if __name__ == "__main__":
    sys.exit(main())
