"""Trials as tasks of a Ray cluster."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...errors import MissingPackage, Refused
from ..trial import not_written, tail
from .place import TrialEnd

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .place import Trial

_START = "import sys; sys.path[:] = {path!r}; from opsinfo_cli.bisect.places.ray_driver import main; main()"
_CONNECTED = 60.0
"""Time limit for connecting to Ray, in seconds."""
_LEFT = 20.0
"""Time limit for ending all trials on the nodes, in seconds."""
_EMPTY = 600.0
"""Time for which a search waits for a node if none is left that can run a trial, in seconds."""
LOG = "ray.log"


class _DriverProcess:
    """The process that speaks to Ray.

    :param words: its arguments
    :param log: the file for its output
    """

    def __init__(self, words: list[str], log: str) -> None:
        """:raises Refused: if the log cannot be written"""
        self.line, theirs = socket.socketpair()
        try:
            with theirs, open(log, "ab") as file:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _START.format(path=sys.path), *words],
                    stdin=theirs.fileno(),
                    stdout=file,
                    stderr=file,
                    env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
                    start_new_session=True,  # Ctrl-C is for the search, which then ends this process
                )
        except OSError as error:
            self.line.close()
            raise not_written(log, error) from None

    def heard(self, end: float) -> bytes | None:
        """Return its next message; wait for it until a time.

        :returns: None: no message; empty: it has ended
        """
        readable, _, _ = select.select([self.line], [], [], max(0.0, end - time.monotonic()))
        try:
            return self.line.recv(65536) if readable else None
        except ConnectionError:
            return b""

    def end(self) -> None:
        """Ask it to end all trials, and wait for that."""
        try:
            with suppress(OSError):
                self.line.shutdown(socket.SHUT_WR)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LEFT)
        finally:
            self._process.kill()  # Ray then ends the remaining processes
            self._process.wait()
            self.line.close()


class RayPlace:
    """:param address: of the head, ``HOST:PORT``, or ``auto``
    :param resources: the resources of a trial, by Ray's names
    :param log: a file for Ray's output
    :param keeps: whether the folders of trials are kept on the nodes
    """

    def __init__(self, address: str, resources: Mapping[str, float], log: str, keeps: bool = False) -> None:
        """:raises MissingPackage: if Ray is not installed"""
        found = find_spec("ray")
        if found is None or found.origin is None:  # only a folder with that name
            raise MissingPackage("--ray needs the `ray` package", hint="python -m pip install 'opsinfo[ray]'")
        self._address = address
        self._resources = resources
        self._log = log
        self._keeps = keeps
        self._driver: _DriverProcess | None = None
        self._rest = b""
        self._failed: Refused | None = None
        self._slots = 0
        self._empty_since: float | None = None
        self._running: dict[int, Trial] = {}

    @property
    def slots(self) -> int:
        """How many trials the cluster has room for; 1 if there is no node now, because one may join.

        :raises Refused: if the cluster cannot be reached, or no node can run a trial
        """
        self._connected()
        return max(1, self._slots)

    def start(self, trial: Trial) -> None:
        """Request a trial.

        :raises Refused: as :attr:`slots`
        """
        driver = self._connected()
        asked = {
            "number": trial.number,
            "command": list(trial.command),
            "files": {name: file for name, (file, _) in trial.files.items()},
            "folder": trial.folder,
            "timeout": trial.timeout,
        }
        self._running[trial.number] = trial
        with suppress(BrokenPipeError):  # `wait` reports what happened
            driver.line.sendall((json.dumps(asked) + "\n").encode("ascii"))

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """See :meth:`.place.TrialPlace.wait`.

        :raises Refused: if the cluster is gone, a node cannot run trials, or none has been left for ten minutes
        """
        end = time.monotonic() + seconds
        while not self._failed:
            done = [self._outcome(event) for event in self._events(end) if self._is_end(event)]
            self._require_nodes()
            if done or time.monotonic() >= end:
                return done
        raise self._failed

    def stop(self) -> None:
        """End all trials, wait until the nodes have done so, and leave the cluster."""
        driver, self._driver = self._driver, None
        self._running.clear()
        if driver is not None:
            driver.end()

    def _connected(self) -> _DriverProcess:
        if self._driver is None:
            self._rest, self._failed = b"", None
            words = [self._address, json.dumps(self._resources), "keep" if self._keeps else "remove"]
            self._driver = _DriverProcess(words, self._log)
            try:
                self._join()
            except BaseException:
                self.stop()
                raise
        return self._driver

    def _join(self) -> None:
        end = time.monotonic() + _CONNECTED
        while time.monotonic() < end:
            events = self._events(end)
            for event in events:
                self._is_end(event)
            if self._failed:
                raise self._failed
            if events:  # the first message is `ready`
                return
        hint = f"{self._log} has Ray's messages"
        raise Refused(f"the Ray cluster at `{self._address}` does not answer", name="no-cluster", hint=hint)

    def _events(self, end: float) -> list[dict[str, Any]]:
        """Return the driver's next message; wait for it until a time."""
        data = self._connected().heard(end)
        if data == b"":
            hint = f"the journal is kept: --resume continues the search; {self._log} has Ray's messages"
            lost = Refused("the connection to the Ray cluster was lost", name="no-cluster", hint=hint)
            self._failed = self._failed or lost
        *lines, self._rest = (self._rest + (data or b"")).split(b"\n")
        return [json.loads(line) for line in lines]

    def _is_end(self, event: dict[str, Any]) -> bool:
        """Take an event into account.

        :returns: whether a trial ended
        """
        if event["event"] == "failed":
            self._failed = Refused(event["message"], name=event["name"], hint=event["hint"], path=event["path"])
        if "slots" in event:
            self._slots = event["slots"]
            self._empty_since = None if self._slots else time.monotonic()
        return event["event"] == "ended" and event["trial"] in self._running

    def _outcome(self, event: dict[str, Any]) -> tuple[Trial, TrialEnd]:
        trial = self._running.pop(event["trial"])
        return trial, TrialEnd(
            event["code"] if not event.get("signal") else None,
            event.get("signal", 0),
            event.get("seconds", 0.0),
            tail(trial.folder),
            event.get("device", ""),
            event.get("timed_out", False),
            event.get("lost", False),
        )

    def _require_nodes(self) -> None:
        """:raises Refused: if there has been no node for the time limit"""
        if self._empty_since is not None and time.monotonic() - self._empty_since > _EMPTY:
            raise Refused(
                "no node of the Ray cluster can run a trial any more",
                name="no-resources",
                hint="the journal is kept: start nodes, and continue with --resume",
            )
