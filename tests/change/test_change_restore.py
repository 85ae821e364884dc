"""Restoring files: the last change, one content, remains of a kill, moves that an upgrade undid."""

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
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Refused, UsageFault
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.policy import Policy


def policies(path: Path) -> str:
    return " ".join(f"{name}={entry.policy}" for name, entry in Library.read(str(path)).entries.items())


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


def test_a_later_change_by_another_program_is_not_lost(writer: Writer, library: Path) -> None:
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


def test_a_backup_is_restored_by_its_id_and_by_its_changes_id(writer: Writer, library: Path) -> None:
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


def test_undoing_a_created_file_removes_it(writer: Writer, vault: Vault, tmp_path: Path) -> None:
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


# remains of a kill


def killed(vault: Vault, change: str | None) -> Record:
    """Make a change look as if it was killed before its end was recorded."""
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
    messages: list[str] = []
    record = killed(vault, move(writer, "Add", "black", library))
    writer.say = messages.append
    move(writer, "Log", "black", library)
    assert state(vault, record) == "done"
    assert any(record.id in note for note in messages)
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


def test_an_unfinished_change_stops_the_next_one_and_is_named(
    writer: Writer, library: Path, half: tuple[Record, Path]
) -> None:
    now = library.read_text()
    with pytest.raises(Refused) as caught:
        move(writer, "Log", "black", library)
    assert caught.value.name == "unfinished-change"
    assert half[0].id in caught.value.message
    assert library.read_text() == now


def test_an_unfinished_change_is_ended_by_restore(
    writer: Writer, vault: Vault, library: Path, half: tuple[Record, Path]
) -> None:
    record, other = half
    undo(writer)
    assert library.read_text() == other.read_text() == TEXT
    assert state(vault, record) == "undone"
    move(writer, "Log", "black", library, other)


def test_an_unfinished_change_of_other_files_does_not_block(
    writer: Writer, tmp_path: Path, half: tuple[Record, Path]
) -> None:
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


def test_moves_that_an_upgrade_undid_are_found(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
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


def test_the_last_of_several_moves_of_an_op_type_is_used(
    writer: Writer, vault: Vault, root: Path, library: Path
) -> None:
    move(writer, "Log", "white", library)
    move(writer, "Log", "black", library)
    upgrade(root, library)
    (lost,) = lost_edits(vault, everywhere)
    assert lost.wanted == {"Log": Policy.BLACK}


def test_an_undone_move_is_not_reported_as_lost(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    move(writer, "Add", "black", library)
    move(writer, "Log", "black", library)
    undo(writer)
    upgrade(root, library)
    (lost,) = lost_edits(vault, everywhere)
    assert lost.wanted == {"Add": Policy.BLACK}


def test_moves_in_effect_after_the_upgrade_are_not_reported_as_lost(
    writer: Writer, vault: Vault, root: Path, library: Path
) -> None:
    move(writer, "Add", "black", library)
    upgrade(root, library)
    library.write_text(UPGRADED.replace("true", "false"))
    assert lost_edits(vault, everywhere) == []


def test_reapplied_moves_are_no_longer_lost(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    move(writer, "Add", "black", library)
    upgrade(root, library)
    (lost,) = lost_edits(vault, everywhere)
    writer.run("reapply", [Job(lost.path, LibraryPlan(lost.wanted))])
    assert policies(library) == "Add=black Log=gray Exp=gray"
    assert lost_edits(vault, everywhere) == []
