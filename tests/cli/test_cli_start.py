"""What a run imports: only its own command, and nothing of rich off a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import COMMANDS, NN

pytestmark = pytest.mark.process

HEAVY = {"rich", "jsonschema", "pygments", "asyncio", "http", "urllib.request", "email", "sqlite3", "numpy", "onnx"}


def loaded(words: list[str], environment: dict[str, str], folder: Path) -> set[str]:
    """The modules that a run has loaded at its end."""
    code = (
        "import atexit, json, sys\n"
        "def write():\n"
        "    with open(sys.argv[1], 'w') as file: json.dump(sorted(sys.modules), file)\n"
        "atexit.register(write)\n"
        "from opsinfo_cli.app import main\n"
        "main(sys.argv[2:])\n"
    )
    out = folder / "modules.json"
    command = [sys.executable, "-c", code, str(out), *words]
    done = subprocess.run(command, env=environment, capture_output=True, check=False, cwd=folder)
    assert done.returncode in (0, 1), done.stderr
    return set(json.loads(out.read_text("utf-8")))


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["list", "--help"],
        ["list", "opp@ascend910b"],
        ["list", "opp@ascend910b", "--format", "json"],
        ["show", f"opp/{NN}", "SwiGlu"],
        ["move", f"opp/{NN}", "SwiGlu", "--to", "black"],
        ["diff", "opp@ascend910", "opp@ascend910b"],
        ["backups"],
        ["systems", "list"],
    ],
    ids=" ".join,
)
def test_a_command_in_a_pipe_imports_no_heavy_package(
    environment: dict[str, str], opp: Path, tmp_path: Path, words: list[str]
) -> None:
    assert loaded(words, environment, tmp_path) & HEAVY == set()


def test_help_loads_no_command_and_a_command_no_other(environment: dict[str, str], opp: Path, tmp_path: Path) -> None:
    prefix = "opsinfo_cli.core.commands."
    ours = {f"{prefix}{command}" for command in COMMANDS}
    of_help = loaded(["--help"], environment, tmp_path)
    assert of_help & ours == set()
    read = {".".join(name.split(".")[1:3]) for name in of_help if name.startswith("opsinfo_cli.")}
    assert read <= {"app", "core", "errors", "handed_in", "core.document", "core.terminal", "core.text", "version"}
    assert loaded(["list", "opp@ascend910b"], environment, tmp_path) & ours == {f"{prefix}list"}
