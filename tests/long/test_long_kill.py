"""Killed at any call, with several files in read-only folders, as an ordinary user: old or new, and repairable."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from folder_for_everybody import folder_for_everybody

from opsinfo_cli.change.filesystem import FileSystem
from opsinfo_cli.change.interrupted import shut_left_open
from opsinfo_cli.change.job import Job
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.restore import restore_last
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Refused
from opsinfo_cli.model.policy import Policy

TEXT = '{\n    "Add":{\n        "precision_reduce":{\n            "flag":"true"\n        }\n    }\n}\n'
NEW = TEXT.replace("true", "false")
USER = 65534


class Counting(FileSystem):
    """Calls ``before`` before every call."""

    def __init__(self, before: Callable[[], None]) -> None:
        super().__init__()
        self.before = before

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name == "before" or name.startswith("__") or not callable(found):
            return found

        def call(*arguments: Any) -> Any:
            self.before()
            return found(*arguments)

        return call


def jobs(paths: list[Path]) -> list[Job]:
    return [Job(str(path), LibraryPlan({"Add": Policy.BLACK})) for path in paths]


def as_user(action: Callable[[], None]) -> int:
    """Run in a child process of an ordinary user, if run by root."""
    child = os.fork()
    if child == 0:
        status = 7
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(USER)
                os.setuid(USER)
            action()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def folders() -> Iterator[list[Path]]:
    with folder_for_everybody() as top:
        made = [top / "a", top / "b", top / "state"]
        for folder in made:
            folder.mkdir()
        yield made


def lay(folders: list[Path]) -> list[Path]:
    """Two libraries, 0555 each in a folder of 0550, as an install leaves them."""
    paths = []
    for folder in folders[:2]:
        folder.chmod(0o755)
        for name in os.listdir(folder):
            (folder / name).unlink()
        path = folder / "aic-x-ops-info.json"
        path.write_text(TEXT)
        path.chmod(0o555)
        paths.append(path)
    for each in (*paths, *folders):
        if os.geteuid() == 0:
            os.chown(each, USER, USER)
    for folder in folders[:2]:
        folder.chmod(0o550)
    return paths


def test_a_kill_at_any_call_of_a_change_of_two_files_can_be_repaired(folders: list[Path], tmp_path: Path) -> None:
    scratch = tmp_path / "x.json"
    scratch.write_text(TEXT)
    Writer(Vault(str(tmp_path / "vault"))).run("move", jobs([scratch]))  # import lazily imported modules now
    outcomes = set()
    failing = 0
    while True:
        failing += 1
        paths = lay(folders)
        place = str(folders[2] / f"vault-{failing}")
        seen = [0]

        def die(n: int = failing, seen: list[int] = seen) -> None:
            seen[0] += 1
            if seen[0] == n:
                os._exit(9)

        def change(paths: list[Path] = paths, place: str = place, die: Callable[[], None] = die) -> None:
            fs = Counting(die)
            Writer(Vault(place, fs), fs=fs).run("move", jobs(paths))

        ended = as_user(change)
        assert ended in (0, 9)
        texts = [path.read_text() for path in paths]
        assert set(texts) <= {TEXT, NEW}
        outcomes.add(tuple(text == NEW for text in texts))

        def fix(paths: list[Path] = paths, place: str = place) -> None:
            vault = Vault(place)
            shut_left_open(vault)
            writer = Writer(vault)
            try:
                writer.run("move", jobs(paths))
            except Refused as error:
                if error.name != "unfinished-change":
                    raise
                restore_last(writer, lambda _: True, force=False, dry_run=False)
                assert [path.read_text() for path in paths] == [TEXT, TEXT]
                writer.run("move", jobs(paths))
            assert not list(vault.pending())

        assert as_user(fix) == 0, f"call {failing}"
        for path, folder in zip(paths, folders, strict=False):
            assert path.read_text() == NEW, f"call {failing}"
            assert stat.S_IMODE(path.stat().st_mode) == 0o555
            assert stat.S_IMODE(folder.stat().st_mode) == 0o550, f"call {failing}"
            assert [name for name in os.listdir(folder) if name != path.name and ended == 0] == []
        if ended == 0:
            break
    assert outcomes == {(False, False), (True, False), (True, True)}
