"""The benchmark of costs, which nobody runs every day."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_command_line_of_the_benchmark_runs() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks/linear.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
