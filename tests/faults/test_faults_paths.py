"""Planted links and forged vaults: nothing is written except to the file of the backup."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contract import STATUSES
from faults_support import CONFIG, NO_PROCESS, Unsynced, ended, everywhere, fork, jobs, lay, run_main, writer_on

from opsinfo_cli.change.restore import restore_last
from opsinfo_cli.change.sealed import sealed
from opsinfo_cli.change.vault import sha256_of
from opsinfo_cli.errors import OpsinfoError

Run = Callable[..., Any]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (path,) = lay(tmp_path / CONFIG, 1)
    return path


@pytest.fixture
def place(isolation: Path) -> Path:
    return isolation / "vault"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file that must not be touched."""
    path = tmp_path / "victim"
    path.write_text("mine\n")
    return path


# planted links


@pytest.mark.parametrize("where", ["config", "objects", "changes"])
def test_a_link_planted_at_a_temp_name_is_not_followed(library: Path, victim: Path, tmp_path: Path, where: str) -> None:
    """Even if an attacker guesses the name in time."""

    class Guessed(Unsynced):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            if flags & os.O_CREAT and f"/{where}/" in path:
                os.symlink(victim, path)
            return super().open(path, flags, mode)

    with pytest.raises(OpsinfoError):
        writer_on(tmp_path / "vault", Guessed()).run("move", jobs([library]))
    assert victim.read_text() == "mine\n"
    assert '"false"' not in library.read_text()
    writer_on(tmp_path / "vault").run("move", jobs([library]))
    assert '"false"' in library.read_text()
    assert victim.read_text() == "mine\n"


def test_a_link_planted_at_the_name_of_a_leftover_is_removed_and_not_followed(
    library: Path, victim: Path, tmp_path: Path
) -> None:
    planted = library.parent / f".opsinfo-{NO_PROCESS}-0123456789ab.tmp"
    planted.symlink_to(victim)
    writer_on(tmp_path / "vault").run("move", jobs([library]))
    assert not os.path.lexists(planted)
    assert victim.read_text() == "mine\n"


@pytest.mark.parametrize("kind", ["objects", "changes"])
def test_a_link_planted_at_a_name_in_the_vault_is_not_followed(
    library: Path, victim: Path, tmp_path: Path, kind: str
) -> None:
    place = tmp_path / "vault"
    writer = writer_on(place)
    if kind == "objects":
        writer.vault.prepare()
        planted = place / kind / sha256_of(library.read_bytes())
        planted.symlink_to(victim)
        writer.run("move", jobs([library]))
    else:
        change = writer.run("move", jobs([library])).change
        planted = place / kind / str(change)
        copy = tmp_path / "copy"
        copy.write_bytes(planted.read_bytes())
        planted.unlink()
        planted.symlink_to(copy)
        kept = copy.read_bytes()
        with pytest.raises(OpsinfoError) as caught:
            restore_last(writer, everywhere, force=False, dry_run=False)
        assert caught.value.name == "damaged-backup"
        assert copy.read_bytes() == kept
        return
    assert not planted.is_symlink()
    assert victim.read_text() == "mine\n"


