"""Completion: its candidates, that it is fast and silent, and that it works in real shells."""

from __future__ import annotations

import json
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

import click
import pytest
from cli_support import COMMANDS, LEGACY, NN, ROOT, Run, entry, library, write
from opsinfo_cli.cli.line.candidates import NOTHING, OFFERS, word_of
from opsinfo_cli.cli.line.unfinished import split

from opsinfo_cli.cli.app import declared
from opsinfo_cli.cli.line.click_command import click_command

Complete = Callable[..., list[str]]

LISTS = ("black", "white", "gray")


@pytest.fixture
def complete(opsinfo: Run, tmp_path: Path) -> Complete:
    """The candidates at the end of a line; a file is ``<file>``."""

    def run(line: str, shell: str = "bash", **more: str) -> list[str]:
        env = {"_OPSINFO_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "XDG_CACHE_HOME": str(tmp_path / "cache")}
        ran = opsinfo(env={**env, **more})
        assert (ran.code, ran.err) == (0, "")
        found = [each.split("\t") for each in ran.out.splitlines()]
        assert all(len(fields) == 3 for fields in found)
        return [fields[1] or "<file>" for fields in found]

    return run


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("opsinfo sh", ["show"]),
        ("opsinfo --vers", ["--version"]),
        ("opsinfo list --matc", ["--match"]),
        ("opsinfo list opp --on ", ["white", "black", "gray"]),
        ("opsinfo list opp --on b", ["black"]),
        ("opsinfo list --format=j", ["--format=json"]),
        ("opsinfo list ", ["<file>"]),
        ("opsinfo list opp --mixlist ", ["<file>"]),
        ("opsinfo list opp --soc ", ["ascend910", "ascend910b"]),
        ("opsinfo list opp --soc=ascend910", ["--soc=ascend910", "--soc=ascend910b"]),
        ("opsinfo diff opp old --soc-a ascend910b --soc-b ", []),
        ("opsinfo show opp --soc ascend910b MatM", ["MatMul", "MatMulV2", "MatMulV3"]),
        ("opsinfo show --soc=ascend910b opp MatMul MatMulV", ["MatMulV2", "MatMulV3"]),
        ("opsinfo show opp --soc ascend910b -q MatMul MatMulV", ["MatMulV2", "MatMulV3"]),
        ("opsinfo move opp --soc ascend910b --to black Swi", ["SwiGlu"]),
        ("opsinfo move opp --to black --dry-run --soc ascend910b -- Swi", ["SwiGlu"]),
        ("opsinfo show opp --soc ascend910b swig", ["SwiGlu"]),
        ("opsinfo show 'my opp' --soc ascend910b SwiG", ["SwiGlu"]),
        ("opsinfo show my\\ opp --soc ascend910b SwiG", ["SwiGlu"]),
        ('opsinfo show "my opp" --soc ascend910b SwiG', ["SwiGlu"]),
        ("opsinfo move opp Add --soc ascend910b --store v", ["vendor:acme"]),
        ("opsinfo move mixlist.json ", ["SoftmaxV2"]),
        ("opsinfo move mixlist.json --against opp --soc ascend910b SwiG", ["SwiGlu"]),
        ("opsinfo move new.json --create --against opp --soc ascend910b SwiG", ["SwiGlu"]),
        ("opsinfo explain contrad", ["contradiction"]),
        ("opsinfo explain M003", ["M003"]),
        ("opsinfo schema output-l", ["output-list", "output-list-systems"]),
        ("opsinfo validate x --precision-mode mixed_b", ["mixed_bfloat16"]),
        ("opsinfo completion p", ["powershell"]),
        ("opsinfo decide --system apex:", ["apex:O0", "apex:O1", "apex:O2", "apex:O3"]),
        ("opsinfo decide --system ascend:m --against opp --soc ascend910b SwiG", ["SwiGlu"]),
        ("opsinfo convert --to keep", ["keep-dtype"]),
        ("opsinfo modes --snippet at", ["atc"]),
        ("opsinfo validate x --report sa", ["sarif:"]),
        ("opsinfo help mo", ["move", "modes"]),
        ("opsinfo -q list opp --on b", ["black"]),
    ],
)
def test_candidates_depend_on_the_word_at_the_cursor(
    complete: Complete, opp: Path, fixtures: Path, line: str, offered: list[str]
) -> None:
    shutil.copytree(opp, opp.parent / "my opp")
    shutil.copy(fixtures / "mixlists/good/add-black.json", opp.parent / "mixlist.json")
    assert complete(line) == offered


