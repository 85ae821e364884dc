"""The power fails after any call: the tests of ``tests/faults`` with the full counts.

``OPSINFO_CUT_ROUNDS`` chooses how many rounds of cuts; 40 if it does not.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "faults"))

from faults_counts import LONG, Counts
from test_faults_power import *  # noqa: F403

ROUNDS = int(os.environ.get("OPSINFO_CUT_ROUNDS", LONG.cuts))


@pytest.fixture
def counts() -> Counts:
    return dataclasses.replace(LONG, cuts=ROUNDS)
