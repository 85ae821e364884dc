"""The pager, which shows a long text one screen at a time."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import suppress

_NOT_STARTED = (126, 127)
"""The exit status of a shell that cannot run a command (POSIX, Shell Command Language, 2.8.2)."""


def pager_command(environ: Mapping[str, str]) -> str | None:
    """Return ``$OPSINFO_PAGER``, else ``$PAGER``, else `less` or `more`; None for no pager.

    A variable that is empty or `cat` disables the pager.
    """
    for name in ("OPSINFO_PAGER", "PAGER"):
        if name in environ:
            said = environ[name].strip()
            return said if said not in ("", "cat") else None
    from shutil import which

    return next(filter(which, ("less", "more")), None)


def page(data: bytes, command: str, environ: Mapping[str, str]) -> bool:
    """Show a text through a pager, and wait until the user quits it.

    :returns: whether the pager could be started
    """
    env = {"LESS": "FRX", "LV": "-c", **environ}  # as git: raw colours; a short text stays on the screen
    try:
        process = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, env=env)
    except OSError:
        return False
    assert process.stdin is not None
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the user quit before the end
        process.stdin.write(data)
    with suppress(BrokenPipeError, KeyboardInterrupt):
        process.stdin.close()
    while True:
        try:
            return process.wait() not in _NOT_STARTED
        except KeyboardInterrupt:  # the pager handles it: it has the terminal
            continue
