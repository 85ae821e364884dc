"""Paths and commands in CONTRIBUTING, RELEASING and the changelog exist."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import opsinfo_cli

ROOT = Path(__file__).resolve().parents[2]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FOLDERS = ("opsinfo_cli", "tests", "docs", "schemas", "fixtures", "benchmarks", r"\.ci", r"\.github")


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "RELEASING.md", "SECURITY.md", "docs/architecture.md"])
def test_every_path_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    named = re.findall(rf"(?<![\w/])((?:{'|'.join(FOLDERS)})/[\w./-]+\w)(?![\w<*{{-]*[<*{{])", text)
    made = {".ci/dist", ".ci/model-wheels"}
    assert [each for each in named if not (ROOT / each).exists() and each not in made] == []


def test_every_module_and_package_that_the_architecture_names_exists() -> None:
    text = (ROOT / "docs/architecture.md").read_text("utf-8")
    rooms = re.findall(r"^([a-z]+)/  ", text.split("## The house")[1].split("```")[1], re.MULTILINE)
    modules = re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", text.replace("`tests/", ""))
    folders = {path.name for path in (ROOT / "opsinfo_cli").iterdir() if path.is_dir() and path.name[0] != "_"}
    assert {*rooms} == folders - {"schemas"}
    assert len(modules) > 15
    inside = ("", *rooms, "lab/graph", "lab/bisect", "lab/simulate")  # where a section walks through one folder
    assert [each for each in modules if not any((ROOT / "opsinfo_cli" / room / each).exists() for room in inside)] == []


def test_the_page_names_every_step_of_ci() -> None:
    lists = [f"{ROOT}/.ci/run --list", f"{ROOT}/.ci/run --list nightly"]
    known = [subprocess.run(each.split(), capture_output=True, text=True, check=True).stdout for each in lists]
    assert re.findall(r"^\| `\.ci/run (\w+)` \|", CONTRIBUTING, re.MULTILINE) == "".join(known).split()


def test_every_path_of_the_table_of_tasks_is_a_file() -> None:
    section = CONTRIBUTING.split("## Which file is it?")[1].split("\n## ")[0]
    paths = re.findall(r"^\| [^|]+ \| `([^`|]+)` \|$", section, re.MULTILINE)
    assert paths
    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_the_changelog_has_the_sections_of_keep_a_changelog_newest_first() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## \[(.+?)\](?: - \d{4}-\d\d-\d\d)?$", text, re.MULTILINE)
    assert len(versions) == len(re.findall(r"^## ", text, re.MULTILINE))
    assert opsinfo_cli.__version__ == next(each for each in versions if each != "Unreleased")
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= kinds


def test_shown_versions_are_the_current_one() -> None:
    for page in ("docs/ci.md", "tests/sample-repository/.pre-commit-config.yaml"):
        shown = re.findall(r"(?:rev: |opsinfo@)v([\d.]+)", (ROOT / page).read_text("utf-8"))
        assert shown
        assert set(shown) == {opsinfo_cli.__version__}, page
