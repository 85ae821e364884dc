"""`--trust-folder`: root writes where another user may replace the file only if that is asked for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_support import Run, library, mixlist, write

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
TEXT = json.dumps(library({"Add": "true", "Mul": "false"}), indent=4)
COMMANDS = {
    "move": ("move", "aic-x-ops-info.json", "Add", "--to", "black"),
    "apply": ("apply", "aic-x-ops-info.json", "m.json"),
    "restore": ("restore", "aic-x-ops-info.json"),
    "fmt": ("fmt", "broken.json"),
    "validate --fix": ("validate", "broken.json", "--fix"),
}


@pytest.fixture
def shared(tmp_path: Path, opsinfo: Run) -> Path:
    """A folder in which every user may replace files, with a library that was changed once."""
    folder = tmp_path / "shared"
    write(folder / "aic-x-ops-info.json", TEXT)
    write(folder / "m.json", mixlist(black_add=["Add"]))
    write(folder / "broken.json", '{"black-list": {"to-add": ["Add",]}}')
    assert opsinfo("move", "aic-x-ops-info.json", "Mul", "--to", "white", cwd=folder).code == 0
    folder.chmod(0o777)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_root_refuses_a_folder_that_everybody_may_write_unless_it_is_trusted(
    opsinfo: Run, shared: Path, words: tuple[str, ...]
) -> None:
    before = contents(shared)
    refused = opsinfo(*words, cwd=shared)
    assert refused.code == 3
    assert "another user may replace this file while root writes it" in refused.err
    assert "--trust-folder" in refused.err
    assert contents(shared) == before
    done = opsinfo(*words, "--trust-folder", cwd=shared)
    assert done.code == 0, done.err
    assert contents(shared) != before


def test_force_does_not_trust_a_folder(opsinfo: Run, shared: Path) -> None:
    before = contents(shared)
    assert opsinfo(*COMMANDS["move"], "--force", cwd=shared).code == 3
    assert opsinfo(*COMMANDS["restore"], "--force", cwd=shared).code == 3
    assert contents(shared) == before


def test_a_folder_of_one_service_user_needs_no_option(opsinfo: Run, shared: Path) -> None:
    shared.chmod(0o755)
    for path in (shared, *shared.iterdir()):
        os.chown(path, 1234, 1234)
    assert opsinfo(*COMMANDS["move"], cwd=shared).code == 0
    assert (shared / "aic-x-ops-info.json").stat().st_uid == 1234
