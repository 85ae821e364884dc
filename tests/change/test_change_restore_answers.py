"""What a restore returns, records and refuses: each file, the change, missing files, a change that comes first."""

# ruff: noqa: F401, F811 - fixtures are imported by name

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from vault_support import TEXT, UPGRADED, back_to, everywhere, library, move, root, undo, upgrade, vault, writer
from writer_faults_support import Faulty

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.restore import Restored, restore_last, restore_to
from opsinfo_cli.change.vault import Vault, sha256_of
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Refused, UsageFault

FIRST = TEXT.encode()


def beside(library: Path) -> Path:
    other = library.with_name("aic-ascend910b-ops-info-nn.json")
    other.write_text(TEXT)
    return other


def killed(vault: Vault, change: str | None) -> None:
    """Make a change look as if its writer was killed before its end was recorded."""
    record = vault.record(str(change))
    assert record is not None
    record.state, record.pid = "pending", 2**22 + 7
    vault.save(record)


def files_of(vault: Vault, change: str | None) -> list[tuple[str, str]]:
    record = vault.record(str(change))
    assert record is not None
    return [(changed.path, changed.given) for changed in record.files]


# the answer and the record


def test_an_undo_returns_its_change_and_both_contents(writer: Writer, vault: Vault, library: Path) -> None:
    moved = move(writer, "Add", "black", library)
    after = library.read_bytes()
    wanted = [Restored(str(library), f"{moved}.1", sha256_of(FIRST), after, FIRST)]
    assert restore_last(writer, everywhere, False, dry_run=True) == (None, wanted)
    assert restore_to(writer, everywhere, str(moved), False, dry_run=True) == (None, wanted)
    undoing, restored = restore_last(writer, everywhere, False, dry_run=False)
    assert restored == wanted
    record = vault.record(str(undoing))
    assert record is not None
    assert (record.undoes, record.state) == (moved, "done")


@pytest.mark.parametrize("act", ["undo", "restore by id"])
def test_a_restore_records_the_path_of_the_change_as_given(
    writer: Writer, vault: Vault, library: Path, act: str
) -> None:
    link = library.parents[1] / "link.json"
    link.symlink_to(library)
    moved = move(writer, "Add", "black", link)
    made = (
        restore_last(writer, everywhere, False, dry_run=False)
        if act == "undo"
        else restore_to(writer, everywhere, f"{moved}.1", False, dry_run=False)
    )
    assert files_of(vault, moved) == files_of(vault, made[0]) == [(str(library), str(link))]
    assert library.read_bytes() == FIRST


def test_an_undo_of_what_another_program_put_back_only_closes_the_change(
    writer: Writer, vault: Vault, library: Path
) -> None:
    moved = move(writer, "Add", "black", library)
    library.write_text(TEXT)
    inode = library.stat().st_ino
    undoing, restored = restore_last(writer, everywhere, False, dry_run=False)
    assert (undoing, [each.sha256 for each in restored]) == (None, [sha256_of(FIRST)])
    assert library.stat().st_ino == inode
    assert [(record.id, record.state) for record in vault.records()] == [(moved, "undone")]


def test_the_end_of_a_half_change_records_only_the_files_it_replaced(
    writer: Writer, vault: Vault, library: Path
) -> None:
    other = beside(library)
    killed(vault, move(writer, "Add", "black", library, other))
    other.write_text(TEXT)
    ended, restored = restore_last(writer, everywhere, False, dry_run=False)
    assert sorted(each.path for each in restored) == sorted([str(library), str(other)])
    assert [path for path, _ in files_of(vault, ended)] == [str(library)]


def test_a_content_that_the_file_has_already_is_not_written(writer: Writer, vault: Vault, library: Path) -> None:
    moved = move(writer, "Add", "black", library)
    back_to(writer, "pristine")
    before = len(vault.records())
    for which in ("pristine", str(moved)):
        change, (restored,) = restore_to(writer, everywhere, which, False, dry_run=False)
        assert (change, restored.current, restored.content) == (None, FIRST, FIRST)
    assert len(vault.records()) == before


