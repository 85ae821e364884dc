"""``docs/reliability.md``: every promise has its line, and every named test exists."""

from __future__ import annotations

import re

import pytest
from faults_counts import CI, LONG
from faults_support import ROOT

PAGE = ROOT / "docs" / "reliability.md"
TABLE = re.compile(r"^\| T(\d\d) \|", re.MULTILINE)
NAMED = re.compile(r"`([a-z_/]*test_[a-z0-9_]+\.py)::([A-Za-z0-9_]+)`")


@pytest.fixture
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_every_line_of_the_table_exists_in_order(page: str) -> None:
    assert [int(number) for number in TABLE.findall(page)] == list(range(1, 91))


def test_every_line_names_a_test_or_a_reason_for_none(page: str) -> None:
    for line in page.splitlines():
        if TABLE.match(line):
            assert NAMED.search(line) or "does not apply" in line, line


def test_every_named_test_exists(page: str) -> None:
    missing = []
    named = NAMED.findall(page)
    assert len(named) > 100
    for path, name in named:
        file = ROOT / "tests" / path
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        if not re.search(rf"^(def|class) {name}\b|^{name} = ", text, re.MULTILINE):
            missing.append(f"{path}::{name}")
    assert missing == []


def test_the_counts_on_the_page_are_those_of_the_runs(page: str) -> None:
    for counts in (CI, LONG):
        row = f"| {counts.signals} | {counts.kills} | {counts.writers} |"
        assert row in page, row
