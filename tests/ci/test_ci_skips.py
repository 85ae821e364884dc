"""Where CI=true a test that is skipped for a reason that ``tests/skips.py`` does not name fails, a module too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from ci_support import ROOT
from skips import is_expected

MODULE = """
import pytest
def test_tool(): pytest.skip("strace is not installed")
def test_step(): pytest.skip("OPSINFO_RAY is not set: a cluster takes half a minute to start")
@pytest.mark.skipif(True, reason="no Chromium on PATH")
def test_mark(): pass
@pytest.mark.xfail(strict=True)
def test_known(): assert False
"""
LACKING = "import pytest\npytest.importorskip('no_such_package')\n"


@pytest.mark.process
@pytest.mark.parametrize(
    ("ci", "counts"), [("true", "1 failed, 1 skipped, 1 xfailed, 2 errors"), ("", "4 skipped, 1 xfailed")]
)
def test_a_skip_in_ci_is_a_failure_unless_its_reason_is_listed(tmp_path: Path, ci: str, counts: str) -> None:
    (tmp_path / "test_skipped.py").write_text(MODULE)
    (tmp_path / "test_lacking.py").write_text(LACKING)
    words = [
        "-c",
        str(ROOT / "pyproject.toml"),
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
    ]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT}", "CI": ci}
    command = [sys.executable, "-m", "pytest", *words, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert f"{counts} in " in done.stdout.splitlines()[-1], done.stdout
    assert done.returncode == (ci == "true")


def test_a_listed_reason_is_expected_and_a_missing_tool_is_not() -> None:
    assert is_expected("Skipped: the corpus of real files is missing (set OPSINFO_CORPUS to its folder)")
    assert not is_expected("Skipped: tmux is not installed")
