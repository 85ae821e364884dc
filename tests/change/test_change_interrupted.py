"""What the next run finds of a killed one, and how it ends it: by the files, the heads and the folders' modes."""

# ruff: noqa: F401, F811 - fixtures are imported by name

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from vault_support import TEXT, UPGRADED, everywhere, library, move, root, undo, upgrade, vault, writer

from opsinfo_cli.change.interrupted import outcome, settle, shut_left_open, undone, unfinished
from opsinfo_cli.change.record import Record, Widened
from opsinfo_cli.change.restore import restore_last
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Refused


def killed(vault: Vault, change: str | None, order: int = 0, folders: list[Path] | None = None) -> Record:
    """Make a change look as if its writer was killed before its end was recorded."""
    record = vault.record(str(change))
    assert record is not None
    record.state, record.pid = "pending", 2**22 + 7
    record.order += order
    record.folders = [Widened(str(folder), 0o550) for folder in folders or []]
    vault.save(record)
    return record


def settled(vault: Vault, *paths: Path) -> list[str]:
    return settle(vault, vault.journal(), [str(path) for path in paths])


def saved(vault: Vault, record: Record) -> Record:
    found = vault.record(record.id)
    assert found is not None
    return found


@pytest.fixture
def other(library: Path) -> Path:
    path = library.with_name("aic-ascend910b-ops-info-nn.json")
    path.write_text(TEXT)
    return path


# outcomes


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("after", "after", "done"),
        ("before", "before", "abandoned"),
        ("after", "before", "half"),
        ("after", "theirs", "done"),
        ("theirs", "before", "abandoned"),
        ("theirs", "theirs", "other"),
        ("gone", "gone", "other"),
    ],
)
def test_an_interrupted_change_ended_as_its_files_show(
    writer: Writer, vault: Vault, library: Path, other: Path, first: str, second: str, found: str
) -> None:
    record = killed(vault, move(writer, "Add", "black", library, other))
    after = library.read_text()
    for path, what in ((library, first), (other, second)):
        path.write_text({"after": after, "before": TEXT}.get(what, UPGRADED))
        if what == "gone":
            path.unlink()
    assert outcome(vault, record) == found


@pytest.mark.parametrize(
    ("in_place", "text", "found"),
    [
        (True, UPGRADED, "torn"),
        (False, UPGRADED, "other"),
        (True, TEXT, "abandoned"),
        (True, None, "other"),
    ],
    ids=["half written", "replaced by another program", "not begun", "gone"],
)
def test_a_file_is_half_written_only_if_the_change_overwrites_it(
    vault: Vault, library: Path, in_place: bool, text: str | None, found: str
) -> None:
    record = killed(vault, move(Writer(vault, in_place=True), "Add", "black", library))
    assert outcome(vault, record) == "done"
    record.in_place = in_place
    library.unlink() if text is None else library.write_text(text)
    assert outcome(vault, record) == found


@pytest.mark.parametrize(
    ("state", "text", "found"),
    [
        ("done", TEXT, True),
        ("done", UPGRADED, True),
        ("pending", TEXT, True),
        ("pending", None, False),
        ("abandoned", TEXT, False),
    ],
    ids=["done", "done and replaced since", "killed after its files", "killed before its files", "abandoned"],
)
def test_a_change_counts_as_undone_if_its_restore_ended_well(
    writer: Writer, vault: Vault, library: Path, state: str, text: str | None, found: bool
) -> None:
    moved = str(move(writer, "Add", "black", library))
    after = library.read_text()
    restoring, _ = restore_last(writer, everywhere, False, dry_run=False)
    library.write_text(after if text is None else text)
    records = []
    for change, its_state in ((moved, "done"), (restoring, state)):  # the first could not be marked as undone
        record = vault.record(str(change))
        assert record is not None
        record.state = its_state
        records.append(record)
    assert undone(vault, records) == ({moved} if found else set())


# the next run


@pytest.mark.parametrize(
    ("text", "order", "said", "state"),
    [
        (None, 0, "it was complete", "done"),
        (TEXT, 0, "it had changed nothing", "abandoned"),
        (UPGRADED, 0, "it had changed nothing", "abandoned"),
        (None, 1, "it had changed nothing", "abandoned"),
    ],
    ids=["complete", "not begun", "replaced since", "killed before the heads"],
)
def test_the_next_run_ends_a_killed_change_and_reports_it(
    writer: Writer, vault: Vault, library: Path, text: str | None, order: int, said: str, state: str
) -> None:
    record = killed(vault, move(writer, "Add", "black", library), order)
    if text is not None:
        library.write_text(text)
    assert settled(vault, library) == [f"change {record.id} was interrupted; {said}"]
    assert saved(vault, record).state == state
    assert settled(vault, library) == []


