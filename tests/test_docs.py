"""Docs are made from the program, and say what it does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from opsinfo_cli.check.rules import RULES
from opsinfo_cli.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent


def test_no_page_is_stale() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_reference_has_every_command_with_an_example() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        section = text.split(f"## opsinfo {command}\n")[1].split("\n## ")[0]
        assert "Examples:" in section, command
        assert f"opsinfo {command}" in section.split("Examples:")[1], command


@pytest.mark.parametrize("page", ["findings.md", "findings.zh-CN.md"])
def test_the_findings_page_has_every_rule(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(RULES)


def test_codes_and_names_of_rules_are_unique() -> None:
    codes = [rule.code for rule in RULES.values()]
    assert len(set(codes)) == len(codes) == 39


READMES = ("README.md", "README.zh-CN.md")


@pytest.mark.parametrize("page", READMES)
def test_readme_shows_the_two_commands_that_ci_runs(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.+)$", text, re.MULTILINE)
    assert len(commands) == 2
    assert "opsinfo list fixtures/opp" in commands[0]
    assert commands[1].endswith("python3 -m pytest")


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("commands and code in blocks, and what they print", r"^```.*?^```$"),
        ("commands in the text", r"`(opsinfo [^`]+)`"),
        ("shown commands", r"<!-- output of: (.+?) -->"),
        ("depths of headings", r"^(#+) "),
        ("items of lists", r"^(\d*[-.]) "),
    ],
)
def test_both_readmes_show_the_same_in_the_same_order(what: str, pattern: str) -> None:
    english, chinese = ((ROOT / page).read_text(encoding="utf-8") for page in READMES)
    found = [re.findall(pattern, text, re.MULTILINE | re.DOTALL) for text in (english, chinese)]
    assert found[0]
    assert found[0] == found[1], what


def test_pages_in_two_languages_link_to_each_other() -> None:
    for folder, english, chinese in ((ROOT, *READMES), (ROOT / "docs", "findings.md", "findings.zh-CN.md")):
        top = [(folder / page).read_text(encoding="utf-8")[:300] for page in (english, chinese)]
        assert f"[中文]({chinese})" in top[0]
        assert f"[English]({english})" in top[1]


def test_every_link_of_a_page_leads_somewhere() -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_nothing_names_a_package_host_or_a_place_of_one_machine() -> None:
    shown = [
        path for path in ROOT.rglob("*.md") if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in shown)
    assert not re.search(r"pypi\.org|files\.pythonhosted|/tmp/|/home/[a-z]", text)
