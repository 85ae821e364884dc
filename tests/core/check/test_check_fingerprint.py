"""A finding is recognised after lines move, entries change, or the repository moves."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from check_support import Checker
from snapshot_texts import text_of_snapshot
from tables import cases

from opsinfo_cli.core.cann.repository import Repository
from opsinfo_cli.core.cann.target import Target
from opsinfo_cli.core.check.baseline import fingerprinted
from opsinfo_cli.core.check.checked import Checked
from opsinfo_cli.core.check.finding import Finding, Outcome
from opsinfo_cli.core.check.mixlist import MixlistTarget

TEXT = """{
  "black-list": {"to-add": ["Log", "Log", 7]},
  "black-list": {"to-add": ["Log", "Log", "Log"]},
  "grey-list": {}
}
"""


def prints(text: str, path: str = "/r/m.json", root: str = "/r") -> list[tuple[str, str]]:
    checker = Checker(kind="mixlist")
    checker.check_file(path, text.encode())
    checked = Checked(**vars(checker.outcome), repository=Repository(root))
    return [(each.rule.name, each.fingerprint) for each in fingerprinted(checker.outcome.findings, checked.relative)]


def test_no_two_findings_share_a_fingerprint() -> None:
    found = prints(TEXT)
    assert [name for name, _ in found].count("duplicate-operator") == 2
    assert len({each for _, each in found}) == len(found)


@cases(
    "moved",
    {
        "lines before": "\n\n\n" + TEXT,
        "entries before": TEXT.replace('"Log", "Log", "Log"', '"Add",\n "Log",\n "Pow", "Log", "Log"'),
        "line ends": TEXT.replace("\n", "\r\n"),
        "indent and mark": "\ufeff" + TEXT.replace("  ", "\t\t\t"),
    },
)
def test_a_finding_that_only_moves_keeps_its_fingerprint(moved: str) -> None:
    assert set(prints(TEXT)) <= set(prints(moved))


def test_a_finding_with_another_message_has_another_fingerprint() -> None:
    assert set(prints(TEXT)) & set(prints(TEXT.replace("Log", "Pow").replace("grey", "graey"))) == {
        each for each in prints(TEXT) if each[0] == "duplicate-key"
    }


def test_fingerprints_depend_on_the_file_but_not_on_the_repositorys_place() -> None:
    assert prints(TEXT) == prints(TEXT, "/else/where/m.json", "/else/where")
    assert not set(prints(TEXT)) & set(prints(TEXT, "/r/other.json"))


def against(target: Path) -> list[tuple[str, str]]:
    checker = Checker(against=[MixlistTarget(Target.open(str(target)))])
    checker.check_file("/r/m.json", b'{"black-list": {"to-add": ["MatMu1V2", "Pow"], "to-remove": ["Add"]}}')
    checked = Checked(**vars(checker.outcome), repository=Repository("/r"))
    return [(each.rule.name, each.fingerprint) for each in fingerprinted(checker.outcome.findings, checked.relative)]


def test_the_place_of_a_target_does_not_count_but_its_chip_and_version_do(
    fixtures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A snapshot that is renamed, or named from another folder, is the same target."""
    text = text_of_snapshot(Target.open(str(fixtures / "opp"), soc="ascend910b"))
    names = ("a.json", "b.json", "in/c.json")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    first = against(Path("a.json"))
    assert {name for name, _ in first} == {"unknown-operator", "no-effect", "remove-mismatch"}
    for name in (*names[1:], str(tmp_path / "a.json")):
        assert against(Path(name)) == first
    (tmp_path / "other.json").write_text(text.replace('"ascend910b"', '"ascend910_93"', 1))
    assert dict(first)["unknown-operator"] != dict(against(Path("other.json")))["unknown-operator"]


def prints_of(message: str) -> Finding:
    from opsinfo_cli.core.check.rules import RULES

    (finding,) = fingerprinted([Finding(RULES["unknown-operator"], message, "m.json")], lambda path: path)
    return finding


@cases(
    "environment, path, relative",
    {
        "here": ({}, "sub/m.json", "sub/m.json"),
        "GitHub's workspace above": ({"GITHUB_WORKSPACE": ".."}, "sub/m.json", "in/sub/m.json"),
        "GitLab's project above": ({"CI_PROJECT_DIR": ".."}, "m.json", "in/m.json"),
        "a workspace elsewhere": ({"GITHUB_WORKSPACE": "/nowhere"}, "m.json", "m.json"),
        "outside": ({}, "/etc/m.json", "/etc/m.json"),
    },
)
def test_paths_are_relative_to_the_repository(
    environment: dict[str, str], path: str, relative: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = os.path.join(str(tmp_path), "in")
    os.makedirs(folder)
    monkeypatch.chdir(folder)
    there = {name: os.path.abspath(value) for name, value in environment.items()}
    assert Repository.around(folder, there).relative(path) == relative


def test_a_finding_of_an_install_is_repeated_for_no_chip_even_if_it_has_its_fingerprint() -> None:
    found, outcome = prints_of("said"), Outcome()
    outcome.add("opp", "install", [replace(found, fingerprint="0123")])
    outcome.add("opp", "install", [found])
    assert [finding.fingerprint for finding in outcome.findings] == ["0123"]


def test_without_ci_the_folder_with_git_is_the_root(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = os.path.join(str(tmp_path), "a", "b")
    os.makedirs(folder)
    os.makedirs(os.path.join(str(tmp_path), ".git"))
    monkeypatch.chdir(folder)
    assert Repository.around(folder, {}).relative("m.json") == "a/b/m.json"
