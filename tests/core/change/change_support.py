"""Shared by the tests of changes: a library in an install, a vault, and changes of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.fmt import new_file
from opsinfo_cli.core.change.plan import Job, LibraryPlan, Result
from opsinfo_cli.core.change.record import Record
from opsinfo_cli.core.change.restore import RestoredFile, restore_last, restore_to
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer

TEXT = json.dumps({"Add": {"precision_reduce": {"flag": "true"}}, "Log": {}, "Mul": {}}, indent=4)
NEW = TEXT.replace("true", "false")
UPGRADED = json.dumps({"Add": {"precision_reduce": {"flag": "true"}}, "Log": {}, "Exp": {}}, indent=4)
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def jobs(op: str, to: str, *paths: Path) -> list[Job]:
    return [Job(str(path), LibraryPlan({op: Policy(to)})) for path in paths]


def run(vault: Vault, *paths: Path, op: str = "Add", to: str = "black", **options: Any) -> Result:
    return Writer(vault, **{"wait": 0, **options}).run("move", jobs(op, to, *paths))


def move(writer: Writer, op: str, to: str, *paths: Path) -> str | None:
    return writer.run("move", jobs(op, to, *paths)).change


def create(writer: Writer, *paths: Path, text: str = "{}\n") -> str | None:
    return writer.run("move", [new_file(str(path), text) for path in paths]).change


def everywhere(_: str) -> bool:
    return True


def undo(writer: Writer, force: bool = False) -> list[RestoredFile]:
    writer.force = force
    return restore_last(writer, everywhere)[1]


def back_to(writer: Writer, which: str, force: bool = False) -> list[RestoredFile]:
    writer.force = force
    return restore_to(writer, everywhere, which)[1]


def upgrade(root: Path, library: Path) -> None:
    library.write_text(UPGRADED)
    (root / "version.info").write_text("version_dir=8.3.RC1\n")


def records(vault: Vault) -> list[Record]:
    return vault.history().records


def record_of(vault: Vault, change: str | None) -> Record:
    return next(record for record in records(vault) if record.id == change)


def killed(vault: Vault, change: str | None, **facts: Any) -> Record:
    """Make a change look as if its writer was killed before its end was recorded."""
    record = replace(record_of(vault, change), state="pending", **facts)
    vault.save(record)
    return record


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def once(act: Callable[[], object], then: Callable[..., Any]) -> Callable[..., Any]:
    """A function that acts before its first call."""
    acts = [act]

    def called(*arguments: Any, **keywords: Any) -> Any:
        if acts:
            acts.pop()()
        return then(*arguments, **keywords)

    return called


class Holding:
    """Another process that holds the lock of a file or folder."""

    def __init__(self, path: Path, seconds: float | None = None) -> None:
        release = "sys.stdin.read()" if seconds is None else f"time.sleep({seconds})"
        hold = f"f = os.open({str(path)!r}, os.O_RDONLY); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True)"
        self.code = f"import fcntl, os, sys, time; {hold}; {release}"

    def __enter__(self) -> subprocess.Popen[bytes]:
        self.process = subprocess.Popen(
            [sys.executable, "-c", self.code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self.process.stdout is not None
        self.process.stdout.readline()
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.communicate()
