"""A library in an install, a vault and its writer, for the tests of changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from change_support import TEXT

from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer


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
def other(library: Path) -> Path:
    path = library.with_name("aic-ascend910b-ops-info-nn.json")
    path.write_text(TEXT)
    return path


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(str(tmp_path / "vault"))


@pytest.fixture
def writer(vault: Vault) -> Writer:
    return Writer(vault, wait=0)
