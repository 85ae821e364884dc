"""Cells of CSV and Markdown: nothing in them is live, and numbers stay numbers."""

from __future__ import annotations

import csv
import io

import pytest

from opsinfo_cli.core.terminal.answer import Column, Table
from opsinfo_cli.core.terminal.csv_markdown import csv_text, markdown_text


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+A1", "'+A1"),
        ("-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "\\t=1"),
        (["=a", "b"], "'=a,b"),
        (-1.5, "-1.5"),
        (-3, "-3"),
        ("Mul", "Mul"),
        ("a=b", "a=b"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_cell_of_csv_is_no_formula(value: object, cell: str) -> None:
    rows = list(csv.reader(io.StringIO(csv_text(["x", "y"], [[value, 1]]))))
    assert rows[1] == [cell, "1"]
    if isinstance(value, str):  # a chip, say, is a column of a matrix
        (header, _) = csv.reader(io.StringIO(csv_text([value, "y"], [[1, 2]])))
        assert header == [cell, "y"]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("![x](http://a/b.png)", "`![x](http://a/b.png)`"),
        ("[a](b)", "`[a](b)`"),
        ("@everyone", "`@everyone`"),
        ("https://a.b", "`https://a.b`"),
        ("www.a.b", "`www.a.b`"),
        ("`@a`", "`` `@a` ``"),
        ("@a|b", "`@a\\|b`"),
        ("a|b", "a\\|b"),
        ("<b>*x*", "\\<b>\\*x\\*"),
        ("&#64;a", "`&#64;a`"),
        ("batch_matmul", "batch_matmul"),
    ],
)
def test_a_cell_of_markdown_is_text(value: str, cell: str) -> None:
    header, _, row = markdown_text(Table([Column(value)], [(value,)])).splitlines()
    assert header == row == f"| {cell} |"
