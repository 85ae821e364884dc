"""The process that runs a trial's command on a node of a cluster; it outlives the worker that started it.

opsinfo need not be installed on a node, so this file is sent as text and run with ``python -c``: it uses only the
standard library. When a worker ends, Ray kills the processes that the worker started itself, but not those that these
started in turn: https://docs.ray.io/en/latest/ray-core/user-spawn-processes.html. The keeper is started by a process
that the worker started. It can therefore end the whole process group of the command, however the worker ends. It makes
the folder of the trial itself, so that it also removes it if the worker ends before there is a command.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL for a command that takes too long; as in :mod:`.local`."""
_WORKER = 0
"""Standard input; it ends when the worker has read all output, or is gone."""


def main(folder: str, keeps: bool) -> None:
    """Make a folder, run the command given as one line of JSON on standard input, and report both.

    Standard output gets two lines of JSON: ``problem``, empty if the folder was made, and what :func:`run` returns.

    :param folder: of the trial; it must not exist
    :param keeps: whether it is kept when the command has ended
    """
    keeper = os.fork()
    if keeper:
        os.waitpid(keeper, 0)  # in a container no other user may do so
        os._exit(0)
    try:
        os.mkdir(folder, 0o700)
    except OSError as error:
        _report({"problem": f"{folder}: {error.strerror}"})
        return
    try:
        _report({"problem": ""})
        asked = sys.stdin.readline()
        if asked.endswith("\n"):  # else the worker is gone
            os.chdir(folder)
            _report(run(**json.loads(asked)))
            sys.stdin.read()
    finally:
        if not keeps:
            shutil.rmtree(folder, ignore_errors=True)


def _report(message: dict[str, Any]) -> None:
    with suppress(OSError):
        os.write(sys.stdout.fileno(), (json.dumps(message) + "\n").encode("ascii"))


def run(words: list[str], output: str, timeout: float | None) -> dict[str, Any]:
    """Run a command in its own process group; end it if it takes too long, or if the worker is gone.

    :param output: a file; what the command prints is appended
    :param timeout: in seconds
    :returns: ``code``, ``signal``, ``seconds`` and ``timed_out``; a command that cannot be run ends with 126 or 127
    """
    begun = time.monotonic()
    with open(output, "ab") as file:
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )
        except OSError as error:
            file.write(f"{words[0]}: {error.strerror}\n".encode("utf-8", "replace"))
            found = isinstance(error, FileNotFoundError | NotADirectoryError)
            return {"code": 127 if found else 126, "signal": 0, "seconds": 0.0, "timed_out": False}
    timed_out = _wait(process, None if timeout is None else begun + timeout)
    _kill(process, signal.SIGKILL)  # what it left running in its group, whose id is not free yet
    code = process.wait()
    seconds = time.monotonic() - begun
    return {"code": max(code, 0), "signal": max(-code, 0), "seconds": seconds, "timed_out": timed_out}


def _wait(process: subprocess.Popen[bytes], due: float | None) -> bool:
    """Wait for the end of a command, or of the worker.

    :returns: whether the command was ended because it took too long
    """
    timed_out = False
    descriptor = os.pidfd_open(process.pid)
    while True:
        left = None if due is None else max(0.0, due - time.monotonic())
        readable, _, _ = select.select([_WORKER, descriptor], [], [], left)
        if readable:
            os.close(descriptor)
            return timed_out
        _kill(process, signal.SIGKILL if timed_out else signal.SIGTERM)
        due = None if timed_out else time.monotonic() + GRACE
        timed_out = True


def _kill(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "keep")
