"""Timing by pairs: opsinfo and the peer alternate, as whole processes, in wall-clock time."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from statistics import median

from rows import Row
from workplace import Workplace

__all__ = ["Figures", "measured"]


@dataclass(frozen=True)
class Figures:
    """Return the seconds of each round."""

    ours: list[float]
    peer: list[float]

    @property
    def ratios(self) -> list[float]:
        return [mine / its for mine, its in zip(self.ours, self.peer, strict=True)]

    @property
    def median(self) -> float:
        return median(self.ratios)


def measured(row: Row, place: Workplace, rounds: int) -> Figures:
    """:raises Skipped: if the peer is not installed, or opsinfo does not do this work yet"""
    row.require()
    row.compare(_run(row, row.ours, place)[1], _run(row, row.peer, place)[1])
    ours, peer = [], []
    for _ in range(rounds):
        ours.append(_run(row, row.ours, place)[0])
        peer.append(_run(row, row.peer, place)[0])
    return Figures(ours, peer)


def _run(row: Row, command: list[str], place: Workplace) -> tuple[float, str]:
    """Return the seconds, and the output. Preparation is not counted."""
    row.prepare()
    environment = {**place.environment, **row.environment}
    began = time.perf_counter()
    done = subprocess.run(command, env=environment, cwd=place.folder, stdin=subprocess.DEVNULL, capture_output=True)
    seconds = time.perf_counter() - began
    if done.returncode not in row.codes:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode()}")
    return seconds, done.stdout.decode()
