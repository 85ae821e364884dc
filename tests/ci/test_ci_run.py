"""`.ci/run`: the steps it knows, and how a run ends, with short steps in place of the real ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ci_support import ROOT

Script = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Run a copy of ``.ci/run``; each step prints its name, and those of ``steps`` run other lines."""

    def run(*words: str, **steps: str) -> subprocess.CompletedProcess[str]:
        place = tmp_path / "checkout/.ci"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / ".ci/run", place)
        for step in [*names(), *names("nightly")]:
            (place / step).write_text(f"#!/usr/bin/env bash\n{steps.get(step, f'echo {step} done')}\n")
            (place / step).chmod(0o755)
        return subprocess.run([place / "run", *words], capture_output=True, text=True, check=False)

    return run


def names(*which: str) -> list[str]:
    command: list[str | Path] = [ROOT / ".ci/run", "--list", *which]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_every_step_has_a_script_and_every_script_is_a_step() -> None:
    scripts = [path for path in (ROOT / ".ci").iterdir() if path.is_file() and not path.suffix and path.name != "run"]
    assert sorted(path.name for path in scripts) == sorted([*names(), *names("nightly")])
    for path in scripts:
        assert path.stat().st_mode & 0o111, path
        subprocess.run(["bash", "-n", path], check=True)


def test_all_steps_run_and_the_last_line_is_that_of_the_tests(script: Script) -> None:
    done = script(tests="echo '3 passed in 0.1s'")
    assert done.returncode == 0
    assert [line.split()[1].rstrip(",") for line in done.stdout.splitlines() if line.startswith("== ")] == names()
    assert all(f"{step} done" in done.stdout for step in names()[:-1])
    assert done.stdout.splitlines()[-1] == "3 passed in 0.1s"


def test_an_unknown_step_runs_nothing(script: Script) -> None:
    done = script("lint", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown step: nonsense" in done.stderr


def test_a_failing_step_ends_the_run_with_its_status(script: Script) -> None:
    done = script("lint", "types", "tests", types="echo '1 failed in 0.1s'; exit 7")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (7, "1 failed in 0.1s")
    assert "lint done" in done.stdout


def test_a_failing_step_beside_others_ends_the_run_before_the_last_steps(script: Script) -> None:
    done = script(ray="echo lost; exit 9", tests="echo never")
    assert done.returncode == 9
    assert done.stdout.splitlines()[-1] == "lost"


def test_a_step_beside_others_is_ended_if_one_of_them_fails(script: Script) -> None:
    done = script(types="exit 4", browser="sleep 3600")
    assert done.returncode == 4


@pytest.mark.parametrize(
    ("readme", "status", "lines"),
    [
        ("$ echo 'a  b' && echo c\n    $ no\n$ (exit 5)\n", 5, ["$ echo 'a  b' && echo c", "a  b", "c", "$ (exit 5)"]),
        ("$ (exit 5)\n$ echo never\n", 5, ["$ (exit 5)"]),
        ("    $ one\n", 1, []),
        ("$ echo one\n", 1, []),
    ],
    ids=["the second fails", "the first fails", "no command", "one command"],
)
def test_the_two_commands_of_the_readme_run_word_for_word_until_one_fails(
    tmp_path: Path, readme: str, status: int, lines: list[str]
) -> None:
    (tmp_path / ".ci").mkdir()
    common = (ROOT / ".ci/common.sh").read_text("utf-8")
    stand_ins = "\ntools() { :; }\nenvironment() { :; }\n"
    (tmp_path / ".ci/common.sh").write_text(common + stand_ins)
    shutil.copy(ROOT / ".ci/tests", tmp_path / ".ci")
    (tmp_path / "README.md").write_text(readme)
    done = subprocess.run([tmp_path / ".ci/tests"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (status, lines), done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "has_heavy"),
    [(["tests"], False), (["tests", "-m", "heavy"], True), (["tests/ci"], True)],
    ids=["tests", "the step of CI", "a folder"],
)
def test_heavy_tests_are_left_out_only_if_all_tests_are_run(words: list[str], has_heavy: bool) -> None:
    """Of all folders but one nothing is collected, to save time."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "--ignore-glob=tests/[!c]*", "-p", "no:cacheprovider"]
    ignored = [f"--ignore=tests/{name}" for name in ("cases", "cli", "core")]
    done = subprocess.run([*command, *ignored, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert ("test_ci_action.py" in done.stdout) is has_heavy


@pytest.mark.parametrize(
    ("ci", "status", "lines"), [("true", 1, ["skipped: ray"]), ("", 0, ["skipped: ray", "goes on"])]
)
def test_what_a_step_cannot_install_ends_it_in_ci(tmp_path: Path, ci: str, status: int, lines: list[str]) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/common.sh", tmp_path / ".ci")
    step = ". .ci/common.sh; false || absent ray; echo goes on"
    command = ["bash", "-c", step]
    environment = {"PATH": os.environ["PATH"], "CI": ci}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (status, lines), done.stderr
