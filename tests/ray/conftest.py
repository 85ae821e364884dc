"""A Ray cluster for the tests of this folder; they are skipped without Ray, or if OPSINFO_RAY is not set."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from ray_support import Search

HERE = Path(__file__).parent
WANTED = os.environ.get("OPSINFO_RAY")  # before the isolation of each test takes it away


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = "" if WANTED else "OPSINFO_RAY is not set: a cluster takes half a minute to start"
    if not reason and find_spec("ray") is None:
        reason = "ray is not installed"
    for item in items:
        if reason and HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))


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
    """A cluster whose nodes have so many NPUs each, and no opsinfo: importing it there fails."""
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


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with running(tmp_path_factory.mktemp("cluster"), 1, 1, 1, 1) as found:
        yield found


@pytest.fixture
def search(tmp_path: Path, cluster: LocalCluster) -> Iterator[Search]:
    found = Search(tmp_path, cluster.address)
    yield found
    found.end()
