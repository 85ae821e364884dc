"""Signals and locks; no files are left over."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_support import AI_910B, NN, Run, flag_of, mixlist, snapshot, write
from contract import SIGNAL_STATUSES
from program_run import ROOT

Start = Callable[..., "subprocess.Popen[bytes]"]


def waits_for_the_lock(process: subprocess.Popen[bytes], path: Path) -> None:
    """Wait until a process has the locked file open, and so waits for the lock."""
    folder = Path(f"/proc/{process.pid}/fd")
    if not folder.exists():
        pytest.skip("/proc is not available")
    while process.poll() is None:
        for link in folder.iterdir():
            try:
                same = path.stat().st_ino == os.stat(link).st_ino
                if same and _installed(process.pid):
                    return
            except OSError:
                continue
    pytest.fail("the process ended instead of waiting")


def _installed(pid: int, number: signal.Signals = signal.SIGTERM) -> bool:
    """Whether the process catches a signal: SIGTERM from its first moments on, then SIGHUP, unless that is ignored."""
    caught = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) & 1 << number - 1)


INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder)
entry = sys.argv.pop(2)
if entry == "module":
    import runpy
    runpy.run_module("opsinfo_cli", run_name="__main__")
from opsinfo_cli.__main__ import main
main()
"""
"""The program, interrupted at its first import of a module."""


@pytest.mark.process  # coverage imports json and ast before the program does
@pytest.mark.parametrize("entry", ["script", "module"])
@pytest.mark.parametrize("name", ["opsinfo_cli.app", "click", "json", "opsinfo_cli.core.commands.list", "ast"])
def test_an_interrupt_while_modules_are_imported(name: str, entry: str, environment: dict[str, str]) -> None:
    words = [sys.executable, "-c", INTERRUPTED, name, entry, "list", str(ROOT / "fixtures/ops_info.json")]
    ran = subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, b"", b"")


