"""Real processes: every system call on the target, its lock or the vault is killed and failed.

A run is traced once. Each of its calls on these files is then the victim of another run on a fresh copy of the same
files: killed at the call, or failed in it, once or permanently. `test_faults_calls.py` does the same in process.
strace is used without `--seccomp-bpf`, with which it delivers no signal that it injects.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from faults_counts import Counts
from faults_support import (
    CONFIG,
    ROOT,
    Scene,
    complaints,
    complaints_of_the_next_run,
    everywhere,
    jobs,
    lay,
)
from strace_probe import needs_strace

from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.restore import restore_last
from opsinfo_cli.core.change.writer import Writer

MODES = ["signal=KILL", "error=EIO", "error=ENOSPC", "error=EIO from then on", "error=ENOSPC from then on"]
_CALL = re.compile(r"(\w+)\(")
_NO_FAULT = {"execve", "mmap", "munmap", "exit_group"}  # the interpreter's memory, and calls that cannot fail

pytestmark = needs_strace


class Traced:
    """One command on one set of files, run under strace.

    :param lay_out: creates the files; returns the scene and the words of the command
    """

    def __init__(self, lay_out: Callable[[Path], tuple[Scene, list[str]]], top: Path, bytecode: Path) -> None:
        self.top, self.template = top / "at", top / "template"
        self.top.mkdir()
        self.scene, words = lay_out(self.top)
        shutil.copytree(self.top, self.template)
        self.command = [sys.executable, "-m", "opsinfo_cli", *words]
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
            "PYTHONPATH": str(ROOT),
            "PYTHONHASHSEED": "0",
            "PYTHONPYCACHEPREFIX": str(bytecode),
            "OPSINFO_BACKUP_DIR": str(self.scene.place),
            "TMPDIR": str(top),
        }

    def again(self) -> Scene:
        shutil.rmtree(self.top)
        shutil.copytree(self.template, self.top)
        return self.scene

    def run(self, *options: str) -> int:
        done = subprocess.run(
            ["strace", *options, *self.command], env=self.environment, cwd=ROOT, capture_output=True, check=False
        )
        assert b"internal error" not in done.stderr, done.stderr
        return done.returncode

    def calls(self) -> list[tuple[str, int]]:
        """Return every call on the files, with its number among calls of the same name."""
        subprocess.run(self.command, env=self.environment, cwd=ROOT, capture_output=True, check=False)
        self.again()
        log = self.top.parent / "trace"
        assert self.run("-qq", "-y", "-e", "trace=%file,%desc", "-o", str(log)) == 0
        assert self.scene.state() == "new"
        found, numbers = [], Counter[str]()
        for line in log.read_text("utf-8", "replace").splitlines():
            match = _CALL.match(line)
            if match is None:
                continue
            numbers[match[1]] += 1
            if str(self.top) in line and match[1] not in _NO_FAULT:
                found.append((match[1], numbers[match[1]]))
        return found

    def faults(self, mode: str, calls: list[tuple[str, int]]) -> Iterator[str]:
        what, _, lasting = mode.partition(" ")
        for name, number in calls:
            scene = self.again()
            when = f"{number}+" if lasting else f"{number}"
            inject = f"inject={name}:{what}:when={when}"
            log = self.top.parent / "injected"
            status = self.run("-f", "-qq", "-o", str(log), "-e", f"trace={name}", "-e", inject)
            fired = "+++ killed by SIGKILL" if what == "signal=KILL" else "(INJECTED)"
            assert fired in log.read_text("utf-8", "replace"), f"{mode} {name} {number} never came: exit {status}"
            answer = "killed" if what == "signal=KILL" else self.answer(status)
            leftovers = int(what == "signal=KILL" or bool(lasting) or name.startswith("unlink"))
            found = [*complaints(scene, answer, leftovers)]
            if not lasting and what != "signal=KILL" and status not in (0, 3):
                found.append("an input or output that fails once is exit 3")
            found += complaints_of_the_next_run(scene)
            yield from (f"{mode} {name} {number}, exit {status}: {each}" for each in found)

    def answer(self, status: int) -> str:
        if status == 0:
            return "done"
        return "refused" if self.scene.state() == "old" else "unfinished-change"


def spread(calls: list[tuple[str, int]], count: int | None, shift: int) -> list[tuple[str, int]]:
    """Return some of them, evenly spread; another shift selects others."""
    if count is None or count >= len(calls):
        return calls
    step = len(calls) / count
    return [calls[int(step * (each + shift / len(MODES)))] for each in range(count)]


def moved(top: Path) -> tuple[Scene, list[str]]:
    (path,) = lay(top / CONFIG, 1)
    before = path.read_bytes()
    new = before.replace(b"true", b"false", 1)
    act = jobs([path])
    scene = Scene([path], top / "vault", [before], [new], lambda writer: writer.run("move", act), other([path]))
    return scene, ["move", str(path), "Add", "--to", "black"]


def applied(top: Path) -> tuple[Scene, list[str]]:
    """Five libraries of one store; each has its own winning op type, and all of them change."""
    paths = lay(top / CONFIG, 5)
    marks = ", ".join(f'"Mul{number}"' for number in range(5))
    mixlist = top / "mixlist.json"
    mixlist.write_text('{"black-list": {"to-add": [' + marks + "]}}\n")
    before = [path.read_bytes() for path in paths]
    new = [b"false".join(each.rsplit(b"true", 1)) for each in before]

    def act(writer: Writer) -> None:
        work = [jobs([path], Policy.BLACK, f"Mul{number}")[0] for number, path in enumerate(paths)]
        writer.run("apply", work)

    scene = Scene(paths, top / "vault", [*before], [*new], act, other(paths))
    return scene, ["apply", str(top / CONFIG), str(mixlist)]


def restored(top: Path) -> tuple[Scene, list[str]]:
    scene, _ = applied(top)
    scene.act(scene.writer())

    def act(writer: Writer) -> None:
        restore_last(writer, everywhere)

    back = replace(scene, before=scene.wanted, wanted=scene.before, act=act)
    return back, ["restore", str(top / CONFIG)]


def other(paths: list[Path]) -> Callable[[Writer], object]:
    return lambda writer: writer.run("move", jobs(paths, Policy.BLACK, "Log"))


@pytest.fixture(scope="session")
def bytecode_of_faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bytecode")


@pytest.mark.heavy
@pytest.mark.parametrize("lay_out", [moved, applied, restored], ids=["move", "apply of five files", "restore"])
def test_if_any_system_call_is_killed_or_fails_every_file_is_old_or_new(
    lay_out: Callable[[Path], tuple[Scene, list[str]]], tmp_path: Path, bytecode_of_faults: Path, counts: Counts
) -> None:
    traced = Traced(lay_out, tmp_path, bytecode_of_faults)
    calls = traced.calls()
    assert len(calls) > 30
    wrong = []
    for shift, mode in enumerate(MODES):
        wrong += traced.faults(mode, spread(calls, counts.traced, shift))
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("lay_out", [moved, applied, restored], ids=["move", "apply of five files", "restore"])
def test_the_file_exists_at_every_moment_of_a_trace(
    lay_out: Callable[[Path], tuple[Scene, list[str]]], tmp_path: Path, bytecode_of_faults: Path
) -> None:
    """No original is renamed away, unlinked or opened for writing; each is synced as a temp before it is renamed."""
    traced = Traced(lay_out, tmp_path, bytecode_of_faults)
    log = tmp_path / "trace"
    assert traced.run("-qq", "-y", "-e", "trace=%file,%desc", "-o", str(log)) == 0
    # full names of files that are opened by a folder's descriptor
    text = re.sub(r'\b\d+<(/[^>]*)>, "([^"/]+)"', r'AT_FDCWD, "\1/\2"', log.read_text("utf-8", "replace"))
    lines = text.splitlines()
    for path in traced.scene.files:
        touching = [line for line in lines if str(path) in line]
        assert not [
            line for line in touching if re.match(rf'(rename\w*|unlink\w*|truncate)\((AT_FDCWD\S*, )?"{path}"', line)
        ]
        assert not [line for line in touching if line.startswith("open") and re.search("O_WRONLY|O_RDWR|O_TRUNC", line)]
        (rename,) = (number for number, line in enumerate(lines) if line.startswith("rename") and f'"{path}")' in line)
        temp = re.findall(r'"([^"]*)"', lines[rename])[0]
        assert os.path.dirname(temp) == str(path.parent)
        created = next(line for line in lines if line.startswith("openat") and f'"{temp}"' in line)
        assert {"O_CREAT", "O_EXCL", "O_NOFOLLOW"} <= set(re.findall(r"O_[A-Z]+", created))
        assert ", 0600)" in created
        syncs = [number for number, line in enumerate(lines) if line.startswith("fsync") and f"<{temp}>" in line]
        assert [number < rename for number in syncs] == [True]
        folder = [
            number for number, line in enumerate(lines) if line.startswith("fsync") and f"<{path.parent}>" in line
        ]
        assert any(number > rename for number in folder)
        backups = [
            number
            for number, line in enumerate(lines)
            if line.startswith("fsync") and f"<{traced.scene.place}/" in line and number < rename
        ]
        assert len(backups) >= 2, "the backup and the record are on the disk before the first file changes"
