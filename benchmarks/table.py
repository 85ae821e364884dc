"""The figures as Markdown tables."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import date
from statistics import median

from data import Data
from growth import MEMORY, SPARE, Grown
from pairs import Figures
from peers import Peers
from rows import Row
from workplace import Workplace

__all__ = ["GROWTH_HEAD", "HEAD", "growth_line", "heading", "line", "skipped_line"]

HEAD = """\
| job | peer | ours, ms | peer, ms | ratio: min | median | max | must | aim | |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"""

GROWTH_HEAD = """\
| growth | start-up, ms | small, ms | large, ms | data | time above start-up | at most | memory | at most | |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"""


def heading(place: Workplace, peers: Peers, data: Data, rounds: int) -> str:
    version = subprocess.run([place.python, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    size = sum(path.stat().st_size for path in data.files) / 1e6
    where = f"{os.cpu_count()} cores, {platform.machine()}, load {os.getloadavg()[0]:.1f}"
    what = f"{data.kind} files, five of {size:.1f} MB together; {rounds} pairs"
    return f"{date.today()}; {where}; {version}; {peers.description()}; {what}."


def line(row: Row, figures: Figures) -> str:
    ratios = figures.ratios
    verdict = "aim met" if figures.median <= row.aim else "must met" if figures.median <= row.must else "**missed**"
    cells = [row.name, row.peer_name, _ms(median(figures.ours)), _ms(median(figures.peer))]
    cells += [f"{each:.2f}" for each in (min(ratios), figures.median, max(ratios))]
    return _cells(*cells, f"{row.must}", f"{row.aim}", verdict)


def skipped_line(row: Row, reason: str) -> str:
    return _cells(row.name, row.peer_name, *["-"] * 5, f"{row.must}", f"{row.aim}", f"skipped: {reason}")


def growth_line(grown: Grown) -> str:
    times = [_ms(grown.start), _ms(grown.small), _ms(grown.large), f"{grown.data_ratio:.1f}"]
    judged = [f"{grown.time_ratio:.1f}", f"{SPARE * grown.data_ratio:.1f}", f"{grown.memory_ratio:.1f}", f"{MEMORY}"]
    return _cells(grown.name, *times, *judged, "met" if grown.met else "**missed**")


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f}"


def _cells(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"
