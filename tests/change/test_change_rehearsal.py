"""A dry run refuses for the same reasons as the real run, and writes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from folder_for_everybody import folder_for_everybody
from writer_support import TEXT

from opsinfo_cli.change.job import Job
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.rehearsal import rehearsed
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.errors import Refused
from opsinfo_cli.model.policy import Policy

NOBODY = 65534


def outcome(act: Callable[[], object]) -> str:
    """The name of the refusal; empty if there is none."""
    try:
        act()
    except Refused as error:
        return error.name
    return ""


def outcomes(path: Path, vault: Path, user: int | None = None) -> tuple[str, str]:
    """Return the outcome of the dry run and of the real run, each in a process of ``user``."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if user is not None:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
            jobs = [Job(str(path), LibraryPlan({"Add": Policy.BLACK}))]
            before = path.read_bytes()
            dry = outcome(lambda: rehearsed(Writer(Vault(str(vault))), jobs))
            assert path.read_bytes() == before
            os.write(writing, f"{dry}\n{outcome(lambda: Writer(Vault(str(vault))).run('move', jobs))}".encode())
        except BaseException as error:
            os.write(writing, f"{error!r}\n".encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading) as answer:
        dry, _, real = answer.read().partition("\n")
    return dry, real


@pytest.fixture
def library() -> Iterator[Path]:
    """A library in a folder that every user may enter and only its owner may change."""
    with folder_for_everybody() as top:
        path = top / "config" / "aic-x-ops-info.json"
        path.parent.mkdir()
        path.write_text(TEXT)
        yield path


def test_a_writable_file_passes_dry_run_and_run(library: Path, tmp_path: Path) -> None:
    assert outcomes(library, tmp_path / "vault") == ("", "")


def test_a_file_with_hard_links_is_refused_by_dry_run_and_run(library: Path, tmp_path: Path) -> None:
    os.link(library, library.parent / "other")
    assert outcomes(library, tmp_path / "vault") == ("hard-link", "hard-link")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of other users")
@pytest.mark.parametrize(
    ("user", "group", "name"),
    [(NOBODY, NOBODY, ""), (NOBODY, 0, "owner-not-kept"), (0, NOBODY, "not-owner")],
    ids=["own file", "a group of others", "a file of another user"],
)
def test_an_ordinary_user_is_refused_by_dry_run_and_run(library: Path, user: int, group: int, name: str) -> None:
    state = library.parent.parent / "state"
    state.mkdir()
    for path in (state, library.parent):
        os.chown(path, NOBODY, NOBODY)
    os.chown(library, user, group)
    assert outcomes(library, state / "vault", NOBODY) == (name, name)