@pytest.mark.parametrize("which", ["id", "pristine"])
def test_only_the_files_in_scope_are_restored(writer: Writer, library: Path, which: str) -> None:
    other = beside(library)
    moved = move(writer, "Add", "black", library, other)
    after = library.read_text()
    which = str(moved) if which == "id" else which
    made, restored = restore_to(writer, lambda path: path == str(other), which, False, dry_run=False)
    assert made is not None
    assert [each.path for each in restored] == [str(other)]
    assert (library.read_text(), other.read_text()) == (after, TEXT)


def test_a_file_that_a_change_created_has_no_earlier_content(writer: Writer, tmp_path: Path) -> None:
    created = writer.create(str(tmp_path / "m.json"), b"{}\n", "move", [])
    for which in (created, f"{created}.1", "pristine"):
        with pytest.raises(UsageFault) as caught:
            back_to(writer, which)
        assert caught.value.name == "no-backup"
    assert (tmp_path / "m.json").read_text() == "{}\n"


# missing files


def test_an_undo_of_a_missing_file_is_refused_and_its_content_restored_by_id(
    writer: Writer, vault: Vault, library: Path
) -> None:
    moved = move(writer, "Add", "black", library)
    library.unlink()
    with pytest.raises(Refused) as caught:
        undo(writer)
    assert (caught.value.name, caught.value.path) == ("gone", str(library))
    wanted = [Restored(str(library), f"{moved}.1", sha256_of(FIRST), None, FIRST)]
    assert restore_to(writer, everywhere, str(moved), False, dry_run=True) == (None, wanted)
    assert not library.exists()
    made, restored = restore_to(writer, everywhere, str(moved), False, dry_run=False)
    assert restored == wanted
    assert library.read_bytes() == FIRST
    assert files_of(vault, made) == [(str(library), str(library))]


def test_a_missing_file_of_another_version_is_created_again_only_by_force(
    writer: Writer, root: Path, library: Path
) -> None:
    move(writer, "Add", "black", library)
    upgrade(root, library)
    library.unlink()
    with pytest.raises(Refused) as caught:
        back_to(writer, "pristine")
    assert caught.value.name == "other-lineage"
    assert not library.exists()
    back_to(writer, "pristine", force=True)
    assert library.read_bytes() == FIRST


def test_a_file_that_cannot_be_looked_at_is_unreadable_with_the_systems_reason(vault: Vault, library: Path) -> None:
    move(Writer(vault), "Add", "black", library)
    fs = Faulty(lambda name, given: errno.EIO if name == "stat" and given == (str(library),) else None)
    with pytest.raises(Refused) as caught:
        restore_last(Writer(vault, fs=fs), everywhere, False, dry_run=True)
    assert (caught.value.name, caught.value.message) == ("unreadable", "Input/output error")


def test_if_one_file_of_several_is_missing_none_is_restored(writer: Writer, library: Path) -> None:
    other = beside(library)
    moved = move(writer, "Add", "black", library, other)
    after = library.read_text()
    other.unlink()
    with pytest.raises(Refused):
        back_to(writer, str(moved))
    assert library.read_text() == after
    assert not other.exists()


# other programs and other changes


def test_a_killed_change_whose_file_another_program_changed_is_not_undone(
    writer: Writer, vault: Vault, library: Path
) -> None:
    other = beside(library)
    moved = move(writer, "Add", "black", library, other)
    killed(vault, moved)
    other.write_text(TEXT + "\n")
    after = library.read_text()
    with pytest.raises(Refused) as caught:
        undo(writer)
    assert (caught.value.name, caught.value.path) == ("other-lineage", str(other))
    assert (library.read_text(), other.read_text()) == (after, TEXT + "\n")


