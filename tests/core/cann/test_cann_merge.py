"""Merging and minimizing, compared with the engine's rules for marks: dropped entries have no effect."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.core.cann.library import Library, Operators, Store
from opsinfo_cli.core.cann.marks import LEGAL_COMBINATIONS, Mark, effective
from opsinfo_cli.core.cann.mixlist import Mixlist, mixlist_content
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.plan import written_like
from opsinfo_cli.core.merge import conflicts, merged, minimal
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source

NAMES = ["Add", "Conv2D", "Log", "MatMul", "Pow", "算子"]
MARKS = st.sampled_from(sorted(LEGAL_COMBINATIONS, key=sorted))
MARKED = st.dictionaries(st.sampled_from(NAMES), MARKS)
FLAGS = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["true", "false", None]))
BLACK, WHITE = Mark("to-add", Policy.BLACK), Mark("to-add", Policy.WHITE)
OFF_WHITE, GRAY = Mark("to-remove", Policy.WHITE), Mark("to-add", Policy.GRAY)


def mixlist(marks: Mapping[str, frozenset[Mark]], path: str = "m.json") -> Mixlist:
    return Mixlist(scan(Source(json.dumps(mixlist_content(marks)).encode(), path)))


def operators(*stores: Mapping[str, str | None]) -> Operators:
    """One store for each mapping of op types to flags."""
    return Operators([Store([_library(flags)]) for flags in stores])


def _library(flags: Mapping[str, str | None]) -> Library:
    content = {name: {"precision_reduce": {"flag": flag}} if flag else {} for name, flag in flags.items()}
    return Library.of(Source(json.dumps(content).encode(), "aic-x-ops-info.json"))


@given(st.lists(MARKED, min_size=1, max_size=4), FLAGS)
def test_after_a_merge_every_op_type_has_the_policy_of_the_last_that_names_it(
    lists: list[dict[str, frozenset[Mark]]], flags: dict[str, str | None]
) -> None:
    whole = mixlist(minimal(merged([mixlist(each) for each in lists])).marks)
    for name, flag in flags.items():
        last = next((each[name] for each in reversed(lists) if name in each), frozenset())
        policy = Policy.from_flag(flag)
        assert whole.effective(name, policy) is effective(policy, last)


@given(MARKED, st.lists(FLAGS, min_size=1, max_size=3))
def test_a_minimal_mixlist_changes_no_effective_policy_of_any_target(
    marks: dict[str, frozenset[Mark]], targets: list[dict[str, str | None]]
) -> None:
    found = minimal(marks, [operators(flags) for flags in targets])
    for flags in targets:
        for name, flag in flags.items():
            policy = Policy.from_flag(flag)
            assert effective(policy, found.marks.get(name, frozenset())) is effective(
                policy, marks.get(name, frozenset())
            )


@given(MARKED, st.lists(FLAGS, max_size=3))
def test_no_further_entry_can_be_dropped(
    marks: dict[str, frozenset[Mark]], targets: list[dict[str, str | None]]
) -> None:
    found = minimal(marks, [operators(flags) for flags in targets])
    assert minimal(found.marks, [operators(flags) for flags in targets]).marks == found.marks
    for name, kept in found.marks.items():
        policies = [Policy.from_flag(flags[name]) for flags in targets if name in flags] if targets else list(Policy)
        assert any(effective(policy, kept) is not policy for policy in policies)
    assert {*found.marks, *(each.name for each in found.dropped)} == set(marks)


@given(MARKED, MARKED, st.sampled_from([None, 2, "\t"]))
def test_a_text_in_the_style_of_another_has_exactly_the_marks(
    like: dict[str, frozenset[Mark]], marks: dict[str, frozenset[Mark]], indent: int | str | None
) -> None:
    text = json.dumps(mixlist_content(like), indent=indent, ensure_ascii=False) + "\n"
    written = written_like(Mixlist(scan(Source(text.encode(), "m.json"))), marks)
    assert json.loads(written) == mixlist_content(marks)
    assert written.endswith("}\n")
    assert marks != like or json.loads(text) != mixlist_content(marks) or written == text


def test_a_conflict_is_a_different_effect_not_a_different_spelling() -> None:
    base = mixlist({"Add": frozenset({BLACK}), "Log": frozenset({BLACK}), "Pow": frozenset({WHITE})}, "base.json")
    over = mixlist({"Add": frozenset({BLACK, OFF_WHITE}), "Log": frozenset({GRAY})}, "over.json")
    (found,) = conflicts([base, over])
    assert found.name == "Log"
    assert [(each.path, each.marks) for each in found.given] == [
        ("base.json", ["black-list.to-add"]),
        ("over.json", ["gray-list.to-add"]),
    ]


def test_an_entry_that_only_a_later_store_needs_is_kept() -> None:
    target = operators({"Add": "false"}, {"Add": "true"})
    assert minimal({"Add": frozenset({BLACK})}, [target]).marks == {"Add": {BLACK}}


def test_a_dropped_entry_has_its_reason() -> None:
    marks = {"Add": frozenset({WHITE}), "Nope": frozenset({WHITE}), "Log": frozenset({GRAY})}
    found = minimal(marks, [operators({"Add": "true", "Log": "true"})])
    assert [(each.name, each.reason) for each in found.dropped] == [
        ("Add", "no-effect"),
        ("Nope", "unknown-operator"),
        ("Log", "no-effect"),
    ]
    assert found.unknown == ["Nope"]
    assert minimal(marks).unknown == [], "no target, no unknown name"
