"""How fast `opsinfo qualify` reads a large log, against `grep -c` for the same words, and what memory it takes.

    python benchmarks/logs.py [--megabytes 1000] [SHAPE...]
    python benchmarks/logs.py --moving [--megabytes 20]

The logs: a usual one, in which one line in thousands matters; one in which every line has a counter that must be read;
four shapes of real logs; and for each other format a log in which every line counts (`dense_logs`). Each is repeated to
a gigabyte, and must take at most 15 s of processor time per gigabyte, else the exit status is 1. Each program runs once
before it is measured, so that the file is in the page cache.

`--moving` measures the reader, without start-up and without a limit, on logs in which each message changes the scale.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dense_logs import DENSE
from moving_logs import MOVES, MOVING, moving

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from opsinfo_cli.runs.log import read_log  # noqa: E402

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


def mask_rcnn(chance: random.Random) -> Iterator[str]:
    """APEX FP16_Optimizer on 8 ranks: a line every 20 iterations, an overflow every thousand, long evaluations."""
    while True:
        for step in range(20, 26_000, 20):
            yield (
                f"2020-06-20 09:05:05,412 maskrcnn_benchmark.trainer INFO: eta: 4:44:47  iter: {step}  loss: 2.2191 "
                "(3.9322)  loss_classifier: 0.9556 (2.2000)  loss_box_reg: 0.0090 (0.0255)  loss_mask: 1.0365  "
                "time: 0.1507 (0.4274)  data: 0.0020 (0.0770)  lr: 0.002000  max mem: 8302\n"
            )
            if step % 1000 == 0:
                yield f"Grad overflow on iteration  {step}\nUsing dynamic loss scale of 65536.0\n" * 8
            if step % 3000 == 0:
                yield " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.377\n" * 1000


def nvidia_bert(chance: random.Random) -> Iterator[str]:
    """A dictionary per step."""
    while True:
        for step in range(1, 12_000):
            skipped = min(step, 7)
            yield (
                f"0: {{'training_steps': {step}, 'average_loss': 1.4677734375, 'step_loss': 1.4677734375, "
                f"'learning_rate': 5.06094890510948e-05, 'seq/s': 57.8664304889, 'global_steps': {step - skipped}, "
                f"'samples_trained': {step * 256}, 'skipped_steps': {skipped}, 'timestamp': 1593141362.9709592}}\n"
            )


def interleaved(chance: random.Random) -> Iterator[str]:
    """APEX on 1,024 ranks; some messages run together in one line."""
    scale = 65536.0
    while True:
        message = f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}"
        yield "".join(message + ("\n" if chance.random() < 0.7 else "") for _ in range(1024)) + "\n"
        yield "{'global_steps': 20, 'eval_loss': 3.1, 'eval_mlm_accuracy': 0.5}\n"
        scale = scale / 2 if scale > 1024 else 65536.0


def gnmt(chance: random.Random) -> Iterator[str]:
    """APEX on 384 ranks, 18 overflows in 2,568 steps."""
    while True:
        for step in range(0, 2568, 10):
            yield (
                f"0: TRAIN [{step // 321}][{step % 321}/321]\tTime 0.045 (0.096)\tData 6.37e-05 (2.46e-02)\tTok/s 467 "
                "(35549)\tLoss/tok 9.5512 (10.0172)\tLR 5.167e-05\n"
            )
            if step % 140 == 0:
                scale = 2.0 ** (step // 140 % 7)
                yield f"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {scale}\n" * 384


SHAPES = {
    "usual": (usual, "overflow|loss.scale|skipped"),
    "dense": (dense, "overflow|loss.scale|skipped"),
    "mask-rcnn": (mask_rcnn, "Grad overflow on iteration|iter:"),
    "nvidia-bert": (nvidia_bert, "skipped_steps"),
    "interleaved": (interleaved, "Gradient overflow"),
    "gnmt": (gnmt, "Gradient overflow|TRAIN"),
    **DENSE,
}
MUST = 15.0
"""Seconds of processor time a gigabyte."""


def write(path: Path, lines: Iterator[str], size: int) -> None:
    with path.open("w", encoding="ascii") as file:
        while file.tell() < size:
            file.write("".join(next(lines) for _ in range(100)))


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


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure qualify against grep -c.")
    parser.add_argument("shapes", nargs="*", choices=[[], *SHAPES], default=[])
    parser.add_argument("--megabytes", type=int, help="of each log (default: 1000, with --moving 20)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--moving", action="store_true", help="measure logs in which the scale changes in each message")
    asked = parser.parse_args()
    if asked.moving and asked.shapes:
        parser.error("--moving measures all of its logs: leave out SHAPE")
    asked.megabytes = asked.megabytes or (20 if asked.moving else 1000)
    return measure_moving(asked) if asked.moving else measure(asked)


def measure_moving(asked: argparse.Namespace) -> int:
    print(f"| s/GB | {' | '.join(MOVES)} |")
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "moving.log")
        for name in MOVING:
            row = []
            for moves in MOVES:
                write(path, moving(name, moves, random.Random(1)), asked.megabytes * 1_000_000)
                took = statistics.median(_reading(path) for _ in range(asked.rounds))
                row.append(f"{took / path.stat().st_size * 1e9:.1f}")
            print(f"| {name} | {' | '.join(row)} |", flush=True)
    return 0


def _reading(path: Path) -> float:
    """Return the seconds of processor time that the reader takes."""
    began = time.process_time()
    read_log(str(path)).evidence()
    return time.process_time() - began


def measure(asked: argparse.Namespace) -> int:
    slow = 0
    with tempfile.TemporaryDirectory() as place:
        for name in asked.shapes or SHAPES:
            lines, words = SHAPES[name]
            path = Path(place, f"{name}.log")
            write(path, lines(random.Random(1)), asked.megabytes * 1_000_000)
            gigabytes = path.stat().st_size / 1e9
            grep, _ = seconds(["grep", "-cE", words, str(path)], asked.rounds)
            took, peak = seconds([sys.executable, "-m", "opsinfo_cli", "qualify", str(path)], asked.rounds)
            slow += took / gigabytes > MUST
            print(
                f"| {name} | `grep -cE '{words}'` {grep / gigabytes:.2f} | {took / gigabytes:.2f} | "
                f"{took / max(grep, 0.01):.1f} | {peak / 1024:.0f} |",
                flush=True,
            )
            path.unlink()
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
