"""The code that runs on a node of a Ray cluster for a trial. It is sent by value: the node does not need opsinfo."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from ..trial import CACHE, OUTPUT, environment_of, words_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from typing import IO, Any

    Said = tuple[str, Any]

_CHUNK = 65536
"""Bytes of output per message: Ray sends values below 100 KB without the object store."""
_TICK = 0.2
"""Seconds between two reads of the output."""


def run_trial(
    number: int,
    command: Sequence[str],
    files: Mapping[str, tuple[str, bytes]],
    timeout: float | None,
    keeps: bool,
    keeper: str,
) -> Iterator[Said]:
    """Run a trial in its own folder.

    :param keeps: whether the folder is kept
    :param keeper: the source of :mod:`.keeper`
    :returns: ``("node", facts)``, then ``("output", bytes)`` as the command prints, and in the end
        ``("ended", facts)`` as :func:`.keeper.run` has them; ``("not-written", error)`` if the node has no room
    """
    try:
        folder = os.path.join(tempfile.gettempdir(), f"opsinfo-trial-{number:04}-{os.urandom(8).hex()}")
    except OSError as error:
        yield "not-written", error.strerror
        return
    environ = environment_of(os.environ, folder, files)
    with _kept(folder, environ, keeps, keeper) as (requests, replies):
        problem = json.loads(replies.readline())["problem"]
        if not problem:
            yield "node", node_facts(folder)
            problem = _fill(folder, files)
        if problem:
            yield "not-written", problem
            return
        output = os.path.join(folder, OUTPUT)
        with open(output, "rb") as file:
            asked = {"words": words_of(command, folder, files), "output": output, "timeout": timeout}
            requests.write((json.dumps(asked) + "\n").encode("ascii"))
            requests.flush()
            ended = yield from _followed(file, replies)
    yield "ended", ended


@contextmanager
def _kept(folder: str, environ: Mapping[str, str], keeps: bool, keeper: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Start a keeper; if this process is ended from outside, the keeper ends the command and removes the folder.

    :returns: its standard input and output
    """
    starter = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", keeper, folder, "keep" if keeps else "remove"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environ,
        start_new_session=True,
    )
    assert starter.stdin is not None
    assert starter.stdout is not None
    try:
        yield starter.stdin, starter.stdout
    finally:
        starter.stdin.close()
        starter.stdout.read()  # until the keeper has ended the command, removed the folder, and ended
        starter.stdout.close()
        starter.wait()


def _followed(file: IO[bytes], status: IO[bytes]) -> Generator[Said, None, Any]:
    """Yield what is written to a file until a line states how the command ended.

    :returns: the content of that line
    """
    while True:
        ended, _, _ = select.select([status], [], [], _TICK)
        line = status.readline() if ended else b""
        while chunk := file.read(_CHUNK):
            yield "output", chunk
        if ended:
            return json.loads(line)


def _fill(folder: str, files: Mapping[str, tuple[str, bytes]]) -> str:
    """Write the files of a trial.

    :returns: the message of the system if it refuses
    """
    try:
        os.mkdir(os.path.join(folder, CACHE))
        for name, content in [*files.values(), (OUTPUT, b"")]:
            with open(os.path.join(folder, name), "xb") as file:
                file.write(content)
    except OSError as error:
        return f"{folder}: {error.strerror}"
    return ""


def node_facts(folder: str) -> dict[str, Any]:
    """Return where this runs.

    :returns: the ``address`` and ``node`` id as Ray has them, the ``devices`` of the task, and the ``folder``
    """
    ray: Any = import_module("ray")
    context = ray.get_runtime_context()
    devices = {name: ids for name, ids in context.get_accelerator_ids().items() if ids}
    address = ray.util.get_node_ip_address()
    return {"address": address, "node": context.get_node_id(), "devices": devices, "folder": folder}
