"""Real errors of the kernel: a full disk, a read-only disk, an immutable file, a bind-mounted file."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from faults_support import (
    CONFIG,
    TEXT,
    as_user,
    everywhere,
    give,
    jobs,
    lay,
    needs_root,
    writer_on,
)
from folder_for_everybody import folder_for_everybody

from opsinfo_cli.core.change.restore import restore_last
from opsinfo_cli.errors import NotConfirmed, Refused

Run = Callable[..., Any]
Mount = Callable[..., None]

pytestmark = needs_root


@pytest.fixture
def mount() -> Iterator[Mount]:
    """Mount a file system during a test."""
    mounted: list[Path] = []

    def do(at: Path, *words: str | Path) -> None:
        done = subprocess.run(["mount", *words, at], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
        if "remount" not in str(words):
            mounted.append(at)

    yield do
    for at in reversed(mounted):
        subprocess.run(["umount", at], check=True, capture_output=True)


@pytest.fixture
def immutable() -> Iterator[Callable[[Path], None]]:
    """Set the immutable attribute during a test."""
    if shutil.which("chattr") is None:
        pytest.skip("chattr is not installed")
    marked: list[Path] = []

    def do(path: Path) -> None:
        done = subprocess.run(["chattr", "+i", path], capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"the file system has no immutable files: {done.stderr.strip()}")
        marked.append(path)

    yield do
    for path in marked:
        subprocess.run(["chattr", "-i", path], check=True)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (path,) = lay(tmp_path / CONFIG, 1)
    return path


def tiny(path: Path, mount: Mount, size: str = "64k") -> Path:
    path.mkdir(parents=True, exist_ok=True)
    mount(path, "-t", "tmpfs", "-o", f"size={size}", "none")
    return path


def fill(folder: Path) -> None:
    """Fill the remaining space, to the last page."""
    with suppress(OSError), (folder / "filler").open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def test_on_a_full_disk_nothing_is_lost_and_the_move_succeeds_after_space_is_freed(
    opsinfo: Run, tmp_path: Path, mount: Mount
) -> None:
    disk = tiny(tmp_path / "disk", mount)
    paths = lay(disk / CONFIG, 3)
    before = [path.read_bytes() for path in paths]
    fill(disk)
    ran = opsinfo("move", paths[0], "Mul0", "--to", "black", "--format", "json")
    assert ran.code == 3
    assert ran.json["error"]["name"] == "not-written"
    assert "full" in ran.json["error"]["hint"]
    assert [path.read_bytes() for path in paths] == before
    assert names(paths[0].parent) == [path.name for path in paths]
    (disk / "filler").unlink()
    ran = opsinfo("move", paths[0], "Mul0", "--to", "black")
    assert ran.code == 0
    assert "interrupted" not in ran.err
    assert b"false" in paths[0].read_bytes()


def test_a_disk_that_fills_up_between_two_files_leaves_all_files_old(
    tmp_path: Path, mount: Mount, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tiny(tmp_path / "disk", mount, "32k")
    large = TEXT.replace("}\n}\n", "}\n}" + " " * 6000 + "\n")
    assert large != TEXT
    paths = lay(disk / CONFIG, 2, large)
    before = [path.read_bytes() for path in paths]

    really = os.replace

    def filling(source: str, target: str, **folders: Any) -> None:
        """Another program fills the space as soon as the first file is written."""
        really(source, target, **folders)
        if target == paths[0].name:
            fill(disk)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", filling)
        with pytest.raises(Refused) as caught:
            writer_on(tmp_path / "vault").run("apply", jobs(paths))
    after = [path.read_bytes() for path in paths]
    if caught.value.name == "unfinished-change":
        (disk / "filler").unlink()
        restore_last(writer_on(tmp_path / "vault"), everywhere)
        after = [path.read_bytes() for path in paths]
    assert after == before
    assert names(paths[0].parent) == [path.name for path in paths]


def test_a_vault_on_a_full_disk_stops_the_move_before_the_file(
    opsinfo: Run, library: Path, tmp_path: Path, mount: Mount
) -> None:
    disk = tiny(tmp_path / "disk", mount)
    fill(disk)
    before = library.stat()
    ran = opsinfo("move", library, "Add", "--to", "black", "--backup-dir", disk / "vault", "--format", "json")
    assert ran.code == 3
    assert ran.json["error"]["name"] == "vault-unusable"
    assert "full" in ran.json["error"]["hint"]
    assert (library.stat().st_ino, library.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert names(library.parent) == [library.name]


def test_a_full_disk_of_the_vault_is_named_and_a_prune_frees_it(
    opsinfo: Run, library: Path, tmp_path: Path, mount: Mount
) -> None:
    disk = tiny(tmp_path / "disk", mount, "256k")
    place = ("--backup-dir", disk / "vault")
    for to in ("black", "white", "gray") * 3:
        assert opsinfo("move", library, "Add", "--to", to, *place).code == 0
    before = library.read_bytes()
    fill(disk)
    for words in (("move", library, "Log", "--to", "black"), ("restore", library), ("restore", library, "--to", "1")):
        ran = opsinfo(*words, *place, "--format", "json")
        error = ran.json["error"]
        assert (ran.code, error["name"], error["path"]) == (3, "vault-unusable", str(disk / "vault"))
        assert "No space left" in error["message"]
        assert "backups --prune" in error["hint"]
    assert library.read_bytes() == before
    ran = opsinfo("backups", "--prune", "1", *place, "--format", "json")
    assert (ran.code, len(ran.json["pruned"]), len(ran.json["backups"])) == (0, 7, 2)
    assert opsinfo("move", library, "Log", "--to", "black", *place).code == 0
    assert opsinfo("restore", library, *place).code == 0
    assert library.read_bytes() == before


def test_a_disk_of_the_vault_that_fills_up_during_a_write_is_named_too(
    library: Path, tmp_path: Path, mount: Mount, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tiny(tmp_path / "disk", mount)
    writer = writer_on(disk / "vault")
    add = writer.vault.add
    monkeypatch.setattr(writer.vault, "add", lambda *change: (add(*change), fill(disk)))
    with pytest.raises(NotConfirmed) as caught:
        writer.run("move", jobs([library]))
    assert "the vault" in caught.value.message
    assert (caught.value.path, "backups --prune" in str(caught.value.hint)) == (str(disk / "vault"), True)
    assert '"false"' in library.read_text()
    with pytest.raises(Refused, match="cannot use the vault"):
        writer_on(disk / "vault").run("move", jobs([library], op="Log"))
    (disk / "filler").unlink()
    writer_on(disk / "vault").run("move", jobs([library], op="Log"))


def test_a_read_only_mount_is_refused_naming_the_folder(
    opsinfo: Run, library: Path, tmp_path: Path, mount: Mount
) -> None:
    shown = tmp_path / "shown"
    shown.mkdir()
    mount(shown, "--bind", tmp_path / "opp")
    mount(shown, "-o", "remount,bind,ro")
    path = shown / library.relative_to(tmp_path / "opp")
    ran = opsinfo("move", path, "Add", "--to", "black", "--format", "json")
    assert ran.code == 3
    error = ran.json["error"]
    assert error["name"] == "not-written"
    assert "ead-only" in error["message"] + str(error["hint"])
    assert str(path.parent) in error["path"] + str(error["hint"])
    assert '"false"' not in library.read_text()
    assert names(library.parent) == [library.name]


def test_after_a_read_only_mount_no_change_is_unfinished(
    opsinfo: Run, library: Path, tmp_path: Path, mount: Mount
) -> None:
    """The refused run changed nothing, so there is nothing to repair, now or when the file is writable again."""
    mount(tmp_path / "opp", "--bind", tmp_path / "opp")
    mount(tmp_path / "opp", "-o", "remount,bind,ro")
    assert opsinfo("move", library, "Add", "--to", "black").code == 3
    again = opsinfo("move", library, "Add", "--to", "black")
    assert again.code == 3
    assert "interrupted" not in again.err
    subprocess.run(["mount", "-o", "remount,bind,rw", tmp_path / "opp"], check=True)
    doctor = opsinfo("doctor", library.parent, "--format", "json")
    assert [each["name"] for each in doctor.json["findings"]] == []
    ran = opsinfo("move", library, "Add", "--to", "black")
    assert ran.code == 0
    assert "interrupted" not in ran.err


def test_an_immutable_file_is_refused_with_the_reason(
    opsinfo: Run, tmp_path: Path, immutable: Callable[[Path], None]
) -> None:
    paths = lay(tmp_path / CONFIG, 3)
    before = [path.read_bytes() for path in paths]
    immutable(paths[1])
    mixlist = tmp_path / "mixlist.json"
    mixlist.write_text('{"black-list": {"to-add": ["Mul0", "Mul1", "Mul2"]}}')
    ran = opsinfo("apply", tmp_path / CONFIG, mixlist, "--format", "json")
    assert ran.code == 3
    assert ran.json["error"]["path"] == str(paths[1])
    assert "immutable" in ran.json["error"]["hint"]
    assert [path.read_bytes() for path in paths] == before, "what was replaced already is put back"
    assert names(paths[0].parent) == [path.name for path in paths]


def test_an_immutable_folder_is_refused_and_leaves_nothing_unfinished(
    opsinfo: Run, library: Path, immutable: Callable[[Path], None]
) -> None:
    before = library.read_bytes()
    immutable(library.parent)
    ran = opsinfo("move", library, "Add", "--to", "black", "--format", "json")
    assert ran.code == 3
    assert ran.json["error"]["name"] == "not-written"
    again = opsinfo("move", library, "Add", "--to", "black")
    assert "interrupted" not in again.err
    assert library.read_bytes() == before
    assert names(library.parent) == [library.name]


def test_in_place_on_a_read_only_mount_is_refused_as_without_it(
    opsinfo: Run, library: Path, tmp_path: Path, mount: Mount
) -> None:
    mount(tmp_path / "opp", "--bind", tmp_path / "opp")
    mount(tmp_path / "opp", "-o", "remount,bind,ro")
    ran = opsinfo("move", library, "Add", "--to", "black", "--in-place")
    assert (ran.code, "cannot write: Read-only file system" in ran.err) == (3, True), ran.err
    assert "is mounted read-only" in ran.err


def test_a_mount_point_is_refused_and_in_place_works_with_a_warning(
    opsinfo: Run, library: Path, tmp_path: Path, mount: Mount
) -> None:
    outside = tmp_path / "outside.json"
    shutil.copy(library, outside)
    mount(library, "--bind", outside)
    before, inode = library.read_bytes(), library.stat().st_ino
    ran = opsinfo("move", library, "Add", "--to", "black", "--format", "json")
    assert ran.code == 3
    assert ran.json["error"]["name"] == "not-replaceable"
    assert "--in-place" in ran.json["error"]["hint"]
    assert library.read_bytes() == outside.read_bytes() == before
    assert names(library.parent) == [library.name]

    ran = opsinfo("move", library, "Add", "--to", "black", "--in-place")
    assert ran.code == 0
    assert "not atomic" in ran.err
    assert "interrupted" not in ran.err
    assert outside.read_bytes() == library.read_bytes() == before.replace(b"true", b"false", 1)
    assert library.stat().st_ino == inode
    assert opsinfo("restore", library).code == 3
    assert opsinfo("restore", library, "--in-place").code == 0
    assert outside.read_bytes() == before


def test_a_link_to_another_file_system_stays_and_the_file_there_changes(
    opsinfo: Run, tmp_path: Path, mount: Mount
) -> None:
    disk = tiny(tmp_path / "disk", mount, "1m")
    (real,) = lay(disk / CONFIG, 1)
    link = tmp_path / "aic-link-ops-info.json"
    link.symlink_to(real)
    before = real.read_bytes()
    assert opsinfo("move", link, "Add", "--to", "black").code == 0
    assert link.is_symlink()
    assert real.read_bytes() == before.replace(b"true", b"false", 1)
    assert names(real.parent) == [real.name]
    assert [name for name in names(tmp_path) if "opsinfo" in name] == []
    assert opsinfo("restore", link).code == 0
    assert real.read_bytes() == before


def test_a_vault_on_another_file_system_works(opsinfo: Run, library: Path, tmp_path: Path, mount: Mount) -> None:
    disk = tiny(tmp_path / "disk", mount, "1m")
    before = library.read_bytes()
    assert opsinfo("move", library, "Add", "--to", "black", "--backup-dir", disk / "v").code == 0
    assert opsinfo("restore", library, "--backup-dir", disk / "v").code == 0
    assert library.read_bytes() == before


# as an ordinary user


@pytest.fixture
def theirs() -> Iterator[Path]:
    """A library of an ordinary user, in folders that the user can reach."""
    with folder_for_everybody() as top:
        (path,) = lay(top / "config", 1)
        (top / "state").mkdir()
        give(65534, path, path.parent, top / "state")
        yield path


def answer_of_user(path: Path, place: Path, **options: Any) -> str:
    """The name of the refusal that an ordinary user gets for a move, or ``done``."""
    reading, writing = os.pipe()

    def act() -> int:
        try:
            writer_on(place, **options).run("move", jobs([path]))
            os.write(writing, b"done")
        except Refused as refused:
            os.write(writing, refused.name.encode())
        return 0

    assert as_user(act) == 0
    os.close(writing)
    with os.fdopen(reading) as answer:
        return answer.read()


def imported(tmp_path: Path) -> None:
    """An interpreter in root's home could not import later on."""
    for in_place in (False, True):
        writer_on(tmp_path / "warm", in_place=in_place).run("move", jobs(lay(tmp_path / f"warm-{in_place}", 1)))


