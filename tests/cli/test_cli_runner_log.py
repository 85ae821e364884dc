"""Dry runs and JSON in the log of a GitHub runner: the content of a file never becomes a command."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import COMMANDS, Run, library, mixlist, write

from opsinfo_cli.core.terminal.findings import FORMATS

HOSTILE = "::add-mask::e\n\t::stop-commands::word\r::error::x ##[warning]y\n"
RUNNER = {"GITHUB_ACTIONS": "true"}
NAMED = (
    """
list WORD|show WORD WORD|move WORD WORD --to black|apply WORD WORD
validate WORD --format concise|diff WORD WORD|fmt WORD|snapshot WORD
merge WORD WORD|backups WORD|restore WORD|restore WORD --to WORD|socs WORD|doctor WORD|explain WORD|schema WORD
completion WORD|graph WORD --against WORD|simulate WORD --against WORD|bisect --against WORD -- WORD|qualify WORD
reapply WORD|edit WORD|profile WORD|modes WORD|numerics WORD
systems show WORD|systems convert WORD|systems decide WORD WORD|WORD|list --format WORD WORD
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
"""Lines with a hostile word as a path, a name or a value."""
OPERATORS = """
list m.json|list m.json --format json|fmt m.json|fmt m.json -n|validate m.json --format text|merge m.json m.json
""".strip().split("|")
"""Lines with a file in which the hostile word is an operator."""
LINES = (*NAMED, *OPERATORS)
BLANKS = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()] + ["", "\u180e", "\u200b", "\ufeff"]
"""What a runner may trim: blanks of today's Unicode, and of earlier versions of .NET."""
SHARE = 4


def commands(log: str) -> list[str]:
    """The commands that a runner finds in a log: `::` after blanks, `##[` anywhere, nothing while commands are stopped.

    The rules are those of src/Runner.Common/ActionCommand.cs and src/Runner.Worker/ActionCommandManager.cs of
    actions/runner.
    """
    done, stopped_by = [], None
    for line in re.split(r"\r\n|\r|\n", log):
        match = re.match(r"[\s\u180e\u200b\ufeff]*::([a-z0-9-]+)(?: [^:]*)?::(.*)", line) or re.search(
            r"##\[([a-z0-9-]+)[^\]]*\](.*)", line
        )
        if not match:
            continue
        if stopped_by is not None:
            stopped_by = None if match[1] == stopped_by else stopped_by
        elif match[1] == "stop-commands":
            stopped_by = match[2]
        else:
            done.append(match[1])
    assert stopped_by is None, "commands must work again after the diff"
    return done


def test_the_runner_of_these_tests_takes_the_commands_of_a_bare_diff(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", json.dumps(mixlist(black_add=["Add"])) + "\n" + HOSTILE)
    with pytest.raises(AssertionError, match="commands must work again"):
        commands(opsinfo("move", path, "Mul", "--to", "black", "-n").out)


def test_a_runner_takes_no_command_from_the_context_of_a_diff_and_patch_takes_the_diff(
    opsinfo: Run, tmp_path: Path
) -> None:
    path = write(tmp_path / "m.json", json.dumps(mixlist(black_add=["Add"])) + "\n" + HOSTILE)
    ran = opsinfo("move", "m.json", "Mul", "--to", "black", "-n", cwd=tmp_path, env=RUNNER)
    assert commands(ran.out) == []
    words = [line for line in ran.out.split("\n") if line.startswith("::")]
    assert len(words) == 2
    assert words[1] == "::" + words[0].rpartition("::")[2] + "::"
    again = opsinfo("move", "m.json", "Mul", "--to", "black", "-n", cwd=tmp_path, env=RUNNER).out
    assert words[0] not in again, "the word is another one in each run"
    before = path.read_bytes()
    subprocess.run(["patch", "--binary", "-s", "-p0"], input=ran.out.encode(), cwd=tmp_path, check=True)
    patched = path.read_bytes()
    path.write_bytes(before)
    assert opsinfo("move", "m.json", "Mul", "--to", "black", cwd=tmp_path).code == 0
    assert path.read_bytes() == patched


def test_a_runner_takes_no_command_from_an_added_name(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["##[add-mask]x"]))
    assert commands(opsinfo("move", path, "##[add-mask]x", "--to", "white", "-n", env=RUNNER).out) == []


