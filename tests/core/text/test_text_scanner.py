"""The exact reader: faults, their places, and their fixes."""

from __future__ import annotations

import pytest
from raising import raised

from opsinfo_cli.core.text.patch import Edit
from opsinfo_cli.core.text.scanner import MAX_DEPTH, Document, Fault, scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Damaged


def scanned(text: str) -> Document:
    return scan(Source(text.encode("utf-8"), "f.json"))


def only_fault(text: str) -> Fault:
    document = scanned(text)
    assert [fault.name for fault in document.faults] == [document.faults[0].name], document.faults
    return document.faults[0]


SYNTAX = {
    # situation: (text, line and column of the fault, line and column after it)
    "single quotes around a key": ("{'a':1}", (1, 2), (1, 3)),
    "single quotes around a value": ("['a']", (1, 2), (1, 3)),
    "wide quotes": ("{\u201ca\u201d: 1}", (1, 2), (1, 3)),
    "wide comma": ('["a"\uff0c"b"]', (1, 5), (1, 6)),
    "NaN": ("[NaN]", (1, 2), (1, 5)),
    "Infinity": ("[Infinity]", (1, 2), (1, 10)),
    "minus Infinity": ("[-Infinity]", (1, 2), (1, 11)),
    "python literal": ('{"a": True}', (1, 7), (1, 11)),
    "word cut short": ("[tru]", (1, 2), (1, 5)),
    "unquoted value": ('{"a": Log}', (1, 7), (1, 10)),
    "key that is not a string": ('{1: "a"}', (1, 2), (1, 3)),
    "colon missing": ('{"a" 1}', (1, 6), (1, 7)),
    "value missing": ('{"a":}', (1, 6), (1, 7)),
    "semicolon for a comma": ('{"a":1;"b":2}', (1, 7), (1, 8)),
    "comma twice": ('["a",,"b"]', (1, 6), (1, 7)),
    "comma first": ('[,"a"]', (1, 2), (1, 3)),
    "comma alone": ("{,}", (1, 2), (1, 3)),
    "array closed as an object": ('["a","b"}', (1, 9), (1, 10)),
    "object closed as an array": ('{"a":1]', (1, 7), (1, 8)),
    "bad escape": ('["\\x"]', (1, 3), (1, 4)),
    "newline in a string": ('["a\nb"]', (1, 4), (2, 1)),
    "tab in a string": ('["a\tb"]', (1, 4), (1, 5)),
    "lone surrogate": ('["ab", "\\ud800"]', (1, 8), (1, 16)),
    "two high halves": ('["\\ud800\\ud800"]', (1, 2), (1, 16)),
    "plus before a number": ("[+1]", (1, 2), (1, 3)),
    "number without digits before the point": ("[.5]", (1, 2), (1, 3)),
    "number without digits after the point": ("[1.]", (1, 3), (1, 4)),
    "end inside an object": ('{"a":1', (1, 7), (1, 7)),
    "end inside an array": ('["a"\n', (2, 1), (2, 1)),
    "end after a colon": ('{"a":', (1, 6), (1, 6)),
    "end inside a string": ('["abc', (1, 2), (1, 3)),
    "unclosed comment": ('["a" /* b', (1, 6), (1, 7)),
    "NUL": ("\0", (1, 1), (1, 2)),
    "after two lines, a tab and CJK": ('{\r\n\t"a": 1,\n  "\u4e2d": x}', (3, 8), (3, 9)),
}


@pytest.mark.parametrize("situation", SYNTAX)
def test_a_syntax_fault_is_at_its_token(situation: str) -> None:
    text, start, end = SYNTAX[situation]
    document = scanned(text)
    (fault,) = document.faults
    assert fault.name == "syntax"
    assert fault.fix is None
    assert tuple(document.source.place(fault.start)) == start
    assert tuple(document.source.place(fault.end)) == end
    assert document.root is None


@pytest.mark.parametrize("situation", SYNTAX)
def test_a_message_is_a_whole_phrase(situation: str) -> None:
    message = scanned(SYNTAX[situation][0]).faults[0].message
    assert message[0].islower() or message[0] == "`"
    assert not message.endswith((" at", ".", ":", " "))


