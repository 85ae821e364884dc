"""`--help`, `--version`, `explain`, `schema`, and unknown commands."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import COMMANDS, NN, SCHEMAS, Run, rows
from jsonschema import Draft202012Validator

from opsinfo_cli.cli.app import GROUPS

RULES = {
    "syntax comment trailing-comma missing-comma trailing-text bom duplicate-key empty-file wrong-type": "T",
    "unknown-list unknown-action contradiction duplicate-operator unknown-operator not-in-ai-core sibling-type": "M",
    "no-effect remove-mismatch black-without-fp32 white-without-low": "M",
    "unknown-mode mode-refuses-mixlist mode-not-on-soc both-modes": "P",
    "not-in-model no-effect-in-model black-refused-in-model constant-out-of-range": "G",
    "bad-flag blank-in-name bad-value column-mismatch unknown-value unknown-section engine-crash": "L",
    "shadowed stray-json load-order-undefined store-fails bad-load-priority broken-custom-path": "S",
    "edits-lost modes-left-open unfinished-change damaged-backup forked-history": "V",
}
ENGINE = {
    "refuses": "syntax comment trailing-comma missing-comma empty-file wrong-type unknown-list unknown-action "
    "contradiction unknown-mode mode-refuses-mixlist mode-not-on-soc both-modes bad-flag blank-in-name bad-value "
    "column-mismatch store-fails bad-load-priority black-refused-in-model",
    "ignores": "duplicate-key unknown-operator not-in-ai-core no-effect remove-mismatch broken-custom-path",
    "accepts": "trailing-text bom duplicate-operator sibling-type black-without-fp32 white-without-low unknown-value "
    "unknown-section shadowed stray-json load-order-undefined edits-lost modes-left-open unfinished-change "
    "damaged-backup forked-history not-in-model no-effect-in-model constant-out-of-range",
    "crashes": "engine-crash",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_shows_an_example_explains_its_options_and_fits(opsinfo: Run, command: str) -> None:
    ran = opsinfo(command, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert f"opsinfo {command}" in ran.out.partition("xample")[2]
    assert max(map(len, ran.out.splitlines())) <= 100
    options = re.split(r"\n  (?=-)", ran.out.partition("Options:")[2])
    assert [option for option in options[1:] if not re.search(r"\S\s{2,}\S", option)] == []
    everywhere = ["--color", "-q", "-v", "-h"] + ["--format"] * (command not in ("schema", "completion"))
    writing = (
        ["--dry-run", "--wait", "--backup-dir"]
        if command in ("move", "apply", "fmt", "merge", "minimize", "restore", "reapply")
        else []
    )
    assert [option for option in everywhere + writing if option not in ran.out] == []


def test_help_of_the_program_names_every_command(opsinfo: Run) -> None:
    ran = opsinfo("--help")
    assert (ran.code, ran.err) == (0, "")
    for command in COMMANDS:
        assert f"\n  {command} " in ran.out
    assert "Examples:" in ran.out
    assert opsinfo("-h").out == ran.out


def test_without_a_command_help_is_shown_as_wrong_usage(opsinfo: Run) -> None:
    ran = opsinfo()
    assert (ran.code, ran.out) == (2, "")
    assert "Usage" in ran.err


def test_version(opsinfo: Run) -> None:
    ran = opsinfo("--version")
    name, _, number = ran.out.strip().partition(" ")
    assert (ran.code, ran.err, name) == (0, "", "opsinfo")
    assert number[0].isdigit()


def test_version_is_everywhere(opsinfo: Run) -> None:
    output = opsinfo("--version").out
    assert {opsinfo(command, "--version").out for command in ("list", "fmt", "schema")} == {output}


@pytest.mark.parametrize(
    ("word", "near"), [("lst", "list"), ("vaildate", "validate"), ("mvoe", "move"), ("LIST", "list")]
)
def test_an_unknown_command_gives_the_near_one(opsinfo: Run, word: str, near: str) -> None:
    ran = opsinfo(word)
    assert (ran.code, ran.out) == (2, "")
    assert f"`{near}`" in ran.err
    failed = opsinfo(word, "--format", "json").json
    assert near in failed["error"]["hint"]


def test_an_unknown_command_far_from_all_gives_none(opsinfo: Run) -> None:
    ran = opsinfo("xyzzyplugh")
    assert ran.code == 2
    assert "did you mean" not in ran.err


def test_an_unknown_option_gives_the_near_one(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("list", fixtures / "opp-old", "--fromat", "json")
    assert (ran.code, ran.out) == (2, "")
    assert "--format" in ran.err


def test_a_missing_option_is_named_on_one_line_with_its_value(opsinfo: Run) -> None:
    ran = opsinfo("move", "a.json", "Add")
    assert ran.code == 2
    assert ran.err.splitlines()[0].startswith("error: Missing option '--to'. Choose from: white, black, gray")


def test_the_console_entry_is_the_same_program(opsinfo: Run, environment: dict[str, str]) -> None:
    script = shutil.which("opsinfo", path=str(Path(sys.executable).parent))
    entry = [script] if script else [sys.executable, "-c", "from opsinfo_cli.cli.app import main; main()"]
    for words in (["--help"], ["list", "--help"], ["--version"], ["lst"]):
        done = subprocess.run([*entry, *words], capture_output=True, text=True, env=environment, check=False)
        ran = opsinfo(*words)
        assert (done.returncode, done.stdout, done.stderr) == (ran.code, ran.out, ran.err)


def test_every_rule_is_explained_by_name_and_by_code(environment: dict[str, str]) -> None:
    """One process for all of them: there are many."""
    names = " ".join(RULES).split()
    code = (
        "import contextlib, io, json, sys\n"
        "from opsinfo_cli.check.rules import RULES\n"
        "from opsinfo_cli.cli.app import main\n"
        "def output(word):\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):\n"
        "        main(['explain', word])\n"
        "    return out.getvalue()\n"
        "print(json.dumps({name: [output(name), output(RULES[name].code)] for name in sys.argv[1:]}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *names], env=environment, capture_output=True, text=True, check=True
    )
    explained = json.loads(done.stdout)
    for name in names:
        by_name, by_code = explained[name]
        assert by_name == by_code
        assert by_name.split()[1] == f"{name}:"
        assert [word for word in ("Fails:", "Passes:", "Source:") if word not in by_name] == []


def test_the_table_of_rules(opsinfo: Run) -> None:
    rules = {row[1]: row for row in rows(opsinfo("explain")) if row[0] != "-"}
    assert set(rules) == set(" ".join(RULES).split())
    for some, letter in RULES.items():
        assert {rules[name][0][0] for name in some.split()} == {letter}
    for engine, some in ENGINE.items():
        assert {rules[name][4] for name in some.split()} == {engine}, engine
    assert len({row[0] for row in rules.values()}) == len(rules)


def test_explain_as_json(opsinfo: Run) -> None:
    (rule,) = opsinfo("explain", "contradiction", "--format", "json").json["rules"]
    assert (rule["name"], rule["severity"], rule["engine"]) == ("contradiction", "error", "refuses")
    assert len(opsinfo("explain", "--format", "json").json["rules"]) == len(" ".join(RULES).split())


@pytest.mark.parametrize("word", ["CONTRADICTION", "m003"])
def test_explain_ignores_case(opsinfo: Run, word: str) -> None:
    ran = opsinfo("explain", word)
    assert ran.code == 0 or "contradiction" in ran.err or "M003" in ran.err


def test_explain_of_an_unknown_word(opsinfo: Run) -> None:
    ran = opsinfo("explain", "contradicton")
    assert ran.code == 2
    assert "`contradiction`" in ran.err


def test_explain_mixlists_names_where_a_mixlist_works(opsinfo: Run) -> None:
    output = opsinfo("explain", "mixlists").out
    for word in ("TensorFlow", "ATC", "torch_npu"):
        assert word in output
    assert "once" in opsinfo("explain", "read-once").out


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.schema.json")), ids=lambda path: path.name)
def test_every_schema_is_printed_whole(opsinfo: Run, path: Path) -> None:
    ran = opsinfo("schema", path.name.removesuffix(".schema.json"))
    assert ran.code == 0
    assert ran.out.encode() == path.read_bytes()
    Draft202012Validator.check_schema(json.loads(ran.out))


def test_schema_lists_its_names(opsinfo: Run) -> None:
    found = [row[0] for row in rows(opsinfo("schema"))]
    assert found == sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json"))
    assert {"mixlist", "ops-info-library"} <= set(found)


def test_an_unknown_schema_is_wrong_usage(opsinfo: Run) -> None:
    ran = opsinfo("schema", "mixlst")
    assert (ran.code, ran.out) == (2, "")
    assert "`mixlist`" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("list",),
        ("list", "a", "--on", "red"),
        ("list", "--nonsense", "x"),
        ("show", "x"),
        ("move", "x", "Y"),
        ("validate",),
        ("fmt",),
        ("restore",),
        ("backups", "--prune", "zero"),
        ("explain", "nothing-at-all"),
        ("nonsense",),
        ("list", "ascend910b"),
        ("list", "-"),
    ],
    ids=" ".join,
)
def test_wrong_usage_as_json_is_one_document(opsinfo: Run, words: tuple[str, ...]) -> None:
    ran = opsinfo(*words, *(["--format=json"] if len(words) == 1 else ["--format", "json"]))
    assert ran.code == 2
    document = json.loads(ran.out)
    assert document["schema_version"] == 1
    assert document["command"] == words[0]
    assert document["error"]["message"]


def test_an_operand_that_looks_like_a_format_option_is_not_one(opsinfo: Run, fixtures: Path) -> None:
    ran = opsinfo("show", fixtures / "opp-old", "--", "--format", "json")
    assert (ran.code, ran.out) == (2, "")


def test_help_lists_commands_by_group(opsinfo: Run) -> None:
    lines = opsinfo("--help").out.splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Options:", *(f"{group}:" for group in GROUPS)]
    for group, commands in GROUPS.items():
        below = lines[lines.index(f"{group}:") + 1 :]
        section = below[: below.index("")] if "" in below else below
        assert [line.split()[0] for line in section if line[2] != " "] == list(commands)


def test_help_of_a_command_by_name_is_its_help(opsinfo: Run) -> None:
    assert opsinfo("help", "list").out == opsinfo("list", "--help").out
    assert opsinfo("help").out == opsinfo("--help").out
    assert opsinfo("-V").out == opsinfo("--version").out
    wrong = opsinfo("help", "lsit")
    assert (wrong.code, wrong.out) == (2, "")
    assert "did you mean `list`?" in wrong.err


def test_options_of_every_command_work_before_it(opsinfo: Run, opp: Path) -> None:
    behind = opsinfo("list", opp, "--soc", "ascend910b", "-q", "--format", "json")
    before = opsinfo("-q", "--format", "json", "list", opp, "--soc", "ascend910b")
    assert before.json == behind.json
    assert opsinfo("-n", "move", opp / NN, "SwiGlu", "--to", "black").out.startswith("---")
    refused = opsinfo("--wait", "3", "list", opp, "--soc", "ascend910b")
    assert (refused.code, "--wait" in refused.err) == (2, True)


def test_advanced_options_have_their_own_section(opsinfo: Run) -> None:
    usual, _, advanced = opsinfo("move", "--help").out.partition("\nAdvanced:\n")
    for option in ("--wait", "--in-place", "--backup-dir"):
        assert option not in usual
        assert option in advanced
