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

from opsinfo_cli.report.page import Bar, Markup, Number, bars, dtype_class, page_text, pill, section, table

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
    body = section(HOSTILE, table(HOSTILE, [HOSTILE], [[HOSTILE]]), HOSTILE)
    text = page_text(HOSTILE, [(HOSTILE, HOSTILE)], body, lead=bars([Bar(HOSTILE, [(HOSTILE, 1)])]))
    assert "<script" not in text
    assert "\u202e" not in text
    assert text.count("\\u202e$x") == 11


def test_data_for_the_script_cannot_end_its_element() -> None:
    text = page_text("t", [], "", data={"name": HOSTILE})
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    assert json.loads(data) == {"name": HOSTILE}


def test_columns_of_numbers_are_aligned_at_their_end_and_markup_is_not_escaped() -> None:
    text = table("t", ["op type", "nodes", "runs"], [["Add", Number("3"), pill("low")], ["<", Number("4"), "-"]])
    assert '<th scope="col" class="number">nodes</th>' in text
    assert text.count('<td class="number" data-of="nodes">') == 2
    assert '<td data-of="runs"><span class="list low">low</span></td>' in text
    assert '<th scope="row">&lt;</th>' in text
    assert isinstance(pill("low"), Markup)


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
