"""What a docstring or comment names exists: modules, functions, classes and files. Nothing else looks for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "opsinfo_cli"
SOURCES = {path: path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
ROLE = re.compile(r":(mod|func|class|meth|data|attr|exc):`~?\.*([\w.]+)(?:\(\))?`")
FILE = re.compile(r"`{1,2}(?:[\w./-]*/)?([\w.-]+\.(?:py|md|toml))`{1,2}")
MODULES = {path.parent.name if path.stem == "__init__" else path.stem for path in SOURCES}
PART = re.compile(r"^- ((?:``\w+``(?:, )?)+): ", re.MULTILINE)
OF_OTHERS = {"difflib", "node_data_builder.py"}
"""A module of Python, and a file of Model Explorer."""


def names_of(path: Path, text: str) -> Iterator[str]:
    """The module, and what it defines."""
    yield path.parent.name if path.stem == "__init__" else path.stem
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_every_name_in_a_docstring_or_comment_exists() -> None:
    names: dict[str, set[str]] = {}
    for path, text in SOURCES.items():
        names.setdefault(path.relative_to(PACKAGE).parts[0], set()).update(names_of(path, text))
    files = {path.name for path in ROOT.rglob("*") if ".ci" not in path.parts}
    everywhere = OF_OTHERS.union(*(each for room, each in names.items() if room.endswith(".py") or room == "core"))
    missing = []
    for path, text in SOURCES.items():
        known = everywhere | names[path.relative_to(PACKAGE).parts[0]]
        missing += [
            f"{path}: {role} {name}"
            for role, name in ROLE.findall(text)
            if name.split(".")[-1] not in (known & MODULES if role == "mod" else known) | OF_OTHERS
        ]
        missing += [f"{path}: {name}" for name in FILE.findall(text) if name not in files | OF_OTHERS]
    assert missing == []


def test_the_parts_that_a_package_lists_are_its_modules() -> None:
    missing = [
        f"{path}: {name}"
        for path, text in SOURCES.items()
        if path.stem == "__init__"
        for parts in PART.findall(text)
        for name in re.findall(r"\w+", parts)
        if not (path.parent / f"{name}.py").exists() and not (path.parent / name).is_dir()
    ]
    assert missing == []
