"""A Ray cluster of several nodes on this machine, run by :mod:`local_cluster`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent


class LocalCluster:
    """:ivar address: of the head"""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.address: str = self._answer()["address"]

    def kill(self, node: int) -> None:
        self._tell(f"kill {node}")

    def add(self, node: int) -> None:
        self._tell(f"add {node}")

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        assert self._answer() == {"done": line}

    def _answer(self) -> dict[str, str]:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                found: dict[str, str] = json.loads(line)
                return found
        raise AssertionError("the cluster did not start")


@contextmanager
def running(folder: Path, *npus: int) -> Iterator[LocalCluster]:
    """Run a cluster whose nodes have these numbers of NPUs, and no opsinfo: importing it there fails."""
    poison = folder / "nodes" / "opsinfo_cli"
    poison.mkdir(parents=True)
    (poison / "__init__.py").write_text("raise ImportError('there is no opsinfo on this node')\n")
    environ = {**os.environ, "PYTHONPATH": str(poison.parent), "RAY_USAGE_STATS_ENABLED": "0"}
    with open(folder / "cluster.log", "wb") as log:
        process = subprocess.Popen(
            [sys.executable, str(HERE / "local_cluster.py"), *map(str, npus)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environ,
            cwd=folder,
            text=True,
        )
    try:
        yield LocalCluster(process)
    finally:
        process.communicate(timeout=60)
