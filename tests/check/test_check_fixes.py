"""Fixing a mixlist by its findings: safe fixes, unsafe fixes, and the content of the result."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

import pytest
from raising import raised

from opsinfo_cli.change.moves import Job, planned
from opsinfo_cli.check.finding import Finding, Fix, Outcome
from opsinfo_cli.check.fixes import FixPlan
from opsinfo_cli.check.mixlist import KnownEntry, MixlistTarget, Reading
from opsinfo_cli.check.rules import RULES
from opsinfo_cli.check.run import Checker
from opsinfo_cli.errors import Refused
from opsinfo_cli.model.policy import Mark, Policy, combination, effective, is_legal
from opsinfo_cli.model.target import TargetOptions, resolve
from opsinfo_cli.text.patch import Edit
from opsinfo_cli.text.scanner import Node
from opsinfo_cli.text.source import Source

MARKS = [Mark(action, policy) for action in ("to-add", "to-remove") for policy in Policy]
ALL_MARKS = [*map(frozenset, chain.from_iterable(combinations(MARKS, count) for count in range(1, 7)))]


@pytest.fixture(scope="module")
def against() -> list[MixlistTarget]:
    opp = Path(__file__).resolve().parents[2] / "fixtures/opp"
    return [MixlistTarget(resolve(str(opp), TargetOptions(soc="ascend910b"), {}))]


def fixed(text: str, against: list[MixlistTarget], unsafe: bool = False) -> str:
    def find(source: Source) -> list[Finding]:
        outcome = Outcome()
        outcome.add(source.path, "mixlist", Checker(against).mixlist(source))
        return outcome.findings

    return planned(Job("m.json", FixPlan(find, unsafe)), Source(text.encode(), "m.json")).result.data.decode()


SAFE = {
    "an op type twice": (
        '{"black-list": {"to-add": ["Log", "Pow", "Log"]}}',
        '{"black-list": {"to-add": ["Log", "Pow"]}}',
    ),
    "many times": (
        '{"black-list": {"to-add": [' + ", ".join(['"Log"'] * 50) + "]}}",
        '{"black-list": {"to-add": ["Log"]}}',
    ),
    "twice without a comma": ('{"black-list": {"to-add": ["Log" "Log"]}}', '{"black-list": {"to-add": ["Log"]}}'),
    "a comment between two": (
        '{"black-list": {"to-add": ["Log", // a\n"Log", # b\n]}} x\n',
        '{"black-list": {"to-add": ["Log"\n]}}\n',
    ),
    "a byte order mark": ("\ufeff{}", "{}"),
    "an escaped name": ('{"black-list": {"to-add": ["Log", "L\\u006fg"]}}', '{"black-list": {"to-add": ["Log"]}}'),
}
UNSAFE = {
    "a near name": ('{"black-list": {"to-add": ["matmulv2"]}}', '{"black-list": {"to-add": ["MatMulV2"]}}'),
    "a near name that is there": (
        '{"black-list": {"to-add": ["MatMulV2", "matmulv2"]}}',
        '{"black-list": {"to-add": ["MatMulV2"]}}',
    ),
    "a near name under two marks": (
        '{"black-list": {"to-add": ["matmulv2"]}, "white-list": {"to-remove": ["matmulv2"]}}',
        '{"black-list": {"to-add": ["MatMulV2"]}, "white-list": {"to-remove": ["MatMulV2"]}}',
    ),
    "a list twice": (
        '{"black-list": {"to-add": ["Log"]},\n "black-list": {"to-add": ["Cast"]}}',
        '{"black-list": {"to-add": ["Cast"]}}',
    ),
    "entries without effect": (
        '{"black-list": {"to-add": ["Pow", "Cast"]}, "gray-list": {"to-add": ["Add"]}}',
        '{"black-list": {"to-add": ["Cast"]}, "gray-list": {"to-add": []}}',
    ),
    "a mark without effect beside one that must not stay alone": (
        '{"black-list": {"to-add": ["Pow"]}, "gray-list": {"to-remove": ["Pow"]}}',
        '{"black-list": {"to-add": []}, "gray-list": {"to-remove": []}}',
    ),
    "a mark without effect beside one that has an effect": (
        '{"black-list": {"to-remove": ["MatMulV2"]}, "white-list": {"to-remove": ["MatMulV2"]}}',
        '{"black-list": {"to-remove": ["MatMulV2"]}, "white-list": {"to-remove": ["MatMulV2"]}}',
    ),
    "a list to remove from that the op type is not on": (
        '{"black-list": {"to-add": ["MatMulV2"]}, "gray-list": {"to-remove": ["MatMulV2"]}}',
        '{"black-list": {"to-add": ["MatMulV2"]}, "gray-list": {"to-remove": []}}',
    ),
    "a near name whose entry would go": (
        '{"black-list": {"to-add": ["matmulv2"]}, "white-list": {"to-add": ["MatMulV2"]}}',
        '{"black-list": {"to-add": ["matmulv2"]}, "white-list": {"to-add": []}}',
    ),
    "a list in the words of the manuals": ('{"grey-list": {}}', '{"gray-list": {}}'),
    "a near list with faults inside": (
        '{"black_list": {"to_add": ["matmulv2"]}}',
        '{"black-list": {"to-add": ["MatMulV2"]}}',
    ),
    "a near list beside the real one": (
        '{"white_list": {"to-add": ["Log"]}, "white-list": {"to_add": ["Log"]}}',
        '{"white_list": {"to-add": ["Log"]}, "white-list": {"to-add": ["Log"]}}',
    ),
    "a list three times": ('{"black-list": {}, "black-list": {}, "black-list": {}}', '{"black-list": {}}'),
}
LEFT = {
    "a name that would contradict": '{"white-list": {"to-add": ["matmulv2"]}, "black-list": {"to-add": ["MatMulV2"]}}',
    "a name with several near": '{"black-list": {"to-add": ["MatMulV9"]}}',
    "a name with none near": '{"black-list": {"to-add": ["Zzzzzzzzzzzzzz"]}}',
    "a text that is broken elsewhere": '{"black-list": {"to-add": ["Log", "Log",]}, // x\n nonsense}',
    "a key that is near no list": '{"$schema": "x"}',
    "two keys near one list": '{"white_list": {}, "whitelist": {}, "white-list": {}}',
}


@pytest.mark.parametrize("name", SAFE)
def test_safe_fixes_are_applied(name: str, against: list[MixlistTarget]) -> None:
    text, wanted = SAFE[name]
    assert fixed(text, against) == wanted


@pytest.mark.parametrize("name", UNSAFE)
def test_unsafe_fixes_are_applied_on_request_only(name: str, against: list[MixlistTarget]) -> None:
    text, wanted = UNSAFE[name]
    assert fixed(text, against, unsafe=True) == wanted
    assert fixed(text, against) == text


@pytest.mark.parametrize("name", LEFT)
def test_findings_without_a_fix_are_left(name: str, against: list[MixlistTarget]) -> None:
    assert fixed(LEFT[name], against, unsafe=True) == LEFT[name]


def test_unsafe_fixes_of_one_name_make_no_contradiction(against: list[MixlistTarget]) -> None:
    text = '{"black-list": {"to-add": ["matmulv2"]}, "white-list": {"to-add": ["MATMULV2"]}}'
    assert fixed(text, against, unsafe=True) == text.replace("matmulv2", "MatMulV2")


INSERTED, REPLACED, APART = Edit(2, 2, "\t"), Edit(1, 2, "  "), Edit(3, 3, "\t")


@pytest.mark.parametrize(
    ("edits", "wanted"),
    [
        ((INSERTED, REPLACED), "{ \t  }"),
        ((REPLACED, INSERTED), "{    }"),
        ((REPLACED, Edit(1, 1, "\t")), "{    }"),
        ((Edit(1, 1, "\t"), REPLACED), "{\t   }"),
        ((INSERTED, INSERTED), "{ \t  }"),
        ((INSERTED, APART), "{ \t \t }"),
        ((REPLACED, APART), "{   \t }"),
    ],
)
def test_an_insertion_at_the_end_of_another_edit_waits(edits: tuple[Edit, ...], wanted: str) -> None:
    findings = [Finding(RULES["syntax"], "said", "m.json", None, None, fix=Fix((edit,))) for edit in edits]
    plan = FixPlan(lambda source: findings if source.text == "{   }" else [])
    assert planned(Job("m.json", plan), Source(b"{   }", "m.json")).result.data.decode() == wanted


def test_a_fix_of_something_else_keeps_the_byte_order_mark() -> None:
    found = Finding(RULES["trailing-text"], "said", "m.json", None, None, fix=Fix((Edit(2, 4, ""),)))
    plan = FixPlan(lambda source: [found] if source.text.endswith("x") else [])
    assert planned(Job("m.json", plan), Source("\ufeff{} x".encode(), "m.json")).result.data == "\ufeff{}".encode()


def test_a_result_with_other_content_is_refused() -> None:
    plan = FixPlan(lambda _: [])
    before, after = (
        Source(f'{{"black-list": {{"to-add": ["{name}"]}}}}'.encode(), "m.json") for name in ("Log", "Pow")
    )
    plan.prove(before, before)
    assert raised(Refused, plan.prove, before, after).name == "proof-failed"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("\ufeff{}", {"bom"}),
        ('\ufeff{"a": {}, // why\n}', {"bom", "comment", "trailing-comma"}),
        ('{"a": {} "b": {}}', {"missing-comma"}),
        ("{} behind", {"trailing-text"}),
    ],
)
def test_a_mixlist_can_be_fixed_and_a_vendors_library_cannot(text: str, names: set[str]) -> None:
    for kind, is_fixable in (("mixlist", True), ("library", False)):
        checker = Checker(kind=kind)
        checker.file("f.json", text.encode())
        found = [finding for finding in checker.outcome.findings if finding.rule.name in names]
        assert {finding.rule.name for finding in found} == names
        assert {finding.fix is not None for finding in found} == {is_fixable}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('{"trustlist": {}}', "did you mean `white-list`?"),
        ('{"white-list": {"white": []}}', "use one of `to-add`, `to-remove`"),
        ('{"white-list": {"to_add": []}}', "did you mean `to-add`?"),
        ('{"nonsense": {}}', "use one of `black-list`, `white-list`, `gray-list`"),
    ],
    ids=["a word of the manuals", "a list for an action", "a near action", "neither"],
)
def test_an_unknown_key_has_a_hint_at_the_one_that_is_meant(text: str, hint: str) -> None:
    checker = Checker(kind="mixlist")
    checker.file("m.json", text.encode())
    assert [finding.hint for finding in checker.outcome.findings] == [hint]


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("marks", [marks for marks in ALL_MARKS if is_legal(marks)], ids=combination)
def test_marks_that_are_called_useless_change_nothing(policy: Policy, marks: frozenset[Mark]) -> None:
    class Chip:
        def policy(self, name: str) -> Policy:
            return policy

    useless = KnownEntry(Reading(Source(b"{}", "m.json"), Node("object", 0)), "Add", marks, [Chip()]).useless  # type: ignore[list-item]
    assert effective(policy, marks - set(useless)) is effective(policy, marks)


def test_a_repeated_entry_without_effect_is_dropped_only_once_it_is_not_repeated(against: list[MixlistTarget]) -> None:
    checker = Checker(against, kind="mixlist")
    checker.file("m.json", b'{"black-list": {"to-add": ["Pow", "Pow"]}}')
    assert {each.rule.name: each.fix is not None for each in checker.outcome.findings} == {
        "duplicate-operator": True,
        "no-effect": False,
    }
