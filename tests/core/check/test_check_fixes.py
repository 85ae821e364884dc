"""Fixing a mixlist by its findings: safe fixes, unsafe fixes, and the content of the result."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations
from pathlib import Path

import pytest
from check_support import Checker
from raising import raised
from tables import cases, rows

from opsinfo_cli.core.cann.file_kind import NamedKind
from opsinfo_cli.core.cann.marks import Mark, combination, effective, is_legal
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.change.plan import Job, planned
from opsinfo_cli.core.check.finding import Finding, Fix, Outcome
from opsinfo_cli.core.check.fixes import FixPlan
from opsinfo_cli.core.check.kinds import KINDS, Asked, Context, ReadFile
from opsinfo_cli.core.check.mixlist import KnownEntry, MixlistReading, MixlistTarget
from opsinfo_cli.core.check.rules import RULES
from opsinfo_cli.core.text.patch import Edit
from opsinfo_cli.core.text.scanner import Node
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import Refused

MARKS = [Mark(action, policy) for action in ("to-add", "to-remove") for policy in Policy]
ALL_MARKS = [*map(frozenset, chain.from_iterable(combinations(MARKS, count) for count in range(1, 7)))]


@pytest.fixture(scope="module")
def against() -> list[MixlistTarget]:
    opp = Path(__file__).resolve().parents[3] / "fixtures/opp"
    return [MixlistTarget(resolve(str(opp), TargetOptions(soc="ascend910b"), {}))]


def fixed(text: str, against: list[MixlistTarget], unsafe: bool = False) -> str:
    context = Context(Asked(tuple(against)))

    def find(source: Source) -> list[Finding]:
        outcome = Outcome()
        for each in KINDS["mixlist"].check([ReadFile(source.path, source.data, "mixlist")], context):
            outcome.add(source.path, "mixlist", each.findings)
        return outcome.findings

    return planned(Job("m.json", FixPlan(find, unsafe)), Source(text.encode(), "m.json")).result.data.decode()


FIXES = rows(__file__, "fixes.toml")


@pytest.mark.parametrize(("which", "text", "wanted"), [row[1:] for row in FIXES], ids=[row[0] for row in FIXES])
def test_safe_fixes_are_applied_and_unsafe_ones_on_request(
    which: str, text: str, wanted: str, against: list[MixlistTarget]
) -> None:
    assert fixed(text, against) == (wanted if which == "safe" else text)
    if which != "safe":
        assert fixed(text, against, unsafe=True) == wanted


def test_an_op_type_many_times_is_left_once(against: list[MixlistTarget]) -> None:
    assert fixed('{"black-list": {"to-add": [' + ", ".join(['"Log"'] * 50) + "]}}", against) == (
        '{"black-list": {"to-add": ["Log"]}}'
    )


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
        ('\ufeff{"black-list": {}, // why\n}', {"bom", "comment", "trailing-comma"}),
        ('{"black-list": {} "gray-list": {}}', {"missing-comma"}),
        ("{} behind", {"trailing-text"}),
    ],
)
def test_a_mixlist_can_be_fixed_and_a_vendors_library_cannot(text: str, names: set[str]) -> None:
    kinds: dict[NamedKind, bool] = {"mixlist": True, "library": False}
    for kind, is_fixable in kinds.items():
        checker = Checker(kind=kind)
        checker.check_file("f.json", text.encode())
        found = [finding for finding in checker.outcome.findings if finding.rule.name in names]
        assert {finding.rule.name for finding in found} == names
        assert {finding.fix is not None for finding in found} == {is_fixable}


@cases(
    "text, hint",
    {
        "a word of the manuals": ('{"trustlist": {}}', "did you mean `white-list`?"),
        "a list for an action": ('{"white-list": {"white": []}}', "use one of `to-add`, `to-remove`"),
        "a near action": ('{"white-list": {"to_add": []}}', "did you mean `to-add`?"),
        "neither": ('{"nonsense": {}}', "use one of `black-list`, `white-list`, `gray-list`"),
    },
)
def test_an_unknown_key_has_a_hint_at_the_one_that_is_meant(text: str, hint: str) -> None:
    checker = Checker(kind="mixlist")
    checker.check_file("m.json", text.encode())
    assert [finding.hint for finding in checker.outcome.findings] == [hint]


@pytest.mark.parametrize("policies", [tuple(Policy), *combinations(Policy, 2), *combinations(Policy, 1)], ids=str)
@pytest.mark.parametrize("marks", [marks for marks in ALL_MARKS if is_legal(marks)], ids=combination)
def test_marks_that_are_called_useless_change_nothing(policies: Iterable[Policy], marks: frozenset[Mark]) -> None:
    class Chip:
        def policies(self, name: str) -> frozenset[Policy]:
            return frozenset(policies)

    useless = KnownEntry(MixlistReading(Source(b"{}", "m.json"), Node("object", 0)), "Add", marks, [Chip()]).useless  # type: ignore[list-item]
    for policy in policies:
        assert effective(policy, marks - set(useless)) is effective(policy, marks)


def test_a_repeated_entry_without_effect_is_dropped_only_once_it_is_not_repeated(against: list[MixlistTarget]) -> None:
    checker = Checker(against, kind="mixlist")
    checker.check_file("m.json", b'{"black-list": {"to-add": ["Pow", "Pow"]}}')
    assert {each.rule.name: each.fix is not None for each in checker.outcome.findings} == {
        "duplicate-operator": True,
        "no-effect": False,
    }
