"""The rules: each rule's failing example has the finding, the passing one has not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from check_support import Checker
from contract import FINDINGS

from opsinfo_cli.core.cann.file_kind import NamedKind
from opsinfo_cli.core.cann.precision_mode import MODES
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.check.mixlist import MixlistTarget
from opsinfo_cli.core.check.rules import RULES, Rule

ON_TEXTS = [
    rule
    for rule in RULES.values()
    if rule.about in ("mixlist", "library", "both", "ini") or (rule.about == "options" and "--" not in rule.fails)
]


def test_the_table_is_the_contract() -> None:
    assert {name: (rule.about, rule.severity, rule.engine) for name, rule in RULES.items()} == FINDINGS


def test_codes_are_unique_and_begin_with_their_family() -> None:
    families = {
        "mixlist": "MT",
        "library": "LT",
        "both": "T",
        "mode": "P",
        "model": "G",
        "options": "O",
        "store": "S",
        "install": "S",
        "vault": "V",
        "ini": "D",
        "OpDef source": "D",
        "configuration": "D",
    }
    codes = [rule.code for rule in RULES.values()]
    assert len(set(codes)) == len(codes)
    for rule in RULES.values():
        assert re.fullmatch(rf"[{families[rule.about]}][0-9]{{3}}", rule.code)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_a_rule_has_a_reason_and_a_source(rule: Rule) -> None:
    assert rule.why.endswith(".")
    assert rule.source
    assert rule.fails != rule.passes


@pytest.fixture(scope="module")
def targets() -> list[MixlistTarget]:
    opp = Path(__file__).resolve().parents[3] / "fixtures" / "opp"
    return [MixlistTarget(resolve(str(opp), TargetOptions(soc=soc), {})) for soc in ("ascend910b", "ascend910")]


KINDS: dict[str, tuple[NamedKind | None, str]] = {
    "library": ("library", "aic-x-ops-info.json"),
    "ini": (None, "aic-x-ops-info.ini"),
    "options": (None, "names.cfg"),
}
"""How an example is read; others are mixlists."""


def found(rule: Rule, text: str, targets: list[MixlistTarget]) -> set[str]:
    """Return the names of the findings against each chip of the fixture."""
    names = set()
    for target in targets:
        kind, path = KINDS.get(rule.about, ("mixlist", "ops_info.json"))
        if rule.name == "foreign-list":  # what --as calls a mixlist is checked as one
            kind, path = None, "proxy.json"
        checker = Checker(against=[target], kind=kind)
        checker.check_file(path, text.encode())
        names |= {finding.rule.name for finding in checker.outcome.findings}
    return names


@pytest.mark.parametrize("rule", ON_TEXTS, ids=lambda rule: rule.name)
def test_the_example_that_fails_has_the_finding(rule: Rule, targets: list[MixlistTarget]) -> None:
    assert rule.name in found(rule, rule.fails, targets)


@pytest.mark.parametrize("rule", ON_TEXTS, ids=lambda rule: rule.name)
def test_the_example_that_passes_has_no_such_finding_and_no_error(rule: Rule, targets: list[MixlistTarget]) -> None:
    assert rule.name not in found(rule, rule.passes, targets)
    names = found(rule, rule.passes, targets[:1])
    assert not {name for name in names if RULES[name].severity == "error"}


@pytest.mark.parametrize("rule", [rule for rule in ON_TEXTS if rule.about == "both"], ids=lambda rule: rule.name)
def test_a_rule_on_texts_holds_for_libraries_too(rule: Rule) -> None:
    in_a_library = {
        "wrong-type": '{"Log": {"opFile": {"value": 1}}}',
        "trailing-comma": '{"Log": {},}',
        "missing-comma": '{"Log": {} "Pow": {}}',
        "comment": '{"Log": {} // x\n}',
        "trailing-text": '{"Log": {}} }',
        "bom": '\ufeff{"Log": {}}',
        "duplicate-key": '{"Log": {}, "Log": {}}',
        "syntax": "{'Log': {}}",
        "empty-file": " ",
        "invisible-character": '{"Log":\u00a0{}}',
    }
    checker = Checker(kind="library")
    checker.check_file("aic-x-ops-info.json", in_a_library[rule.name].encode())
    assert [finding.rule.name for finding in checker.outcome.findings] == [rule.name]
    assert checker.outcome.files[0].engine_accepts is (rule.engine != "refuses")


def test_the_edit_of_a_finding_fixes_it() -> None:
    for rule in ON_TEXTS:
        checker = Checker(kind="mixlist")
        checker.check_file("ops_info.json", rule.fails.encode())
        for finding in checker.outcome.findings:
            if finding.fix is None or finding.rule.name not in ("trailing-comma", "missing-comma", "comment"):
                continue
            (edit,) = finding.fix.edits
            json.loads(rule.fails[: edit.start] + edit.text + rule.fails[edit.end :])


def test_the_rule_on_unknown_modes_lists_the_known_ones() -> None:
    named = set(re.findall(r"\w+", RULES["unknown-mode"].why))
    assert set(MODES) <= named
