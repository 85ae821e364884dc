"""Changes that stop before a file is replaced: they are recorded as abandoned, and no other file is left or touched."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from pathlib import Path

import pytest
from vault_support import everywhere
from writer_support import *  # noqa: F403
from writer_support import TEXT, move, names

from opsinfo_cli.change import whole_file
from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.interrupted import shut_left_open
from opsinfo_cli.change.record import Widened
from opsinfo_cli.change.restore import restore_last
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.whole_file import Durability, write_whole
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Refused


def states(vault: Vault) -> list[str]:
    return [record.state for record in vault.journal().records]


class Refusing(FileSystem):
    """Refuses to link or rename to a path with a given end."""

    def __init__(self, end: str) -> None:
        super().__init__()
        self.end = end

    def link(self, source: str, target: str) -> None:
        self._require(target)
        super().link(source, target)

    def replace(self, source: str, target: str) -> None:
        self._require(target)
        super().replace(source, target)

    def _require(self, target: str) -> None:
        if self.end in target:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_if_one_new_file_cannot_be_created_all_are_removed_and_the_change_is_closed(
    tmp_path: Path, config: Path
) -> None:
    fs = Refusing("b.json")
    vault = Vault(str(tmp_path / "vault"), fs)
    with pytest.raises(Refused, match="Input/output error"):
        Writer(vault, fs=fs).create_all({str(config / name): b"{}" for name in ("a.json", "b.json")}, "convert")
    assert names(config) == []
    assert (states(vault), list(vault.pending())) == (["abandoned"], [])
    fs.end = "none"
    assert Writer(vault, fs=fs).create_all({str(config / "b.json"): b"{}"}, "convert")


def test_a_change_whose_heads_cannot_be_written_is_closed_and_no_file_is_replaced(
    tmp_path: Path, library: Path
) -> None:
    fs = Refusing("/heads/")
    vault = Vault(str(tmp_path / "vault"), fs)
    with pytest.raises(Refused):
        move(vault, library, fs=fs)
    assert library.read_text() == TEXT
    assert (states(vault), list(vault.pending())) == (["abandoned"], [])
    fs.end = "none"
    move(vault, library, fs=fs)
    restore_last(Writer(vault, fs=fs), everywhere, False, False)
    assert library.read_text() == TEXT


def test_a_change_that_put_its_files_back_is_closed_and_the_next_run_has_nothing_to_report(
    tmp_path: Path, config: Path
) -> None:
    paths = [config / name for name in ("a.json", "b.json")]
    for path in paths:
        path.write_text(TEXT)
    fs = Refusing("b.json")
    vault = Vault(str(tmp_path / "vault"), fs)
    with pytest.raises(Refused, match="Input/output error"):
        move(vault, *paths, fs=fs)
    assert [path.read_text() for path in paths] == [TEXT] * 2
    assert (states(vault), list(vault.pending())) == (["abandoned"], [])
    notes: list[str] = []
    fs.end = "none"
    move(vault, *paths, fs=fs, say=notes.append)
    assert notes == []
    assert states(vault) == ["abandoned", "done"]


def test_a_folder_in_which_another_run_works_keeps_its_mode_and_is_not_waited_for(
    vault: Vault, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = library.parent
    move(vault, library)
    (record,) = vault.records()
    record.state, record.pid, record.folders = "pending", 2**22 + 7, [Widened(str(folder), 0o550)]
    vault.save(record)
    folder.chmod(0o750)
    other = os.open(folder, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    with monkeypatch.context() as patched:
        patched.setattr(time, "sleep", lambda seconds: pytest.fail("waits for the other run"))
        assert shut_left_open(vault) == []
    assert folder.stat().st_mode & 0o777 == 0o750
    os.close(other)
    ((found, folders),) = shut_left_open(vault)
    assert (found.id, folders) == (record.id, [str(folder)])
    assert folder.stat().st_mode & 0o777 == 0o550
    folder.chmod(0o750)


def test_a_temp_of_another_user_is_neither_used_nor_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / ".opsinfo-1-00.tmp"
    theirs.write_text("theirs")
    monkeypatch.setattr(whole_file, "temp_beside", lambda path: str(theirs))
    with pytest.raises(FileExistsError):
        write_whole(FileSystem(), str(tmp_path / "file"), b"ours", Durability.CONTENT)
    assert theirs.read_text() == "theirs"
    assert not (tmp_path / "file").exists()
