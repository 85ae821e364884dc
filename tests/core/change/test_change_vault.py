"""The vault: private, ordered by numbers, readable by a person, checked by checksums, pruned without a loss."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import stat
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from change_support import (
    NEW,
    ROOT_ONLY,
    TEXT,
    UPGRADED,
    back_to,
    create,
    everywhere,
    killed,
    move,
    once,
    records,
    run,
    undo,
    upgrade,
)
from hypothesis import given
from hypothesis import strategies as st
from raising import raised

from opsinfo_cli.core.change import vault as vault_module
from opsinfo_cli.core.change import vault_place
from opsinfo_cli.core.change.closed_folders import Widened
from opsinfo_cli.core.change.reapply import lost_edits
from opsinfo_cli.core.change.record import ChangedFile, Record, sealed, unsealed
from opsinfo_cli.core.change.replace_file import sha256_of
from opsinfo_cli.core.change.restore import restore_change
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.vault_place import machine_name, vault_path
from opsinfo_cli.core.change.writer import Writer
from opsinfo_cli.errors import Refused, UsageFault

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


def test_a_person_can_read_the_vault_and_copy_a_file_back(writer: Writer, vault: Vault, library: Path) -> None:
    move(writer, "Add", "black", library)
    folder = Path(vault.path) / machine_name() / "1"
    assert sorted(path.name for path in folder.iterdir()) == [f"1-{library.name}", "record.json"]
    assert (folder / f"1-{library.name}").read_text() == TEXT
    content = json.loads((folder / "record.json").read_text())
    assert (content["kind"], content["files"][0]["path"]) == ("move", str(library))


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
def test_a_vault_in_a_config_directory_is_refused(library: Path, tmp_path: Path, inside: str) -> None:
    (tmp_path / "link").symlink_to(library.parent)
    for place in (library.parent / inside, tmp_path / "link" / inside):
        assert raised(Refused, run, Vault(str(place)), library).name == "vault-in-store"
    assert library.read_text() == TEXT
    assert os.listdir(library.parent) == [library.name]


@ROOT_ONLY
@pytest.mark.parametrize("name", ["", machine_name()], ids=["vault", "machine"])
def test_a_vault_of_another_user_is_neither_written_nor_read(library: Path, vault: Vault, name: str) -> None:
    run(vault, library)
    os.chown(os.path.join(vault.path, name), 1234, 1234)
    for attempt in (lambda: run(vault, library, to="gray"), vault.history, lambda: vault.damage(contents=True)):
        assert raised(Refused, attempt).name == "vault-not-ours"
    assert library.read_text() == NEW


@pytest.mark.parametrize("name", ["", machine_name()], ids=["vault", "machine"])
def test_a_vault_that_others_may_enter_or_that_is_a_link_is_refused(library: Path, tmp_path: Path, name: str) -> None:
    place = tmp_path / "a vault"
    (place / name).mkdir(parents=True)
    place.chmod(0o700)
    (place / name).chmod(0o750)
    error = raised(Refused, run, Vault(str(place)), library)
    assert error.name == "vault-open"
    assert f"`chmod 700 '{place / name}'`" in str(error.hint)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    if name:
        (place / name).rmdir()
        (place / name).symlink_to(tmp_path / "elsewhere")
        with pytest.raises(Refused):
            run(Vault(str(place)), library)
    assert library.read_text() == TEXT
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_refused_vault_is_left_as_it_was(library: Path, tmp_path: Path) -> None:
    open_to_others, file = tmp_path / "open", tmp_path / "file"
    open_to_others.mkdir(mode=0o755)
    file.touch()
    assert raised(Refused, run, Vault(str(open_to_others)), library).name == "vault-open"
    assert list(open_to_others.iterdir()) == []
    error = raised(Refused, run, Vault(str(file)), library)
    assert (error.name, error.message) == ("vault-not-ours", "the vault's folder is not a directory")


def test_a_vault_where_modes_are_not_kept_is_refused_and_removed(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on exFAT, where each folder has the mode of the mount."""
    mkdir = os.mkdir

    def without_mode(path: str, mode: int = 0o777) -> None:
        mkdir(path, mode)
        os.chmod(path, 0o777)

    monkeypatch.setattr(os, "mkdir", without_mode)
    error = raised(Refused, run, Vault(str(tmp_path / "v")), library)
    assert (error.name, "does not keep modes" in str(error.hint)) == ("vault-open", True)
    assert not (tmp_path / "v").exists()


