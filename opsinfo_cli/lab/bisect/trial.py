"""One run of the check, and the interface of a place where it runs; ``places/`` has one module for each."""

from __future__ import annotations

import sys
from pkgutil import get_data
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from .search.question import Kept

    Files: TypeAlias = Mapping[str, tuple[str, bytes]]
    """NAME -> (name of the file, content)."""

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL for a trial that takes too long."""


def guard_command() -> list[str]:
    """Return the command of the guard of a trial, with its text: a node of a cluster may have no opsinfo."""
    text = get_data("opsinfo_cli.lab.bisect", "trial_process.py")
    assert text is not None
    return [sys.executable, "-I", "-S", "-c", text.decode()]


class Trial(NamedTuple):
    """One run of the check: its command, whose place replaces the placeholders, and the folder of its files.

    :param number: from 1, never reused
    :param folder: in the run folder on this machine; it exists and contains the files
    """

    number: int
    kept: Kept
    files: Files
    folder: str
    command: Sequence[str]
    timeout: float | None


class TrialEnd(NamedTuple):
    """How a trial ended.

    :param code: the exit status, as in a shell 126 or 127 for a command that cannot be run; None: there is none
    :param signal: the number of the signal that ended it; 0: none did
    :param lost: whether the place is gone, so that the trial has no verdict and is repeated: a worker that died
    """

    code: int | None
    signal: int = 0
    seconds: float = 0.0
    tail: str = ""
    device: str = ""
    timed_out: bool = False
    lost: bool = False


class TrialPlace(Protocol):
    """Runs trials, one or several at once."""

    @property
    def slots(self) -> int:
        """How many trials run at once; it may change."""

    def start(self, trial: Trial) -> None:
        """Start a trial and return. At most ``slots`` trials run at a time.

        :raises Refused: if no trial can be started
        """

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """Return the trials that have ended; empty if none has ended after so many seconds.

        :raises Refused: if trials can no longer run here
        """

    def stop(self) -> None:
        """End all running trials, and leave no process of theirs behind."""
