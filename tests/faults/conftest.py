"""Small numbers and fixed seeds here; ``tests/long`` runs the same tests with the full counts."""

from __future__ import annotations

import pytest
from faults_counts import CI, Counts


@pytest.fixture
def counts() -> Counts:
    return CI
