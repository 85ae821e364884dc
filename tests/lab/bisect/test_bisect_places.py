"""Trials as processes of this machine, and the command that they run."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest
from running_processes import wait_until

from opsinfo_cli.errors import Refused, Stopped, UsageFault
from opsinfo_cli.lab.bisect.placeholders import environment_of, replacements, require_placeholders, words_of
from opsinfo_cli.lab.bisect.places.many import ManyPlace
from opsinfo_cli.lab.bisect.trial import Trial

FILES = {"mixlist": ("mixlist-0001.json", b"{}")}


def trial(folder: Path, *command: str, timeout: float | None = None) -> Trial:
    folder.mkdir()
    return Trial(1, frozenset(), FILES, str(folder), command, timeout)


@pytest.mark.parametrize("word", ["{mixlst}", "{MIXLIST}", "{mix_list}", "{keepdtype}", "{trail}", "{devices}"])
def test_a_word_near_a_placeholder_is_wrong_usage(word: str) -> None:
    with pytest.raises(UsageFault, match="unknown placeholder"):
        require_placeholders(["./check.sh", word], {})


@pytest.mark.parametrize("word", ["{other}", "{}", "{print $1}", "x{mixlst}", "{mixlist}", "{trial}/{cache}"])
def test_other_words_reach_the_command(word: str) -> None:
    require_placeholders(["./check.sh", word], {"keep_dtype": "--by node", "device": "--devices"})


def test_a_placeholder_that_this_search_does_not_replace_is_wrong_usage() -> None:
    with pytest.raises(UsageFault, match="requires --devices"):
        require_placeholders(["ssh", "npu@{device}"], {"device": "--devices"})


def test_placeholders_are_replaced_and_a_device_is_visible_unless_the_command_names_it() -> None:
    texts = replacements("/t", FILES, "3")
    command = ["run", "{mixlist}", "{trial}:{cache}:{other}", "d={device}"]
    assert words_of(command, texts) == ["run", "/t/mixlist-0001.json", "/t:/t/cache:{other}", "d=3"]
    own = {"OPSINFO_MIXLIST": "/t/mixlist-0001.json", "OPSINFO_TRIAL": "/t", "ASCEND_CACHE_PATH": "/t/cache"}
    assert environment_of(command, texts) == own
    assert environment_of(command[:3], texts) == {**own, "ASCEND_RT_VISIBLE_DEVICES": "3"}


@pytest.fixture
def stops() -> Iterator[None]:
    """Have SIGTERM raise, as the program does."""

    def stop(number: int, _: FrameType | None) -> None:
        raise Stopped(number)

    before = signal.signal(signal.SIGTERM, stop)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.process
def test_a_process_that_is_being_started_when_a_signal_comes_is_ended_too(tmp_path: Path, stops: None) -> None:
    place = ManyPlace(os.environ)
    pid = tmp_path / "pid"
    with pytest.raises(Stopped):  # noqa: PT012  the signal arrives at any of these calls
        place.start(trial(tmp_path / "trial", "sh", "-c", f"echo $$ > {pid}; sleep 600"))
        os.kill(os.getpid(), signal.SIGTERM)
        place.wait(60)
    place.stop()
    wait_until(lambda: not pid.exists() or not pid.read_text() or not Path(f"/proc/{int(pid.read_text())}").exists())


@pytest.mark.process
def test_a_place_can_be_used_again_after_it_was_stopped(tmp_path: Path) -> None:
    place = ManyPlace(os.environ, 2)
    place.start(trial(tmp_path / "1", "sh", "-c", f"touch {tmp_path}/begun; sleep 600"))
    wait_until((tmp_path / "begun").exists)
    place.stop()
    place.start(trial(tmp_path / "2", "sh", "-c", "echo out; echo err >&2; exit 3"))
    [(_, end)] = place.wait(60)
    assert (end.code, end.tail) == (3, "out\nerr\n")


@pytest.mark.process
def test_a_command_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opsinfo_cli.lab.bisect.places.many.GRACE", 0.2)
    place = ManyPlace(os.environ)
    place.start(trial(tmp_path / "1", "sh", "-c", "trap '' TERM; sleep 600 & sleep 600; sleep 600", timeout=1))
    [(_, end)] = place.wait(60)
    assert (end.code, end.signal, end.timed_out) == (None, signal.SIGKILL, True)


@pytest.mark.process
def test_a_signal_to_all_processes_of_a_job_leaves_the_guard_alive(tmp_path: Path) -> None:
    place = ManyPlace(os.environ)
    place.start(trial(tmp_path / "1", "sh", "-c", f"touch {tmp_path}/begun; sleep 1; exit 3"))
    wait_until((tmp_path / "begun").exists)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        os.killpg(place._running[0][1].pid, number)
    [(_, end)] = place.wait(60)
    assert end.code == 3


@pytest.mark.process
def test_an_output_that_exists_already_is_refused(tmp_path: Path) -> None:
    started = trial(tmp_path / "1", "true")
    (tmp_path / "1" / "output.log").symlink_to(tmp_path / "victim")
    with pytest.raises(Refused, match="cannot write: File exists"):
        ManyPlace(os.environ).start(started)
    assert not (tmp_path / "victim").exists()


@pytest.mark.process
def test_a_command_that_the_system_refuses_to_run_ends_the_search_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"\0")
    (tmp_path / "empty").chmod(0o755)
    place = ManyPlace(os.environ)
    place.start(trial(tmp_path / "1", str(tmp_path / "empty")))
    with pytest.raises(Refused, match="Exec format error"):
        place.wait(60)


@pytest.mark.process
@pytest.mark.parametrize("ends", [signal.SIGKILL, None], ids=["killed", "finished"])
def test_nothing_in_the_group_of_a_command_outlives_its_starter(tmp_path: Path, ends: int | None) -> None:
    """The starter is killed while the trial runs, or the command leaves a process behind."""
    check = f"sleep 600 & echo $! > {tmp_path}/child; " + ("wait" if ends else "exit 0")
    starter = os.fork()
    if not starter:
        place = ManyPlace(os.environ)
        place.start(trial(tmp_path / "1", "sh", "-c", check))
        while not place.wait(600):
            pass
        os._exit(0)
    child = tmp_path / "child"
    wait_until(lambda: child.exists() and child.read_text())
    if ends:
        os.kill(starter, ends)
    os.waitpid(starter, 0)
    wait_until(lambda: not Path(f"/proc/{int(child.read_text())}").exists())
