"""A library in an install, a vault and its writer, for the tests of changes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
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


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A library on a disk, as users have it; other tests run in memory, where there is room."""
    folder = Path(tempfile.mkdtemp(prefix="opsinfo-test-", dir="/var/tmp"))
    try:
        device = os.stat(folder).st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        mounts = [line.split(" - ") for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        kinds = {kind.split()[0] for mount, kind in mounts if mount.split()[2] == number}
        if kinds <= {"tmpfs", "ramfs"}:
            pytest.skip(f"/var/tmp is not on a disk: {', '.join(kinds) or 'unknown'}")
        path = folder / "config" / "aic-x-ops-info.json"
        path.parent.mkdir()
        path.write_text(TEXT)
        yield path
    finally:
        shutil.rmtree(folder)
