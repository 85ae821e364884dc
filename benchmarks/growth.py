"""Growth of time above start-up and of memory, for forty times the data."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from data import generate
from workplace import Workplace

__all__ = ["Grown", "growth_rows"]

OPERATORS, TIMES = 550, 40
SPARE = 1.05
"""42 times the time for 40 times the data."""
MEMORY = 6.0
"""Times the file's size."""


@dataclass(frozen=True)
class Grown:
    """Seconds include start-up; sizes are in bytes."""

    name: str
    start: float
    small: float
    large: float
    small_size: int
    large_size: int
    memory: int
    time_ratio: float
    """Time above start-up, large divided by small, of the medians of the rounds."""

    @property
    def data_ratio(self) -> float:
        return self.large_size / self.small_size

    @property
    def memory_ratio(self) -> float:
        return self.memory / self.large_size

    @property
    def met(self) -> bool:
        return self.time_ratio <= SPARE * self.data_ratio and self.memory_ratio <= MEMORY


def growth_rows(place: Workplace, rounds: int) -> Iterator[Grown]:
    folder = place.folder / "growth"
    sizes = {"start": 1, "small": OPERATORS, "large": OPERATORS * TIMES}
    made = {
        label: generate(folder / label / "aic-ascend910b-ops-info.json", operators, place.python)
        for label, operators in sizes.items()
    }
    for words in (["list"], ["list", "--format", "json"], ["validate"], ["move"]):
        yield _grown(words, made, place, rounds)


def _grown(words: list[str], made: dict[str, Path], place: Workplace, rounds: int) -> Grown:
    taken: dict[str, list[float]] = {label: [] for label in made}
    memory = 0
    for _ in range(rounds):
        for label, path in made.items():
            _run(words, path, place)  # not counted: caches are cold after the run before, of another size
            runs = [_run(words, path, place) for _ in range(_TIMES[label])]
            taken[label].append(median(seconds for seconds, _ in runs))
            memory = max(memory, *(used for _, used in runs))
    seconds = {label: median(each) for label, each in taken.items()}  # a round alone may have a start-up above `small`
    times = (seconds["large"] - seconds["start"]) / max(seconds["small"] - seconds["start"], 1e-9)
    sizes = made["small"].stat().st_size, made["large"].stat().st_size
    return Grown(" ".join(words), seconds["start"], seconds["small"], seconds["large"], *sizes, memory, times)


_TIMES = {"start": 7, "small": 7, "large": 1}
"""Counted runs in a round, milliseconds apart."""


def _run(words: list[str], path: Path, place: Workplace) -> tuple[float, int]:
    """Return the seconds, and the peak memory of the process.

    Output goes to a file: this process must stay small, because the peak of a child begins with that of its parent.
    """
    target = path
    more: list[str] = []
    if words == ["move"]:
        shutil.rmtree(place.vault, ignore_errors=True)
        target = path.with_name("moved.json")
        shutil.copyfile(path, target)
        more = [_first_key(path), "--to", "black", "--as", "library", "--force"]
        os.sync()
    command = place.opsinfo(words[0], target, *more, *words[1:])
    out = os.open(place.folder / "growth.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    began = time.perf_counter()
    actions = [(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)]
    child = os.posix_spawn(command[0], command, place.environment, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - began
    os.close(out)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit((place.folder / "growth.out").read_text()[-2000:])
    return seconds, usage.ru_maxrss * 1024


def _first_key(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        head = file.read(300)
    return head.split('"')[1]
