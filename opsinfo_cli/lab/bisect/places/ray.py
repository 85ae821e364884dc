"""Trials as tasks of a Ray cluster, by Ray's public API.

Ray prints to the terminal, sets signal handlers, and ends its process when the head is gone. So a process of its own
(:func:`drive`) speaks to Ray. It gets trials, and sends the number of slots, the ends of trials, and the error that
ends it. It cancels all tasks when the search has gone.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from ....errors import MissingPackage, OpsinfoError, Refused, installing
from ..placeholders import DEVICES, chooses_device, environment_of, replacements, words_of
from ..run_folder import OUTPUT, open_new, tail, write_error
from ..trial import GRACE, Trial, TrialEnd, guard_command
from ..trial_process import DEVICE, FOLDER

LOG = "ray.log"
_CONNECTED, _LEFT, _CANCELLED, _TICK = 60.0, 20.0, 10.0, 1.0
"""Seconds to join the cluster, to leave it, to end trials on the nodes, and between two looks at the cluster."""
_RESUME = "the journal is kept: --resume continues the search"
_OWN = {"CPU": "num_cpus", "GPU": "num_gpus", "memory": "memory"}
"""Resources that have an argument of their own in Ray."""


class RayPlace:
    """:param address: of the head, ``HOST:PORT``, or ``auto``
    :param resources: the resources of a trial, by Ray's names
    :param log: a file for Ray's messages
    """

    def __init__(self, address: str, resources: Mapping[str, float], log: str) -> None:
        """:raises MissingPackage: if Ray is not installed"""
        spec = find_spec("ray")
        if spec is None or spec.origin is None:  # only a folder with that name
            raise MissingPackage("--ray needs the `ray` package", hint=installing("ray"))
        self._words = [address, json.dumps(resources)]
        self._log = log
        self._line: Any = None
        self._slots = 0
        self._running: dict[int, Trial] = {}

    @property
    def slots(self) -> int:
        """How many trials the cluster has room for.

        :raises Refused: if it cannot be reached, or no node can run a trial
        """
        if self._line is None:
            self._connect()
        return self._slots

    def start(self, trial: Trial) -> None:
        """Request a trial of the cluster, whose :attr:`slots` were asked for."""
        self._running[trial.number] = trial
        with suppress(OSError):  # `wait` reports what happened
            self._line.send(trial)

    def wait(self, seconds: float) -> list[tuple[Trial, TrialEnd]]:
        """See :meth:`.trial.TrialPlace.wait`.

        :raises Refused: if the cluster is gone, or no node is left that can run a trial
        """
        event = self._receive(seconds)
        if not isinstance(event, tuple):
            return []
        trial = self._running.pop(event[0])
        return [(trial, event[1]._replace(tail=tail(trial.folder)))]

    def stop(self) -> None:
        """End all trials, wait until the nodes have done so, and leave the cluster."""
        self._running.clear()
        if self._line is None:
            return
        self._line.close()
        self._line = None
        try:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LEFT)
        finally:
            self._process.kill()  # Ray then ends the remaining tasks
            self._process.wait()

    def _connect(self) -> None:
        self._line, theirs = Pipe()
        start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import drive; drive()"
        environ = {"RAY_gcs_rpc_server_reconnect_timeout_s": "15", **os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            with theirs, open(os.open(self._log, flags, 0o600), "ab") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", start, str(theirs.fileno()), *self._words],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=environ,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # Ctrl-C is for the search, which then ends this process
                )
        except OSError as error:
            self._line = None
            raise write_error(self._log, error) from None
        try:
            if self._receive(_CONNECTED) is None:
                raise Refused("the Ray cluster does not answer", name="no-cluster", path=self._log)
        except BaseException:
            self.stop()
            raise

    def _receive(self, seconds: float) -> Any:
        """Return the next message; None if none comes in time."""
        try:
            message = self._line.recv() if self._line.poll(seconds) else None
        except (EOFError, OSError):
            message = Refused("the Ray cluster was lost", name="no-cluster", path=self._log, hint=_RESUME)
        if isinstance(message, OpsinfoError):
            raise message
        if isinstance(message, int):
            self._slots = message
        return message


def drive() -> None:
    """Serve the search at the other end of a connection. Arguments: its descriptor, and those of :class:`RayPlace`."""
    descriptor, address, resources = sys.argv[1:]
    line: Any = Connection(int(descriptor))
    try:
        _serve(line, address, json.loads(resources))
    except OpsinfoError as error:
        line.send(error)
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(0)  # a thread may still wait for Ray


def _serve(line: Any, address: str, resources: Mapping[str, float]) -> None:
    """Start trials until the search has gone, then end them.

    :raises Refused: if the cluster cannot be reached, or no node can run a trial
    """
    ray = _join(address)
    arguments = {_OWN[name]: amount for name, amount in resources.items() if name in _OWN}
    others = {name: amount for name, amount in resources.items() if name not in _OWN}
    options: dict[str, Any] = {"num_cpus": 0, **arguments, "resources": others, "num_returns": "streaming"}
    task = ray.remote(max_retries=0, **options)(_node_task(ray))
    lock = threading.Lock()
    running: dict[Any, threading.Thread] = {}
    slots = 0

    def send(message: object) -> None:
        with lock, suppress(OSError):  # the search has gone: the loop below sees it
            line.send(message)

    def follow(trial: Trial, parts: Any) -> None:
        try:
            send((trial.number, _record(ray, trial.folder, parts)))
        except OpsinfoError as error:
            send(error)
        except OSError as error:
            send(write_error(trial.folder, error))

    while True:
        room = sum(_room(node["Resources"], resources) for node in ray.nodes() if node["Alive"])
        if not room:
            raise _no_room(ray, resources, began=bool(slots))
        if room != slots:
            slots = room
            send(room)
        if not line.poll(_TICK):
            continue
        try:
            trial = line.recv()
        except (EOFError, OSError):
            break
        parts = task.options(name=f"opsinfo bisect, trial {trial.number:04}").remote(_request(trial))
        running[parts] = threading.Thread(target=follow, args=(trial, parts), daemon=True)
        running[parts].start()
    for parts in running:
        ray.cancel(parts)
    due = time.monotonic() + _CANCELLED
    for thread in running.values():
        thread.join(max(0.0, due - time.monotonic()))
    ray.shutdown()


def _join(address: str) -> Any:
    """Return Ray, connected. An address where no head answers fails early: Ray would try for 80 seconds."""
    ray: Any = import_module("ray")
    host, _, port = address.rpartition(":")
    try:
        if port.isdecimal():  # not `auto`
            socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (Exception, SystemExit) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or str(error).strip() or type(error).__name__
        reason = reason.splitlines()[0].partition(". ")[0].rstrip(".")
        hint = "start opsinfo on a host of the cluster; `ray status` shows whether it runs"
        if "ersion mismatch" in str(error):
            hint = "install the versions of Ray and Python here that the cluster has"
        message = f"cannot connect to the Ray cluster at `{address}`: {reason}"
        raise Refused(message, name="no-cluster", hint=hint) from None
    return ray


def _room(has: Mapping[str, float], resources: Mapping[str, float]) -> int:
    """Return how many trials fit on a node."""
    return min(int(has.get(name, 0) / amount + 1e-6) for name, amount in resources.items())


def _no_room(ray: Any, resources: Mapping[str, float], began: bool) -> Refused:
    wanted = ", ".join(f"{name} {amount:g}" for name, amount in resources.items())
    if began:
        return Refused(f"no node of the Ray cluster has {wanted} any more", name="no-resources", hint=_RESUME)
    totals = ", ".join(f"{name} {ray.cluster_resources().get(name, 0):g}" for name in {"CPU": 0, **resources})
    hint = "`ray start --resources='{\"NPU\": 8}'` declares what a host has; --resources sets what a trial takes"
    message = f"no node of the Ray cluster has {wanted}: all nodes together have {totals}"
    return Refused(message, name="no-resources", hint=hint)


def _request(trial: Trial) -> dict[str, Any]:
    """Return what a node needs for a trial, as JSON has it."""
    texts = replacements(FOLDER, trial.files, DEVICE)
    return {
        "number": trial.number,
        "words": words_of(trial.command, texts),
        "environ": environment_of(trial.command, {**texts, "device": ""}),
        "hidden": [DEVICES] if chooses_device(trial.command) else [],
        "makes_folder": True,
        "files": {name: content.decode("latin-1") for name, content in trial.files.values()},
        "timeout": trial.timeout,
        "grace": GRACE,
    }


def _record(ray: Any, folder: str, parts: Any) -> TrialEnd:
    """Write the output of a trial to its file as it comes, and return how the trial ended.

    :raises Refused: if a node cannot run it
    """
    end: dict[str, Any] = {"code": None, "lost": True}
    device = ""
    try:
        with open(open_new(os.path.join(folder, OUTPUT)), "wb") as output:
            for reference in parts:
                part = ray.get(reference)
                if isinstance(part, bytes):
                    output.write(part)
                    output.flush()
                elif isinstance(part, str):
                    device = part
                else:
                    end = part
    except ray.exceptions.RayTaskError as error:
        raise Refused(
            f"cannot run a trial on a node: {str(error).strip().splitlines()[-1]}", name="not-started"
        ) from None
    except ray.exceptions.OutOfMemoryError:  # caused by the trial, as on one machine
        end = {"code": None, "signal": 9}
    except ray.exceptions.RayError as error:  # the worker or its node died
        print(f"{folder}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    if "problem" in end:
        raise Refused(f"cannot write on a node of the cluster: {end['problem']}", name="not-written")
    return TrialEnd(**end, device=device)


def _node_task(ray: Any) -> Callable[[dict[str, Any]], Iterator[Any]]:
    """Return the function of a task. Ray sends it by value, as all functions within one: nodes need no opsinfo.

    It yields where it runs, then the output as bytes, and in the end the arguments of :class:`.TrialEnd`.
    """
    _, *options = guard_command()

    def run_trial(request: dict[str, Any]) -> Iterator[Any]:
        devices = ray.get_runtime_context().get_accelerator_ids().items()
        yield " ".join([ray.util.get_node_ip_address(), *(f"{name} {','.join(ids)}" for name, ids in devices if ids)])
        process = subprocess.Popen(
            [sys.executable, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        output, result = process.stdout.fileno(), process.stderr.fileno()
        try:
            process.stdin.write((json.dumps(request) + "\n").encode("ascii"))
            process.stdin.flush()
            while result not in select.select([output, result], [], [])[0]:
                yield os.read(output, 65536)
            os.set_blocking(output, False)
            while chunk := process.stdout.read(65536):
                yield chunk
            yield json.loads(process.stderr.readline() or '{"code": null, "lost": true}')
        finally:
            process.stdin.close()
            process.wait()  # until the command has ended and its folder is removed

    return run_trial
