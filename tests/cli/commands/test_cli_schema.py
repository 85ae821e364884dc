"""`opsinfo schema`: the published schemas."""

from __future__ import annotations

import json
from pathlib import Path

from cli_support import Run

SCHEMAS = Path(__file__).resolve().parents[3] / "schemas"


def test_without_a_name_the_names_are_listed(opsinfo: Run) -> None:
    names = sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.glob("*.schema.json"))
    assert opsinfo("schema").out.splitlines() == names
    assert opsinfo("schema", "--format", "json").json["schemas"] == names


def test_a_schema_is_printed_as_it_is_published(opsinfo: Run) -> None:
    text = (SCHEMAS / "mixlist.schema.json").read_text("utf-8")
    assert opsinfo("schema", "mixlist").out == text
    assert opsinfo("schema", "mixlist", "--format", "json").json["schema"] == json.loads(text)


def test_an_unknown_schema_gives_the_near_name(opsinfo: Run) -> None:
    ran = opsinfo("schema", "mixlst")
    assert (ran.code, ran.out) == (2, "")
    assert "`mixlist`" in ran.err
