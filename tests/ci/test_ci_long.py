"""Long tests, which CI does not run: they can be imported, and what they name exists, fixtures too."""

from __future__ import annotations

import subprocess
import sys

import pytest
from ci_support import ROOT


@pytest.mark.process
def test_every_long_test_can_be_set_up() -> None:
    command = [sys.executable, "-m", "pytest", "--setup-plan", "-p", "no:cacheprovider", "tests/long"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