def test_a_vault_folder_that_links_to_another_users_folder_is_refused(library: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give folders away")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, 1234, 1234)
    (tmp_path / "vault").symlink_to(theirs)
    before = library.read_bytes()
    with pytest.raises(OpsinfoError) as caught:
        writer_on(tmp_path / "vault").run("move", jobs([library]))
    assert caught.value.name == "vault-not-ours"
    assert os.listdir(theirs) == []
    assert library.read_bytes() == before


def test_a_library_replaced_by_a_link_does_not_change_the_links_target(library: Path, tmp_path: Path) -> None:
    """The backup is of this path; the target of a planted link is not."""
    writer = writer_on(tmp_path / "vault")
    writer.run("move", jobs([library]))
    elsewhere = tmp_path / "elsewhere.json"
    library.rename(elsewhere)
    library.symlink_to(elsewhere)
    kept = elsewhere.read_bytes()
    try:
        restore_last(writer, everywhere, force=False, dry_run=False)
    except OpsinfoError:
        assert library.is_symlink()
    assert elsewhere.read_bytes() == kept


# a forged vault


def altered(place: Path, **changes: Any) -> Path:
    """The only record of a vault, with changed values."""
    (note,) = (place / "changes").iterdir()
    record = json.loads(note.read_text())
    for name, value in changes.items():
        if name in record:
            record[name] = value
        else:
            record["files"][0][name] = value
    reseal(note, record)
    return note


def reseal(note: Path, record: dict[str, Any]) -> None:
    """As an attacker who knows the format."""
    record.pop("checksum", None)
    note.write_bytes(sealed(record))


STATES = {"done": {"state": "done"}, "killed": {"state": "pending", "pid": NO_PROCESS}}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("words", [[], ["--to", "pristine"], ["--to", "ID"]], ids=["last", "pristine", "id"])
def test_a_record_whose_path_was_altered_writes_to_no_other_file(
    opsinfo: Run, library: Path, victim: Path, place: Path, state: str, words: list[str]
) -> None:
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    moved = library.read_bytes()
    note = altered(place, path=str(victim), **STATES[state])
    ran = opsinfo("restore", victim, *(note.name if word == "ID" else word for word in words))
    assert victim.read_text() == "mine\n"
    assert library.read_bytes() == moved
    assert ran.code in (2, 3)


@pytest.mark.parametrize("state", STATES)
def test_an_altered_record_writes_to_no_other_file_through_its_target(
    opsinfo: Run, victim: Path, place: Path, tmp_path: Path, state: str
) -> None:
    """A change of two files, one of which was altered: restoring the one does not write the other."""
    paths = lay(tmp_path / CONFIG, 2)
    mixlist = tmp_path / "mixlist.json"
    mixlist.write_text('{"black-list": {"to-add": ["Mul0", "Mul1"]}}')
    assert opsinfo("apply", tmp_path / CONFIG, mixlist).code == 0
    (note,) = (place / "changes").iterdir()
    record = json.loads(note.read_text())
    record["files"][1]["path"] = str(victim)
    reseal(note, {**record, **STATES[state]})
    opsinfo("restore", paths[0])
    assert victim.read_text() == "mine\n"
    opsinfo("move", paths[0], "Log", "--to", "white")
    assert victim.read_text() == "mine\n"


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("act", ["restore", "move", "doctor"])
def test_a_record_whose_id_was_altered_is_saved_nowhere_else(
    opsinfo: Run, library: Path, victim: Path, place: Path, state: str, act: str
) -> None:
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    altered(place, id=str(victim), **STATES[state])
    words = {"move": ("move", library, "Log", "--to", "black"), "doctor": ("doctor", library.parent)}
    opsinfo(*words.get(act, ("restore", library)))
    assert victim.read_text() == "mine\n"


@pytest.mark.parametrize("outside", ["absolute", "relative"])
def test_a_record_whose_backup_is_outside_the_vault_restores_nothing(
    opsinfo: Run, library: Path, victim: Path, place: Path, outside: str
) -> None:
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    moved = library.read_bytes()
    altered(place, before=str(victim) if outside == "absolute" else os.path.relpath(victim, place / "objects"))
    assert opsinfo("restore", library).code in (2, 3)
    assert library.read_bytes() == moved
    opsinfo("backups", "--prune", "1")
    assert victim.read_text() == "mine\n"


@pytest.mark.parametrize("act", ["restore", "move", "doctor"])
def test_a_record_with_another_folder_does_not_change_its_mode(
    opsinfo: Run, library: Path, place: Path, tmp_path: Path, act: str
) -> None:
    assert opsinfo("move", library, "Add", "--to", "black").code == 0
    other = tmp_path / "other"
    other.mkdir()
    other.chmod(0o755)
    altered(place, folders=[{"path": str(other), "mode": 0o055}], **STATES["killed"])
    words = {"move": ("move", library, "Log", "--to", "black"), "doctor": ("doctor", library.parent)}
    opsinfo(*words.get(act, ("restore", library)))
    assert stat.S_IMODE(other.stat().st_mode) == 0o755


NONSENSE = {
    "a path that is a number": {"path": 5},
    "a path that is null": {"path": None},
    "a hash that is a list": {"before": [1]},
    "moves that are a list": {"moves": [1, 2]},
    "an unknown policy": {"moves": {"Add": ["white", "purple"]}},
    "a single policy": {"moves": {"Add": ["white"]}},
    "a pid that is a string": {"state": "pending", "pid": "x"},
    "a pid that is huge": {"state": "pending", "pid": 2**70},
    "a pid that means everybody": {"state": "pending", "pid": -1},
    "a folder without a mode": {"folders": [{"path": "/"}], "state": "pending"},
    "a mode that is a string": {"folders": [{"path": "/", "mode": "x"}], "state": "pending", "pid": NO_PROCESS},
    "a command of numbers": {"command": [1]},
    "files that are a number": {"files": 7},
    "a NUL in the path": {"path": "a\0b"},
    "an id that is a number": {"id": 7},
    "an unknown state": {"state": "sleeping"},
}


@pytest.mark.parametrize("what", NONSENSE)
def test_a_nonsensical_record_crashes_nothing_and_writes_nothing(
    library: Path, place: Path, tmp_path: Path, what: str
) -> None:
    writer_on(place).run("move", jobs([library]))
    moved = library.read_bytes()
    altered(place, **NONSENSE[what])
    for words in (("backups",), ("doctor", library.parent), ("reapply", "--dry-run"), ("restore", library, "-n")):
        status, output = in_a_child(tmp_path, *words)
        assert "internal error" not in output, (words, output)
        assert status in STATUSES
    assert library.read_bytes() == moved
    status, output = in_a_child(tmp_path, "move", library, "Log", "--to", "white")
    assert "internal error" not in output
    assert status in (0, 3)


def in_a_child(tmp_path: Path, *words: str | Path) -> tuple[int, str]:
    """Run the program in this process; return its status and output."""

    def act() -> int:
        tempfile.tempdir = str(tmp_path)  # the place of a trace
        return run_main([*map(str, words)], os.open(tmp_path / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC))

    return ended(fork(act)), (tmp_path / "output").read_text()


# the vault is private


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o750], ids=oct)
def test_a_vault_that_others_can_enter_is_made_private_or_refused(
    library: Path, place: Path, opsinfo: Run, mode: int
) -> None:
    place.mkdir()
    place.chmod(mode)
    ran = opsinfo("move", library, "Add", "--to", "black")
    assert ran.code == 3 or stat.S_IMODE(place.stat().st_mode) == 0o700


def test_every_file_of_a_vault_is_private_after_many_changes(opsinfo: Run, library: Path, place: Path) -> None:
    before = os.umask(0)
    try:
        for words in (
            ("move", library, "Add", "--to", "black"),
            ("move", library, "Log", "--to", "white"),
            ("restore", library),
            ("restore", library, "--to", "pristine"),
            ("backups", "--prune", "1"),
        ):
            assert opsinfo(*words).code == 0
    finally:
        os.umask(before)
    for folder, _, files in os.walk(place):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        assert {stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) for name in files} <= {0o600}
