"""Standard output and error: pipes, full disks, terminals, colours, encodings."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import AI_910B, NN, Run, entry, flag_of, mixlist, write
from rich.cells import cell_len

Start = Callable[..., "subprocess.Popen[bytes]"]
ESCAPE = "\x1b["


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [(), ("--format", "json")])
def test_a_reader_that_leaves_early_is_no_failure(
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


def test_head_takes_one_line(program: list[str], environment: dict[str, str], opp: Path) -> None:
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


def test_a_move_is_done_whoever_listens(start: Start, opp: Path) -> None:
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
        ("diff", "OPP", "OPP", "--soc-a", "ascend910", "--soc-b", "ascend910b"),
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
def test_a_stream_that_was_never_open(
    program: list[str], environment: dict[str, str], opp: Path, tmp_path: Path, closed: str
) -> None:
    command = " ".join([*program, "list", str(opp / NN), f"{closed}>&-"])
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, check=False, cwd=tmp_path)
    assert b"Traceback" not in done.stderr
    assert done.returncode in ((0, 3) if closed == "1" else (0,))
    if closed != "1":
        assert done.stdout.startswith(b"AddRmsNorm\t")


# colours


@pytest.mark.parametrize("env", [{}, {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color"}])
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


def test_colours_can_be_had_everywhere_and_nowhere(opsinfo: Run, fixtures: Path) -> None:
    path = fixtures / "mixlists/bad/comment-hash.json"
    assert ESCAPE in opsinfo("validate", path, "--color", "always").out
    assert ESCAPE in opsinfo("validate", path, "--color", "always", env={"NO_COLOR": "1", "TERM": "dumb"}).out
    assert ESCAPE not in opsinfo("validate", path, "--color", "never", env={"FORCE_COLOR": "1"}).out
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
    code, said = terminal("list", fixtures / "opp", "--soc", "ascend910b")
    assert code == 0
    assert ESCAPE in said
    assert "\t" not in said
    assert "operator" in said
    assert "policy" in said
    last = said.strip().splitlines()[-1]
    for word in ("40", "15 white", "10 black", "15 gray"):
        assert word in last


def test_on_a_terminal_with_a_mixlist_the_marks_are_shown(terminal: Terminal, fixtures: Path) -> None:
    _, said = terminal(
        "list", fixtures / "opp" / AI_910B, "--mixlist", fixtures / "mixlists/good/several-operators.json"
    )
    assert "white-list.to-remove" in said


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
    _, said = terminal(command, *operands, *words, env=env)
    assert ESCAPE not in said


def test_colours_in_spite_of_no_color(terminal: Terminal, fixtures: Path) -> None:
    _, said = terminal("list", fixtures / "opp" / NN, "--color", "always", env={"NO_COLOR": "1"})
    assert ESCAPE in said


def test_a_dumb_terminal_gets_rows(terminal: Terminal, fixtures: Path) -> None:
    _, said = terminal("list", fixtures / "opp-old", env={"TERM": "dumb"})
    assert said.splitlines()[0].startswith("Conv2D")
    assert "─" not in said


def test_a_narrow_terminal_loses_no_name(terminal: Terminal, tmp_path: Path) -> None:
    name = "A" * 30 + "B" * 30
    path = write(tmp_path / "aic-x-ops-info.json", {name: entry("true"), "算子张量": entry()})
    _, said = terminal("list", path, "--color", "never", width=40)
    letters = said.replace("\n", "").replace(" ", "")
    assert letters.count("A") >= 30
    assert letters.count("B") >= 30
    assert "算子张量" in letters


def test_on_a_terminal_json_is_still_one_document(terminal: Terminal, fixtures: Path) -> None:
    _, said = terminal("list", fixtures / "opp-old", "--format", "json")
    assert json.loads(said)["total"] == 3


def test_on_a_terminal_a_difference_begins_with_a_summary(terminal: Terminal, fixtures: Path) -> None:
    code, said = terminal("diff", fixtures / "opp", fixtures / "opp", "--soc-a", "ascend910", "--soc-b", "ascend910b")
    assert code == 1
    assert ESCAPE in said
    head = "\n".join(said.splitlines()[:4])
    for word in ("5 changed", "4 only in A", "21 only in B"):
        assert word in head


def test_on_a_terminal_a_move_is_told_to_people(terminal: Terminal, opp: Path) -> None:
    code, said = terminal("move", opp / NN, "SwiGlu", "--to", "black")
    assert code == 0
    assert "opsinfo restore" in said
    assert "->" in said


def test_no_command_asks_anything_of_a_terminal(terminal: Terminal, opp: Path) -> None:
    assert terminal("move", opp / NN, "SwiGlu", "--to", "black", "--force")[0] == 0
    assert terminal("restore", opp / NN)[0] == 0
    assert terminal("backups", "--prune", "1")[0] == 0


# encodings

ENCODINGS: list[dict[str, str | None]] = [
    {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "gbk", "PYTHONUTF8": None},
    {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": None},
]


@pytest.mark.parametrize("env", ENCODINGS, ids=lambda env: ",".join(f"{k}={v}" for k, v in env.items() if v))
def test_no_encoding_of_the_terminal_crashes(
    program: list[str], environment: dict[str, str], tmp_path: Path, env: dict[str, str | None]
) -> None:
    folder = tmp_path / "网络 é 𝔘"
    lib = write(folder / "aic-算子-ops-info.json", {"算子": entry("true"), "Ünïcode": entry(), "𝔘": entry("false")})
    mixed = write(folder / "混合-mixlist.json", mixlist(black_add=["算子", "不存在"]))
    chosen = {name: value for name, value in {**environment, **env}.items() if value is not None}
    deaf = env.get("PYTHONCOERCECLOCALE") == "0"  # then Python does not know what arguments beyond ASCII mean
    for words, codes in (
        (("list", lib), (0,)),
        (("list", lib, "--mixlist", mixed), (0,)),
        (("list", lib, "--format", "json"), (0,)),
        (("show", lib, "算了"), (2,)),
        (("validate", mixed, "--against", lib), (0, 1)),
        (("move", lib, "算子", "--to", "black", "--dry-run"), (0,)),
        (("move", lib, "算子", "--to", "black"), (0,)),
        (("move", mixed, "张量", "--to", "black"), (0,)),
        (("backups",), (0,)),
        (("restore", lib), (0,)),
        (("列表",), (2,)),
    ):
        done = subprocess.run(
            [*program, *words], env=chosen, capture_output=True, stdin=subprocess.DEVNULL, check=False
        )
        assert done.returncode in ((0, 2, 3) if deaf else codes), (words, done.stderr)
        assert b"has a fault" not in done.stderr
        assert b"Error:" not in done.stderr
        assert b"Traceback" not in done.stderr
        if "json" in words:
            assert {each["name"] for each in json.loads(done.stdout)["operators"]} == {"算子", "Ünïcode", "𝔘"}
    assert flag_of(lib, "算子") == "true"
    added = json.loads(mixed.read_text("utf-8"))["black-list"]["to-add"]
    assert added[:2] == ["算子", "不存在"]
    assert added[2:] == ["张量"] or (deaf and added[2:] == [])


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "ascii"])
def test_chinese_and_what_the_terminal_lacks_line_up(terminal: Terminal, tmp_path: Path, encoding: str) -> None:
    flags = {"Add": "true", "矩阵乘算子": "true", "𝔘": "true", "Ünïcode": "true"}
    lib = write(tmp_path / "自定义" / "aic-x-ops-info.json", {name: entry(flag) for name, flag in flags.items()})
    tensors = {"input0": {**entry()["input0"], "name": "输入"}, "input1": {**entry()["input0"], "name": "x"}}
    one = write(tmp_path / "aic-y-ops-info.json", {"Add": {**entry(), **tensors}})
    for words, mark, count in (
        (("list", lib), "white", 4),
        (("move", lib, *flags, "--to", "black"), "->", 4),
        (("show", one, "Add"), "required", 3),
    ):
        env = {"PYTHONIOENCODING": encoding}
        code, said = terminal(*words, "--color", "never", "-q", env=env, encoding=encoding)
        assert code == 0
        before = [line.partition(mark)[0] for line in said.splitlines() if mark in line][:count]
        assert len({cell_len(each) for each in before[: 2 if words[0] == "show" else 4]}) == 1, said


def test_files_are_read_as_utf_8_whatever_the_locale(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["算子"]))
    ran = opsinfo("list", path, env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    assert ran.code == 0
    assert ran.out.startswith("\\u7b97\\u5b50\tblack")


# escapes

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "del\x7f\x08\x08",
    "\u202ereversed",
    "\u2066isolated",
    "zero\u200bwidth",
    "two\nlines",
    "a\ttab",
    "carriage\rreturn",
    "\ufeffbom",
    "\u2028separator",
    "[bold]markup[/bold]",
]
RAW = [chr(code) for code in [*range(0x09), *range(0x0B, 0x20), 0x7F, *range(0x80, 0xA0), 0x202E, 0x2066, 0x2028]]


def test_no_name_in_a_file_reaches_the_terminal_raw(opsinfo: Run, tmp_path: Path) -> None:
    lib = write(tmp_path / "aic-x-ops-info.json", {name: entry("true") for name in [*HOSTILE, "Add"]})
    mixed = write(tmp_path / "m.json", mixlist(black_add=HOSTILE))
    more = write(tmp_path / "n.json", {name: {} for name in HOSTILE})
    runs = [
        ("list", lib),
        ("list", mixed),
        ("list", lib, "--mixlist", mixed),
        ("show", lib, *HOSTILE),
        ("show", lib, *(name + "x" for name in HOSTILE)),
        ("validate", lib),
        ("validate", mixed, "--against", lib),
        ("validate", more, "--as", "mixlist"),
        ("diff", lib, write(tmp_path / "aic-y-ops-info.json", {"Add": entry()}), "--sections"),
        ("apply", lib, mixed, "--output", tmp_path / "out.json"),
        ("move", mixed, *(name + "y" for name in HOSTILE), "--to", "white", "--against", lib),
        ("move", lib, *HOSTILE, "--to", "black"),
        ("move", mixed, *HOSTILE, "--to", "white"),
        ("backups",),
    ]
    for words in runs:
        ran = opsinfo(*words)
        for character in RAW:
            for text in (ran.out, ran.err):
                cleaned = text.replace("\t", "") if character == "\t" else text
                assert character not in cleaned, (words[0], hex(ord(character)))


def test_every_row_is_one_line_of_five_columns_whatever_the_name(opsinfo: Run, tmp_path: Path) -> None:
    lib = write(tmp_path / "aic-x-ops-info.json", {name: entry("true") for name in HOSTILE})
    ran = opsinfo("list", lib)
    assert len(ran.out.splitlines()) == len(HOSTILE)
    assert {line.count("\t") for line in ran.out.splitlines()} == {4}


def test_json_keeps_names_exactly(opsinfo: Run, tmp_path: Path) -> None:
    lib = write(tmp_path / "aic-x-ops-info.json", {name: entry("true") for name in HOSTILE})
    ran = opsinfo("list", lib, "--format", "json")
    assert [each["name"] for each in ran.json["operators"]] == sorted(HOSTILE)
    assert all(" " <= character <= "~" or character == "\n" for character in ran.out)


def test_on_a_terminal_names_are_neither_raw_nor_markup(terminal: Terminal, tmp_path: Path) -> None:
    lib = write(tmp_path / "aic-x-ops-info.json", {name: entry("true") for name in HOSTILE})
    _, said = terminal("list", lib, "--color", "never")
    assert "[bold]markup[/bold]" in said
    assert "\x1b" not in said
    assert "\x07" not in said
    assert "\u202e" not in said


def test_hostile_paths_are_not_raw_either(opsinfo: Run, tmp_path: Path) -> None:
    lib = write(tmp_path / "\x1b[31mx\x1b[0m" / "aic-x-ops-info.json", {"Add": entry("maybe")})
    for words in (("list", lib), ("validate", lib), ("move", lib, "Add", "--to", "black"), ("doctor", lib.parent)):
        ran = opsinfo(*words)
        assert "\x1b" not in ran.out + ran.err


def test_quiet_silences_talk_and_not_data(opsinfo: Run, opp: Path) -> None:
    ran = opsinfo("move", opp / NN, "SwiGlu", "--to", "black", "-q")
    assert ran.err == ""
    assert ran.out.startswith("SwiGlu\t")
    assert opsinfo("list", "nowhere.json", "-q").err != ""


def test_verbose_talks_on_stderr_only(opsinfo: Run, fixtures: Path) -> None:
    plain = opsinfo("list", fixtures / "opp", "--soc", "ascend910b")
    talky = opsinfo("list", fixtures / "opp", "--soc", "ascend910b", "-vv")
    assert talky.out == plain.out
    assert talky.code == 0


@pytest.fixture
def without_input(program: list[str], environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run with standard input closed, as a daemon may."""

    def run(*words: str | os.PathLike[str]) -> subprocess.CompletedProcess[str]:
        line = ["sh", "-c", '"$@" <&-', "sh", *program, *words]
        return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize(
    "words", ["list - --as library", "show - Add", "validate -", "fmt -", "qualify -", "reduced -"]
)
def test_a_standard_input_that_is_closed_is_refused(
    without_input: Callable[..., subprocess.CompletedProcess[str]], words: str
) -> None:
    done = without_input(*words.split())
    assert (done.returncode, done.stdout) == (3, "")
    assert "standard input is closed" in done.stderr


@pytest.mark.parametrize("command", ["qualify", "reduced"])
def test_who_names_logs_needs_no_standard_input(
    without_input: Callable[..., subprocess.CompletedProcess[str]], fixtures: Path, command: str
) -> None:
    done = without_input(command, fixtures / "logs" / "apex-two-ranks.log")
    assert done.returncode in (0, 1)
    assert done.stdout or "0 records" in done.stderr
