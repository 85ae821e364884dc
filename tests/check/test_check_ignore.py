"""A walk ignores the same files as git."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opsinfo_cli.check.check_tasks import tasks_in

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
ENVIRONMENT = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def fail(error: OSError) -> None:
    raise error


def walked(top: Path) -> list[str]:
    return [os.path.relpath(task.path, top) for task in tasks_in(str(top), fail)]


def by_git(top: Path) -> list[str]:
    words = ["git", "ls-files", "--others", "--exclude-standard", "-z"]
    done = subprocess.run(words, cwd=top, env=ENVIRONMENT, capture_output=True, check=True)
    return [name for name in done.stdout.decode().split("\0") if name.endswith(".json")]


def repository(top: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(top)], env=ENVIRONMENT, check=True)
    return top


def files(top: Path, content: dict[str, str]) -> Path:
    for name, text in content.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return top


TREE = dict.fromkeys(["a.json", "x/a.json", "x/b.json", "x/y/a.json", "x/y/z.json", "build/a.json", "y/b/a.json"], "{}")

NAMES = ["a", "b", "x", "y", "build", "a.json", "b.json", "*.json", "*", "**", "***", "?.json", "[ab].json", "[!a]*"]
patterns = st.builds(
    lambda no, lead, parts, tail: no + lead + "/".join(parts) + tail,
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
    st.sampled_from(["", "", "/", "/*", "/**", " "]),
)
ignores = st.dictionaries(
    st.sampled_from([".gitignore", "x/.gitignore", "x/y/.gitignore", ".git/info/exclude"]),
    st.lists(patterns, max_size=4).map(lambda lines: "\n".join(lines) + "\n"),
    max_size=3,
)


@pytest.mark.exhaustive
@needs_git
@settings(max_examples=120)
@given(ignores)
def test_a_walk_ignores_the_same_files_as_git(rules: dict[str, str]) -> None:
    with TemporaryDirectory() as place:
        top = files(repository(Path(place)), {**TREE, **rules})
        assert sorted(walked(top)) == sorted(by_git(top))


WORDS = ["a", "b", "-", "]", "!", "^", "x y", "#a", "[", "\\", " ", "\x01"]
ODD = [
    *("#a", "\\#a", "!a", "\\!a", "x\\ y", "x y  ", "a\\", "?\\ y", "", "   ", "\\", "\\a", "\\["),
    *("[", "[]", "[]]", "[!]]", "[^a]", "[a-b]", "[b-a]", "[-a]", "[a-]", "[a-b-x]", "[!a-b]", "[^]]", "[a", "[[]"),
    *("[]-a]", "[[:alpha:]]", "[![:alpha:]]", "[[:none:]]", "[[:space:]-]", "[\\]]", "[\\\\]", "[a/b]", "[+--]"),
    *("[![:none:]]", "[a[:none:]]", "[!a[:none:]]", "[[:none:]a]", "[!b-a]", "[b-a-b]", "[[:digit:]-a]"),
    *("[[:cntrl:]]", "[[:graph:]]", "[![:graph:]]", "[[:print:]]", "[![:print:]]"),
    *("?", "*", "**", "a**", "x*", "*y", "/a", "a/", "/", "//"),
]


@needs_git
def test_every_odd_pattern_matches_as_in_git(tmp_path: Path) -> None:
    """One folder for each pattern, so that git is run once."""
    content = {f"{index}/{word}/f.json": "{}" for index in range(len(ODD)) for word in WORDS}
    rules = {f"{index}/.gitignore": f"{pattern}\n" for index, pattern in enumerate(ODD)}
    top = files(repository(tmp_path), {**content, **rules})
    mine, gits = set(walked(top)), set(by_git(top))
    assert {f"{ODD[int(name.split('/')[0])]}: {name}" for name in mine ^ gits} == set()


@needs_git
@pytest.mark.parametrize("start", ["x", "x/y"])
def test_rules_of_folders_above_apply_in_a_repository(tmp_path: Path, start: str) -> None:
    top = files(repository(tmp_path), {**TREE, ".gitignore": "z.json\n/x/b.json\n", "x/.gitignore": "!/b.json\n"})
    assert sorted(walked(top / start)) == sorted(by_git(top / start))


def test_outside_a_repository_only_files_below_apply(tmp_path: Path) -> None:
    top = files(tmp_path, {**TREE, "x/.gitignore": "a.json\n!y/\n", ".gitignore": "z.json\n"})
    assert walked(top / "x") == ["b.json", "y/z.json"]
    assert walked(top / "x/y") == ["a.json", "z.json"]
    assert walked(top) == ["a.json", "build/a.json", "x/b.json", "y/b/a.json"]


def test_a_given_ignored_folder_is_walked_by_the_rules_inside_it(tmp_path: Path) -> None:
    top = files(tmp_path, {**TREE, ".git/HEAD": "", ".gitignore": "build/\nx/\n", "x/.gitignore": "b.json\n"})
    assert walked(top) == ["a.json", "y/b/a.json"]
    assert walked(top / "build") == ["a.json"]
    assert walked(top / "x/y") == ["a.json", "z.json"]
    assert walked(top / "x") == ["a.json", "y/a.json", "y/z.json"]


def test_rules_above_an_ignored_folder_that_is_named_do_not_count_inside_it(tmp_path: Path) -> None:
    top = files(tmp_path, {**TREE, ".git/HEAD": "", ".gitignore": "x/\nb.json\nz.json\n"})
    assert walked(top / "x") == ["a.json", "b.json", "y/a.json", "y/z.json"]


def test_a_store_is_used_whole_or_not_at_all(tmp_path: Path) -> None:
    store = {f"s/aic-x-ops-info{each}.json": "{}" for each in ("", "-old")} | {"s/stray.json": "{}"}
    top = files(tmp_path, {**store, ".git/HEAD": "", ".gitignore": "stray.json\n*-old.json\n"})
    assert [task[:2] for task in tasks_in(str(top), fail)] == [("store", str(top / "s"))]
    files(top, {".gitignore": "s/*.json\n"})
    assert list(tasks_in(str(top), fail)) == []


@pytest.mark.parametrize(
    "mark", ["a byte order mark", "carriage returns", "bytes that are not UTF-8", "a folder of that name"]
)
def test_unusual_gitignore_files_are_read_as_by_git(tmp_path: Path, mark: str) -> None:
    write: dict[str, Callable[[Path], object]] = {
        "a byte order mark": lambda path: path.write_bytes(b"\xef\xbb\xbfa.json\n"),
        "carriage returns": lambda path: path.write_bytes(b"a.json\r\n"),
        "bytes that are not UTF-8": lambda path: path.write_bytes(b"\xff\na.json\n"),
        "a folder of that name": Path.mkdir,
    }
    files(tmp_path, {"a.json": "{}", "b.json": "{}"})
    write[mark](tmp_path / ".gitignore")
    assert walked(tmp_path) == (["a.json", "b.json"] if "folder" in mark else ["b.json"])


def test_folders_of_other_engines_are_skipped_only_below_op_impl(tmp_path: Path) -> None:
    kept = ["aicpu/a.json", "dvpp/host_cpu/a.json", "op_impl/ai_core/a.json", "op_impl/ai_core/tbe/aicpu/a.json"]
    skipped = ["op_impl/aicpu/a.json", "op_impl/built-in/dvpp/a.json", "op_impl/host_cpu/tbe/a.json"]
    top = files(tmp_path / "top", dict.fromkeys(kept + skipped, "{}"))
    assert sorted(walked(top)) == kept
