"""A finding is at the offending token: line, column, end and pointer."""

from __future__ import annotations

from pathlib import Path

import pytest

from opsinfo_cli.check.finding import Finding
from opsinfo_cli.check.mixlist import MixlistTarget
from opsinfo_cli.check.run import Checker
from opsinfo_cli.model.target import TargetOptions, resolve

Place = tuple[int, int]


def findings(kind: str, text: str | bytes) -> list[Finding]:
    checker = Checker(kind=kind)
    checker.file("f.json", text.encode() if isinstance(text, str) else text)
    return checker.outcome.findings


def only(kind: str, name: str, text: str | bytes) -> Finding:
    (finding,) = [each for each in findings(kind, text) if each.rule.name == name]
    return finding


PLACES: dict[str, tuple[str, str, str, Place, Place, str | None]] = {
    # situation: (kind, finding, text, place, end, pointer)
    "plain": ("mixlist", "unknown-list", '{"grey-list": {}}', (1, 2), (1, 13), "/grey-list"),
    "CRLF": ("mixlist", "unknown-list", '{\r\n\r\n  "grey-list": {}}', (3, 3), (3, 14), "/grey-list"),
    "tabs": ("mixlist", "unknown-action", '{"black-list": {\n\t\t"add": []}}', (2, 3), (2, 8), "/black-list/add"),
    "a byte order mark": ("mixlist", "unknown-list", '\ufeff{"grey-list": {}}', (1, 2), (1, 13), "/grey-list"),
    "CJK before the token": (
        "mixlist",
        "wrong-type",
        '{"black-list": {"to-add": ["\u4e2d\u6587", 1]}}',
        (1, 34),
        (1, 35),
        "/black-list/to-add/1",
    ),
    "a character beyond the plane before the token": (
        "mixlist",
        "wrong-type",
        '{"black-list": {"to-add": ["\U0001f600", 1]}}',
        (1, 33),
        (1, 34),
        "/black-list/to-add/1",
    ),
    "escapes before the token": (
        "mixlist",
        "wrong-type",
        '{"black-list": {"to-add": ["\\u4e2d\\/", null]}}',
        (1, 40),
        (1, 44),
        "/black-list/to-add/1",
    ),
    "a slash and a tilde in the key": ("mixlist", "unknown-list", '{"a/b~c": {}}', (1, 2), (1, 9), "/a~1b~0c"),
    "the later of two equal keys": (
        "mixlist",
        "duplicate-key",
        '{"black-list": {},\n "black-list": {}}',
        (2, 2),
        (2, 14),
        "/black-list",
    ),
    "the last mark of a contradiction": (
        "mixlist",
        "contradiction",
        '{"black-list": {"to-add": ["A"]},\n"white-list": {"to-add": ["B", "A"]}}',
        (2, 32),
        (2, 35),
        "/white-list/to-add/1",
    ),
    "the second of two equal op types": (
        "mixlist",
        "duplicate-operator",
        '{"black-list": {"to-add": ["A", "A"]}}',
        (1, 33),
        (1, 36),
        "/black-list/to-add/1",
    ),
    "text after the end": ("mixlist", "trailing-text", "{}\r\n\r\n  x", (3, 3), (3, 4), None),
    "an array for a list": ("mixlist", "wrong-type", '{\n"black-list": [ ]}', (2, 15), (2, 18), "/black-list"),
    "a root that is not an object": ("mixlist", "wrong-type", "\n[]", (2, 1), (2, 3), ""),
    "a root that is not a library": ("library", "wrong-type", ' "x"', (1, 2), (1, 5), ""),
    "a flag": (
        "library",
        "bad-flag",
        '{\r\n\t"Log": {\r\n\t\t"precision_reduce": {"flag": "flase"}}}',
        (3, 32),
        (3, 39),
        "/Log/precision_reduce/flag",
    ),
    "a value that is not a string": (
        "library",
        "wrong-type",
        '{"L/o~g": {"opFile": {"value": 12}}}',
        (1, 32),
        (1, 34),
        "/L~1o~0g/opFile/value",
    ),
    "a section that is not an object": (
        "library",
        "wrong-type",
        '{"Log": {"opFile": []}}',
        (1, 10),
        (1, 18),
        "/Log/opFile",
    ),
    "an entry that is not an object": ("library", "wrong-type", '{"Log": 1}', (1, 2), (1, 7), "/Log"),
    "an op type with blanks": ("library", "blank-in-name", '{\n  "Log ": {}}', (2, 3), (2, 9), "/Log "),
    "one word of a comma list": (
        "library",
        "bad-value",
        '{"Log": {"input0": {"name": "x", "paramType": "required", "dtype": "float, bf16", "format": "ND,ND"}}}',
        (1, 76),
        (1, 80),
        "/Log/input0/dtype",
    ),
    "a word of a list after CJK": (
        "library",
        "unknown-value",
        '{"\u7b97\u5b50": {"input0": {"name": "\u4e2d", "paramType": "required",'
        ' "dtype": "float", "format": "FRACTAL_NEW"}}}',
        (1, 87),
        (1, 98),
        "/\u7b97\u5b50/input0/format",
    ),
    "a section near one that is read": (
        "library",
        "unknown-section",
        '{"Log": {"precision_reduces": {"flag": "true"}}}',
        (1, 10),
        (1, 29),
        "/Log/precision_reduces",
    ),
    "a section with blanks in its name": (
        "library",
        "bad-flag",
        '{"Log": {" precision_reduce ": {" flag": "x"}}}',
        (1, 42),
        (1, 45),
        "/Log/precision_reduce/flag",
    ),
    "a value that is not a string beside a section of almost the same name": (
        "library",
        "wrong-type",
        '{"Log": {" a": {"x": "y"}, "a": {"z": 5}}}',
        (1, 39),
        (1, 40),
        "/Log/a/z",
    ),
    "a section that is not an object beside one of almost the same name": (
        "library",
        "wrong-type",
        '{"Log": {" a": {"x": "y"}, "a": 5}}',
        (1, 28),
        (1, 31),
        "/Log/a",
    ),
    "an op type that its twin without blanks replaces": (
        "library",
        "duplicate-key",
        '{" Log": {"precision_reduce": {"flag": "flase"}}, "Log": {}}',
        (1, 2),
        (1, 8),
        "/ Log",
    ),
    "equal keys deep inside": (
        "library",
        "duplicate-key",
        '{"Log": {"opFile": {"value": "a",\n"value": "b"}}}',
        (2, 1),
        (2, 8),
        "/Log/opFile/value",
    ),
}


