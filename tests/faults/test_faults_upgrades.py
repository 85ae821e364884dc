"""Changes by a vendor or another program between runs: none is lost, and opsinfo's moves can be reapplied."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from faults_support import CONFIG, library_text

from opsinfo_cli.core.change.vault import Vault

Run = Callable[..., Any]
NAME = "aic-ascend910b-ops-info.json"
OLD = library_text(Add="true", Log=None, Mul="true")
UPGRADED = library_text(Add="true", Exp=None, Log=None, Mul="true")


def install(root: Path, version: str, text: str) -> Path:
    folder = root / CONFIG
    folder.mkdir(parents=True, exist_ok=True)
    (root / "opp" / "version.info").write_text(f"version_dir={version}\n")
    library = folder / NAME
    fresh = folder / "fresh"
    fresh.write_text(text)
    fresh.rename(library)  # a package manager puts a new file there
    return library


def flags(path: Path) -> dict[str, str | None]:
    content = json.loads(path.read_text())
    return {name: entry.get("precision_reduce", {}).get("flag") for name, entry in content.items()}


def findings(opsinfo: Run, target: Path) -> list[tuple[str, str]]:
    document = opsinfo("doctor", target, "--ignore", "edited-here", "--format", "json").json
    return [(each["name"], each["path"]) for each in document["findings"] if each["code"].startswith("V")]


def change_ids(opsinfo: Run) -> list[str]:
    return [each["change"] for each in opsinfo("backups", "--format", "json").json["backups"]]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return install(tmp_path / "cann", "8.2.RC1", OLD)


def test_moves_lost_in_an_upgrade_at_the_same_path_can_be_reapplied(
    opsinfo: Run, library: Path, tmp_path: Path
) -> None:
    root = tmp_path / "cann"
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    assert opsinfo("move", library, "Log", "--to", "white").code == 0
    install(root, "8.3.RC1", UPGRADED)
    assert findings(opsinfo, root) == [("edits-lost", str(library))]

    first, second = change_ids(opsinfo)
    for words in ((), ("--to", "pristine"), ("--to", first), ("--to", f"{second}.1")):
        ran = opsinfo("restore", library, *words)
        assert ran.code == 3, words
        assert "8.2.RC1" in ran.err
        assert "8.3.RC1" in ran.err
        assert library.read_text() == UPGRADED, "an old CANN's file does not replace the new one without --force"

    assert opsinfo("reapply").code == 0
    assert flags(library) == {"Add": "false", "Exp": None, "Log": "true", "Mul": "true"}
    assert findings(opsinfo, root) == []
    assert list(lineages(library).values()) == ["8.2.RC1", "8.3.RC1"]

    assert opsinfo("restore", library).code == 0
    assert library.read_text() == UPGRADED, "the reapply is undone"
    assert opsinfo("restore", library).code == 3
    assert opsinfo("restore", library, "--to", "pristine").code == 0
    assert library.read_text() == UPGRADED, "pristine is the first content seen of this vendor state"
    assert opsinfo("restore", library, "--to", first, "--force").code == 0
    assert library.read_text() == OLD, "--force restores it"


def test_a_move_in_the_new_file_does_not_hide_lost_moves(opsinfo: Run, library: Path, tmp_path: Path) -> None:
    root = tmp_path / "cann"
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    install(root, "8.3.RC1", UPGRADED)
    assert opsinfo("move", library, "Exp", "--to", "black").code == 0
    assert findings(opsinfo, root) == [("edits-lost", str(library))]
    assert opsinfo("reapply").code == 0
    assert flags(library) == {"Add": "false", "Exp": "false", "Log": None, "Mul": "true"}
    assert findings(opsinfo, root) == []


def kill_as_it_ends(change: str) -> None:
    """Make a change look as if its process was killed before its end was recorded."""
    vault = Vault(os.environ["OPSINFO_BACKUP_DIR"])
    (record,) = (record for record in vault.history().records if record.id == change)
    vault.save(replace(record, state="pending"))


def lineages(path: Path) -> dict[str, str | None]:
    """Lineage -> version."""
    entries = Vault(os.environ["OPSINFO_BACKUP_DIR"]).history().entries
    return {entry.file.lineage: entry.file.version for entry in entries if entry.file.path == str(path.resolve())}


@pytest.mark.parametrize("by", ["an upgrade", "hand"])
def test_a_killed_change_does_not_overwrite_what_came_later_without_force(
    opsinfo: Run, library: Path, tmp_path: Path, by: str
) -> None:
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    kill_as_it_ends(change_ids(opsinfo)[0])
    if by == "hand":
        library.write_text(library.read_text().replace('"Mul":', '"Mul2":'))
    else:
        install(tmp_path / "cann", "8.3.RC1", UPGRADED)
    later = library.read_text()
    assert opsinfo("restore", library).code == 3
    assert library.read_text() == later


def test_a_killed_change_before_an_upgrade_does_not_stop_the_next_move(
    opsinfo: Run, library: Path, tmp_path: Path
) -> None:
    """The file of the change no longer exists: there is nothing to restore."""
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    kill_as_it_ends(change_ids(opsinfo)[0])
    install(tmp_path / "cann", "8.3.RC1", UPGRADED)
    ran = opsinfo("move", library, "Exp", "--to", "black")
    assert ran.code == 0, ran.err
    assert flags(library)["Exp"] == "false"


@pytest.mark.parametrize("which", ["pristine", "ID"])
def test_a_library_removed_by_an_upgrade_is_not_restored_without_force(
    opsinfo: Run, library: Path, tmp_path: Path, which: str
) -> None:
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    change = change_ids(opsinfo)[0]
    install(tmp_path / "cann", "8.3.RC1", UPGRADED)
    library.rename(library.with_name("aic-ascend910b-ops-info-nn.json"))
    ran = opsinfo("restore", library, "--to", change if which == "ID" else which)
    assert ran.code == 3
    assert "8.2.RC1" in ran.err
    assert "8.3.RC1" in ran.err
    assert not library.exists()


@pytest.fixture
def switched(tmp_path: Path) -> tuple[Path, Path]:
    """``latest``, a link to the old version, and the path of the library through it."""
    install(tmp_path / "8.2.RC1", "8.2.RC1", OLD)
    install(tmp_path / "8.3.RC1", "8.3.RC1", UPGRADED)
    latest = tmp_path / "latest"
    latest.symlink_to("8.2.RC1")
    return latest, latest / CONFIG / NAME


def switch(latest: Path, version: str) -> None:
    latest.unlink()
    latest.symlink_to(version)


def test_a_switched_latest_link_leaves_each_version_its_own_history(
    opsinfo: Run, switched: tuple[Path, Path], tmp_path: Path
) -> None:
    latest, library = switched
    old, new = (tmp_path / version / CONFIG / NAME for version in ("8.2.RC1", "8.3.RC1"))
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    moved = old.read_text()
    change = change_ids(opsinfo)[0]
    switch(latest, "8.3.RC1")
    for words in ((), ("--to", "pristine"), ("--to", change)):
        assert opsinfo("restore", library, *words).code in (2, 3), words
        assert new.read_text() == UPGRADED
        assert old.read_text() == moved
    assert opsinfo("move", library, "Exp", "--to", "black").code == 0
    assert old.read_text() == moved
    assert [list(lineages(path).values()) for path in (old, new)] == [["8.2.RC1"], ["8.3.RC1"]]
    assert opsinfo("restore", library).code == 0
    assert new.read_text() == UPGRADED
    switch(latest, "8.2.RC1")
    assert opsinfo("restore", library).code == 0
    assert old.read_text() == OLD


def test_after_a_switched_latest_link_lost_moves_are_reported_and_can_be_reapplied(
    opsinfo: Run, switched: tuple[Path, Path], tmp_path: Path
) -> None:
    latest, library = switched
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    switch(latest, "8.3.RC1")
    assert [name for name, _ in findings(opsinfo, latest)] == ["edits-lost"]
    assert opsinfo("reapply", latest).code == 0
    assert flags(library)["Add"] == "false"
    assert flags(tmp_path / "8.3.RC1" / CONFIG / NAME)["Add"] == "false"


def test_a_manual_edit_between_runs_is_kept_with_the_moves_around_it(opsinfo: Run, library: Path) -> None:
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    by_hand = library.read_text().replace('"Mul":', '"Mul2":')
    library.write_text(by_hand)
    assert findings(opsinfo, library.parent) == [], "the move is still in effect"
    assert opsinfo("move", library, "Log", "--to", "white").code == 0
    assert opsinfo("restore", library).code == 0
    assert library.read_text() == by_hand
    assert opsinfo("restore", library).code == 3
    assert library.read_text() == by_hand, "undoing the first move does not undo the manual edit"
    assert len(lineages(library)) == 2


def test_a_manual_edit_that_undid_a_move_is_reported_and_reapplied(opsinfo: Run, library: Path) -> None:
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    by_hand = library_text(Add="true", Log="true", Mul="true")
    library.write_text(by_hand)
    assert findings(opsinfo, library.parent) == [("edits-lost", str(library))]
    assert opsinfo("reapply").code == 0
    assert flags(library) == {"Add": "false", "Log": "true", "Mul": "true"}
    assert opsinfo("restore", library).code == 0
    assert library.read_text() == by_hand


def test_copying_the_vendors_old_file_back_loses_the_moves_without_an_upgrade(opsinfo: Run, library: Path) -> None:
    """The content is known: there is nothing to undo, and no move is reported as lost."""
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    library.write_text(OLD)
    assert opsinfo("restore", library).code == 2
    assert library.read_text() == OLD
    assert findings(opsinfo, library.parent) == []


def test_a_record_of_a_later_opsinfo_is_refused_and_never_ignored(opsinfo: Run, library: Path) -> None:
    """Unknown is not absent: otherwise `restore` would undo an older change."""
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    assert opsinfo("move", library, "Log", "--to", "white").code == 0
    record = Path(Vault(os.environ["OPSINFO_BACKUP_DIR"]).folder, "2", "record.json")
    record.write_text(json.dumps({**json.loads(record.read_text()), "later": 1}))
    after = library.read_text()
    ran = opsinfo("restore", library, "--format", "json")
    assert (ran.code, ran.json["error"]["name"]) == (3, "damaged-backup")
    assert library.read_text() == after
