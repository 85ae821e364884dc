"""`opsinfo.toml` and `[tool.opsinfo]`: the file in use, its content, and precedence."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pytest
from cli_support import Run, finding_names, mixlist, write
from contract import SCHEMAS
from jsonschema import Draft202012Validator

from opsinfo_cli.cli.commands.validate import command
from opsinfo_cli.cli.config import KEYS

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
        assert os.path.relpath(repository / "facts/ascend910b.opsinfo.json", folder) in ran.out
    write(repository / "lists/opsinfo.toml", "")
    assert opsinfo("validate", "m.json", cwd=repository / "lists").code == 0, "an empty file is the nearest one too"
    assert opsinfo("validate", "lists/m.json", "--no-config", cwd=repository).code == 0


def test_a_list_of_one_may_be_a_string(opsinfo: Run, repository: Path) -> None:
    write(repository / "opsinfo.toml", 'against = "facts/ascend910b.opsinfo.json"\nprecision-mode = "force_fp16"\n')
    ran = opsinfo("validate", "lists", "--format", "json", cwd=repository)
    assert finding_names(ran) == ["mode-refuses-mixlist", "unknown-operator"]


def test_opsinfo_toml_comes_before_pyproject_toml(opsinfo: Run, repository: Path) -> None:
    write(repository / "opsinfo.toml", AGAINST)
    write(repository / "pyproject.toml", "[tool.opsinfo]\nformat = 'json'\n")
    assert opsinfo("validate", "lists", cwd=repository).out.startswith("error[M005]")


def test_the_command_line_wins(opsinfo: Run, repository: Path) -> None:
    write(repository / "opsinfo.toml", f'{AGAINST}format = "json"\nprecision-mode = ["force_fp16"]\n')
    ran = opsinfo("validate", "lists", cwd=repository)
    assert ran.json["against"] == ["facts/ascend910b.opsinfo.json"]
    assert finding_names(ran) == ["mode-refuses-mixlist", "unknown-operator"]
    words = ("--against", "facts/ascend910.opsinfo.json", "--precision-mode", "mixed_float16", "--format", "text")
    ran = opsinfo("validate", "lists", *words, cwd=repository)
    assert "unknown operator `MatMulV9` in ascend910 (facts/ascend910.opsinfo.json)" in ran.out
    assert "E10001" not in ran.out


def test_an_explicit_configuration_file_is_the_only_one_used(opsinfo: Run, repository: Path, tmp_path: Path) -> None:
    write(repository / "opsinfo.toml", "nonsense = 1\n")
    other = write(tmp_path / "other/ours.toml", f'against = ["{repository}/facts/ascend910.opsinfo.json"]\n')
    ran = opsinfo("validate", "lists", "--config", other, cwd=repository)
    assert "unknown operator `MatMulV9` in ascend910 (" in ran.out
    assert opsinfo("validate", "lists", "--config", "gone.toml", cwd=repository).code == 3
    write(tmp_path / "pyproject.toml", "[project]\n")
    ran = opsinfo("validate", "lists", "--config", tmp_path / "pyproject.toml", cwd=repository)
    assert (ran.code, "[tool.opsinfo]" in ran.err) == (2, True)
    assert opsinfo("validate", "lists", "--config", other, "--no-config", cwd=repository).code == 2


WRONG = {
    # situation: (pyproject.toml, line and column, message)
    "a near miss": ("[tool.opsinfo]\nagianst = []\n", "2:1", "did you mean `against`?"),
    "an underscore": ('[tool.opsinfo]\n\n  precision_mode = ["x"]\n', "3:3", "did you mean `precision-mode`?"),
    "a key far from all": ("[tool.opsinfo]\nzzz = 1\n", "2:1", "known keys: `against`"),
    "a key that another table has too": ("[tool.x]\nfmt = 1\n[tool.opsinfo]\nfmt = 1\n", "4:1", "unknown key `fmt`"),
    "a table": ("[tool.opsinfo.validate]\nagainst = []\n", "1:15", "unknown key `validate`"),
    "an option of the command line only": ("[tool.opsinfo]\nconfig = 'x'\n", "2:1", "unknown key `config`"),
    "a number for a list": ("[tool.opsinfo]\nagainst = 1\n", "2:1", "`against` must be a string or a list of strings"),
    "numbers in a list": ("[tool.opsinfo]\nagainst = [1]\n", "2:1", "`against` must be a string or a list of strings"),
    "a list for a string": ("[tool.opsinfo]\nformat = ['json']\n", "2:1", "`format` must be a string"),
    "an unknown format": ("[tool.opsinfo]\nformat = 'xml'\n", "2:1", "'xml' is not one of"),
    "not TOML": ("[tool.opsinfo]\nagainst = [\n", None, "invalid TOML"),
    "a key twice": ("[tool.opsinfo]\nformat = 'text'\nformat = 'json'\n", None, "invalid TOML"),
}


@pytest.mark.parametrize("situation", WRONG)
def test_a_wrong_configuration_is_exit_2_with_the_place(opsinfo: Run, repository: Path, situation: str) -> None:
    text, place, message = WRONG[situation]
    write(repository / "pyproject.toml", text)
    ran = opsinfo("validate", "lists", cwd=repository)
    assert (ran.code, ran.out) == (2, "")
    assert f"  --> pyproject.toml{f':{place}' if place else ''}" in ran.err
    assert message in ran.err
    assert opsinfo("validate", "lists", "--no-config", cwd=repository).code == 0
    assert opsinfo("validate", "--help", cwd=repository).code == 0
    assert opsinfo("list", "facts/ascend910b.opsinfo.json", cwd=repository).code == 0, (
        "only validate reads the configuration"
    )


def test_a_configuration_that_is_not_utf8_is_refused(opsinfo: Run, repository: Path) -> None:
    write(repository / "opsinfo.toml", b"\xff")
    ran = opsinfo("validate", "lists", cwd=repository)
    assert ran.code == 3
    assert "opsinfo.toml:1:1" in ran.err


def test_a_name_that_is_not_a_path_is_read_as_a_chip(opsinfo: Run, repository: Path, fixtures: Path) -> None:
    write(repository / "opsinfo.toml", 'against = ["ascend910b"]\n')
    install = {"ASCEND_OPP_PATH": str(fixtures / "opp")}
    assert (
        "unknown operator `MatMulV9` in ascend910b;"
        in opsinfo("validate", "m.json", cwd=repository / "lists", env=install).out
    )


def test_the_schema_has_the_keys_and_each_is_an_option() -> None:
    properties = SCHEMA.schema["properties"]
    assert list(properties) == list(KEYS)
    options = {word[2:]: each for each in command.params if isinstance(each, click.Option) for word in each.opts}
    for key, schema in properties.items():
        option = options.get(key)
        if option is None:
            continue
        wanted = "#/$defs/strings" if option.multiple else "boolean" if option.is_flag else "string"
        assert schema.get("$ref", schema.get("type")) == wanted, key
    assert not SCHEMA.is_valid({"agianst": []})
    assert SCHEMA.is_valid(SCHEMA.schema["examples"][0])


def test_help_shows_the_config_options(opsinfo: Run) -> None:
    output = opsinfo("validate", "--help").out
    for word in ("opsinfo.toml", "[tool.opsinfo]", "--config", "--no-config"):
        assert word in output


HOSTILE = {
    "a report": ('report = ["concise:lists/m.json.bak"]\n', "config"),
    "a path with a NUL": ('against = ["a\\u0000b.json"]\n', "config"),
    "an integer of 6,000 digits": (f"strict = {'1' * 6000}\n", "config"),
}


@pytest.mark.parametrize("situation", HOSTILE)
def test_a_hostile_file_is_refused_before_anything_is_checked(opsinfo: Run, repository: Path, situation: str) -> None:
    text, name = HOSTILE[situation]
    write(repository / "lists/m.json.bak", "mine")
    write(repository / "opsinfo.toml", text)
    ran = opsinfo("validate", "lists", "--format", "json", cwd=repository)
    assert (ran.code, ran.json["error"]["name"]) == (2, name)
    assert (repository / "lists/m.json.bak").read_text() == "mine"
    assert opsinfo("validate", "lists", "--no-config", cwd=repository).code == 0


def test_a_baseline_is_updated_only_if_the_command_line_names_it(opsinfo: Run, repository: Path) -> None:
    write(repository / "opsinfo.toml", AGAINST + 'baseline = "known.json"\n')
    ran = opsinfo("validate", "lists", "--update-baseline", "--format", "json", cwd=repository)
    assert (ran.code, ran.json["error"]["name"]) == (2, "config-writes")
    assert ran.json["error"]["hint"] == "add --baseline known.json"
    assert not (repository / "known.json").exists()
    assert opsinfo("validate", "lists", "--baseline", "known.json", "--update-baseline", cwd=repository).code == 0
    assert opsinfo("validate", "lists", cwd=repository).code == 0, "a known baseline is read"
