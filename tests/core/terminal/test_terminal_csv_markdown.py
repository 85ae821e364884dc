"""CSV and Markdown of tables: what a reader of the format gets back."""

from __future__ import annotations

import csv
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.core.terminal.answer import Column, Table
from opsinfo_cli.core.terminal.csv_markdown import csv_text, markdown_text
from opsinfo_cli.core.text.escape import visible

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@given(st.lists(st.tuples(TEXT, TEXT)))
def test_a_csv_reader_gets_the_cells_back_each_row_from_one_line(rows: list[tuple[str, str]]) -> None:
    lines = csv_text(["a", "b"], ({"a": a, "b": b, "more": 1} for a, b in rows)).split("\n")[:-1]
    assert [tuple(row) for row in csv.reader(lines)] == [("a", "b"), *((visible(a), visible(b)) for a, b in rows)]
    assert len(lines) == 1 + len(rows)


def test_values_of_a_document_in_one_cell() -> None:
    row: dict[str, Any] = {"none": None, "flag": True, "line": 7, "names": ["a", "b"], "nothing": []}
    row["tensors"] = [{"name": "x", "dtypes": ["float16", "float32"]}, {"name": "y", "dtypes": []}]
    assert csv_text(list(row), [row]).splitlines()[1] == ',true,7,"a,b",,"x float16,float32; y"'


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1))
def test_a_row_of_markdown_is_one_line_with_as_many_cells(rows: list[tuple[str, str]]) -> None:
    head, rule, *lines = markdown_text(Table([Column("a"), Column("b", number=True)], rows)).split("\n")[:-1]
    assert (head, rule) == ("| a | b |", "| --- | ---: |")
    assert len(lines) == len(rows)
    for line in lines:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3, line
