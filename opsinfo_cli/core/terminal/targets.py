"""Targets and their operators in answers: JSON, facts for a page, places of operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..cann.operator_rows import OperatorRow
from ..cann.target import Target


def target_document(target: Target) -> dict[str, Any]:
    return {name: getattr(target, name) for name in ("text", "kind", "path", "soc", "version")}


def row_document(row: OperatorRow) -> dict[str, Any]:
    others = {name: [entry._asdict() for entry in getattr(row, name)] for name in ("shadowed", "also_in")}
    return {**row._asdict(), "marks": [str(mark) for mark in row.marks], **others}


def target_facts(target: Target) -> list[tuple[str, str]]:
    """Return what a page says of a target: (name, value); empty values are unknown."""
    version = target.install.version if target.install else None
    return [("Path", target.path), ("Chip", target.soc or ""), ("CANN", version or "")]


def short_name(path: str | None, files: Sequence[str]) -> str:
    """Return a file's base name if it is unique among the files, else its path."""
    name = (path or "").rsplit("/", 1)[-1]
    return name if sum(file.endswith("/" + name) or file == name for file in files) == 1 else path or ""


def below(path: str, target: str) -> str:
    """Return a path relative to the target if it is below it."""
    return path.removeprefix(target.rstrip("/") + "/")
