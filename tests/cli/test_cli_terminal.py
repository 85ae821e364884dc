"""Output on a terminal: groups, paging, and places that fit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import AI_910B, library, mixlist, write

Terminal = Callable[..., "tuple[int, str]"]
PLAIN = {"NO_COLOR": "1"}


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    a = {"Zed": "true", "Mid": None, "Mud": None, "Low": "false", "Same": None, "Gone": None}
    b = {"Zed": "false", "Mid": "true", "Mud": "true", "Low": None, "Same": None, **{f"New{n}": None for n in range(9)}}
    return write(tmp_path / "aic-a-ops-info.json", library(a)), write(tmp_path / "aic-b-ops-info.json", library(b))


def test_differences_are_grouped_worst_first(terminal: Terminal, two: tuple[Path, Path]) -> None:
    code, output = terminal("diff", *two, env=PLAIN, width=24)
    assert code == 1
    assert "4 changed" in output
    blocks = output.split("\n\n")
    assert [[line.rstrip() for line in block.splitlines()] for block in blocks[1:-1]] == [
        ["~ white -> black  1", "  Zed"],
        ["~ gray -> white  2", "  Mid  Mud"],
        ["~ black -> gray  1", "  Low"],
        ["- only in A  1", "  Gone"],
    ]
    assert blocks[-1].startswith("+ only in B  9")
    assert all(f"New{number}" in blocks[-1] for number in range(9))


@pytest.fixture
def pagers(tmp_path: Path) -> Path:
    """A folder with pagers that need no arguments: old click loses them."""
    for name, line in (("marks", "sed s/^/paged:/"), ("leaves", "head -1")):
        write(tmp_path / "pagers" / name, f"#!/bin/sh\nexec {line}\n").chmod(0o755)
    return tmp_path / "pagers"


@pytest.mark.parametrize(
    ("words", "env", "height", "paged"),
    [
        ((), {}, 12, True),
        ((), {}, 60, False),
        (("-q",), {}, 12, False),
        ((), {"TERM": "dumb"}, 12, False),
        ((), {"TERM": ""}, 12, False),
        (("--format", "json"), {}, 12, False),
        ((), {"PAGER": "no-such-pager"}, 12, False),
    ],
)
def test_long_output_is_paged_unless_the_pager_is_disabled(
    terminal: Terminal,
    two: tuple[Path, Path],
    pagers: Path,
    words: tuple[str, ...],
    env: dict[str, str],
    height: int,
    paged: bool,
) -> None:
    chosen = {"PAGER": str(pagers / "marks"), **env}
    code, output = terminal("diff", *two, *words, env=chosen, height=height)
    assert code == 1
    assert ("paged:" in output) == paged
    assert "Zed" in output


def test_a_pager_gets_colours_if_the_terminal_does(terminal: Terminal, two: tuple[Path, Path]) -> None:
    assert "\x1b[" in terminal("diff", *two, env={"PAGER": "cat"}, height=12)[1]
    assert "\x1b[" not in terminal("diff", *two, env={"PAGER": "cat", **PLAIN}, height=12)[1]


def test_quitting_a_pager_early_does_not_change_the_status(
    terminal: Terminal, two: tuple[Path, Path], pagers: Path
) -> None:
    code, output = terminal("diff", *two, env={"PAGER": str(pagers / "leaves")}, height=12)
    assert code == 1
    assert "Traceback" not in output


def test_concise_findings_stay_one_line_each_on_a_terminal(terminal: Terminal, fixtures: Path) -> None:
    path = fixtures / "mixlists/bad/comment-hash.json"
    code, output = terminal("validate", path, "--format", "concise", "-q", env=PLAIN, width=40)
    lines = output.splitlines()
    assert (code, len(lines)) == (1, 2)
    assert all(line.startswith(f"{path}:") and line.endswith(")") for line in lines)


# places


@pytest.mark.parametrize("width", [80, 40])
def test_show_fits_the_terminal_and_names_places_from_the_target(terminal: Terminal, opp: Path, width: int) -> None:
    _, output = terminal("show", opp, "IndexFill", "--soc", "ascend910b", env=PLAIN, width=width)
    assert str(opp) not in output
    assert ".json:189" in output
    assert width == 40 or "aic-ascend910b-ops-info-nn.json:189" in output
    assert [line for line in output.splitlines() if len(line) > width] == []


def test_show_has_the_whole_place_if_there_is_room(terminal: Terminal, opp: Path) -> None:
    _, output = terminal("show", opp, "IndexFill", "--soc", "ascend910b", env=PLAIN, width=200)
    assert f"entry: {AI_910B}/aic-ascend910b-ops-info-nn.json:189  (built-in)" in output


def test_move_names_the_file_from_the_target(terminal: Terminal, opp: Path) -> None:
    code, output = terminal("move", opp, "SwiGlu", "Add", "--soc", "ascend910b", "--to", "black", env=PLAIN, width=140)
    assert code == 0
    rows = [line.split() for line in output.splitlines()]
    assert ["operator", "from", "to", "file"] in rows
    assert ["SwiGlu", "white", "black", f"{AI_910B}/aic-ascend910b-ops-info-nn.json"] in rows
    assert ["Add", "gray", "black", f"{AI_910B}/aic-ascend910b-ops-info-legacy.json"] in rows


def test_a_list_on_a_narrow_terminal_has_one_line_a_row(terminal: Terminal, opp: Path) -> None:
    _, output = terminal("list", opp, "--soc", "ascend910b", env={**PLAIN, "PAGER": "cat"}, width=60)
    assert re.search(r"^QuantMatmulReduceSum +(white|black|gray) +aic-.*[.]json:[0-9]+ *$", output, re.MULTILINE)
    rows = output.partition(" operators of")[0].splitlines()[:-1]
    assert max(map(len, rows)) <= 60
    assert "file:line" in terminal("list", opp, "--soc", "ascend910b", env=PLAIN, width=80)[1]


def test_given_installs_are_not_reported_as_found(terminal: Terminal, opp: Path) -> None:
    _, output = terminal("socs", opp, env=PLAIN, width=40)
    assert "found" not in output
    assert max(map(len, output.splitlines()[1:])) <= 40
    _, output = terminal("socs", env={**PLAIN, "ASCEND_OPP_PATH": str(opp)})
    assert "found by ASCEND_OPP_PATH" in " ".join(output.split())


def test_many_targets_have_letters_under_numbers(terminal: Terminal, opp: Path) -> None:
    _, output = terminal("diff", opp, "--match", "MatMul*", env=PLAIN, width=80)
    assert "MatMulV3  -          gray" in output
    _, output = terminal("diff", *[opp] * 4, "--match", "MatMul*", env=PLAIN, width=80)
    assert output.startswith("  1  ")
    assert "MatMulV3  -  g  -  g  -  g  -  g" in output


# any terminal

COMMANDS = [
    ("list", "OPP", "--soc", "ascend910b", "--mixlist", "MIXLIST"),
    ("list", "MIXLIST"),
    ("show", "OPP", "SwiGlu", "算子", "--soc", "ascend910b"),
    ("move", "OPP", "SwiGlu", "算子", "--soc", "ascend910b", "--to", "gray", "-n"),
    ("apply", "OPP", "MIXLIST", "--soc", "ascend910b", "-n"),
    ("validate", "MIXLIST", "--against", "OPP", "--soc", "ascend910b"),
    ("diff", "OPP"),
    ("diff", "OPP@ascend910", "OPP@ascend910b", "--sections"),
    ("diff", "OPP@ascend910", "OPP@ascend910b", "--format", "html"),
    ("fmt", "MIXLIST", "--check"),
    ("backups",),
    ("socs", "OPP"),
    ("doctor", "OPP", "--soc", "ascend910b"),
    ("explain", "contradiction"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: f"{words[0]} {words[-1]}")
@pytest.mark.parametrize(
    ("env", "encoding"),
    [
        ({"PYTHONIOENCODING": "gbk", "PYTHONUTF8": "0", "TERM": "xterm"}, "gbk"),
        ({"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "NO_COLOR": "1"}, "ascii"),
        ({"TERM": "dumb"}, "utf-8"),
    ],
    ids=["gbk", "ascii", "dumb"],
)
def test_every_command_works_on_a_dumb_terminal_of_40_columns(
    terminal: Terminal, opp: Path, tmp_path: Path, words: tuple[str, ...], env: dict[str, str], encoding: str
) -> None:
    name = "aic-ascend910b-ops-info-算子.json"
    write(opp / AI_910B / name, library({"算子": "true", "𝔘nicode": None}))
    marks = write(tmp_path / "混合.json", mixlist(black_add=["算子", "SwiGlu"]))
    places = {"OPP": opp, "MIXLIST": marks}
    code, output = terminal(
        *(str(places.get(word, word)).replace("OPP@", f"{opp}@") for word in words),
        env={"PAGER": "cat", **env},
        width=40,
        encoding=encoding,
    )
    assert code in (0, 1)
    assert "Traceback" not in output
    assert "internal error" not in output
    assert encoding == "gbk" or not re.search("\x1b\\[[0-9;]*m", output)  # a line of progress is not a colour


def test_tables_fit_a_tmux_terminal(program: list[str], environment: dict[str, str], opp: Path) -> None:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed")
    tmux = ["tmux", "-L", f"opsinfo-{os.getpid()}", "-f", "/dev/null"]
    command = " ".join([*program, "diff", f"{opp}@ascend910", f"{opp}@ascend910b"])
    inside = f"{command}; echo done $?; {' '.join(tmux)} wait-for -S done; sleep 60"
    env = {**environment, "PAGER": "cat", "LC_ALL": "C.UTF-8"}
    try:
        subprocess.run([*tmux, "new-session", "-d", "-x", "60", "-y", "40", inside], env=env, check=True)
        subprocess.run([*tmux, "wait-for", "done"], env=env, check=True, timeout=60)
        pane = subprocess.run([*tmux, "capture-pane", "-p"], env=env, check=True, capture_output=True)
    finally:
        subprocess.run([*tmux, "kill-server"], env=env, check=False)
    lines = pane.stdout.decode("utf-8").splitlines()
    assert "~ gray -> white  2" in lines
    assert "  AddN  MaxPool" in map(str.rstrip, lines)
    assert "done 1" in lines
