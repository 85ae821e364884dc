"""A program that runs the command of a trial in its own process group, and ends the group however its starter ends.

It is sent as text, see :func:`.guard_command`: on a node of a cluster there need be no opsinfo, so it uses only the
standard library. It reads a request as a line of JSON on standard input, and writes how the command ended as a line of
JSON on standard error; the command's output goes to standard output. Standard input ends with the starter.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

FOLDER, DEVICE = "\0folder\0", "\0device\0"
"""What is replaced where the command runs: the folder that is made there, and the visible devices."""


def main() -> None:
    """Run as a grandchild of the starter.

    Ray kills the processes that a worker started when it ends, but not those that these started in turn:
    https://docs.ray.io/en/latest/ray-core/user-spawn-processes.html
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a job's end is sent to all its processes
        if signal.getsignal(number) is not signal.SIG_IGN:  # the command inherits what `nohup` ignores, but no handler
            signal.signal(number, lambda *_: None)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os._exit(0)
    line = sys.stdin.readline()
    if not line.endswith("\n"):  # the starter is gone
        return
    request = json.loads(line)
    folder = ""
    try:
        if request["makes_folder"]:
            folder = tempfile.mkdtemp(prefix=f"opsinfo-trial-{request['number']:04}-")
            fill(folder, request["files"])
        os.write(2, (json.dumps(run(request, folder)) + "\n").encode("ascii"))
        sys.stdin.read()  # until the starter has read the output
    except OSError as error:
        problem = f"{error.filename or folder or tempfile.gettempdir()}: {error.strerror}"
        os.write(2, (json.dumps({"problem": problem}) + "\n").encode("ascii"))
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def fill(folder: str, files: dict[str, str]) -> None:
    """:param files: name -> content, a character for each byte"""
    os.mkdir(os.path.join(folder, "cache"))
    for name, content in files.items():
        with open(os.path.join(folder, name), "xb") as file:
            file.write(content.encode("latin-1"))


def run(request: dict[str, Any], folder: str) -> dict[str, Any]:
    """Run the command; it ends with 126 or 127 if it cannot be run, as in a shell.

    :param folder: its current directory; empty: that of the starter
    :returns: ``code``, ``signal``, ``seconds`` and ``timed_out``
    """
    environ = dict(os.environ)
    device = environ.get("ASCEND_RT_VISIBLE_DEVICES", "")
    words = [word.replace(FOLDER, folder).replace(DEVICE, device) for word in request["words"]]
    environ.update({name: text.replace(FOLDER, folder) for name, text in request["environ"].items()})
    for name in request["hidden"]:
        environ.pop(name, None)
    begun, timed_out = time.monotonic(), False
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            cwd=folder or None,
            env=environ,
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        os.write(1, f"{words[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        return {"code": 126 if isinstance(error, PermissionError) else 127}
    ended = os.pidfd_open(process.pid)
    for number, limit in ((signal.SIGTERM, request["timeout"]), (signal.SIGKILL, request["grace"])):
        if select.select([0, ended], [], [], limit)[0]:  # the starter is gone, or the command has ended
            break
        timed_out = True
        os.killpg(process.pid, number)
    os.killpg(process.pid, signal.SIGKILL)  # what it left running in its group, whose id is not free yet
    code = process.wait()
    end = {"code": None if code < 0 else code, "signal": max(0, -code), "timed_out": timed_out}
    return {**end, "seconds": time.monotonic() - begun}


if __name__ == "__main__":
    main()
