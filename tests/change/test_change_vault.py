"""The vault: private, content-addressed, checked by checksums."""

# ruff: noqa: F401, F811 - fixtures are imported by name

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from vault_support import TEXT, UPGRADED, back_to, everywhere, library, move, root, undo, upgrade, vault, writer

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.job import Job
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.prune import prune
from opsinfo_cli.change.reapply import lost_edits
from opsinfo_cli.change.record import Record
from opsinfo_cli.change.restore import Restored, restore_last, restore_to
from opsinfo_cli.change.vault import Vault, sha256_of, vault_path
from opsinfo_cli.change.vault_folders import make_folders
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Refused, UsageFault
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.policy import Policy

# the place


def test_the_place_is_the_option_then_the_variable_then_the_state_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {"OPSINFO_BACKUP_DIR": "/b", "XDG_STATE_HOME": "/s", "HOME": "/h"}
    assert vault_path("/a", environ) == "/a"
    assert vault_path(None, environ) == "/b"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert vault_path(None, {"XDG_STATE_HOME": "/s", "HOME": "/h"}) == "/s/opsinfo"
    assert vault_path(None, {"HOME": "/h"}) == "/h/.local/state/opsinfo"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert vault_path(None, {"XDG_STATE_HOME": "/s", "HOME": "/h"}) == "/var/lib/opsinfo"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077], ids=oct)
def test_folders_are_0700_and_files_0600_for_any_umask(writer: Writer, vault: Vault, library: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        move(writer, "Add", "black", library)
    finally:
        os.umask(before)
    for folder, folders, files in os.walk(vault.path):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        for name in files:
            assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600
        assert folders or files


@pytest.mark.parametrize("inside", ["", "vault", "a/b", "../vault"])
def test_a_vault_in_a_config_directory_is_refused(library: Path, inside: str) -> None:
    place = library.parent / inside
    with pytest.raises(Refused) as caught:
        move(Writer(Vault(str(place))), "Add", "black", library)
    assert caught.value.name == "vault-in-store"
    assert library.read_text() == TEXT
    assert os.listdir(library.parent) == [library.name]


def test_a_link_into_a_config_directory_is_refused_too(library: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(library.parent)
    with pytest.raises(Refused) as caught:
        move(Writer(Vault(str(tmp_path / "link" / "v"))), "Add", "black", library)
    assert caught.value.name == "vault-in-store"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_a_vault_of_another_user_is_refused(library: Path, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    os.chown(tmp_path / "vault", 1234, 1234)
    with pytest.raises(Refused) as caught:
        move(Writer(Vault(str(tmp_path / "vault"))), "Add", "black", library)
    assert caught.value.name == "vault-not-ours"
    assert library.read_text() == TEXT


def test_folders_are_created_if_the_system_shows_none_of_those_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "isdir", lambda _: False)
    make_folders(FileSystem(), str(tmp_path / "a" / "vault"))
    assert {each.name for each in (tmp_path / "a" / "vault").iterdir()} == {"objects", "changes"}


def test_a_planted_folder_link_inside_the_vault_is_refused(library: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "vault").mkdir(mode=0o700)
    (tmp_path / "vault/objects").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused):
        move(Writer(Vault(str(tmp_path / "vault"))), "Add", "black", library)
    assert library.read_text() == TEXT
    assert os.listdir(tmp_path / "elsewhere") == []


def test_reading_an_empty_vault_makes_nothing(vault: Vault) -> None:
    assert vault.records() == []
    assert vault.objects() == []
    assert vault.record("x") is None
    assert not os.path.exists(vault.path)


# contents


def test_a_content_is_kept_once_under_its_hash(vault: Vault) -> None:
    vault.prepare()
    assert vault.keep(b"a") == vault.keep(b"a") == sha256_of(b"a")
    assert vault.objects() == [sha256_of(b"a")]
    assert vault.content(sha256_of(b"a")) == b"a"


def test_a_planted_link_at_an_object_is_replaced_and_never_followed(vault: Vault, tmp_path: Path) -> None:
    vault.prepare()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path = Path(vault.path) / "objects" / sha256_of(b"a")
    path.symlink_to(victim)
    vault.keep(b"a")
    assert victim.read_text() == "mine"
    assert not path.is_symlink()
    assert vault.content(sha256_of(b"a")) == b"a"


@pytest.mark.parametrize("damage", [b"", b"b", None])
def test_a_damaged_or_missing_backup_is_refused_by_its_checksum(
    writer: Writer, vault: Vault, library: Path, damage: bytes | None
) -> None:
    move(writer, "Add", "black", library)
    now = library.read_text()
    path = Path(vault.path) / "objects" / sha256_of(TEXT.encode())
    path.unlink() if damage is None else path.write_bytes(damage)
    for attempt in (lambda: undo(writer), lambda: back_to(writer, "pristine")):
        with pytest.raises(Refused) as caught:
            attempt()
        assert caught.value.name == "damaged-backup"
        assert library.read_text() == now


def test_a_damaged_backup_is_replaced_by_the_next_copy_of_the_same_content(vault: Vault) -> None:
    vault.prepare()
    digest = vault.keep(b"a")
    (Path(vault.path) / "objects" / digest).write_bytes(b"x")
    vault.keep(b"a")
    assert vault.content(digest) == b"a"


def test_a_record_is_read_as_it_was_saved(vault: Vault) -> None:
    vault.prepare()
    record = Record.begin("move")
    record.command = ["opsinfo", "move", "a\udcff b", "\u4e2d"]
    vault.save(record)
    assert [each.to_json() for each in vault.records()] == [record.to_json()]
    found = vault.record(record.id)
    assert found is not None
    assert found.to_json() == record.to_json()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"id": 1}', "null"], ids=["empty", "cut off", "not an object", "keys missing", "null"]
)
def test_a_damaged_record_hides_no_other(writer: Writer, vault: Vault, library: Path, text: str) -> None:
    change = move(writer, "Add", "black", library)
    (Path(vault.path) / "changes" / "20200101T000000-abcdef").write_text(text)
    assert [record.id for record in vault.records()] == [change]


