"""Few repetitions and fixed seeds here; ``tests/long`` runs the same tests with the full counts."""

from __future__ import annotations

import pytest
from faults_counts import CI, Counts
from faults_fixtures import *  # noqa: F403


@pytest.fixture
def counts() -> Counts:
    return CI
