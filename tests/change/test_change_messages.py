"""Error messages: the system's reason, whichever call fails, and the trace of an internal error."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from vault_support import everywhere
from writer_support import *  # noqa: F403
from writer_support import NEW, TEXT, move

from opsinfo_cli.change import fault_trace
from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.output_file import write_file, write_file_if
from opsinfo_cli.change.restore import restore_last
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Damaged, OpsinfoError, Refused
from opsinfo_cli.model.policy import Policy


class Failing(FileSystem):
    """Fails one of its calls."""

    def __init__(self, which: int, number: int) -> None:
        super().__init__()
        self.which, self.number, self.calls = which, number, 0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if not callable(found) or name.startswith("_") or name == "close":
            return found

        def call(*arguments: Any) -> Any:
            self.calls += 1
            if self.calls == self.which:
                raise OSError(self.number, os.strerror(self.number), str(arguments[0]))
            return None if name == "fsync" else found(*arguments)

        return call


def messages_of(run: Callable[[FileSystem], object], number: int) -> set[str]:
    """Return the messages and hints of a run whose calls fail in turn."""
    texts = set()
    for which in range(1, 10_000):
        fs = Failing(which, number)
        try:
            run(fs)
        except OpsinfoError as error:
            texts |= {error.message, error.hint or ""}
        if fs.calls < which:
            return texts
    raise AssertionError("the run makes too many calls")


def a_move(vault: Vault, library: Path, fs: FileSystem) -> None:
    move(vault, library, fs=fs, wait=0)


def a_move_in_place(vault: Vault, library: Path, fs: FileSystem) -> None:
    move(vault, library, fs=fs, wait=0, in_place=True)


def an_undo(vault: Vault, library: Path, fs: FileSystem) -> None:
    move(Vault(vault.path), library)
    restore_last(Writer(vault, fs=fs, wait=0), everywhere, False, False)


def a_new_file(vault: Vault, library: Path, fs: FileSystem) -> None:
    Writer(vault, fs=fs, wait=0).create(f"{vault.path}-new.json", b"{}", "move", [])


@pytest.mark.exhaustive
@pytest.mark.parametrize("scene", [a_move, a_move_in_place, an_undo, a_new_file])
def test_an_error_gives_the_systems_reason_whichever_call_fails(
    tmp_path: Path, library: Path, scene: Callable[[Vault, Path, FileSystem], None]
) -> None:
    place = iter(range(10_000))

    def run(fs: FileSystem) -> None:
        library.write_text(TEXT)
        scene(Vault(str(tmp_path / f"vault-{next(place)}"), fs), library, fs)

    texts = messages_of(run, errno.EACCES)
    assert not [text for text in texts if "[Errno" in text]
    assert [text for text in texts if os.strerror(errno.EACCES) in text]


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO], ids=errno.errorcode.get)
def test_an_output_file_that_is_refused_gives_the_reason_and_keeps_the_old_one(tmp_path: Path, number: int) -> None:
    path = tmp_path / "report.json"

    def run(fs: FileSystem) -> None:
        path.write_text("old")
        path.chmod(0o640)
        try:
            write_file_if(str(path), b"new", lambda content: None, fs)
        except Refused:
            assert path.read_text() == "old"
            raise
        assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", 0o640)

    texts = messages_of(run, number)
    assert {text for text in texts if text} <= {os.strerror(number), f"cannot write: {os.strerror(number)}"}
    assert f"cannot write: {os.strerror(number)}" in texts
    assert os.listdir(tmp_path) == ["report.json"] or sorted(os.listdir(tmp_path)) == ["home", "report.json"]


def test_an_error_without_a_number_gives_its_text_and_no_hint(tmp_path: Path, library: Path) -> None:
    class Odd(FileSystem):
        def replace(self, source: str, target: str) -> None:
            if target == str(library):
                raise OSError("the disk has gone")
            super().replace(source, target)

    fs, text = Odd(), library.read_text()
    with pytest.raises(Refused, match=r"^cannot write: the disk has gone$") as caught:
        move(Vault(str(tmp_path / "vault"), fs), library, fs=fs)
    assert caught.value.hint is None
    assert library.read_text() == text


def test_a_report_in_a_missing_folder_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"^cannot write: No such file or directory$"):
        write_file(str(tmp_path / "missing" / "report.json"), b"")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not list open files")
def test_a_stream_is_closed_after_it_is_written() -> None:
    before = os.listdir("/proc/self/fd")
    write_file("/dev/null", b"report")
    assert os.listdir("/proc/self/fd") == before


def test_a_damaged_record_is_described_without_a_line_of_its_text(vault: Vault, library: Path) -> None:
    move(vault, library)
    records = [path for path in Path(vault.path, "changes").iterdir() if path.is_file()]
    for path in records:
        path.write_bytes(b'{"files": [}')
    texts = [each.said for each in vault.journal().damage]
    assert texts
    assert all(re.fullmatch(r"the record is damaged \((?!it cannot be read).+\)", each) for each in texts), texts
    assert not any(": line" in each for each in texts)


class Dirty(FileSystem):
    """Notes files that were written and not synced since."""

    def __init__(self) -> None:
        super().__init__()
        self.dirty: set[str] = set()

    def write(self, descriptor: int, data: memoryview) -> int:
        self.dirty.add(os.readlink(f"/proc/self/fd/{descriptor}"))
        return super().write(descriptor, data)

    def truncate(self, descriptor: int, size: int) -> None:
        self.dirty.add(os.readlink(f"/proc/self/fd/{descriptor}"))
        super().truncate(descriptor, size)

    def fsync(self, descriptor: int) -> None:
        self.dirty.discard(os.readlink(f"/proc/self/fd/{descriptor}"))
        super().fsync(descriptor)


def test_a_file_that_is_overwritten_in_place_is_synced(tmp_path: Path, library: Path) -> None:
    fs = Dirty()
    vault = Vault(str(tmp_path / "vault"), fs)
    move(vault, library, fs=fs, in_place=True)
    assert (library.read_text(), fs.dirty) == (NEW, set())
    move(vault, library, fs=fs, in_place=True, to=Policy.GRAY)
    assert len(library.read_text()) < len(NEW), "the file is truncated as well"
    assert fs.dirty == set()


def test_the_trace_of_an_internal_error_is_kept_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_trace.tempfile, "tempdir", str(tmp_path))
    try:
        raise Damaged("text \udcff")
    except Damaged as error:
        message = fault_trace.kept_trace(error)
    assert message.startswith(f"it is in {tmp_path}/opsinfo-fault-")
    kept = Path(message.removeprefix("it is in ")).read_text()
    assert kept.startswith("Traceback (most recent call last):\n")
    assert "Damaged: text \\udcff" in kept


def test_a_trace_that_cannot_be_written_raises_no_second_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_trace.tempfile, "tempdir", str(tmp_path / "missing"))
    assert fault_trace.kept_trace(ValueError()) == "it could not be written"
