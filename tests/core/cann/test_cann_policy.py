"""The policy algebra against an independent statement of the engine's rules, over its whole domain.

The rules are those of hicann/ge,
compiler/engines/nn_engine/utils/common/config_parser/modify_mixlist_config_parser.cc:46-60, 233-249, 265-294.
"""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from tables import cases

from opsinfo_cli.core.cann.marks import LEGAL_COMBINATIONS, Mark, combination, effective, is_legal, least, marks_for
from opsinfo_cli.core.cann.policy import BadFlag, Policy, folded, policy_meant

ALL_MARKS = [Mark(action, policy) for action in ("to-add", "to-remove") for policy in Policy]
ALL_SETS = [frozenset(each) for each in chain.from_iterable(combinations(ALL_MARKS, n) for n in range(7))]

THE_ELEVEN = {
    "remove black",
    "remove white",
    "add gray",
    "add gray, remove black",
    "add gray, remove white",
    "add white",
    "add white, remove gray",
    "add white, remove black",
    "add black",
    "add black, remove gray",
    "add black, remove white",
}
"""The combinations of the set at lines 46-60."""


def spelt(marks: frozenset[Mark]) -> str:
    return ", ".join(sorted(f"{mark.action.removeprefix('to-')} {mark.policy.value}" for mark in marks))


def stated(start: str, marks: set[str]) -> str:
    """The result of lines 265-294, in the engine's order of steps."""
    now = start
    if f"remove {now}" in marks:
        now = "gray"
    if "add black" in marks:
        now = "black"
    elif "add white" in marks:
        now = "white"
    return now


def test_there_are_64_sets_of_marks() -> None:
    assert len(set(ALL_SETS)) == 64


@pytest.mark.parametrize("marks", ALL_SETS, ids=lambda marks: spelt(marks) or "no marks")
def test_a_set_of_marks_is_accepted_if_it_is_one_of_the_eleven_or_empty(marks: frozenset[Mark]) -> None:
    assert is_legal(marks) is (not marks or spelt(marks) in THE_ELEVEN)


def test_52_sets_of_marks_are_refused() -> None:
    assert sum(not is_legal(marks) for marks in ALL_SETS) == 52
    assert len(LEGAL_COMBINATIONS) == 11


@pytest.mark.parametrize("start", Policy)
@pytest.mark.parametrize("marks", ALL_SETS, ids=lambda marks: spelt(marks) or "no marks")
def test_the_effective_policy_is_that_of_the_engine(marks: frozenset[Mark], start: Policy) -> None:
    if marks and spelt(marks) not in THE_ELEVEN:
        with pytest.raises(ValueError, match="refuses"):
            effective(start, marks)
    else:
        assert effective(start, marks).value == stated(start.value, set(spelt(marks).split(", ")))


@pytest.mark.parametrize("wanted", Policy)
@pytest.mark.parametrize("start", Policy)
def test_the_fewest_marks_reach_the_wanted_policy_without_the_gray_list(start: Policy, wanted: Policy) -> None:
    marks = marks_for(start, wanted)
    assert is_legal(marks)
    assert effective(start, marks) is wanted
    assert len(marks) == (start is not wanted)
    assert all(mark.policy is not Policy.GRAY for mark in marks)


@pytest.mark.parametrize(
    "marks", [each for each in ALL_SETS if is_legal(each)], ids=lambda marks: spelt(marks) or "no marks"
)
def test_the_fewest_marks_have_the_same_effect_on_every_policy(marks: frozenset[Mark]) -> None:
    fewest = least(marks)
    assert fewest <= marks
    assert [effective(start, fewest) for start in Policy] == [effective(start, marks) for start in Policy]
    assert len(fewest) == (marks not in ({Mark("to-add", Policy.GRAY)}, frozenset()))


def test_refused_marks_have_no_fewest() -> None:
    with pytest.raises(ValueError, match="the engine refuses add gray \\+ add white"):
        least(frozenset({Mark("to-add", Policy.GRAY), Mark("to-add", Policy.WHITE)}))


