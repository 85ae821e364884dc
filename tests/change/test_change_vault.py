"""The vault: private, content-addressed, and honest about what it holds."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.job import Job
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.prune import prune
from opsinfo_cli.change.reapply import lost_edits
from opsinfo_cli.change.record import Record
from opsinfo_cli.change.restore import Restored, restore_last, restore_to
from opsinfo_cli.change.vault import Vault, sha256_of, vault_path
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Refused, UsageFault
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.policy import Policy

TEXT = json.dumps({"Add": {"precision_reduce": {"flag": "true"}}, "Log": {}, "Mul": {}}, indent=4)
UPGRADED = json.dumps({"Add": {"precision_reduce": {"flag": "true"}}, "Log": {}, "Exp": {}}, indent=4)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "opp"


@pytest.fixture
def library(root: Path) -> Path:
    """A library in an install of a known version."""
    folder = root / "built-in/op_impl/ai_core/tbe/config/ascend910b"
    folder.mkdir(parents=True)
    (root / "version.info").write_text("version_dir=8.2.RC1\n")
    path = folder / "aic-ascend910b-ops-info.json"
    path.write_text(TEXT)
    return path


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(str(tmp_path / "vault"))


@pytest.fixture
def writer(vault: Vault) -> Writer:
    return Writer(vault)


def move(writer: Writer, op: str, to: str, *paths: Path) -> str | None:
    return writer.run("move", [Job(str(path), LibraryPlan({op: Policy(to)})) for path in paths]).change


def everywhere(_: str) -> bool:
    return True


def undo(writer: Writer, force: bool = False) -> list[Restored]:
    return restore_last(writer, everywhere, force, dry_run=False)[1]


def back_to(writer: Writer, which: str, force: bool = False) -> list[Restored]:
    return restore_to(writer, everywhere, which, force, dry_run=False)[1]


def upgrade(root: Path, library: Path) -> None:
    library.write_text(UPGRADED)
    (root / "version.info").write_text("version_dir=8.3.RC1\n")


def policies(path: Path) -> str:
    return " ".join(f"{name}={entry.policy}" for name, entry in Library.read(str(path)).entries.items())


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


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_folders_are_0700_and_files_0600_whatever_the_umask(
    writer: Writer, vault: Vault, library: Path, umask: int
) -> None:
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
def test_a_vault_of_somebody_else_is_refused(library: Path, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    os.chown(tmp_path / "vault", 1234, 1234)
    with pytest.raises(Refused) as caught:
        move(Writer(Vault(str(tmp_path / "vault"))), "Add", "black", library)
    assert caught.value.name == "vault-not-ours"
    assert library.read_text() == TEXT


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


def test_a_damaged_backup_is_mended_by_the_next_copy_of_the_same_content(vault: Vault) -> None:
    vault.prepare()
    digest = vault.keep(b"a")
    (Path(vault.path) / "objects" / digest).write_bytes(b"x")
    vault.keep(b"a")
    assert vault.content(digest) == b"a"


def test_a_record_comes_back_as_it_was_saved(vault: Vault) -> None:
    vault.prepare()
    record = Record.begin("move")
    record.command = ["opsinfo", "move", "a\udcff b", "\u4e2d"]
    vault.save(record)
    assert [each.to_json() for each in vault.records()] == [record.to_json()]
    found = vault.record(record.id)
    assert found is not None
    assert found.to_json() == record.to_json()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 1}', "null"])
def test_a_damaged_record_hides_no_other(writer: Writer, vault: Vault, library: Path, text: str) -> None:
    change = move(writer, "Add", "black", library)
    (Path(vault.path) / "changes" / "20200101T000000-abcdef").write_text(text)
    assert [record.id for record in vault.records()] == [change]


def test_changes_of_one_second_have_ids_of_their_own_and_keep_their_order(
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


def test_paths_have_lineages_of_their_own(writer: Writer, vault: Vault, library: Path) -> None:
    other = library.with_name("aic-ascend910b-ops-info-nn.json")
    other.write_text(TEXT)
    move(writer, "Add", "black", library, other)
    assert vault.journal().lineages(str(library))[0].id != vault.journal().lineages(str(other))[0].id


# restore


def test_changes_are_undone_one_after_the_other(writer: Writer, library: Path) -> None:
    texts = [library.read_text()]
    for op, to in (("Add", "black"), ("Log", "white"), ("Mul", "black")):
        move(writer, op, to, library)
        texts.append(library.read_text())
    for text in reversed(texts[:-1]):
        undo(writer)
        assert library.read_text() == text
    with pytest.raises(UsageFault) as caught:
        undo(writer)
    assert caught.value.name == "nothing-to-restore"


def test_after_an_undo_a_new_change_is_the_next_to_be_undone(writer: Writer, library: Path) -> None:
    move(writer, "Add", "black", library)
    first = library.read_text()
    move(writer, "Log", "white", library)
    undo(writer)
    move(writer, "Mul", "white", library)
    undo(writer)
    assert library.read_text() == first
    undo(writer)
    assert library.read_text() == TEXT


def test_a_change_of_several_files_is_undone_as_a_whole(writer: Writer, library: Path) -> None:
    other = library.with_name("aic-ascend910b-ops-info-nn.json")
    other.write_text(TEXT)
    change = move(writer, "Add", "black", library, other)
    only_one = restore_last(writer, lambda path: path == str(library), False, False)[1]
    assert sorted(each.path for each in only_one) == sorted([str(library), str(other)])
    assert {each.id for each in only_one} == {f"{change}.1", f"{change}.2"}
    assert library.read_text() == other.read_text() == TEXT


def test_what_another_hand_changed_since_is_not_lost(writer: Writer, library: Path) -> None:
    move(writer, "Add", "black", library)
    library.write_text(library.read_text() + "\n")
    with pytest.raises(Refused):
        undo(writer)
    assert library.read_text().endswith("\n")
    undo(writer, force=True)
    assert library.read_text() == TEXT


def test_a_change_of_one_file_under_a_later_one_is_refused_with_changed_since(
    writer: Writer, vault: Vault, library: Path
) -> None:
    other = library.with_name("aic-ascend910b-ops-info-nn.json")
    other.write_text(TEXT)
    move(writer, "Add", "black", library, other)
    move(writer, "Log", "black", library)
    before = library.read_text(), other.read_text()
    with pytest.raises(Refused) as caught:
        restore_last(writer, lambda path: path == str(other), False, False)
    assert caught.value.name == "changed-since"
    assert (library.read_text(), other.read_text()) == before


def test_a_file_of_another_lineage_is_refused_and_both_versions_named(
    writer: Writer, root: Path, library: Path
) -> None:
    move(writer, "Add", "black", library)
    upgrade(root, library)
    for attempt in (lambda: undo(writer), lambda: back_to(writer, "pristine")):
        with pytest.raises(Refused) as caught:
            attempt()
        assert caught.value.name == "other-lineage"
        assert "8.2.RC1" in caught.value.message
        assert "8.3.RC1" in caught.value.message
        assert library.read_text() == UPGRADED
    back_to(writer, "pristine", force=True)
    assert library.read_text() == TEXT


def test_the_pristine_copy_of_before_an_upgrade_is_refused_after_a_change_too(
    writer: Writer, root: Path, library: Path
) -> None:
    change = move(writer, "Add", "black", library)
    upgrade(root, library)
    move(writer, "Log", "black", library)
    with pytest.raises(Refused) as caught:
        back_to(writer, f"{change}.1")
    assert caught.value.name == "other-lineage"


def test_a_backup_is_put_back_by_its_id_and_by_its_changes_id(writer: Writer, library: Path) -> None:
    move(writer, "Add", "black", library)
    second = move(writer, "Log", "white", library)
    between = policies(library).replace("Log=white", "Log=gray")
    move(writer, "Mul", "white", library)
    assert [each.id for each in back_to(writer, f"{second}.1")] == [f"{second}.1"]
    assert policies(library) == between
    undo(writer)
    back_to(writer, str(second))
    assert policies(library) == between


@pytest.mark.parametrize("which", ["nonsense", "", "pristine.1"])
def test_an_unknown_backup_is_a_usage_fault(writer: Writer, library: Path, which: str) -> None:
    move(writer, "Add", "black", library)
    with pytest.raises(UsageFault):
        back_to(writer, which)


def test_a_restore_is_itself_backed_up(writer: Writer, vault: Vault, library: Path) -> None:
    move(writer, "Add", "black", library)
    after = library.read_bytes()
    undo(writer)
    assert vault.content(sha256_of(after)) == after


def test_a_dry_run_of_a_restore_writes_nothing(writer: Writer, vault: Vault, library: Path) -> None:
    change = move(writer, "Add", "black", library)
    now = library.read_text()
    _, shown = restore_last(writer, everywhere, False, dry_run=True)
    assert [each.path for each in shown] == [str(library)]
    restore_to(writer, everywhere, str(change), False, dry_run=True)
    assert library.read_text() == now
    assert len(vault.records()) == 1


def test_undoing_a_file_that_was_made_takes_it_away(writer: Writer, vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    writer.create(str(path), b"{}\n", "move", [])
    (restored,) = undo(writer)
    assert not path.exists()
    assert restored.sha256 is None
    assert vault.content(sha256_of(b"{}\n")) == b"{}\n"


def test_a_restore_out_of_scope_touches_nothing(writer: Writer, library: Path) -> None:
    move(writer, "Add", "black", library)
    with pytest.raises(UsageFault):
        restore_last(writer, lambda _: False, False, False)


# what a kill left behind


def killed(vault: Vault, change: str | None) -> Record:
    """Make a change look as if it had been killed before it could say that it was done."""
    record = vault.record(str(change))
    assert record is not None
    record.state = "pending"
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    record.pid = child
    vault.save(record)
    return record


def state(vault: Vault, record: Record) -> str:
    found = vault.record(record.id)
    assert found is not None
    return found.state


def test_a_killed_change_that_was_complete_is_settled_as_done(writer: Writer, vault: Vault, library: Path) -> None:
    said: list[str] = []
    record = killed(vault, move(writer, "Add", "black", library))
    writer.say = said.append
    move(writer, "Log", "black", library)
    assert state(vault, record) == "done"
    assert any(record.id in note for note in said)
    undo(writer)
    undo(writer)
    assert library.read_text() == TEXT


def test_a_killed_change_that_had_changed_nothing_is_settled_as_abandoned(
    writer: Writer, vault: Vault, library: Path
) -> None:
    record = killed(vault, move(writer, "Add", "black", library))
    library.write_text(TEXT)
    move(writer, "Log", "black", library)
    assert state(vault, record) == "abandoned"


@pytest.fixture
def half(writer: Writer, vault: Vault, library: Path) -> tuple[Record, Path]:
    """A change of two files, killed between them."""
    other = library.with_name("aic-ascend910b-ops-info-nn.json")
    other.write_text(TEXT)
    record = killed(vault, move(writer, "Add", "black", library, other))
    other.write_text(TEXT)
    return record, other


def test_a_half_change_stops_the_next_one_and_names_itself(
    writer: Writer, library: Path, half: tuple[Record, Path]
) -> None:
    now = library.read_text()
    with pytest.raises(Refused) as caught:
        move(writer, "Log", "black", library)
    assert caught.value.name == "unfinished-change"
    assert half[0].id in caught.value.message
    assert library.read_text() == now


def test_a_half_change_is_ended_by_restore(
    writer: Writer, vault: Vault, library: Path, half: tuple[Record, Path]
) -> None:
    record, other = half
    undo(writer)
    assert library.read_text() == other.read_text() == TEXT
    assert state(vault, record) == "undone"
    move(writer, "Log", "black", library, other)


def test_a_half_change_elsewhere_is_no_hindrance(writer: Writer, tmp_path: Path, half: tuple[Record, Path]) -> None:
    path = tmp_path / "x.json"
    path.write_text(TEXT)
    move(writer, "Log", "black", path)
    assert policies(path) == "Add=white Log=black Mul=gray"


def test_a_killed_change_can_be_undone_at_once(writer: Writer, vault: Vault, library: Path) -> None:
    record = killed(vault, move(writer, "Add", "black", library))
    undo(writer)
    assert library.read_text() == TEXT
    assert state(vault, record) == "undone"


# moves that an upgrade undid


def test_moves_that_an_upgrade_undid_are_found_again(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    first = move(writer, "Add", "black", library)
    second = move(writer, "Log", "white", library)
    third = move(writer, "Mul", "black", library)
    assert lost_edits(vault, everywhere) == []
    upgrade(root, library)
    (lost,) = lost_edits(vault, everywhere)
    assert lost.path == str(library)
    assert lost.wanted == {"Add": Policy.BLACK, "Log": Policy.WHITE}
    assert lost.gone == ("Mul",)
    assert set(lost.changes) == {first, second, third}
    (one,) = lost_edits(vault, everywhere, second)
    assert one.wanted == {"Log": Policy.WHITE}
    assert lost_edits(vault, lambda _: False) == []


def test_of_several_moves_of_one_op_type_the_last_counts(
    writer: Writer, vault: Vault, root: Path, library: Path
) -> None:
    move(writer, "Log", "white", library)
    move(writer, "Log", "black", library)
    upgrade(root, library)
    (lost,) = lost_edits(vault, everywhere)
    assert lost.wanted == {"Log": Policy.BLACK}


def test_an_undone_move_is_not_missed(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    move(writer, "Add", "black", library)
    move(writer, "Log", "black", library)
    undo(writer)
    upgrade(root, library)
    (lost,) = lost_edits(vault, everywhere)
    assert lost.wanted == {"Add": Policy.BLACK}


def test_moves_that_are_in_effect_after_the_upgrade_are_not_missed(
    writer: Writer, vault: Vault, root: Path, library: Path
) -> None:
    move(writer, "Add", "black", library)
    upgrade(root, library)
    library.write_text(UPGRADED.replace("true", "false"))
    assert lost_edits(vault, everywhere) == []


def test_reapplied_moves_are_not_lost_any_more(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    move(writer, "Add", "black", library)
    upgrade(root, library)
    (lost,) = lost_edits(vault, everywhere)
    writer.run("reapply", [Job(lost.path, LibraryPlan(lost.wanted))])
    assert policies(library) == "Add=black Log=gray Exp=gray"
    assert lost_edits(vault, everywhere) == []


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


def test_a_backup_that_is_there_already_is_confirmed_again(tmp_path: Path) -> None:
    """A run that was killed before its folder was synced may have left it."""

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
