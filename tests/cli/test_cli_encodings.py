"""Terminals that lack characters, and names with terminal escapes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import Run, entry, flag_of, mixlist, write
from rich.cells import cell_len

Start = Callable[..., "subprocess.Popen[bytes]"]
Terminal = Callable[..., "tuple[int, str]"]

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
    is_ascii_only = env.get("PYTHONCOERCECLOCALE") == "0"  # Python cannot decode other arguments
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
        assert done.returncode in ((0, 2, 3) if is_ascii_only else codes), (words, done.stderr)
        assert b"internal error" not in done.stderr
        assert b"Error:" not in done.stderr
        assert b"Traceback" not in done.stderr
        if "json" in words:
            assert {each["name"] for each in json.loads(done.stdout)["operators"]} == {"算子", "Ünïcode", "𝔘"}
    assert flag_of(lib, "算子") == ("false" if is_ascii_only else "true"), "restore is refused in such a locale"
    added = json.loads(mixed.read_text("utf-8"))["black-list"]["to-add"]
    assert added[:2] == ["算子", "不存在"]
    assert added[2:] == ["张量"] or (is_ascii_only and added[2:] == [])


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "ascii"])
def test_chinese_and_escaped_characters_are_aligned(terminal: Terminal, tmp_path: Path, encoding: str) -> None:
    flags = {"Add": "true", "矩阵乘算子": "true", "𝔘": "true", "Ünïcode": "true"}
    lib = write(tmp_path / "自定义" / "aic-x-ops-info.json", {name: entry(flag) for name, flag in flags.items()})
    tensors = {"input0": {**entry()["input0"], "name": "输入"}, "input1": {**entry()["input0"], "name": "x"}}
    one = write(tmp_path / "aic-y-ops-info.json", {"Add": {**entry(), **tensors}})
    for words, mark, count in (
        (("list", lib), "white", 4),
        (("move", lib, *flags, "--to", "black"), "white", 4),
        (("show", one, "Add"), "required", 3),
    ):
        env = {"PYTHONIOENCODING": encoding}
        code, output = terminal(*words, "--color", "never", "-q", env=env, encoding=encoding)
        assert code == 0
        before = [line.partition(mark)[0] for line in output.splitlines() if mark in line][:count]
        assert len({cell_len(each) for each in before[: 2 if words[0] == "show" else 4]}) == 1, output


@pytest.mark.process
def test_files_are_read_as_utf_8_in_any_locale(opsinfo: Run, tmp_path: Path) -> None:
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


def test_every_row_is_one_line_of_five_columns_for_any_name(opsinfo: Run, tmp_path: Path) -> None:
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
    _, output = terminal("list", lib, "--color", "never")
    assert "[bold]markup[/bold]" in output
    assert "\x1b" not in output
    assert "\x07" not in output
    assert "\u202e" not in output


def test_hostile_paths_are_not_raw_either(opsinfo: Run, tmp_path: Path) -> None:
    lib = write(tmp_path / "\x1b[31mx\x1b[0m" / "aic-x-ops-info.json", {"Add": entry("maybe")})
    for words in (("list", lib), ("validate", lib), ("move", lib, "Add", "--to", "black"), ("doctor", lib.parent)):
        ran = opsinfo(*words)
        assert "\x1b" not in ran.out + ran.err
