"""A second reading of OpDef sources for `replay.py`, with tree-sitter-cpp: straight lines only, nothing of opsinfo."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_cpp.language()))
Key = tuple[str, str, str]
"""Part (`main` or `experimental`), op type, chip."""


def changes(
    folder: str, commit: str, files: list[str]
) -> tuple[set[tuple[str, str, str | None, str | None]], set[str]]:
    """Return (op type, chip, before, after) of the sources that a commit touches, and the op types left out."""
    sources = [file for file in files if file.endswith(".cpp") and is_looked_at(file)]
    (now, unread), (before, unread_before) = (policies(folder, at, sources) for at in (commit, f"{commit}~1"))
    left_out = unread | unread_before
    found = {
        (name, chip, before.get((part, name, chip)), now.get((part, name, chip)))
        for part, name, chip in now.keys() | before.keys()
        if name not in left_out and before.get((part, name, chip)) != now.get((part, name, chip))
    }
    return found, left_out


LEFT_OUT = {"op_kernel", "op_kernel_aicpu", "test", "tests", "examples", "example", "template", "templates"}
LEFT_OUT |= {"build", "build_out", "third_party"}


def is_looked_at(file: str) -> bool:
    return not LEFT_OUT.intersection(file.split("/")[:-1])


def policies(folder: str, commit: str, files: list[str]) -> tuple[dict[Key, str], set[str]]:
    found: dict[Key, str] = {}
    unread: set[str] = set()
    for file in files:
        shown = subprocess.run(["git", "-C", folder, "show", f"{commit}:{file}"], capture_output=True, check=False)
        if shown.returncode or b"OP_ADD" not in shown.stdout:
            continue
        part = "experimental" if "experimental" in file.split("/") else "main"
        root = PARSER.parse(shown.stdout).root_node
        names = re.findall(r"\bOP_ADD\s*\(\s*(\w+)", without_comments(shown.stdout))
        classes = [(each.child_by_field_name("name"), each) for each in nodes(root, "class_specifier")]
        bodies = {name.text.decode(): each for name, each in classes if name and name.text}
        for name in names:
            body = bodies.get(name)
            rows = None if body is None else rows_of(body)
            if not rows:  # helpers may add what is not in the class
                unread.add(name)
            else:
                for chip, policy in rows.items():
                    found.setdefault((part, name, chip), policy)
    return found, unread


def without_comments(text: bytes | None) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", (text or b"").decode("utf-8", "replace"), flags=re.DOTALL)


BRANCHES = ("if_statement", "for_statement", "for_range_loop", "while_statement", "switch_statement")
BRANCHES += ("lambda_expression", "preproc_if", "preproc_ifdef", "conditional_expression")


def rows_of(body: Node) -> dict[str, str] | None:
    """Return chip -> policy of a class whose constructor is straight lines; None for any other."""
    if any(next(nodes(body, kind), None) for kind in BRANCHES):
        return None
    flags: dict[str, str | None] = {}  # configuration -> the flag that was set on it
    rows: dict[str, str] = {}
    for statement in nodes(body, "declaration", "expression_statement"):
        text = re.sub(r"\s+", "", without_comments(statement.text))
        if match := re.fullmatch(r"OpAICoreConfig(\w+)(?:\((.*)\))?;", text):
            flags[match[1]] = "true" if match[2] else None
        elif match := re.fullmatch(r"OpAICoreConfig(\w+)=(\w+);", text):
            flags[match[1]] = flags.get(match[2])
        elif "AddConfig" in text or ".SetConfig" in text:
            for chip, config in re.findall(r'AddConfig\("(\w+)"(?:,(?:this->)?(\w+))?\)', text):
                if config and config not in flags:
                    return None
                flag = flags[config] if config else "true"
                rows[chip] = {"true": "white", "false": "black", None: "gray"}.get(flag, "?")
            if text.count("AddConfig(") != len(re.findall(r'AddConfig\("\w+"(?:,(?:this->)?\w+)?\)', text)):
                return None
        elif "PrecisionReduceFlag" in text or "precision_reduce" in text:
            match = re.match(r"(?:this->)?(\w+)\.", text)
            values = re.findall(r"PrecisionReduceFlag\((\w+)\)", text)
            extended = re.findall(r'ExtendCfgInfo\("precision_reduce\.flag","(\w+)"\)', text)
            if not match or match[1] not in flags or len(values) + len(extended) != 1:
                return None
            flags[match[1]] = (values + extended)[0]
    return rows


def nodes(root: Node, *kinds: str) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in kinds:
            yield node
        waiting += reversed(node.children)
