"""The frame of HTML pages: one file, every text escaped, and a policy that allows only opsinfo's script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.core.terminal.answer import Column, Table
from opsinfo_cli.core.terminal.page import Bar, bars, dtype_class, page_text, table_section, word_class

HOSTILE = "</script><script>alert(1)</script>&'\"\u202e$x"


def test_the_policy_names_the_hashes_of_the_one_style_and_the_one_script() -> None:
    text = page_text("t", [], "", scripts=["table.js"])
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in text


def test_a_page_without_a_script_allows_none() -> None:
    text = page_text("t", [], "")
    assert "script-src 'none'" in text
    assert "<script" not in text


def test_no_text_becomes_markup() -> None:
    body = table_section(HOSTILE, Table([Column(HOSTILE)], [[HOSTILE]]), name=HOSTILE)
    text = page_text(HOSTILE, [(HOSTILE, HOSTILE)], body, lead=bars([Bar(HOSTILE, [(HOSTILE, 1)])]))
    assert "<script" not in text
    assert "\u202e" not in text
    assert text.count("\\u202e$x") == 11


def test_the_parts_of_a_bar_follow_each_other_to_its_end() -> None:
    text = bars([Bar("nodes", [("low", 1), ("high", 3)])])
    drawn = [(class_, float(x), float(width)) for class_, x, width in re.findall(_RECTANGLE, text)]
    assert drawn == [(word_class("low"), 0, 25), (word_class("high"), 25, 75)]


_RECTANGLE = r'<rect class="([^"]*)" x="([^"]*)" width="([^"]*)"'


def test_data_for_the_script_cannot_end_its_element() -> None:
    text = page_text("t", [], "", data={"name": HOSTILE})
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert json.loads(data) == {"name": HOSTILE}


def test_columns_of_numbers_are_aligned_at_their_end_and_policies_have_their_colour() -> None:
    columns = [Column("op type"), Column("nodes", number=True), Column("list", policy=True)]
    text = table_section("t", Table(columns, [["Add", "3", "white"], ["<", "4", "white -> black"]]))
    assert '<th scope="col" class="number">Nodes</th>' in text
    assert text.count('<td class="number" data-of="Nodes">') == 2
    assert '<td data-key="0" data-of="List"><span class="list white">white</span></td>' in text
    assert "→" in text
    assert '<th scope="row">&lt;</th>' in text


def test_a_table_without_a_script_says_how_many_rows_it_leaves_out() -> None:
    text = table_section("t", Table([Column("name")], [["Add"], ["Mul"], ["Sub"]]), most=2)
    assert "Mul" in text
    assert "Sub" not in text
    assert "1 more row not shown" in text


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("float16", "float16"), ("int8", "whole"), ("</style>", "whole"), (None, "nothing")],
    ids=["float16", "int8", "markup", "unknown"],
)
def test_a_dtype_has_a_class_of_a_fixed_set(dtype: str | None, expected: str) -> None:
    assert dtype_class(dtype) == expected


def test_equal_differences_inside_entries_are_one_row_and_the_rarest_are_left_out(
    opsinfo: Callable[..., Any], tmp_path: Path
) -> None:
    plain = {name: {"opFile": {"value": "x"}} for name in ("Abs", "Add", "Mul", *map("Op{}".format, range(610)))}
    changed = {name: {"opFile": {"value": name if name.startswith("Op") else "y"}} for name in plain}
    paths = [tmp_path / f"aic-{side}-ops-info.json" for side in "ab"]
    for path, entries in zip(paths, (plain, changed), strict=True):
        path.write_text(json.dumps(entries), "utf-8")
    page = opsinfo("diff", *paths, "--sections", "--format", "html").out
    assert page.count("3 op types: Abs, Add, Mul") == 1
    assert page.count('data-tags="1=inside"') == 600
    assert "11 rarer differences inside entries are not shown" in page
