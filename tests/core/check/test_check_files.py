"""A walk takes what git lists, and no program of the checked repository runs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from check_support import Checker

from opsinfo_cli import validate
from opsinfo_cli.core.check import git as safe_git
from opsinfo_cli.core.check.files import FoundFiles

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_{fact}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for fact in ("NAME", "EMAIL")},
}


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], env=ENVIRONMENT, check=True, capture_output=True)


def tree(top: Path, *names: str, **content: str) -> Path:
    for name, text in {**dict.fromkeys(names, "{}"), **content}.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return top


def repository(top: Path, *names: str, ignore: str = "") -> Path:
    tree(top, *names)
    git(top, "init", "-q")
    (top / ".gitignore").write_text(ignore)
    return top


def walked(path: Path, top: Path | None = None) -> list[str]:
    found = FoundFiles()
    found.add(str(path))
    assert found.outcome.failures == []
    return [os.path.relpath(each.path, top or path) for each in found.found]


@needs_git
def test_files_that_git_ignores_are_passed_over_and_listed(tmp_path: Path) -> None:
    repository(tmp_path, "a.json", "z.json", "build/deep/a.json", "x/a.json", "x/b.json", ignore="build/\nz.json\n")
    (tmp_path / "x" / ".gitignore").write_text("/b.json\n")
    (tmp_path / ".git" / "info" / "exclude").write_text("")
    found = FoundFiles()
    found.add(str(tmp_path))
    assert [os.path.relpath(each.path, tmp_path) for each in found.found] == ["a.json", "x/a.json"]
    passed = {os.path.relpath(each.path, tmp_path): each.reason for each in found.outcome.passed_over}
    assert passed == {"z.json": "git ignores it", "x/b.json": "git ignores it", "build": "git lists nothing in it"}


@needs_git
def test_a_tracked_file_is_checked_although_it_is_ignored(tmp_path: Path) -> None:
    repository(tmp_path, "a.json", "b.json", "c.json", ignore="*.json\n")
    git(tmp_path, "add", "-f", "a.json", "c.json")
    (tmp_path / "c.json").unlink()
    assert walked(tmp_path) == ["a.json"]


@needs_git
@pytest.mark.parametrize("start", ["build", "build/deep"])
def test_a_path_that_the_user_names_is_read_although_git_ignores_it(tmp_path: Path, start: str) -> None:
    repository(tmp_path, "build/deep/a.json", "build/deep/b.json", ignore="build/\nb.json\n")
    git(tmp_path, "add", "-f", "build/deep/a.json")
    assert walked(tmp_path / start, tmp_path) == ["build/deep/a.json", "build/deep/b.json"]
    assert walked(tmp_path / "build/deep/b.json", tmp_path) == ["build/deep/b.json"]


@needs_git
def test_submodules_and_repositories_inside_are_walked_by_their_own_rules(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", "s.json", "t.json", ignore="t.json\n")
    git(other, "add", "s.json", ".gitignore")
    git(other, "commit", "-qm", "x")
    top = repository(tmp_path / "top", "a.json", ignore="s.json\n")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    tree(top, "sub/t.json", "sub/u.json")
    repository(top / "nested", "n.json", "o.json", ignore="o.json\n")
    assert walked(top) == ["a.json", "nested/n.json", "sub/s.json", "sub/u.json"]


@needs_git
def test_a_store_is_used_whole_or_not_at_all(tmp_path: Path) -> None:
    names = ("aic-x-ops-info.json", "aic-x-ops-info-old.json", "stray.json")
    places = ("s", "config/x", "tbe/config")
    paths = [f"{place}/{name}" for place in places for name in names]
    repository(tmp_path, *paths, ignore="stray.json\n*-old.json\n")
    found = FoundFiles()
    found.add(str(tmp_path))
    stores = [(str(tmp_path / place), True) for place in ("config/x", "tbe/config")]
    copied = (str(tmp_path / "s/aic-x-ops-info.json"), False)  # no engine reads what lies beside it there
    assert [(each.path, each.is_store) for each in found.found] == [stores[0], copied, stores[1]]
    (tmp_path / ".gitignore").write_text("*.json\n")
    assert walked(tmp_path) == []


@needs_git
@pytest.mark.parametrize("where", ["the repository", "a submodule"])
@pytest.mark.parametrize(
    ("setting", "hook"),
    [
        ("core.fsmonitor={program}", None),
        ("core.hooksPath={folder}", "fsmonitor-watchman"),
        ("core.hooksPath={folder}", "post-index-change"),
        ("filter.x.clean={program}", None),
        ("filter.x.process={program}", None),
        ("alias.ls-files=!{program}", None),
        ("core.pager={program}", None),
        ("core.sshCommand={program}", None),
    ],
)
def test_no_program_of_a_checked_repository_runs(tmp_path: Path, setting: str, hook: str | None, where: str) -> None:
    mark, folder = tmp_path / "ran", tmp_path / "hooks"
    program = folder / (hook or "program")
    tree(folder, program.name)
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    top = inner = repository(tmp_path / "top", "a.json", "b.json", ignore="b.json\n")
    if where == "a submodule":
        inner = repository(top / "sub", "a.json", "b.json", ignore="b.json\n")
    (inner / ".gitattributes").write_text("*.json filter=x\n")
    git(inner, "add", ".gitignore", "a.json")
    key, _, value = setting.format(program=program, folder=folder).partition("=")
    git(inner, "config", key, value)
    (inner / "a.json").write_text("{ }")
    assert not any(name.endswith("b.json") for name in walked(top))
    assert not mark.exists()


@needs_git
def test_a_gitignore_that_a_partial_clone_lacks_is_not_fetched(tmp_path: Path) -> None:
    """Its remote may be a program."""
    mark, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    top = repository(tmp_path / "top", "a.json", ignore="b.json\n")
    git(top, "add", ".gitignore")
    git(top, "update-index", "--skip-worktree", ".gitignore")
    (top / ".gitignore").unlink()
    for path in (top / ".git" / "objects").glob("??/*"):
        path.unlink()
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{program}",
        "remote.origin.promisor": "true",
    }
    for key, value in settings.items():
        git(top, "config", key, value)
    assert walked(top) == ["a.json"]
    assert not mark.exists()


@needs_git
def test_variables_of_a_hook_do_not_point_git_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = repository(tmp_path / "other", "o.json", ignore="a.json\n")
    top = repository(tmp_path / "top", "a.json", "b.json", ignore="b.json\n")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    assert walked(top) == ["a.json"]


def missing(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(safe_git.shutil, "which", lambda name: None)
    return "git is not installed"


def relative(monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder of the search path is relative, so that the repository may have a program `git` there."""
    program = os.path.relpath("/bin/true")
    monkeypatch.setattr(safe_git.shutil, "which", lambda name: program)
    return "git is not installed"