@pytest.mark.parametrize("situation", PLACES)
def test_a_finding_is_placed_at_its_token(situation: str) -> None:
    kind, name, text, start, end, pointer = PLACES[situation]
    finding = only(kind, name, text)
    assert finding.start is not None
    assert finding.end is not None
    assert (tuple(finding.start), tuple(finding.end)) == (start, end)
    if situation != "a section with blanks in its name":
        assert finding.pointer == pointer


@pytest.mark.parametrize("kind", ["mixlist", "library"])
def test_bytes_that_are_not_utf8_after_the_value_are_trailing_text(kind: str) -> None:
    finding = only(kind, "trailing-text", b"{}\n \xff\xfe")
    assert finding.start is not None
    assert tuple(finding.start) == (2, 2)


def test_bytes_that_are_not_utf8_have_a_place_too() -> None:
    finding = only("mixlist", "syntax", b'{"black-list":\n {"to-add": ["\xe4\xb8\xad\xff"]}}')
    assert finding.start is not None
    assert tuple(finding.start) == (2, 16)


@pytest.mark.exhaustive
@pytest.mark.parametrize("depth", [130, 500, 100_000])
@pytest.mark.parametrize("kind", ["mixlist", "library"])
def test_deep_nesting_is_a_finding_and_not_a_crash(kind: str, depth: int) -> None:
    text = '{"A": {"b": {"c": ' + "[" * depth + "]" * depth + "}}}"
    found = findings(kind, text)
    assert found
    assert any(each.engine == "refuses" for each in found)


@pytest.mark.parametrize(
    "tail", ['"\\ud800"', '"\\ud8', "}", "[" * 100_000], ids=["lone surrogate", "cut escape", "brace", "deep nesting"]
)
def test_a_tail_of_any_shape_is_trailing_text(tail: str) -> None:
    assert [each.rule.name for each in findings("library", '{"A": {}} ' + tail)] == ["trailing-text"]


