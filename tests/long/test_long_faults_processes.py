"""Every system call of real runs, killed and failed: the tests of ``tests/faults`` with nothing left out.

``OPSINFO_TRACED_CALLS`` chooses how many calls of each run, evenly spread; all if it does not.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "faults"))

from faults_counts import LONG, Counts
from test_faults_processes import *  # noqa: F403

TRACED = int(os.environ.get("OPSINFO_TRACED_CALLS", "0")) or LONG.traced


@pytest.fixture
def counts() -> Counts:
    return dataclasses.replace(LONG, traced=TRACED)
