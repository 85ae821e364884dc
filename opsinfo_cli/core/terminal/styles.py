"""The styles of text, and what is known of a terminal."""

from __future__ import annotations

import os
from typing import IO, Any

STYLES: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow"},
    "note": {"fg": "cyan"},
    "hint": {"fg": "cyan"},
    "title": {"bold": True},
    "dim": {"dim": True},
    "white": {"bold": True},
    "black": {"fg": "blue"},
    "gray": {"fg": "bright_black"},
    "added": {"fg": "green"},
    "removed": {"fg": "red"},
}
"""Style -> arguments of :func:`click.style`; rich knows the same colour names."""


def is_terminal(stream: IO[str]) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def terminal_width() -> int:
    """Return the columns of the terminal; COLUMNS overrides them, and 80 is taken if they are unknown."""
    from shutil import get_terminal_size

    return get_terminal_size().columns or 80  # Python 3.10 returns 0 for what the terminal does not know