FIXABLE = {
    # situation: (text, name, line and column of the fault, line and column after it, the edit that fixes it)
    "line comment after a value": ('["a" // x\n]', "comment", (1, 6), (1, 10), Edit(4, 9, "")),
    "line comment alone in its line": ('[\n  // x\n  "a"\n]', "comment", (2, 3), (2, 7), Edit(2, 9, "")),
    "line comment in a CRLF line of its own": ('[\r\n// x\r\n"a"]', "comment", (2, 1), (2, 5), Edit(3, 9, "")),
    "hash comment": ('["a" # x\n]', "comment", (1, 6), (1, 9), Edit(4, 8, "")),
    "block comment between two values": ('["a", /* x */ "b"]', "comment", (1, 7), (1, 14), Edit(5, 13, "")),
    "block comment of two lines": ('["a", /* x\ny */ "b"]', "comment", (1, 7), (2, 5), Edit(5, 15, "")),
    "comment before the value": ("// x\n{}", "comment", (1, 1), (1, 5), Edit(0, 5, "")),
    "comment between key and colon": ('{"a" /**/: 1}', "comment", (1, 6), (1, 10), Edit(4, 9, "")),
    "trailing comma in an array": ('["a",]', "trailing-comma", (1, 5), (1, 6), Edit(4, 5, "")),
    "trailing comma in an object": ('{"a": 1 ,\n}', "trailing-comma", (1, 9), (1, 10), Edit(8, 9, "")),
    "trailing comma after an inner array": ('{"a": [] , }', "trailing-comma", (1, 10), (1, 11), Edit(9, 10, "")),
    "missing comma in an array": ('["a" "b"]', "missing-comma", (1, 5), (1, 5), Edit(4, 4, ",")),
    "missing comma between two lines": ('["a"\n"b"]', "missing-comma", (1, 5), (1, 5), Edit(4, 4, ",")),
    "missing comma between members": ('{"a": {} "b": 1}', "missing-comma", (1, 9), (1, 9), Edit(8, 8, ",")),
    "missing comma before a number": ("[1 -2]", "missing-comma", (1, 3), (1, 3), Edit(2, 2, ",")),
}


@pytest.mark.parametrize("situation", FIXABLE)
def test_a_fixable_fault_has_its_place_and_its_fix(situation: str) -> None:
    text, name, start, end, fix = FIXABLE[situation]
    document = scanned(text)
    (fault,) = document.faults
    assert (fault.name, fault.fix) == (name, fix)
    assert tuple(document.source.place(fault.start)) == start
    assert tuple(document.source.place(fault.end)) == end
    assert document.root is not None


@pytest.mark.parametrize("text", ["", " ", "\n\r\n\t"], ids=["empty", "blank", "newlines and a tab"])
def test_a_text_of_blanks_is_an_empty_file(text: str) -> None:
    fault = only_fault(text)
    assert (fault.name, fault.start, fault.fix) == ("empty-file", 0, None)


def test_a_file_of_comments_alone_is_empty_too() -> None:
    names = {fault.name for fault in scanned("// nothing\n/* at all */\n").faults}
    assert names == {"comment", "empty-file"}


def test_several_faults_are_all_named() -> None:
    document = scanned('{"a": ["x" "y",], // c\n "b": 1,}')
    assert sorted(fault.name for fault in document.faults) == [
        "comment",
        "missing-comma",
        "trailing-comma",
        "trailing-comma",
    ]
    assert document.root is not None
    assert document.root.plain() == {"a": ["x", "y"], "b": 1.0}


@pytest.mark.parametrize("text", ["[01]", "[-012]", "[1-2]", "[1true]", "[1.2.3]", "[0x10]", "[1e]", "[1.5e+]", "[00]"])
def test_a_misspelt_number_is_not_fixed_by_splitting_it(text: str) -> None:
    assert any(fault.fix is None for fault in scanned(text).faults)


