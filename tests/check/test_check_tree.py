"""Many paths: several processes report the same as one, and no file hides findings of others."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from opsinfo_cli.check import path_checks
from opsinfo_cli.check.checker import Checker
from opsinfo_cli.check.path_checks import check_paths
from opsinfo_cli.check.worker_processes import processors, shared

SIZES = [5, 1, 9, 1, 1, 3]


@pytest.fixture
def toolkit(tmp_path: Path, fixtures: Path) -> Path:
    """Six chips, correct and wrong mixlists, and an unreadable file."""
    config = Path("opp/built-in/op_impl/ai_core/tbe/config")
    for index in range(6):
        shutil.copytree(fixtures / config / "ascend910b", tmp_path / config / f"ascend{index}")
    shutil.copytree(fixtures / "mixlists", tmp_path / "mixlists")
    os.mkfifo(tmp_path / "mixlists" / "mixlist.json")
    return tmp_path


def report(top: Path) -> tuple[object, ...]:
    checker = Checker()
    steps: list[tuple[int, int]] = []
    check_paths(
        checker, [str(top / "mixlists"), str(top / "gone.json"), str(top / "opp")], lambda *step: steps.append(step)
    )
    total = steps[-1][1]
    assert steps == [(done, total) for done in range(1, total + 1)]
    failed = [(error.name, error.path) for error in checker.failures]
    return checker.outcome.findings, checker.outcome.files, failed, checker.saw_mixlist


def test_several_processes_report_the_same_as_one(toolkit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = report(toolkit)
    monkeypatch.setattr(path_checks, "_WORTH_SHARING", 0)
    for count in (1, 2, 5):
        monkeypatch.setattr(path_checks, "processors", lambda count=count: count)
        assert report(toolkit) == alone
    names = [name for name, _ in alone[2]]  # type: ignore[attr-defined]
    assert names == ["not-a-file", "unreadable"]


def test_small_trees_are_not_shared(toolkit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process was started"))
    report(toolkit)


def test_one_large_file_beside_small_ones_is_not_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, blanks in (("a", 5000), ("b", 5)):
        (tmp_path / f"{name}-mixlist.json").write_text("{}" + " " * blanks)
    monkeypatch.setattr(path_checks, "_WORTH_SHARING", 1000)
    monkeypatch.setattr(path_checks, "processors", lambda: 2)
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("a process was begun"))
    checker = Checker()
    check_paths(checker, [str(tmp_path)])
    assert len(checker.outcome.files) == 2


def test_a_folder_that_cannot_be_listed_is_a_failure_with_the_systems_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str, report: Callable[[OSError], object]) -> list[object]:
        report(PermissionError(errno.EACCES, os.strerror(errno.EACCES), f"{path}/closed"))
        return []

    monkeypatch.setattr(path_checks, "tasks_in", refused)
    checker = Checker()
    check_paths(checker, [str(tmp_path)])
    assert [(error.name, error.message, error.path) for error in checker.failures] == [
        ("unreadable", "Permission denied", f"{tmp_path}/closed")
    ]


def test_only_the_processors_that_this_process_may_use_count() -> None:
    own = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(own)})
        assert processors() == 1
    finally:
        os.sched_setaffinity(0, own)
    assert processors() == len(own)


def test_every_index_is_done_once_by_others() -> None:
    done = sorted(shared(SIZES, lambda index: (index * index, os.getpid()), 3))
    assert [(index, square) for index, (square, _) in done] == [(index, index * index) for index in range(6)]
    assert len({pid for _, (_, pid) in done} - {os.getpid()}) == 3


@pytest.mark.parametrize("end", ["killed", "faulty"])
def test_the_remaining_work_of_a_killed_process_is_done_by_the_parent(end: str) -> None:
    here = os.getpid()

    def work(index: int) -> int:
        if index == 2 and os.getpid() != here:
            if end == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise MemoryError
        return index

    assert dict(shared(SIZES, work, 2)) == {index: index for index in range(6)}


def test_an_error_of_a_child_is_reported_by_the_parent() -> None:
    def work(index: int) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(shared(SIZES, work, 2))


def test_no_process_is_left_if_the_caller_stops() -> None:
    def begun() -> Iterator[tuple[int, int]]:
        return shared([1, 1, 1, 1], lambda index: os.getpid() if index < 2 else signal.pause() or 0, 2)

    work = begun()
    pids = {next(work)[1], next(work)[1]}
    work.close()  # type: ignore[attr-defined]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_no_process_works_on_if_the_caller_is_killed(tmp_path: Path) -> None:
    """A process ends if its results are not received, for any amount of them."""

    def work(index: int) -> bytes:
        (tmp_path / str(os.getpid())).touch()
        wait_for((tmp_path / "gone").exists)
        return bytes(1 << 20)

    caller = os.fork()
    if caller == 0:
        try:
            list(shared([1, 1, 1], work, 3))
        finally:
            os._exit(1)
    try:
        wait_for(lambda: len(list(tmp_path.iterdir())) == 3)
        pids = [int(path.name) for path in tmp_path.iterdir()]
    finally:
        os.kill(caller, signal.SIGKILL)
        os.waitpid(caller, 0)
        (tmp_path / "gone").touch()
    wait_for(lambda: not any(map(is_alive, pids)))


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
