"""The modules that each command imports at its start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import COMMANDS, NN


def loaded(words: list[str], environment: dict[str, str], folder: Path) -> set[str]:
    """The modules that a run has loaded at its end."""
    code = (
        "import atexit, json, os, sys\n"
        "def write():\n"
        "    with open(sys.argv[1], 'w') as file: json.dump(sorted(sys.modules), file)\n"
        "atexit.register(write)\n"
        "from opsinfo_cli.cli.app import main\n"
        "main(sys.argv[2:])\n"
    )
    out = folder / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", code, str(out), *words], env=environment, capture_output=True, check=False, cwd=folder
    )
    assert done.returncode in (0, 1), done.stderr
    return set(json.loads(out.read_text("utf-8")))


HEAVY = {"rich", "jsonschema", "markdown_it", "pygments", "asyncio", "http", "urllib.request", "email", "sqlite3"}


@pytest.mark.process
@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["list", "--help"],
        ["list", "opp", "--soc", "ascend910b"],
        ["list", "opp", "--soc", "ascend910b", "--format", "json"],
        ["show", f"opp/{NN}", "SwiGlu"],
        ["move", f"opp/{NN}", "SwiGlu", "--to", "black"],
        ["diff", "opp", "opp", "--soc-a", "ascend910", "--soc-b", "ascend910b"],
        ["backups"],
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]),
)
def test_starting_a_command_does_not_import_heavy_modules(
    environment: dict[str, str], opp: Path, tmp_path: Path, words: list[str]
) -> None:
    assert loaded(words, environment, tmp_path) & HEAVY == set()


@pytest.mark.process
@pytest.mark.parametrize(
    "words",
    [
        ["list", "opp", "--soc", "ascend910b", "--on", "black"],
        ["show", f"opp/{NN}", "SwiGlu"],
        ["move", f"opp/{NN}", "SwiGlu", "--to=black", "-n"],
        ["diff", "opp", "opp", "--soc-a", "ascend910", "--soc-b", "ascend910b", "-q"],
        ["backups"],
        ["socs", "opp"],
        ["doctor", "opp"],
    ],
    ids=lambda words: words[0],
)
def test_a_plain_line_is_read_without_click(
    environment: dict[str, str], opp: Path, tmp_path: Path, words: list[str]
) -> None:
    assert "click" not in loaded(words, environment, tmp_path)


@pytest.mark.process
def test_help_loads_no_command(environment: dict[str, str], tmp_path: Path) -> None:
    ours = {name for name in loaded(["--help"], environment, tmp_path) if name.startswith("opsinfo_cli.")}
    wings = {name.split(".")[1] for name in ours}
    assert wings <= {"cli", "errors", "report"}
    assert ours & {f"opsinfo_cli.cli.commands.{command}" for command in COMMANDS} == set()


def test_a_command_loads_no_other_command(environment: dict[str, str], opp: Path, tmp_path: Path) -> None:
    ours = loaded(["list", "opp", "--soc", "ascend910b"], environment, tmp_path)
    others = {
        f"opsinfo_cli.cli.commands.{name}" for name in ("show", "move", "apply", "fmt", "diff", "validate", "doctor")
    }
    assert ours & others == set()
    assert not {name for name in ours if name.startswith("opsinfo_cli.change.")}
