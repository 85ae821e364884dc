"""Promises that no other test would miss: existing files, folders like a vault, pipes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import get_args

import pytest
from change_support import run
from raising import raised

from opsinfo_cli import Mixlist, move, validate
from opsinfo_cli.core.cann.library import Operators
from opsinfo_cli.core.cann.target import Target
from opsinfo_cli.core.cann.targets.found import FACTS, TargetKind
from opsinfo_cli.core.change.move import require_changeable
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.vault_place import in_vault
from opsinfo_cli.errors import OpsinfoError, Refused


def test_create_changes_a_mixlist_that_exists(tmp_path: Path, vault: Vault) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"white-list": {"to-add": ["Mul"]}}\n')
    move(str(path), "Add", "black", create=True, backup_dir=vault.path, say=lambda _: None)
    assert json.loads(path.read_text()) == {"white-list": {"to-add": ["Mul"]}, "black-list": {"to-add": ["Add"]}}


@pytest.mark.parametrize("name", ["local", "0123abcd"])
def test_a_folder_named_like_a_machine_is_no_vault_without_a_record(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "12"
    folder.mkdir(parents=True)
    (folder / "x_mixlist.json").write_text('{"black-list": {"to_add": ["Add"]}}\n')
    assert not in_vault(str(folder / "x_mixlist.json"))
    assert [finding.rule.name for finding in validate(str(tmp_path)).findings] == ["unknown-action"]
    (folder / "record.json").write_text("{}")
    assert in_vault(str(folder / "x_mixlist.json"))
    assert in_vault(str(tmp_path / name / "new"))
    assert not in_vault(str(tmp_path / "other.json"))
    folder.parent.rename(tmp_path / "machine")
    assert not in_vault(str(tmp_path / "machine" / "12" / "x_mixlist.json"))


def test_a_folder_of_a_machine_with_other_numbers_is_no_vault(tmp_path: Path, vault: Vault, library: Path) -> None:
    run(vault, library)
    assert in_vault(os.path.join(vault.folder, "1", "record.json"))
    for name in ("0", "01", "1234567890", "x"):
        place = tmp_path / name / "local" / name
        place.mkdir(parents=True)
        (place / "record.json").write_text("{}")
        assert not in_vault(str(place / "record.json"))


def test_the_hint_for_a_pipe_says_what_to_do_and_is_for_pipes_only(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    error = raised(Refused, Mixlist.read, str(tmp_path / "pipe.json"))
    assert (error.name, error.hint) == ("not-a-file", "write what comes from the pipe to a file first")
    assert raised(Refused, Mixlist.read, "/dev/null").hint is None


@pytest.mark.parametrize("kind", get_args(TargetKind))
def test_each_kind_of_target_is_written_or_says_what_to_do_instead(kind: TargetKind) -> None:
    target = Target(lambda: Operators([]), text="x", kind=kind, path="x")
    not_written = FACTS[kind].not_written
    if not_written is None:
        require_changeable(target, {})
        return
    error = raised(OpsinfoError, require_changeable, target, {})
    assert (error.message, error.hint) == (not_written.reason, not_written.instead)
    assert error.message
    assert error.hint
    assert ("PrecisionReduceFlag" in error.hint) == (kind in ("ini", "opdef")), "what is no C++ has another way"
