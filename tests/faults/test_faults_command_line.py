"""Eleven defects of opsinfo before 2026-11-22: lost or forged backups, and writes to other files.

The tests use only the command line and calls of the writer that the earlier version has too. `OPSINFO_UNDER_TEST`
names the folder of another version's package; `docs/reliability.md` lists the tests that fail on the earlier one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from faults_support import NEW, ROOT, TEXT, needs_root

PACKAGE = os.environ.get("OPSINFO_UNDER_TEST") or str(ROOT)
NAME = "aic-x-ops-info.json"
RUN = """
import os, signal, sys, time
from opsinfo_cli.change import record, vault
from opsinfo_cli.change.filesystem import FileSystem
{hook}
import runpy
sys.argv[0] = "opsinfo"
runpy.run_module("opsinfo_cli", run_name="__main__", alter_sys=True)
"""
AFTER_KEEP = """
keep = vault.Vault.keep
def slow(self, data):
    found = keep(self, data)
    open("kept", "w").close()
    time.sleep(2)
    return found
vault.Vault.keep = slow
"""
SYNCS = """
opened, synced, replace = {{}}, set(), FileSystem.replace
fsync = FileSystem.fsync
def syncing(self, descriptor):
    synced.add(os.readlink(f"/proc/self/fd/{{descriptor}}"))
    fsync(self, descriptor)
def replacing(self, source, target):
    with open("unsynced", "a") as said:
        print(*[source] * (os.path.isfile(source) and source not in synced), end="", file=said)
    replace(self, source, target)
