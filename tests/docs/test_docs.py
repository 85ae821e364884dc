"""Generated pages are up to date and show what the program does."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from opsinfo_cli.app import COMMANDS, cli
from opsinfo_cli.core.check.wording import wording

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("quick_starts")


def test_a_stale_page_and_a_command_without_an_example_are_named(tmp_path: Path) -> None:
    """No other page is stale; that these are not in the checkout is what the step `docs` of CI holds."""
    for folder in ("docs", "fixtures", "opsinfo_cli", "schemas", "skills"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.zh-CN.md", tmp_path)
    for page in (tmp_path / "README.zh-CN.md", *(tmp_path / "docs").glob("*.md")):  # the README is enough to run
        page.write_text(page.read_text("utf-8").replace("<!-- output of: ", "<!-- once of: "), "utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "Mul       gray  black" in readme
    (tmp_path / "README.md").write_text(readme.replace("Mul       gray  black", "Mul       gray  white"), "utf-8")
    command = tmp_path / "opsinfo_cli/core/commands/schema.py"
    command.write_text(command.read_text("utf-8").replace("Examples:", "For instance:"), "utf-8")
    before = (tmp_path / "README.md").read_bytes()
    script = str(tmp_path / "docs/generate.py")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    stale = ["docs/reference.md", "README.md"]
    assert done.stdout.splitlines() == [*(f"stale: {each}" for each in stale), "no example: opsinfo schema"]
    assert done.returncode == 1
    assert (tmp_path / "README.md").read_bytes() == before


def test_the_pictures_of_the_readme_show_what_the_commands_print_and_fetch_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from generate import output_of  # type: ignore[import-not-found]
    from picture import COMMANDS  # type: ignore[import-not-found]

    printed = [word for command in COMMANDS for word in output_of(command, "en").split()]
    for name in ("light", "dark"):
        drawn = (ROOT / "docs" / "images" / f"terminal-{name}.svg").read_text("utf-8")
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
        shown = html.unescape(" ".join(texts)).replace("\xa0", " ").split()
        assert [word for word in printed if word not in shown] == [], "python docs/picture.py draws it again"
        assert not re.search(r"url\([^#)]|href=|src=", drawn)


def test_the_reference_has_the_help_of_every_command_and_every_option() -> None:
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    shared = text.split("\n## ")[0]
    for name, command in {"": cli, **{name: cli.get_command(click.Context(cli), name) for name in COMMANDS}}.items():
        words = name.split()
        output = CliRunner().invoke(cli, [*words, "--help"], prog_name="opsinfo", terminal_width=78).output
        section = text.split(f"## {' '.join(['opsinfo', *words])}\n")[1].split("\n## ")[0]
        assert output.partition("\nOptions:")[0] in section
        for param in command.params:
            option = max(param.opts, key=len)
            if isinstance(param, click.Option) and not param.hidden:
                assert option in section, f"{name} {option}"
                assert f"`{option}`" not in section.partition("Shared options:")[2] or f"{option} " in shared, option


COMPLETION = ("_OPSINFO_COMPLETE", "COMP_WORDS", "COMP_CWORD")
"""Set by the shells' scripts, never by users."""


def test_every_variable_that_is_read_is_explained() -> None:
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "opsinfo_cli").rglob("*.py"))
    read = set(re.findall(r"environ(?:\.get\(|\[)\"([A-Z_]+)\"", text)) - {"HOME", *COMPLETION}
    assert len(read) > 5
    assert read <= set(re.findall(r"^[A-Z_]+", wording("en").topics["environment"], re.MULTILINE))
