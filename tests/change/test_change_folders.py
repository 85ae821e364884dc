"""Folders held by a descriptor, users that root trusts, owners of a vault."""

# ruff: noqa: F401, F811 - fixtures are imported by name

from __future__ import annotations

import errno
import grp
import os
import pwd
import re
import signal
import stat
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from races_support import NEW, TEXT, config, library, move, place, writer

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.held_folders import _Step, held, require_trusted
from opsinfo_cli.change.job import Job
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.prune import prune
from opsinfo_cli.change.restore import restore_last
from opsinfo_cli.change.vault import Vault, sha256_of
from opsinfo_cli.change.vault_check import damage_in
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.check.vault import unfinished_change
from opsinfo_cli.errors import Locked, NotConfirmed, OpsinfoError, Refused, Stale
from opsinfo_cli.model.policy import Policy

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


# a folder that is replaced


@pytest.mark.parametrize("in_place", [False, True], ids=["replaced", "in place"])
@pytest.mark.parametrize("moment", ["open", "flock", "fsync"])
def test_a_folder_replaced_by_a_link_during_a_write_has_no_effect(
    place: Path, config: Path, library: Path, tmp_path: Path, in_place: bool, moment: str
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / library.name).write_text(TEXT)
    aside = tmp_path / "aside"

    def swap() -> None:
        if not aside.exists():
            config.rename(aside)
            config.symlink_to(victim)

    class Swapping(FileSystem):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            descriptor = super().open(path, flags, mode)
            if moment == "open" and path == str(library):
                swap()
            return descriptor

        def flock(self, descriptor: int, operation: int) -> None:
            super().flock(descriptor, operation)
            if moment == "flock":
                swap()

        def fsync(self, descriptor: int) -> None:
            super().fsync(descriptor)
            if moment == "fsync":
                swap()

    move(writer(place, Swapping(), in_place=in_place), library)
    assert os.listdir(victim) == [library.name]
    assert (victim / library.name).read_text() == TEXT
    assert (aside / library.name).read_text() == NEW


def test_a_folder_that_is_a_link_by_the_time_it_is_held_is_refused(place: Path, config: Path, library: Path) -> None:
    real = str(library)
    config.rename(config.with_name("aside"))
    config.symlink_to(config.with_name("aside"))
    with pytest.raises(Refused), held(FileSystem(), [real], trusts=True):
        pass


def test_a_link_is_followed_only_outside_a_held_folder(tmp_path: Path) -> None:
    link, fs = tmp_path.resolve() / "link", FileSystem()
    link.symlink_to("file")
    link.with_name("file").write_bytes(b"four")
    descriptor = fs.open(str(link), os.O_RDONLY)
    assert (fs.read(descriptor, 9), fs.stat(str(link)).st_size) == (b"four", 4)
    fs.close(descriptor)
    with held(fs, [str(link)], trusts=True):
        with pytest.raises(OSError, match=re.escape(os.strerror(errno.ELOOP))):
            fs.open(str(link), os.O_RDONLY)
        assert stat.S_ISLNK(fs.stat(str(link)).st_mode)


def trusted(config: Path, file: Path, trust_folder: bool = False) -> str:
    """The name of the error that root gets for a folder; empty if none."""
    try:
        with held(FileSystem(), [str(file)], trust_folder):
            return ""
    except Refused as refused:
        return refused.name if refused.path == str(file) else "another path"


@needs_root
@pytest.mark.parametrize(
    ("folder", "mode", "file", "error"),
    [
        (0, 0o755, 0, ""),
        (1234, 0o755, 1234, ""),  # an install of one service user
        (1234, 0o755, 0, "folder-not-trusted"),
        (1234, 0o1777, 0, "folder-not-trusted"),
        (0, 0o777, 0, "folder-not-trusted"),
        (0, 0o1777, 0, ""),
        (0, 0o775, 0, ""),
    ],
    ids=[
        "root alone",
        "one service user",
        "another user's folder",
        "another user's sticky folder",
        "folder writable by all",
        "root's sticky folder",
        "folder writable by root's group",
    ],
)
def test_root_writes_only_in_folders_where_no_other_user_may_replace_the_file(
    config: Path, library: Path, folder: int, mode: int, file: int, error: str
) -> None:
    os.chown(library, file, file)
    os.chown(config, folder, 0)
    config.chmod(mode)
    assert trusted(config, library) == error
    assert trusted(config, library, trust_folder=True) == ""
    below = config / "below"
    below.mkdir()
    (below / "x.json").touch()
    os.chown(below / "x.json", file, file)
    assert trusted(config, below / "x.json") == error, "ancestors are checked as the folder is"


