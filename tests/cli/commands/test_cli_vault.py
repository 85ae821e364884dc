"""The place of the vault. The answers of `backups`, `restore` and `reapply` are in tests/answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run, mixlist, write

SOCS = ("ascend910b", "ascend910")


def test_the_vault_is_in_the_state_home_by_default(opsinfo: Run, tmp_path: Path, isolation: Path) -> None:
    import os

    if os.geteuid() == 0:
        pytest.skip("root's vault is the system's")
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    assert opsinfo("move", path, "Mul", "--to", "black", env={"OPSINFO_BACKUP_DIR": None}).code == 0
    assert (isolation / "state/opsinfo").is_dir()


def test_the_backups_of_one_chip_are_those_of_its_libraries(opsinfo: Run, opp: Path) -> None:
    assert opsinfo("move", f"{opp}@ascend910b", "SwiGlu", "--to", "black").code == 0
    counts = [len(opsinfo("backups", f"{opp}@{soc}", "--format", "json").json["backups"]) for soc in SOCS]
    assert counts == [1, 0]
