"""Progress of a long run: a line on standard error if it is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ..escape import visible
from .output import Output, terminal_size

_EVERY = 0.2
_LARGE = 4_000_000
"""File size in bytes above which reading is announced before the first block: some readers read the whole file."""
_MANY = 20_000
"""Number of nodes above which judging or listing is announced: it takes long and its progress cannot be counted."""


class _Line:
    """A line that is redrawn at most five times a second and removed at the end."""

    def __init__(self, output: Output) -> None:
        self.is_shown = sys.stderr.isatty() and not output.quiet and os.environ.get("TERM") != "dumb"
        self._begun = self._drawn = time.monotonic()
        self._has_drawn = False

    @property
    def _is_due(self) -> bool:
        return self.is_shown and time.monotonic() - self._drawn >= _EVERY

    def draw(self, text: str) -> None:
        self._drawn = time.monotonic()
        self._has_drawn = True
        self._write(visible(text))

    def done(self) -> None:
        if self.is_shown and self._has_drawn:
            self._write("")

    def _write(self, text: str) -> None:
        with suppress(OSError):
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()


class Progress(_Line):
    """Called by a reader after each block."""

    def __init__(self, output: Output, paths: list[str]) -> None:
        super().__init__(output)
        self._total = sum(os.path.getsize(path) for path in paths if os.path.isfile(path)) if self.is_shown else 0
        self._read = 0
        if self._total >= _LARGE:
            self.draw(f"reading: {_megabytes(self._total)}")

    def __call__(self, size: int) -> None:
        self._read += size
        if not self._is_due:
            return
        rate = self._read / max(time.monotonic() - self._begun, 1e-9)
        part = f"{min(99, 100 * self._read // self._total)} % of " if self._total else ""
        self.draw(f"reading: {part}{_megabytes(self._total or self._read)}, {_megabytes(rate)}/s")


def _megabytes(size: float) -> str:
    return f"{size / 1e6:.{0 if size >= 1e7 else 1}f} MB"


@contextmanager
def step(output: Output, what: str, nodes: int) -> Iterator[None]:
    """Show a line with an action and a number of nodes while it runs; nothing may be written meanwhile."""
    line = _Line(output)
    if nodes >= _MANY and line.is_shown:
        line.draw(f"{what} {nodes} nodes")
    try:
        yield
    finally:
        line.done()


class Steps(_Line):
    """Called after each task with the number of tasks done and the total."""

    def __init__(self, output: Output, doing: str = "checking") -> None:
        super().__init__(output)
        self._doing = doing

    def __call__(self, done: int, total: int) -> None:
        if self._is_due:
            self.draw(f"{self._doing}: {done} of {total}")


class Status(_Line):
    """Called after each change, with a function that returns the text of the line."""

    def __call__(self, text: Callable[[], str]) -> None:
        if self._is_due:
            self.draw(text()[: terminal_size().columns - 1])