@needs_root
def test_a_folder_of_an_unknown_group_is_not_trusted(config: Path, library: Path) -> None:
    os.chown(config, 0, 54321)
    config.chmod(0o775)
    assert trusted(config, library) == "folder-not-trusted"


@needs_root
def test_a_folder_whose_access_list_lets_another_user_write_is_not_trusted(config: Path, library: Path) -> None:
    entries = [(1, 7, -1), (2, 7, 1234), (4, 5, -1), (16, 7, -1), (32, 5, -1)]  # owner, user 1234, group, mask, others
    try:
        os.setxattr(
            config,
            "system.posix_acl_access",
            struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries),
        )
    except OSError as error:
        pytest.skip(f"the file system has no access lists: {error.strerror}")
    assert stat.S_IMODE(config.stat().st_mode) == 0o775
    assert trusted(config, library) == "folder-not-trusted"
    os.removexattr(config, "system.posix_acl_access")
    config.chmod(0o775)
    assert trusted(config, library) == "", "the group is root's"


ANOTHER = next((user for user in pwd.getpwall() if user.pw_uid), None)


@pytest.mark.skipif(ANOTHER is None, reason="this system has no other user than root")
@pytest.mark.parametrize(
    ("user", "mode", "group", "has_acl", "reason"),
    [
        (ANOTHER and ANOTHER.pw_uid, 0o755, 0, False, f"belongs to user {ANOTHER and ANOTHER.pw_name}"),
        (4_000_000, 0o755, 0, False, "belongs to user 4000000"),
        (0, 0o757, 0, False, "can be written by everybody"),
        (0, 0o775, 0, True, f"can be written by group {grp.getgrgid(0).gr_name}"),
        (0, 0o775, 4_000_000, False, "can be written by group 4000000"),
    ],
)
def test_a_folder_that_is_not_trusted_is_named_with_the_user_or_group_that_may_write_it(
    user: int, mode: int, group: int, has_acl: bool, reason: str
) -> None:
    about = os.stat_result((mode | stat.S_IFDIR, 1, 1, 1, user, group, 0, 0, 0, 0))
    with pytest.raises(Refused, match=f"root writes it: /config {reason}$"):
        require_trusted("/config/file.json", [_Step("/config", about, has_acl)], 0)


# the vault's owner, and other cases


@needs_root
def test_a_vault_of_another_owner_is_refused_before_it_is_read(place: Path, library: Path) -> None:
    move(writer(place), library)
    for path in (place, *place.rglob("*")):
        os.chown(path, 1234, 1234)

    class Reading(FileSystem):
        def open(self, path: str, flags: int, mode: int = 0o600) -> int:
            assert not path.startswith(str(place)), "read before its owner was checked"
            return super().open(path, flags, mode)

    vault = Vault(str(place), Reading())
    for look in (vault.journal, vault.objects, lambda: vault.content("0" * 64)):
        with pytest.raises(Refused) as caught:
            look()
        assert caught.value.name == "vault-not-ours"


def test_a_failing_close_of_a_lock_is_ignored(place: Path, library: Path) -> None:
    class Failing(FileSystem):
        locks: set[int] = set()  # noqa: RUF012

        def flock(self, descriptor: int, operation: int) -> None:
            super().flock(descriptor, operation)
            self.locks.add(descriptor)

        def close(self, descriptor: int) -> None:
            super().close(descriptor)
            if descriptor in self.locks:
                self.locks.discard(descriptor)
                raise OSError(5, "EIO")

    move(writer(place, Failing()), library)
    assert library.read_text() == NEW


def test_a_removed_working_folder_is_a_clean_error(place: Path, tmp_path: Path, library: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    here = os.getcwd()
    os.chdir(gone)
    try:
        gone.rmdir()
        move(writer(place), library)
        assert library.read_text() == NEW
        with pytest.raises(OpsinfoError):
            move(writer(place), Path("x.json"))
    finally:
        os.chdir(here)
