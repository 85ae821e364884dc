"""Answers on a failing disk: correct, with a reason, and with a state that the next run can continue from."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from faults_support import (
    NO_PROCESS,
    Failing,
    Unsynced,
    ended,
    everywhere,
    fork,
    jobs,
    lay,
    library_text,
    run_main,
)
from vault_writers import texts, undo, writer

from opsinfo_cli.change.job import Job
from opsinfo_cli.change.mixlist_plan import MixlistPlan
from opsinfo_cli.change.reapply import lost_edits
from opsinfo_cli.change.restore import restore_to
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.errors import NotConfirmed, OpsinfoError, Refused, UsageFault
from opsinfo_cli.model.policy import Policy


class Refusing(Unsynced):
    """Fails one call on matching paths, ``times`` times."""

    def __init__(self, call: str, path: Callable[[str], bool], number: int = errno.EIO, times: int = 1) -> None:
        super().__init__()
        self.call, self.path, self.number, self.left = call, path, number, times
        self.opened: dict[int, str] = {}

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or name in ("call", "path", "number", "left", "opened", "held"):
            return found

        def called(*arguments: Any) -> Any:
            about = self.opened.get(arguments[0], "") if isinstance(arguments[0], int) else arguments[0]
            if name == self.call and self.left and self.path(about):
                self.left -= 1
                raise OSError(self.number, os.strerror(self.number), about)
            result = found(*arguments)
            if name == "open":
                self.opened[result] = arguments[0]
            return result

        return called


# fsync


def test_a_failed_fsync_is_never_repeated(paths: list[Path], tmp_path: Path) -> None:
    dry = Failing()
    writer(tmp_path / "dry", dry).run("apply", jobs(paths))
    for path in paths:
        path.write_text(path.read_text().replace("false", "true"))
    places = [nth for nth, name in enumerate(dry.calls, 1) if name == "fsync"]
    assert len(places) > 6
    for nth in places:
        before = texts(paths)
        fs = Failing(nth)
        vault = tmp_path / f"vault-{nth}"
        try:
            writer(vault, fs).run("apply", jobs(paths))
        except NotConfirmed:
            undo(writer(vault))
        except Refused:
            pass
        failed = next(path for path, well in fs.synced if not well)
        after = fs.synced[fs.synced.index((failed, False)) + 1 :]
        assert failed == "" or failed not in [path for path, _ in after], "a folder is synced again for the next file"
        assert texts(paths) == before


@pytest.mark.parametrize("which", [1, 2, 3])
def test_an_unconfirmed_folder_is_reported_after_every_file_is_written(
    paths: list[Path], place: Path, which: int
) -> None:
    folder = str(paths[0].parent)
    with pytest.raises(NotConfirmed) as caught:
        writer(place, Refusing("fsync", Nth(folder, which))).run("apply", jobs(paths))
    assert caught.value.exit_code == 3
    assert all('"false"' in text for text in texts(paths))
    (record,) = Vault(str(place)).records()
    assert record.state == "done"
    undo(writer(place))
    assert not any('"false"' in text for text in texts(paths))


def test_a_restore_that_is_not_confirmed_counts_as_done(paths: list[Path], place: Path) -> None:
    before = texts(paths)
    writer(place).run("apply", jobs(paths))
    between = texts(paths)
    writer(place).run("apply", jobs(paths, Policy.WHITE, "Log"))
    with pytest.raises(NotConfirmed):
        undo(writer(place, Refusing("fsync", lambda path: path == str(paths[0].parent))))
    assert texts(paths) == between
    undo(writer(place))
    assert texts(paths) == before, "the next restore undoes the change before"


# a restore that could not record its end


class DyingAfter(Unsynced):
    """Ends the process after the last of some files is replaced."""

    def __init__(self, paths: list[Path]) -> None:
        super().__init__()
        self.left = {str(path) for path in paths}

    def replace(self, source: str, target: str) -> None:
        super().replace(source, target)
        ours = target in self.left
        self.left.discard(target)
        if ours and not self.left:
            os._exit(9)


def test_a_killed_restore_that_was_complete_is_not_undone_by_the_next_restore(paths: list[Path], place: Path) -> None:
    before = texts(paths)
    writer(place).run("apply", jobs(paths))

    assert ended(fork(lambda: undo(writer(place, DyingAfter(paths))) and 1)) == 9
    assert texts(paths) == before
    with suppress(UsageFault):  # nothing is left to undo
        undo(writer(place))
    assert texts(paths) == before


def test_a_restore_that_was_killed_before_its_first_file_is_repeated_by_the_next_restore(
    paths: list[Path], place: Path
) -> None:
    before = texts(paths)
    writer(place).run("apply", jobs(paths))

    class Dying(Unsynced):
        def replace(self, source: str, target: str) -> None:
            if target in map(str, paths):
                os._exit(9)
            super().replace(source, target)

    assert ended(fork(lambda: undo(writer(place, Dying())) and 1)) == 9
    undo(writer(place))
    assert texts(paths) == before


def test_a_killed_restore_that_was_complete_leaves_no_move_in_effect(paths: list[Path], place: Path) -> None:
    """An undone move is not reported as lost after an upgrade."""
    writer(place).run("apply", jobs(paths))

    assert ended(fork(lambda: undo(writer(place, DyingAfter(paths))) and 1)) == 9
    writer(place).run("apply", jobs(paths, Policy.WHITE, "Log"))
    for path in paths:
        path.write_text(library_text(Add="true", Exp=None, Log=None))
    lost = lost_edits(writer(place).vault, everywhere)
    assert [each.wanted for each in lost] == [{"Log": Policy.WHITE}] * len(paths)


def test_a_restore_whose_last_record_fails_reports_the_restored_files(paths: list[Path], place: Path) -> None:
    """As with every change: if the end cannot be recorded, the next run determines it from the files."""
    before = texts(paths)
    change = writer(place).run("apply", jobs(paths)).change
    undo(writer(place, Refusing("replace", lambda path: "/changes/" in path and _is_note_of(path, str(change)))))
    assert texts(paths) == before


def _is_note_of(temp: str, change: str) -> bool:
    return bool(json.loads(Path(temp).read_text())["id"] == change)


# unreadable is not absent


def half_done(paths: list[Path], place: Path) -> list[str]:
    """Make a change look as if its run was killed after two files of three.

    :returns: the texts as they were before it
    """
    before = texts(paths)
    change = writer(place).run("apply", jobs(paths)).change
    paths[2].write_text(before[2])
    vault = writer(place).vault
    record = vault.record(str(change))
    assert record is not None
    record.state, record.pid = "pending", NO_PROCESS
    vault.save(record)
    return before


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES], ids=["EIO", "EACCES"])
@pytest.mark.parametrize("call", ["open", "read"])
def test_an_unreadable_file_does_not_count_as_restored(tmp_path: Path, call: str, number: int) -> None:
    for nth in range(1, 9):
        paths, place = lay(tmp_path / f"config-{nth}", 3), tmp_path / f"vault-{nth}"
        before = half_done(paths, place)
        try:
            undo(writer(place, Refusing(call, Nth(str(paths[0]), nth), number)))
        except Refused:
            undo(writer(place))
        assert texts(paths) == before, f"{call} {nth}"


@pytest.mark.parametrize("call", ["open", "read"])
def test_an_unreadable_created_file_does_not_count_as_removed(tmp_path: Path, call: str) -> None:
    for nth in range(1, 5):
        path, place = tmp_path / f"mixlist-{nth}.json", tmp_path / f"vault-{nth}"
        writer(place).create(str(path), b"{}\n", "move", [])
        try:
            undo(writer(place, Refusing(call, Nth(str(path), nth))))
        except Refused:
            undo(writer(place))
        assert not path.exists(), f"{call} {nth}"


class Nth:
    """True when asked for the Nth time about a path."""

    def __init__(self, path: str, nth: int) -> None:
        self.path, self.left = path, nth

    def __call__(self, path: str) -> bool:
        self.left -= path == self.path
        return path == self.path and self.left == 0


@pytest.mark.parametrize("call", ["open", "read"])
def test_a_journal_that_cannot_be_read_is_not_an_empty_one(paths: list[Path], place: Path, call: str) -> None:
    path = paths[0]
    text = path.read_text()
    writer(place).run("move", jobs([path]))
    note = str(next((place / "changes").iterdir()))
    with pytest.raises(Refused):
        undo(writer(place, Refusing(call, lambda about: about == note)))
    with suppress(Refused):
        writer(place, Refusing(call, lambda about: about == note)).run("move", jobs([path], Policy.WHITE, "Log"))
    assert len(Vault(str(place)).journal().lineages(str(path))) == 1, "an unreadable record is not an upgrade"
    restore_to(writer(place), everywhere, "pristine", force=False, dry_run=False)
    assert path.read_text() == text


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOMEM], ids=["EIO", "ENOMEM"])
@pytest.mark.parametrize("command", ["restore", "backups"])
def test_a_target_on_a_failing_disk_is_not_reported_as_unchanged(
    paths: list[Path], place: Path, command: str, number: int
) -> None:
    writer(place).run("move", jobs(paths))
    target, before = str(paths[0].parent), texts(paths)

    def run() -> int:
        answer = os.stat

        def stat(path: Any, *words: Any, **options: Any) -> os.stat_result:
            if path == target:
                raise OSError(number, os.strerror(number))
            return answer(path, *words, **options)

        os.stat = stat  # type: ignore[assignment]
        return run_main([command, target, "--backup-dir", str(place)])

    assert ended(fork(run)) == 3
    assert texts(paths) == before


# refusals have reasons


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EIO], ids=["EACCES", "EROFS", "EIO"])
def test_a_file_that_cannot_be_removed_is_an_error(tmp_path: Path, place: Path, number: int) -> None:
    path = tmp_path / "mixlist.json"
    writer(place).create(str(path), b"{}\n", "move", [])
    with pytest.raises(Refused):
        undo(writer(place, Refusing("unlink", lambda about: about == str(path), number)))
    assert path.read_bytes() == b"{}\n"
    undo(writer(place))
    assert not path.exists()


@pytest.mark.parametrize(
    "number", [errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOLCK, errno.EIO], ids=lambda n: os.strerror(n)
)
@pytest.mark.parametrize("act", ["move", "restore"])
def test_a_file_system_that_cannot_lock_is_refused_with_the_reason(
    paths: list[Path], place: Path, number: int, act: str
) -> None:
    """Answers as some network file systems do."""
    writer(place).run("apply", jobs(paths))
    before = texts(paths)
    fs = Refusing("flock", lambda _: True, number, times=9)
    with pytest.raises(Refused) as caught:
        undo(writer(place, fs)) if act == "restore" else writer(place, fs).run("move", jobs(paths, Policy.WHITE))
    assert caught.value.name == "no-lock"
    assert os.strerror(number) in caught.value.message
    assert caught.value.hint
    assert texts(paths) == before


# remains of a kill or a fault


def test_a_mixlist_that_a_killed_run_created_can_be_edited(tmp_path: Path, place: Path) -> None:
    path = tmp_path / "config" / "mixlist.json"
    path.parent.mkdir()

    class Dying(Unsynced):
        def link(self, source: str, target: str) -> None:
            super().link(source, target)
            os._exit(9)

    assert ended(fork(lambda: len(writer(place, Dying()).create(str(path), b"{}\n", "move", [])))) == 9
    assert path.read_bytes() == b"{}\n"
    writer(place).run("move", [Job(str(path), MixlistPlan(("Add",), Policy.BLACK))])
    assert os.listdir(path.parent) == [path.name]


def test_a_temp_that_a_killed_run_left_in_the_vault_is_removed_by_the_next_one(paths: list[Path], place: Path) -> None:
    class Dying(Unsynced):
        def replace(self, source: str, target: str) -> None:
            if source.endswith(".tmp"):
                os._exit(9)
            super().replace(source, target)

    assert ended(fork(lambda: len(writer(place, Dying()).run("apply", jobs(paths)).files))) == 9
    assert any(path.name.endswith(".tmp") for path in place.rglob("*"))
    writer(place).run("apply", jobs(paths))
    assert not any(path.name.endswith(".tmp") for path in place.rglob("*"))


@pytest.mark.heavy
@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "short write"])
def test_a_failed_overwrite_in_place_is_restored_or_reported_as_unfinished(
    paths: list[Path], tmp_path: Path, error: str
) -> None:
    """In place is not atomic, but damage is reported, and `restore` repairs it."""
    before = texts(paths)
    dry = Failing()
    writer(tmp_path / "dry", dry, in_place=True).run("apply", jobs(paths, Policy.GRAY))
    wrong = []
    for nth in range(1, len(dry.calls) + 1):
        for path, text in zip(paths, before, strict=True):
            path.write_text(text)
        place = tmp_path / f"vault-{nth}"
        fs = Failing(nth, error)
        try:
            writer(place, fs, in_place=True).run("apply", jobs(paths, Policy.GRAY))
        except NotConfirmed:
            continue
        except OSError as crash:
            wrong.append(f"call {nth}: crashed with {crash!r}")
        except Refused as refused:
            if texts(paths) == before:
                continue
            if refused.name != "unfinished-change":
                wrong.append(
                    f"call {nth}, {fs.hit.rpartition('/')[2]}: {refused.name}, and the files are not as before"
                )
            try:
                undo(writer(place, in_place=True))
            except OpsinfoError as second:
                wrong.append(f"call {nth}, {fs.hit.rpartition('/')[2]}: restore says {second.message}")
            if texts(paths) != before:
                wrong.append(f"call {nth}, {fs.hit.rpartition('/')[2]}: restore did not fix it")
    assert not wrong, "\n".join(wrong)