@ROOT_ONLY
def test_root_makes_nothing_in_the_vault_of_another_user(library: Path, tmp_path: Path) -> None:
    """A folder of root in it would keep its owner from using it."""
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, 1234, 1234)
    error = raised(Refused, run, Vault(str(theirs)), library)
    assert (error.name, error.message) == ("vault-not-ours", "the vault's folder belongs to user 1234")
    assert list(theirs.iterdir()) == []


def test_asking_whether_a_vault_is_in_use_changes_nothing(vault: Vault, library: Path) -> None:
    run(vault, library)
    temp = Path(vault.folder, ".opsinfo-1-abcdef.tmp")
    temp.touch()
    os.chmod(vault.path, 0o755)
    assert not vault.is_in_use()
    assert temp.exists()


def test_reading_an_empty_vault_makes_nothing(vault: Vault) -> None:
    assert (records(vault), vault.damage(contents=True), vault.older()) == ([], [], None)
    assert vault.prune(everywhere, 1, dry_run=True) == []
    assert not os.path.exists(vault.path)


def test_a_vault_of_an_earlier_version_is_left_alone_and_found(vault: Vault, library: Path) -> None:
    for name in ("objects", "changes", "heads"):
        os.makedirs(os.path.join(vault.path, name), 0o700)
    os.chmod(vault.path, 0o700)
    Path(vault.path, "changes", "20260101T000000-000000-abcd").write_text("{}")
    run(vault, library)
    assert (len(records(vault)), vault.damage(contents=True), vault.older()) == (1, [], vault.path)
    assert os.path.exists(os.path.join(vault.path, "changes", "20260101T000000-000000-abcd"))


