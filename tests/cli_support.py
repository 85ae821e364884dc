"""Shared by the command-line tests: places in the fixtures, small files, and readers of output."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from library_files import entry, library  # noqa: F401 - for the tests

from opsinfo_cli.app import COMMANDS as TABLE

Run = Callable[..., Any]
"""The ``opsinfo`` fixture: runs the program, gives ``code``, ``out``, ``err`` and ``json``."""

ROOT = Path(__file__).resolve().parents[1]
CASES: list[dict[str, Any]] = json.loads((ROOT / "fixtures/mixlists/CASES.json").read_text("utf-8"))
"""What the engine does with each of the fixture mixlists."""

AI_910B = Path("built-in/op_impl/ai_core/tbe/config/ascend910b")
LEGACY = AI_910B / "aic-ascend910b-ops-info-legacy.json"
MATH = AI_910B / "aic-ascend910b-ops-info-math.json"
NN = AI_910B / "aic-ascend910b-ops-info-nn.json"
AI_910 = Path("built-in/op_impl/ai_core/tbe/config/ascend910")
ONLY_910 = AI_910 / "aic-ascend910-ops-info.json"

COMMANDS = tuple(TABLE)


def rows(ran: Any) -> list[list[str]]:
    """Tab-separated lines of standard output."""
    return [line.split("\t") for line in ran.out.splitlines()]


def names(ran: Any) -> list[str]:
    return [row[0] for row in rows(ran)]


def finding_names(ran: Any) -> list[str]:
    return sorted({finding["name"] for finding in ran.json["findings"]})


def snapshot(top: Path) -> dict[str, tuple[Any, ...]]:
    """All files and attributes below a folder that a write could change."""
    found: dict[str, tuple[Any, ...]] = {}
    for folder, folders, files in os.walk(top):
        for name in [*folders, *files]:
            path = Path(folder, name)
            stat = path.lstat()
            content = path.read_bytes() if path.is_file() else None
            found[str(path.relative_to(top))] = (stat.st_ino, stat.st_mode, stat.st_mtime_ns, content)
    return found


def write(path: Path, content: Any) -> Path:
    """A file with text, bytes, or JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_bytes(content.encode("utf-8"))
    else:
        path.write_bytes(json.dumps(content, indent=2, ensure_ascii=False).encode("utf-8") + b"\n")
    return path


def mixlist(**lists: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """``mixlist(black_add=["Add"])``: lists and actions by keyword."""
    content: dict[str, dict[str, list[str]]] = {}
    for key, ops in lists.items():
        color, action = key.split("_")
        content.setdefault(f"{color}-list", {})[f"to-{action}"] = list(ops)
    return content


def flag_of(path: Path, name: str) -> str | None:
    """The flag of an operator in a library file, read without opsinfo."""
    flag: str | None = json.loads(path.read_bytes().decode("utf-8-sig"))[name].get("precision_reduce", {}).get("flag")
    return flag