def test_every_command_is_offered_with_its_help(opsinfo: Run) -> None:
    ran = opsinfo(env={"_OPSINFO_COMPLETE": "fish_complete", "COMP_WORDS": "opsinfo "})
    assert [line.split("\t")[1] for line in ran.out.splitlines()] == list(COMMANDS)
    assert "plain\tlist\tShow operators with their policy." in ran.out.splitlines()


def test_a_chip_is_offered_as_a_target_and_its_operators_after_it(complete: Complete, opp: Path) -> None:
    here = {"ASCEND_OPP_PATH": str(opp)}
    assert complete("opsinfo list asc", **here) == ["ascend910", "ascend910b", "<file>"]
    assert complete("opsinfo diff ascend910 ", **here) == ["ascend910", "ascend910b", "<file>"]
    assert complete("opsinfo show ascend910b SwiG", **here) == ["SwiGlu"]
    assert complete("opsinfo list ascend910b --soc ", **here) == ["ascend910", "ascend910b"]


def test_operators_of_the_environment_are_offered_for_a_mixlist(complete: Complete, opp: Path, fixtures: Path) -> None:
    shutil.copy(fixtures / "mixlists/good/add-black.json", opp.parent / "mixlist.json")
    here = {"ASCEND_OPP_PATH": str(opp)}
    assert complete("opsinfo move mixlist.json SwiG", **here) == ["SwiGlu"]
    assert complete("opsinfo move mixlist.json SoftmaxV", **here) == ["SoftmaxV2"]


def test_changes_of_the_vault_are_offered_to_restore_and_reapply(complete: Complete, opsinfo: Run, opp: Path) -> None:
    changes = [opsinfo("move", opp / NN, "SwiGlu", "--to", to, "--format", "json").json["change"] for to in LISTS]
    assert complete(f"opsinfo restore {opp / NN} --to ") == ["pristine", *reversed(changes)]
    assert complete(f"opsinfo restore {opp / LEGACY} --to ") == ["pristine"]
    assert complete("opsinfo reapply ") == list(reversed(changes))


def test_the_protocol_of_clicks_own_scripts_is_understood(complete: Complete, opp: Path) -> None:
    line = "opsinfo show opp --soc ascend910b SwiG --to"
    assert complete(line, COMP_CWORD="5") == ["SwiGlu"]
    assert "MatMul" in complete("opsinfo show opp --soc ascend910b", COMP_CWORD="5")


@pytest.mark.parametrize(
    "line",
    [
        "opsinfo show nowhere/opp Mat",
        "opsinfo show broken.json Mat",
        "opsinfo show ascend910b Mat",
        "opsinfo show opp Mat",
        "opsinfo show opp --soc ascend999 Mat",
        "opsinfo move opp --soc",
        "opsinfo nonsense ",
        "opsinfo list --nonsense ",
        "opsinfo show 'opp",
    ],
)
def test_completion_prints_nothing_on_any_failure(complete: Complete, opp: Path, line: str) -> None:
    write(opp.parent / "broken.json", "{")
    assert [each for each in complete(line) if each not in ("<file>", "--soc")] == []


