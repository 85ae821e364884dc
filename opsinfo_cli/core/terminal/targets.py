"""Targets and their operators in answers: facts for a page, places of operators."""

from __future__ import annotations

from collections.abc import Sequence

from ..cann.mixlist import MixlistFile
from ..cann.target import Target


def target_facts(target: Target | MixlistFile) -> list[tuple[str, str]]:
    """Return what a page says of a target: (name, value); empty values are unknown."""
    version = target.version if isinstance(target, Target) and target.install else None
    return [("Path", target.path), ("Chip", target.soc or ""), ("CANN", version or "")]


def short_name(path: str | None, files: Sequence[str]) -> str:
    """Return a file's base name if it is unique among the files, else its path."""
    name = (path or "").rsplit("/", 1)[-1]
    return name if sum(file.endswith("/" + name) or file == name for file in files) == 1 else path or ""


def below(path: str, target: str) -> str:
    """Return a path relative to the target if it is below it."""
    return path.removeprefix(target.rstrip("/") + "/") if target else path
