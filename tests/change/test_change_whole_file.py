"""Writing whole files, and the temp files that are removed."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.liveness import is_held, process_lives
from opsinfo_cli.change.whole_file import Durability, remove_leftovers, write_whole

NO_PROCESS = 2**22 + 7  # beyond the largest pid that Linux gives


class Recording(FileSystem):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def fsync(self, descriptor: int) -> None:
        self.calls.append("sync " + os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")).split("-")[0])
        super().fsync(descriptor)

    def replace(self, source: str, target: str) -> None:
        self.calls.append("rename")
        super().replace(source, target)


@pytest.mark.parametrize(
    ("durability", "calls"),
    [
        (Durability.NONE, ["rename"]),
        (Durability.CONTENT, ["sync .opsinfo", "rename"]),
        (Durability.FULL, ["sync .opsinfo", "rename", "sync here"]),
    ],
)
def test_each_durability_makes_exactly_its_syncs(tmp_path: Path, durability: Durability, calls: list[str]) -> None:
    (tmp_path / "here").mkdir()
    fs = Recording()
    assert write_whole(fs, str(tmp_path / "here/a"), b"new", durability)
    assert fs.calls == calls
    assert (tmp_path / "here/a").read_bytes() == b"new"


def test_a_new_file_is_not_written_over_one_that_exists(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        write_whole(FileSystem(), str(tmp_path / "a"), b"new", Durability.FULL, is_new=True)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_a_check_that_fails_leaves_the_old_file_and_no_temp(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def check() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_whole(FileSystem(), str(tmp_path / "a"), b"new", Durability.FULL, check=check)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"old")]


def test_a_temp_is_locked_while_its_writer_works(tmp_path: Path) -> None:
    """A process of another PID namespace, where the process id is unknown, must not remove it."""
    held: list[bool] = []

    def look() -> None:
        (temp,) = tmp_path.iterdir()
        held.append(is_held(FileSystem(), str(temp)))

    write_whole(FileSystem(), str(tmp_path / "a"), b"new", Durability.FULL, check=look)
    assert held == [True]
    assert not is_held(FileSystem(), str(tmp_path / "a"))


@pytest.mark.parametrize("locked", [True, False])
def test_a_leftover_is_removed_if_no_process_of_any_namespace_holds_it(tmp_path: Path, locked: bool) -> None:
    temp = tmp_path / f".opsinfo-{NO_PROCESS}-0123456789ab.tmp"
    temp.write_bytes(b"half")
    assert not process_lives(NO_PROCESS)
    with temp.open("rb") as file:
        if locked:
            fcntl.flock(file, fcntl.LOCK_EX)
        remove_leftovers(FileSystem(), str(tmp_path))
    assert temp.exists() == locked
