"""`--in-place`: one's own read-only file is opened for the moment; what cannot be opened is not touched."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from change_support import NEW, ROOT_ONLY, TEXT, records, run, undo
from folder_for_everybody import folder_for_everybody
from raising import raised

from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer
from opsinfo_cli.errors import Refused

pytestmark = ROOT_ONLY
USER = 65534


@pytest.fixture
def theirs() -> Iterator[Path]:
    """A library of an ordinary user, read-only, of a group in which this user is not."""
    with folder_for_everybody() as top:
        path = top / "config/aic-x-ops-info.json"
        path.parent.mkdir()
        path.write_text(TEXT)
        for each in (path, path.parent, top):
            os.chown(each, USER, 0)
        path.chmod(0o440)
        yield path


def as_user(action: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)
            action()
        except BaseException as error:
            print(repr(error))
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.fixture
def vault(theirs: Path, library: Path, tmp_path: Path) -> Vault:
    run(Vault(str(tmp_path / "warm")), library, in_place=True)  # imports, while this is root
    library.write_text(TEXT)
    return Vault(str(theirs.parent.parent / "vault"))


def test_ones_own_read_only_file_is_written_and_restored_with_its_mode(theirs: Path, vault: Vault) -> None:
    def act() -> None:
        assert raised(Refused, run, vault, theirs).name == "owner-not-kept"
        run(vault, theirs, in_place=True)
        assert theirs.read_text() == NEW
        undo(Writer(vault, in_place=True))

    as_user(act)
    here = theirs.stat()
    assert (theirs.read_text(), stat.S_IMODE(here.st_mode), here.st_gid) == (TEXT, 0o440, 0)


def test_the_next_run_closes_a_file_that_a_killed_one_left_open(
    theirs: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(*_: object) -> None:
        os._exit(0)

    def act() -> None:
        monkeypatch.setattr(os, "lseek", kill)  # it is open, and nothing is written yet
        run(vault, theirs, in_place=True)

    as_user(act)
    assert (theirs.read_text(), stat.S_IMODE(theirs.stat().st_mode)) == (TEXT, 0o640)
    said: list[str] = []

    def again() -> None:
        run(vault, theirs, op="Log", to="white", in_place=True, say=said.append)
        assert any("restored the mode of" in text for text in said)

    as_user(again)
    assert (stat.S_IMODE(theirs.stat().st_mode), '"true"' in theirs.read_text()) == (0o440, True)


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EPERM, errno.ETXTBSY])
def test_what_cannot_be_opened_is_refused_with_the_systems_reason(
    library: Path, tmp_path: Path, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, vault = os.open, Vault(str(tmp_path / "vault"))

    def refusing(path: str, flags: int, *more: int, **keywords: Any) -> int:
        if flags & os.O_WRONLY and not flags & os.O_CREAT:
            raise OSError(code, os.strerror(code))
        return opening(path, flags, *more, **keywords)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refusing)
        error = raised(Refused, run, vault, library, in_place=True)
    assert (error.name, error.message) == ("not-written", f"cannot write: {os.strerror(code)}")
    assert (library.read_text(), [record.state for record in records(vault)]) == (TEXT, ["abandoned"])
