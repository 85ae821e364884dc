"""The program as run by a shell. Invariants are checked on every run."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_support import COMMANDS, ROOT
from contract import STATUSES, schema_faults


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that start the program on a terminal or in the background as tests of processes."""
    for item in items:
        if {"start", "terminal", "program"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("process")


@pytest.fixture(autouse=True)
def all_starts_quick(quick_starts: None) -> None:
    """See ``quick_starts``."""


@pytest.fixture
def opsinfo(opsinfo: Callable[..., Any]) -> Callable[..., Any]:
    """The program, with checks that hold for every command."""

    def run(*arguments: str | os.PathLike[str], **options: Any) -> Any:
        ran = opsinfo(*arguments, **options)
        assert ran.code in STATUSES, (ran.code, ran.err)
        assert "Traceback" not in ran.err
        assert "internal-fault" not in ran.out
        assert "internal error" not in ran.err
        words = [os.fspath(word) for word in arguments]
        words = words[: words.index("--")] if "--" in words else words
        if "json" in words and "--format" in words:
            document = json.loads(ran.out)
            assert schema_faults(document) == []
            named = [word for word in words if word in COMMANDS] or [word for word in words if word[:1] != "-"] or [""]
            assert document["command"].partition(" ")[0] == named[0]
            if ran.code in (2, 3):
                assert "error" in document
        return ran

    return run


@pytest.fixture
def environment() -> dict[str, str]:
    """For processes that a test starts itself."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}


@pytest.fixture
def program() -> list[str]:
    return [sys.executable, "-m", "opsinfo_cli"]


@pytest.fixture
def start(
    program: list[str], environment: dict[str, str], tmp_path: Path
) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start the program without waiting for it."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*arguments: str | bytes | os.PathLike[str], **options: Any) -> subprocess.Popen[bytes]:
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        chosen = {"cwd": tmp_path, "env": environment, **streams, **options}
        process = subprocess.Popen([*program, *arguments], **chosen)
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def vault(isolation: Path) -> Path:
    return isolation / "vault"


@pytest.fixture
def terminal(program: list[str], environment: dict[str, str], tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Run with standard output and error on a terminal."""

    def run(
        *arguments: Any,
        env: Mapping[str, str] | None = None,
        width: int = 120,
        height: int = 50,
        encoding: str = "utf-8",
    ) -> tuple[int, str]:
        import fcntl
        import struct
        import termios

        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        chosen = {**environment, "TERM": "xterm-256color", **(env or {})}
        process = subprocess.Popen(
            [*program, *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs, env=chosen, cwd=tmp_path
        )
        os.close(theirs)
        parts = []
        while select.select([ours], [], [], 60)[0]:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:
                break
            if not part:
                break
            parts.append(part)
        os.close(ours)
        output = b"".join(parts).decode(encoding).replace("\r\n", "\n")
        # a progress line is drawn on slow machines only; other tests cover it
        return process.wait(timeout=30), re.sub(r"\r\x1b\[K[^\r\n\x1b]*", "", output)

    return run
