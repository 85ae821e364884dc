"""Processes of trials that outlived the search: opsinfo was killed, and they still occupy a device."""

from __future__ import annotations

import os
import signal
from contextlib import suppress


def end_orphans(trials: str) -> int:
    """Kill processes that were started for a trial in a folder.

    :param trials: the folder of the trials, absolute; their environment names it
    :returns: how many
    """
    mark = b"OPSINFO_TRIAL=" + os.fsencode(os.path.join(trials, ""))
    ended = 0
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if not name.isdecimal() or int(name) == os.getpid():
            continue
        with suppress(OSError):  # it has ended, or belongs to another user
            with open(f"/proc/{name}/environ", "rb") as file:
                is_ours = any(each.startswith(mark) for each in file.read().split(b"\0"))
            if is_ours and not _is_ancestor(int(name)):
                os.kill(int(name), signal.SIGKILL)
                ended += 1
    return ended


def _is_ancestor(process: int) -> bool:
    """Return whether this process is a descendant of another one."""
    own = os.getpid()
    while own > 1:
        with open(f"/proc/{own}/stat", "rb") as file:
            own = int(file.read().rpartition(b")")[2].split()[1])
        if own == process:
            return True
    return False
