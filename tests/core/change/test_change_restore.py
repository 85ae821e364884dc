"""Restoring files: the last change, one content, what a kill left, moves that an upgrade undid."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from change_support import (
    NEW,
    TEXT,
    UPGRADED,
    Holding,
    back_to,
    create,
    everywhere,
    killed,
    move,
    once,
    record_of,
    records,
    run,
    undo,
    upgrade,
)
from raising import raised

import opsinfo_cli
from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.closed_folders import Widened
from opsinfo_cli.core.change.plan import Job, LibraryPlan, MixlistPlan
from opsinfo_cli.core.change.reapply import lost_edits
from opsinfo_cli.core.change.record import BackupEntry, outcome
from opsinfo_cli.core.change.replace_file import digest_at
from opsinfo_cli.core.change.restore import restore_change, restore_last, restore_to
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer, shut_left_open
from opsinfo_cli.errors import Refused, UsageFault


def policies(path: Path) -> str:
    return " ".join(f"{name}={entry.policy}" for name, entry in Library.read(str(path)).entries.items())


# the last change


def test_changes_are_undone_one_after_the_other(writer: Writer, library: Path) -> None:
    texts = [library.read_text()]
    for op, to in (("Add", "black"), ("Log", "white"), ("Mul", "black")):
        move(writer, op, to, library)
        texts.append(library.read_text())
    for text in reversed(texts[:-1]):
        undo(writer)
        assert library.read_text() == text
    assert raised(UsageFault, undo, writer).name == "nothing-to-restore"


def test_moves_back_and_forth_are_undone_in_order(writer: Writer, library: Path) -> None:
    for to in ("black", "white", "black"):
        move(writer, "Add", to, library)
    undone = []
    for _ in range(3):
        undone += [each.entry.record.number for each in undo(writer)]
    assert undone == [3, 2, 1]
    assert library.read_text() == TEXT


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


def test_an_undo_returns_its_change_and_both_contents_and_can_be_shown(
    writer: Writer, vault: Vault, library: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(library)
    moved = move(writer, "Add", "black", link)
    for shown in (
        restore_last(Writer(vault, dry_run=True), everywhere),
        restore_to(Writer(vault, dry_run=True), everywhere, str(moved)),
    ):
        assert shown[0] is None
        assert [(each.path, each.entry.id, each.current, each.content) for each in shown[1]] == [
            (str(library), f"{moved}.1", NEW.encode(), TEXT.encode())
        ]
    assert (library.read_text(), len(records(vault))) == (NEW, 1)
    undoing, _ = restore_last(writer, everywhere)
    record = record_of(vault, undoing)
    assert (record.kind, record.undoes, record.state, record.files[0].given) == ("restore", moved, "done", str(link))
    assert writer.vault.content(BackupEntry(record, 0)) == NEW.encode()


def test_a_change_of_several_files_is_undone_as_a_whole(writer: Writer, library: Path, other: Path) -> None:
    change = move(writer, "Add", "black", library, other)
    restored = restore_last(writer, lambda path: path == str(library))[1]
    assert {each.entry.id for each in restored} == {f"{change}.1", f"{change}.2"}
    assert library.read_text() == other.read_text() == TEXT


def test_undoing_a_created_file_removes_it(writer: Writer, vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    created = str(create(writer, path))
    with pytest.raises(UsageFault):
        back_to(writer, "pristine")
    for which in (created, f"{created}.1"):
        back_to(writer, which)
        assert not path.exists()
        undo(writer)
    (restored,) = undo(writer)
    assert (path.exists(), restored.sha256) == (False, None)
    assert vault.content(vault.history().entries[-1]) == b"{}\n"


def test_a_restore_out_of_scope_touches_nothing(writer: Writer, library: Path) -> None:
    move(writer, "Add", "black", library)
    with pytest.raises(UsageFault):
        restore_last(writer, lambda _: False)


# what changed since


def test_a_later_change_by_another_program_is_not_lost(writer: Writer, library: Path) -> None:
    move(writer, "Add", "black", library)
    library.write_text(library.read_text() + "\n")
    assert raised(Refused, undo, writer).name == "other-lineage"
    assert library.read_text().endswith("\n")
    undo(writer, force=True)
    assert library.read_text() == TEXT


def test_a_return_to_an_older_content_is_undone_first(writer: Writer, library: Path) -> None:
    move(writer, "Add", "black", library)
    move(writer, "Log", "black", library)
    newest = library.read_text()
    back_to(writer, "pristine")
    undo(writer)
    assert library.read_text() == newest
    undo(writer)
    assert library.read_text() == NEW


def test_a_change_of_two_files_under_a_later_one_of_one_is_refused(writer: Writer, library: Path, other: Path) -> None:
    move(writer, "Add", "black", library, other)
    move(writer, "Log", "black", library)
    before = library.read_text(), other.read_text()
    assert raised(Refused, restore_last, writer, lambda path: path == str(other)).name == "changed-since"
    assert (library.read_text(), other.read_text()) == before


def test_what_another_program_put_back_already_is_not_undone_again(writer: Writer, library: Path) -> None:
    move(writer, "Add", "black", library)
    first = library.read_text()
    move(writer, "Log", "black", library)
    library.write_text(first)
    undo(writer)
    assert library.read_text() == TEXT
    assert raised(Refused, undo, writer).name == "changed-since"  # the second change was never undone


def test_a_move_that_another_program_put_back_is_undone_with_the_rest_of_its_change(
    writer: Writer, vault: Vault, library: Path, other: Path
) -> None:
    move(writer, "Add", "black", library, other)
    other.write_text(TEXT)
    undo(writer)
    assert library.read_text() == TEXT
    assert vault.history().asked() == {str(library): {}, str(other): {}}


def test_a_file_of_another_version_is_refused_and_both_versions_named(
    writer: Writer, root: Path, library: Path
) -> None:
    change = move(writer, "Add", "black", library)
    upgrade(root, library)
    for attempt in (lambda: undo(writer), lambda: back_to(writer, "pristine"), lambda: back_to(writer, str(change))):
        error = raised(Refused, attempt)
        assert error.name == "other-lineage"
        assert "8.2.RC1" in error.message
        assert "8.3.RC1" in error.message
        assert library.read_text() == UPGRADED
    move(writer, "Log", "black", library)
    with pytest.raises(Refused):
        back_to(writer, f"{change}.1")
    back_to(writer, f"{change}.1", force=True)
    assert library.read_text() == TEXT


def test_a_missing_file_is_created_again_by_id(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    moved = move(writer, "Add", "black", library)
    library.unlink()
    error = raised(Refused, undo, writer)
    assert (error.name, error.path) == ("gone", str(library))
    (restored,) = back_to(writer, str(moved))
    assert (restored.current, library.read_text()) == (None, TEXT)
    library.unlink()
    (root / "version.info").write_text("version_dir=8.3.RC1\n")
    assert (raised(Refused, back_to, writer, "pristine").name, library.exists()) == ("other-lineage", False)
    back_to(writer, "pristine", force=True)
    assert library.read_text() == TEXT


@pytest.mark.parametrize("damage", [b"\x8f\xff\x00{", TEXT.encode("utf-16"), b"\xff" + TEXT.encode(), b'{"Add"'])
@pytest.mark.parametrize("which", ["pristine", "1", "local"])
def test_a_file_that_is_no_text_is_restored(
    writer: Writer, vault: Vault, root: Path, library: Path, damage: bytes, which: str
) -> None:
    change = str(move(writer, "Add", "black", library))
    library.write_bytes(damage)
    (restored,) = back_to(writer, change if which == "local" else which, force=True)
    assert (restored.current, library.read_text()) == (damage, TEXT)
    assert records(vault)[-1].files[0].moves == {"Add": ["black", "white"]}
    back_to(writer, "2", force=True)
    assert library.read_bytes() == damage


# one content


def test_a_backup_is_restored_by_any_of_its_names(writer: Writer, library: Path) -> None:
    move(writer, "Add", "black", library)
    second = str(move(writer, "Log", "white", library))
    between = policies(library).replace("Log=white", "Log=gray")
    after = library.read_text()
    for which in (f"{second}.1", second, "2.1", "2"):
        assert [each.entry.id for each in back_to(writer, which)] == [f"{second}.1"]
        assert policies(library) == between
        library.write_text(after)


@pytest.mark.parametrize("which", ["nonsense", "", "pristine.1", "7", "local-1"])
def test_an_unknown_backup_is_a_usage_fault(writer: Writer, library: Path, which: str) -> None:
    move(writer, "Add", "black", library)
    with pytest.raises(UsageFault):
        back_to(writer, which)


def test_a_content_that_the_file_has_already_is_not_written(writer: Writer, vault: Vault, library: Path) -> None:
    moved = move(writer, "Add", "black", library)
    back_to(writer, "pristine")
    for which in ("pristine", str(moved)):
        change, (restored,) = restore_to(writer, everywhere, which)
        assert (change, restored.current, restored.content) == (None, TEXT.encode(), TEXT.encode())
    assert len(records(vault)) == 2


@pytest.mark.parametrize("which", ["1", "pristine"])
def test_only_the_files_in_scope_are_restored(writer: Writer, library: Path, other: Path, which: str) -> None:
    move(writer, "Add", "black", library, other)
    restore_to(writer, lambda path: path == str(other), which)
    assert (library.read_text(), other.read_text()) == (NEW, TEXT)


# another run comes first


@pytest.mark.parametrize(("which", "left"), [(None, NEW), ("pristine", UPGRADED)])
def test_a_change_that_came_first_is_seen(
    vault: Vault, root: Path, library: Path, which: str | None, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(vault, library)

    def come_first() -> None:
        if which:
            upgrade(root, library)
        run(Vault(vault.path), library, op="Log")

    late = Writer(vault, wait=0)
    monkeypatch.setattr(late, "locked", once(come_first, late.locked))
    undo(late) if which is None else back_to(late, which)
    assert library.read_text() == left


# what a kill left


@pytest.mark.parametrize(
    ("texts", "state"),
    [
        ((NEW, NEW), "done"),
        ((TEXT, TEXT), "abandoned"),
        ((NEW, TEXT), "half"),
        ((NEW, "{}"), "done"),
        (("{}", "{}"), "abandoned"),
        ((None, TEXT), "abandoned"),
    ],
)
def test_the_hashes_say_how_an_interrupted_change_ended(
    writer: Writer, vault: Vault, library: Path, other: Path, texts: tuple[str | None, ...], state: str
) -> None:
    record = killed(vault, move(writer, "Add", "black", library, other))
    for path, text in zip((library, other), texts, strict=True):
        path.unlink() if text is None else path.write_text(text)
    assert outcome(record) == state
    messages: list[str] = []
    writer.say = messages.append
    if state == "half":
        error = raised(Refused, move, writer, "Log", "black", library)
        assert error.name == "unfinished-change"
        assert record.id in error.message
        assert (library.read_text(), messages) == (NEW, [])
    elif texts[0] is not None and texts[0] != "{}":
        move(writer, "Log", "black", library)
        assert record_of(vault, record.id).state == state
        assert record.id in messages[0]


def test_an_interrupted_change_of_other_files_does_not_block_and_stays(
    writer: Writer, vault: Vault, library: Path, other: Path, tmp_path: Path
) -> None:
    record = killed(vault, move(writer, "Add", "black", library, other))
    other.write_text(TEXT)
    path = tmp_path / "x.json"
    path.write_text(TEXT)
    move(writer, "Log", "black", path)
    assert record_of(vault, record.id) == record


@pytest.mark.parametrize("done", [0, 1, 2], ids=["none", "one", "both"])
def test_an_interrupted_change_is_ended_by_restore(
    writer: Writer, vault: Vault, library: Path, other: Path, done: int
) -> None:
    record = killed(vault, move(writer, "Add", "black", library, other))
    for path in (library, other)[done:]:
        path.write_text(TEXT)
    if done:
        assert len(records(vault)) == 1
        undo(writer)
        assert [file.path for file in records(vault)[-1].files] == [str(library), str(other)][:done]
    else:
        with pytest.raises(UsageFault):
            undo(writer)
    assert library.read_text() == other.read_text() == TEXT
    move(writer, "Log", "black", library, other)
    assert "pending" not in {each.state for each in records(vault)}
    undo(writer)
    with pytest.raises(UsageFault):
        undo(writer)
    assert record_of(vault, record.id).state in ("abandoned", "done")


@pytest.mark.parametrize("by_id", [False, True], ids=["--only", "CHANGE.N"])
@pytest.mark.parametrize("done", [1, 2], ids=["one of three", "two of three"])
def test_an_interrupted_change_is_ended_file_by_file(
    writer: Writer, vault: Vault, library: Path, other: Path, tmp_path: Path, by_id: bool, done: int
) -> None:
    third = tmp_path / "third.json"
    third.write_text(TEXT)
    files = [library, other, third]
    record = killed(vault, move(writer, "Add", "black", *files))
    for path in files[done:]:
        path.write_text(TEXT)
    for number, path in enumerate(files[:done], 1):
        assert record_of(vault, record.id).state == "pending"
        history = vault.history()
        assert history.lineage_of(str(path), digest_at(str(path)) or "") == f"{record.id}.{number}"
        match = re.fullmatch("(.*)-(.*)[.](.*)", f"{record.id}.{number}")
        if by_id and match:
            restore_change(writer, match)
        else:
            restore_last(writer, str(path).__eq__, only=True)
    assert record_of(vault, record.id).state == "abandoned"
    assert {path.read_text() for path in files} == {TEXT}
    move(writer, "Log", "black", *files)


@pytest.mark.parametrize("done", [0, 1, 2], ids=["none", "one", "both"])
def test_an_interrupted_restore_is_repeated_or_counts_as_done(
    writer: Writer, vault: Vault, library: Path, other: Path, done: int
) -> None:
    move(writer, "Log", "black", library, other)
    before = library.read_text()
    move(writer, "Add", "black", library, other)
    after = library.read_text()
    killed(vault, restore_last(writer, everywhere)[0])
    for path in (library, other)[done:]:
        path.write_text(after)
    undo(writer)
    assert library.read_text() == other.read_text() == (before if done < 2 else TEXT)
    run(vault, library, op="Mul")
    assert "pending" not in {each.state for each in records(vault)}


def test_only_a_half_written_file_is_restored_without_force(vault: Vault, library: Path) -> None:
    moved = run(vault, library, in_place=True).change
    killed(vault, moved)
    half = NEW[:40]
    library.write_text(half)
    assert raised(Refused, run, vault, library, op="Log").name == "half-written"
    (library.parent / "new").write_text(half)
    (library.parent / "new").rename(library)  # another file: somebody else wrote it
    with pytest.raises(Refused):
        undo(Writer(vault))
    library.unlink()
    library.write_text(half)
    (file,) = record_of(vault, moved).files
    killed(vault, moved, files=[replace(file, inode=library.stat().st_ino)])
    undo(Writer(vault, in_place=True))
    assert library.read_text() == TEXT


@pytest.mark.parametrize("who", ["the next run", "doctor", "restore"])
def test_a_folder_that_a_killed_run_left_writable_gets_its_mode_back(vault: Vault, library: Path, who: str) -> None:
    messages: list[str] = []
    writer = Writer(vault, wait=0, say=messages.append)
    record = killed(vault, move(writer, "Add", "black", library), folders=[Widened(str(library.parent), 0o550)])
    library.parent.chmod(0o750)
    try:
        if who == "doctor":
            with Holding(Path(vault.folder)):
                assert shut_left_open(vault, vault.history()) == []
            assert [(each.id, folders) for each, folders in shut_left_open(vault, vault.history())] == [
                (record.id, [str(library.parent)])
            ]
            assert shut_left_open(vault, vault.history()) == []
        elif who == "restore":
            undo(writer)
        else:
            move(writer, "Log", "black", library)
        assert library.parent.stat().st_mode & 0o7777 == 0o550
        assert messages or who == "doctor"
        assert record_of(vault, record.id).folders == []
    finally:
        library.parent.chmod(0o755)


def test_what_a_killed_run_left_in_the_vault_is_removed_and_no_damage(vault: Vault, library: Path) -> None:
    run(vault, library)
    left = Path(vault.folder, ".opsinfo-1-abcdef.tmp")
    left.mkdir()
    (left / "1-x").write_text("x")
    assert vault.damage(contents=True) == []
    run(vault, library, op="Log")
    assert not left.exists()


# moves that an upgrade undid


def test_moves_that_an_upgrade_undid_are_found(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    first = move(writer, "Add", "black", library)
    second = move(writer, "Log", "white", library)
    third = move(writer, "Mul", "black", library)
    assert lost_edits(vault.history(), everywhere) == []
    upgrade(root, library)
    (lost,) = lost_edits(vault.history(), everywhere)
    assert lost.path == str(library)
    assert lost.wanted == {"Add": Policy.BLACK, "Log": Policy.WHITE}
    assert (lost.gone, set(lost.changes)) == (("Mul",), {first, second, third})
    (one,) = lost_edits(vault.history(), everywhere, second)
    assert one.wanted == {"Log": Policy.WHITE}
    assert lost_edits(vault.history(), lambda _: False) == []
    writer.run("reapply", [Job(lost.path, LibraryPlan(lost.wanted))])
    assert policies(library) == "Add=black Log=white Exp=gray"
    assert [each.gone for each in lost_edits(vault.history(), everywhere)] == [("Mul",)]


@pytest.mark.parametrize(("given", "kept"), [({}, "loss"), ({"reason": "after upgrade"}, "after upgrade")])
def test_a_reapply_keeps_the_reason_given_else_that_of_the_move(
    vault: Vault, root: Path, library: Path, given: dict[str, Any], kept: str
) -> None:
    opsinfo_cli.move(str(library), "Add", "black", backup_dir=vault.path, reason="loss")
    upgrade(root, library)
    opsinfo_cli.reapply(backup_dir=vault.path, **given)
    assert records(vault)[-1].why == kept


def test_the_last_move_that_was_not_undone_counts(writer: Writer, vault: Vault, root: Path, library: Path) -> None:
    for to in ("white", "black"):
        move(writer, "Log", to, library)
    move(writer, "Add", "black", library)
    undo(writer)
    killed(vault, str(records(vault)[-1].id))
    upgrade(root, library)
    vault.prune(everywhere, 1, dry_run=False)
    (lost,) = lost_edits(vault.history(), everywhere)
    assert lost.wanted["Log"] is Policy.BLACK
    library.write_text(UPGRADED.replace('"Log": {}', '"Log": {"precision_reduce": {"flag": "false"}}'))
    assert not [each for each in lost_edits(vault.history(), everywhere) if "Log" in each.wanted]


def test_moves_that_an_older_content_of_the_same_version_lacks_are_not_lost(
    writer: Writer, vault: Vault, library: Path
) -> None:
    move(writer, "Add", "black", library)
    library.write_text(TEXT)  # by hand
    assert lost_edits(vault.history(), everywhere) == []


def test_moves_of_an_emptied_mixlist_are_not_lost(writer: Writer, vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"black-list": {"to-add": ["Log"]}}')
    writer.run("move", [Job(str(path), MixlistPlan({"Add": Policy.BLACK}))])
    path.write_text("{}")
    assert lost_edits(vault.history(), everywhere) == []
