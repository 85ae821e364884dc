"""One library file: its entries as the engine reads them, and the mixlist beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from raising import raised
from tables import cases

from opsinfo_cli.core.cann.library import Library, Operators, Store
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged


def library(text: str | dict[str, Any]) -> Library:
    return Library.of(Source((text if isinstance(text, str) else json.dumps(text)).encode(), "aic-x-ops-info.json"))


def mixlist(text: str) -> Mixlist:
    return Mixlist(scan(Source(text.encode(), "m.json")))


def test_flags_become_policies_and_none_means_gray() -> None:
    entries = library(
        {
            "A": {"precision_reduce": {"flag": "true"}},
            "B": {"precision_reduce": {"flag": "FALSE "}},
            "C": {"precision_reduce": {"flag": ""}},
            "D": {"precision_reduce": {}},
            "E": {},
            "F": {"precision_reduce": {"Flag": "true"}},
        }
    ).entries
    assert [str(entries[name].policy) for name in "ABCDEF"] == ["white", "black", "gray", "gray", "gray", "gray"]


def test_of_equal_keys_the_last_wins_at_every_level() -> None:
    read = library(
        '{"A": {"precision_reduce": {"flag": "true"}},'
        ' "B": {"precision_reduce": {"flag": "true"}, "precision_reduce": {"flag": "false"}},'
        ' "C": {"precision_reduce": {"flag": "true", "flag": "false"}},'
        ' "A": {}}'
    )
    assert {name: str(entry.policy) for name, entry in read.entries.items()} == {
        "A": "gray",
        "B": "black",
        "C": "black",
    }


def test_sections_and_inner_keys_are_trimmed() -> None:
    read = library({"A": {" precision_reduce\t": {"\nflag ": "true"}}})
    assert read.entries["A"].policy is Policy.WHITE
    assert read.entries["A"].sections == {"precision_reduce": {"flag": "true"}}


@pytest.mark.parametrize(
    "name",
    [" Add", "Add ", "\tAdd", "Add\n", " "],
    ids=["blank before", "blank after", "tab before", "newline after", "blank alone"],
)
def test_an_op_type_with_blanks_around_it_fails_the_file(name: str) -> None:
    assert "blanks" in raised(Damaged, library, {"Log": {}, name: {}}).message


def test_a_blank_that_the_engine_does_not_trim_is_part_of_the_name() -> None:
    assert list(library({"\u00a0Add": {}}).entries) == ["\u00a0Add"]


def test_of_an_op_type_with_and_without_blanks_the_one_without_is_read() -> None:
    """The engine looks up the trimmed name, and finds the entry with it."""
    read = library({" Add": {"precision_reduce": {"flag": "true"}}, "Add": {"precision_reduce": {"flag": "false"}}})
    operators = Operators([Store([read])])
    assert operators.names == ["Add"]
    assert operators["Add"].entry.policy is Policy.BLACK


@pytest.mark.parametrize(
    "passed_over",
    [5, {"opFile": 5}, {"precision_reduce": {"flag": "flase"}}],
    ids=["number", "section is a number", "bad flag"],
)
def test_an_ignored_twin_with_blanks_is_not_checked(passed_over: object) -> None:
    read = library({" Add": passed_over, "Add": {"precision_reduce": {"flag": "false"}}})
    assert list(read.operators.names) == ["Add"]
    assert read.entries["Add"].faults == ()


@cases(
    "text, line, column",
    {
        "array": ("[]", 1, 1),
        "string": (' "Add"', 1, 2),
        "entry is a number": ('{"A": 1}', 1, 2),
        "section is a string": ('{\n "A": {"input0": "x"}}', 2, 8),
        "value is a number": ('{"A": {"input0": {"name": 1}}}', 1, 27),
        "value is null": ('{"A": {"input0": {"name": null}}}', 1, 27),
        "value is an array": ('{"A": {"input0": {"name": ["x"]}}}', 1, 27),
        "value is an object": ('{"A": {"input0": {"name": {}}}}', 1, 27),
        "value is a boolean": ('{"A": {"precision_reduce": {"flag": true}}}', 1, 37),
    },
)
def test_a_wrong_structure_fails_with_its_place(text: str, line: int, column: int) -> None:
    error = raised(Damaged, library, text)
    assert (error.line, error.column) == (line, column)
    assert error.exit_code == 3


@pytest.mark.parametrize("depth", [100, 200, 900, 100_000])
def test_a_value_nested_deep_fails_with_a_place_and_not_with_a_crash(depth: int) -> None:
    error = raised(Damaged, library, '{"A": {"x": {"y": ' + "[" * depth + "]" * depth + "}}}")
    assert error.line == 1
    assert error.column is not None


@pytest.mark.parametrize(
    "tail",
    ["}", ' "\\ud800"', ' "\\ud8', "\n\n{", " //"],
    ids=["brace", "lone surrogate", "cut escape", "open brace", "comment"],
)
def test_text_after_the_end_of_a_library_is_accepted(tail: str) -> None:
    assert list(library('{"A": {}}' + tail).entries) == ["A"]


def test_an_entry_knows_its_line() -> None:
    read = library('{\r\n"A": {},\r\n\r\n"B": {}, "C": {}}')
    assert [entry.line for entry in read.entries.values()] == [2, 4, 4]


def test_an_empty_library_is_accepted() -> None:
    assert library("{}").entries == {}


def test_the_marks_of_a_mixlist_are_collected_per_op_type() -> None:
    read = mixlist('{"black-list": {"to-add": ["A", "B"]}, "white-list": {"to-remove": ["A"], "to-add": []}}')
    assert {name: sorted(map(str, marks)) for name, marks in read.marks.items()} == {
        "A": ["black-list.to-add", "white-list.to-remove"],
        "B": ["black-list.to-add"],
    }
    assert read.effective("A", Policy.WHITE) is Policy.BLACK
    assert read.effective("Z", Policy.WHITE) is Policy.WHITE
    assert read.alone("B") is Policy.BLACK
    assert read.alone("Z") is None


def test_names_in_a_mixlist_are_neither_trimmed_nor_folded() -> None:
    read = mixlist('{"black-list": {"to-add": [" Add", "ADD", "Add"]}}')
    assert list(read.marks) == [" Add", "ADD", "Add"]


def test_the_last_of_repeated_lists_is_read() -> None:
    read = mixlist('{"black-list": {"to-add": ["A"]}, "black-list": {"to-add": ["B"]}}')
    assert list(read.marks) == ["B"]


@cases(
    "text, line, column",
    {
        "array": ("[]", 1, 1),
        "string": ('"x"', 1, 1),
        "unknown list": ('{"grey-list": {}}', 1, 2),
        "schema key": ('{"$schema": "x"}', 1, 2),
        "list is an array": ('{\n"black-list": []}', 2, 15),
        "list is null": ('{"black-list": null}', 1, 16),
        "unknown action": ('{"black-list": {"to_add": []}}', 1, 17),
        "action is a string": ('{"black-list": {"to-add": "A"}}', 1, 27),
        "number among names": ('{"black-list": {"to-add": [1]}}', 1, 28),
        "array among names": ('{"black-list": {"to-add": ["A", ["B"]]}}', 1, 33),
        "two to-add": ('{"black-list": {"to-add": ["A"]}, "white-list": {"to-add": ["A"]}}', 1, 28),
        "gray to-remove alone": ('{"gray-list": {"to-remove": ["A"]}}', 1, 30),
        "comment": ('{"black-list": {}, // x\n}', 1, 20),
        "empty": ("", 1, 1),
    },
)
def test_a_mixlist_that_the_engine_refuses_is_refused_with_the_place(text: str, line: int, column: int) -> None:
    error = raised(Damaged, mixlist, text)
    assert (error.line, error.column) == (line, column)


def test_an_empty_mixlist_and_one_with_a_tail_are_accepted() -> None:
    assert mixlist("{}").marks == {}
    assert list(mixlist('{"black-list": {"to-add": ["A"]}} }').marks) == ["A"]
