"""How far a long reading has come: a line on a terminal's standard error, nothing anywhere else."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

from .output import Output
from .visible import visible

__all__ = ["Progress"]

_EVERY = 0.2


class Progress:
    """Heard by a reader after each block; redrawn five times a second at the most."""

    def __init__(self, output: Output, paths: list[str]) -> None:
        self._shown = sys.stderr.isatty() and not output.quiet and os.environ.get("TERM") != "dumb"
        self._total = sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) if self._shown else 0
        self._read = 0
        self._begun = self._drawn = time.monotonic()

    def __call__(self, size: int) -> None:
        self._read += size
        if not self._shown or time.monotonic() - self._drawn < _EVERY:
            return
        self._drawn = time.monotonic()
        rate = self._read / max(self._drawn - self._begun, 1e-9) / 1e6
        part = f"{min(99, 100 * self._read // self._total)} % of {self._total / 1e6:.0f}" if self._total else ""
        self._write(visible(f"reading: {part or f'{self._read / 1e6:.0f}'} MB, {rate:.0f} MB/s"))

    def done(self) -> None:
        if self._shown and self._drawn != self._begun:
            self._write("")

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()
