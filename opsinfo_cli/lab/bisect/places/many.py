"""Trials as processes on this machine, several at a time, each in its own process group."""

from __future__ import annotations

import json
import os
import select
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from ....errors import Refused
from ..placeholders import environment_of, replacements, words_of
from ..run_folder import OUTPUT, open_new, tail, write_error
from ..trial import GRACE, TrialEnd, guard_command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..trial import Trial

    Running = tuple[Trial, subprocess.Popen[bytes], str | None]


class ManyPlace:
    """:param devices: one for each of them; empty: those of the environment"""

    def __init__(self, environ: Mapping[str, str], slots: int = 1, devices: Sequence[str] = ()) -> None:
        self.slots = slots
        self._environ = environ
        self._devices = devices[:slots]
        self._guard = guard_command()
        self._running: list[Running] = []

    def start(self, trial: Trial) -> None:
        """Start a trial. If a signal comes before it is noted, its guard loses its standard input, and ends it.

        :raises Refused: if the system cannot start a process, or write the output
        """
        taken = [device for _, _, device in self._running]
        device = next((device for device in self._devices if device not in taken), None)
        texts = replacements(trial.folder, trial.files, device)
        request = {
            "makes_folder": False,
            "words": words_of(trial.command, texts),
            "environ": environment_of(trial.command, texts),
            "hidden": [],
            "timeout": trial.timeout,
            "grace": GRACE,
        }
        try:
            output = open_new(os.path.join(trial.folder, OUTPUT))
        except OSError as error:
            raise write_error(trial.folder, error) from None
        try:
            process = subprocess.Popen(
                self._guard,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.PIPE,
                env=dict(self._environ),
                start_new_session=True,
            )
        except OSError as error:
            raise Refused(f"cannot start a process: {error.strerror}", name="not-started") from None
        finally:
            os.close(output)
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # `wait` reports what happened
            process.stdin.write((json.dumps(request) + "\n").encode("ascii"))
            process.stdin.flush()
        self._running.append((trial, process, device))

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """See :meth:`.trial.TrialPlace.wait`.

        :raises Refused: if the system cannot start the command
        """
        results = {process.stderr.fileno(): running for running in self._running if (process := running[1]).stderr}
        return [self._end(results[descriptor]) for descriptor in select.select(results, [], [], seconds)[0]]

    def stop(self) -> None:
        """End every process group."""
        for _, process, _ in self._running:
            assert process.stdin is not None
            process.stdin.close()
        for _, process, _ in self._running:
            assert process.stderr is not None
            process.stderr.close()
            process.wait()
        self._running.clear()

    def _end(self, running: Running) -> tuple[Trial, TrialEnd]:
        trial, process, device = running
        self._running.remove(running)
        lines = process.communicate()[1].decode("utf-8", "replace").splitlines()
        try:
            end = json.loads(lines[0])
        except (IndexError, ValueError):
            raise Refused(
                f"cannot run a trial: {(lines or ['its guard was killed'])[-1]}", name="not-started"
            ) from None
        if "problem" in end:
            raise Refused(f"cannot run a trial: {end['problem']}", name="not-started")
        return trial, TrialEnd(**end, tail=tail(trial.folder), device=device or "")
