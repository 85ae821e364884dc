"""The process that connects a search to Ray, which isolates the search from Ray's output and failures.

Ray ends its client process when it loses the node or the head, and it prints to the terminal. This process reads
lines of JSON from :mod:`.ray_cluster`, each with a trial to start, and writes lines of JSON: ``ready`` with the slots,
``slots`` when they change, ``ended`` for each trial, ``failed`` before it gives up. It ends when its input does.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import select
import socket
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING

from ...errors import OpsinfoError, Refused
from .. import trial as trial_module
from . import keeper, ray_options, ray_task

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_AHEAD = 16
"""Pieces of a trial's output that Ray buffers before the node has to wait."""
_REACHED = 5.0
"""Time limit for connecting to the head, in seconds."""
_GRACE = 10.0
"""Time for the nodes to end cancelled trials before Ray ends their workers, in seconds."""
_TICK = 1.0
NODE = "node.json"
"""The file in a trial's folder that records where it ran."""
_OUT_OF_MEMORY = 9


def main() -> None:
    """Serve the search at the other end of standard input, which is a socket.

    Arguments: the address, the resources as JSON, and whether the folders of trials are left on the nodes.
    """
    line = socket.socket(fileno=os.dup(0))
    address, resources, keeps = sys.argv[1:]
    driver = RayDriver(json.loads(resources), keeps == "keep", line)
    try:
        driver.connect(address)
        driver.serve()
    except OpsinfoError as error:
        driver.send("failed", name=error.name, message=error.message, hint=error.hint, path=error.path)
    except Exception:
        traceback.print_exc()
    finally:
        driver.end()
        os._exit(0)  # a thread may still wait for Ray


