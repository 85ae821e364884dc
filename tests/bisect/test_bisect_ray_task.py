"""The part of a trial that runs on a node of a cluster, without a cluster."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from running_processes import processes, wait_until

from opsinfo_cli.bisect.places import keeper, ray_task

pytestmark = pytest.mark.process
SOURCE = inspect.getsource(keeper)
FOREVER = "import sys, time; open(sys.argv[1], 'w').close(); time.sleep(600)"


@pytest.fixture(autouse=True)
def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of the node."""
    folder = tmp_path / "node"
    folder.mkdir()
    monkeypatch.setattr(ray_task.tempfile, "tempdir", str(folder))
    monkeypatch.setattr(ray_task, "node_facts", lambda folder: {"folder": folder})
    return folder


def run(*command: str, timeout: float | None = None, keeps: bool = False) -> Generator[tuple[str, Any], None, None]:
    return ray_task.run_trial(7, command, {"mixlist": ("mixlist-0007.json", b"{}")}, timeout, keeps, SOURCE)


def trial(code: str, *words: str, **options: Any) -> Generator[tuple[str, Any], None, None]:
    return run(sys.executable, "-I", "-S", "-c", code, *words, **options)


def output_of(events: list[tuple[str, Any]]) -> bytes:
    return b"".join(what for kind, what in events if kind == "output")


def working(work: Callable[[], object], begun: Path) -> int:
    """The process of a worker whose work has begun."""
    worker = os.fork()
    if not worker:
        work()
        os._exit(0)
    wait_until(begun.exists)
    return worker


def kill(worker: int) -> None:
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)


def test_a_trial_reports_its_node_then_its_output_then_its_status(node: Path) -> None:
    code = "import os, sys; print(open(sys.argv[1]).read(), os.environ['OPSINFO_TRIAL']); sys.exit(3)"
    events = list(trial(code, "{mixlist}"))
    folder = events[0][1]["folder"]
    assert (events[0][0], os.path.dirname(folder)) == ("node", str(node))
    assert output_of(events) == f"{{}} {folder}\n".encode()
    kind, facts = events[-1]
    assert (kind, facts["code"], facts["signal"], facts["timed_out"]) == ("ended", 3, 0, False)
    assert os.listdir(node) == []
    with pytest.raises(ChildProcessError):  # no child is left, not even a zombie
        os.waitpid(-1, os.WNOHANG)


def test_a_folder_is_kept_on_request(node: Path) -> None:
    events = list(trial("print('done')", keeps=True))
    folder = Path(events[0][1]["folder"])
    assert sorted(os.listdir(folder)) == ["cache", "mixlist-0007.json", "output.log"]
    assert (folder / "output.log").read_text() == "done\n"


def test_a_command_that_a_signal_ends_has_its_number() -> None:
    _, facts = list(trial("import os; os.kill(os.getpid(), 11)"))[-1]
    assert (facts["code"], facts["signal"]) == (0, signal.SIGSEGV)


@pytest.mark.parametrize(("mode", "code"), [(None, 127), (0o600, 126)], ids=["missing", "not executable"])
def test_a_command_that_cannot_be_run_ends_as_in_a_shell(tmp_path: Path, mode: int | None, code: int) -> None:
    check = tmp_path / "check.sh"
    if mode is not None:
        check.touch(mode)
    events = list(run(str(check)))
    assert events[-1][1]["code"] == code
    assert output_of(events).decode().startswith(f"{check}: ")


def test_processes_that_a_command_leaves_running_in_its_group_are_ended() -> None:
    mark = f"mark {os.getpid()} leaves"
    code = (
        "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', sys.argv[1]])"
    )
    assert list(trial(code, mark))[-1][1]["code"] == 0
    assert not processes(mark)


def test_a_command_that_takes_too_long_gets_sigterm_first() -> None:
    events = list(run("sh", "-c", "trap 'echo asked; exit 9' TERM; sleep 600 & wait", timeout=1))
    assert (events[-1][1]["timed_out"], events[-1][1]["code"]) == (True, 9)
    assert output_of(events) == b"asked\n"


def test_a_command_that_ignores_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = f"mark {os.getpid()} ignores"
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", SOURCE.replace("GRACE = 5.0", "GRACE = 0.2"))
    check = f"trap '' TERM; sh -c 'sleep 600; : {mark}' & sleep 600; sleep 600"
    facts = list(run("sh", "-c", check, timeout=1))[-1][1]
    assert (facts["timed_out"], facts["signal"]) == (True, signal.SIGKILL)
    assert not processes(mark)


def test_a_trial_that_is_cancelled_ends_its_command_and_removes_its_folder(node: Path, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    running = trial(FOREVER + "  # " + str(tmp_path), str(begun))
    next(running)
    code = "print('first', flush=True); import time; time.sleep(600)"
    other = trial(code + "  # " + str(tmp_path))
    assert [next(other)[0], next(other)] == ["node", ("output", b"first\n")]
    assert processes("# " + str(tmp_path))
    running.close()
    other.close()
    assert not processes("# " + str(tmp_path))
    assert os.listdir(node) == []


def test_the_keeper_ends_the_command_of_a_worker_that_is_killed(node: Path, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    worker = working(lambda: list(trial(FOREVER + "  # " + str(tmp_path), str(begun))), begun)
    assert processes("# " + str(tmp_path))
    kill(worker)
    wait_until(lambda: not processes("# " + str(tmp_path)) and os.listdir(node) == [])


def test_the_keeper_outlives_its_parent_which_ray_may_kill(node: Path, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    worker = working(lambda: list(trial(FOREVER + "  # " + str(tmp_path), str(begun))), begun)
    children = Path(f"/proc/{worker}/task/{worker}/children").read_text().split()
    assert len(children) == 1
    os.kill(int(children[0]), signal.SIGKILL)
    kill(worker)
    wait_until(lambda: not processes("# " + str(tmp_path)) and os.listdir(node) == [])


def test_a_keeper_whose_worker_is_gone_before_its_request_runs_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    words = [sys.executable, "-I", "-S", "-c", SOURCE, str(folder), "remove"]
    done = subprocess.run(words, input=b'{"words": ["touch', capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b'{"problem": ""}\n', b"")
    wait_until(lambda: not folder.exists())


def test_the_folder_of_a_worker_that_is_killed_before_its_request_is_removed(
    node: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"

    def hangs(folder: str) -> None:
        assert os.path.isdir(folder)
        begun.touch()
        time.sleep(600)

    monkeypatch.setattr(ray_task, "node_facts", hangs)
    kill(working(lambda: list(run("true")), begun))
    wait_until(lambda: os.listdir(node) == [])


def test_a_node_with_a_full_disk_reports_it(node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(path: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ray_task.os, "mkdir", refuses)
    facts, refused = run("true")
    assert refused == ("not-written", f"{facts[1]['folder']}: No space left on device")
    assert os.listdir(node) == []


def test_a_node_without_a_folder_for_temporary_files_reports_it(node: Path) -> None:
    node.rmdir()
    [(kind, message)] = run("true")
    assert kind == "not-written"
    assert message.startswith(f"{node}/opsinfo-trial-0007-")
    assert message.endswith(": No such file or directory")