def test_a_mark_is_shown_as_its_list_and_action() -> None:
    assert str(Mark("to-remove", Policy.GRAY)) == "gray-list.to-remove"


@pytest.mark.parametrize("start", Policy)
def test_a_gray_to_add_alone_changes_nothing(start: Policy) -> None:
    assert effective(start, frozenset({Mark("to-add", Policy.GRAY)})) is start


def test_a_combination_is_named_in_the_engines_words_in_a_fixed_order() -> None:
    marks = [Mark("to-remove", Policy.WHITE), Mark("to-add", Policy.BLACK)]
    assert combination(marks) == combination(reversed(marks)) == "add black + remove white"


@cases(
    "flag, policy",
    {
        "true": ("true", Policy.WHITE),
        "upper case": ("TRUE", Policy.WHITE),
        "blanks": (" True ", Policy.WHITE),
        "tab and CRLF": ("\ttrue\r\n", Policy.WHITE),
        "vertical tab and form feed": ("\v\ffalse", Policy.BLACK),
        "false": ("false", Policy.BLACK),
        "capitalised": ("False", Policy.BLACK),
        "empty": ("", Policy.GRAY),
        "blanks alone": ("   ", Policy.GRAY),
        "missing": (None, Policy.GRAY),
    },
)
def test_a_flag_is_read_as_the_engine_reads_it(flag: str | None, policy: Policy) -> None:
    assert Policy.from_flag(flag) is policy


@cases(
    "flag",
    {
        "misspelt": "flase",
        "yes": "yes",
        "1": "1",
        "gray": "gray",
        "blank inside": "t rue",
        "comma": "true,",
        "no-break space": "\u00a0true",
        "ideographic space": "\u3000",
        "full-width letters": "ｔｒｕｅ",
        "none": "none",
    },
)
def test_any_other_flag_fails(flag: str) -> None:
    with pytest.raises(BadFlag):
        Policy.from_flag(flag)


@cases(
    "sections, policy",
    {
        "no sections": ({}, Policy.GRAY),
        "another section": ({"input0": {"flag": "true"}}, Policy.GRAY),
        "no flag": ({"precision_reduce": {}}, Policy.GRAY),
        "black": ({"precision_reduce": {"flag": "False"}}, Policy.BLACK),
        "white": ({"precision_reduce": {"flag": "true"}, "op": {"flag": "false"}}, Policy.WHITE),
    },
)
def test_the_policy_of_an_entry_is_that_of_its_flag(sections: dict[str, dict[str, str]], policy: Policy) -> None:
    assert Policy.of(sections) is policy


@pytest.mark.parametrize("policy", Policy)
def test_a_policy_written_as_a_flag_reads_back(policy: Policy) -> None:
    assert Policy.from_flag(policy.flag) is policy
    assert str(policy) == policy.value


def test_folding_changes_every_ascii_letter_and_no_other() -> None:
    capitals = "".join(map(chr, range(128))) + "\u00c4\u0130\u212a\uff21"
    data = capitals.encode()
    assert folded(capitals) == data.lower().decode()
    assert folded(capitals[:128]) == data[:128].lower().decode()


# terms of the manuals

MEANT = {
    "white": ["trustlist", "Trustlist", "allowlist", "white-list", "WHITE", "白名单"],
    "black": ["blocklist", "block", "denylist", "black_list", "黑名单"],
    "gray": ["graylist", "grey", "灰名单"],
}


@pytest.mark.parametrize(
    ("word", "meant"),
    [(word, policy) for policy, words in MEANT.items() for word in words],
    ids=[word if word.isascii() else f"Chinese {policy}" for policy, words in MEANT.items() for word in words],
)
def test_a_term_of_the_manuals_maps_to_a_list(word: str, meant: str) -> None:
    assert policy_meant(word) == meant


@pytest.mark.parametrize(
    "word",
    ["", "list", "red", "名单", "blocks", "not-white"],
    ids=["empty", "list", "red", "Chinese list", "blocks", "not-white"],
)
def test_other_words_map_to_no_list(word: str) -> None:
    assert policy_meant(word) is None