def test_a_closed_pipe_is_not_a_failure(program: list[str], environment: dict[str, str]) -> None:
    env = {**environment, "_OPSINFO_COMPLETE": "bash_complete", "COMP_WORDS": "opsinfo "}
    process = subprocess.Popen(program, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    process.stdout.close()
    assert process.wait(timeout=30) == 0
    assert process.stderr
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_name_with_shell_syntax_is_not_offered(complete: Complete, tmp_path: Path) -> None:
    hostile = ["$(reboot)", "`reboot`", "a;reboot", "a b", "a\nb", "a\tb", "-rf", "a'b", "a|b", "\x1b[31m", "\u202eb"]
    write(tmp_path / "aic-x-ops-info.json", {name: entry() for name in [*hostile, "Add", "算子"]})
    for _ in range(2):
        assert complete("opsinfo show aic-x-ops-info.json ") == ["Add", "算子"]


# the cache


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "opsinfo"


LINE = "opsinfo show lib "


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return write(tmp_path / "lib" / "aic-x-ops-info.json", library({"Add": "true", "Mul": None})).parent


def test_cached_names_are_readable_by_their_owner_only(complete: Complete, store: Path, cache: Path) -> None:
    assert complete(LINE) == ["Add", "Mul"]
    (kept,) = cache.iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert cache.stat().st_mode & 0o777 == 0o700
    content = json.loads(kept.read_text("utf-8"))
    kept.write_text(json.dumps({**content, "names": ["Kept"]}))
    assert complete(LINE) == ["Kept"], "it was not read"


@pytest.mark.parametrize("how", ["content", "time", "new file", "removed file"])
def test_names_are_read_again_if_a_file_changed(complete: Complete, store: Path, cache: Path, how: str) -> None:
    other = write(store / "aic-y-ops-info.json", library({"Sub": None}))
    assert complete(LINE) == ["Add", "Mul", "Sub"]
    (kept,) = cache.iterdir()
    kept.write_text(json.dumps({**json.loads(kept.read_text("utf-8")), "names": ["Kept"]}))
    stat = other.stat()
    if how == "content":
        write(other, library({"Subtract": None}))
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    elif how == "time":
        os.utime(other, ns=(stat.st_atime_ns, stat.st_mtime_ns + 10**9))
    elif how == "new file":
        write(store / "aic-z-ops-info.json", library({"Div": None}))
    else:
        other.unlink()
    assert "Kept" not in complete(LINE)


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", '{"files": 1}', "\x00" * 9, '{"files": [], "names": [1]}', "[" * 100_000],
    ids=["empty", "cut off", "not an object", "wrong types", "zeros", "wrong names", "deep nesting"],
)
def test_a_damaged_cache_is_ignored(complete: Complete, store: Path, cache: Path, damage: str) -> None:
    complete(LINE)
    (kept,) = cache.iterdir()
    kept.write_text(damage)
    assert complete(LINE) == ["Add", "Mul"]
    assert json.loads(kept.read_text("utf-8"))["names"] == ["Add", "Mul"]


@pytest.mark.parametrize("place", ["a file", "open to all", "a link"])
def test_a_cache_folder_that_is_not_private_is_not_used(
    complete: Complete, store: Path, cache: Path, place: str
) -> None:
    elsewhere = cache.parent.parent / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    cache.parent.mkdir()
    if place == "a file":
        cache.write_text("")
    elif place == "a link":
        cache.symlink_to(elsewhere)
    else:
        cache.mkdir()
        cache.chmod(0o777)
    assert complete(LINE) == complete(LINE) == ["Add", "Mul"]
    assert list(elsewhere.iterdir()) == []
    assert place != "open to all" or list(cache.iterdir()) == []


def test_without_a_home_there_is_no_cache(complete: Complete, store: Path, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    assert complete(LINE, XDG_CACHE_HOME="relative", HOME="") == ["Add", "Mul"]
    assert set(tmp_path.iterdir()) == before


def test_names_of_operators_need_no_click(environment: dict[str, str], opp: Path) -> None:
    code = (
        "import json, os, sys\n"
        "os._exit = lambda status: print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
        "from opsinfo_cli.cli.app import main\n"
        "main()\n"
    )
    line = f"opsinfo show {opp} --soc ascend910b Swi"
    env = {**environment, "_OPSINFO_COMPLETE": "bash_complete", "COMP_WORDS": line}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert "SwiGlu" in done.stdout
    assert {"click", "rich", "jsonschema"} & set(json.loads(done.stderr)) == set()


# the tables of candidates


def parameters() -> list[tuple[str, click.Parameter]]:
    commands = [(name, click_command(declared(name))) for name in COMMANDS]
    return [(name, each) for name, command in commands for each in command.params]


def test_every_metavar_has_candidates_or_is_listed_without() -> None:
    valued = [(name, each) for name, each in parameters() if not getattr(each, "is_flag", False)]
    words = {word_of(each) for _, each in valued if not isinstance(each.type, click.Choice)}
    assert words - {*OFFERS, *NOTHING} == set()
    assert OFFERS.keys() - words == set()


LINES = {
    "two words": ("a b", "\\", ["a", "b"]),
    "new word": ("a b ", "\\", ["a", "b", ""]),
    "empty": ("", "\\", [""]),
    "quotes": ("a 'b c' d", "\\", ["a", "b c", "d"]),
    "open quote": ("a 'b c", "\\", ["a", "b c"]),
    "double quotes and escapes": ('a "b\\"c" d\\ e', "\\", ["a", 'b"c', "d e"]),
    "empty word": ("a '' b", "\\", ["a", "", "b"]),
    "joined quotes": ("a x'y'\"z\"", "\\", ["a", "xyz"]),
    "backslash at the end": ("a b\\", "\\", ["a", "b"]),
    "PowerShell": ("a C:\\dir` name", "`", ["a", "C:\\dir name"]),
}


@pytest.mark.parametrize(("text", "escape", "words"), LINES.values(), ids=LINES)
def test_words_of_a_line(text: str, escape: str, words: list[str]) -> None:
    assert split(text, escape) == words


# real shells


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
    "option value": ("opsinfo list --format=j", "son "),
    "store": ("opsinfo move opp --soc ascend910b Add --store vendor:ac", "me "),
    "path with a blank": ("opsinfo list my", "\\ opp/"),
}


@pytest.mark.process
@pytest.mark.parametrize(("typed", "added"), TYPED.values(), ids=TYPED)
@pytest.mark.parametrize(("command", "setup"), [BASH, ZSH], ids=["bash", "zsh"])
def test_in_a_real_shell(
    shell: Callable[..., str], tmp_path: Path, command: list[str], setup: str, typed: str, added: str
) -> None:
    (tmp_path / "my opp").mkdir()
    assert added in shell(command, setup, typed, added).replace("\x07", "")


@pytest.mark.parametrize(("typed", "added"), TYPED.values(), ids=TYPED)
def test_in_a_real_fish(
    environment: dict[str, str], program: list[str], tmp_path: Path, opp: Path, typed: str, added: str
) -> None:
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    (tmp_path / "my opp").mkdir()
    path = write(tmp_path / "bin" / "opsinfo", f'#!/bin/sh\nexec {sys.executable} -m opsinfo_cli "$@"\n')
    path.chmod(0o755)
    env = {**environment, "PATH": f"{path.parent}:{os.environ['PATH']}", "ASCEND_OPP_PATH": str(opp)}
    code = "opsinfo completion fish | source; complete --do-complete $argv[1]"
    done = subprocess.run(
        ["fish", "-N", "-c", code, typed], env=env, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    (line,) = done.stdout.splitlines()
    assert line.split("\t")[0] == typed.rsplit(maxsplit=1)[-1] + added.rstrip().replace("\\", "")


@pytest.mark.parametrize(
    ("shell", "ending"), [("bash", "bash"), ("zsh", "zsh"), ("fish", "fish"), ("powershell", "ps1")]
)
def test_the_shipped_script_is_printed_unchanged(opsinfo: Run, shell: str, ending: str) -> None:
    ran = opsinfo("completion", shell)
    assert ran.code == 0
    assert ran.out == (ROOT / "opsinfo_cli/cli/line/shells" / f"opsinfo.{ending}").read_text("utf-8")
    assert f"{shell}_complete" in ran.out


def test_powershell_gets_lines_that_its_script_can_parse(opsinfo: Run, opp: Path) -> None:
    line = f"opsinfo show '{opp}' --soc=ascend910b MatM"
    ran = opsinfo(env={"_OPSINFO_COMPLETE": "powershell_complete", "COMP_WORDS": line, "COMP_CWORD": ""})
    assert ran.out == "plain\tMatMul\t\nplain\tMatMulV2\t\nplain\tMatMulV3\t\n"
    escaped = f"opsinfo show {str(opp / NN).replace('-', '`-')} --co"
    ran = opsinfo(env={"_OPSINFO_COMPLETE": "powershell_complete", "COMP_WORDS": escaped})
    assert ran.out.splitlines()[0] == "plain\t--core\tEngine: AI Core, vector core or DSA."


def test_an_unknown_shell_is_wrong_usage(opsinfo: Run) -> None:
    ran = opsinfo("completion", "tcsh")
    assert (ran.code, ran.out) == (2, "")
    assert "'powershell'" in ran.err
