"""Where the vault is, and which paths lie in one: a vault is known by the records in it, wherever it was copied to."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress

from ...errors import Refused
from ...opening import folders_above

ROOT_VAULT = "/var/lib/opsinfo"
MACHINE_IDS = ("/etc/machine-id", "/var/lib/dbus/machine-id")
RECORD = "record.json"
PRUNED = "pruned.json"
"""In the folder of a machine: what is known of changes whose folders are gone. In the folder of a change: its record
while a prune on a full disk removes it, because a rename needs no space."""
NUMBER = re.compile("[1-9][0-9]{0,8}")
MACHINE = re.compile("[0-9a-f]{8}|local")
CHANGE_ID = re.compile(rf"(?:({MACHINE.pattern})-)?({NUMBER.pattern})(?:\.({NUMBER.pattern}))?")
"""The id of a change, or of one of its files."""


def machine_name() -> str:
    """Return a name of this machine among those that share a vault: a hash of the confidential machine-id.

    ``local`` without a machine-id, as in many containers, so that a container finds its backups again.
    Source: machine-id(5), "should be considered confidential".
    """
    for path in MACHINE_IDS:
        with suppress(OSError), open(path, "rb") as file:
            if text := file.read(256).strip():
                return hashlib.sha256(b"opsinfo:" + text).hexdigest()[:8]
    return "local"


def vault_path(chosen: str | None, environ: Mapping[str, str]) -> str:
    """Return ``--backup-dir``, else ``OPSINFO_BACKUP_DIR``, else the usual place."""
    if chosen or environ.get("OPSINFO_BACKUP_DIR"):
        return os.path.abspath(chosen or environ["OPSINFO_BACKUP_DIR"])
    return default_vault(environ)


def default_vault(environ: Mapping[str, str]) -> str:
    """Return the vault of root, or the one in the user's state folder."""
    if os.geteuid() == 0:
        return ROOT_VAULT
    state = environ.get("XDG_STATE_HOME") or os.path.join(environ.get("HOME", "/"), ".local", "state")
    return os.path.join(state, "opsinfo")


def in_vault(path: str) -> bool:
    """Return whether a real path leads into a vault: below the folder of a machine, in which a change has a record."""
    return any(
        NUMBER.fullmatch(os.path.basename(child)) and os.path.lexists(os.path.join(child, RECORD))
        for folder in folders_above(path)
        if MACHINE.fullmatch(os.path.basename(folder))
        for child in _children(folder)
    )


def _children(folder: str) -> list[str]:
    with suppress(OSError):
        return [os.path.join(folder, name) for name in os.listdir(folder)]
    return []


def require_outside_vault(given: str, real: str) -> None:
    """:param given: the path as given
    :raises Refused: if the path is in a vault: its records hold the hash of every backup, so that a changed one is lost
    """
    if in_vault(real):
        message = "this file is in a vault of backups, which opsinfo does not change"
        hint = "`opsinfo restore` brings a backup back; copy the file elsewhere to change the copy"
        raise Refused(message, name="in-vault", path=given, hint=hint)
