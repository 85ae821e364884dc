"""`opsinfo bisect` when something goes wrong: the check dies or hangs, the disk is full, opsinfo is killed."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bisect_support import CULPRITS, among, black, events, needing, script
from cli_support import Run
from contract import SIGNAL_STATUSES

FOLDER = ".opsinfo-bisect"


@pytest.fixture
def words(opp: Path) -> list[str | Path]:
    return ["bisect", "--against", opp, "--soc", "ascend910b", *among()]


def verdicts(folder: Path) -> list[tuple[int, tuple[str, ...], str]]:
    return [(each["trial"], tuple(each["set"]), each["verdict"]) for each in events(folder) if each["event"] == "end"]


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(process: int) -> bool:
    """Whether a process ends soon: a kill takes effect a moment later."""
    deadline = time.monotonic() + 20
    while lives(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not lives(process)


def test_a_check_that_a_signal_ends_is_repeated_and_the_run_not_counted(
    opsinfo: Run, words: list[Any], tmp_path: Path
) -> None:
    once = (
        f'mark={tmp_path}/$(md5sum < "$OPSINFO_MIXLIST" | cut -c1-32); test -e $mark || {{ touch $mark; kill -9 $$; }}'
    )
    ran = opsinfo(*words, "--format", "json", "--", needing(tmp_path / "check", None, once))
    assert ran.code == 0
    assert sorted(each["type"] for each in ran.json["culprits"]) == CULPRITS
    found = events(tmp_path / FOLDER)
    repeated = {each["trial"] for each in found if each["event"] == "no-verdict"}
    assert repeated
    assert not repeated & {trial for trial, _, _ in verdicts(tmp_path / FOLDER)}
    plain = opsinfo(*words, "--format", "json", "--journal", "plain", "--", needing(tmp_path / "check")).json
    assert ran.json["trials"]["failed"] == plain["trials"]["failed"]
    assert ran.json["trials"]["passed"] == plain["trials"]["passed"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("kill -9 $$", "was ended by signal 9"),
        ("exit 137", "ended with 137"),
        ("exit 126", "ended with 126"),
        ("exit 127", "ended with 127"),
    ],
)
def test_a_check_without_a_verdict_ends_the_search(
    opsinfo: Run, words: list[Any], tmp_path: Path, line: str, message: str
) -> None:
    ran = opsinfo(*words, "--format", "json", "--retries", "2", "--", script(tmp_path / "check", line), "{mixlist}")
    assert ran.code == 3
    assert ran.json["error"]["name"] == "check-unusable"
    assert message in ran.json["error"]["message"]
    repeats = [each for each in events(tmp_path / FOLDER) if each["event"] == "no-verdict"]
    assert len(repeats) == (1 if "126" in line or "127" in line else 3)


def test_a_missing_command_ends_the_search_and_a_corrected_one_resumes_it(
    opsinfo: Run, words: list[Any], tmp_path: Path
) -> None:
    ran = opsinfo(*words, "--", "./check", "{mixlist}")
    assert ran.code == 3
    assert "ended with 127" in ran.err
    assert "  ./check: No such file or directory\n" in ran.err
    assert ".opsinfo-bisect/trials/0001/output.log" in ran.err
    needing(tmp_path / "check")
    assert opsinfo(*words, "--resume", "--", "./check", "{mixlist}").code == 0


def test_a_run_that_takes_too_long_ends_with_all_its_processes(opsinfo: Run, words: list[Any], tmp_path: Path) -> None:
    check = script(tmp_path / "check", f"sleep 60 & echo $! > {tmp_path}/child", "sleep 60")
    ran = opsinfo(*words, "--timeout", "1", "--", check, "{mixlist}")
    assert ran.code == 3
    assert "took longer than --timeout" in ran.err
    assert ends(int((tmp_path / "child").read_text("utf-8")))


def test_a_run_that_takes_too_long_can_count_as_failing(opsinfo: Run, words: list[Any], tmp_path: Path) -> None:
    check = script(tmp_path / "check", 'grep -q \'"Mul"\' "$OPSINFO_MIXLIST" && exit 0', "sleep 60")
    words = [*words[: words.index("--among")], *among("Mul", "Add")]
    ran = opsinfo(*words, "--jobs", "4", "--format", "json", "--", "timeout", "1", check)
    assert ran.code == 0
    assert [each["type"] for each in ran.json["culprits"]] == ["Mul"]


def test_a_noisy_check_is_reported_and_a_lead_continues_from_its_runs(
    opsinfo: Run, words: list[Any], tmp_path: Path
) -> None:
    flips = f"test -e {tmp_path}/once || {{ touch {tmp_path}/once; exit 1; }}"
    check = needing(tmp_path / "check", None, flips)
    ran = opsinfo(*words, "--", check)
    assert ran.code == 3
    assert "the check is noisy" in ran.err
    assert "--lead 2" in ran.err
    ran = opsinfo(*words, "--resume", "--lead", "2", "--format", "json", "--", check)
    assert ran.code == 0
    assert sorted(each["type"] for each in ran.json["culprits"]) == CULPRITS
    assert ran.json["noisy"] is True


def test_a_spent_budget_leaves_the_best_list_and_resume_ends_the_search(
    opsinfo: Run, words: list[Any], tmp_path: Path
) -> None:
    check = needing(tmp_path / "check")
    ran = opsinfo(*words, "--budget", "9", "--format", "json", "--", check, "{mixlist}")
    assert (ran.code, ran.json["ended"]) == (1, "budget")
    assert set(black(tmp_path / FOLDER / "best.json")) >= set(CULPRITS)
    assert len(verdicts(tmp_path / FOLDER)) == 9
    ran = opsinfo(*words, "--resume", "--format", "json", "--", check, "{mixlist}")
    assert (ran.code, ran.json["ended"]) == (0, "found")
    assert black(tmp_path / FOLDER / "best.json") == CULPRITS
    none = opsinfo(*words, "--journal", "none", "--budget", "1", "--", "false", "{mixlist}")
    assert none.code == 1
    assert "out of budget: no list is known to pass" in none.err


def test_a_time_budget_ends_the_search(opsinfo: Run, words: list[Any]) -> None:
    ran = opsinfo(*words, "--budget", "0.5s", "--format", "json", "--", "sh", "-c", "sleep 0.2; exit 1", "{mixlist}")
    assert (ran.code, ran.json["ended"], ran.json["mixlist"]) == (1, "budget", None)


def test_a_second_search_in_one_folder_requires_resume(opsinfo: Run, words: list[Any]) -> None:
    assert opsinfo(*words, "--resume", "--", "true", "{mixlist}").code == 3
    assert opsinfo(*words, "--", "true", "{mixlist}").code == 0
    ran = opsinfo(*words, "--", "true", "{mixlist}")
    assert ran.code == 2
    assert "--resume" in ran.err


def test_a_journal_of_another_search_is_refused_unless_forced(opsinfo: Run, words: list[Any], tmp_path: Path) -> None:
    assert opsinfo(*words, "--", "true", "{mixlist}").code == 0
    other = [*words, "--resume", "--precision-mode", "mixed_bfloat16", "--", "sh", "-c", "exit 0", "{mixlist}"]
    ran = opsinfo(*other)
    assert ran.code == 2
    assert "the command, precision mode" in ran.err
    assert opsinfo(*words, "--force", *other[len(words) :]).code == 0
    (tmp_path / FOLDER / "journal.jsonl").write_text("{}\n", "utf-8")
    assert opsinfo(*words, "--resume", "--", "true", "{mixlist}").code == 3


def test_a_full_disk_stops_the_search_which_resumes_after_space_is_freed(
    opsinfo_process: Run, words: list[Any], tmp_path: Path
) -> None:
    check = needing(tmp_path / "check")
    plain = opsinfo_process(*words, "--journal", "plain", "--format", "json", "--", check).json
    env = {"PYTHONDONTWRITEBYTECODE": "1"}  # the limit would cut bytecode short too
    ended = None
    for limit in (700, 2000, 3333, 5000, 7777, 1 << 20):

        def limited(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        more = ["--resume"] if (tmp_path / FOLDER / "journal.jsonl").exists() else []
        ended = opsinfo_process(*words, *more, "--format", "json", "--", check, env=env, preexec_fn=limited)
        assert ended.code in (0, 3)
        assert ended.code == 0 or ended.json["error"]["name"] in ("not-written", "check-unusable")
    assert ended is not None
    assert ended.code == 0
    assert ended.json["trials"]["failed"] == plain["trials"]["failed"]
    assert black(tmp_path / FOLDER / "best.json") == CULPRITS


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_opsinfo_killed_at_any_moment_and_resumed_gives_the_same_answer(
    opsinfo: Run, start: Callable[..., subprocess.Popen[bytes]], words: list[Any], tmp_path: Path, jobs: str
) -> None:
    check = needing(tmp_path / "check", None, "sleep 0.02")
    plain = opsinfo(*words, "--journal", "plain", "--format", "json", "--", needing(tmp_path / "plain-check")).json
    journal = tmp_path / FOLDER / "journal.jsonl"
    kills = 0
    while True:
        before = journal.read_bytes().count(b"\n") if journal.exists() else 0
        more = ["--resume"] if journal.exists() else []
        process = start(*words, *more, "--jobs", jobs, "--format", "json", "--", check)
        while process.poll() is None and not (
            journal.exists() and journal.read_bytes().count(b"\n") > before + 3 * kills
        ):
            time.sleep(0.002)
        time.sleep(0.003 * kills)
        process.kill()
        out, _ = process.communicate()
        if process.returncode < 0:
            kills += 1
            continue
        if process.returncode == 0:
            break
        assert kills, process.returncode  # killed before the first line of the journal
    assert kills
    document = json.loads(out)
    assert sorted(each["type"] for each in document["culprits"]) == CULPRITS
    found = verdicts(tmp_path / FOLDER)
    assert len({trial for trial, _, _ in found}) == len(found)
    if jobs == "1":
        assert document["trials"]["passed"] == plain["trials"]["passed"]
        assert document["trials"]["failed"] == plain["trials"]["failed"]


@pytest.mark.parametrize(
    ("number", "times"),
    [(signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGTERM, 2), (signal.SIGHUP, 1), (signal.SIGHUP, 2)],
)
def test_a_signal_leaves_the_best_list_a_closed_journal_and_no_process(
    start: Callable[..., subprocess.Popen[bytes]], words: list[Any], tmp_path: Path, number: signal.Signals, times: int
) -> None:
    """`timeout` sends its signal twice."""
    count = f"echo $$ >> {tmp_path}/shells; test $(wc -l < {tmp_path}/shells) -lt 8 || sleep 60"
    process = start(*words, "-o", "out.json", "--", needing(tmp_path / "check", None, count))
    shells = tmp_path / "shells"
    while not shells.exists() or len(shells.read_text("utf-8").split()) < 8:
        assert process.poll() is None
        time.sleep(0.02)
    for _ in range(times):
        process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == SIGNAL_STATUSES[number], err
    assert b"interrupted" in err
    assert set(black(tmp_path / "out.json")) >= set(CULPRITS)
    assert all(ends(int(each)) for each in shells.read_text("utf-8").split())
    last = events(tmp_path / FOLDER)[-1]
    assert (last["event"], last["ended"]) == ("stop", "interrupted")
