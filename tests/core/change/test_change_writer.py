"""The writer: a file is old or new, what belongs to it is kept, and no change of another program is lost."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from change_support import NEW, ROOT_ONLY, TEXT, Holding, create, jobs, move, names, once, record_of, records, run
from raising import raised

from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.fmt import FmtPlan
from opsinfo_cli.core.change.move import Movable
from opsinfo_cli.core.change.output_file import new_folder, require_writable, write_copies, write_file
from opsinfo_cli.core.change.plan import Job, LibraryPlan, MixlistPlan
from opsinfo_cli.core.change.record import BackupEntry
from opsinfo_cli.core.change.replace_file import sha256_of
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer, _is_closed
from opsinfo_cli.errors import Locked, NotConfirmed, Refused, Stale


def test_a_move_is_written_recorded_and_backed_up(library: Path, vault: Vault) -> None:
    result = run(vault, library)
    assert library.read_text() == NEW
    assert names(library.parent) == [library.name]
    (file,) = result.files
    assert [tuple(map(str, each)) for each in file.moved] == [("Add", "white", "black")]
    (record,) = records(vault)
    assert (record.id, record.kind, record.state, record.number) == (result.change, "move", "done", 1)
    (changed,) = record.files
    assert (changed.path, changed.before, changed.after) == (str(library), sha256_of(TEXT.encode()), file.result.sha256)
    assert changed.moves == {"Add": ["white", "black"]}
    assert file.backup == record.backup_id(0)
    assert Path(vault.backup_path(BackupEntry(record, 0))).read_text() == TEXT


def test_without_a_change_no_file_is_touched(library: Path, vault: Vault) -> None:
    before = library.stat()
    result = run(vault, library, to="white")
    after = library.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert (result.change, [file.stayed for file in result.files], records(vault)) == (None, [["Add"]], [])


def test_of_several_files_only_those_that_change_are_written(tmp_path: Path, vault: Vault) -> None:
    paths = [tmp_path / f"{name}.json" for name in "abc"]
    for path, flag in zip(paths, ("true", "false", "true"), strict=True):
        path.write_text(TEXT.replace("true", flag))
    before = paths[1].stat()
    result = run(vault, *paths)
    assert [path.read_text() for path in paths] == [NEW] * 3
    assert paths[1].stat().st_mtime_ns == before.st_mtime_ns
    (record,) = records(vault)
    assert [Path(each.path).name for each in record.files] == ["a.json", "c.json"]
    assert [file.backup for file in result.files] == [record.backup_id(0), None, record.backup_id(1)]


@pytest.mark.parametrize("fault", ["damaged", "missing", "hard link", "folder"])
def test_one_refused_file_does_not_stop_the_others(tmp_path: Path, vault: Vault, fault: str) -> None:
    bad, good = tmp_path / "a.json", tmp_path / "b.json"
    good.write_text(TEXT)
    if fault == "folder":
        bad.mkdir()
    elif fault != "missing":
        bad.write_text('{"Add":{},}' if fault == "damaged" else TEXT)
    if fault == "hard link":
        os.link(bad, tmp_path / "link.json")
    shown = Writer(vault).preview(jobs("Add", "black", bad, good))
    assert [file.path for file in shown.files] == ([str(bad)] if fault == "hard link" else []) + [str(good)]
    result = run(vault, bad, good)
    assert [file.path for file in result.files] == [str(good)]
    assert [error.path for error in result.refused] == [str(bad)]
    assert good.read_text() == NEW
    assert [file.path for file in records(vault)[0].files] == [str(good)]
    with pytest.raises(Refused):
        run(vault, bad)


def test_a_file_that_cannot_be_replaced_takes_the_others_back(
    library: Path, other: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.replace

    def failing(source: str, target: str, **folders: int) -> None:
        if target == other.name and not failing_done:
            failing_done.append(1)
            raise OSError(errno.EIO, "Input/output error")
        really(source, target, **folders)

    failing_done: list[int] = []
    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(Refused, match="Input/output error"):
        run(vault, library, other)
    assert (library.read_text(), other.read_text()) == (TEXT, TEXT)
    assert [record.state for record in records(vault)] == ["abandoned"]
    assert names(library.parent) == sorted([library.name, other.name])
    run(vault, library, other)
    assert (library.read_text(), other.read_text()) == (NEW, NEW)


def test_the_preview_equals_the_run_and_opens_nothing_for_writing(
    library: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def reading(path: Any, flags: int, *rest: Any, **keywords: Any) -> int:
        assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        return opened(path, flags, *rest, **keywords)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", reading)
        shown = Writer(vault).preview(jobs("Add", "black", library))
    assert (shown.would_change, shown.change) == (True, None)
    assert not os.path.exists(vault.path)
    assert run(vault, library).files[0].result.data == shown.files[0].result.data


def test_a_mixlist_is_written_by_the_same_writer(tmp_path: Path, vault: Vault) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"black-list": {"to-add": ["Log", "Add"]}}')
    Writer(vault).run("move", [Job(str(path), MixlistPlan({"Add": Policy.GRAY}))])
    assert path.read_text() == '{"black-list": {"to-add": ["Log"]}}'


def test_several_op_types_of_one_file_are_one_write(library: Path, vault: Vault) -> None:
    plan = LibraryPlan({"Add": Policy.GRAY, "Log": Policy.BLACK})
    Writer(vault).run("move", [Job(str(library), plan)])
    assert json.loads(library.read_text()) == {"Add": {}, "Log": {"precision_reduce": {"flag": "false"}}, "Mul": {}}
    assert records(vault)[0].files[0].moves == {"Add": ["white", "gray"], "Log": ["gray", "black"]}


# what is kept


@pytest.mark.parametrize("mode", [0o400, 0o555, 0o640, 0o664, 0o2755], ids=oct)
@pytest.mark.parametrize("umask", [0o000, 0o077], ids=oct)
def test_the_mode_is_kept_for_any_umask(library: Path, vault: Vault, mode: int, umask: int) -> None:
    library.chmod(mode)
    before = os.umask(umask)
    try:
        run(vault, library)
    finally:
        os.umask(before)
    assert library.read_text() == NEW
    assert stat.S_IMODE(library.stat().st_mode) == mode


@ROOT_ONLY
def test_the_owner_and_group_are_kept(library: Path, vault: Vault) -> None:
    os.chown(library, 1234, 2345)
    library.chmod(0o4755)
    run(vault, library)
    after = library.stat()
    assert (after.st_uid, after.st_gid, stat.S_IMODE(after.st_mode)) == (1234, 2345, 0o4755)


def test_extended_attributes_are_kept(library: Path, vault: Vault) -> None:
    try:
        os.setxattr(library, "user.label", b"\0x")
    except OSError:
        pytest.skip("the file system has no user attributes")
    run(vault, library)
    assert library.read_text() == NEW
    assert os.getxattr(library, "user.label") == b"\0x"


def acl(*entries: tuple[int, int, int]) -> bytes:
    """An access list as the kernel stores it. Source: linux/posix_acl_xattr.h.

    :param entries: tag, permissions and id of each entry
    """
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NOBODY_READS = acl((1, 6, 0xFFFFFFFF), (2, 4, 65534), (4, 4, 0xFFFFFFFF), (0x10, 4, 0xFFFFFFFF), (0x20, 4, 0xFFFFFFFF))
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"


NO_ID = 0xFFFFFFFF


def writable_by(*entries: tuple[int, int]) -> bytes:
    """An access list: everybody may read, and these tags and ids write; the mask lets them."""
    fixed = [(1, 7, NO_ID), (4, 5, NO_ID), (0x10, 7, NO_ID), (0x20, 5, NO_ID)]
    return acl(*sorted([*fixed, *((tag, 7, number) for tag, number in entries)]))  # the kernel wants tags in order


def set_acl(path: Path, name: str, value: bytes = NOBODY_READS) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"the file system has no access lists: {error.strerror}")


def test_an_access_list_is_kept_and_the_one_of_the_folder_is_not_added(on_disk: Path, vault: Vault) -> None:
    on_disk.chmod(0o644)
    set_acl(on_disk.parent, DEFAULT)
    before = on_disk.stat().st_mode
    run(vault, on_disk)
    assert on_disk.read_text() == NEW
    assert (os.listxattr(on_disk), on_disk.stat().st_mode) == ([], before)
    set_acl(on_disk, ACCESS)
    kept = os.getxattr(on_disk, ACCESS)
    run(vault, on_disk, to="white")
    assert (on_disk.read_text(), os.getxattr(on_disk, ACCESS)) == (TEXT, kept)


def test_a_new_file_has_the_access_that_its_folder_gives(on_disk: Path, vault: Vault) -> None:
    """As a file has that a shell creates: the mask of the list is not cut by the umask."""
    set_acl(on_disk.parent, DEFAULT, writable_by((2, 1234)))
    by_hand, ours, output = (on_disk.with_name(name) for name in ("hand.json", "ours.json", "output.json"))
    by_hand.touch()
    create(Writer(vault), ours)
    write_file(str(output), b"x")
    access = os.getxattr(by_hand, ACCESS)
    assert (os.getxattr(ours, ACCESS), os.getxattr(output, ACCESS)) == (access, access)


def test_an_output_file_keeps_its_access_list(on_disk: Path) -> None:
    set_acl(on_disk, ACCESS, writable_by((2, 1234)))
    before = os.getxattr(on_disk, ACCESS)
    write_file(str(on_disk), b"x")
    assert (on_disk.read_bytes(), os.getxattr(on_disk, ACCESS)) == (b"x", before)


@ROOT_ONLY
def test_an_output_file_keeps_its_access_list_where_its_owner_cannot_be_kept(
    on_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chown(*_: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    os.chown(on_disk, 1234, -1)
    set_acl(on_disk, ACCESS, writable_by((2, 1234)))
    before = os.getxattr(on_disk, ACCESS)
    monkeypatch.setattr(os, "fchown", chown)
    write_file(str(on_disk), b"x")
    assert (on_disk.read_bytes(), os.getxattr(on_disk, ACCESS)) == (b"x", before)


@ROOT_ONLY
def test_an_output_file_keeps_its_owner(tmp_path: Path) -> None:
    report = tmp_path / "report"
    report.touch(0o640)
    os.chown(report, 1234, 4321)
    write_file(str(report), b"x")
    here = report.stat()
    assert (here.st_uid, here.st_gid, stat.S_IMODE(here.st_mode)) == (1234, 4321, 0o640)


def test_a_symlink_is_kept_and_the_real_file_changes(library: Path, tmp_path: Path, vault: Vault) -> None:
    link = tmp_path / "link.json"
    link.symlink_to(os.path.relpath(library.parent / "again.json", tmp_path))
    (library.parent / "again.json").symlink_to(library.name)
    run(vault, link)
    assert link.is_symlink()
    assert (library.parent / "again.json").is_symlink()
    assert library.read_text() == NEW
    assert (records(vault)[0].files[0].path, records(vault)[0].files[0].given) == (str(library), str(link))


@pytest.mark.parametrize("target", ["nowhere", "self"])
def test_a_dangling_link_is_refused(tmp_path: Path, vault: Vault, target: str) -> None:
    (tmp_path / "self").symlink_to(target)
    with pytest.raises(Refused):
        run(vault, tmp_path / "self")


def test_a_hard_link_is_refused_with_a_hint(library: Path, tmp_path: Path, vault: Vault) -> None:
    os.link(library, tmp_path / "other.json")
    error = raised(Refused, run, vault, library)
    assert error.name == "hard-link"
    assert error.hint
    assert (library.read_text(), records(vault)) == (TEXT, [])


@pytest.mark.parametrize(
    "name",
    ["a b.json", "a\nb.json", "-n.json", "\u4e2d.json", "x" * 250 + ".json", b"\xff.json"],
    ids=["blank", "newline", "leading dash", "Chinese", "255 bytes", "not UTF-8"],
)
def test_a_file_with_any_name_is_written_and_restored(writer: Writer, tmp_path: Path, name: str | bytes) -> None:
    path = tmp_path / os.fsdecode(name)
    path.write_text(TEXT)
    move(writer, "Add", "black", path)
    assert path.read_text() == NEW
    (record,) = records(writer.vault)
    assert record.files[0].path == str(path)
    assert writer.vault.content(BackupEntry(record, 0)) == TEXT.encode()


# other programs


MEDDLING: dict[str, Callable[[Path], object]] = {
    "in place": lambda path: path.write_text(TEXT + " "),
    "same size and time": lambda path: (path.write_text(TEXT.replace("Log", "Pow")), os.utime(path, ns=(1, 1))),
    "replaced": lambda path: Path(f"{path}.new").write_text(TEXT) and Path(f"{path}.new").rename(path),
    "link": lambda path: (path.rename(f"{path}.old"), path.symlink_to(f"{path}.old")),
}


@pytest.mark.parametrize("how", MEDDLING)
def test_a_file_that_another_program_writes_meanwhile_is_stale(
    library: Path, vault: Vault, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.utime(library, ns=(1, 1))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fchmod", once(lambda: MEDDLING[how](library), os.fchmod))
        with pytest.raises(Stale):
            run(vault, library)
    assert "false" not in library.read_text()
    assert not [name for name in names(library.parent) if name.startswith(".opsinfo")]
    assert [record.state for record in records(vault)] == ["abandoned"]


def test_a_file_that_changes_while_it_is_read_is_stale(
    on_disk: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its second half is of another text than its first one."""
    os.utime(on_disk, ns=(1, 1))
    really = os.read

    def reading(descriptor: int, size: int) -> bytes:
        if os.path.realpath(f"/proc/self/fd/{descriptor}") != str(on_disk):
            return really(descriptor, size)
        part = really(descriptor, len(TEXT) // 2)
        on_disk.write_text(TEXT.replace("Mul", "Pow"))
        return part

    monkeypatch.setattr(os, "read", reading)
    assert raised(Refused, run, vault, on_disk).name == "stale"
    monkeypatch.undo()
    assert (on_disk.read_text(), records(vault)) == (TEXT.replace("Mul", "Pow"), [])


def test_a_file_that_is_only_touched_is_not_stale(library: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fchmod", once(lambda: os.utime(library, ns=(1, 1)), os.fchmod))
    run(vault, library)
    assert library.read_text() == NEW


@pytest.mark.parametrize("in_place", [False, True], ids=["replaced", "in place"])
def test_a_folder_swapped_for_a_link_during_a_write_is_not_followed(
    library: Path, tmp_path: Path, vault: Vault, in_place: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The moment is after the backup was written; the victim has the library's name and content."""
    elsewhere, add = tmp_path / "elsewhere", vault.add
    elsewhere.mkdir()
    (elsewhere / library.name).write_text(TEXT)

    def swap() -> None:
        library.parent.rename(tmp_path / "away")
        library.parent.symlink_to(elsewhere)

    monkeypatch.setattr(vault, "add", lambda *change: (add(*change), swap()))
    run(vault, library, in_place=in_place)
    assert (elsewhere / library.name).read_text() == TEXT
    assert names(elsewhere) == [library.name]
    assert (tmp_path / "away" / library.name).read_text() == NEW


def test_a_file_met_in_a_tree_that_became_a_link_out_of_it_is_not_written(
    library: Path, tmp_path: Path, vault: Vault
) -> None:
    victim = tmp_path / "victim.json"
    library.rename(victim)
    library.symlink_to(victim)
    job = Job(str(library), LibraryPlan({"Add": Policy.BLACK}), tree=str(library.parent))
    for act in (Writer(vault).preview, partial(Writer(vault).run, "validate")):
        assert raised(Refused, act, [job]).name == "outside"
    assert victim.read_text() == TEXT


def test_a_folder_that_became_a_link_before_it_is_held_is_refused(
    library: Path, tmp_path: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.path.realpath(library)
    monkeypatch.setattr(os.path, "realpath", lambda path, **_: real if str(path) == str(library) else str(path))
    library.parent.rename(tmp_path / "away")
    library.parent.symlink_to(tmp_path / "away")
    assert raised(Refused, run, vault, library).name == "stale"
    assert (tmp_path / "away" / library.name).read_text() == TEXT


def test_the_plan_is_computed_from_the_content_under_the_lock(
    library: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", once(lambda: library.write_text(TEXT.replace("Log", "Pow")), fcntl.flock))
    run(vault, library)
    assert library.read_text() == NEW.replace("Log", "Pow")


# locks


@pytest.mark.parametrize("what", ["file", "folder", "vault"])
def test_a_held_lock_is_waited_for_and_its_owner_named(
    library: Path, vault: Vault, what: str, lock_owner_is_shown: Callable[[Path], bool]
) -> None:
    run(vault, library, op="Log")
    place = {"file": library, "folder": library.parent, "vault": Path(vault.folder)}[what]
    before = library.read_text()
    with Holding(place) as owner:
        error = raised(Locked, run, vault, library, wait=0.05)
        assert library.read_text() == before
        if lock_owner_is_shown(place):
            assert str(owner.pid) in error.message
    with Holding(place, seconds=0.3):
        run(vault, library, wait=30)
    assert library.read_text() != before


def is_locked(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def test_a_file_replaced_during_the_wait_for_its_lock_is_locked_again(
    on_disk: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever locks the file that is now at the path must wait, so the lock on the old one is worth nothing."""
    fresh = on_disk.with_suffix(".fresh")
    fresh.write_text(TEXT.replace("Log", "Pow"))
    held = os.open(on_disk, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    locked: list[bool] = []

    def sleeping(_: float) -> None:
        fresh.rename(on_disk)
        os.close(held)

    monkeypatch.setattr("time.sleep", sleeping)
    monkeypatch.setattr(os, "fchmod", once(lambda: locked.append(is_locked(on_disk)), os.fchmod))
    run(vault, on_disk, wait=30)
    assert (locked, on_disk.read_text()) == ([True], NEW.replace("Log", "Pow"))


def test_a_folder_replaced_during_the_wait_for_its_lock_is_refused(
    on_disk: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = on_disk.parent
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)

    def sleeping(_: float) -> None:
        folder.rename(folder.with_name("away"))
        folder.mkdir()
        on_disk.write_text(TEXT)
        os.close(held)

    monkeypatch.setattr("time.sleep", sleeping)
    error = raised(Refused, run, vault, on_disk, wait=30)
    assert (error.name, error.path) == ("stale", str(folder))
    assert [path.read_text() for path in (on_disk, folder.with_name("away") / on_disk.name)] == [TEXT, TEXT]


def test_all_runs_take_their_locks_in_one_order(on_disk: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise two of them may wait for each other."""
    paths = [on_disk.parent.parent / folder / name for folder in "cab" for name in ("z.json", "a.json")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_text(TEXT)
    really, order = fcntl.flock, list[str]()

    def noting(descriptor: int, how: int) -> None:
        order.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        really(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", noting)
    run(vault, *paths)
    files = sorted({str(path) for path in paths} | {str(path.parent) for path in paths})
    assert order == [vault.folder, *files], "the vault first; a folder before its files"


def test_a_file_system_without_locks_is_refused(library: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refusing)
    assert raised(Refused, run, vault, library).name == "no-lock"
    assert library.read_text() == TEXT


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="this system does not list open files")
def test_every_run_closes_what_it_opened(library: Path, other: Path, vault: Vault) -> None:
    before = os.listdir("/proc/self/fd")
    run(vault, library, other)
    with Holding(other), pytest.raises(Locked):
        run(vault, library, other, to="gray")
    with pytest.raises(Refused):
        run(vault, library.with_name("missing.json"))
    assert os.listdir("/proc/self/fd") == before


# ways of writing


def test_in_place_keeps_the_inode(library: Path, vault: Vault) -> None:
    before = library.stat()
    run(vault, library, in_place=True)
    assert library.read_text() == NEW
    assert library.stat().st_ino == before.st_ino
    assert (records(vault)[0].in_place, records(vault)[0].files[0].inode) == (True, before.st_ino)


@pytest.mark.parametrize("in_place", [False, True], ids=["replaced", "in place"])
def test_a_read_only_folder_is_named_if_it_is_written_to(tmp_path: Path, vault: Vault, in_place: bool) -> None:
    folder, said = tmp_path / "kept", list[str]()
    folder.mkdir()
    (folder / "a.json").write_text(TEXT)
    folder.chmod(0o555)
    run(vault, folder / "a.json", in_place=in_place, say=said.append)
    folder.chmod(0o755)
    assert [text.partition(" is read-only")[0] for text in said] == ([] if in_place else [str(folder)])
    assert (folder / "a.json").read_text() == NEW


@pytest.mark.parametrize(("more", "expected"), [(0, True), (1, False)], ids=["of the user", "of another user"])
def test_only_a_read_only_folder_of_the_user_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int, expected: bool
) -> None:
    tmp_path.chmod(0o555)
    user = tmp_path.stat().st_uid + more
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert _is_closed(str(tmp_path)) is expected
    tmp_path.chmod(0o755)
    assert not _is_closed(str(tmp_path))


def test_in_place_is_confirmed_by_the_disk_before_the_change_ends(
    library: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, synced = os.fsync, list[str]()

    def noting(descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        synced.append(library.read_text() if path == str(library) else "")
        really(descriptor)

    monkeypatch.setattr(os, "fsync", noting)
    run(vault, library, in_place=True)
    assert NEW in synced


@pytest.mark.parametrize(
    ("number", "name", "hint"),
    [
        (errno.EBUSY, "not-replaceable", "--in-place"),
        (errno.EXDEV, "not-replaceable", "--in-place"),
        (errno.ENOSPC, "not-written", "the disk of {} is full"),
        (errno.EROFS, "not-written", "the file system of {} is mounted read-only"),
    ],
)
def test_a_file_that_the_system_does_not_replace_is_refused_with_the_reason(
    library: Path, vault: Vault, number: int, name: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", refusing)
    error = raised(Refused, run, vault, library)
    assert (error.name, library.read_text()) == (name, TEXT)
    assert hint.format(library.parent) in str(error.hint)


def test_a_write_that_the_disk_does_not_confirm_is_reported_after_it_is_done(
    library: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.fsync

    def failing(descriptor: int) -> None:
        if os.readlink(f"/proc/self/fd/{descriptor}") == str(library.parent):
            raise OSError(errno.EIO, "Input/output error")
        really(descriptor)

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(NotConfirmed):
        run(vault, library)
    assert library.read_text() == NEW
    assert [record.state for record in records(vault)] == ["done"]


def test_a_change_whose_end_cannot_be_recorded_is_not_confirmed_and_the_next_run_ends_it(
    library: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(record: object) -> None:
        raise Refused("the disk is full")

    monkeypatch.setattr(vault, "save", refusing)
    with pytest.raises(NotConfirmed):
        run(vault, library)
    monkeypatch.undo()
    assert library.read_text() == NEW
    assert [record.state for record in records(vault)] == ["pending"]
    run(vault, library, op="Log")
    assert [record.state for record in records(vault)] == ["done", "done"]


def test_new_files_are_one_change_that_follows_the_umask(tmp_path: Path, vault: Vault) -> None:
    before = os.umask(0o027)
    try:
        change = create(Writer(vault), tmp_path / "a", tmp_path / "b")
    finally:
        os.umask(before)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "b")] == [0o640, 0o640]
    assert [(file.before, file.backup) for file in record_of(vault, change).files] == [(None, None)] * 2
    assert raised(Refused, create, Writer(vault), tmp_path / "c", tmp_path / "a").name == "exists"
    assert not (tmp_path / "c").exists()
    create(Writer(vault), tmp_path / "empty", text="")
    assert (tmp_path / "empty").read_bytes() == b""


def test_a_mixlist_that_another_process_creates_meanwhile_gets_the_marks_too(tmp_path: Path, vault: Vault) -> None:
    path = tmp_path / "m.json"
    mine, theirs = (Movable(str(path)).jobs({name: Policy.BLACK}, print) for name in ("Add", "Mul"))
    Writer(vault).run("move", theirs)
    Writer(vault).run("move", mine)
    assert json.loads(path.read_text()) == {"black-list": {"to-add": ["Mul", "Add"]}}


def test_two_paths_of_one_file_are_one_file(tmp_path: Path, vault: Vault) -> None:
    path, link = tmp_path / "m.json", tmp_path / "link.json"
    path.write_text('{"black-list": {"to-add": ["Add",]}}')
    link.symlink_to(path)
    work = [Job(str(each), FmtPlan()) for each in (path, link)]
    assert len(Writer(vault).preview(work).files) == 1
    result = Writer(vault).run("fmt", work)
    assert (len(result.files), result.refused) == (1, ())
    assert path.read_text() == '{"black-list": {"to-add": ["Add"]}}'


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP], ids=["EPERM", "EOPNOTSUPP"])
def test_a_file_is_created_on_a_file_system_without_hard_links(
    tmp_path: Path, vault: Vault, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refusing)
    create(Writer(vault), tmp_path / "a", text=TEXT)
    assert ((tmp_path / "a").read_text(), names(tmp_path)) == (TEXT, ["a", "vault"])
    with pytest.raises(Refused, match="exists already"):
        write_copies({"/x/a": b"1"}, str(tmp_path / "a"), directory=False)
    assert ((tmp_path / "a").read_text(), names(tmp_path)) == (TEXT, ["a", "vault"])
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(Refused, match="exists already"):
        write_copies({"/x/a": b"1"}, str(tmp_path / "link"), directory=False)


def test_new_files_of_which_one_cannot_be_made_are_all_removed(
    tmp_path: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.link

    def failing(source: str, target: str, **folders: Any) -> None:
        if target == "b":
            raise OSError(errno.ENOSPC, "No space left on device")
        really(source, target, **folders)

    monkeypatch.setattr(os, "link", failing)
    folder = tmp_path / "new"
    with pytest.raises(Refused), new_folder(str(folder)):
        create(Writer(vault), folder / "a", folder / "b")
    assert not (tmp_path / "new").exists()
    assert [record.state for record in records(vault)] == ["abandoned"]
    with pytest.raises(Refused):
        write_copies({"/x/a": b"1", "/y/b": b"2"}, str(tmp_path / "copies"), directory=True)
    assert not (tmp_path / "copies").exists()


def test_copies_are_written_into_a_new_folder_or_as_one_file(tmp_path: Path) -> None:
    write_copies({"/x/a": b"1", "/y/b": b"2"}, str(tmp_path / "copies"), directory=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "copies").iterdir()} == {"a": b"1", "b": b"2"}
    write_copies({"/x/a": b"1"}, str(tmp_path / "one"), directory=False)
    assert (tmp_path / "one").read_bytes() == b"1"
    for target, directory in (("copies", True), ("one", False)):
        with pytest.raises(Refused):
            write_copies({"/x/a": b"1"}, str(tmp_path / target), directory)


def test_an_output_file_is_replaced_as_a_whole_and_a_stream_written_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, link = tmp_path / "report", tmp_path / "link"
    link.symlink_to(path)
    write_file(str(link), b"one")
    path.chmod(0o604)
    inode = path.stat().st_ino
    write_file(str(link), b"two")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode), link.is_symlink()) == (b"two", 0o604, True)
    assert path.stat().st_ino != inode
    write_file("/dev/null", b"three")

    def failing(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(Refused, match="Input/output error"):
        write_file(str(path), b"four")
    assert path.read_bytes() == b"two"
    for bad in (tmp_path, tmp_path / "missing" / "report"):
        with pytest.raises(Refused):
            write_file(str(bad), b"x")
    assert names(tmp_path) == ["link", "report"]


# folders and users


def moved_by_nobody(vault: Path, path: Path, scratch: Path) -> str:
    scratch.write_text(TEXT)
    run(Vault(str(scratch) + ".vault"), scratch)  # an interpreter in root's home could not import later on
    return as_nobody(lambda: run(Vault(str(vault)), path))


def as_nobody(action: Callable[[], object]) -> str:
    """Do something in a child process of an ordinary user, and return the name of the error, or nothing."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            action()
        except Refused as error:
            os.write(writing, error.name.encode())
        except BaseException as error:
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with open(reading) as answer:
        return answer.read()


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of an ordinary user's install: mode 0555 in a folder of 0550."""
    top = tmp_path_factory.mktemp("installed")
    for folder in (top, *top.parents[:3]):
        if folder.name.startswith(("pytest-", "popen-", "installed")):
            folder.chmod(0o755)
    config = top / "config"
    config.mkdir()
    path = config / "aic-x-ops-info.json"
    path.write_text(TEXT)
    path.chmod(0o555)
    (top / "state").mkdir()
    for each in (path, config, top / "state"):
        os.chown(each, 65534, 65534)
    config.chmod(0o550)
    return path


@ROOT_ONLY
@pytest.mark.parametrize(
    ("owner", "folders_owner", "answer"),
    [(65534, 65534, ""), (1234, 65534, "not-owner"), (65534, 0, "not-written")],
    ids=["owner", "another user's file", "another user's folder"],
)
def test_the_owner_of_an_installed_file_writes_it_and_every_mode_is_put_back(
    installed: Path, tmp_path: Path, owner: int, folders_owner: int, answer: str
) -> None:
    os.chown(installed, owner, 65534)
    os.chown(installed.parent, folders_owner, 65534)
    state = installed.parent.parent / "state"
    assert moved_by_nobody(state / "vault", installed, tmp_path / "x.json") == answer
    assert installed.read_text() == (TEXT if answer else NEW)
    assert (installed.stat().st_uid, stat.S_IMODE(installed.stat().st_mode)) == (owner, 0o555)
    assert stat.S_IMODE(installed.parent.stat().st_mode) == 0o550
    assert names(installed.parent) == [installed.name]


@ROOT_ONLY
def test_what_is_found_out_before_long_work_is_what_the_write_finds(installed: Path) -> None:
    """A change opens a closed folder of one's own; an output without a backup does not."""
    closed = installed.parent
    report, new = str(closed / "report.html"), str(closed / "new.json")
    vault = Vault(str(closed.parent / "state" / "vault"))
    assert as_nobody(lambda: require_writable(report)) == as_nobody(lambda: write_file(report, b"x")) == "not-written"
    assert as_nobody(lambda: Writer(vault).require_writable(new)) == ""
    closed.chmod(0o750)
    assert as_nobody(lambda: require_writable(report)) == as_nobody(lambda: write_file(report, b"x")) == ""


@ROOT_ONLY
@pytest.mark.parametrize(
    ("mode", "answer"), [(0o700, "unreadable"), (0o733, "not-written")], ids=["not for others", "write only"]
)
def test_a_folder_that_may_not_be_read_is_no_file_system_without_locks(
    installed: Path, tmp_path: Path, mode: int, answer: str
) -> None:
    folder = installed.parent.parent / "closed"
    folder.mkdir()
    folder.chmod(mode)
    state = installed.parent.parent / "state"
    (folder / "aic-x-ops-info.json").write_text(TEXT)
    assert moved_by_nobody(state / "vault", folder / "aic-x-ops-info.json", tmp_path / "x.json") == answer
    assert names(folder) == ["aic-x-ops-info.json"]


def open_to_all(folder: Path) -> None:
    folder.chmod(0o777)


def of_another_user(folder: Path) -> None:
    os.chown(folder, 1234, 0)


def of_an_unknown_group(folder: Path) -> None:
    os.chown(folder, 0, 4321)
    folder.chmod(0o775)


@ROOT_ONLY
@pytest.mark.parametrize("danger", [open_to_all, of_another_user, of_an_unknown_group], ids=lambda each: each.__name__)
@pytest.mark.parametrize("above", [0, 2], ids=["its folder", "a folder above"])
def test_root_refuses_a_folder_in_which_others_may_replace_the_file(
    library: Path, vault: Vault, danger: Callable[[Path], None], above: int
) -> None:
    danger(library.parents[above])
    error = raised(Refused, run, vault, library)
    assert (error.name, library.read_text()) == ("folder-not-trusted", TEXT)
    assert "--force" in str(error.hint)
    run(vault, library, force=True)
    assert library.read_text() == NEW


@ROOT_ONLY
def test_root_refuses_a_folder_whose_access_list_lets_others_write(on_disk: Path, vault: Vault) -> None:
    """The bits of the group are the mask of the list then, and the group alone would be trusted."""
    on_disk.parent.chmod(0o775)
    run(vault, on_disk)
    for entry, who in (((2, 1234), "user 1234"), ((8, 4321), "group 4321")):
        set_acl(on_disk.parent, ACCESS, writable_by((2, 0), entry))
        error = raised(Refused, run, vault, on_disk, to="white")
        assert error.name == "folder-not-trusted"
        assert error.message.endswith(f"{on_disk.parent} can be written by {who}, as its access list says")
    set_acl(on_disk.parent, ACCESS, writable_by((2, 0), (8, 0)))
    run(vault, on_disk, to="white")


@ROOT_ONLY
def test_root_trusts_a_sticky_folder_its_own_group_and_the_files_owner(library: Path, vault: Vault) -> None:
    os.chown(library, 1234, 1234)
    os.chown(library.parent, 1234, 0)
    library.parent.chmod(0o775)
    library.parents[1].chmod(0o1777)
    run(vault, library)
    assert library.read_text() == NEW


@ROOT_ONLY
def test_root_does_not_follow_a_link_in_another_users_folder(library: Path, tmp_path: Path, vault: Vault) -> None:
    (tmp_path / "theirs").mkdir()
    link = tmp_path / "theirs" / "report"
    link.symlink_to(library)
    os.chown(tmp_path / "theirs", 1234, 1234)
    for attempt in (lambda: run(vault, link), lambda: write_file(str(link), b"x")):
        assert (raised(Refused, attempt).name, library.read_text()) == ("folder-not-trusted", TEXT)


# leftovers


def test_a_temp_of_a_killed_run_is_removed_and_others_stay(library: Path, vault: Vault) -> None:
    others = [".opsinfo-1-x.tmp.json", ".opsinfo-output-abcdef.tmp"]  # an output is written without a lock
    for name in (".opsinfo-77-abcdef.tmp", *others):
        (library.parent / name).write_text("{}")
    run(vault, library)
    assert names(library.parent) == sorted([*others, library.name])


def test_a_second_name_that_a_killed_run_left_is_removed(library: Path, vault: Vault) -> None:
    os.link(library, library.parent / ".opsinfo-77-abcdef.tmp")
    run(vault, library)
    assert names(library.parent) == [library.name]
