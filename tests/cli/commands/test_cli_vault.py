"""The place of the vault. The answers of `backups`, `restore` and `reapply` are in tests/answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run, mixlist, write


def test_the_vault_is_in_the_state_home_by_default(opsinfo: Run, tmp_path: Path, isolation: Path) -> None:
    import os

    if os.geteuid() == 0:
        pytest.skip("root's vault is the system's")
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    assert opsinfo("move", path, "Mul", "--to", "black", env={"OPSINFO_BACKUP_DIR": None}).code == 0
    assert (isolation / "state/opsinfo").is_dir()
