"""A finding is at the offending token: line, column, end and pointer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from check_support import Checker
from tables import rows

from opsinfo_cli.core.cann.file_kind import NamedKind
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.check.finding import Finding
from opsinfo_cli.core.check.mixlist import MixlistTarget


def findings(kind: Any, text: str | bytes) -> list[Finding]:
    checker = Checker(kind=kind)
    checker.check_file("f.json", text.encode() if isinstance(text, str) else text)
    return checker.outcome.findings


def only(kind: str, name: str, text: str | bytes) -> Finding:
    (finding,) = [each for each in findings(kind, text) if each.rule.name == name]
    return finding


PLACES = rows(__file__, "places.toml")


@pytest.mark.parametrize(
    ("kind", "name", "text", "start", "end", "pointer"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES]
)
def test_a_finding_is_placed_at_its_token(
    kind: str, name: str, text: str, start: list[int], end: list[int], pointer: str
) -> None:
    finding = only(kind, name, text)
    assert finding.start is not None
    assert finding.end is not None
    assert ([*finding.start], [*finding.end]) == (start, end)
    if " precision_reduce " not in text:
        assert finding.pointer == (None if pointer == "none" else pointer)


@pytest.mark.parametrize("kind", ["mixlist", "library"])
def test_bytes_that_are_not_utf8_after_the_value_are_trailing_text(kind: str) -> None:
    finding = only(kind, "trailing-text", b"{}\n \xff\xfe")
    assert finding.start is not None
    assert tuple(finding.start) == (2, 2)


def test_bytes_that_are_not_utf8_have_a_place_too() -> None:
    finding = only("mixlist", "syntax", b'{"black-list":\n {"to-add": ["\xe4\xb8\xad\xff"]}}')
    assert finding.start is not None
    assert tuple(finding.start) == (2, 16)


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
    checker.check_file("m.json", b'{"black-list": {"to-add": ["MatMu1V2"]}}')
    (finding,) = checker.outcome.findings
    assert (finding.rule.name, finding.severity) == ("unknown-operator", "error")
    assert str(finding.hint).startswith("did you mean `MatMulV2`")


def test_an_operator_of_another_target_is_a_warning_with_the_target(fixtures: Path) -> None:
    targets = [
        MixlistTarget(resolve(str(fixtures / "opp"), TargetOptions(soc=soc), {})) for soc in ("ascend910b", "ascend910")
    ]
    only_new = next(name for name in targets[0].target.operators.names if name not in targets[1].target.operators)
    checker = Checker(against=targets)
    checker.check_file("m.json", f'{{"white-list": {{"to-add": ["{only_new}"]}}}}'.encode())
    (finding,) = [each for each in checker.outcome.findings if each.rule.name == "unknown-operator"]
    assert finding.severity == "warning"
    assert "ascend910b" in finding.message
    assert "ascend910," in finding.message


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
    name: str, given: NamedKind | None, kind: str
) -> None:
    checker = Checker(kind=given)
    checker.check_file(name, b'{"\xff": {}}')
    assert [(verdict.kind, verdict.engine_accepts) for verdict in checker.outcome.files] == [(kind, False)]
    assert [finding.rule.name for finding in checker.outcome.findings] == ["syntax"]
