"""Policies as lines: what is written is read as no change, and every edit as the moves that it means."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.policy_lines import (
    KnownPolicies,
    can_be_line,
    policy_lines,
    read_policy_lines,
    with_mistakes,
)

names = st.text("Add \u7b97#\u2028", min_size=1, max_size=5).filter(can_be_line)
policies = st.dictionaries(names, st.sampled_from([*Policy, None]), max_size=5)
texts = st.lists(st.sampled_from(["white", "blak", "Add", "Log", " ", "\t", "#", "\n", "unknown"])).map("".join)


@given(policies, st.data())
def test_changed_words_are_the_moves(before: dict[str, Policy | None], data: st.DataObject) -> None:
    known = KnownPolicies(before, is_whole=True)
    text = policy_lines("Policies", before)
    assert read_policy_lines(text, known) == ({}, [])
    after = {name: data.draw(st.sampled_from([policy or Policy.BLACK, *Policy])) for name, policy in before.items()}
    lines = policy_lines("", after).splitlines(keepends=True)
    kept = [line for line in lines if line.startswith("#") or data.draw(st.booleans())]
    moved, mistakes = read_policy_lines("".join(kept), known)
    assert mistakes == []
    assert moved == {name: to for name, to in after.items() if f"{to} {name}\n" in kept and before[name] is not to}


@given(texts, st.booleans())
def test_errors_are_comments_that_change_nothing_and_do_not_pile_up(text: str, is_whole: bool) -> None:
    known = KnownPolicies({"Add": Policy.WHITE, "Log": None}, is_whole)
    asked, mistakes = read_policy_lines(text, known)
    once = with_mistakes(text, mistakes)
    again, still = read_policy_lines(once, known)
    assert again == asked
    assert [mistake.line for mistake in still] == [mistake.line for mistake in mistakes]
    assert [line for line in once.split("\n") if not line.startswith("# error: ")] == text.split("\n")
    assert len(with_mistakes(once, still).split("\n")) == len(once.split("\n"))