def refuses(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(safe_git, "_SAFELY", ("--no-such-option",))
    return "unknown option: --no-such-option"


def silent(monkeypatch: pytest.MonkeyPatch) -> str:
    def run(*words: object, **settings: object) -> None:
        raise subprocess.TimeoutExpired("git", 60)

    monkeypatch.setattr(safe_git.subprocess, "run", run)
    return "git did not answer in 60 seconds"


@needs_git
@pytest.mark.parametrize("failure", [missing, relative, refuses, silent])
def test_where_git_fails_everything_is_walked_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Callable[[pytest.MonkeyPatch], str]
) -> None:
    repository(tmp_path, "a.json", "b.json", ignore="b.json\n")
    reason = failure(monkeypatch)
    found = FoundFiles()
    found.add(str(tmp_path))
    assert [Path(each.path).name for each in found.found] == ["a.json", "b.json"]
    (note,) = found.outcome.notes
    assert note.startswith(f"{tmp_path}: files that git ignores are checked too, since git failed: ")
    assert reason in note


def test_outside_a_repository_git_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_git.subprocess, "run", lambda *words, **settings: pytest.fail("git was run"))
    tree(tmp_path, "a.json", "x/b.json", **{".gitignore": "b.json"})
    found = FoundFiles()
    found.add(str(tmp_path))
    assert [os.path.relpath(each.path, tmp_path) for each in found.found] == ["a.json", "x/b.json"]
    assert found.outcome.notes == [f"{tmp_path}: .gitignore is not used, because this is not a git repository"]
    found = FoundFiles()
    found.add(str(tmp_path / "x"))
    assert found.outcome.notes == []


