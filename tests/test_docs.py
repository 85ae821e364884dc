"""Docs are made from the program, and say what it does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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


def test_the_findings_page_has_every_rule() -> None:
    text = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(RULES)


def test_codes_and_names_of_rules_are_unique() -> None:
    codes = [rule.code for rule in RULES.values()]
    assert len(set(codes)) == len(codes) == 39


def test_readme_shows_the_two_commands_that_ci_runs() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (.+)$", text, re.MULTILINE)
    assert len(commands) == 2
    assert "opsinfo list fixtures/opp" in commands[0]
    assert commands[1].endswith("python3 -m pytest")


def test_nothing_names_a_package_host_or_a_place_of_one_machine() -> None:
    shown = [
        path for path in ROOT.rglob("*.md") if not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in shown)
    assert not re.search(r"pypi\.org|files\.pythonhosted|/tmp/|/home/[a-z]", text)
