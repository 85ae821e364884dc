"""Progress of a long run: a line on standard error if it is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from .output import Output, terminal_size
from .visible import visible

_EVERY = 0.2


class _Line:
    """Redrawn five times a second at the most, and gone in the end."""

    def __init__(self, output: Output) -> None:
        self._shown = sys.stderr.isatty() and not output.quiet and os.environ.get("TERM") != "dumb"
        self._begun = self._drawn = time.monotonic()

    @property
    def _is_due(self) -> bool:
        return self._shown and time.monotonic() - self._drawn >= _EVERY

    def _draw(self, text: str) -> None:
        self._drawn = time.monotonic()
        self._write(visible(text))

    def done(self) -> None:
        if self._shown and self._drawn != self._begun:
            self._write("")

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()


class Progress(_Line):
    """Called by a reader after each block."""

    def __init__(self, output: Output, paths: list[str]) -> None:
        super().__init__(output)
        self._total = sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) if self._shown else 0
        self._read = 0

    def __call__(self, size: int) -> None:
        self._read += size
        if not self._is_due:
            return
        rate = self._read / max(time.monotonic() - self._begun, 1e-9) / 1e6
        part = f"{min(99, 100 * self._read // self._total)} % of {self._total / 1e6:.0f}" if self._total else ""
        self._draw(f"reading: {part or f'{self._read / 1e6:.0f}'} MB, {rate:.0f} MB/s")


class Steps(_Line):
    """Called after each task with the number of tasks done, and of all."""

    def __init__(self, output: Output, doing: str = "checking") -> None:
        super().__init__(output)
        self._doing = doing

    def __call__(self, done: int, total: int) -> None:
        if self._is_due:
            self._draw(f"{self._doing}: {done} of {total}")


class Status(_Line):
    """Called whenever something changed, with what makes the text of the line."""

    def __call__(self, text: Callable[[], str]) -> None:
        if self._is_due:
            self._draw(text()[: terminal_size().columns - 1])
