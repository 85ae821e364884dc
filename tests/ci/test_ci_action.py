"""The action's own command line, in a shell and environment like the runner's."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ci_support import PIP, ROOT

yaml = pytest.importorskip("yaml")

pytestmark = pytest.mark.heavy

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
MATCHER = json.loads((ROOT / "action" / "problem-matcher.json").read_text("utf-8"))
(PATTERN,) = MATCHER["problemMatcher"][0]["pattern"]

Action = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runner's folder for one job: the second step of a job finds what the first one installed."""
    return tmp_path_factory.mktemp("runner")


@pytest.fixture
def action(ours: Path, temp: Path, sample: Path, tmp_path: Path) -> Action:
    """Run the action's steps as the runner does, with inputs inserted and bash's options from GitHub; another version
    of opsinfo in a job of its own."""

    def run(**inputs: str) -> subprocess.CompletedProcess[str]:
        (step,) = ACTION["runs"]["steps"]
        given = {name: inputs.get(name, each["default"]) for name, each in ACTION["inputs"].items()}
        assert set(inputs) <= set(given)

        def put_in(text: str) -> str:
            return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], text)

        variables = {name: put_in(text) for name, text in step["env"].items()}
        job = tmp_path if "version" in inputs else temp
        script = job / "step.sh"
        script.write_text(step["run"], "utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            **PIP,
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ours),
            "GITHUB_WORKSPACE": str(sample),
            "RUNNER_TEMP": str(job),
            **variables,
        }
        if "version" in inputs:
            environment["PIP_NO_INDEX"] = "1"  # no package index is used
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)]
        done = subprocess.run(command, cwd=sample, env=environment, capture_output=True, text=True, check=False)
        if re.search("No matching distribution found for (?!opsinfo)|Temporary failure", done.stderr):
            pytest.skip("the action could not fetch what opsinfo needs: no network")
        return done

    return run


def test_nothing_of_the_checkout_runs(action: Action, sample: Path, temp: Path) -> None:
    code = f"open({str(temp / 'ran')!r}, 'a').write(__file__ + chr(10))\n"
    for module in ("venv", "sitecustomize", "usercustomize", "click", "json", "setup"):
        (sample / f"{module}.py").write_text(code, "utf-8")
    for package in ("pip", "opsinfo_cli", "ensurepip", "setuptools"):
        (sample / package).mkdir()
        for name in ("__init__.py", "__main__.py"):
            (sample / package / name).write_text(code, "utf-8")
    (sample / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n'
    )
    subprocess.run(["git", "init", "-q", sample], check=True)
    hook = temp / "hook"
    hook.write_text(f"#!/bin/sh\necho git >>{temp / 'ran'}\n", "utf-8")
    hook.chmod(0o755)
    for key in ("core.fsmonitor", "core.hooksPath", "core.sshCommand", "core.pager", "filter.x.clean", "diff.external"):
        subprocess.run(["git", "-C", sample, "config", key, str(hook)], check=True)
    shutil.rmtree(temp / "opsinfo-venv", ignore_errors=True)  # it is installed beside the hostile files, for all tests
    done = action(paths="mixlists")
    assert (done.returncode, done.stderr) == (0, "2 files checked: no findings\n")
    assert not (temp / "ran").exists()


def test_the_sample_passes(action: Action) -> None:
    done = action()
    assert (done.returncode, done.stderr) == (0, "2 files checked: no findings\n")


def test_findings_fail_the_step_and_fit_the_matcher(action: Action, sample: Path) -> None:
    (sample / "mixlists/new.mixlist.json").write_text('{"black-list": {"to-add": ["matmulv2"]}}', "utf-8")
    done = action(against="snapshots/ascend910b.opsinfo.json\n", args="--precision-mode 'mixed_bfloat16' --no-config")
    assert done.returncode == 1
    begin, *lines, end = done.stdout.splitlines()
    matcher = Path(begin.removeprefix("::add-matcher::"))
    assert json.loads(matcher.read_text("utf-8")) == MATCHER
    assert end == "::remove-matcher owner=opsinfo::"
    found = [match for match in map(re.compile(PATTERN["regexp"]).match, lines) if match]
    assert [match.group(PATTERN["file"], PATTERN["line"], PATTERN["code"]) for match in found] == [
        ("mixlists/new.mixlist.json", "1", "M005")
    ]


INPUTS = {
    # situation: (inputs, exit status, what stderr contains)
    "a missing path": ({"paths": "gone\nmixlists"}, 3, "gone"),
    "an unknown option": ({"args": "--nonsense"}, 2, "--nonsense"),
    "a format of the user's": ({"args": "--format json"}, 0, ""),
    "a format of the user's, in one word": ({"args": "--format=github --strict"}, 0, "3 files"),
    "an unclosed quote": ({"args": "--soc 'x"}, 2, "quote"),
    "paths with blanks, one per line": ({"paths": "mixlists/base.mixlist.json\na b.mixlist.json\n"}, 0, "2 files"),
    "a path like an option": ({"paths": "--strict"}, 3, "--strict"),
    "shell code": ({"paths": "$(touch /dev/full; echo mixlists)"}, 3, "$(touch"),
    "an unknown version": ({"version": "0.0.0.dev987654321"}, 3, "opsinfo==0.0.0.dev987654321"),
}


@pytest.mark.parametrize("situation", INPUTS)
def test_inputs(action: Action, sample: Path, situation: str) -> None:
    inputs, status, message = INPUTS[situation]
    shutil.copy(sample / "mixlists/base.mixlist.json", sample / "a b.mixlist.json")
    done = action(**inputs)
    assert done.returncode == status
    assert message in done.stderr


LINES: dict[str, tuple[Any, ...] | None] = {
    "a/m.json:12:5: error[M005] unknown-operator: `X` is": ("a/m.json", "12", "5", "error", "M005"),
    "a b.json:1:2: warning[M007] sibling-type: `X`: y": ("a b.json", "1", "2", "warning", "M007"),
    "opp/config: error[S003] store-fails: it": ("opp/config", None, None, "error", "S003"),
    "a:3:b.json:1:2: error[T001] syntax: x": ("a:3:b.json", "1", "2", "error", "T001"),
    "m.json:1:2: \x1b[1;31merror[T001]\x1b[0m syntax: x": ("m.json", "1", "2", "error", "T001"),
    "m.json:1:2: note[S001] shadowed: x": None,
    "    hint: did you mean `X`?": None,
    "2 files checked: 1 error": None,
}


@pytest.mark.parametrize(
    "line", LINES, ids=["error", "blank in path", "no line", "colon in path", "colours", "note", "hint", "summary"]
)
def test_the_matcher(line: str) -> None:
    match = re.match(PATTERN["regexp"], line)
    places = [PATTERN[key] for key in ("file", "line", "column", "severity", "code")]
    assert (match and match.group(*places)) == LINES[line]