def test_nothing_slow_is_imported_before_an_interrupt_is_handled(environment: dict[str, str]) -> None:
    code = "import sys; before = {*sys.modules}; import opsinfo_cli.__main__; print(*sorted({*sys.modules} - before))"
    words = [sys.executable, "-S", "-c", code]  # without what the environment's .pth files import
    ran = subprocess.run(
        words, env={**environment, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert {"typing", "enum", "re", "signal"}.isdisjoint(ran.stdout.split())


@pytest.mark.parametrize(("number", "status"), SIGNAL_STATUSES.items(), ids=str)
@pytest.mark.parametrize("what", ["library", "mixlist"])
def test_a_signal_while_waiting_for_a_lock(
    start: Start, opp: Path, tmp_path: Path, vault: Path, number: signal.Signals, status: int, what: str
) -> None:
    path = opp / NN if what == "library" else write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    before = snapshot(tmp_path)
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = start("move", path, "SwiGlu", "--to", "black")
        waits_for_the_lock(process, path)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == status
    assert out == b""
    assert b"Traceback" not in err
    assert snapshot(tmp_path) == before
    assert not vault.exists() or not any(each.is_file() for each in vault.rglob("*"))


def test_after_the_lock_is_released_the_move_continues(start: Start, opp: Path) -> None:
    with (opp / NN).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = start("move", opp / NN, "SwiGlu", "--to", "black")
        waits_for_the_lock(process, opp / NN)
    assert process.wait(timeout=30) == 0
    assert flag_of(opp / NN, "SwiGlu") == "false"


@pytest.mark.parametrize("style", ["text", "json"])
def test_a_lock_held_past_the_deadline_is_refused_naming_the_owner(
    opsinfo: Run, opp: Path, style: str, lock_owner_is_shown: Callable[[Path], bool]
) -> None:
    before = snapshot(opp)
    with (opp / NN).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ran = opsinfo("move", opp / NN, "SwiGlu", "--to", "black", "--wait", "0", "--format", style)
        is_shown = lock_owner_is_shown(opp / NN)
    assert ran.code == 3
    assert snapshot(opp) == before
    output = ran.json["error"]["message"] if style == "json" else ran.err
    if is_shown:
        assert str(os.getpid()) in output
    if style == "json":
        assert ran.json["error"]["name"] == "locked"
        assert "--wait" in ran.json["error"]["hint"]
        assert ran.json["error"]["path"] == str(opp / NN)


@pytest.mark.parametrize(
    "words",
    [("apply", "LIB", "MIX"), ("fmt", "MIX"), ("restore", "LIB"), ("move", "STORE", "SwiGlu", "--to", "gray")],
    ids=lambda words: words[0],
)
def test_every_command_that_writes_honours_the_lock(
    opsinfo: Run, opp: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    mixed = write(tmp_path / "m.json", '{"black-list": {"to-add": ["DynamicRNN"]}, "white-list": {}} x')
    assert opsinfo("move", opp / NN, "SwiGlu", "--to", "black").code == 0
    places = {"LIB": opp / NN, "MIX": mixed, "STORE": opp / AI_910B}
    held = mixed if words[0] == "fmt" else opp / NN
    before = snapshot(tmp_path)
    with held.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        ran = opsinfo(*(places.get(word, word) for word in words), "--wait", "0")
    assert ran.code == 3, ran.err
    assert snapshot(tmp_path) == before


def test_commands_that_only_read_do_not_wait_for_a_lock(opsinfo: Run, opp: Path) -> None:
    with (opp / NN).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for words in (
            ("list", opp / NN),
            ("show", opp / NN, "SwiGlu"),
            ("validate", opp / NN),
            ("move", opp / NN, "SwiGlu", "--to", "black", "--dry-run"),
        ):
            assert opsinfo(*words).code == 0


def test_a_relative_and_a_linked_path_use_one_lock(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    link = tmp_path / "aic-link-ops-info.json"
    link.symlink_to(opp / NN)
    with (opp / NN).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert opsinfo("move", link, "SwiGlu", "--to", "black", "--wait", "0").code == 3


def test_concurrent_moves_are_all_made(start: Start, tmp_path: Path) -> None:
    import json

    path = write(tmp_path / "m.json", mixlist(black_add=["Seed"]))
    processes = [start("move", path, f"Op{number}", "--to", "black") for number in range(6)]
    assert [process.wait(timeout=60) for process in processes] == [0] * 6
    ops = json.loads(path.read_text("utf-8"))["black-list"]["to-add"]
    assert sorted(ops) == sorted(["Seed", *(f"Op{number}" for number in range(6))])
    assert [each.name for each in tmp_path.iterdir()] == ["m.json"]


def test_a_temp_of_a_killed_run_is_removed_and_nothing_else(opsinfo: Run, opp: Path) -> None:
    ours = write(opp / AI_910B / ".opsinfo-77-0123456789ab.tmp", "half")
    others = [write(opp / AI_910B / name, "") for name in (".opsinfo-notes.tmp", "opsinfo-1-aa.tmp", ".x.json.tmp")]
    assert opsinfo("move", opp / NN, "SwiGlu", "--to", "black").code == 0
    assert not ours.exists()
    assert all(path.exists() for path in others)


def test_a_signal_while_reading_standard_input(start: Start) -> None:
    """Python ends by SIGINT itself, 130 for a shell, if it comes while a class is made."""
    for number, status in SIGNAL_STATUSES.items():
        process = start("validate", "-", "--as", "mixlist", stdin=subprocess.PIPE)
        while process.poll() is None and not _installed(process.pid, signal.SIGHUP):
            pass
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        assert process.returncode in (status, -number if number == signal.SIGINT else status)
        assert b"Traceback" not in err


def test_a_hangup_that_the_caller_ignores_stays_ignored(start: Start, opp: Path) -> None:
    """Run as under nohup."""

    def ignore() -> Any:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with (opp / NN).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = start("move", opp / NN, "SwiGlu", "--to", "black", preexec_fn=ignore)
        waits_for_the_lock(process, opp / NN)
        process.send_signal(signal.SIGHUP)
    code = process.wait(timeout=30)
    assert code == 0, process.stderr.read()
    assert flag_of(opp / NN, "SwiGlu") == "false"


MISSES_ONE = """
import os, signal, sys
from opsinfo_cli import app

class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)  # Python ignores what is raised here

def run(words):
    Dying()
    print("goes on", flush=True)
    os.kill(os.getpid(), signal.SIGHUP)
    print("still goes on", flush=True)
    return 0

app._run = run
app.main([])
"""


def run_code(code: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )


def test_a_signal_that_python_ignored_does_not_make_the_next_one_ignored() -> None:
    done = run_code(MISSES_ONE)
    assert (done.returncode, done.stdout) == (SIGNAL_STATUSES[signal.SIGHUP], b"goes on\n"), done.stderr


SIGNALLED_TWICE = """
import os, signal, sys
from opsinfo_cli import app

def run(words):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)  # as `timeout` does
        print("put back", flush=True)

app._run = run
app.main([])
"""


def test_a_second_signal_does_not_interrupt_what_the_first_one_ends() -> None:
    done = run_code(SIGNALLED_TWICE)
    assert (done.returncode, done.stdout) == (SIGNAL_STATUSES[signal.SIGTERM], b"put back\n"), done.stderr


SIGNALLED_IN_FLUSH = """
import os, signal, sys
from opsinfo_cli import app

class Full:
    signals = [int(sys.argv[1])]

    def flush(self):
        while self.signals:
            os.kill(os.getpid(), self.signals.pop())

def run(words):
    sys.stdout = Full()
    return 0

app._run = run
app.main()
"""


@pytest.mark.parametrize("number", list(SIGNAL_STATUSES))
def test_a_signal_while_the_last_output_is_written_is_handled(number: signal.Signals) -> None:
    done = run_code(SIGNALLED_IN_FLUSH, str(int(number)))
    assert (done.returncode, done.stderr) == (SIGNAL_STATUSES[number], b"")


SIGNALLED_AT_THE_END = """
import os, sys
from opsinfo_cli import app

app._run = lambda words: 0
os._exit = lambda status: os.kill(os.getpid(), int(sys.argv[1]))
app.main()
"""


@pytest.mark.parametrize("number", list(SIGNAL_STATUSES))
def test_a_signal_after_the_last_output_ends_the_process(number: signal.Signals) -> None:
    done = run_code(SIGNALLED_AT_THE_END, str(int(number)))
    assert (done.returncode, done.stderr) == (-number, b"")