def test_a_diff_without_commands_is_not_enclosed_in_a_runners_log(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Add"]))
    words = ("move", path, "Mul", "--to", "black", "-n")
    assert opsinfo(*words, env=RUNNER).out == opsinfo(*words).out


def test_json_of_a_name_with_a_runner_command_is_equal_json_without_the_command(opsinfo: Run, tmp_path: Path) -> None:
    name = "\\##[add-mask]x"
    path = write(tmp_path / "aic-x-ops-info.json", json.dumps(library({name: "true"})))
    ran = opsinfo("list", path, "--format", "json")
    assert "##[" not in ran.out
    assert [each["name"] for each in ran.json["operators"]] == [name]


@pytest.mark.parametrize("format", FORMATS)
def test_a_report_on_standard_output_has_only_our_commands(opsinfo: Run, tmp_path: Path, format: str) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["##[add-mask]x", "\u205f::add-mask::x"] * 2))
    out = opsinfo("validate", path, "--report", f"{format}:/dev/stdout", "--format", "concise", env=RUNNER).out
    assert set(commands(out)) <= {"error", "warning", "notice"}


def test_every_command_gets_a_hostile_word_and_every_blank_a_command() -> None:
    assert {line.split()[0] for line in NAMED} >= set(COMMANDS)
    assert SHARE * len(LINES) >= len(BLANKS)


@pytest.mark.parametrize("number", range(len(LINES)), ids=LINES)
def test_no_command_prints_a_runner_command_from_a_hostile_word(opsinfo: Run, tmp_path: Path, number: int) -> None:
    line = LINES[number].split()
    for blank in ["", *(BLANKS[each % len(BLANKS)] for each in range(SHARE * number, SHARE * number + SHARE))]:
        word = f"{blank}::error::x ##[error]x"
        write(tmp_path / "m.json", mixlist(black_add=[word] * 2))
        ran = opsinfo(*(word if part == "WORD" else part for part in line), cwd=tmp_path, env=RUNNER)
        assert commands(ran.out + "\n" + ran.err) == [], blank


EXACT = ("csv", "markdown", "html")


@pytest.mark.parametrize(
    ("words", "format"),
    [(words, kind) for words in ("list T", "diff T T2", "diff T T2 T3") for kind in EXACT]
    + [("show T WORD", "csv"), ("show T WORD", "markdown")],
)
def test_a_file_on_standard_output_has_no_command_in_a_log(
    opsinfo: Run, tmp_path: Path, words: str, format: str
) -> None:
    names = ["::error::x", "##[error]x", "##vso[task.setvariable]x", "::stop-commands::abc", "Add"]
    for number, flag in enumerate(("true", "false", "true")):
        write(tmp_path / f"aic-{number}-ops-info.json", json.dumps(library(dict.fromkeys(names, flag))))
    named = {"T": "aic-0-ops-info.json", "T2": "aic-1-ops-info.json", "T3": "aic-2-ops-info.json", "WORD": names[0]}
    line = [*(named.get(word, word) for word in words.split()), "--format", format]
    for extra in ([], ["-o", "/dev/stdout"]):
        ran = opsinfo(*line, *extra, cwd=tmp_path, env=RUNNER)
        assert commands(ran.out) == []
        assert "##vso[" not in ran.out
    assert names[0] in opsinfo(*line, cwd=tmp_path).out.replace("&#58;", ":"), "elsewhere it is unchanged"


def test_a_mixlist_on_standard_output_has_no_command_in_a_log(opsinfo: Run, tmp_path: Path) -> None:
    for number, flag in enumerate(("true", "false")):
        write(tmp_path / f"aic-{number}-ops-info.json", json.dumps(library({"##[error]x": flag, "::error::x": flag})))
    line = ("diff", "aic-1-ops-info.json", "aic-0-ops-info.json", "--format", "mixlist")
    ran = opsinfo(*line, cwd=tmp_path, env=RUNNER)
    assert commands(ran.out) == []
    assert ran.json == opsinfo(*line, cwd=tmp_path).json == mixlist(white_add=["##[error]x", "::error::x"])
