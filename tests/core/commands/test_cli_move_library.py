"""`opsinfo move` on libraries: the rest of the file, and modes. Its answers are in tests/answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import AI_910B, NN, Run, flag_of, library, write


@pytest.mark.parametrize(("to", "flag"), [("white", "true"), ("black", "false"), ("gray", None)])
def test_every_list_can_be_reached_from_every_list(opsinfo: Run, tmp_path: Path, to: str, flag: str | None) -> None:
    path = write(tmp_path / "aic-x-ops-info.json", library({"W": "true", "B": "false", "G": None}))
    others = json.loads(path.read_text("utf-8"))
    assert opsinfo("move", path, "W", "B", "G", "--to", to).code == 0
    after = json.loads(path.read_text("utf-8"))
    assert {flag_of(path, name) for name in "WBG"} == {flag}
    for each in (after, others):
        for sections in each.values():
            sections.pop("precision_reduce", None)
    assert after == others


def test_modes_of_an_installed_file_and_folder_are_kept(opsinfo: Run, opp: Path) -> None:
    (opp / NN).chmod(0o555)
    (opp / AI_910B).chmod(0o550)
    try:
        assert opsinfo("move", opp / NN, "SwiGlu", "--to", "black").code == 0
        assert (opp / NN).stat().st_mode & 0o7777 == 0o555
        assert (opp / AI_910B).stat().st_mode & 0o7777 == 0o550
    finally:
        (opp / AI_910B).chmod(0o755)
    assert [path.name for path in (opp / AI_910B).iterdir() if ".opsinfo" in path.name] == []


def test_the_vault_is_private(opsinfo: Run, opp: Path, vault: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    assert vault.stat().st_mode & 0o777 == 0o700
