"""Empty values, such as those of a variable that is not set: no command treats one as missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run
from declared_lines import line, valued

from opsinfo_cli.cli.app import COMMANDS, declared

PARAMETERS = [
    (name, each.name)
    for name in COMMANDS
    for each in valued(declared(name))
    if each.attributes.get("expose_value", True) and not each.is_command
]


@pytest.mark.parametrize(("name", "parameter"), [pair for pair in PARAMETERS if pair[0] not in ("schema", "explain")])
def test_an_empty_value_is_wrong_usage_and_nothing_is_done(
    opsinfo: Run, tmp_path: Path, name: str, parameter: str
) -> None:
    ran = opsinfo(*line(declared(name), {parameter: ""}))
    assert (ran.code, ran.json["error"]["name"]) == (2, "empty-value"), ran
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["explain", ""], ["schema", ""], ["list", "other", "--mixlist="]], ids=str)
def test_the_message_names_the_parameter(opsinfo: Run, words: list[str]) -> None:
    ran = opsinfo(*words)
    assert ran.code == 2
    assert "the value is empty" in ran.err
    assert "is a variable of the shell not set?" in ran.err


def test_the_words_of_a_check_may_be_empty(opsinfo: Run, opp: Path) -> None:
    words = ["bisect", "--against", opp, "--soc", "ascend910b", "--among", "Add"]
    assert opsinfo(*words, "--", "sh", "-c", 'test "$1" = ""', "sh", "").code == 0
