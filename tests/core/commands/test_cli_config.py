"""`opsinfo.toml` and `[tool.opsinfo]`: the nearest file, and its schema; `tests/answers/config.case` has the rest."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click
import pytest
from cli_support import Run, mixlist, write
from contract import SCHEMAS
from jsonschema import Draft202012Validator

from opsinfo_cli.core.commands.validate import command
from opsinfo_cli.core.terminal.config import KEYS

SCHEMA = Draft202012Validator(json.loads((SCHEMAS / "config.schema.json").read_text("utf-8")))


@pytest.fixture
def repository(opsinfo: Run, fixtures: Path, tmp_path: Path) -> Path:
    """A mixlist with a name that is wrong only against the snapshot."""
    top = tmp_path / "repository"
    write(top / "lists/m.json", mixlist(black_add=["MatMulV9"]))
    for soc in ("ascend910", "ascend910b"):
        facts = opsinfo("snapshot", fixtures / "opp", "--soc", soc).out
        write(top / f"facts/{soc}.opsinfo.json", facts)
    return top


AGAINST = 'against = ["facts/ascend910b.opsinfo.json"]\n'


@pytest.mark.parametrize(
    ("file", "header"),
    [("opsinfo.toml", ""), ("pyproject.toml", "[tool.opsinfo]\n")],
    ids=["opsinfo.toml", "pyproject.toml"],
)
def test_defaults_come_from_the_nearest_file_upward(opsinfo: Run, repository: Path, file: str, header: str) -> None:
    write(repository / file, f"# ours\n{header}{AGAINST}")
    write(repository / "lists/pyproject.toml", '[project]\nname = "x"\ndependencies = ["opsinfo"]\n')
    for folder, path in ((repository, "lists/m.json"), (repository / "lists", "m.json")):
        ran = opsinfo("validate", path, "-v", cwd=folder)
        assert (ran.code, "error[M005]" in ran.out) == (1, True)
        name = os.path.relpath(repository / file, folder)
        assert f"defaults from {name}\n" in ran.err
        target = os.path.relpath(repository / "facts/ascend910b.opsinfo.json", folder)
        assert f"checked against ascend910b ({target})\n" in ran.err
    write(repository / "lists/opsinfo.toml", "")
    assert opsinfo("validate", "m.json", cwd=repository / "lists").code == 0, "an empty file is the nearest one too"
    assert opsinfo("validate", "lists/m.json", "--no-config", cwd=repository).code == 0


WRONG = {
    "an unknown format": ("format = 'xml'\n", "'xml' is not one of"),
    "not TOML": ("against = [\n", "invalid TOML"),
    "a key twice": ("format = 'text'\nformat = 'json'\n", "invalid TOML"),
    "an integer of 6,000 digits": (f"strict = {'1' * 6000}\n", "invalid TOML"),
}


@pytest.mark.parametrize("situation", WRONG)
def test_a_wrong_configuration_is_exit_2_in_the_words_of_its_reader(
    opsinfo: Run, repository: Path, situation: str
) -> None:
    text, message = WRONG[situation]
    write(repository / "opsinfo.toml", text)
    ran = opsinfo("validate", "lists", cwd=repository)
    assert (ran.code, ran.out) == (2, "")
    assert "  --> opsinfo.toml" in ran.err
    assert message in ran.err
    assert opsinfo("validate", "--help", cwd=repository).code == 0


def test_the_schema_has_the_keys_and_each_is_an_option() -> None:
    document: Any = SCHEMA.schema
    properties = document["properties"]
    assert list(properties) == list(KEYS)
    options = {word[2:]: each for each in command.params if isinstance(each, click.Option) for word in each.opts}
    for key, schema in properties.items():
        option = options.get(key)
        if option is None:
            continue
        wanted = "#/$defs/strings" if option.multiple else "boolean" if option.is_flag else "string"
        choices = list(getattr(option.type, "choices", ()))
        assert schema.get("$ref", schema.get("type")) == wanted or schema["enum"] == choices, key
    assert not SCHEMA.is_valid({"agianst": []})
    assert SCHEMA.is_valid(document["examples"][0])


def test_help_shows_the_config_options(opsinfo: Run) -> None:
    output = opsinfo("validate", "--help").out
    for word in ("opsinfo.toml", "[tool.opsinfo]", "--config", "--no-config"):
        assert word in output


def test_an_option_of_the_check_is_none_of_the_search(opsinfo: Run, tmp_path: Path, opp: Path) -> None:
    """What follows `--` may be --help: the configuration counts all the same."""
    (tmp_path / "opsinfo.toml").write_text('against = ["opp@ascend910b"]\n')
    ran = opsinfo("bisect", "--among", "Relu", "-n", "--", "true", "{mixlist}", "--help", cwd=tmp_path)
    assert ran.code == 0, ran.err
