"""A host with click only: commands without jsonschema work, the others report that it is missing."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import COMMANDS, ROOT, mixlist, write

pytestmark = pytest.mark.process

BLOCKED = ("jsonschema", "referencing", "rpds", "attr", "rich", "markdown_it", "pygments")
MAIN = f"import sys\nsys.modules.update(dict.fromkeys({BLOCKED}))\nfrom opsinfo_cli.app import main\n"
CODE = MAIN + "main(sys.argv[1:])\n"
HELP = (
    MAIN
    + """
for command in sys.argv[1:]:
    try:
        main([command, "--help"])
    except SystemExit as end:
        print("status", end.code, "of", command, flush=True)
"""
)
Bare = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def bare(environment: dict[str, str], tmp_path: Path) -> Bare:
    """Run the program without the packages."""

    def run(*words: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # type: ignore[call-overload]
            [sys.executable, "-c", CODE, *map(str, words)],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            **options,
        )

    return run


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("list", "opp", "--soc", "ascend910b"), 0),
        (("list", "opp", "--soc", "ascend910b", "--mixlist", "m.json", "--format", "json"), 0),
        (("show", "opp", "MatMulV2", "--soc", "ascend910b"), 0),
        (("move", "opp", "MatMulV2", "--soc", "ascend910b", "--to", "black"), 0),
        (("move", "new.json", "Add", "--to", "black", "--create", "--against", "opp", "--soc", "ascend910b"), 0),
        (("apply", "opp", "m.json", "--soc", "ascend910b", "-n"), 0),
        (("diff", "opp@ascend910", "opp@ascend910b"), 1),
        (("diff", "opp@ascend910", "opp@ascend910b", "--format", "html"), 1),
        (("diff", "opp"), 1),
        (("completion", "bash"), 0),
        (("fmt", "commented.json"), 0),
        (("fmt", "commented.json", "-o", "out.json", "--check"), 1),
        (("fmt", "refused.json"), 1),
        (("merge", "commented.json", "m.json", "--against", "opp", "--soc", "ascend910b"), 0),
        (("merge", "--minimize", "m.json"), 0),
        (("backups",), 0),
        (("restore", "m.json"), 2),
        (("socs", "opp"), 0),
        (("explain", "mixlists"), 0),
        (("schema", "mixlist"), 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_commands_without_optional_packages_work(
    bare: Bare, opp: Path, tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    write(tmp_path / "commented.json", '{"black-list": {"to-add": ["Add",]} /* why */}')
    write(tmp_path / "refused.json", '{"grey-list": {},}')
    done = bare(*words)
    assert done.returncode == code, done.stderr
    assert "jsonschema" not in done.stderr
    assert done.stdout or words[0] in ("fmt", "backups", "restore", "minimize")


def test_a_missing_jsonschema_is_reported_in_one_sentence(bare: Bare, tmp_path: Path) -> None:
    write(tmp_path / "m.json", mixlist(black_add=["Relu"]))
    words = ("validate", "m.json")
    done = bare(*words)
    assert (done.returncode, done.stdout) == (3, ""), done.stdout
    first, blank, second = done.stderr.splitlines()
    assert first.startswith("error: this command needs the package jsonschema")
    assert (blank, second[:6]) == ("", "hint: ")
    done = bare(*words, "--format", "json")
    assert (done.returncode, json.loads(done.stdout)["error"]["name"]) == (3, "missing-package")


def test_a_refused_mixlist_is_refused_with_its_first_reason(bare: Bare, opp: Path, tmp_path: Path) -> None:
    write(tmp_path / "refused.json", '{"black-list": {"to-add": ["A"], "to-remove": ["A"]}}')
    done = bare("apply", opp, "refused.json", "--soc", "ascend910b")
    assert done.returncode == 3
    assert "error: the engine refuses `A`: add black + remove black\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_works_without_optional_packages(environment: dict[str, str], tmp_path: Path) -> None:
    """Of all commands in one process."""
    command = [sys.executable, "-c", HELP, *COMMANDS]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rest = done.stdout
    for each in COMMANDS:
        text, status, rest = rest.partition(f"status 0 of {each}\n")
        assert status, each
        assert "Examples:" in text, each
    assert rest == ""


def test_on_a_terminal_a_missing_rich_is_reported(environment: dict[str, str], opp: Path) -> None:
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "list", str(opp), "--soc", "ascend910b"],
        env={**environment, "TERM": "xterm"},
        cwd=ROOT,
        stdout=side,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    os.close(side)
    b"".join(iter(lambda: _read(main), b""))
    _, output = process.communicate()
    os.close(main)
    assert process.returncode == 3
    assert output.startswith(b"error: this command needs the package rich"), output


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the other side is closed
        return b""