@pytest.mark.parametrize(
    "text",
    ['{"a":1} {"b":2}', '{"a":1}}', '{"a":1}\n\0\0', '{"a":1} // x', '{"a":1},'],
    ids=["second object", "brace", "NULs", "comment", "comma"],
)
def test_text_after_the_value_is_not_a_fault(text: str) -> None:
    document = scanned(text)
    assert document.faults == []
    assert document.require_root().plain() == {"a": 1.0}
    assert document.tail is not None
    assert text[: document.end] == '{"a":1}'
    assert text[document.tail] not in " \t\r\n"


@pytest.mark.parametrize("text", ['{"a":1}', '{"a":1}\n', ' {"a":1}\r\n\t '], ids=["none", "newline", "blanks around"])
def test_blanks_after_the_value_are_not_trailing_text(text: str) -> None:
    assert scanned(text).tail is None


@pytest.mark.parametrize("bracket", ["[", '{"a":'], ids=["arrays", "objects"])
@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 1000, 100_000])
def test_nesting_beyond_the_limit_is_refused_not_crashed_on(bracket: str, depth: int) -> None:
    document = scanned(bracket * depth)
    (fault,) = document.faults
    assert fault.name == "syntax"
    assert "deep" in fault.message
    assert fault.start == MAX_DEPTH * len(bracket)


def test_nesting_up_to_the_limit_is_read() -> None:
    document = scanned("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert document.faults == []
    assert document.root is not None


def test_a_number_of_5000_digits_keeps_its_text() -> None:
    digits = "0." + "9" * 5000
    root = scanned(f'{{"a": {digits}}}').require_root()
    assert root.members[0].value.value == digits


@pytest.mark.parametrize("number", ["0", "-0", "1.10", "1E5", "1e-400", "1e308", "30" * 15, "0.0e+00"])
def test_a_number_keeps_its_spelling(number: str) -> None:
    document = scanned(f"[{number}]")
    assert document.faults == []
    assert document.require_root().items[0].value == number


@pytest.mark.parametrize("number", ["1e400", "-1E+309", "9" * 310, "1" * 5000])
def test_a_number_beyond_doubles_is_refused_as_in_the_engine(number: str) -> None:
    (fault,) = scanned(f'{{"a": {number}, "a": {{}}}}').faults
    assert (fault.name, fault.start, fault.end) == ("syntax", 6, 6 + len(number))


def test_a_surrogate_pair_in_escapes_is_one_character() -> None:
    assert scanned('["\\ud83d\\ude00"]').require_root().plain() == ["\U0001f600"]


def test_equal_keys_are_kept_and_the_last_is_read() -> None:
    root = scanned('{"a": 1, "b": 2, "a": 3}').require_root()
    assert [member.name for member in root] == ["a", "b", "a"]
    found = root.get("a")
    assert found is not None
    assert found.value == "3"
    assert root.get("c") is None
    assert root.plain() == {"a": 3.0, "b": 2.0}


def test_spans_give_back_the_text_of_keys_and_values() -> None:
    text = '\r\n{ "a\\u0062" :\t[ 1.50 , "x\\/y", true ] , "\u4e2d": { } } '
    root = scanned(text).require_root()
    assert text[root.start : root.end] == text.strip()
    first, second = root.members
    assert text[first.key.start : first.key.end] == '"a\\u0062"'
    assert text[first.value.start : first.value.end] == '[ 1.50 , "x\\/y", true ]'
    assert [text[item.start : item.end] for item in first.value.items] == ["1.50", '"x\\/y"', "true"]
    assert text[second.value.start : second.value.end] == "{ }"
    assert first.value.plain() == [1.5, "x/y", True]


def test_a_scan_can_begin_in_the_middle() -> None:
    text = '{"a": {"b": 1}, "c": 2}'
    document = scan(Source(text.encode(), "f.json"), text.index('{"b"'))
    assert document.require_root().plain() == {"b": 1.0}
    assert text[: document.end].endswith('{"b": 1}')


def test_requiring_the_root_of_a_faulty_text_names_the_place() -> None:
    error = raised(Damaged, scanned('{\n  "a": tru\n}').require_root)
    assert (error.path, error.line, error.column) == ("f.json", 2, 8)
    assert error.exit_code == 3
    assert error.hint is None


def test_the_hint_names_fmt_if_fmt_can_fix_the_fault() -> None:
    assert "fmt" in str(raised(Damaged, scanned('["a",]').require_root).hint)
