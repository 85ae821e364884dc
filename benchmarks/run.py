"""Compare opsinfo with the tools that are used today, each doing the same work on the same files.

    python benchmarks/run.py                          every row, and growth
    python benchmarks/run.py --only move --rounds 31  some rows, measured longer
    python benchmarks/run.py --peers-bin VENV/bin     where check-jsonschema is (benchmarks/requirements.txt)

The two tools of a row run in turn, each as a whole process. Before that, one run of both is not counted, and their
answers are compared. The ratio of each pair is the time of opsinfo divided by that of the peer; the median is judged.
Exit status 1: a `must` is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import chain
from pathlib import Path

from data import lay_out
from graph_rows import LIMITS_HEAD, graph_limits, graph_rows, limit_line
from growth import growth_rows
from pairs import measured
from peers import Peers
from rows import Skipped, bench_rows
from table import GROWTH_HEAD, HEAD, growth_line, heading, line, skipped_line
from workplace import Workplace


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare opsinfo with the tools people use today.")
    parser.add_argument("--rounds", type=int, default=21, help="pairs per row (default: 21)")
    parser.add_argument("--only", action="append", metavar="WORD", help="rows whose name contains WORD; repeatable")
    parser.add_argument("--python", default=sys.executable, help="the interpreter for opsinfo and for Python peers")
    parser.add_argument("--peers-bin", type=Path, metavar="DIR", help="where peers are searched before PATH")
    parser.add_argument("--generated", action="store_true", help="use generated files even if real ones exist")
    counted = "count instructions of graph too (needs valgrind, takes minutes)"
    parser.add_argument("--instructions", action="store_true", help=counted)
    return parser.parse_args()


def main() -> int:
    given = arguments()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="opsinfo-bench-") as folder:
        data = lay_out(Path(folder) / "data", given.python, given.generated)
        place = Workplace(Path(folder), given.python)
        peers = Peers(given.peers_bin)
        print(heading(place, peers, data, given.rounds), HEAD, sep="\n\n", flush=True)
        rows = chain(bench_rows(place, peers, data), graph_rows(place, data) if _wanted("graph", given.only) else ())
        for row in rows:
            if not _wanted(row.name, given.only):
                continue
            try:
                figures = measured(row, place, given.rounds)
            except Skipped as reason:
                print(skipped_line(row, str(reason)), flush=True)
                continue
            missed += figures.median > row.must
            print(line(row, figures), flush=True)
        if _wanted("growth", given.only):
            print("\n" + GROWTH_HEAD, flush=True)
            for grown in growth_rows(place, max(3, given.rounds // 4)):
                missed += not grown.met
                print(growth_line(grown), flush=True)
        if _wanted("limits of graph", given.only):
            print("\n" + LIMITS_HEAD, flush=True)
            for limit in graph_limits(place, data, max(3, given.rounds // 4), given.instructions):
                missed += not limit.met
                print(limit_line(limit), flush=True)
    return 1 if missed else 0


def _wanted(name: str, only: list[str] | None) -> bool:
    return not only or any(word in name for word in only)


if __name__ == "__main__":
    sys.exit(main())
