"""The vault in a container: what no mount keeps is lost with it, and the first change says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.core.change import container, vault_place
from opsinfo_cli.core.change.container import is_lost_with_container

ROOT_MOUNT = "22 1 0:30 / / rw - overlay overlay rw\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host with the usual vault below ``tmp_path``: no mark of a container, and no mount but that of the root."""
    monkeypatch.delenv("OPSINFO_BACKUP_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(vault_place, "ROOT_VAULT", str(tmp_path / "opsinfo"))
    for name, text in (("FIRST_PROCESS", "HOME=/\0container=\0"), ("MOUNTS", ROOT_MOUNT)):
        (tmp_path / name).write_text(text)
        monkeypatch.setattr(container, name, str(tmp_path / name))
    monkeypatch.setattr(container, "MARKS", (str(tmp_path / ".containerenv"), str(tmp_path / ".dockerenv")))
    return tmp_path


def lost(place: Path, vault: Path | None = None) -> bool:
    return is_lost_with_container(str(vault or place / "opsinfo"), {"XDG_STATE_HOME": str(place)})


def test_a_host_loses_no_vault(place: Path) -> None:
    assert not lost(place)


@pytest.mark.parametrize(
    ("name", "text"),
    [(".containerenv", ""), (".dockerenv", ""), ("FIRST_PROCESS", "HOME=/\0container=podman\0")],
    ids=["podman", "docker", "the first process"],
)
def test_a_container_loses_the_usual_vault_but_none_that_the_user_named(place: Path, name: str, text: str) -> None:
    (place / name).write_text(text)
    assert lost(place)
    assert not lost(place, place / "named")


@pytest.mark.parametrize("missing", ["FIRST_PROCESS", "MOUNTS"])
def test_what_the_system_does_not_show_is_no_mount_and_no_mark(place: Path, missing: str) -> None:
    (place / missing).unlink()
    assert not lost(place)
    (place / ".dockerenv").touch()
    assert lost(place)


@pytest.mark.parametrize(
    ("mounted", "kept"),
    [("opsinfo", True), (".", True), ("ops", False), ("opsinfo/local", False)],
    ids=["the vault", "a folder above", "a folder of the same beginning", "a folder below"],
)
def test_a_mount_keeps_the_vault(place: Path, mounted: str, kept: bool) -> None:
    (place / ".dockerenv").touch()
    point = str((place / mounted).resolve()).replace(" ", "\\040")
    (place / "MOUNTS").write_text(f"{ROOT_MOUNT}23 22 8:1 /volume {point} rw - ext4 /dev/sda1 rw\n")
    assert lost(place) is not kept


def test_the_names_of_mounts_are_read_as_the_kernel_writes_them(place: Path) -> None:
    folder = place / "a b\\c"
    (place / ".dockerenv").touch()
    point = str(folder).replace("\\", "\\134").replace(" ", "\\040")
    (place / "MOUNTS").write_text(f"{ROOT_MOUNT}23 22 8:1 / {point} rw - ext4 /dev/sda1 rw\n")
    assert container._mount_of(str(folder / "opsinfo")) == str(folder)


def test_the_first_change_in_a_container_warns_and_doctor_does(opsinfo: Any, opp: Path, place: Path) -> None:
    (place / ".dockerenv").touch()
    warning = f"warning: the vault {place / 'opsinfo'} is in this container and on no mount"
    first = opsinfo("move", f"{opp}@ascend910b", "Relu", "--to", "black")
    assert (first.code, first.err.count(warning)) == (0, 1), first.err
    second = opsinfo("move", f"{opp}@ascend910b", "SwiGlu", "--to", "black")
    assert (second.code, second.err.count("container")) == (0, 0), second.err
    doctor = opsinfo("doctor", opp, "--select", "vault-in-container", "--format", "concise")
    assert (doctor.code, doctor.out.count("V006")) == (0, 1), doctor.out
    (place / "MOUNTS").write_text(f"{ROOT_MOUNT}23 22 8:1 /volume {place / 'opsinfo'} rw - ext4 /dev/sda1 rw\n")
    assert "V006" not in opsinfo("doctor", opp, "--select", "vault-in-container", "--format", "concise").out


def test_a_preview_and_a_named_folder_do_not_warn(opsinfo: Any, opp: Path, place: Path) -> None:
    (place / ".dockerenv").touch()
    words = ("move", f"{opp}@ascend910b", "Relu", "--to", "black")
    assert "container" not in opsinfo(*words, "--dry-run").err
    assert "container" not in opsinfo(*words, "--backup-dir", place / "named").err