def test_an_ordinary_user_on_a_full_disk_loses_nothing(theirs: Path, tmp_path: Path, mount: Mount) -> None:
    imported(tmp_path)
    disk = tiny(theirs.parent.parent / "disk", mount)
    (path,) = lay(disk / "config", 1)
    give(65534, disk, path.parent, path)
    before = path.read_bytes()
    fill(disk)
    place = theirs.parent.parent / "state" / "vault"
    assert answer_of_user(path, place) == "not-written"
    assert path.read_bytes() == before
    assert names(path.parent) == [path.name]
    (disk / "filler").unlink()
    assert answer_of_user(path, place) == "done"


def test_an_ordinary_user_on_a_read_only_mount_is_refused(theirs: Path, tmp_path: Path, mount: Mount) -> None:
    imported(tmp_path)
    mount(theirs.parent, "--bind", theirs.parent)
    mount(theirs.parent, "-o", "remount,bind,ro")
    place = theirs.parent.parent / "state" / "vault"
    before = theirs.read_bytes()
    assert answer_of_user(theirs, place) == "not-written"
    assert theirs.read_bytes() == before
    subprocess.run(["mount", "-o", "remount,bind,rw", theirs.parent], check=True)
    assert answer_of_user(theirs, place) == "done"
    assert names(theirs.parent) == [theirs.name]


