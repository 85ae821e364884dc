"""Completion: its candidates, silence on failure, and real shells."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import LEGACY, NN, Run, entry, write

from opsinfo_cli import app
from opsinfo_cli.systems.commands import group

Complete = Callable[..., list[str]]
LISTS = ("black", "white", "gray")


@pytest.fixture
def complete(opsinfo: Run) -> Complete:
    """The candidates at the end of a line; files are ``<file>``."""

    def run(line: str, **more: str) -> list[str]:
        env = {"_OPSINFO_COMPLETE": "bash_complete", "COMP_WORDS": line}
        ran = opsinfo(env={**env, **more})
        assert (ran.code, ran.err) == (0, "")
        items = [text.partition(",") for text in ran.out.splitlines() if text]
        return ["<file>" if kind == "file" else value for kind, _, value in items]

    return run


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("opsinfo sh", ["show"]),
        ("opsinfo --vers", ["--version"]),
        ("opsinfo list --matc", ["--match"]),
        ("opsinfo list opp --on ", ["white", "black", "gray"]),
        ("opsinfo list opp --on b", ["black"]),
        ("opsinfo list ", ["<file>"]),
        ("opsinfo list opp --mixlist ", ["<file>"]),
        ("opsinfo list opp --soc ", ["ascend910", "ascend910b"]),
        ("opsinfo validate m.json --against opp --soc ", ["ascend910", "ascend910b"]),
        ("opsinfo modes --soc ascend910_93", ["ascend910_93"]),
        ("opsinfo show opp --soc ascend910b MatM", ["MatMul", "MatMulV2", "MatMulV3"]),
        ("opsinfo show opp@ascend910b MatM", ["MatMul", "MatMulV2", "MatMulV3"]),
        ("opsinfo show --soc=ascend910b opp MatMul MatMulV", ["MatMulV2", "MatMulV3"]),
        ("opsinfo move opp --soc ascend910b --to black Swi", ["SwiGlu"]),
        ("opsinfo show opp --soc ascend910b swig", ["SwiGlu"]),
        ("opsinfo show 'my opp' --soc ascend910b SwiG", ["SwiGlu"]),
        ("opsinfo move opp Add --soc ascend910b --store v", ["vendor:acme"]),
        ("opsinfo move mixlist.json ", ["SoftmaxV2"]),
        ("opsinfo move mixlist.json --against opp --soc ascend910b SwiG", ["SwiGlu"]),
        ("opsinfo move new.json --create --against opp --soc ascend910b SwiG", ["SwiGlu"]),
        ("opsinfo explain contrad", ["contradiction"]),
        ("opsinfo explain M003", ["M003"]),
        ("opsinfo schema output-l", ["output-list"]),
        ("opsinfo validate x --precision-mode mixed_b", ["mixed_bfloat16"]),
        ("opsinfo completion f", ["fish"]),
        ("opsinfo graph m.onnx --no-fusion ZSp", ["ZSplitFusionPass", "ZSplitVFusionPass"]),
        ("opsinfo systems sh", ["show"]),
        ("opsinfo systems show apex:", ["apex:O0", "apex:O1", "apex:O2", "apex:O3", "<file>"]),
        ("opsinfo modes --snippet at", ["atc"]),
        ("opsinfo validate x --report sa", ["sarif:"]),
    ],
)
def test_candidates_depend_on_the_word_at_the_cursor(
    complete: Complete, opp: Path, fixtures: Path, line: str, offered: list[str]
) -> None:
    shutil.copytree(opp, opp.parent / "my opp")
    shutil.copy(fixtures / "mixlists/good/add-black.json", opp.parent / "mixlist.json")
    assert complete(line) == offered


def test_a_chip_is_offered_as_a_target_and_its_operators_after_it(complete: Complete, opp: Path) -> None:
    here = {"ASCEND_OPP_PATH": str(opp)}
    assert complete("opsinfo list asc", **here) == ["ascend910", "ascend910b", "<file>"]
    assert complete("opsinfo show ascend910b SwiG", **here) == ["SwiGlu"]
    assert complete("opsinfo list ascend910b --soc ", **here) == ["ascend910", "ascend910b"]


def test_operators_of_the_environment_are_offered_for_a_mixlist(complete: Complete, opp: Path, fixtures: Path) -> None:
    shutil.copy(fixtures / "mixlists/good/add-black.json", opp.parent / "mixlist.json")
    assert complete("opsinfo move mixlist.json SwiG", ASCEND_OPP_PATH=str(opp)) == ["SwiGlu"]
    assert complete(f"opsinfo show {opp / NN} MatM", ASCEND_OPP_PATH=str(opp)) == ["MatMulV3"]


def test_changes_of_the_vault_are_offered_to_restore_and_reapply(complete: Complete, opsinfo: Run, opp: Path) -> None:
    changes = [opsinfo("move", opp / NN, "SwiGlu", "--to", to, "--format", "json").json["change"] for to in LISTS]
    assert complete(f"opsinfo restore {opp / NN} --to ") == ["pristine", *reversed(changes)]
    assert complete(f"opsinfo restore {opp / LEGACY} --to ") == ["pristine"]
    assert complete("opsinfo reapply ") == [*reversed(changes), "<file>"]


@pytest.mark.parametrize(("line", "texts"), [("", app.COMMANDS), ("systems ", group.COMMANDS)], ids=["all", "systems"])
def test_commands_are_described_as_in_the_help(opsinfo: Run, line: str, texts: dict[str, str]) -> None:
    ran = opsinfo(env={"_OPSINFO_COMPLETE": "fish_complete", "COMP_WORDS": f"opsinfo {line}", "COMP_CWORD": ""})
    assert ran.out.splitlines() == [f"plain,{name}\t{text}" for name, text in texts.items()]


@pytest.mark.parametrize(
    "line",
    [
        "opsinfo show nowhere/opp Mat",
        "opsinfo show broken.json Mat",
        "opsinfo show ascend910b Mat",
        "opsinfo show opp Mat",
        "opsinfo show opp --soc ascend999 Mat",
        "opsinfo list --nonsense ",
    ],
)
def test_completion_prints_nothing_on_any_failure(complete: Complete, opp: Path, line: str) -> None:
    write(opp.parent / "broken.json", "{")
    assert [each for each in complete(line) if each != "<file>"] == []


def test_a_name_with_shell_syntax_is_not_offered(complete: Complete, tmp_path: Path) -> None:
    hostile = ["$(reboot)", "`reboot`", "a;reboot", "a b", "a\nb", "a\tb", "-rf", "a'b", "a|b", "\x1b[31m", "\u202eb"]
    write(tmp_path / "aic-x-ops-info.json", {name: entry() for name in [*hostile, "Add", "算子"]})
    assert complete("opsinfo show aic-x-ops-info.json ") == ["Add", "算子"]


@pytest.fixture
def shell(tmp_path: Path, environment: dict[str, str], opp: Path) -> Callable[..., str]:
    """Type into an interactive shell, press TAB, and return the line."""
    program = write(tmp_path / "bin" / "opsinfo", f'#!/bin/sh\nexec {sys.executable} -m opsinfo_cli "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    env = {**environment, "PATH": path, "TERM": "xterm", "PS1": "$ ", "ASCEND_OPP_PATH": str(opp)}

    def type_(command: list[str], setup: str, typed: str, wanted: str) -> str:
        if not shutil.which(command[0]):
            pytest.skip(f"{command[0]} is not installed")
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=tmp_path, start_new_session=True
        )
        os.close(theirs)
        try:
            os.write(ours, f"{setup}; echo rea''dy\n".encode())
            read_until(ours, "\nready")
            os.write(ours, f"{typed}\t".encode())
            return read_until(ours, wanted)
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    return type_


def read_until(terminal: int, wanted: str, seconds: float = 20) -> str:
    read, output, until = b"", "", time.monotonic() + seconds
    while wanted not in output and time.monotonic() < until:
        if select.select([terminal], [], [], 0.2)[0]:
            read += os.read(terminal, 1 << 16)
            output = re.sub(r"\x1b\[[?0-9;]*[A-Za-z]", "", read.decode("utf-8", "replace")).replace("\r", "")
    return output


BASH = (["bash", "--norc", "--noprofile", "-i"], "source <(opsinfo completion bash)")
ZSH = (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -D -u; source <(opsinfo completion zsh)")
TYPED = {
    "operator": ("opsinfo show ascend910b SwiG", "lu "),
    "command": ("opsinfo sh", "ow "),
    "list": ("opsinfo list ascend910b --on bl", "ack "),
    "store": ("opsinfo move opp --soc ascend910b Add --store vendor:ac", "me"),
    "value after =": ("opsinfo list ascend910b --on=bl", "ack "),
    "format after =": ("opsinfo list ascend910b --format=j", "son "),
    "severity after =": ("opsinfo validate x --severity=w", "arning "),
    "operator after @": ("opsinfo show opp@ascend910b SwiG", "lu "),
}


@pytest.mark.process
@pytest.mark.parametrize(("typed", "added"), TYPED.values(), ids=TYPED)
@pytest.mark.parametrize(("command", "setup"), [BASH, ZSH], ids=["bash", "zsh"])
def test_in_a_real_shell(shell: Callable[..., str], command: list[str], setup: str, typed: str, added: str) -> None:
    assert typed + added in shell(command, setup, typed, added).replace("\x07", "")


@pytest.mark.parametrize(("typed", "added"), TYPED.values(), ids=TYPED)
def test_in_a_real_fish(environment: dict[str, str], tmp_path: Path, opp: Path, typed: str, added: str) -> None:
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    path = write(tmp_path / "bin" / "opsinfo", f'#!/bin/sh\nexec {sys.executable} -m opsinfo_cli "$@"\n')
    path.chmod(0o755)
    env = {**environment, "PATH": f"{path.parent}:{os.environ['PATH']}", "ASCEND_OPP_PATH": str(opp)}
    code = "opsinfo completion fish | source; complete --do-complete $argv[1]"
    done = subprocess.run(
        ["fish", "-N", "-c", code, typed], env=env, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    (offered,) = done.stdout.splitlines()
    assert offered.split("\t")[0] == typed.rsplit(maxsplit=1)[-1] + added.rstrip()


def test_fish_shows_a_description_behind_its_first_comma(environment: dict[str, str], tmp_path: Path) -> None:
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    path = write(tmp_path / "bin" / "opsinfo", f'#!/bin/sh\nexec {sys.executable} -m opsinfo_cli "$@"\n')
    path.chmod(0o755)
    code = "opsinfo completion fish | source; complete --do-complete 'opsinfo numer'"
    env = {**environment, "PATH": f"{path.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["fish", "-N", "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == f"numerics\t{app.COMMANDS['numerics']}\n"


def test_an_unknown_shell_is_wrong_usage(opsinfo: Run) -> None:
    ran = opsinfo("completion", "tcsh")
    assert (ran.code, ran.out) == (2, "")
    assert "'fish'" in ran.err
