"""Checks for the tests of `opsinfo bisect`: shell scripts that need some op types on the list."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from model_files import chain

TYPES = "Add AddN Conv2D LayerNorm MatMulV2 Mul Relu SoftmaxV2".split()  # noqa: SIM905
CULPRITS = ["LayerNorm", "Mul", "SoftmaxV2"]

CHAIN = chain({"a": "MatMulV2", "b": "Relu", "c": "SoftmaxV2", "d": "Conv2D", "e": "Mul", "f": "Log", "g": "MatMulV2"})
"""White and gray operators, and a black one, of the fixture ``opp``."""


def script(path: Path, *lines: str) -> Path:
    """An executable shell script."""
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n", "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def needing(path: Path, culprits: list[str] | None = None, *before: str) -> Path:
    """A check that passes if all culprits are on the list."""
    needed = CULPRITS if culprits is None else culprits
    tests = [f'grep -q \'"{name}"\' "$OPSINFO_MIXLIST" || {{ echo no {name}; exit 1; }}' for name in needed]
    return script(path, *before, *tests, "exit 0")


def among(*types: str) -> list[str]:
    return [word for name in types or TYPES for word in ("--among", name)]


def black(path: Path) -> list[str]:
    """The op types on the black list of a mixlist."""
    found: list[str] = json.loads(path.read_text("utf-8")).get("black-list", {}).get("to-add", [])
    return found


def events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text("utf-8").splitlines()]
