"""What holds for the line of every command: help, wrong usage, empty values, outputs that are inputs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from cli_support import ROOT, Run, snapshot, write
from hypothesis import given
from hypothesis import strategies as st
from lines import COMMANDS, line, valued

from opsinfo_cli.app import GROUPS
from opsinfo_cli.core.terminal.params import example_lines

NAMES = [" ".join(words) for words in COMMANDS]

# help


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_has_an_example_and_fits(opsinfo: Run, name: str) -> None:
    ran = opsinfo(*name.split(), "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"opsinfo {name}" in ran.out.partition("Examples:")[2]
    assert max(map(len, ran.out.splitlines())) <= 80
    assert all(f"{option}" in ran.out for option in ("--format", "--color", "-q", "-v", "-h"))


def examples(command: click.Command) -> list[str]:
    return (command.help or "").partition("Examples:\n")[2].partition("\n\n")[0].split("\n")


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_command_run_after_an_install_one_after_the_other(
    opsinfo: Run, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Outside a checkout: the CANN of the environment has the chips, and the files are the user's."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from generate import make_user_files  # type: ignore[import-not-found]

    make_user_files(tmp_path)
    write(tmp_path / "bin/opsinfo", f'#!/bin/sh\nexec {sys.executable} -m opsinfo_cli "$@"\n').chmod(0o755)
    write(tmp_path / "evaluate.sh", "#!/bin/sh\ngrep SoftmaxV2 $1\n").chmod(0o755)
    cann = {"ASCEND_OPP_PATH": str(tmp_path / "opp"), "EDITOR": "cat"}
    env = {**environment, **cann, "PATH": f"{tmp_path / 'bin'}:{environment['PATH']}"}
    texts = [text for text in examples(COMMANDS[tuple(name.split())]) if text.strip()]
    assert not [text for text in texts if "fixtures" in text]
    for text in texts:
        if "HEAD~" in text or "origin/" in text:
            continue  # for a checkout
        if re.search(r"[|<>*$]|^ *[A-Z]", re.sub("'[^']*'", "", text)):  # for a shell
            ran = subprocess.run(["bash", "-c", text], cwd=tmp_path, env=env, capture_output=True, check=False)
            code, err = ran.returncode, ran.stderr.decode()
        else:
            done = opsinfo(*shlex.split(text, comments=True)[1:], cwd=tmp_path, env=cann)
            code, err = done.code, done.err
        assert code in ((0, 1, 2) if name == "qualify" else (0, 1)), f"{text}\n{err}"  # 2: incomplete


@given(
    st.lists(st.sampled_from(["--match", "'a b *'", "x" * 24, "fixtures/opp@ascend910b", "-n"])), st.integers(40, 90)
)
def test_a_long_example_is_broken_so_that_a_shell_joins_it(words: list[str], width: int) -> None:
    text = " ".join(["opsinfo", *words])
    lines = example_lines(f"  {text}", width)
    assert max(map(len, lines)) <= width
    assert shlex.split("\n".join(lines).replace("\\\n", "")) == shlex.split(text)


def test_the_groups_help_names_every_command_and_teaches_five_things(opsinfo: Run) -> None:
    ran = opsinfo("--help")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Options:", *(f"{group}:" for group in GROUPS)]
    for commands in GROUPS.values():
        assert all(f"\n  {command} " in ran.out for command in commands)
    taught = [line.split()[0] for line in lines if re.match("    [a-z]+ +opsinfo ", line)]
    assert taught == ["see", "check", "edit", "find", "undo"]
    assert opsinfo("-h").out == ran.out


def test_short_helps_are_the_first_sentences_of_the_commands() -> None:
    for words, command in COMMANDS.items():
        assert re.match(r"[A-Z][^\n]*\.$", (command.help or "").split("\n\n")[0].replace("\n", " ")), words


def test_version_belongs_to_the_program(opsinfo: Run) -> None:
    ran = opsinfo("--version")
    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(r"opsinfo \d+\.\d+\.\d+\S*\n", ran.out)
    assert opsinfo("-V").out == ran.out
    assert opsinfo("list", "--version").code == 2


def test_the_console_entry_is_the_same_program(opsinfo: Run, environment: dict[str, str]) -> None:
    script = shutil.which("opsinfo", path=str(Path(sys.executable).parent))
    entry = [script] if script else [sys.executable, "-c", "from opsinfo_cli.app import main; main()"]
    for words in (["--help"], ["list", "--help"], ["--version"], ["lst"]):
        done = subprocess.run([*entry, *words], capture_output=True, text=True, env=environment, check=False)
        ran = opsinfo(*words)
        assert (done.returncode, done.stdout, done.stderr) == (ran.code, ran.out, ran.err)


# wrong usage


def test_without_a_command_help_is_shown_as_wrong_usage(opsinfo: Run) -> None:
    ran = opsinfo()
    assert (ran.code, ran.out, "Usage" in ran.err) == (2, "", True)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("lst", "`list`"),
        ("vaildate", "`validate`"),
        ("LIST", "`list`"),
        ("list x --on blak", "`black`"),
        ("list x --on trustlist", "`white`"),
        ("list x --fromat json", "--format"),
        ("-q list x", "after the command"),
        ("systems shw apex", "`show`"),
        ("graph x --allow-hf32 True", "`true`"),
        ("move a.json Add", "--to white, black or gray"),
    ],
)
def test_wrong_usage_names_the_right_one(opsinfo: Run, words: str, hint: str) -> None:
    ran = opsinfo(*words.split())
    assert (ran.code, ran.out) == (2, "")
    assert hint in ran.err
    error = opsinfo(*words.split(), "--format", "json").json["error"]
    assert hint in f"{error['message']} {error['hint']}"


def test_a_far_word_gives_no_near_one(opsinfo: Run) -> None:
    assert "did you mean" not in opsinfo("xyzzyplugh").err


@pytest.mark.parametrize(
    "words",
    ["list", "list --nonsense x", "show x", "validate", "restore", "backups --prune zero", "list ascend910b", "list -"],
)
@pytest.mark.parametrize("option", ["--format=json", "--format json"])
def test_wrong_usage_as_json_is_one_document(opsinfo: Run, words: str, option: str) -> None:
    ran = opsinfo(*words.split(), *option.split())
    document = json.loads(ran.out)
    assert (ran.code, document["schema_version"], document["command"]) == (2, 1, words.split(maxsplit=1)[0])
    assert document["error"]["message"]


def test_an_operand_that_looks_like_an_option_is_none(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("show", fixtures / "opp-old", "--", "--format", "json")
    assert (ran.code, ran.out) == (2, "")


def empty_values() -> list[tuple[str, str]]:
    return [(" ".join(words), str(param.name)) for words, command in COMMANDS.items() for param in valued(command)]


@pytest.mark.parametrize(("name", "parameter"), empty_values())
def test_an_empty_value_is_wrong_usage_and_nothing_is_done(
    opsinfo: Run, tmp_path: Path, name: str, parameter: str
) -> None:
    ran = opsinfo(*line(tuple(name.split()), {parameter: ""}))
    assert (ran.code, ran.json["error"]["name"]) == (2, "empty-value"), ran
    assert list(tmp_path.iterdir()) == []


def test_the_words_of_a_check_may_be_empty(opsinfo: Run, opp: Path) -> None:
    words = ["bisect", "--against", opp, "--soc", "ascend910b", "--among", "Add"]
    assert opsinfo(*words, "--", "sh", "-c", 'test "$1" = ""', "sh", "", "{mixlist}").code == 0


# outputs


def writes(param: click.Parameter) -> tuple[str, ...] | None:
    replaced: tuple[str, ...] | None = getattr(param.type, "writes", None)
    return replaced


def pairs() -> Iterator[tuple[str, str, str]]:
    """Each output with each input that it must not replace."""
    for words, command in COMMANDS.items():
        outputs = [(param, replaced) for param in command.params if (replaced := writes(param)) is not None]
        inputs = [param for param in command.params if getattr(param.type, "reads", False)]
        for output, replaced in outputs:
            for param in inputs:
                if param.name not in replaced:
                    yield " ".join(words), str(output.name), str(param.name)


def test_every_option_that_names_a_file_to_write_has_the_type_of_one() -> None:
    for words, command in COMMANDS.items():
        for param in command.params:
            told = re.match("(Also w|W)rite", getattr(param, "help", None) or "")
            is_flag = getattr(param, "is_flag", False)
            if ("-o" in param.opts or told) and not is_flag and param.opts != ["--report"]:
                assert writes(param) is not None, (words, param.opts)


def linked(path: Path) -> str:
    (path.parent / "link").symlink_to(path.name)
    return "link"


def hard_linked(path: Path) -> str:
    (path.parent / "hard").hardlink_to(path)
    return "hard"


SPELLINGS: list[Callable[[Path], str]] = [
    str,
    lambda path: os.path.join("..", path.parent.name, path.name),
    linked,
    hard_linked,
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=["absolute", "relative", "symbolic link", "hard link"])
@pytest.mark.parametrize(("name", "output", "read"), list(pairs()))
def test_an_output_that_is_an_input_is_wrong_usage_and_nothing_is_written(
    opsinfo: Run, tmp_path: Path, name: str, output: str, read: str, spelling: Callable[[Path], str]
) -> None:
    path = tmp_path / "input.bin"
    path.write_bytes(b"not to be lost\n")
    words = line(tuple(name.split()), {read: path.name, output: spelling(path)})
    before = snapshot(tmp_path)
    ran = opsinfo(*words)
    assert (ran.code, ran.json["error"]["name"]) == (2, "is-input"), ran
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    "words",
    [
        ["bisect", "--against", "t", "--among", "@input", "-o", "input", "--format", "json", "--", "true"],
        ["bisect", "--against", "t", "--among", "Add", "-o", "input", "--format", "json", "--", "sh", "./input"],
    ],
    ids=["after @", "in the check"],
)
def test_a_file_inside_a_value_is_an_input_too(opsinfo: Run, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "input").write_text("not to be lost\n", "utf-8")
    ran = opsinfo(*words)
    assert (ran.code, ran.json["error"]["name"]) == (2, "is-input")
    assert (tmp_path / "input").read_text("utf-8") == "not to be lost\n"


def test_two_outputs_of_one_line_are_two_files(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("simulate", "m.onnx", "--plot", "x", "-o", "./x", "--format", "json")
    assert (ran.code, ran.json["error"]["name"]) == (2, "same-output")
    assert list(tmp_path.iterdir()) == []


def test_a_report_does_not_replace_a_binary_file(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    weights = tmp_path / "model.data"
    weights.write_bytes(b"\x00\x00\x80\x3f" * 100)
    ran = opsinfo("list", opp, "--soc", "ascend910b", "-o", weights)
    assert (ran.code, "binary" in ran.err) == (2, True)
    assert weights.read_bytes() == b"\x00\x00\x80\x3f" * 100