def test_the_next_run_leaves_killed_changes_of_other_files_alone(
    writer: Writer, vault: Vault, library: Path, other: Path
) -> None:
    record = killed(vault, move(writer, "Add", "black", library))
    assert settled(vault, other) == []
    assert saved(vault, record).state == "pending"


def test_a_half_change_is_left_to_the_restore_that_ends_it_or_another(
    writer: Writer, vault: Vault, library: Path, other: Path
) -> None:
    record = killed(vault, move(writer, "Add", "black", library, other))
    other.write_text(TEXT)
    for ends in (record.id, "another"):
        assert settle(vault, vault.journal(), [str(library)], ends) == []
    with pytest.raises(Refused) as caught:
        settled(vault, other)
    assert (caught.value.name, caught.value.path) == ("unfinished-change", str(other))
    assert saved(vault, record).state == "pending"


@pytest.mark.parametrize(
    ("state", "name", "said", "hint"),
    [
        ("half", "unfinished-change", "was interrupted between its files", "`opsinfo restore` on"),
        ("torn", "half-written", "it is half written", "`opsinfo restore --in-place` on"),
    ],
)
def test_an_unfinished_change_is_named_with_the_restore_that_ends_it(
    state: str, name: str, said: str, hint: str
) -> None:
    error = unfinished(Record.begin("move"), state, "/a/b.json")
    assert (error.name, error.path) == (name, "/a/b.json")
    assert error.message.endswith(said)
    assert str(error.hint).startswith(hint)


# folders


@pytest.fixture
def opened(library: Path) -> Path:
    """The folder of the library, as a killed run left it."""
    library.parent.chmod(0o750)
    return library.parent


def mode(folder: Path) -> int:
    return folder.stat().st_mode & 0o777


def test_the_next_run_restores_a_folders_mode_once_and_reports_it(
    writer: Writer, vault: Vault, library: Path, opened: Path, tmp_path: Path
) -> None:
    record = killed(vault, move(writer, "Add", "black", library), folders=[opened])
    said = f"restored the mode of {opened}, left writable by change {record.id}"
    assert settled(vault, tmp_path / "elsewhere.json") == [said]
    assert mode(opened) == 0o550
    assert saved(vault, record).folders == []
    opened.chmod(0o750)
    assert settled(vault, library) == [f"change {record.id} was interrupted; it was complete"]
    assert shut_left_open(vault) == []
    assert mode(opened) == 0o750, "somebody opened it again"


def test_a_folder_in_use_keeps_its_mode_and_the_change_stays_open(
    writer: Writer, vault: Vault, library: Path, opened: Path
) -> None:
    record = killed(vault, move(writer, "Add", "black", library), folders=[opened])
    descriptor = os.open(opened, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    assert settled(vault, library) == [f"change {record.id} was interrupted; it was complete"]
    assert (mode(opened), saved(vault, record).state) == (0o750, "pending")
    os.close(descriptor)
    assert len(settled(vault, library)) == 2
    assert (mode(opened), saved(vault, record).state) == (0o550, "done")
    opened.chmod(0o750)


@pytest.mark.parametrize("mine", [True, False], ids=["doctor", "a run on other files"])
def test_a_folder_in_which_the_changes_own_writer_works_keeps_its_mode(
    writer: Writer, vault: Vault, library: Path, opened: Path, mine: bool
) -> None:
    record = killed(vault, move(writer, "Add", "black", library), folders=[opened])
    descriptor = os.open(vault.place("changes", record.id), os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)  # as the writer does
    assert (shut_left_open(vault) if mine else settled(vault)) == []
    assert mode(opened) == 0o750
    os.close(descriptor)
    assert len(shut_left_open(vault) if mine else settled(vault)) == 1
    assert mode(opened) == 0o550
    opened.chmod(0o750)


def test_a_folders_mode_is_restored_even_if_root_would_not_write_in_it(
    writer: Writer, vault: Vault, library: Path
) -> None:
    record = killed(vault, move(writer, "Add", "black", library), folders=[library.parent])
    record.folders = [Widened(str(library.parent), 0o557)]
    vault.save(record)
    library.parent.chmod(0o757)
    ((_, folders),) = shut_left_open(vault)
    assert folders == [str(library.parent)]
    assert mode(library.parent) == 0o557
    library.parent.chmod(0o750)


def test_a_restore_closes_the_folders_that_the_killed_change_left_open(
    writer: Writer, vault: Vault, library: Path, opened: Path
) -> None:
    record = killed(vault, move(writer, "Add", "black", library), folders=[opened])
    undo(writer)
    assert library.read_text() == TEXT
    assert (mode(opened), saved(vault, record).state) == (0o550, "undone")
    opened.chmod(0o750)