FileSystem.fsync, FileSystem.replace = syncing, replacing
"""
CLOCK = """
class Clock:
    strftime = staticmethod(time.strftime)
    def time_ns(self): return time.time_ns() + {seconds} * 10**9
    def gmtime(self, seconds=None): return time.gmtime(self.time_ns() // 10**9 if seconds is None else seconds)
record.time = Clock()
"""
OTHER_WRITER = """
read, seen = FileSystem.read, []
def reading(self, descriptor, size):
    data = read(self, descriptor, size)
    if data and not seen and os.readlink(f"/proc/self/fd/{{descriptor}}").endswith("/{name}"):
        seen.append(1)
        with open("{name}", "r+") as file:
            file.write(open("theirs").read())
            file.truncate()
    return data
FileSystem.read = reading
"""
KILLED_HALFWAY = """
write = FileSystem.write
def writing(self, descriptor, data):
    if os.readlink(f"/proc/self/fd/{{descriptor}}").endswith("/{name}"):
        write(self, descriptor, data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    return write(self, descriptor, data)
FileSystem.write = writing
"""
BETWEEN_FILES = """
replace = FileSystem.replace
def replacing(self, source, target):
    replace(self, source, target)
    if target.endswith("ops-info.json") and not os.path.exists("between"):
        open("between", "w").close()
        time.sleep(2)
FileSystem.replace = replacing
"""
SWAPPED = """
lock = FileSystem.flock
def locking(self, descriptor, operation):
    lock(self, descriptor, operation)
    if not os.path.lexists("aside") and os.readlink(f"/proc/self/fd/{{descriptor}}").endswith("/{name}"):
        os.rename("config", "aside")
        os.symlink("victim", "config")
FileSystem.flock = locking
"""


class Place:
    """A folder with a library and a vault, and the program as a process in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library = folder / NAME
        self.library.write_text(TEXT)

    def start(self, *words: str, hook: str = "", cpu: int = 60, **facts: object) -> subprocess.Popen[str]:
        script = RUN.format(hook=hook.format(name=NAME, **facts))
        env = {**os.environ, "PYTHONPATH": PACKAGE, "OPSINFO_BACKUP_DIR": str(self.folder / "vault")}
        limited = ["bash", "-c", f'ulimit -t {cpu}; exec "$@"', "-", sys.executable, "-c", script, *words]
        return subprocess.Popen(
            limited, cwd=self.folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self, *words: str, hook: str = "", cpu: int = 60, **facts: object) -> tuple[int, str]:
        process = self.start(*words, hook=hook, cpu=cpu, **facts)
        out, err = process.communicate(timeout=200)
        return process.returncode, out + err

    def move(self, to: str, hook: str = "", *more: str, **facts: object) -> tuple[int, str]:
        return self.run("move", NAME, "Add", "--to", to, *more, hook=hook, **facts)

    def records(self) -> list[Path]:
        """The records of changes in the vault, whatever its layout."""
        found = [path for path in (self.folder / "vault").rglob("*") if path.is_file()]
        return [path for path in found if b'"files"' in path.read_bytes()]

    def wait_for(self, name: str, process: subprocess.Popen[str]) -> None:
        while not (self.folder / name).exists():
            assert process.poll() is None


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "place").mkdir()
    return Place(tmp_path / "place")


def test_c1_no_file_is_renamed_before_it_is_synced(place: Place) -> None:
    assert place.move("black", SYNCS)[0] == 0
    assert (place.folder / "unsynced").read_text() == ""


def test_c2_a_configuration_cannot_overwrite_a_file_outside_its_folder(place: Place) -> None:
    victim = place.folder.parent / "victim"
    victim.write_text("theirs")
    (place.folder / "opsinfo.toml").write_text(f'report = ["concise:{victim}"]\n')
    (place.folder / "m.json").write_text('{"grey-list": {}}')
    code, output = place.run("validate", "m.json")
    assert (victim.read_text(), code) == ("theirs", 2), output


def test_c3_a_prune_leaves_a_running_move_its_backup(place: Place) -> None:
    for to in ("black", "white", "black"):
        assert place.move(to)[0] == 0
    assert place.library.read_text() == NEW
    moving = place.start("move", NAME, "Add", "--to", "white", hook=AFTER_KEEP)
    place.wait_for("kept", moving)
    place.run("backups", "--prune", "1")
    moving.communicate(timeout=60)
    assert moving.returncode == 0
    code, output = place.run("restore", NAME)
    assert (code, place.library.read_text()) == (0, NEW), output


def test_c4_the_pristine_copy_is_kept_if_the_clock_goes_back(place: Place) -> None:
    assert place.move("black")[0] == 0
    assert place.move("gray", CLOCK, seconds=-3600)[0] == 0
    assert place.move("black", CLOCK, seconds=-7200)[0] == 0
    assert place.run("backups", "--prune", "1", hook=CLOCK, seconds=-7200)[0] == 0
    code, output = place.run("restore", NAME, "--to", "pristine")
    assert (code, place.library.read_text()) == (0, TEXT), output


def test_c5_a_concurrent_write_of_another_program_is_kept(place: Place) -> None:
    theirs = TEXT.replace("Mul", "Pow")
    (place.folder / "theirs").write_text(theirs)
    code, output = place.move("black", OTHER_WRITER)
    assert (code, place.library.read_text()) == (3, theirs), output


@pytest.mark.parametrize("damage", ["cut", "bit"])
def test_c6_a_damaged_record_is_reported(place: Place, damage: str) -> None:
    for to in ("black", "gray"):
        assert place.move(to)[0] == 0
    for path in place.records():
        data = bytearray(path.read_bytes())
        if damage == "cut":
            del data[len(data) // 2 :]
        else:
            data[data.index(b'"files"') + 3] ^= 1
        path.write_bytes(data)
    assert "damaged" in place.run("backups", NAME)[1]
    code, output = place.run("restore", NAME, "--to", "pristine")
    assert (code, "damaged" in output) == (3, True), output


def test_c7_a_file_half_overwritten_is_named_and_restored(place: Place) -> None:
    assert place.move("black", KILLED_HALFWAY, "--in-place")[0] == -9
    torn = place.library.read_text()
    assert torn != TEXT
    assert "half" in place.run("doctor", NAME)[1] + place.move("gray")[1]
    code, output = place.run("restore", NAME)
    assert (code, place.library.read_text()) == (0, TEXT), output


def test_c8_a_running_change_is_waited_for(place: Place) -> None:
    for name in ("x", "y"):
        (place.folder / "store").mkdir(exist_ok=True)
        (place.folder / "store" / f"aic-{name}-ops-info.json").write_text(TEXT.replace("Add", f"Add{name}"))
    (place.folder / "m.json").write_text('{"black-list": {"to-add": ["Addx", "Addy"]}}')
    applying = place.start("apply", "store", "m.json", hook=BETWEEN_FILES)
    place.wait_for("between", applying)
    code, output = place.run("move", "store/aic-x-ops-info.json", "Mul", "--to", "gray", "--force")
    applying.communicate(timeout=60)
    assert (code, applying.returncode) == (0, 0), output


def test_c9_a_folder_swapped_for_a_link_is_not_followed(place: Place) -> None:
    for name in ("config", "victim"):
        (place.folder / name).mkdir()
        (place.folder / name / NAME).write_text(TEXT)
    place.run("move", f"config/{NAME}", "Add", "--to", "black", hook=SWAPPED)
    assert (place.folder / "aside").exists()
    assert (place.folder / "victim" / NAME).read_text() == TEXT
    assert os.listdir(place.folder / "victim") == [NAME]


BOMBS = {"dotted key": "a" + ".a" * 30_000 + " = 1\n", "brackets": "x = " + "[" * 5000, "digits": "x = " + "9" * 6000}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_c10_a_hostile_configuration_is_refused_quickly(place: Place, text: str) -> None:
    (place.folder / "opsinfo.toml").write_text(text)
    (place.folder / "m.json").write_text("{}")
    code, output = place.run("validate", "m.json", cpu=5)
    assert code == 2, output[-500:]
    assert "has a fault" not in output


def _command_of_a_runner(place: Place) -> None:
    place.library.write_text(TEXT.replace("Add", "::error::x"))
    assert not re.search(r"^::", place.run("list", NAME)[1], re.MULTILINE)


def _direction_mark(place: Place) -> None:
    place.library.write_text(TEXT.replace("Add", "A\u061cdd"))
    assert "\u061c" not in place.run("list", NAME)[1]


def _removed_folder(place: Place) -> None:
    gone = 'os.mkdir("gone"); os.chdir("gone"); os.rmdir("../gone")'
    code, output = place.run("list", str(place.library), hook=gone)
    assert (code in (0, 3), "has a fault" in output, "Traceback" in output) == (True, False, False), output


def _ignore_bomb(place: Place) -> None:
    (place.folder / ".git").mkdir()
    (place.folder / ".gitignore").write_text("*a" * 40 + "b\n")
    (place.folder / ("a" * 120 + ".json")).write_text("{}")
    assert place.run("validate", ".", cpu=10)[0] in (0, 1)


def _two_documents(place: Place) -> None:
    (place.folder / "m.json").write_text('{"black-list": {"to-add": ["Add",]}}')
    code, output = place.run("fmt", "m.json", "--format", "json", "-o", "missing/x.json")
    assert code != 0
    json.loads(output)


def _nested_record(place: Place) -> None:
    assert place.move("black")[0] == 0
    for path in place.records():
        path.write_text("[" * 100_000)
    _, output = place.run("backups", NAME)
    assert "damaged" in output, output[-300:]
    assert "Traceback" not in output


SMALL: dict[str, Callable[[Place], None]] = {
    "a CI runner command in a row": _command_of_a_runner,
    "a direction mark": _direction_mark,
    "a removed working folder": _removed_folder,
    "a pattern of .gitignore": _ignore_bomb,
    "one JSON document": _two_documents,
    "a deeply nested record": _nested_record,
}


@pytest.mark.parametrize("check", SMALL.values(), ids=SMALL)
def test_c11_small_faults(place: Place, check: Callable[[Place], None]) -> None:
    check(place)


@needs_root
def test_c11_a_vault_of_another_owner_is_not_used(place: Place) -> None:
    assert place.move("black")[0] == 0
    os.chown(place.folder / "vault", 1234, 1234)
    code, output = place.run("backups", NAME)
    assert code == 3, output
