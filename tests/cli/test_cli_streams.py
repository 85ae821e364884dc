"""Standard output and error: pipes, full disks, terminals, colours, encodings."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import AI_910B, NN, Run, entry, flag_of, write

Start = Callable[..., "subprocess.Popen[bytes]"]
ESCAPE = "\x1b["


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [(), ("--format", "json")])
def test_a_pipe_that_closes_early_is_not_a_failure(
    start: Start, opp: Path, environment: dict[str, str], words: tuple[str, ...], unbuffered: str
) -> None:
    env = {**environment, "PYTHONUNBUFFERED": unbuffered}
    process = start("list", opp, "--soc", "ascend910b", *words, env=env)
    assert process.stdout
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert err == b""


def test_a_pipe_to_head_of_one_line_is_not_a_failure(
    program: list[str], environment: dict[str, str], opp: Path
) -> None:
    command = " ".join([*program, "list", str(opp), "--soc", "ascend910b", "2>&1", "|", "head", "-1"])
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 1
    assert done.stdout.startswith("AcmeFlashGelu\t")


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("list", "--help"), ("explain",), ("schema", "mixlist")], ids=" ".join
)
def test_help_into_a_pipe_that_is_closed(start: Start, words: tuple[str, ...]) -> None:
    process = start(*words)
    assert process.stdout
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=30)
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err
    assert process.returncode in (0, 3)


def test_a_move_is_made_even_if_its_output_is_not_read(start: Start, opp: Path) -> None:
    process = start("move", opp / NN, "SwiGlu", "--to", "black", "--format", "json")
    for stream in (process.stdout, process.stderr):
        assert stream
        stream.close()
    process.stdout = process.stderr = None
    assert process.wait(timeout=30) == 0
    assert flag_of(opp / NN, "SwiGlu") == "false"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        ("list", "OPP", "--soc", "ascend910b"),
        ("list", "OPP", "--soc", "ascend910b", "--format", "json"),
        ("show", "NN", "SwiGlu"),
        ("validate", "OPP"),
        ("diff", "OPP"),
        ("explain",),
        ("schema", "mixlist"),
        ("move", "NN", "SwiGlu", "--to", "gray", "--dry-run"),
        ("move", "NN", "NoSuchOperator", "--to", "gray", "--format", "json"),
        ("--help",),
        ("--version",),
        ("list", "--help"),
    ],
    ids=lambda words: " ".join(words[:1] + words[-1:]),
)
def test_a_full_disk_is_exit_3(start: Start, opp: Path, words: tuple[str, ...]) -> None:
    places = {"OPP": opp, "NN": opp / NN}
    with open("/dev/full", "wb") as full:
        process = start(*(places.get(word, word) for word in words), stdout=full)
        _, err = process.communicate(timeout=30)
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err
    assert b"No space left on device" in err
    assert process.returncode == 3


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_for_standard_error_changes_nothing(start: Start, opp: Path) -> None:
    with open("/dev/full", "wb") as full:
        process = start("move", opp / NN, "SwiGlu", "--to", "black", stderr=full)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out.startswith(b"SwiGlu\t")


@pytest.mark.parametrize("closed", ["0", "1", "2"])
def test_a_stream_that_is_closed_from_the_start_causes_no_traceback(
    program: list[str], environment: dict[str, str], opp: Path, tmp_path: Path, closed: str
) -> None:
    command = " ".join([*program, "list", str(opp / NN), f"{closed}>&-"])
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, check=False, cwd=tmp_path)
    assert b"Traceback" not in done.stderr
    assert done.returncode in ((0, 3) if closed == "1" else (0,))
    if closed != "1":
        assert done.stdout.startswith(b"AddRmsNorm\t")


# colours


@pytest.mark.parametrize("env", [{}, {"TERM": "xterm-256color"}, {"FORCE_COLOR": "1", "NO_COLOR": "1"}])
def test_off_a_terminal_there_is_no_colour(opsinfo: Run, fixtures: Path, env: dict[str, str]) -> None:
    for words in (
        ("list", fixtures / "opp", "--soc", "ascend910b"),
        ("show", fixtures / "opp" / NN, "SwiGlu"),
        ("validate", fixtures / "mixlists/bad/comment-hash.json"),
        ("list", "nowhere.json"),
        ("--help",),
    ):
        ran = opsinfo(*words, env=env)
        assert ESCAPE not in ran.out + ran.err


def test_color_always_and_never_override_the_terminal(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/bad/comment-hash.json"
    assert ESCAPE in opsinfo("validate", path, "--color", "always").out
    assert ESCAPE in opsinfo("validate", path, "--color", "always", env={"NO_COLOR": "1", "TERM": "dumb"}).out
    assert ESCAPE not in opsinfo("validate", path, "--color", "never", env={"FORCE_COLOR": "1"}).out
    assert ESCAPE in opsinfo("validate", path, env={"FORCE_COLOR": "1", "NO_COLOR": ""}).out, (
        "an empty one counts as none"
    )
    assert ESCAPE in opsinfo("list", "nowhere.json", "--color", "always").err
    assert ESCAPE in opsinfo("list", "nowhere.json", "--color=always").err
    assert opsinfo("validate", path, "--color", "sometimes").code == 2


def test_rows_for_programs_are_never_coloured(opsinfo: Run, fixtures: Path, opp: Path) -> None:
    always = ("--color", "always")
    plain = opsinfo("list", fixtures / "opp", "--soc", "ascend910b")
    assert opsinfo("list", fixtures / "opp", "--soc", "ascend910b", *always).out == plain.out
    assert ESCAPE not in opsinfo("move", opp / NN, "SwiGlu", "--to", "black", *always).out
    assert ESCAPE not in opsinfo("list", fixtures / "opp-old", "--format", "json", *always).out


Terminal = Callable[..., "tuple[int, str]"]


def test_on_a_terminal_a_table_with_colours_and_a_summary(terminal: Terminal, fixtures: Path) -> None:
    code, output = terminal("list", fixtures / "opp", "--soc", "ascend910b")
    assert code == 0
    assert ESCAPE in output
    assert "\t" not in output
    assert "operator" in output
    assert "policy" in output
    last = output.strip().splitlines()[-1]
    for word in ("40", "15 white", "10 black", "15 gray"):
        assert word in last


def test_on_a_terminal_with_a_mixlist_the_marks_are_shown(terminal: Terminal, fixtures: Path) -> None:
    _, output = terminal(
        "list", fixtures / "opp" / AI_910B, "--mixlist", fixtures / "mixlists/good/several-operators.json"
    )
    assert "white-list.to-remove" in output


REFUSALS: list[tuple[str, tuple[str, ...], dict[str, str]]] = [
    ("list", ("--color", "never"), {}),
    ("list", (), {"NO_COLOR": "1"}),
    ("list", (), {"TERM": "dumb"}),
    ("list", ("--color", "never"), {"FORCE_COLOR": "1"}),
    *((command, (), {"NO_COLOR": "1"}) for command in ("show", "validate", "diff", "backups")),
]


@pytest.mark.parametrize(("command", "words", "env"), REFUSALS)
def test_on_a_terminal_colours_can_be_refused(
    terminal: Terminal, fixtures: Path, command: str, words: tuple[str, ...], env: dict[str, str]
) -> None:
    operands = {
        "list": (fixtures / "opp" / NN,),
        "show": (fixtures / "opp" / NN, "SwiGlu"),
        "validate": (fixtures / "mixlists/bad/comment-hash.json",),
        "diff": (fixtures / "opp" / NN, fixtures / "opp-old"),
        "backups": (),
    }[command]
    _, output = terminal(command, *operands, *words, env=env)
    assert not re.search("\x1b\\[[0-9;]*m", output)  # a line of progress is not a colour


def test_colours_in_spite_of_no_color(terminal: Terminal, fixtures: Path) -> None:
    _, output = terminal("list", fixtures / "opp" / NN, "--color", "always", env={"NO_COLOR": "1"})
    assert ESCAPE in output


def test_a_dumb_terminal_gets_rows(terminal: Terminal, fixtures: Path) -> None:
    _, output = terminal("list", fixtures / "opp-old", env={"TERM": "dumb"})
    assert output.splitlines()[0].startswith("Conv2D")
    assert "─" not in output


def test_a_narrow_terminal_loses_no_name(terminal: Terminal, tmp_path: Path) -> None:
    name = "A" * 30 + "B" * 30
    path = write(tmp_path / "aic-x-ops-info.json", {name: entry("true"), "算子张量": entry()})
    _, output = terminal("list", path, "--color", "never", width=40)
    letters = output.replace("\n", "").replace(" ", "")
    assert letters.count("A") >= 30
    assert letters.count("B") >= 30
    assert "算子张量" in letters


def test_on_a_terminal_json_is_still_one_document(terminal: Terminal, fixtures: Path) -> None:
    _, output = terminal("list", fixtures / "opp-old", "--format", "json")
    assert json.loads(output)["total"] == 3


def test_on_a_terminal_a_difference_begins_with_a_summary(terminal: Terminal, fixtures: Path) -> None:
    code, output = terminal("diff", f"{fixtures}/opp@ascend910", f"{fixtures}/opp@ascend910b", env={"PAGER": "cat"})
    assert code == 1
    assert ESCAPE in output
    for word in ("5 changed", "4 only in A", "21 only in B"):
        assert word in " ".join(output.split())


def test_on_a_terminal_a_move_is_shown_for_people(terminal: Terminal, opp: Path) -> None:
    code, output = terminal("move", opp / NN, "SwiGlu", "--to", "black")
    assert code == 0
    assert "opsinfo restore" in output
    assert re.search("from +to +file", re.sub("\x1b\\[[0-9;]*m", "", output))


def test_no_command_prompts_on_a_terminal(terminal: Terminal, opp: Path) -> None:
    assert terminal("move", opp / NN, "SwiGlu", "--to", "black", "--force")[0] == 0
    assert terminal("restore", opp / NN)[0] == 0
    assert terminal("backups", "--prune", "1")[0] == 0


def test_quiet_hides_messages_but_not_data(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("move", opp / NN, "SwiGlu", "--to", "black", "-q")
    assert ran.err == ""
    assert ran.out.startswith("SwiGlu\t")
    assert opsinfo("list", "nowhere.json", "-q").err != ""


def test_verbose_prints_to_stderr_only(opsinfo: Run, fixtures: Path) -> None:
    plain = opsinfo("list", fixtures / "opp", "--soc", "ascend910b")
    verbose = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "-vv")
    assert verbose.out == plain.out
    assert verbose.code == 0


@pytest.fixture
def without_input(program: list[str], environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run with standard input closed, as a daemon may."""

    def run(*words: str | os.PathLike[str]) -> subprocess.CompletedProcess[str]:
        line = ["sh", "-c", '"$@" <&-', "sh", *program, *words]
        return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("words", ["list - --as library", "show - Add", "validate -", "fmt -", "qualify -"])
def test_a_standard_input_that_is_closed_is_refused(
    without_input: Callable[..., subprocess.CompletedProcess[str]], words: str
) -> None:
    done = without_input(*words.split())
    assert (done.returncode, done.stdout) == (3, "")
    assert "standard input is closed" in done.stderr


def test_with_log_files_standard_input_is_not_needed(
    without_input: Callable[..., subprocess.CompletedProcess[str]], fixtures: Path
) -> None:
    done = without_input("qualify", fixtures / "logs" / "apex-two-ranks.log")
    assert done.returncode in (0, 1)
    assert done.stdout
