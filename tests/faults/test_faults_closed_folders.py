"""Read-only folders of an install, and internal errors: modes are restored, and nothing is lost."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults_counts import Counts
from faults_support import (
    NO_PROCESS,
    USER,
    Failing,
    Scene,
    Unsynced,
    as_user,
    complaints,
    ended,
    fork,
    give,
    jobs,
    lay,
    run_main,
)
from folder_for_everybody import folder_for_everybody
from vault_writers import texts, undo, writer

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.interrupted import shut_left_open
from opsinfo_cli.change.record import Widened
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.errors import Refused
from opsinfo_cli.model.policy import Policy

# read-only folders, as their owner


@pytest.fixture
def installed() -> Iterator[Path]:
    """A folder of the ordinary user's, for whom a library is 0555 in a folder of 0550."""
    with folder_for_everybody() as top:
        for name in ("a", "b"):
            (top / name).mkdir()
        give(USER, top, top / "a", top / "b")
        yield top


def lay_closed(top: Path, place: Path) -> Scene:
    """Two libraries as in an install, each in its own folder."""
    paths = []
    for name in ("a", "b"):
        (top / name).chmod(0o750)
        for each in (top / name).iterdir():
            each.unlink()
        paths += lay(top / name, 1)
        paths[-1].chmod(0o555)
        (top / name).chmod(0o550)
    before = [path.read_bytes() for path in paths]
    new = [each.replace(b"true", b"false", 1) for each in before]
    return Scene(paths, place, [*before], [*new], lambda which: which.run("apply", jobs(paths)))


def modes(scene: Scene) -> list[int]:
    return [stat.S_IMODE(each.stat().st_mode) for path in scene.files for each in (path, path.parent)]


def faults_in_closed_folders(top: Path, act: str, error: str, stride: int, start: int) -> Iterator[str]:
    nth = start
    while True:
        scene = lay_closed(top, top / f"vault-{act}-{error}-{nth}")
        if act == "restore":
            scene.run()
            old, new = scene.before, scene.wanted
            scene = Scene(scene.files, scene.place, new, old, undo)
        elif act == "end":
            scene = unfinished(scene)
        fs = Failing(nth, error)
        real = os.getpid
        os.getpid = lambda: NO_PROCESS  # type: ignore[assignment]
        try:
            answer = scene.run(fs)
        finally:
            os.getpid = real
        if not fs.hit:
            return
        found = list(complaints(scene, answer, leftovers=0))
        shut_left_open(Vault(str(scene.place), Unsynced()))
        try:
            scene.writer().run("apply", jobs(scene.files, Policy.WHITE, "Log"))
        except Refused as refused:
            if refused.name != "unfinished-change":
                found.append(f"the next run is refused: {refused.message}")
        if modes(scene) != [0o555, 0o550] * 2:
            found.append(f"modes after the next run: {list(map(oct, modes(scene)))}")
        yield from (f"call {nth}, {fs.hit}: {each}" for each in found)
        nth += stride


def unfinished(scene: Scene) -> Scene:
    """A change killed between its two files, with both folders writable."""
    scene.run()
    for path in scene.files:
        path.parent.chmod(0o750)
    path = scene.files[1]
    path.chmod(0o755)
    path.write_bytes(scene.before[1] or b"")
    path.chmod(0o555)
    vault = scene.writer().vault
    (record,) = vault.records()
    record.state, record.pid = "pending", NO_PROCESS
    record.folders = [Widened(str(path.parent), 0o550) for path in scene.files]
    vault.save(record)
    return Scene(scene.files, scene.place, scene.contents(), scene.before, undo)


@pytest.mark.heavy
@pytest.mark.parametrize("act", ["apply", "restore", "end"])
def test_if_any_call_fails_in_read_only_folders_their_modes_are_restored(
    installed: Path, tmp_path: Path, act: str, counts: Counts
) -> None:
    scratch = lay(tmp_path / "scratch", 1)  # loads lazily imported modules
    writer(tmp_path / "scratch-vault").run("move", jobs(scratch))
    report = installed / "report"
    stride = max(1, counts.stride // 2)

    def all_of_them() -> int:
        found = []
        for number, error in enumerate(("EIO", "ENOSPC", "EACCES", "short write")):
            found += faults_in_closed_folders(installed, act, error, stride, 1 + number % stride)
        report.write_text("\n".join(found))
        return 0

    assert as_user(all_of_them) == 0
    assert not report.read_text(), report.read_text()


# an internal error


def test_an_internal_error_is_exit_3_names_its_trace_and_loses_nothing(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = texts(paths)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a slip")

    def act() -> int:
        tempfile.tempdir = str(tmp_path)
        monkeypatch.setattr(FileSystem, "fsync", broken)
        return run_main(
            ["move", str(paths[0]), "Mul0", "--to", "black"], os.open(tmp_path / "output", os.O_WRONLY | os.O_CREAT)
        )

    assert ended(fork(act)) == 3
    output = (tmp_path / "output").read_text()
    (trace,) = tmp_path.glob("opsinfo-fault-*.log")
    assert str(trace) in output
    assert "Traceback" not in output
    assert "a slip" in trace.read_text()
    assert texts(paths) == before
    assert sorted(os.listdir(paths[0].parent)) == [path.name for path in paths]
