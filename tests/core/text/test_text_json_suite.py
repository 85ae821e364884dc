"""JSONTestSuite: valid files load, invalid ones are refused, and nothing crashes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opsinfo_cli.core.text.members import read_members
from opsinfo_cli.core.text.scanner import Document, scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged

SUITE = Path(__file__).parent / "json-test-suite"
FIRST_VALUE_IS_SOUND = {
    "n_array_comma_after_close.json",
    "n_array_extra_close.json",
    "n_multidigit_number_then_00.json",
    "n_object_trailing_comment.json",
    "n_object_trailing_comment_open.json",
    "n_object_trailing_comment_slash_open.json",
    "n_object_trailing_comment_slash_open_incomplete.json",
    "n_object_with_trailing_garbage.json",
    "n_string_with_trailing_garbage.json",
    "n_structure_array_trailing_garbage.json",
    "n_structure_array_with_extra_array_close.json",
    "n_structure_close_unopened_array.json",
    "n_structure_double_array.json",
    "n_structure_number_with_trailing_garbage.json",
    "n_structure_object_followed_by_closing_object.json",
    "n_structure_object_with_trailing_garbage.json",
    "n_structure_trailing_#.json",
}
"""Cases whose only fault is text after the first value, which the engine never reads."""


def both(path: Path) -> tuple[Document, bool]:
    """The exact reader's document, and whether the fast one accepts the text."""
    source = Source(path.read_bytes(), path.name)
    fast = read_members(source)
    return scan(source), not isinstance(fast, Document) or not fast.faults


@pytest.mark.parametrize(
    "case", sorted((Path(__file__).parent / "json-test-suite").glob("*.json")), ids=lambda path: path.name
)
def test_the_case_ends_as_in_its_name(case: Path) -> None:
    try:
        document, fast_accepts = both(case)
    except Damaged:
        assert case.name[0] in "ni"
        return
    accepted = not document.faults
    assert fast_accepts is accepted
    if case.name.startswith("y_"):
        assert accepted
        loaded = json.loads(case.read_bytes().decode("utf-8-sig"), parse_int=float)
        assert document.require_root().plain() == loaded
    elif case.name in FIRST_VALUE_IS_SOUND:
        assert accepted
        assert document.tail is not None
    elif case.name.startswith("n_"):
        assert not accepted
