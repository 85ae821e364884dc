"""Edits of JSON with comments: what is not edited stays, and the marks are those that plain JSON gets."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change.fmt import fixed
from opsinfo_cli.core.change.plan import MixlistPlan
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source

TEXTS = [
    """// the team's list
{
  "black-list": {
    "to-add": [
      // overflow in attention
      "A",
      "B", // loss 0.3 % worse
      /* both */ "C"
      // the last line
    ]
  },
  /* from the vendor */
  "white-list": {"to-remove": ["D", "E"]} // flat
}
""",
    '{"black-list": {"to-add": ["A" /* here */, "B"]}}',
    "{\r\n\t// nothing yet\r\n}\r\n",
    '{ "white-list": { "to-add": [ ] } } // empty',
    '{"black-list": {"to-add": [ // why\n"A", // a\n"B" // b\n]},}',
    '# of the team\n{"black-list": {"to-add": [\n"A" # a\n, "B" /* b */ # and more\n]},} # end',
]
MOVES = st.lists(
    st.dictionaries(st.sampled_from("ABCDEF"), st.sampled_from([Policy.WHITE, Policy.BLACK]), min_size=1), max_size=4
)
COMMENT = re.compile(r"(?://|#)[^\r\n]*|/\*.*?\*/", re.DOTALL)


@settings(max_examples=300)
@given(st.sampled_from(TEXTS), MOVES)
def test_moves_among_comments_give_the_marks_that_plain_json_gets(text: str, moves: list[dict[str, Policy]]) -> None:
    commented = Source(text.encode(), "team.jsonc")
    plain = fixed(Source(text.encode(), "team.json"))
    for asked in moves:
        plan = MixlistPlan(asked)
        lines = commented.text.splitlines()
        result = Source(plan.patch(commented).apply(commented), "team.jsonc")
        plan.prove(commented, result)
        plain = Source(plan.patch(plain).apply(plain), "team.json")
        left = result.text.splitlines()
        alone = [line for line in lines if COMMENT.fullmatch(line.strip())]
        assert [line for line in alone if line not in left] == [], "a comment on a line of its own stays"
        commented = result
    assert Mixlist(scan(commented)).marks == Mixlist(scan(plain)).marks
    assert Mixlist(scan(fixed(Source(commented.data, "made.json")))).marks == Mixlist(scan(plain)).marks


@given(st.sampled_from(TEXTS))
def test_a_move_that_changes_nothing_changes_no_byte(text: str) -> None:
    source = Source(text.encode(), "team.jsonc")
    black = [
        name for name, marks in Mixlist(scan(source)).marks.items() if str(next(iter(marks))) == "black-list.to-add"
    ]
    plan = MixlistPlan(dict.fromkeys(black, Policy.BLACK))
    assert not plan.patch(source)


@pytest.mark.parametrize(
    ("entries", "gone", "left"),
    [
        ('"Add", "Mul" // why Mul\n', "Mul", '"Add", \n'),
        ('"Add", "Mul", /* why Mul */ // really\n"Log"\n', "Mul", '"Add", \n"Log"\n'),
        ('"Add", "Mul" // why Mul\n', "Add", '"Mul" // why Mul\n'),
        ('"Add", "Mul" # why Mul\n', "Mul", '"Add", \n'),
        ('"Add" # why Add\n, "Mul"\n', "Add", '"Mul"\n'),
        ('"Add",  # why\n"Mul"\n', "Add", '"Mul"\n'),
    ],
)
def test_the_comment_after_an_entry_goes_with_it(entries: str, gone: str, left: str) -> None:
    before, after = '{"black-list": {"to-add": [\n', ']}, "white-list": {"to-add": ["X"]}}'
    source = Source(f"{before}{entries}{after}".encode(), "team.jsonc")
    plan = MixlistPlan({gone: Policy.WHITE})
    assert f"{before}{left}]" in plan.patch(source).apply(source).decode()


@pytest.mark.parametrize("comment", ["# why", "// why", "/* why */", "/* why **/ # more"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_entry_is_added_on_the_line_behind_the_comment_of_the_last_one(comment: str, newline: str) -> None:
    before = f'{{"black-list": {{"to-add": [{newline}  "Add"'
    source = Source(f"{before}  {comment}{newline}]}}}}".encode(), "team.jsonc")
    result = MixlistPlan({"Mul": Policy.BLACK}).patch(source).apply(source).decode()
    assert result == f'{before},  {comment}{newline}  "Mul"{newline}]}}}}'


def test_many_comments_on_one_line_stay_where_an_entry_before_or_behind_them_changes() -> None:
    comments = " ".join(f"/* {number} **/" for number in range(5_000))
    text = f'{{"black-list": {{"to-add": [\n"A", {comments} "B"\n]}}, "white-list": {{"to-add": [ {comments} "C" ]}}}}'
    source = Source(text.encode(), "team.jsonc")
    for moved, policy, expected in (
        ("A", Policy.WHITE, text.replace('"A",', "").replace('"C" ]', '"C", "A" ]')),
        ("D", Policy.BLACK, text.replace('"B"', '"B",\n"D"')),
        ("D", Policy.WHITE, text.replace('"C"', '"C", "D"')),
    ):
        result = MixlistPlan({moved: policy}).patch(source).apply(source).decode()
        assert result.split() == expected.split()
