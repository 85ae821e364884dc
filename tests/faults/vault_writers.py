"""Writers on small vaults, for the tests of answers and of read-only folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from faults_support import Unsynced, everywhere

from opsinfo_cli.change.restore import restore_last
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer


def writer(place: Path, fs: Any = None, **options: Any) -> Writer:
    fs = fs or Unsynced()
    return Writer(Vault(str(place), fs), wait=0, fs=fs, **options)


def undo(which: Writer) -> Any:
    return restore_last(which, everywhere, force=False, dry_run=False)


def texts(paths: list[Path]) -> list[str]:
    return [path.read_text() if path.exists() else "" for path in paths]
