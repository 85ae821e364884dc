"""`.ci/run`: its steps, their status and its last line, on a copy with stand-ins for Python and apt-get."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ci_support import ROOT

Script = Callable[..., subprocess.CompletedProcess[str]]

COMMANDS = "$ echo listed\n$ echo '3 passed in 0.1s'\n"
STAND_IN = """#!/bin/sh
case $2 in
venv)
    shift 3
    mkdir -p "$1/bin" && cp "$0" "$1/bin/python" && cp "$0" "$1/bin/ruff"
    [ ! -e "${0%/*}/uv" ] || cp "${0%/*}/uv" "$1/bin/uv"
    ;;
pip) echo "$*" >>../installed ;;
pytest) [ ! -e ../until ] || timeout 30 sh -c 'until [ -e "$(cat ../until)" ]; do sleep 0.1; done' ;;
esac
"""
"""The tests of a step wait for the file that `until` names, and fail without it."""

UV = """#!/bin/sh
echo "uv $*" >>../installed
for place; do :; done
case $1 in
venv) mkdir -p "$place/bin" && cp .ci/uv/bin/python .ci/uv/bin/ruff "$place/bin" ;;
pip) exit %d ;;
esac
"""


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Run a copy of `.ci/run` in a folder whose README has the given commands."""
    place, tools = tmp_path / "checkout", tmp_path / "tools"
    (place / ".ci").mkdir(parents=True)
    tools.mkdir()
    for name in (".ci/run", ".ci/oldest.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, place / name)
    for name, text in (("python3", STAND_IN), ("apt-get", "#!/bin/sh\nexit 1\n")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def run(
        *steps: str, readme: str = "$ echo listed\n$ echo '3 passed in 0.1s'\n"
    ) -> subprocess.CompletedProcess[str]:
        (place / "README.md").write_text(readme)
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
        return subprocess.run([place / ".ci/run", *steps], env=environment, capture_output=True, text=True, check=False)

    return run


def steps_of(script: Script) -> list[str]:
    return script("--list").stdout.split()


def test_every_step_has_a_function_and_every_function_is_a_step(script: Script) -> None:
    functions = re.findall(r"^step_(\w+)\(\)", (ROOT / ".ci/run").read_text("utf-8"), re.MULTILINE)
    assert functions == steps_of(script)
    assert functions[-1] == "tests"


def test_an_unknown_step_is_wrong_usage(script: Script) -> None:
    done = script("lint", "nonsense")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown step: nonsense" in done.stderr


def test_the_last_line_is_the_last_line_of_the_last_step_after_the_times(script: Script) -> None:
    done = script("tests")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[-1] == "3 passed in 0.1s"
    assert re.fullmatch(r" +\d+ s  tests", lines[-3])
    assert re.fullmatch(r" +\d+ s  in all", lines[-2])
    assert lines.index("== time of each step") < len(lines) - 2
    assert lines.count("3 passed in 0.1s") == 1
    assert "listed" in lines


def test_each_of_several_steps_has_a_time_and_the_summary_is_last(script: Script) -> None:
    done = script("lint", "tests")
    assert done.returncode == 0, done.stdout
    assert re.findall(r"^ +\d+ s  (\w+)$", done.stdout, re.MULTILINE) == ["lint", "tests"]
    assert done.stdout.splitlines()[-1] == "3 passed in 0.1s"
    assert done.stdout.count("3 passed in 0.1s\n") == 1


def test_a_failing_command_ends_the_run_with_its_status(script: Script) -> None:
    done = script("tests", "tests", readme="$ echo listed\n$ echo '1 failed in 0.1s'; exit 7\n")
    assert done.returncode == 7
    assert "failed: tests" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 failed in 0.1s"
    assert done.stdout.count("== tests") == 1


def test_a_failure_before_the_last_command_of_a_step_counts(script: Script) -> None:
    done = script("tests", readme="$ false\n$ echo '3 passed in 0.1s'\n")
    assert done.returncode == 1
    assert "3 passed" not in done.stdout


def test_steps_after_a_failing_one_are_not_run(script: Script) -> None:
    """The stand-in for Python has no mypy, so `types` fails at once."""
    done = script("types", "tests", readme="$ sleep 3600\n$ echo '3 passed in 0.1s'\n")
    assert done.returncode != 0
    assert "failed: types" in done.stdout
    assert "3 passed" not in done.stdout


def test_failing_tests_after_other_steps_fail_the_run(script: Script) -> None:
    done = script("lint", "tests", readme="$ echo listed\n$ echo '1 failed in 0.1s'; exit 7\n")
    assert done.returncode == 7
    assert "failed: tests" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 failed in 0.1s"


def test_the_commands_of_the_readme_begin_with_the_models(script: Script, tmp_path: Path) -> None:
    (tmp_path / "until").write_text("../begun")
    done = script("models", "tests", readme="$ touch ../begun\n$ echo '3 passed in 0.1s'\n")
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "3 passed in 0.1s"
    assert done.stdout.index("== models") < done.stdout.index("$ touch ../begun")


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "has_heavy"),
    [(["tests"], False), (["tests", "-m", "heavy"], True), (["tests/hostile"], True)],
    ids=["tests", "the step of CI", "a folder"],
)
def test_heavy_tests_are_left_out_only_if_all_tests_are_run(words: list[str], has_heavy: bool) -> None:
    """Of all folders but one nothing is collected, to save time."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "--ignore-glob=tests/[!h]*", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert ("test_a_mixlist_with_many" in done.stdout) is has_heavy


@pytest.mark.parametrize(
    ("uv", "installers"),
    [(None, ["pip", "pip"]), (UV % 0, ["pip", "uv venv", "uv pip"]), (UV % 1, ["pip", "uv venv", "uv pip", "pip"])],
    ids=["no uv", "uv", "uv fails"],
)
def test_packages_are_installed_with_uv_or_else_with_pip(
    script: Script, tmp_path: Path, uv: str | None, installers: list[str]
) -> None:
    if uv:
        (tmp_path / "tools/uv").write_text(uv)
        (tmp_path / "tools/uv").chmod(0o755)
    done = script("lint")
    assert done.returncode == 0, done.stdout
    lines = (tmp_path / "installed").read_text().splitlines()
    assert [re.sub(r"^-m (pip).*|^(uv \w+).*", r"\1\2", line) for line in lines] == installers
    assert lines[0].endswith(" uv")
    assert installers == ["pip", "uv venv", "uv pip"] or lines[-1].endswith(".[test,coverage,lint,docs,release]")
