"""Shared by the tests of the vault: a library in an install, and changes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opsinfo_cli.change.job import Job
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.restore import Restored, restore_last, restore_to
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.model.policy import Policy

TEXT = json.dumps({"Add": {"precision_reduce": {"flag": "true"}}, "Log": {}, "Mul": {}}, indent=4)


UPGRADED = json.dumps({"Add": {"precision_reduce": {"flag": "true"}}, "Log": {}, "Exp": {}}, indent=4)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "opp"


@pytest.fixture
def library(root: Path) -> Path:
    """A library in an install of a known version."""
    folder = root / "built-in/op_impl/ai_core/tbe/config/ascend910b"
    folder.mkdir(parents=True)
    (root / "version.info").write_text("version_dir=8.2.RC1\n")
    path = folder / "aic-ascend910b-ops-info.json"
    path.write_text(TEXT)
    return path


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(str(tmp_path / "vault"))


@pytest.fixture
def writer(vault: Vault) -> Writer:
    return Writer(vault)


def move(writer: Writer, op: str, to: str, *paths: Path) -> str | None:
    return writer.run("move", [Job(str(path), LibraryPlan({op: Policy(to)})) for path in paths]).change


def everywhere(_: str) -> bool:
    return True


def undo(writer: Writer, force: bool = False) -> list[Restored]:
    return restore_last(writer, everywhere, force, dry_run=False)[1]


def back_to(writer: Writer, which: str, force: bool = False) -> list[Restored]:
    return restore_to(writer, everywhere, which, force, dry_run=False)[1]


def upgrade(root: Path, library: Path) -> None:
    library.write_text(UPGRADED)
    (root / "version.info").write_text("version_dir=8.3.RC1\n")
