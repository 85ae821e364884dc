"""Generate vaults that grow: many vendor versions of one library, and many changes of it.

    python benchmarks/vaults.py versions 8000 FOLDER
    cd FOLDER && opsinfo backups --backup-dir vault

The command lines of both generators are in ``LINES``; they leave the vault as it is, or add one change.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

NAME = "aic-ascend910b-ops-info.json"
LINES = (
    "backups --backup-dir vault",
    "doctor . --backup-dir vault",
    f"move {NAME} Log --to black --backup-dir vault",
    f"restore {NAME} --backup-dir vault --dry-run",
    f"restore {NAME} --to pristine --backup-dir vault --dry-run",
    "reapply --backup-dir vault --dry-run",
    "backups --prune 1 --backup-dir vault --dry-run",
)


def write_versions(folder: Path, count: int) -> None:
    """So many versions of a library, each an upgrade, with a move in each."""
    write_vault(folder, ((library(version, "true"), library(version, "false"), version) for version in range(count)))


def write_changes(folder: Path, count: int) -> None:
    """So many moves in one version of a library, each to another content."""
    contents = [library(0, "true" if number % 2 else "false", number) for number in range(count + 1)]
    write_vault(folder, ((before, after, 0) for before, after in pairwise(contents)))


def library(version: int, flag: str, change: int = 0) -> bytes:
    """:param change: makes the content another one"""
    names = ("Log", f"Version{version}", f"Change{change}")
    return json.dumps({"Add": {"precision_reduce": {"flag": flag}}, **{name: {} for name in names}}, indent=4).encode()


def write_vault(folder: Path, contents: Iterator[tuple[bytes, bytes, int]]) -> None:
    """Write the vault as the program would, without its syncs.

    :param contents: of the library before and after each change, with the number of the change, from 0 on, with which
        its version begins
    """
    from opsinfo_cli.core.change.record import ChangedFile, Record, sealed
    from opsinfo_cli.core.change.replace_file import sha256_of
    from opsinfo_cli.core.change.vault import Vault

    path, vault = folder.resolve() / NAME, Vault(str(folder / "vault"))
    for made in (Path(vault.path), Path(vault.folder)):
        made.mkdir(mode=0o700)
    for number, (before, after, first) in enumerate(contents, 1):
        change = Path(vault.folder, str(number))
        change.mkdir(mode=0o700)
        (change / f"1-{NAME}").write_bytes(before)
        file = ChangedFile(
            path=str(path),
            given=str(path),
            before=sha256_of(before),
            after=sha256_of(after),
            lineage=f"{vault.machine}-{first + 1}.1",
            moves={"Add": ["white", "black"]},
            backup=f"1-{NAME}",
        )
        command = ["opsinfo", "move", str(path), "Add", "--to", "black"]
        record = Record(vault.machine, number, "move", command, "2026-11-26T00:00:00Z", "user", "done", [file])
        (change / "record.json").write_bytes(sealed(record.content))
    path.write_bytes(after)


if __name__ == "__main__":
    write = {"versions": write_versions, "changes": write_changes}[sys.argv[1]]
    write(Path(sys.argv[3]), int(sys.argv[2]))
