"""Shared by the tests of the writer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.change.job import Job, Result
from opsinfo_cli.change.library_plan import LibraryPlan
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.writer import Writer
from opsinfo_cli.model.policy import Policy

TEXT = '{\n    "Add":{\n        "precision_reduce":{\n            "flag":"true"\n        }\n    },\n    "Log":{}\n}\n'


NEW = TEXT.replace("true", "false")


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "config"
    folder.mkdir()
    return folder


@pytest.fixture
def library(config: Path) -> Path:
    path = config / "aic-x-ops-info.json"
    path.write_text(TEXT)
    return path


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(str(tmp_path / "vault"))


def move(vault: Vault, *paths: Path, to: Policy = Policy.BLACK, op: str = "Add", **options: Any) -> Result:
    return Writer(vault, **options).run("move", [Job(str(path), LibraryPlan({op: to})) for path in paths])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())
