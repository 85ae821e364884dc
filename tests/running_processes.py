"""Processes of this machine that a test waits for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 120.0
"""Seconds after which a test gives up."""


def wait_until(holds: Callable[[], object]) -> None:
    due = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < due, "the condition was not met in time"
        time.sleep(0.02)


def processes(mark: str, without: str = "") -> list[int]:
    """Return the processes whose command line contains a text, except this one and those with another text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        if mark in words and not (without and without in words) and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found
