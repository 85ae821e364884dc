"""Real file systems on a loop device: the image is copied at random moments of a run, as a power cut leaves it.

The run is stopped while the image is copied. Data that was not synced is in the memory of the mounted file system, and
so not in the copy. The copy is mounted, which recovers its journal, and every change reported as done before must be
in it. ``OPSINFO_IMAGE_CUTS`` sets the number of moments; 40 by default.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "faults"))

from faults_support import everywhere, fork, library_text, needs_root

from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.plan import Job, LibraryPlan
from opsinfo_cli.core.change.restore import restore_last, restore_to
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer
from opsinfo_cli.errors import OpsinfoError

CUTS = int(os.environ.get("OPSINFO_IMAGE_CUTS", "40"))
KINDS = {
    "ext4": (["mkfs.ext4", "-q", "-F"], 64, "commit=300"),
    "ext4, noauto_da_alloc": (["mkfs.ext4", "-q", "-F"], 64, "commit=300,noauto_da_alloc"),
    "xfs": (["mkfs.xfs", "-q", "-f"], 320, "defaults"),
    "btrfs": (["mkfs.btrfs", "-q", "-f"], 256, "commit=300"),
}
OPS = [f"Op{number}" for number in range(6)]
pytestmark = needs_root


@contextmanager
def mounted(image: Path, at: Path, options: str) -> Iterator[Path]:
    """The image as a folder.

    :raises OSError: if this machine mounts none
    """
    at.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-o", f"loop,{options}", image, at], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip())
    try:
        yield at
    finally:
        subprocess.run(["umount", at], check=True)


def paths_in(disk: Path) -> list[Path]:
    return [disk / "config" / f"aic-x-ops-info-{letter}.json" for letter in "ab"]


def run(disk: Path, log: Path, seed: int) -> int:
    """Changes one after the other; each is noted outside of the disk once it is reported as done."""
    chance = random.Random(seed)
    writer = Writer(Vault(str(disk / "vault")))
    with log.open("a") as notes:
        while True:
            paths = chance.sample(paths_in(disk), chance.randint(1, 2))
            plan = LibraryPlan({chance.choice(OPS): chance.choice(list(Policy))})
            try:
                if chance.random() < 0.2:
                    change = restore_last(writer, everywhere)[0]
                else:
                    change = writer.run("move", [Job(str(path), plan) for path in paths]).change
            except OpsinfoError as error:
                assert error.name in ("nothing-to-restore", "changed-since"), error  # noqa: PT017
                continue
            if change:
                print(change, file=notes, flush=True)


def stopped(child: int) -> bool:
    return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def copied_at_a_moment(image: Path, child: int, copy: Path, log: Path) -> set[str]:
    """Copy the image while the run is stopped; the changes that were reported by then."""
    os.kill(child, signal.SIGSTOP)
    while not stopped(child):
        time.sleep(0.001)
    try:
        shutil.copyfile(image, copy)
        return set(log.read_text().split())
    finally:
        os.kill(child, signal.SIGCONT)


def check(disk: Path, did: set[str], first: dict[str, bytes]) -> None:
    vault = Vault(str(disk / "vault"))
    assert vault.damage(contents=True) == []
    known = {record.id for record in vault.history().records}
    assert did <= known, f"{len(did - known)} of {len(did)} reported changes are not in the vault"
    for path in paths_in(disk):
        json.loads(path.read_bytes())
    writer = Writer(vault, force=True)
    jobs = [Job(str(path), LibraryPlan({"Op0": Policy.BLACK, "Op1": Policy.WHITE})) for path in paths_in(disk)]
    try:
        writer.run("move", jobs)
    except OpsinfoError as error:
        assert error.name == "unfinished-change", error  # noqa: PT017
        restore_last(writer, everywhere)
    if did:
        restore_to(writer, everywhere, "pristine")
        assert {path.name: path.read_bytes() for path in paths_in(disk)} == first


@pytest.mark.parametrize("kind", KINDS)
def test_an_image_copied_at_any_moment_contains_every_reported_change(tmp_path: Path, kind: str) -> None:
    make, size, options = KINDS[kind]
    if shutil.which(make[0]) is None:
        pytest.skip(f"{make[0]} is not installed")
    image, log, disk = tmp_path / "image", tmp_path / "log", tmp_path / "disk"
    with image.open("wb") as file:
        file.truncate(size << 20)
    subprocess.run([*make, image], check=True, capture_output=True)
    chance = random.Random(11)
    try:
        with mounted(image, disk, options):
            (disk / "config").mkdir()
            for path in paths_in(disk):
                path.write_text(library_text(**dict.fromkeys(OPS, "true")))
            first = {path.name: path.read_bytes() for path in paths_in(disk)}
            os.sync()
            log.touch()
            child = fork(lambda: run(disk, log, 1))
            try:
                taken = []
                for number in range(CUTS):
                    time.sleep(chance.uniform(0.05, 0.5))
                    copy = tmp_path / f"copy-{number}"
                    taken.append((copy, copied_at_a_moment(image, child, copy, log)))
            finally:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
    except OSError as error:
        pytest.skip(f"this machine mounts no {kind} image: {error}")
    for copy, did in taken:
        with mounted(copy, disk, options + (",nouuid" if kind == "xfs" else "")):
            check(disk, did, first)
        copy.unlink()
    print(f"{kind}: {len(taken)} copies, {len(taken[-1][1])} changes reported")
    assert taken[-1][1], "no change was made"


if __name__ == "__main__":
    pytest.main([__file__, "-s"])