@pytest.mark.parametrize("in_place", [True, False], ids=["killed in place", "changed by another program"])
def test_only_a_half_written_file_is_restored_without_force(vault: Vault, library: Path, in_place: bool) -> None:
    moved = move(Writer(vault, in_place=True), "Add", "black", library)
    record = vault.record(str(moved))
    assert record is not None
    record.state, record.pid, record.in_place = "pending", 2**22 + 7, in_place
    vault.save(record)
    half = library.read_text()[:40]
    library.write_text(half)
    if not in_place:
        with pytest.raises(Refused):
            undo(Writer(vault, in_place=True))
        assert library.read_text() == half
    else:
        undo(Writer(vault, in_place=True))
        assert library.read_bytes() == FIRST


class Waiting(FileSystem):
    """Does something once, when a lock of a file is asked for."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self.act: Callable[[], object] | None = act

    def flock(self, descriptor: int, operation: int) -> None:
        act, self.act = self.act, None
        if act:
            act()
        super().flock(descriptor, operation)


def test_the_pristine_content_is_that_of_the_lineage_that_began_during_the_wait(
    vault: Vault, root: Path, library: Path
) -> None:
    move(Writer(vault), "Add", "black", library)

    def upgraded() -> None:
        upgrade(root, library)
        move(Writer(Vault(vault.path)), "Log", "black", library)

    back_to(Writer(vault, fs=Waiting(upgraded)), "pristine")
    assert library.read_text() == UPGRADED


def test_a_change_that_came_first_during_the_wait_is_the_one_undone(vault: Vault, library: Path) -> None:
    move(Writer(vault), "Add", "black", library)
    between = library.read_text()
    waiting = Waiting(lambda: move(Writer(Vault(vault.path)), "Log", "black", library))
    undo(Writer(vault, fs=waiting))
    assert library.read_text() == between


def test_without_an_install_the_versions_of_two_lineages_are_unknown(writer: Writer, tmp_path: Path) -> None:
    path = tmp_path / "aic-x-ops-info.json"
    path.write_text(TEXT)
    move(writer, "Add", "black", path)
    path.write_text(UPGRADED)
    with pytest.raises(Refused) as caught:
        back_to(writer, "pristine")
    assert "of CANN unknown, the file is of CANN unknown and" in caught.value.message


@pytest.mark.parametrize("end", ["", ".1"], ids=["change", "backup"])
def test_the_id_of_a_damaged_record_is_refused_and_another_is_not(
    writer: Writer, vault: Vault, library: Path, end: str
) -> None:
    first = move(writer, "Add", "black", library)
    second = move(writer, "Log", "black", library)
    (record,) = (path for path in Path(vault.path).rglob(f"{first}*") if path.is_file())
    record.write_bytes(b"{}")
    with pytest.raises(Refused) as caught:
        back_to(writer, f"{first}{end}")
    assert caught.value.name == "damaged-backup"
    back_to(writer, f"{second}{end}")


@pytest.mark.parametrize("damaged", [0, 1], ids=["first", "last before the upgrade"])
def test_the_first_content_of_a_lineage_is_known_despite_damage_to_an_earlier_one(
    writer: Writer, vault: Vault, root: Path, library: Path, damaged: int
) -> None:
    earlier = [move(writer, op, "black", library) for op in ("Add", "Log")]
    upgrade(root, library)
    for op in ("Log", "Exp"):
        move(writer, op, "black", library)
    os.truncate(vault.place("changes", str(earlier[damaged])), 100)
    back_to(writer, "pristine")
    assert library.read_text() == UPGRADED


def test_with_a_damaged_record_of_an_unknown_file_the_first_content_is_unknown(
    writer: Writer, vault: Vault, library: Path
) -> None:
    move(writer, "Add", "black", library)
    heads = set((Path(vault.path) / "heads").iterdir())
    lost = move(writer, "Add", "black", beside(library))
    (head,) = set((Path(vault.path) / "heads").iterdir()) - heads
    head.unlink()
    os.truncate(vault.place("changes", str(lost)), 100)
    after = library.read_text()
    with pytest.raises(Refused) as caught:
        back_to(writer, "pristine")
    assert (caught.value.name, caught.value.path) == ("damaged-backup", vault.place("changes", str(lost)))
    assert library.read_text() == after
