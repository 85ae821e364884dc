"""The place of the vault. The answers of `backups`, `restore` and `reapply` are in tests/answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run, mixlist, write

import opsinfo_cli

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


COMMENTED = '{"black-list": {"to-add": ["Log"]}} // why\n'


@pytest.fixture
def vault_in_tree(opsinfo: Run, tmp_path: Path) -> Path:
    """A repository whose vault lies in it, as on a shared disk; its mixlist was mended once."""
    write(tmp_path / "ops_info.json", COMMENTED)
    assert opsinfo("fmt", "ops_info.json", "--backup-dir", "vault").code == 0
    (backup,) = tmp_path.glob("vault/*/1/1-ops_info.json")
    assert backup.read_text() == COMMENTED
    return backup


def test_a_walk_passes_over_a_vault(opsinfo: Run, tmp_path: Path, vault_in_tree: Path) -> None:
    ran = opsinfo("validate", ".", "--fix", "--format", "json", "--backup-dir", "vault")
    assert (ran.code, [file["path"] for file in ran.json["files"]]) == (0, ["ops_info.json"])
    assert "it is a vault of backups" in opsinfo("validate", ".", "-v").err
    assert opsinfo("validate", str(vault_in_tree.parent)).code == 2, "named, and yet nothing to check"
    assert opsinfo("restore", "ops_info.json", "--backup-dir", "vault").code == 0
    assert (tmp_path / "ops_info.json").read_text() == COMMENTED


@pytest.mark.parametrize(
    "words",
    [
        ["fmt", "{file}"],
        ["validate", "{file}", "--fix"],
        ["move", "{file}", "Mul", "--to", "black"],
        ["move", "{folder}/new.json", "Mul", "--to", "black", "--create"],
        ["merge", "a.json", "-o", "{file}"],
        ["list", "a.json", "--format", "json", "-o", "{folder}/new.json"],
        ["validate", "a.json", "--report", "text:{file}"],
    ],
    ids=lambda words: " ".join(words),
)
def test_no_command_writes_in_a_vault(opsinfo: Run, tmp_path: Path, vault_in_tree: Path, words: list[str]) -> None:
    write(tmp_path / "a.json", '{"black-list": {"to-add": ["Log"]}}')
    before = {path: path.read_bytes() for path in tmp_path.glob("vault/**/*") if path.is_file()}
    named = {"file": str(vault_in_tree), "folder": str(vault_in_tree.parent)}
    ran = opsinfo(*(word.format_map(named) for word in words))
    assert ran.code == 3, ran.err
    assert "this file is in a vault of backups, which opsinfo does not change" in ran.err + ran.out
    assert {path: path.read_bytes() for path in tmp_path.glob("vault/**/*") if path.is_file()} == before


@pytest.fixture
def three(opsinfo: Run, tmp_path: Path) -> list[Path]:
    """Three mixlists, mended by one change."""
    paths = [write(tmp_path / f"{name}.json", COMMENTED) for name in "abc"]
    assert opsinfo("fmt", *paths).code == 0
    return paths


def changes(opsinfo: Run) -> list[str]:
    """The changes with backups, the first one first."""
    backups = opsinfo("backups", "--format", "json").json["backups"]
    return list(dict.fromkeys(backup["change"] for backup in backups))


def test_an_undo_names_the_other_files_of_the_change(opsinfo: Run, three: list[Path]) -> None:
    preview = opsinfo("restore", three[0], "-n")
    assert "has 2 other files, restored with it" in preview.err
    assert opsinfo("restore", three[0]).code == 0
    assert [path.read_text() for path in three] == [COMMENTED] * 3


def test_only_leaves_the_other_files_of_the_change(opsinfo: Run, three: list[Path]) -> None:
    ran = opsinfo("restore", three[0], "--only")
    assert (ran.code, "other file" in ran.err) == (0, False)
    assert [path.read_text() == COMMENTED for path in three] == [True, False, False]
    assert opsinfo("restore", three[1]).code == 0
    assert [path.read_text() == COMMENTED for path in three] == [True, True, True]
    assert opsinfo("restore", three[0], "--only", "--to", "pristine").code == 2


def test_a_change_is_undone_by_its_id(opsinfo: Run, three: list[Path], tmp_path: Path) -> None:
    assert opsinfo("move", three[1], "Mul", "--to", "black").code == 0
    first, second = changes(opsinfo)
    assert opsinfo("restore", second).code == 0
    assert "Mul" not in three[1].read_text()
    assert opsinfo("restore", first).code == 0
    assert [path.read_text() for path in three] == [COMMENTED] * 3
    assert opsinfo("restore", first, "--to", "pristine").code == 2
    refused = opsinfo("restore", first, "--only")
    assert (refused.code, f"--only leaves what is not of TARGET; `{first}` is a change" in refused.err) == (2, True)
    assert opsinfo("restore", f"{first}9").code == 2


def test_the_id_of_a_change_that_created_a_file_removes_it(opsinfo: Run, tmp_path: Path) -> None:
    created = opsinfo("move", "new.json", "Mul", "--to", "black", "--create", "--format", "json").json["change"]
    assert opsinfo("restore", created).code == 0
    assert not (tmp_path / "new.json").exists()
    assert opsinfo("restore", "new.json").code == 0, "the removal can be undone, too"
    assert (tmp_path / "new.json").exists()


def test_one_backup_is_dropped_as_one(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    for name in ("Mul", "Log", "Sub"):
        assert opsinfo("move", path, name, "--to", "black").code == 0
    assert opsinfo("backups", "--prune", "1", "--dry-run").err == "1 backup would be dropped\n"
    assert opsinfo("backups", "--prune", "1").err == "1 backup was dropped\n"


def test_the_line_of_the_hosts_program_is_not_recorded(
    opsinfo: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    monkeypatch.setattr("sys.argv", ["train.py", "--token", "secret"])
    vault = tmp_path / "vault"
    with pytest.warns(UserWarning, match="not checked"):
        opsinfo_cli.move(path, "Mul", "black", backup_dir=vault)
    assert opsinfo("move", path, "Log", "--to", "black", "--backup-dir", vault).code == 0
    with pytest.warns(UserWarning, match="not checked"):
        opsinfo_cli.move(path, "Sub", "black", backup_dir=vault)
    made = opsinfo("backups", "--backup-dir", vault, "--format", "json").json["backups"]
    line = ["opsinfo", "move", str(path), "Log", "--to", "black", "--backup-dir", str(vault)]
    assert [each["command"] for each in made] == [[], line, []]
    assert [row.split("\t")[-2] for row in opsinfo("backups", "--backup-dir", vault).out.splitlines()][::2] == ["-"] * 2


@pytest.mark.parametrize("target", ["opp", "opp@ascend910b", "./opp@ascend910b"])
def test_restore_shows_its_files_under_the_path_given(opsinfo: Run, opp: Path, tmp_path: Path, target: str) -> None:
    (made,) = opsinfo("move", f"{opp.name}@ascend910b", "SwiGlu", "--to", "black", "--format", "json").json["files"]
    (restored,) = opsinfo("restore", target, "--format", "json").json["restored"]
    assert (opp.parent, restored["path"]) == (tmp_path, made["path"].replace("opp", target.partition("@")[0], 1))


def test_restore_shows_a_file_as_given_that_it_removes(opsinfo: Run, tmp_path: Path) -> None:
    assert opsinfo("move", "m.json", "Add", "--to", "black", "--create").code == 0
    (restored,) = opsinfo("restore", "m.json", "--format", "json").json["restored"]
    assert (restored["path"], restored["sha256"], (tmp_path / "m.json").exists()) == ("m.json", None, False)
