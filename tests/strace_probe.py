"""Whether strace can be used here: the one reason to skip a test that needs it. A run that fails is never a reason."""

from __future__ import annotations

import shutil
import subprocess

import pytest


def _can_trace() -> bool:
    program = shutil.which("strace")
    return program is not None and not subprocess.run([program, "true"], capture_output=True, check=False).returncode


needs_strace = pytest.mark.skipif(not _can_trace(), reason="strace is not installed, or may not trace here")