def test_findings_are_in_the_order_of_the_text(fixtures: Path) -> None:
    text = '{"x": {}, // c\n"black-list": {"to_add": [], "to-add": [1, "A", "A"]}, "y": 1,}'
    places = [each.start for each in findings("mixlist", text)]
    assert places == sorted(places, key=lambda place: place or (0, 0))
    assert len(places) == 7


def test_an_entry_with_a_section_twice_once_trimmed_is_judged_without_a_crash() -> None:
    text = '{"A": {" input0": {"name": "x", "dtype": "bf16", "format": "ND"}, "input0": {"name": "x"}}}'
    assert {each.rule.name for each in findings("library", text)} >= {"bad-value"}


# the hints


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("grey-list", "gray-list"),
        ("whitelist", "white-list"),
        ("white_list", "white-list"),
        ("BLACK-LIST", "black-list"),
        ("trustlist", "white-list"),
        ("blocklist", "black-list"),
        ("graylist", "gray-list"),
        ("blak-list", "black-list"),
    ],
)
def test_an_unknown_list_gets_a_suggestion(key: str, meant: str) -> None:
    assert f"`{meant}`" in str(only("mixlist", "unknown-list", f'{{"{key}": {{}}}}').hint)


def test_a_schema_key_is_explained() -> None:
    assert "schema" in str(only("mixlist", "unknown-list", '{"$schema": "x"}').hint)


@pytest.mark.parametrize(
    ("key", "meant"), [("to_add", "to-add"), ("to-delete", "to-remove"), ("TO-REMOVE", "to-remove")]
)
def test_an_unknown_action_gets_a_suggestion(key: str, meant: str) -> None:
    assert f"`{meant}`" in str(only("mixlist", "unknown-action", f'{{"black-list": {{"{key}": []}}}}').hint)


def test_an_unknown_operator_gets_the_near_name_first(fixtures: Path) -> None:
    target = resolve(str(fixtures / "opp"), TargetOptions(soc="ascend910b"), {})
    checker = Checker(against=[MixlistTarget(target)])
    checker.file("m.json", b'{"black-list": {"to-add": ["MatMu1V2"]}}')
    (finding,) = checker.outcome.findings
    assert (finding.rule.name, finding.severity) == ("unknown-operator", "error")
    assert str(finding.hint).startswith("did you mean `MatMulV2`")


def test_an_operator_of_another_target_is_a_warning_with_the_target(fixtures: Path) -> None:
    targets = [
        MixlistTarget(resolve(str(fixtures / "opp"), TargetOptions(soc=soc), {})) for soc in ("ascend910b", "ascend910")
    ]
    only_new = next(name for name in targets[0].target.operators.names if name not in targets[1].target.operators)
    checker = Checker(against=targets)
    checker.file("m.json", f'{{"white-list": {{"to-add": ["{only_new}"]}}}}'.encode())
    (finding,) = [each for each in checker.outcome.findings if each.rule.name == "unknown-operator"]
    assert finding.severity == "warning"
    assert "ascend910b" in finding.message
    assert "ascend910 " in finding.message


def test_a_mixlist_without_a_target_has_no_findings_on_names() -> None:
    assert findings("mixlist", '{"black-list": {"to-add": ["NoSuchThing"]}}') == []


@pytest.mark.parametrize(
    ("name", "given", "kind"),
    [
        ("aic-ascend910b-ops-info.json", None, "library"),
        ("ops_info.json", None, "mixlist"),
        ("aic-ascend910b-ops-info.json", "mixlist", "mixlist"),
        ("ops_info.json", "library", "library"),
    ],
)
def test_a_file_that_is_not_utf_8_has_the_kind_that_is_given_or_that_of_its_name(
    name: str, given: str | None, kind: str
) -> None:
    checker = Checker(kind=given)
    checker.file(name, b'{"\xff": {}}')
    assert [(verdict.kind, verdict.engine_accepts) for verdict in checker.outcome.files] == [(kind, False)]
    assert [finding.rule.name for finding in checker.outcome.findings] == ["syntax"]
