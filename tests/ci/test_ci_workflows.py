"""Workflows run the steps of CI, and the hook for contributors passes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ci_support import ROOT

yaml = pytest.importorskip("yaml")

FOLDER = ROOT / ".github/workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))


def jobs(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text("utf-8"))["jobs"])


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(path).values() for step in job["steps"]]


def known_steps(*which: str) -> list[str]:
    command: list[str | Path] = [ROOT / ".ci/run", "--list", *which]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def steps_run(path: Path) -> list[str]:
    lines = [line for step in steps(path) for line in step.get("run", "").splitlines()]
    return [word for line in lines if ".ci/run" in line for word in shlex.split(line.partition(".ci/run")[2])]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_steps_that_exist(path: Path) -> None:
    assert steps_run(path)
    assert set(steps_run(path)) <= {*known_steps(), *known_steps("nightly")}


def test_changes_run_every_step_of_ci_and_each_night_the_others() -> None:
    assert sorted(steps_run(FOLDER / "ci.yml")) == sorted(known_steps())
    assert set(steps_run(FOLDER / "nightly.yml")) >= set(known_steps("nightly"))


def test_every_action_is_pinned_by_a_commit_with_its_version_beside_it() -> None:
    """zizmor, in the step `lint`, holds the commit; that a person can read which version it is, it does not."""
    used = [line for path in WORKFLOWS for line in path.read_text("utf-8").splitlines() if "uses: " in line]
    assert len(used) > 15
    for line in used:
        assert re.search(r"uses: (\./ #|[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)+$)", line), line


def test_the_checks_of_a_release_read_this_version_and_changelog() -> None:
    """The two greps of release.yml, for the tag that this checkout would get."""
    import opsinfo_cli

    lines = [step["run"] for step in steps(FOLDER / "release.yml") if "grep" in step.get("run", "")]
    assert len(lines) == 2
    tag = {"GITHUB_REF_NAME": f"v{opsinfo_cli.__version__}", "PATH": "/usr/bin:/bin"}
    for line in lines:
        assert subprocess.run(["bash", "-ec", line], cwd=ROOT, env=tag, check=False).returncode == 0, line
        other = {**tag, "GITHUB_REF_NAME": "v99.0.0"}
        assert subprocess.run(["bash", "-ec", line], cwd=ROOT, env=other, check=False).returncode == 1, line


CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
HOOKS = {hook["id"]: hook for repository in CONFIG["repos"] for hook in repository["hooks"]}


def test_the_hook_of_opsinfo_passes_on_its_fixtures() -> None:
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "fixtures").rglob("*"))]
    taken = [name for name in files if re.search(HOOKS["opsinfo-validate"]["files"], name)]
    assert len(taken) > 20
    words = [sys.executable, *shlex.split(HOOKS["opsinfo-validate"]["entry"])[1:], *taken]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
