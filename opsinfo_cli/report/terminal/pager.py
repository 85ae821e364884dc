"""The pager: a program that shows a long text a screen at a time."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import suppress

_NOT_STARTED = (126, 127)
"""What a shell exits with if it cannot run a command (POSIX, Shell Command Language, 2.8.2)."""


def pager_command(environ: Mapping[str, str]) -> str | None:
    """``$OPSINFO_PAGER``, else ``$PAGER``, else `less` or `more`; None if nothing is to page, or nothing can.

    A variable that is set to nothing, or to `cat`, asks for no pager.
    """
    for name in ("OPSINFO_PAGER", "PAGER"):
        if name in environ:
            said = environ[name].strip()
            return said if said not in ("", "cat") else None
    from shutil import which

    return next(filter(which, ("less", "more")), None)


def page(data: bytes, command: str, environ: Mapping[str, str]) -> bool:
    """Show a text through a pager, and wait until the reader leaves it.

    :returns: whether the pager could be started
    """
    env = {"LESS": "FRX", "LV": "-c", **environ}  # as git: colours as they are; a short text stays on the screen
    try:
        process = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, env=env)
    except OSError:
        return False
    assert process.stdin is not None
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the reader left before the end
        process.stdin.write(data)
    with suppress(BrokenPipeError, KeyboardInterrupt):
        process.stdin.close()
    while True:
        try:
            return process.wait() not in _NOT_STARTED
        except KeyboardInterrupt:  # the pager's business: it has the terminal
            continue