class RayDriver:
    """:param resources: the resources of a trial
    :param keeps: whether the folders of trials are left on the nodes
    :param line: the connection to the search
    """

    def __init__(self, resources: Mapping[str, float], keeps: bool, line: socket.socket) -> None:
        self._resources = resources
        self._keeps = keeps
        self._line = line
        self._lock = threading.Lock()
        self._ray: Any = None
        self._task: Any = None
        self._slots = 0
        self._ends = False
        self._running: dict[int, tuple[Any, threading.Thread]] = {}

    def send(self, event: str, **facts: Any) -> None:
        """Write a line; end if the reader is gone."""
        said = (json.dumps({"event": event, **facts}) + "\n").encode("ascii")
        with self._lock:
            try:
                self._line.sendall(said)
            except OSError:
                os._exit(0)  # Ray then ends all trials

    def connect(self, address: str) -> None:
        """:raises Refused: if there is no cluster, or none of its nodes can run a trial"""
        require_reachable(address)
        self._ray = importlib.import_module("ray")
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except (Exception, SystemExit) as error:
            raise not_connected(address, error) from None
        pickle = importlib.import_module("ray.cloudpickle")
        for module in (ray_task, trial_module):
            pickle.register_pickle_by_value(module)
        self._task = self._ray.remote(ray_task.run_trial)
        nodes = self._ray.nodes()
        self._slots = ray_options.slots_of(nodes, self._resources)
        if not self._slots:
            raise no_room(nodes, self._resources)
        self.send("ready", slots=self._slots)

    def serve(self) -> None:
        """Start a trial for each line, until the input ends."""
        waiting = b""
        while True:
            readable, _, _ = select.select([self._line], [], [], _TICK)
            if readable:
                data = self._line.recv(65536)
                if not data:
                    return
                *lines, waiting = (waiting + data).split(b"\n")
                for line in lines:
                    self._start(**json.loads(line))
            slots = ray_options.slots_of(self._ray.nodes(), self._resources)
            if slots != self._slots:
                self._slots = slots
                self.send("slots", slots=slots)

    def end(self) -> None:
        """End all running trials, and leave the cluster."""
        if self._ray is None or not self._ray.is_initialized():
            return
        self._ends = True
        running = list(self._running.values())
        for generator, _ in running:
            self._ray.cancel(generator)
        due = time.monotonic() + _GRACE
        for _, thread in running:
            thread.join(max(0.0, due - time.monotonic()))
        self._ray.shutdown()

    def _start(
        self, number: int, command: list[str], files: dict[str, str], folder: str, timeout: float | None
    ) -> None:
        contents = {name: (file, _read(os.path.join(folder, file))) for name, file in files.items()}
        options = {
            **ray_options.task_options(self._resources),
            "name": f"opsinfo bisect, trial {number:04}",
            "max_retries": 0,  # the search repeats a lost trial, and records it
            "num_returns": "streaming",
            "_generator_backpressure_num_objects": _AHEAD,
        }
        source = inspect.getsource(keeper)
        task = self._task.options(**options)
        generator = task.remote(number, command, contents, timeout, self._keeps, source)
        thread = threading.Thread(target=self._follow, args=(number, folder, generator), daemon=True)
        self._running[number] = generator, thread
        thread.start()

    def _follow(self, number: int, folder: str, generator: Any) -> None:
        """Write the output of a trial to its file, and report how it ended."""
        facts: dict[str, Any] = {}
        try:
            self._record(folder, generator, facts)
        except Exception as error:
            self._explain(number, folder, error, facts)
        else:
            self.send("ended", trial=number, **facts)
        self._running.pop(number, None)

    def _record(self, folder: str, generator: Any, facts: dict[str, Any]) -> None:
        """:raises Refused: if the disk of the node or of this machine is full"""
        with trial_module.output_file(folder) as output:
            for reference in generator:
                kind, said = self._ray.get(reference)
                if kind == "output":
                    output.write(said)
                    output.flush()
                elif kind == "node":
                    facts["device"] = _device(said)
                    _write(os.path.join(folder, NODE), json.dumps(said, indent=2) + "\n")
                elif kind == "ended":
                    facts.update(said)
                else:
                    raise Refused(f"cannot write on a node of the cluster: {said}", name="not-written")

    def _explain(self, number: int, folder: str, error: Exception, facts: dict[str, Any]) -> None:
        """Report why a trial has no status; nothing if it was cancelled."""
        if self._ends:
            return
        print(f"trial {number}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        refused = error if isinstance(error, Refused) else None
        if isinstance(error, self._ray.exceptions.RayTaskError):  # it is an OSError too if the node raised one
            said = str(error).strip().splitlines()[-1]
            refused = Refused(f"cannot run a trial on a node of the cluster: {said}", name="not-started")
        elif isinstance(error, OSError):
            refused = trial_module.not_written(folder, error)
        if refused is not None:
            self.send("failed", name=refused.name, message=refused.message, hint=refused.hint, path=folder)
        elif isinstance(error, self._ray.exceptions.OutOfMemoryError):  # caused by the trial, as on one machine
            self.send("ended", trial=number, **facts, code=None, signal=_OUT_OF_MEMORY)
        else:
            self.send("ended", trial=number, **facts, code=None, lost=True)


def require_reachable(address: str) -> None:
    """Fail early if no head answers at an address: Ray would try for 80 seconds, and then end the process.

    :raises Refused: if a head cannot be reached
    """
    host, _, port = address.rpartition(":")
    if not port.isdecimal():  # `auto`
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACHED).close()
    except OSError as error:
        raise not_connected(address, error) from None


def not_connected(address: str, error: BaseException) -> Refused:
    """Return the error for a search that cannot join the cluster."""
    said = (error.strerror if isinstance(error, OSError) else "") or str(error).strip() or type(error).__name__
    said = said.splitlines()[0].partition(". ")[0].rstrip(".")
    hint = "start opsinfo on a host of the cluster; `ray status` shows whether it runs"
    if address == "auto":
        hint += "; `--ray HOST:PORT` names its head"
    if "ersion mismatch" in str(error):
        hint = "install the versions of Ray and Python here that the cluster has"
    return Refused(f"cannot connect to the Ray cluster at `{address}`: {said}", name="no-cluster", hint=hint)


def no_room(nodes: list[dict[str, Any]], resources: Mapping[str, float]) -> Refused:
    """Return the error for a search if no node can run a trial."""
    wanted = ", ".join(f"{name} {amount:g}" for name, amount in resources.items())
    return Refused(
        f"no node of the Ray cluster has {wanted}: it has {ray_options.described(nodes)}",
        name="no-resources",
        hint="`ray start --resources='{\"NPU\": 8}'` declares what a host has; --resources sets what a trial takes",
    )


def _device(said: Mapping[str, Any]) -> str:
    """Return where a trial runs as text: ``10.0.0.5 NPU 3``."""
    devices = [f"{name} {','.join(ids)}" for name, ids in said["devices"].items()]
    return " ".join([said["address"], *devices])


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
