"""The writer: a file is old or new; mode, owner and links are kept; without a change no file is touched."""

# ruff: noqa: F401, F811 - fixtures are imported by name

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from writer_support import NEW, ROOT_ONLY, TEXT, config, library, move, names, vault

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.job import Job, Result
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.mixlist_plan import MixlistPlan
from opsinfo_cli.change.replace import write_new
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Damaged, Locked, NotConfirmed, Refused, Stale
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.policy import Policy


def test_a_move_is_written_backed_up_and_journalled(library: Path, config: Path, vault: Vault) -> None:
    result = move(vault, library)
    assert library.read_text() == NEW
    assert names(config) == [library.name]
    (file,) = result.files
    assert [tuple(map(str, each)) for each in file.moved] == [("Add", "white", "black")]
    assert file.source.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert file.result.sha256 == hashlib.sha256(NEW.encode()).hexdigest()
    (record,) = vault.records()
    assert record.id == result.change
    assert (record.kind, record.state, record.pid) == ("move", "done", os.getpid())
    (changed,) = record.files
    assert (changed.path, changed.before, changed.after) == (
        str(library.resolve()),
        file.source.sha256,
        file.result.sha256,
    )
    assert changed.moves == {"Add": ["white", "black"]}
    assert vault.content(file.source.sha256) == TEXT.encode()
    assert file.backup == record.backup_id(0)


def test_without_a_change_no_file_is_touched(library: Path, vault: Vault, tmp_path: Path) -> None:
    before = library.stat()
    result = move(vault, library, to=Policy.WHITE)
    after = library.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert result.change is None
    assert [file.stayed for file in result.files] == [["Add"]]
    assert not (tmp_path / "vault").exists()


def test_of_several_files_only_those_that_change_are_written(config: Path, vault: Vault) -> None:
    paths = [config / f"{name}.json" for name in "abc"]
    for path, flag in zip(paths, ("true", "false", "true"), strict=True):
        path.write_text(TEXT.replace("true", flag))
    before = paths[1].stat()
    result = move(vault, *paths)
    assert [path.read_text() for path in paths] == [NEW] * 3
    assert paths[1].stat().st_mtime_ns == before.st_mtime_ns
    (record,) = vault.records()
    assert [Path(each.path).name for each in record.files] == ["a.json", "c.json"]
    assert [file.backup for file in result.files] == [record.backup_id(0), None, record.backup_id(1)]


def test_one_file_that_cannot_be_planned_stops_them_all(config: Path, vault: Vault) -> None:
    good, bad = config / "a.json", config / "b.json"
    good.write_text(TEXT)
    bad.write_text('{"Add":{},}')
    with pytest.raises(Damaged) as caught:
        move(vault, good, bad)
    assert caught.value.path == str(bad)
    assert good.read_text() == TEXT
    assert vault.records() == []


def test_the_preview_equals_the_run_and_opens_nothing_for_writing(library: Path, vault: Vault, tmp_path: Path) -> None:
    class ReadOnly(FileSystem):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            return super().open(path, flags, mode)

        def flock(self, descriptor: int, operation: int) -> None:
            raise AssertionError("a preview takes no lock")

    before = library.stat()
    jobs = [Job(str(library), LibraryPlan({"Add": Policy.BLACK}))]
    shown = Writer(vault, fs=ReadOnly()).preview(jobs)
    assert shown.would_change
    assert shown.change is None
    assert shown.files[0].result.data == NEW.encode()
    assert (library.stat().st_ino, library.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert names(tmp_path) == ["config"]
    assert Writer(vault).run("move", jobs).files[0].result.data == shown.files[0].result.data


# what is kept


@pytest.mark.parametrize("mode", [0o400, 0o444, 0o555, 0o600, 0o640, 0o644, 0o664, 0o755, 0o2755], ids=oct)
def test_the_mode_is_kept(library: Path, vault: Vault, mode: int) -> None:
    library.chmod(mode)
    move(vault, library)
    assert library.read_text() == NEW
    assert stat.S_IMODE(library.stat().st_mode) == mode


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o027], ids=oct)
def test_the_umask_does_not_change_an_existing_files_mode(library: Path, vault: Vault, umask: int) -> None:
    library.chmod(0o644)
    before = os.umask(umask)
    try:
        move(vault, library)
    finally:
        os.umask(before)
    assert stat.S_IMODE(library.stat().st_mode) == 0o644


@ROOT_ONLY
def test_the_owner_and_group_are_kept(library: Path, vault: Vault) -> None:
    os.chown(library, 1234, 2345)
    library.chmod(0o4755)
    move(vault, library)
    after = library.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (1234, 2345, 0o4755)


def test_extended_attributes_are_kept(library: Path, vault: Vault) -> None:
    try:
        os.setxattr(library, "user.label", b"\0x")
    except OSError:
        pytest.skip("the file system has no user attributes")
    move(vault, library)
    assert library.read_text() == NEW
    assert os.getxattr(library, "user.label") == b"\0x"


def test_a_symlink_is_kept_and_the_real_file_changes(library: Path, tmp_path: Path, vault: Vault) -> None:
    link = tmp_path / "link.json"
    link.symlink_to("config/again.json")
    (library.parent / "again.json").symlink_to(library.name)
    move(vault, link)
    assert link.is_symlink()
    assert (library.parent / "again.json").is_symlink()
    assert library.read_text() == NEW
    assert vault.records()[0].files[0].path == str(library.resolve())


@pytest.mark.parametrize("target", ["nowhere", "self"])
def test_a_dangling_link_is_refused(tmp_path: Path, vault: Vault, target: str) -> None:
    (tmp_path / "self").symlink_to(target)
    with pytest.raises(Refused):
        move(vault, tmp_path / "self")


def test_a_hard_link_is_refused_with_a_hint(library: Path, tmp_path: Path, vault: Vault) -> None:
    os.link(library, tmp_path / "other.json")
    with pytest.raises(Refused) as caught:
        move(vault, library)
    assert caught.value.name == "hard-link"
    assert caught.value.hint
    assert library.read_text() == TEXT
    assert vault.records() == []


@pytest.mark.parametrize(
    "name",
    ["a b.json", "a\nb.json", "-n.json", "\u4e2d.json", "x" * 250 + ".json", b"\xff.json"],
    ids=["blank", "newline", "leading dash", "Chinese", "255 bytes", "not UTF-8"],
)
def test_a_file_with_any_name_is_written(config: Path, vault: Vault, name: str | bytes) -> None:
    path = config / os.fsdecode(name)
    path.write_text(TEXT)
    move(vault, path)
    assert path.read_text() == NEW
    assert vault.records()[0].files[0].path == str(path.resolve())


def test_several_op_types_of_one_file_are_one_write(library: Path, vault: Vault) -> None:
    plan = LibraryPlan({"Add": Policy.GRAY, "Log": Policy.BLACK})
    Writer(vault).run("move", [Job(str(library), plan)])
    assert json.loads(library.read_text()) == {"Add": {}, "Log": {"precision_reduce": {"flag": "false"}}}
    assert vault.records()[0].files[0].moves == {"Add": ["white", "gray"], "Log": ["gray", "black"]}
