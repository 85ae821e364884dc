"""Every mixlist of the fixtures gives the result in CASES.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from check_support import Checker

from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.check.mixlist import MixlistTarget
from opsinfo_cli.core.text.scanner import scan, syntax_patch
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import OpsinfoError

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "fixtures" / "mixlists"
CASES: list[dict[str, Any]] = json.loads((FOLDER / "CASES.json").read_text("utf-8"))


@pytest.fixture(params=CASES, ids=lambda case: case["file"])
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = request.param
    return found


@pytest.fixture(scope="module")
def against() -> MixlistTarget:
    return MixlistTarget(resolve(str(ROOT / "fixtures" / "opp"), TargetOptions(soc="ascend910b"), {}))


def checked(case: dict[str, Any], against: MixlistTarget) -> Checker:
    checker = Checker(against=[against], kind="mixlist")
    checker.check_file(case["file"], (FOLDER / case["file"]).read_bytes())
    return checker


def test_every_file_is_a_case() -> None:
    there = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*.json"))
    assert there == sorted(case["file"] for case in CASES)


def test_the_findings_are_those_of_the_case(case: dict[str, Any], against: MixlistTarget) -> None:
    found = checked(case, against).outcome.findings
    assert sorted({finding.rule.name for finding in found}) == case["findings"]


def test_the_engine_accepts_a_file_without_a_refusing_finding(case: dict[str, Any], against: MixlistTarget) -> None:
    outcome = checked(case, against).outcome
    (verdict,) = outcome.files
    assert verdict.engine_accepts is case["engine_accepts"]
    assert any(finding.engine == "refuses" for finding in outcome.findings) is not case["engine_accepts"]


def test_the_model_accepts_what_the_findings_accept(case: dict[str, Any]) -> None:
    try:
        Mixlist.read(str(FOLDER / case["file"]))
        accepted = True
    except OpsinfoError:
        accepted = False
    assert accepted is case["engine_accepts"]


def test_the_policies_are_those_of_the_case(case: dict[str, Any], against: MixlistTarget) -> None:
    if "policies" not in case:
        assert not case["engine_accepts"]
        return
    mixlist = Mixlist.read(str(FOLDER / case["file"]))
    assert {name for name in mixlist.marks if name in against.target.operators} <= case["policies"].keys()
    for name, policy in case["policies"].items():
        assert str(mixlist.effective(name, against.policy(name))) == policy


def test_fixing_gives_the_result_of_the_case(case: dict[str, Any]) -> None:
    path = FOLDER / case["file"]
    try:
        source = Source(path.read_bytes(), case["file"])
        fixed = syntax_patch(scan(source)).apply(source)
        Mixlist(scan(Source(fixed, case["file"])))
        accepted = True
    except OpsinfoError:
        accepted = False
    assert accepted is case["fmt_fixes"]


def test_every_place_is_in_the_text(case: dict[str, Any], against: MixlistTarget) -> None:
    lines = (FOLDER / case["file"]).read_bytes().decode("utf-8-sig", "replace").split("\n")
    for finding in checked(case, against).outcome.findings:
        assert finding.start is not None
        assert finding.end is not None
        assert finding.start <= finding.end
        assert 1 <= finding.start.line <= len(lines)
        assert 1 <= finding.start.column <= len(lines[finding.start.line - 1]) + 1


def test_a_pointer_leads_to_something_in_the_text(case: dict[str, Any], against: MixlistTarget) -> None:
    for finding in checked(case, against).outcome.findings:
        if finding.pointer is None:
            continue
        text = Path(FOLDER / case["file"]).read_bytes().decode("utf-8-sig")
        value: Any = scan(Source(text.encode(), "f")).root
        assert value is not None
        value = value.plain()
        for step in finding.pointer.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]


WAYS_OUT = {
    '{"black-list": {"to-add": ["Add"]}, "white-list": {"to-add": ["Add"]}}': "keep the `to-add` of one list only",
    '{"gray-list": {"to-remove": ["Add"]}}': "to remove it from gray, add it to another list",
    '{"black-list": {"to-remove": ["Add"]}, "white-list": {"to-remove": ["Add"]}}': "use one `to-add`, and at most one "
    "`to-remove` of another list",
}


@pytest.mark.parametrize(
    ("text", "hint"), WAYS_OUT.items(), ids=["two to-add", "gray to-remove alone", "two to-remove"]
)
def test_a_contradiction_is_shown_with_a_way_to_resolve_it(text: str, hint: str) -> None:
    checker = Checker(kind="mixlist")
    checker.check_file("m.json", text.encode())
    (finding,) = [each for each in checker.outcome.findings if each.rule.name == "contradiction"]
    assert finding.hint == hint
