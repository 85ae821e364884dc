"""`opsinfo schema`: the published schemas."""

from __future__ import annotations

import json
from pathlib import Path

from cli_support import Run
from jsonschema import Draft202012Validator

from opsinfo_cli.core.check.schema import schema_names

SCHEMAS = Path(__file__).resolve().parents[3] / "schemas"


def test_without_a_name_the_names_are_listed(opsinfo: Run) -> None:
    names = sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json"))
    assert opsinfo("schema").out.splitlines() == names
    assert opsinfo("schema", "--format", "json").json["schemas"] == names


def test_a_schema_is_printed_as_it_is_published(opsinfo: Run) -> None:
    text = (SCHEMAS / "mixlist.schema.json").read_text("utf-8")
    assert opsinfo("schema", "mixlist").out == text
    assert opsinfo("schema", "mixlist", "--format", "json").json["schema"] == json.loads(text)


def test_with_targets_the_schema_of_mixlists_has_their_op_types_and_policies(opsinfo: Run, fixtures: Path) -> None:
    words = ("schema", "mixlist", "--against", f"{fixtures / 'opp'}@ascend910b")
    schema = json.loads(opsinfo(*words).out)
    check = Draft202012Validator(schema).is_valid
    assert check({"black-list": {"to-add": ["MatMulV2"], "to-remove": ["Log"]}})
    assert not check({"black-list": {"to-add": ["MatMulV9"]}})
    assert not check({"black-list": {"to-remove": ["MatMulV2"]}})
    described = dict(
        zip(schema["$defs"]["op-type"]["enum"], schema["$defs"]["op-type"]["enumDescriptions"], strict=True)
    )
    assert (described["MatMulV2"], described["Log"]) == ("white", "black")
    both = opsinfo(*words, "--against", f"{fixtures / 'opp'}@ascend910", "--format", "json").json["schema"]
    assert "white in ascend910b, white in ascend910" in both["$defs"]["op-type"]["enumDescriptions"]
    Draft202012Validator.check_schema(both)
    assert opsinfo("schema", "--against", fixtures / "opp").code == 2


def test_an_unknown_schema_gives_the_near_name(opsinfo: Run) -> None:
    ran = opsinfo("schema", "mixlst")
    assert (ran.code, ran.out) == (2, "")
    assert "`mixlist`" in ran.err
    assert "hint: known schemas: " + ", ".join(schema_names()) in " ".join(opsinfo("schema", "zz").err.split())
