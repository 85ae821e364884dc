"""How fast `opsinfo qualify` reads a large log, against `grep -c` on the same file, and what memory it takes.

    python benchmarks/logs.py [--megabytes 1000]

Two logs are made: a usual one, where one line in thousands is of interest, and the worst there is, where every line has
a counter that must be read. Each program runs once before it is measured, so that the file is in the page cache.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS = ("INFO", "epoch", "loss", "lr", "time", "data", "prec1", "samples", "elapsed", "ms", "grad", "norm", "batch")
OVERFLOW = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {:.1f}\n"
MEGATRON = (
    " iteration {0:8d}/{1:8d} | consumed samples: {0:12d} | elapsed time per iteration (ms): 123.4 | learning rate: "
    "1.0E-05 | global batch size:   512 | lm loss: 2.38E+00 | loss scale: 65536.0 | grad norm: 0.227 | number of "
    "skipped iterations:   0 | number of nan iterations:   0 |\n"
)


def usual(chance: random.Random) -> Iterator[str]:
    yield "opt_level              : O1\nloss_scale             : dynamic\n"
    step = 0
    while True:
        yield OVERFLOW.format(2.0 ** chance.randint(10, 16))
        for _ in range(20_000):
            step += 1
            yield f"2024-05-01 12:00:00 [INFO] {' '.join(chance.choices(WORDS, k=14))} step: {step} loss: 1.234\n"


def dense(chance: random.Random) -> Iterator[str]:
    step = 0
    while True:
        step += 1
        yield MEGATRON.format(step, 90_000_000)


def write(path: Path, lines: Iterator[str], size: int) -> None:
    with path.open("w", encoding="ascii") as file:
        while file.tell() < size:
            file.write("".join(next(lines) for _ in range(1_000)))


def seconds(words: list[str], rounds: int) -> tuple[float, int]:
    """Median processor time, which a busy machine does not change much, and the peak of memory in KiB."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"}
    times, peak = [], 0
    for number in range(rounds + 1):
        # a pipe: into /dev/null grep would stop at the first line it finds
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout is not None
        process.stdout.read()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        peak = max(peak, usage.ru_maxrss)
        if number:
            times.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(times), peak


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure qualify against grep -c.")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    ours = [sys.executable, "-m", "opsinfo_cli", "qualify"]
    programs = {
        "grep -c overflow": ["grep", "-c", "overflow"],
        "grep -cE with three words": ["grep", "-cE", "overflow|loss.scale|skipped"],
        "opsinfo qualify": ours,
    }
    with tempfile.TemporaryDirectory() as place:
        for name, lines in (("usual", usual), ("dense", dense)):
            path = Path(place, f"{name}.log")
            write(path, lines(random.Random(1)), asked.megabytes * 1_000_000)
            size = path.stat().st_size / 1e6
            for program, words in programs.items():
                took, peak = seconds([*words, str(path)], asked.rounds)
                print(f"| {name} | {program} | {took:.2f} | {size / took:.0f} | {peak / 1024:.0f} |", flush=True)
            path.unlink()


if __name__ == "__main__":
    main()
