"""Workflows, hooks for contributors and the editor's settings name steps, paths and versions that exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ci_support import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

yaml = pytest.importorskip("yaml")

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def jobs(path: Path) -> dict[str, Any]:
    return dict(yaml.safe_load(path.read_text("utf-8"))["jobs"])


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(path).values() for step in job["steps"]]


def known_steps() -> list[str]:
    return subprocess.run([ROOT / ".ci/run", "--list"], capture_output=True, text=True, check=True).stdout.split()


def steps_run(path: Path) -> list[str]:
    lines = [line for step in steps(path) for line in step.get("run", "").splitlines()]
    return [word for line in lines if line.startswith(".ci/run") for word in shlex.split(line)[1:]]


def test_there_is_a_workflow_for_changes_and_one_for_releases() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "release.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_steps_that_exist(path: Path) -> None:
    assert steps_run(path)
    assert set(steps_run(path)) <= set(known_steps())


def test_the_workflow_for_changes_runs_every_step_of_ci() -> None:
    assert sorted(steps_run(ROOT / ".github/workflows/ci.yml")) == sorted(known_steps())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_names_paths_that_exist_or_that_a_step_makes(path: Path) -> None:
    made = {".venv", ".ci/dist", ".ci/venv", ".ci/notes"}
    assert "--outdir .ci/dist" in (ROOT / ".ci/wheels").read_text("utf-8")
    for step in steps(path):
        words = re.split(r"[\s'\"]+", step.get("run", ""))
        named = [word for word in words if re.fullmatch(r"\.?[\w-]+(/[\w.-]+)+", word)]
        given = step.get("with", {})
        named += [given[key] for key in ("paths", "against", "path", "cache-dependency-path") if key in given]
        for each in named:
            assert (ROOT / each).exists() or any(each == root or each.startswith(f"{root}/") for root in made), each


def test_the_matrix_is_that_of_the_classifiers() -> None:
    matrix = jobs(ROOT / ".github/workflows/ci.yml")["tests"]["strategy"]["matrix"]["python"]
    classifiers = [each.rpartition(" ")[2] for each in PROJECT["project"]["classifiers"] if "Python :: 3." in each]
    assert matrix == classifiers
    assert PROJECT["project"]["requires-python"] == f">={matrix[0]}"


def test_the_workflow_for_changes_uses_only_inputs_that_the_action_has() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    (ours,) = [step for step in steps(ROOT / ".github/workflows/ci.yml") if step.get("uses") == "./"]
    assert set(ours["with"]) <= set(action["inputs"])


def test_the_checks_of_a_release_read_this_version_and_changelog() -> None:
    """The two greps of release.yml, for the tag that this checkout would get."""
    import opsinfo_cli

    lines = [step["run"] for step in steps(ROOT / ".github/workflows/release.yml") if "grep" in step.get("run", "")]
    assert len(lines) == 2
    tag = {"GITHUB_REF_NAME": f"v{opsinfo_cli.__version__}", "PATH": "/usr/bin:/bin"}
    for line in lines:
        assert subprocess.run(["bash", "-ec", line], cwd=ROOT, env=tag, check=False).returncode == 0, line
        other = {**tag, "GITHUB_REF_NAME": "v99.0.0"}
        assert subprocess.run(["bash", "-ec", line], cwd=ROOT, env=other, check=False).returncode == 1, line


CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
HOOKS = {hook["id"]: hook for repository in CONFIG["repos"] for hook in repository["hooks"]}


def test_hooks_for_contributors_are_those_of_ci_and_of_opsinfo() -> None:
    assert list(HOOKS) == ["ruff-check", "ruff-format", "mypy", "opsinfo-validate"]
    assert {hook["language"] for hook in HOOKS.values()} == {"system"}


def test_the_hook_of_opsinfo_passes_on_its_fixtures() -> None:
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "fixtures").rglob("*"))]
    taken = [name for name in files if re.search(HOOKS["opsinfo-validate"]["files"], name)]
    assert len(taken) > 20
    words = [sys.executable, *shlex.split(HOOKS["opsinfo-validate"]["entry"])[1:], *taken]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
