"""A Ray cluster for the tests of this folder; they are skipped without Ray, or if OPSINFO_RAY is not set."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from ray_support import LocalCluster, Search, running

HERE = Path(__file__).parent
WANTED = os.environ.get("OPSINFO_RAY")  # read before the fixture `isolation` removes it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = "" if WANTED else "OPSINFO_RAY is not set: a cluster takes half a minute to start"
    if not reason and find_spec("ray") is None:
        reason = "ray is not installed"
    for item in items:
        if reason and HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with running(tmp_path_factory.mktemp("cluster"), 1, 1) as found:
        yield found


@pytest.fixture
def search(tmp_path: Path, cluster: LocalCluster) -> Iterator[Search]:
    made = Search(tmp_path, cluster.address)
    yield made
    made.end()
