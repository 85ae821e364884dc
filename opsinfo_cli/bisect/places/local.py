"""Trials as processes on this machine, each in its own process group."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ...errors import Refused
from ..trial import environment_of, output_file, tail, words_of
from .place import TrialEnd

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .place import Trial

_GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL for a trial that takes too long."""
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
"""Exit statuses of a shell for a command that it cannot run."""


class _Running:
    """A trial at work."""

    def __init__(self, trial: Trial, process: subprocess.Popen[bytes], device: str | None, descriptor: int) -> None:
        self.trial = trial
        self.process = process
        self.device = device
        self.descriptor = descriptor
        self.begun = time.monotonic()
        self.asked_to_end: float | None = None

    @property
    def overdue(self) -> float | None:
        """The time of the next action on it."""
        if self.asked_to_end is not None:
            return self.asked_to_end + _GRACE
        return None if self.trial.timeout is None else self.begun + self.trial.timeout


class LocalPlace:
    """:param jobs: how many trials run at once
    :param devices: the value of ``ASCEND_RT_VISIBLE_DEVICES`` for each of them; empty: that of the environment
    """

    def __init__(self, environ: Mapping[str, str], jobs: int = 1, devices: Sequence[str] = ()) -> None:
        self.slots = jobs
        self._environ = environ
        self._devices: list[str | None] = [*devices[:jobs]] or [None]
        self._running: list[_Running] = []
        self._done: list[tuple[Trial, TrialEnd]] = []

    def start(self, trial: Trial) -> None:
        """Start the process of a trial; a command that cannot be run ends with 126 or 127, as in a shell.

        :raises Refused: if the system cannot start another process, or write the output
        """
        taken = [each.device for each in self._running]
        device = next((each for each in self._devices if each is None or each not in taken), None)
        environ = environment_of(self._environ, trial.folder, trial.files, device)
        words = words_of(trial.command, trial.folder, trial.files)
        with output_file(trial.folder) as output, signals_held():
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environ, start_new_session=True
                )
            except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
                code = _NOT_EXECUTABLE if isinstance(error, PermissionError) else _NOT_FOUND
                self._done.append((trial, TrialEnd(code, tail=f"{words[0]}: {error.strerror}", device=device or "")))
                return
            except OSError as error:
                raise Refused(f"cannot start `{words[0]}`: {error.strerror}", name="not-started") from None
            self._running.append(_Running(trial, process, device, os.pidfd_open(process.pid)))

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """See :meth:`.place.TrialPlace.wait`."""
        end = time.monotonic() + seconds
        while True:
            self._end_overdue()
            self._collect()
            now = time.monotonic()
            if self._done or now >= end or not self._running:
                found, self._done = self._done, []
                return found
            due = [each.overdue for each in self._running if each.overdue is not None]
            self._sleep(max(0.0, min([end, *due]) - now))

    def stop(self) -> None:
        """Kill every process group."""
        for each in self._running:
            _kill(each.process.pid, signal.SIGKILL)
        for each in self._running:
            each.process.wait()
            os.close(each.descriptor)
        self._running.clear()

    def _sleep(self, seconds: float) -> None:
        select.select([each.descriptor for each in self._running], [], [], seconds)

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for each in self._running:
            if each.overdue is not None and now >= each.overdue and not _has_ended(each.process):
                _kill(each.process.pid, signal.SIGTERM if each.asked_to_end is None else signal.SIGKILL)
                each.asked_to_end = now

    def _collect(self) -> None:
        for each in [each for each in self._running if _has_ended(each.process)]:
            _kill(each.process.pid, signal.SIGKILL)  # what it left running in its group, whose id is not free yet
            each.process.wait()
            os.close(each.descriptor)
            self._running.remove(each)
            code = each.process.returncode
            self._done.append(
                (
                    each.trial,
                    TrialEnd(
                        None if code < 0 else code,
                        max(0, -code),
                        time.monotonic() - each.begun,
                        tail(each.trial.folder),
                        each.device or "",
                        timed_out=each.asked_to_end is not None,
                    ),
                )
            )


@contextmanager
def signals_held() -> Iterator[None]:
    """Hold signals back while a process is started and written down, else :meth:`LocalPlace.stop` could miss it.

    By handlers, because the process would inherit a mask.
    """
    held: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    handled = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for each in handled:
            signal.signal(each, lambda number, _: held.append(number))
        yield
    finally:
        for each, handler in handled.items():
            signal.signal(each, handler)
        for number in held:
            signal.raise_signal(number)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has ended; it stays a zombie, which keeps the id of its group."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