def test_changes_of_one_second_have_distinct_ids_and_keep_their_order(
    writer: Writer, vault: Vault, library: Path
) -> None:
    changes = [move(writer, op, to, library) for to in ("black", "white") for op in ("Log", "Mul", "Add")]
    assert len(set(changes)) == len(changes)
    assert [record.id for record in vault.records()] == changes


# lineages


def test_the_pristine_copy_is_the_first_one_seen(writer: Writer, vault: Vault, library: Path) -> None:
    move(writer, "Add", "black", library)
    move(writer, "Log", "white", library)
    (lineage,) = vault.journal().lineages(str(library))
    assert lineage.pristine == sha256_of(TEXT.encode())
    assert lineage.version == "8.2.RC1"
    back_to(writer, "pristine")
    assert library.read_text() == TEXT


def test_an_upgrade_begins_a_new_lineage(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    move(writer, "Add", "black", library)
    upgrade(root, library)
    move(writer, "Log", "black", library)
    first, second = vault.journal().lineages(str(library))
    assert first.id != second.id
    assert (second.pristine, second.version) == (sha256_of(UPGRADED.encode()), "8.3.RC1")
    back_to(writer, "pristine")
    assert library.read_text() == UPGRADED


def test_a_restore_stays_in_its_lineage(writer: Writer, vault: Vault, library: Path) -> None:
    move(writer, "Add", "black", library)
    undo(writer)
    move(writer, "Log", "black", library)
    assert len(vault.journal().lineages(str(library))) == 1


def test_each_path_has_its_own_lineages(writer: Writer, vault: Vault, library: Path) -> None:
    other = library.with_name("aic-ascend910b-ops-info-nn.json")
    other.write_text(TEXT)
    move(writer, "Add", "black", library, other)
    assert vault.journal().lineages(str(library))[0].id != vault.journal().lineages(str(other))[0].id


# prune


def test_pruning_keeps_the_pristine_copy_and_the_newest(writer: Writer, vault: Vault, library: Path) -> None:
    contents = [library.read_bytes()]
    for op, to in (("Add", "black"), ("Log", "black"), ("Mul", "black"), ("Log", "white")):
        move(writer, op, to, library)
        contents.append(library.read_bytes())
    backups = [sha256_of(content) for content in contents[:-1]]
    assert sorted(vault.objects()) == sorted(backups)
    shown = prune(vault, everywhere, keep=1, dry_run=True)
    assert sorted(vault.objects()) == sorted(backups)
    assert prune(vault, everywhere, keep=1, dry_run=False) == shown
    assert len(shown) == 2
    assert sorted(vault.objects()) == sorted([backups[0], backups[-1]])
    undo(writer)
    assert library.read_bytes() == contents[-2]
    back_to(writer, "pristine")
    assert library.read_bytes() == contents[0]


def test_pruning_keeps_every_lineages_pristine_copy(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    move(writer, "Add", "black", library)
    move(writer, "Log", "black", library)
    upgrade(root, library)
    for op, to in (("Add", "black"), ("Log", "black"), ("Exp", "white")):
        move(writer, op, to, library)
    prune(vault, everywhere, keep=1, dry_run=False)
    assert {sha256_of(TEXT.encode()), sha256_of(UPGRADED.encode())} <= set(vault.objects())


def test_pruning_one_path_leaves_the_others(writer: Writer, vault: Vault, library: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(TEXT.replace("Mul", "Exp"))
    for op, to in (("Add", "black"), ("Log", "black"), ("Add", "gray")):
        move(writer, op, to, library)
        move(writer, op, to, other)
    held = {record.files[0].before for record in vault.records() if record.files[0].path == str(other)}
    prune(vault, lambda path: path == str(library), keep=1, dry_run=False)
    assert held <= set(vault.objects())


def test_pruning_twice_drops_nothing_the_second_time(writer: Writer, vault: Vault, library: Path) -> None:
    for op, to in (("Add", "black"), ("Log", "black"), ("Add", "gray"), ("Mul", "black")):
        move(writer, op, to, library)
    assert prune(vault, everywhere, keep=1, dry_run=False)
    assert prune(vault, everywhere, keep=1, dry_run=False) == []


def test_an_existing_backup_is_confirmed_again(tmp_path: Path) -> None:
    """It may be from a run that was killed before the folder was synced."""

    class Recording(FileSystem):
        synced: list[str] = []  # noqa: RUF012

        def fsync(self, descriptor: int) -> None:
            self.synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
            super().fsync(descriptor)

    vault = Vault(str(tmp_path / "vault"), Recording())
    vault.prepare()
    vault.keep(b"{}")
    Recording.synced.clear()
    vault.keep(b"{}")
    assert Recording.synced == [str(tmp_path / "vault" / "objects")]
