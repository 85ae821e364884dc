"""The commands and options that messages, hints and explanations name exist, and the commands run."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
from functools import cache
from pathlib import Path

import pytest
from cli_support import ROOT, Run
from lines import COMMANDS

PACKAGE = ROOT / "opsinfo_cli"
T = "fixtures/opp@ascend910b"
MODEL = f"fixtures/model.onnx --against {T}"
WORDS = {
    "'PATTERN*'": "'MatMul*'",
    "...": "",
    "A": T,
    "B": "fixtures/opp@ascend910",
    "C...": "fixtures/opp-old",
    "COMMAND": "list",
    "FILE": "out.json",
    "ID": "pristine",
    "LIST": "black",
    "LOG": "fixtures/logs/apex-two-ranks.log",
    "MIXLIST": "fixtures/ops_info.json",
    "NAME": "apex",
    "OP": "Add",
    "SYSTEM": "apex",
    "TABLE": "fixtures/profiles/op_summary.csv",
    "TARGET": T,
    "VALUE": "1e-5",
    "{console.command}": "list",
    "{name}": "apex",
    "{twice}": f"{T} {T}",
    "{quoted(mixlists[0].text)}": "fixtures/ops_info.json",
    "{quoted(checked)}": "fixtures",
    "{quoted(path)}": "fixtures/ops_info.json",
    "{quoted(*targets)}": "apex:O1 torch-amp",
    "{quoted(target)}": "fixtures/ops_info.json",
    "{quoted(target.path)}": "fixtures/ops_info.json",
    "{quoted(targets[0].text)}": T,
    "{quoted(text)}": "out.json",
    "{subject}": T,
    "{quoted(systems[0])}": "torch-amp",
}
"""Words for which a reader puts their own."""
LINES = {
    "COMMAND ... {name}": f"list {T} -q",
    "backups --prune": "backups --prune 20",
    "backups --prune N": "backups --prune 20",
    "fmt FILE.jsonc -o FILE.json": "fmt fixtures/mixlists/bad/comment-line-end.json -o out.json",
    "fmt {quoted(path)} -o {quoted(path[:-1])}": "fmt fixtures/mixlists/bad/comment-line-end.json -o out.json",
    "graph --customize-dtypes": "graph --help",
    "graph MODEL --on cast": f"graph {MODEL} --on cast",
    "graph --by node": "graph --help",
    "restore CHANGE": "restore --help",
    "restore TARGET --to {entry.id}": "restore --help",
    "validate .": "validate fixtures",
    "{ELSEWHERE[name]}": "list --help",
    "graph MODEL --mixlist": f"graph {MODEL} --mixlist fixtures/ops_info.json",
    "simulate --format json": f"simulate {MODEL} --format=json",
    "snapshot --core": f"snapshot {T} --core ai",
    "validate {quoted(path)} --fix": "validate fixtures --fix",
    "validate --fix{'' if finding.fix.is_safe else ' --unsafe-fixes'}": "validate --fix --unsafe-fixes fixtures",
}
"""Lines to which a reader adds something."""


def text_of(node: ast.AST) -> str | None:
    """The text of a string, with `{expression}` for the values of an f-string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (
            f"{{{ast.unparse(each.value)}}}" if isinstance(each, ast.FormattedValue) else text_of(each)
            for each in node.values
        )
        return "".join(part or "" for part in parts)
    return None


def texts() -> list[str]:
    """Every string with a command that a person may see: not docstrings, which commands show as their help."""
    found = []
    for source in (path.read_text("utf-8") for path in PACKAGE.rglob("*.py")):
        if "`opsinfo " not in source:
            continue
        nodes = list(ast.walk(ast.parse(source)))
        inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
        inner |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        found += [text_of(node) for node in nodes if isinstance(node, ast.JoinedStr) or id(node) not in inner]
    found += [path.read_text("utf-8") for path in PACKAGE.rglob("*.toml")]
    found += [command.help for command in COMMANDS.values()]
    return [text for text in found if text]


@cache
def named() -> list[str]:
    """The lines that texts name, such as `opsinfo list TARGET --on black`."""
    return sorted({line for text in texts() for line in re.findall(r"`opsinfo ([^`\n]+)`", text)})


def meant(line: str) -> list[str]:
    """The words that a reader types."""
    for word in sorted(WORDS, key=len, reverse=True) if line not in LINES else ():
        line = re.sub(rf"(?<![\w.-]){re.escape(word)}(?![\w.-])", WORDS[word].replace("\\", r"\\"), line)
    return shlex.split(LINES.get(line, line))


def test_lines_are_found_in_hints_messages_and_explanations() -> None:
    lines = named()
    assert len(lines) > 40
    assert {"doctor", "list TARGET --match 'PATTERN*'", "explain mixlists"} <= set(lines)


@pytest.mark.parametrize("line", named())
def test_a_command_that_a_text_names_has_these_options_and_runs(opsinfo: Run, tmp_path: Path, line: str) -> None:
    words = meant(line)
    if all(word.startswith("-") for word in words[1:]) or (words[0] == "systems" and len(words) < 3):
        words += ["--help"]  # a command by its name: nobody runs it without what it requires
    elif "fixtures" in " ".join(words):
        shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    if words[0] == "restore" and T in words:
        opsinfo("move", T, "Add", "--to", "black")
    ran = opsinfo(*words, input="{}")
    assert ran.code in (0, 1), f"{ran.err}\nif the text has a new word for a file or name, WORDS needs it"


FOREIGN = {"--dynamic", "--preserve"}
"""Options of other programs that hints name."""


def test_an_option_that_a_hint_names_exists() -> None:
    options = {word for command in COMMANDS.values() for param in command.params for word in param.opts}
    hints: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                hints |= {text for part in ast.walk(node.value) if (text := text_of(part))}
    given = {word for hint in hints for word in re.findall(r"(?<![\w-])--[a-z][a-z-]+", hint)}
    assert len(given) > 20
    assert given - options - FOREIGN - {"--help"} == set()
