"""`backups`, `restore`, `reapply`."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from cli_support import AI_910B, LEGACY, NN, Run, flag_of, library, mixlist, rows, snapshot, write


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def moved(opsinfo: Run, opp: Path) -> Path:
    """A library with two moves."""
    assert opsinfo("move", opp / NN, "SwiGlu", "--to", "black").code == 0
    assert opsinfo("move", opp / NN, "DynamicRNN", "--to", "black").code == 0
    return opp / NN


def test_an_empty_vault_is_not_an_error_and_is_not_made(opsinfo: Run, vault: Path) -> None:
    ran = opsinfo("backups")
    assert (ran.code, ran.out) == (0, "")
    assert opsinfo("backups", "--format", "json").json["backups"] == []
    assert not vault.exists()


def test_backups_json_keys(opsinfo: Run, moved: Path, fixtures: Path) -> None:
    first, second = opsinfo("backups", moved, "--format", "json").json["backups"]
    assert first["path"] == second["path"] == str(moved)
    assert first["sha256"] == sha256(fixtures / "opp" / NN)
    assert (first["pristine"], second["pristine"]) == (True, False)
    assert first["lineage"] == second["lineage"]
    assert first["version"] == "8.3.RC1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first["time"])
    assert first["id"].startswith(first["change"])
    assert first["change"] != second["change"]
    assert "move" in first["reason"]


def test_backups_as_text_are_one_tab_separated_line_each(opsinfo: Run, moved: Path) -> None:
    found = rows(opsinfo("backups"))
    documents = opsinfo("backups", "--format", "json").json["backups"]
    assert [row[0] for row in found] == [each["id"] for each in documents]
    assert all(str(moved) in row for row in found)


def test_backups_of_a_target_are_only_its_own(opsinfo: Run, moved: Path, opp: Path) -> None:
    opsinfo("move", opp / LEGACY, "Relu", "--to", "black")
    assert len(rows(opsinfo("backups"))) == 3
    assert len(rows(opsinfo("backups", moved))) == 2
    assert len(rows(opsinfo("backups", opp / AI_910B))) == 3
    assert len(rows(opsinfo("backups", opp))) == 3
    env = {"ASCEND_OPP_PATH": str(opp)}
    assert len(rows(opsinfo("backups", "ascend910b", env=env))) == 3
    assert rows(opsinfo("backups", "ascend910", env=env)) == []


def test_restore_undoes_the_last_change_and_then_the_one_before(opsinfo: Run, moved: Path, fixtures: Path) -> None:
    assert opsinfo("restore", moved).code == 0
    assert (flag_of(moved, "SwiGlu"), flag_of(moved, "DynamicRNN")) == ("false", None)
    assert opsinfo("restore", moved).code == 0
    assert moved.read_bytes() == (fixtures / "opp" / NN).read_bytes()
    nothing = opsinfo("restore", moved)
    assert nothing.code == 2
    assert "nothing" in nothing.err or "no change" in nothing.err


def test_restore_json_keys(opsinfo: Run, moved: Path) -> None:
    (restored,) = opsinfo("restore", moved, "--format", "json").json["restored"]
    assert restored["path"] == str(moved)
    assert restored["sha256"] == sha256(moved)
    assert restored["id"] in {each["id"] for each in opsinfo("backups", "--format", "json").json["backups"]}


def test_restore_to_an_id_and_to_pristine(opsinfo: Run, moved: Path, fixtures: Path) -> None:
    last = moved.read_bytes()
    first, second = opsinfo("backups", moved, "--format", "json").json["backups"]
    assert opsinfo("restore", moved, "--to", second["id"]).code == 0
    assert sha256(moved) == second["sha256"]
    assert opsinfo("restore", moved, "--to", "pristine").code == 0
    assert moved.read_bytes() == (fixtures / "opp" / NN).read_bytes()
    assert sha256(moved) == first["sha256"]
    assert opsinfo("restore", moved).code == 0, "a restore can be undone as well"
    assert opsinfo("restore", moved).code == 0
    assert moved.read_bytes() == last


def test_restore_to_a_change_restores_its_files(opsinfo: Run, moved: Path) -> None:
    change = opsinfo("backups", moved, "--format", "json").json["backups"][0]["change"]
    assert opsinfo("restore", moved, "--to", change).code == 0
    assert flag_of(moved, "SwiGlu") == "true"


def test_restore_to_the_present_content_writes_nothing(opsinfo: Run, opp: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    opsinfo("restore", opp / NN, "--to", "pristine")
    before = snapshot(opp)
    assert opsinfo("restore", opp / NN, "--to", "pristine", "--format", "json").json["change"] is None
    assert snapshot(opp) == before


def test_an_unknown_id_is_wrong_usage(opsinfo: Run, moved: Path) -> None:
    before = moved.read_bytes()
    ran = opsinfo("restore", moved, "--to", "20200101T000000-abcdef.1")
    assert ran.code == 2
    assert "backups" in ran.err
    assert moved.read_bytes() == before


def test_restore_requires_a_target_that_was_changed(opsinfo: Run, opp: Path) -> None:
    assert opsinfo("restore").code == 2
    assert opsinfo("restore", opp / NN).code == 2
    assert opsinfo("restore", opp / "gone.json").code == 2


def test_a_file_that_changed_since_is_not_undone(opsinfo: Run, opp: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    (opp / NN).write_bytes((opp / NN).read_bytes() + b"\n")
    before = (opp / NN).read_bytes()
    ran = opsinfo("restore", opp / NN)
    assert ran.code == 3
    assert "--force" in ran.err
    assert (opp / NN).read_bytes() == before
    assert opsinfo("restore", opp / NN, "--force").code == 0
    assert flag_of(opp / NN, "SwiGlu") == "true"


def test_restore_across_a_vendors_upgrade_is_refused_naming_both_versions(opsinfo: Run, opp: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    write(opp / NN, library({"SwiGlu": "true", "DynamicRNN": None, "Newer": None}))
    info = opp / "version.info"
    info.write_text(info.read_text("utf-8").replace("8.3.RC1", "8.5.RC1").replace("8.3.0", "8.5.0"), "utf-8")
    before = (opp / NN).read_bytes()
    for words in ((), ("--to", "pristine")):
        ran = opsinfo("restore", opp / NN, *words)
        assert ran.code == 3
        assert "8.3.RC1" in ran.err
        assert "8.5.RC1" in ran.err
        assert (opp / NN).read_bytes() == before
    assert opsinfo("restore", opp / NN, "--to", "pristine", "--force").code == 0
    assert flag_of(opp / NN, "AddRmsNorm") == "true"


def test_reapply_repeats_moves_that_an_upgrade_undid(opsinfo: Run, opp: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "AddRmsNorm", "--to", "black")
    write(opp / NN, library({"SwiGlu": "true", "DynamicRNN": None}))
    doctor = opsinfo("doctor", opp, "--format", "json")
    lost = [each for each in doctor.json["findings"] if each["name"] == "edits-lost"]
    assert [(each["severity"], each["path"]) for each in lost] == [("warning", str(opp / NN))]
    dry = opsinfo("reapply", "--dry-run")
    assert dry.out.startswith("--- ")
    ran = opsinfo("reapply", "--format", "json")
    assert ran.code == 0
    assert [each["name"] for each in ran.json["changed"]] == ["SwiGlu"]
    assert ran.json["ignored"] == ["AddRmsNorm"]
    assert "AddRmsNorm" in ran.err
    assert flag_of(opp / NN, "SwiGlu") == "false"
    again = opsinfo("reapply", "--format", "json")
    assert (again.code, again.json["change"]) == (0, None)


def test_reapply_of_one_change_only(opsinfo: Run, moved: Path) -> None:
    change = opsinfo("backups", moved, "--format", "json").json["backups"][0]["change"]
    write(moved, library({"SwiGlu": "true", "DynamicRNN": None}))
    assert opsinfo("reapply", change).code == 0
    assert (flag_of(moved, "SwiGlu"), flag_of(moved, "DynamicRNN")) == ("false", None)


def test_reapply_of_an_unknown_change_is_wrong_usage(opsinfo: Run) -> None:
    assert opsinfo("reapply", "20200101T000000-abcdef").code == 2


def test_an_undone_move_is_not_lost(opsinfo: Run, opp: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    opsinfo("restore", opp / NN)
    assert opsinfo("reapply", "--format", "json").json["changed"] == []
    found = opsinfo("doctor", opp, "--format", "json").json["findings"]
    assert "edits-lost" not in {each["name"] for each in found}


def test_prune_keeps_the_newest_and_the_pristine(opsinfo: Run, opp: Path) -> None:
    for to in ("black", "gray", "white", "black", "gray"):
        opsinfo("move", opp / NN, "SwiGlu", "--to", to)
    before = opsinfo("backups", "--format", "json").json["backups"]
    dry = opsinfo("backups", "--prune", "1", "--dry-run", "--format", "json").json
    assert len(opsinfo("backups", "--format", "json").json["backups"]) == len(before)
    document = opsinfo("backups", "--prune", "1", "--format", "json").json
    left = {each["id"] for each in document["backups"]}
    assert dry["pruned"] == document["pruned"]
    assert before[-1]["id"] in left
    assert any(each["pristine"] for each in document["backups"])
    assert set(document["pruned"]) == {each["id"] for each in before} - left
    assert opsinfo("restore", opp / NN, "--to", "pristine").code == 0


def test_prune_requires_a_positive_number(opsinfo: Run) -> None:
    for word in ("0", "-1", "x"):
        assert opsinfo("backups", "--prune", word).code == 2


def test_two_changes_in_one_second_have_two_ids(opsinfo: Run, moved: Path) -> None:
    found = [each["id"] for each in opsinfo("backups", "--format", "json").json["backups"]]
    assert len(set(found)) == len(found) == 2


def test_a_vault_can_be_chosen_per_run(opsinfo: Run, opp: Path, tmp_path: Path, vault: Path) -> None:
    place = tmp_path / "my vault"
    ran = opsinfo("move", opp / NN, "SwiGlu", "--to", "black", "--backup-dir", place)
    assert ran.code == 0
    assert not vault.exists()
    assert len(rows(opsinfo("backups", "--backup-dir", place))) == 1
    assert opsinfo("restore", opp / NN).code == 2, "the default vault does not have it"
    assert "--backup-dir" in ran.err, "the command that undoes it names the vault"
    assert opsinfo("restore", opp / NN, "--backup-dir", place).code == 0


def test_the_vault_is_in_the_state_home_by_default(opsinfo: Run, tmp_path: Path, isolation: Path) -> None:
    import os

    if os.geteuid() == 0:
        pytest.skip("root's vault is the system's")
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    assert opsinfo("move", path, "Mul", "--to", "black", env={"OPSINFO_BACKUP_DIR": None}).code == 0
    assert (isolation / "state/opsinfo").is_dir()


def test_a_damaged_backup_is_not_restored(opsinfo: Run, opp: Path, vault: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    before = (opp / NN).read_bytes()
    held = list(vault.rglob("1-*.json"))
    assert held
    for path in held:
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-3])
    assert opsinfo("restore", opp / NN).code == 3
    assert (opp / NN).read_bytes() == before


def test_a_removed_file_can_be_restored_from_the_vault(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    opsinfo("move", opp / NN, "SwiGlu", "--to", "black")
    (opp / NN).unlink()
    ran = opsinfo("restore", opp / NN)
    assert ran.code == 3
    assert "missing" in ran.err


def test_a_dry_run_of_restore_shows_the_changes(opsinfo: Run, moved: Path) -> None:
    before = moved.read_bytes()
    ran = opsinfo("restore", moved, "--dry-run")
    assert ran.code == 0
    assert ran.out.startswith("--- "), "as text a unified diff that patch accepts"
    assert moved.read_bytes() == before


def test_changes_of_one_second_stay_in_their_order(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Seed"]))
    expected = []
    for number in range(5):
        expected.append(sha256(path))
        assert opsinfo("move", path, f"Op{number}", "--to", "black").code == 0
    found = opsinfo("backups", path, "--format", "json").json["backups"]
    assert [each["sha256"] for each in found] == expected
    assert [each["pristine"] for each in found] == [True] + [False] * 4
    for digest in reversed(expected):
        assert opsinfo("restore", path).code == 0
        assert sha256(path) == digest


def test_a_removed_file_is_created_again_from_its_backup(opsinfo: Run, tmp_path: Path) -> None:
    mixlist = tmp_path / "m.json"
    mixlist.write_text("{}\n")
    opsinfo("move", mixlist, "Add", "--to", "black", "-q")
    backup = opsinfo("backups", mixlist, "--format", "json").json["backups"][0]
    mixlist.unlink()
    assert opsinfo("restore", mixlist).code == 3
    ran = opsinfo("restore", mixlist, "--to", backup["id"], "--format", "json")
    assert (ran.code, ran.json["restored"][0]["sha256"]) == (0, backup["sha256"])
    assert mixlist.read_text() == "{}\n"


def test_restored_files_are_named_as_in_the_target(opsinfo: Run, opp: Path) -> None:
    opsinfo("move", "opp", "--soc", "ascend910b", "Relu", "--to", "black", "-q", cwd=opp.parent)
    ran = opsinfo("restore", "opp", "--dry-run", cwd=opp.parent)
    assert ran.out.startswith("--- opp/built-in/op_impl/")
    assert opsinfo("restore", "opp", cwd=opp.parent).out.startswith("opp/built-in/op_impl/")