def test_a_link_out_of_the_tree_is_passed_over_and_one_inside_is_read(tmp_path: Path) -> None:
    tree(tmp_path / "top", "a.json")
    tree(tmp_path, "secret.json", "topping/b.json")
    (tmp_path / "top/inside.json").symlink_to("a.json")
    (tmp_path / "top/outside.json").symlink_to("../secret.json")
    (tmp_path / "top/beside.json").symlink_to("../topping/b.json")
    (tmp_path / "top/folder").symlink_to("../topping")
    assert walked(tmp_path / "top") == ["a.json", "inside.json"]
    assert walked(tmp_path / "top/outside.json", tmp_path) == ["top/outside.json"]


@pytest.mark.parametrize("swapped", ["b.json", "store/aic-x-ops-info.json", "store", "z/named", "z"])
def test_what_becomes_a_link_out_of_the_tree_after_the_walk_is_not_read(tmp_path: Path, swapped: str) -> None:
    top, secret = tmp_path / "top", tmp_path / "secret"
    tree(top, "a.json", "b.json", "store/aic-x-ops-info.json", "z/named")
    (top / "z/convert.sh").write_text("atc --keep_dtype=./named")
    tree(secret, **dict.fromkeys(("b.json", "aic-x-ops-info.json", "named", "convert.sh"), "the secret"))

    def swap(done: int, total: int) -> None:
        path = top / swapped
        if done == (total if path.name == "named" else 1):  # what a script names is opened last
            is_folder = path.is_dir()
            path.rename(tmp_path / "old")
            path.symlink_to(secret if is_folder else secret / path.name)

    outcome = validate(str(top), follow=True, step=swap)
    assert "the secret" not in repr(outcome)
    assert "outside" in [error.name for error in outcome.failures]


def test_a_library_of_a_store_that_is_a_link_out_of_the_tree_is_not_read(tmp_path: Path) -> None:
    top = tree(tmp_path / "top", "config/x/aic-x-ops-info.json", "all/aic-y-ops-info.json")
    tree(tmp_path, **{"secret.json": "the secret"})
    (top / "config/x/inside.json").symlink_to("../../all/aic-y-ops-info.json")
    (top / "config/x/outside.json").symlink_to("../../../secret.json")
    outcome = validate(str(top))
    assert [(error.path, error.name) for error in outcome.failures] == [(str(top / "config/x/outside.json"), "outside")]
    assert "the secret" not in repr(outcome)


def test_the_findings_of_a_tree_are_those_of_its_files_in_order(tmp_path: Path, fixtures: Path) -> None:
    shutil.copytree(fixtures / "mixlists", tmp_path / "mixlists")
    shutil.copytree(fixtures / "opp", tmp_path / "opp")
    os.mkfifo(tmp_path / "mixlists" / "mixlist.json")
    checker, steps = Checker(), list[tuple[int, int]]()
    paths = [str(tmp_path / name) for name in ("mixlists", "gone.json", "opp")]
    checker.check_paths(paths, lambda *step: steps.append(step))
    assert steps == [(done, len(steps)) for done in range(1, len(steps) + 1)]
    assert [error.name for error in checker.failures] == ["not-a-file", "unreadable"]
    alone = Checker()
    for verdict in checker.outcome.files:
        if verdict.kind == "mixlist":
            alone.check_named(verdict.path, Path(verdict.path).read_bytes())
    assert alone.outcome.findings == [each for each in checker.outcome.findings if "/mixlists/" in each.path]


def test_what_several_paths_lead_to_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, **{"a.mixlist.json": '{"grey-list": {}}', "b.json": '{"c": 1}', "s/aic-x-ops-info.json": "{"})
    monkeypatch.chdir(tmp_path)
    once = validate("a.mixlist.json", "s")
    for paths in (("a.mixlist.json", "s", "./a.mixlist.json", "."), (".", "s", str(tmp_path / "a.mixlist.json"))):
        outcome = validate(*paths)
        assert sorted(each.rule.name for each in outcome.findings) == sorted(each.rule.name for each in once.findings)
        assert outcome.failures == []
    assert [error.name for error in validate(".", "b.json").failures] == ["unknown-kind"]


def test_a_folder_that_cannot_be_listed_is_a_failure_with_the_systems_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refused)
    checker = Checker()
    checker.check_paths([str(tmp_path)])
    assert [(error.name, error.message, error.path) for error in checker.failures] == [
        ("unreadable", "Permission denied", str(tmp_path))
    ]
