"""The playbook of docs/fleet.md, run unchanged against this machine."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "fleet.md").read_text("utf-8")
PLAYBOOK = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1]  # type: ignore[index]

needs_ansible = pytest.mark.skipif(
    shutil.which("ansible-playbook") is None, reason="`ansible-playbook` is not installed"
)
Play = Callable[..., tuple[int, int, str]]


@pytest.fixture
def play(tmp_path: Path, opp: Path, isolation: Path) -> Play:
    """Run the playbook, and return its exit status, the number of changed tasks, and its output."""
    wrapper = tmp_path / "opsinfo"
    wrapper.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m opsinfo_cli "$@"\n')
    wrapper.chmod(0o755)
    book = tmp_path / "play" / "book.yml"
    book.parent.mkdir()
    book.write_text(PLAYBOOK, "utf-8")
    given = {"opsinfo": wrapper, "opp": opp, "place": tmp_path / "etc", "ansible_python_interpreter": sys.executable}
    words = ["ansible-playbook", "-i", "localhost,", "-c", "local", str(book)]
    words += ["-e", json.dumps({name: str(value) for name, value in given.items()})]
    env = {**os.environ, "LC_ALL": "C.UTF-8", "ANSIBLE_HOME": str(isolation / "ansible"), "ANSIBLE_NOCOLOR": "1"}

    def run(marks: dict[str, dict[str, list[str]]], *more: str) -> tuple[int, int, str]:
        (book.parent / "ops_info.json").write_text(json.dumps(marks))
        done = subprocess.run([*words, *more], env=env, cwd=book.parent, capture_output=True, text=True, check=False)
        changed = re.search(r"changed=(\d+)", done.stdout)
        return done.returncode, int(changed[1]) if changed else -1, done.stdout + done.stderr

    return run


def libraries(opp: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in opp.rglob("*.json")}


@needs_ansible
def test_the_playbook_changes_a_host_once_and_reports_it_in_check_mode(play: Play, opp: Path, tmp_path: Path) -> None:
    marks = {"black-list": {"to-add": ["Relu"]}}
    before = libraries(opp)
    assert play(marks, "--check")[:2] == (0, 2), "the place and the mixlist"
    assert not (tmp_path / "etc").exists()
    code, changed, output = play(marks)
    assert (code, changed) == (0, 3), output
    after = libraries(opp)
    assert len([path for path in after if after[path] != before[path]]) == 1
    assert play(marks)[:2] == (0, 0)
    assert libraries(opp) == after


@needs_ansible
def test_the_playbook_fails_for_a_name_that_the_host_does_not_have(play: Play, opp: Path) -> None:
    before = libraries(opp)
    code, _, output = play({"black-list": {"to-add": ["Relu", "relu"]}})
    assert code != 0
    assert "did you mean `Relu`?" in output
    assert libraries(opp) == before


def test_the_source_of_a_team_keeps_its_comments_and_becomes_the_engines_file(
    opsinfo: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from generate import make_user_files  # type: ignore[import-not-found]

    make_user_files(tmp_path)
    (tmp_path / "ops_info.json").unlink()
    source = (tmp_path / "team.jsonc").read_text()
    part = PAGE.split("## Build the file once")[1].split("\n## ")[0]
    assert f"```text\n{source}```" in part
    commands = re.search(r"```sh\n(.*?)```", part, re.DOTALL)[1].splitlines()  # type: ignore[index]
    assert len(commands) == 5
    for command in commands:
        ran = opsinfo(*command.split()[1:], cwd=tmp_path, env={"ASCEND_OPP_PATH": str(tmp_path / "opp")})
        assert ran.code == 0, f"{command}\n{ran.err}"  # type: ignore[attr-defined]
    edited = (tmp_path / "team.jsonc").read_text()
    assert edited.replace(",", "").replace('      "Mul"\n', "") == source.replace(",", "")
    names = json.loads((tmp_path / "ops_info.json").read_text())["black-list"]["to-add"]
    assert names == ["SoftmaxV2", "Relu", "Mul"]
    for command in re.findall(r"`(opsinfo (?:move ascend910b Add|show)[^`]*)`", part):
        ran = opsinfo(*shlex.split(command)[1:], cwd=tmp_path, env={"ASCEND_OPP_PATH": str(tmp_path / "opp")})
        assert ran.code == 0, f"{command}\n{ran.err}"  # type: ignore[attr-defined]
    assert "the reason given: NaN in run 17" in ran.out  # type: ignore[attr-defined]
    assert "`the reason given: NaN in run 17`" in part
