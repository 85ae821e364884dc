"""The house: who may import whom, who draws, who writes, and what a start loads."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_support import COMMANDS, NN, ROOT

PACKAGE = ROOT / "opsinfo_cli"
WINGS = "cli report check change compare neighbours runs numerics model text".split()  # noqa: SIM905
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "schemas" not in path.parts)


def wing_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, absolute dotted name) of everything a module imports, wherever in it."""
    package = ["opsinfo_cli", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield node.lineno, stem
            yield from ((node.lineno, f"{stem}.{name.name}") for name in node.names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_wing_imports_only_from_the_wings_below_it(path: Path) -> None:
    wing = wing_of(path)
    allowed = set(WINGS[WINGS.index(wing) :]) if wing in WINGS else set(WINGS)
    for line, name in imported(path):
        parts = name.split(".")
        if parts[0] == "opsinfo_cli" and len(parts) > 1 and parts[1] in WINGS:
            assert parts[1] in allowed, f"line {line} imports {name}"


def test_errors_stand_below_all() -> None:
    assert [name for _, name in imported(PACKAGE / "errors.py") if name.startswith("opsinfo_cli")] == []


def test_every_folder_is_a_wing() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= {*WINGS, "schemas"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_cli_and_report_draw(path: Path) -> None:
    drawn = {name.split(".")[0] for _, name in imported(path)} & {"click", "rich"}
    assert not drawn or wing_of(path) in ("cli", "report")


WRITING_MODES = set("wax+")
WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}
WRITING_CALLS = {
    *("write_text", "write_bytes", "touch", "mkstemp", "mkdtemp", "NamedTemporaryFile", "TemporaryFile"),
    *("makedirs", "mkdir", "unlink", "rmdir", "rename", "renames", "symlink", "link", "chmod", "chown", "truncate"),
    *("copy2", "copyfile", "copytree", "rmtree", "move"),
}
OWNERS = {"os", "shutil", "tempfile", "Path", "pathlib"}


def writes(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in WRITING_FLAGS:
            yield node.lineno, node.attr
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in ("open", "fdopen") and _opens_for_writing(node, function):
            yield node.lineno, ast.unparse(node)
        if name in ("write_text", "write_bytes"):
            yield node.lineno, ast.unparse(node)
        owner = function.value if isinstance(function, ast.Attribute) else None
        if name in WRITING_CALLS and isinstance(owner, ast.Name) and owner.id in OWNERS:
            yield node.lineno, ast.unparse(node)


def _opens_for_writing(node: ast.Call, function: ast.expr) -> bool:
    values: list[Any] = [each.value for each in node.keywords if each.arg == "mode"]
    at = 0 if isinstance(function, ast.Attribute) and ast.unparse(function.value) not in ("os", "io") else 1
    values += node.args[at : at + 1]
    modes = [each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return any(set(mode) & WRITING_MODES and len(mode) <= 3 for mode in modes)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_change_writes(path: Path) -> None:
    found = [f"{line}: {text}" for line, text in writes(path) if "devnull" not in text]
    lines = path.read_text("utf-8").splitlines()
    found = [each for each in found if "devnull" not in lines[int(each.split(":")[0]) - 1]]
    assert not found or wing_of(path) == "change"


def loaded(words: list[str], environment: dict[str, str], folder: Path) -> set[str]:
    """The modules that a run has loaded at its end."""
    code = (
        "import atexit, json, os, sys\n"
        "def tell():\n"
        "    with open(sys.argv[1], 'w') as file: json.dump(sorted(sys.modules), file)\n"
        "atexit.register(tell)\n"
        "from opsinfo_cli.cli.line.main import main\n"
        "main(sys.argv[2:])\n"
    )
    out = folder / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", code, str(out), *words], env=environment, capture_output=True, check=False, cwd=folder
    )
    assert done.returncode in (0, 1), done.stderr
    return set(json.loads(out.read_text("utf-8")))


HEAVY = {"rich", "jsonschema", "markdown_it", "pygments", "asyncio", "http", "urllib.request", "email", "sqlite3"}


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
def test_what_a_start_does_not_load(environment: dict[str, str], opp: Path, tmp_path: Path, words: list[str]) -> None:
    assert loaded(words, environment, tmp_path) & HEAVY == set()


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
    light = {"click"} if words[0] in ("backups", "socs", "doctor") else {"click", "typing", "inspect", "dataclasses"}
    assert loaded(words, environment, tmp_path) & light == set()


def test_help_loads_no_command(environment: dict[str, str], tmp_path: Path) -> None:
    ours = {name for name in loaded(["--help"], environment, tmp_path) if name.startswith("opsinfo_cli.")}
    wings = {name.split(".")[1] for name in ours}
    assert wings <= {"cli", "errors", "report", "typed"}
    assert ours & {f"opsinfo_cli.cli.commands.{command}" for command in COMMANDS} == set()


def test_a_command_loads_no_other_command(environment: dict[str, str], opp: Path, tmp_path: Path) -> None:
    ours = loaded(["list", "opp", "--soc", "ascend910b"], environment, tmp_path)
    others = {
        f"opsinfo_cli.cli.commands.{name}" for name in ("show", "move", "apply", "fmt", "diff", "validate", "doctor")
    }
    assert ours & others == set()
    assert not {name for name in ours if name.startswith("opsinfo_cli.change.")}