def test_the_folders_are_synced_up_to_those_that_opsinfo_may_have_made(
    tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = []
    really = os.fsync
    monkeypatch.setattr(os, "fsync", lambda each: (synced.append(os.readlink(f"/proc/self/fd/{each}")), really(each)))
    vault = Vault(str(tmp_path / "a" / "b" / "vault"))
    run(vault, library)
    folders = [vault.folder, vault.path, str(tmp_path / "a" / "b"), str(tmp_path / "a"), str(tmp_path)]
    before = synced[: synced.index(str(library.parent))]
    assert [folder for folder in folders if folder in before] == folders


# machines, clocks


def test_each_machine_has_its_own_folder(
    vault: Vault, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine neither ends nor undoes the first one's changes, and its ids are other ones."""
    (tmp_path / "id").write_text("0123\n")
    run(vault, library)
    monkeypatch.setattr(vault_place, "MACHINE_IDS", (str(tmp_path / "id"),))
    second = Vault(vault.path)
    assert second.machine == "240d37a2" != vault.machine, "the folder of earlier versions"
    assert records(second) == []
    with pytest.raises(UsageFault):
        undo(Writer(second))
    run(second, library, op="Log")
    ids = [record.id for history in second.histories() for record in history.records]
    assert ids == [f"{vault.machine}-1", f"{second.machine}-1"]
    undo(Writer(second))
    assert library.read_text() == NEW
    back_to(Writer(second), f"{vault.machine}-1", force=True)
    assert library.read_text() == TEXT


def test_a_killed_change_of_another_machine_is_left_alone(
    vault: Vault, library: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = killed(vault, run(vault, library, other).change, folders=[Widened(str(library.parent), 0o755)])
    os.chmod(library.parent, 0o700)
    (tmp_path / "id").write_text("0123\n")
    monkeypatch.setattr(vault_place, "MACHINE_IDS", (str(tmp_path / "id"),))
    messages: list[str] = []
    Writer(Vault(vault.path), say=messages.append).run("move", [])
    run(Vault(vault.path), library, op="Log", say=messages.append)
    assert messages == []
    assert vault.history(first.machine).records == [first]


def test_without_a_machine_id_the_folder_has_a_fixed_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault_place, "MACHINE_IDS", (str(tmp_path / "none"),))
    assert machine_name() == "local"


def test_a_clock_that_goes_back_changes_no_order(
    writer: Writer, vault: Vault, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [library.read_text()]
    now = time.gmtime()
    for day, (op, to) in zip((3, 2, 1), (("Add", "black"), ("Log", "white"), ("Mul", "black")), strict=True):
        monkeypatch.setattr(time, "gmtime", lambda day=day: time.struct_time((2026, 1, day, *now[3:])))
        move(writer, op, to, library)
        texts.append(library.read_text())
    assert [record.time[:10] for record in records(vault)] == ["2026-01-03", "2026-01-02", "2026-01-01"]
    assert [record.number for record in records(vault)] == [1, 2, 3]
    undo(writer)
    assert library.read_text() == texts[2]
    back_to(writer, "pristine")
    assert library.read_text() == TEXT


# records

PATHS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1).map(lambda x: f"/{x}")


@given(PATHS, st.dictionaries(st.text(), st.just(["white", None])), st.lists(st.text()))
def test_a_record_is_read_as_it_was_written(path: str, moves: Any, command: list[str]) -> None:
    digest = sha256_of(b"")
    file = ChangedFile(path, os.fsdecode(b"/\xff"), digest, None, "m-1.1", None, moves, "1-x", 7)
    folders = [Widened(os.path.dirname(path), 0o550)]
    record = Record("local", 1, "move", command, "2026", "me", "done", [file], folders, "local-0", True)
    assert Record.of(unsealed(sealed(record.content))) == record


def test_a_record_with_an_unknown_field_is_damage(vault: Vault, library: Path) -> None:
    """Even with a checksum that matches: a later opsinfo may mean something by it."""
    run(vault, library)
    path = Path(vault.folder, "1", "record.json")
    content = json.loads(path.read_text())
    del content["sha256"]
    content["later"] = 1
    path.write_bytes(sealed(content))
    assert [list(damage.numbers) for damage in vault.damage(contents=False)] == [[1]]
    with pytest.raises(Refused):
        undo(Writer(vault))
    assert library.read_text() == NEW


# lineages


def test_an_upgrade_begins_a_new_lineage_and_an_old_content_returns_to_its_own(
    writer: Writer, vault: Vault, root: Path, library: Path, other: Path
) -> None:
    move(writer, "Add", "black", library, other)
    upgrade(root, library)
    move(writer, "Log", "black", library)
    library.write_text(TEXT)
    move(writer, "Mul", "white", library)
    lineages = [(entry.file.path, entry.file.lineage, entry.file.version) for entry in vault.history().entries]
    machine = machine_name()
    assert lineages == [
        (str(library), f"{machine}-1.1", "8.2.RC1"),
        (str(other), f"{machine}-1.2", "8.2.RC1"),
        (str(library), f"{machine}-2.1", "8.3.RC1"),
        (str(library), f"{machine}-1.1", "8.3.RC1"),
    ]
    assert vault.history().pristine_ids() == {f"{machine}-1.1", f"{machine}-1.2", f"{machine}-2.1"}
    back_to(writer, "pristine")
    assert library.read_text() == TEXT


def test_the_first_copy_of_a_file_that_opsinfo_made_is_that_text(writer: Writer, vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "aic-x-ops-info.json"
    create(writer, path, text=TEXT)
    with pytest.raises(UsageFault):
        back_to(writer, "pristine")
    for op, to in (("Add", "black"), ("Log", "black"), ("Mul", "black"), ("Log", "white")):
        move(writer, op, to, path)
    assert vault.prune(everywhere, 1, dry_run=False) == [f"{machine_name()}-{number}.1" for number in (3, 4)]
    back_to(writer, "pristine")
    assert path.read_text() == TEXT


# pruning


def test_pruning_keeps_first_copies_and_the_newest_and_says_what_went(
    writer: Writer, vault: Vault, root: Path, library: Path
) -> None:
    contents = []
    for op, to in (("Add", "black"), ("Log", "black"), ("Mul", "black")):
        contents.append(library.read_bytes())
        move(writer, op, to, library)
    upgrade(root, library)
    for op, to in (("Add", "black"), ("Log", "black"), ("Log", "white"), ("Exp", "black")):
        contents.append(library.read_bytes())
        move(writer, op, to, library)
    machine = machine_name()
    went = [f"{machine}-{number}.1" for number in (2, 3, 5, 6)]
    assert vault.prune(everywhere, 1, dry_run=True) == went
    assert all(vault.has(entry) for entry in vault.history().entries)
    assert vault.prune(lambda _: False, 1, dry_run=False) == []
    assert vault.prune(everywhere, 1, dry_run=False) == went
    assert vault.prune(everywhere, 1, dry_run=False) == []
    assert [entry.record.number for entry in vault.history().entries if vault.has(entry)] == [1, 4, 7]
    assert vault.damage(contents=True) == []
    undo(writer)
    assert library.read_bytes() == contents[-1]
    assert raised(Refused, undo, writer).name == "pruned"
    back_to(writer, "pristine")
    assert library.read_text() == UPGRADED
    assert move(writer, "Add", "black", library) == f"{machine}-10"


def test_pruning_keeps_a_change_that_holds_a_kept_backup_and_one_that_is_not_finished(
    writer: Writer, vault: Vault, library: Path, other: Path
) -> None:
    move(writer, "Log", "black", library)
    move(writer, "Add", "black", library, other)
    pending = move(writer, "Mul", "black", library)
    move(writer, "Log", "white", library)
    move(writer, "Log", "gray", library)
    killed(vault, pending)
    went = vault.prune(everywhere, 1, dry_run=False)
    assert went == [f"{machine_name()}-4.1"]


def test_a_pruned_change_leaves_its_record(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    moved = {"Log": "black", "Mul": "white", "Add": "gray"}
    for op, to in (("Add", "black"), *moved.items(), ("Log", "white")):
        if (op, to) == ("Mul", "white"):
            between = library.read_text()
        move(writer, op, to, library)
    known = vault.history().records
    assert len(vault.prune(everywhere, 1, dry_run=False)) == 3
    assert sorted(os.listdir(vault.folder)) == ["1", "5", "pruned.json"]
    assert [replace(record, pruned=False) for record in vault.history().records] == known
    assert [record.number for record in vault.history().records if record.pruned] == [2, 3, 4]
    library.write_text(between)  # a content of a pruned change is no vendor's
    assert move(writer, "Mul", "black", library) == f"{machine_name()}-6"
    assert {entry.file.lineage for entry in vault.history().entries} == {f"{machine_name()}-1.1"}
    upgrade(root, library)
    (lost,) = lost_edits(vault.history(), everywhere)
    assert ({op: str(to) for op, to in lost.wanted.items()}, lost.gone) == ({"Add": "gray", "Log": "white"}, ("Mul",))
    assert lost.changes == tuple(f"{machine_name()}-{number}" for number in (4, 5, 6))


def test_a_change_that_a_pruned_restore_undid_stays_undone(
    writer: Writer, vault: Vault, root: Path, library: Path
) -> None:
    """The first change stays, because its backup is the pristine one."""
    move(writer, "Add", "black", library)
    undo(writer)
    for to in ("black", "white", "gray"):
        move(writer, "Log", to, library)
    assert vault.prune(everywhere, 1, dry_run=False) == [f"{machine_name()}-{number}.1" for number in (2, 3, 4)]
    assert [entry.record.number for entry in vault.history().entries if vault.history().is_undone(entry)] == [1]
    upgrade(root, library)
    library.write_text(UPGRADED.replace("true", "false"))
    assert lost_edits(vault.history(), everywhere) == []


def test_a_change_whose_undo_was_undone_is_in_effect_when_both_are_pruned(
    writer: Writer, vault: Vault, library: Path
) -> None:
    move(writer, "Add", "black", library)
    undo(writer)
    match = re.fullmatch(r"(\w+)-(\d+)(\.\d+)?", str(records(vault)[-1].id))
    assert match is not None
    restore_change(writer, match)
    for to in ("black", "white", "gray"):
        move(writer, "Log", to, library)
    assert len(vault.prune(everywhere, 1, dry_run=False)) == 4
    assert [entry.record.number for entry in vault.history().entries if vault.history().is_undone(entry)] == [2]


def test_what_an_abandoned_change_wrote_is_no_content_and_an_abandoned_undo_undid_nothing(
    writer: Writer, vault: Vault, library: Path
) -> None:
    move(writer, "Add", "black", library)
    never = sha256_of(library.read_bytes())
    undo(writer)
    (first, undoing) = vault.history().records
    assert vault.history().is_undone(first.entries[0])
    vault.save(replace(undoing, state="abandoned"))
    assert not vault.history().is_undone(first.entries[0])
    vault.save(replace(first, state="abandoned"))
    assert vault.history().lineage_of(str(library), never) == f"{first.id}.1", "the undo read it"
    vault.save(replace(undoing, state="abandoned", files=[]))
    assert vault.history().lineage_of(str(library), never) is None


def test_a_pruned_change_is_not_passed_over_by_an_undo(writer: Writer, vault: Vault, library: Path) -> None:
    """After the third change the file is as after the first one: undoing that one would lose the second and third."""
    move(writer, "Add", "black", library)
    move(writer, "Log", "black", library)
    move(writer, "Log", "gray", library)
    assert library.read_text() == NEW
    move(writer, "Mul", "black", library)
    undo(writer)
    assert vault.prune(everywhere, 1, dry_run=False) == [f"{machine_name()}-{number}.1" for number in (2, 3, 4)]
    for force in (False, True):
        assert raised(Refused, undo, writer, force=force).name == "pruned"
    assert library.read_text() == NEW
    assert raised(Refused, back_to, writer, "2").name == "pruned"
    back_to(writer, "pristine")
    assert library.read_text() == TEXT


def test_damage_to_what_is_known_of_pruned_changes_is_reported_once(
    writer: Writer, vault: Vault, library: Path
) -> None:
    for to in ("black", "white", "gray", "black"):
        move(writer, "Add", to, library)
    vault.prune(everywhere, 1, dry_run=False)
    path = Path(vault.folder, "pruned.json")
    sound = path.read_bytes()
    path.write_bytes(sound.replace(b'"gray"', b'"blue"'))
    assert [(each.path, list(each.numbers)) for each in vault.damage(contents=False)] == [(str(path), [1, 2, 3])]
    for attempt in (lambda: back_to(writer, "3"), lambda: vault.prune(everywhere, 1, dry_run=False)):
        assert raised(Refused, attempt).name == "damaged-backup"
    path.unlink()
    assert [each.message for each in vault.damage(contents=False)] == ["changes 2 to 3 are missing"]
    for plant in (path.mkdir, lambda: (path.rmdir(), path.symlink_to("/etc/passwd"))):
        plant()
        assert [each.path for each in vault.damage(contents=False)] == [str(path)]
    path.unlink()
    path.write_bytes(sound)
    assert vault.damage(contents=True) == []


@pytest.mark.parametrize("moment", ["after the names", "before a record", "before the backups"])
def test_a_prune_while_the_vault_is_read_is_no_damage(
    writer: Writer, vault: Vault, library: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever only reads holds no lock."""
    for to in ("black", "white", "gray", "black"):
        move(writer, "Add", to, library)

    def prune() -> None:
        Vault(vault.path).prune(everywhere, 1, dry_run=False)

    if moment == "before the backups":
        histories = vault.histories()
        prune()
        assert vault.damage(True, histories) == []
        assert raised(Refused, vault.content, histories[0].entries[1]).name == "pruned"
        return
    if moment == "after the names":
        monkeypatch.setattr(vault, "_read", once(prune, vault._read))
    else:
        monkeypatch.setattr(Record, "of", once(prune, Record.of))
    history = vault.history()
    assert (history.damage, [record.number for record in history.records if not record.pruned]) == ([], [1, 4])


def test_a_killed_prune_is_no_damage_and_the_next_one_ends_it(
    writer: Writer, vault: Vault, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for op, to in (("Add", "black"), ("Log", "black"), ("Mul", "black")):
        move(writer, op, to, library)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            vault.prune(everywhere, 1, dry_run=False)
    assert vault.damage(contents=True) == []
    assert [record.number for record in records(vault) if not record.pruned] == [1, 3]
    assert sorted(os.listdir(vault.folder)) == ["1", "2", "3", "pruned.json"]
    assert vault.prune(everywhere, 1, dry_run=False) == [f"{machine_name()}-2.1"]
    assert sorted(os.listdir(vault.folder)) == ["1", "3", "pruned.json"]


def test_the_newest_change_stays_so_that_its_number_is_known_beside_damage(
    writer: Writer, vault: Vault, tmp_path: Path
) -> None:
    path = tmp_path / "m.json"
    create(writer, path)
    undo(writer)
    create(writer, path)  # without a backup, in a lineage that is known
    vault.prune(everywhere, 1, dry_run=False)
    assert [record.number for record in records(vault) if not record.pruned][-1] == 3


# damage


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def zero(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data))
    end = chance.randrange(start, len(data)) + 1
    data[start:end] = bytes(end - start)
    path.write_bytes(data)


def delete(path: Path, _: random.Random) -> None:
    path.unlink()


def swap(path: Path, chance: random.Random) -> None:
    """With the same file of another change, or a file of the same one."""
    others = [each for each in (*path.parent.iterdir(), *path.parent.parent.glob(f"*/{path.name}")) if each != path]
    theirs = chance.choice(sorted(others))
    mine, data = path.read_bytes(), theirs.read_bytes()
    path.write_bytes(data)
    theirs.write_bytes(mine)


def delete_change(path: Path, _: random.Random) -> None:
    shutil.rmtree(path.parent)


def swap_changes(path: Path, chance: random.Random) -> None:
    theirs = chance.choice([each for each in sorted(path.parent.parent.glob("[0-9]*")) if each != path.parent])
    path.parent.rename(f"{theirs}.x")
    theirs.rename(path.parent)
    Path(f"{theirs}.x").rename(theirs)


DAMAGES = [flip, cut, zero, delete, swap, delete_change, swap_changes]


def contents_of(top: str) -> dict[str, bytes | None]:
    """Folders, with None, and files by their paths, a folder before what it holds."""
    contents: dict[str, bytes | None] = {top: None}
    for entry in sorted(os.scandir(top), key=lambda entry: entry.name):
        contents |= contents_of(entry.path) if entry.is_dir() else {entry.path: Path(entry.path).read_bytes()}
    return contents


def lay(top: str, contents: dict[str, bytes | None]) -> None:
    """Write only what differs, which takes half the time."""
    present = contents_of(top)
    for path in reversed([each for each in present if each not in contents]):
        os.rmdir(path) if present[path] is None else os.unlink(path)
    for path, data in contents.items():
        if data is not None and present.get(path) != data:
            Path(path).write_bytes(data)
        elif path not in present:
            os.mkdir(path, 0o700)


@pytest.mark.parametrize("count", [70, pytest.param(800, marks=pytest.mark.heavy)], ids=["some", "many"])
def test_every_damage_is_reported_and_nothing_wrong_is_restored(
    vault: Vault, library: Path, other: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # thousands of changes, and none of them about durability
    writer = Writer(vault, wait=0)
    texts = {path: path.read_text() for path in (library, other)}
    for to in ("black", "gray"):
        move(writer, "Mul", to, library)
    move(writer, "Log", "black", library)
    move(writer, "Add", "black", library, other)
    before_last = {path: path.read_text() for path in (library, other)}
    move(writer, "Log", "white", other)
    undo(writer)
    move(writer, "Log", "white", library)
    now = {path: path.read_text() for path in (library, other)}
    assert vault.prune(everywhere, 3, dry_run=False) == [f"{machine_name()}-2.1"]
    sound = contents_of(vault.path)
    files = [Path(path) for path, data in sound.items() if data is not None]
    monkeypatch.setattr(vault_module, "unsealed", cache(unsealed))  # of six records in all but one damage
    acts: list[tuple[Callable[[], object], dict[Path, str]]] = [
        (lambda: undo(writer), before_last),
        (lambda: back_to(writer, "pristine"), texts),
    ]
    wrong = []
    seen = {frozenset(sound.items())}
    for seed in range(count):
        chance = random.Random(seed)
        lay(vault.path, sound)
        path = chance.choice(files)
        how = chance.choice(DAMAGES if path.name != "pruned.json" else DAMAGES[:4])
        how(path, chance)
        what = f"seed {seed}: {how.__name__} {path.relative_to(vault.path)}"
        newest = how is delete_change and path.parent.name == "7"  # as if the vault were reset as a whole
        damaged = contents_of(vault.path)
        if (state := frozenset(damaged.items())) in seen:
            continue
        seen.add(state)
        if not newest and not vault.damage(contents=True):
            wrong.append(f"{what}: not reported")
        for act, right in acts:
            try:
                act()
            except Refused:
                after = now
            except UsageFault as error:
                wrong.append(f"{what}: {error.message}")
                after = now
            else:
                after = right
            if {each: each.read_text() for each in now} != after:
                wrong.append(f"{what}: wrong bytes")
            for each, text in now.items():
                each.write_text(text)
            lay(vault.path, damaged)
    assert not wrong, "\n".join(wrong)


def test_pristine_is_restored_beside_damage_only_if_the_present_content_is_known(
    writer: Writer, vault: Vault, library: Path
) -> None:
    """The damaged change may be the one that made a content that no other knows."""
    for op in ("Add", "Log", "Mul"):
        move(writer, op, "black", library)
    now = library.read_text()
    Path(vault.folder, "2", "record.json").write_text("{}")
    library.write_text(now + "\n")
    assert raised(Refused, back_to, writer, "pristine").name == "damaged-backup"
    library.write_text(now)
    back_to(writer, "pristine")
    assert library.read_text() == TEXT


@pytest.mark.parametrize("damaged", [1, 2, 3])
def test_a_change_after_damage_succeeds_and_the_damage_is_still_reported(
    writer: Writer, vault: Vault, library: Path, damaged: int
) -> None:
    for op, to in (("Add", "black"), ("Log", "black"), ("Mul", "black")):
        move(writer, op, to, library)
    before = library.read_text()
    Path(vault.folder, str(damaged), "record.json").write_text("{}")
    assert move(writer, "Log", "white", library) == f"{machine_name()}-4"
    assert [list(damage.numbers) for damage in vault.damage(contents=False)] == [[damaged]]
    undo(writer)
    assert library.read_text() == before
    assert raised(Refused, back_to, writer, str(damaged)).name == "damaged-backup"
    with pytest.raises(Refused):
        vault.prune(everywhere, 1, dry_run=False)


def test_a_damaged_or_missing_backup_is_refused_and_strange_files_are_reported(
    writer: Writer, vault: Vault, library: Path
) -> None:
    move(writer, "Add", "black", library)
    path = Path(vault.backup_path(vault.history().entries[0]))
    path.write_text("x")
    Path(vault.path, "strange").write_text("x")

    def is_refused(reason: str) -> None:
        for attempt in (lambda: undo(writer), lambda: back_to(writer, "pristine")):
            error = raised(Refused, attempt)
            assert (error.name, error.message) == ("damaged-backup", f"the backup {reason}")
        assert library.read_text() == NEW

    is_refused("is damaged: its checksum does not match")
    assert [Path(each.path).name for each in vault.damage(contents=True)] == [path.name, "strange"]
    path.unlink()
    assert [Path(each.path).name for each in vault.damage(contents=False)] == [path.name, "strange"]
    is_refused("is missing")
    path.mkdir()
    is_refused("cannot be read: Is a directory")


def test_a_link_planted_in_the_vault_is_not_followed(
    writer: Writer, vault: Vault, library: Path, tmp_path: Path
) -> None:
    move(writer, "Add", "black", library)
    victim = tmp_path / "victim"
    victim.write_text(TEXT)
    path = Path(vault.backup_path(vault.history().entries[0]))
    path.unlink()
    path.symlink_to(victim)
    assert vault.damage(contents=True)
    with pytest.raises(Refused):
        undo(writer)
    record = Path(vault.folder, "1", "record.json")
    record.rename(tmp_path / "record")
    record.symlink_to(tmp_path / "record")
    assert [list(damage.numbers) for damage in vault.damage(contents=True)] == [[1]]
    assert library.read_text() == NEW


@pytest.mark.parametrize("name", ["20261128", "999999999", "5000"])
def test_a_folder_named_as_a_number_that_no_change_has_is_damage_said_at_once(
    vault: Vault, library: Path, name: str
) -> None:
    first = run(vault, library)
    (Path(vault.folder) / name).mkdir()
    (damage,) = vault.history().damage
    assert (damage.path, damage.message) == (os.path.join(vault.folder, name), "not a file of a vault")
    assert not damage.numbers
    second = run(vault, library, op="Log", to="black")
    assert [str(first.change)[-2:], str(second.change)[-2:]] == ["-1", "-2"]


def test_a_hole_of_millions_of_changes_is_one_range(vault: Vault, library: Path) -> None:
    run(vault, library)
    far = replace(records(vault)[0], number=900_000_000)
    folder = Path(vault.folder) / "900000000"
    folder.mkdir()
    (folder / "record.json").write_bytes(sealed(far.content))
    (damage,) = vault.history().damage
    assert (damage.message, len(damage.numbers)) == ("changes 2 to 899999999 are missing", 899_999_998)