def test_an_ordinary_user_with_an_immutable_file_is_refused(
    theirs: Path, tmp_path: Path, immutable: Callable[[Path], None]
) -> None:
    imported(tmp_path)
    theirs.chmod(0o555)
    theirs.parent.chmod(0o550)
    before = theirs.read_bytes()
    immutable(theirs)
    assert answer_of_user(theirs, theirs.parent.parent / "state" / "vault") == "not-written"
    assert theirs.read_bytes() == before
    assert stat.S_IMODE(theirs.parent.stat().st_mode) == 0o550
    assert names(theirs.parent) == [theirs.name]


def test_an_ordinary_user_with_a_mount_point_is_refused(theirs: Path, tmp_path: Path, mount: Mount) -> None:
    imported(tmp_path)
    outside = theirs.parent.parent / "outside.json"
    shutil.copy(theirs, outside)
    give(65534, outside)
    mount(theirs, "--bind", outside)
    place = theirs.parent.parent / "state" / "vault"
    before = outside.read_bytes()
    assert answer_of_user(theirs, place) == "not-replaceable"
    assert outside.read_bytes() == before
    assert answer_of_user(theirs, place, in_place=True) == "done"
    assert outside.read_bytes() == before.replace(b"true", b"false", 1)
    outside.chmod(0o555)
    assert answer_of_user(theirs, place, in_place=True) == "done", "nothing is left to change"
