"""Trials as processes on this machine, several at a time, each in its own process group."""

from __future__ import annotations

import os
import queue
import select
import signal
import subprocess
import time
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING

from ...errors import Refused
from ..command import environment_of, replacements, words_of
from ..place import GRACE, TrialEnd
from ..run_folder import OUTPUT, not_written, open_new, tail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..place import Trial


class ManyPlace:
    """:param slots: how many trials run at once
    :param devices: one for each of them; empty: those of the environment
    """

    def __init__(self, environ: Mapping[str, str], slots: int = 1, devices: Sequence[str] = ()) -> None:
        self.slots = slots
        self._environ = environ
        self._devices: list[str | None] = [*devices[:slots]] or [None] * slots
        self._running: dict[int, tuple[Thread, str | None]] = {}
        self._processes: set[int] = set()
        self._stops = False
        self._lock = Lock()
        self._ends: queue.SimpleQueue[tuple[Trial, TrialEnd | Refused]] = queue.SimpleQueue()

    def start(self, trial: Trial) -> None:
        """Start a trial in a thread, which no signal interrupts between a process and its entry in the books."""
        taken = [device for _, device in self._running.values()]
        device = next(device for device in self._devices if device is None or device not in taken)
        thread = Thread(target=self._follow, args=(trial, device), daemon=True)
        self._running[trial.number] = thread, device
        thread.start()

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """See :meth:`.place.TrialPlace.wait`.

        :raises Refused: if the system cannot start a process, or write the output of a trial
        """
        try:
            trial, end = self._ends.get(timeout=seconds)
        except queue.Empty:
            return []
        self._running.pop(trial.number)[0].join()
        if isinstance(end, Refused):
            raise end
        return [(trial, end)]

    def stop(self) -> None:
        """Kill every process group."""
        with self._lock:
            self._stops = True
            for process in self._processes:
                kill_group(process, signal.SIGKILL)
        for thread, _ in self._running.values():
            thread.join()
        self._running.clear()
        self._ends = queue.SimpleQueue()
        self._stops = False

    def _follow(self, trial: Trial, device: str | None) -> None:
        try:
            self._ends.put((trial, self._run(trial, device)))
        except Refused as error:
            self._ends.put((trial, error))
        except OSError as error:
            self._ends.put((trial, not_written(trial.folder, error)))

    def _run(self, trial: Trial, device: str | None) -> TrialEnd:
        texts = replacements(trial.folder, trial.files, device)
        words = words_of(trial.command, texts)
        environ = {**self._environ, **environment_of(trial.command, texts)}
        begun = time.monotonic()
        with open(open_new(os.path.join(trial.folder, OUTPUT)), "wb") as output:
            try:
                process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environ, start_new_session=True
                )
            except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
                code = 126 if isinstance(error, PermissionError) else 127
                output.write(f"{words[0]}: {error.strerror}\n".encode("utf-8", "replace"))
                output.flush()
                return TrialEnd(code, tail=tail(trial.folder), device=device or "")
            except OSError as error:
                raise Refused(f"cannot start `{words[0]}`: {error.strerror}", name="not-started") from None
        with self._lock:
            self._processes.add(process.pid)
            if self._stops:
                kill_group(process.pid, signal.SIGKILL)
        timed_out = not _ends_within(process.pid, trial.timeout)
        if timed_out:
            kill_group(process.pid, signal.SIGTERM)
            _ends_within(process.pid, GRACE)
        with self._lock:
            self._processes.remove(process.pid)
            kill_group(process.pid, signal.SIGKILL)  # what it left running in its group, whose id is not free yet
        code = process.wait()
        seconds = time.monotonic() - begun
        return TrialEnd(None if code < 0 else code, max(0, -code), seconds, tail(trial.folder), device or "", timed_out)


def _ends_within(process: int, seconds: float | None) -> bool:
    """Return whether a process ends in time; it stays a zombie, which keeps the id of its group."""
    descriptor = os.pidfd_open(process)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def kill_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
