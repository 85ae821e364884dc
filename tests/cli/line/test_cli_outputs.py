"""Outputs that are also inputs of the same command line, for every command that writes a named file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_support import Run, snapshot
from declared_lines import line, valued

from opsinfo_cli.cli.app import COMMANDS, declared
from opsinfo_cli.cli.line.declare import Command, Parameter
from opsinfo_cli.cli.line.outputs import _NAMES_FILES

OTHER_WORDS = frozenset(
    "ADDRESS AMP BUDGET CHANGE CODE DIMS DTYPE FORMAT GLOB ID INPUT LEVEL LIST MODE N NAME NAMES NODE NPU OP PERCENT "  # noqa: SIM905
    "POINTER REGEX ROOT SECONDS SEED SOC SOURCES SYSTEM TOPIC VALUE X OUT".split()
)
"""Words in the metavars of values that are not files to read, or are a whole OPP."""
ITS_OWN_CHECKS = {("validate", "reports"), ("validate", "baseline")}


def words_of(parameter: Parameter) -> set[str]:
    return set(re.findall("[A-Z]+", parameter.metavar))


def inputs(command: Command) -> list[Parameter]:
    return [each for each in valued(command) if each.writes is None and words_of(each) & _NAMES_FILES]


def pairs() -> Iterator[tuple[str, str, str]]:
    """Each output with each input that it must not replace."""
    for name in COMMANDS:
        command = declared(name)
        for output in valued(command):
            if output.writes is not None:
                yield from (
                    (name, output.name, each.name) for each in inputs(command) if each.name not in output.writes
                )


def test_every_metavar_is_known_to_name_a_file_or_not() -> None:
    found = {word for name in COMMANDS for each in valued(declared(name)) for word in words_of(each)}
    unnamed = {"OPS", "SUBJECT", "WHICH"}
    assert found <= _NAMES_FILES | OTHER_WORDS | unnamed, sorted(found - _NAMES_FILES - OTHER_WORDS - unnamed)


def test_every_option_that_names_a_file_to_write_declares_it() -> None:
    for name in COMMANDS:
        for each in valued(declared(name)):
            writes = "-o" in each.words or re.match("(Also w|W)rite", each.attributes.get("help") or "")
            if writes and (name, each.name) not in ITS_OWN_CHECKS:
                assert each.writes is not None, (name, each.words)


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
    words = line(declared(name), {read: path.name, output: spelling(path)})
    before = snapshot(tmp_path)
    ran = opsinfo(*words)
    assert (ran.code, ran.json["error"]["name"]) == (2, "is-input"), ran
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    "words",
    [
        ["bisect", "--against", "t", "--among", "@input", "-o", "input", "--", "true"],
        ["bisect", "--against", "t", "--among", "Add", "-o", "input", "--", "sh", "./input"],
        ["diff", "apex:O1=a,input", "b", "-o", "input"],
        ["list", "mindspore=input", "-o", "input"],
    ],
    ids=str,
)
def test_a_file_after_a_name_is_an_input_too(opsinfo: Run, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "input").write_text("not to be lost\n", "utf-8")
    ran = opsinfo(*words, "--format", "json") if "--" not in words else opsinfo("--format", "json", *words)
    assert (ran.code, ran.json["error"]["name"]) == (2, "is-input")
    assert (tmp_path / "input").read_text("utf-8") == "not to be lost\n"


@pytest.mark.parametrize("option", ["--annotate", "-o"])
def test_two_outputs_of_one_line_are_two_files(opsinfo: Run, tmp_path: Path, option: str) -> None:
    words = {"--annotate": ["graph", "m.onnx"], "-o": ["simulate", "m.onnx", "--plot", "x"]}[option]
    ran = opsinfo(*words, option, "x", *(["-o", "./x"] if option == "--annotate" else []), "--format", "json")
    assert (ran.code, ran.json["error"]["name"]) == (2, "same-output")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["journal.jsonl", "trials/0001/mixlist-0001.json"])
@pytest.mark.parametrize("resumes", [False, True])
def test_a_list_does_not_replace_the_journal_of_its_search(
    opsinfo: Run, opp: Path, tmp_path: Path, place: str, resumes: bool
) -> None:
    words = ["bisect", "--against", str(opp), "--soc", "ascend910b", "--among", "Add", "--format", "json"]
    if resumes:
        assert opsinfo(*words, "--", "false").code == 1
    before = snapshot(tmp_path)
    ran = opsinfo(*words, *["--resume"][: int(resumes)], "-o", f".opsinfo-bisect/{place}", "--", "false")
    assert (ran.code, ran.json["error"]["name"]) == (2, "is-input")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("read", ["--model", "--against"])
def test_a_report_of_validate_does_not_replace_a_file_that_is_read(opsinfo: Run, tmp_path: Path, read: str) -> None:
    (tmp_path / "m.json").write_text("{}", "utf-8")
    (tmp_path / "input").write_text("not to be lost\n", "utf-8")
    (tmp_path / "hard").hardlink_to(tmp_path / "input")
    more = ["--against", "other"] if read == "--model" else []
    ran = opsinfo("validate", "m.json", read, "input", *more, "--report", "sarif:hard", "--format", "json")
    assert (ran.code, ran.json["error"]["name"]) == (2, "report-clash")
    assert (tmp_path / "input").read_text("utf-8") == "not to be lost\n"


def test_a_report_does_not_replace_the_configuration_that_is_used(opsinfo: Run, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text("{}", "utf-8")
    (tmp_path / "opsinfo.toml").write_text('format = "text"\n', "utf-8")
    ran = opsinfo("validate", "m.json", "--report", "sarif:opsinfo.toml")
    assert (ran.code, "overwrite" in ran.err) == (2, True), ran
    assert (tmp_path / "opsinfo.toml").read_text("utf-8") == 'format = "text"\n'


def test_a_report_does_not_replace_a_binary_file(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    weights = tmp_path / "model.data"
    weights.write_bytes(b"\x00\x00\x80\x3f" * 100)
    ran = opsinfo("list", opp, "--soc", "ascend910b", "-o", weights)
    assert (ran.code, "binary" in ran.err) == (2, True)
    assert weights.read_bytes() == b"\x00\x00\x80\x3f" * 100
