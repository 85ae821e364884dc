"""A gigabyte of log in constant memory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE = b"2024-05-01 12:00:00 [INFO] epoch 3 data 0.1 samples/s 1234.5 loss 2.34 lr 0.001\n"
OVERFLOW = b"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to %d.0\n"


def most_memory(process: int) -> int:
    """The peak of a process, in KiB; 0 if it has ended. `wait4` counts the tests' own process too."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) if found else 0


@pytest.mark.parametrize(
    ("filling", "megabytes"),
    [(LINE, 1000), (b"no line end ", 1000), (b"\rbar 1/2 [", 1000), (b"loss scale \xff\n", 10)],
    ids=["lines", "one line", "a progress bar", "every line is read"],
)
def test_memory_does_not_grow_with_the_log(filling: bytes, megabytes: int) -> None:
    block = filling * (1_000_000 // len(filling))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "opsinfo_cli", "qualify", "-", "--steps", "1000000", "--loss-scale", "dynamic"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(words, env=environment, **pipes)  # type: ignore[call-overload]
    every = megabytes // 10
    for number in range(megabytes):
        process.stdin.write(b"\n" + OVERFLOW % 2 ** (16 - number // every) if number % every == 0 else b"")
        process.stdin.write(block)
    used = most_memory(process.pid)
    process.stdin.close()
    while process.poll() is None:
        used = max(used, most_memory(process.pid))
    with process.stdout:
        assert "10 of 1000000 steps" in process.stdout.read().decode()
    assert 0 < used < 64 * 1024
