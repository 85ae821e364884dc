"""What a change of sources does to policies, chip by chip."""

from __future__ import annotations

from pathlib import Path

import pytest
from opdef_source import of_folder, source

from opsinfo_cli.core.cann.opdef.policy_changes import policy_changes

ALONE, OTHER = 'AICore().AddConfig("ascend910b");', 'AICore().AddConfig("ascend950");'
BLACK = 'OpAICoreConfig c; c.PrecisionReduceFlag(false); AICore().AddConfig("ascend910b", c);'
WORDS = 'OpAICoreConfig c; c.ExtendCfgInfo("precision_reduce.flag", "{}"); AICore().AddConfig("ascend910b", c);'
UNREAD = BLACK.replace("false", "kMine")
CASES: dict[str, tuple[str | None, str | None, list[tuple[str, str | None, str | None]]]] = {
    "nothing": (ALONE, ALONE, []),
    "a new op type": (None, BLACK, [("ascend910b", None, "black")]),
    "a new chip": (ALONE, ALONE + OTHER, [("ascend950", None, "white")]),
    "another policy": (ALONE, BLACK, [("ascend910b", "white", "black")]),
    "a chip that goes": (ALONE + OTHER, OTHER, [("ascend910b", "white", None)]),
    "an op type that goes": (BLACK, None, [("ascend910b", "black", None)]),
    "a chip for another": (ALONE, OTHER, [("ascend950", None, "white"), ("ascend910b", "white", None)]),
    "the same policy by default": (BLACK.replace("false", "true"), ALONE, []),
    "flags that the engine refuses": (WORDS.format("a"), WORDS.format("b"), [("ascend910b", "`a`", "`b`")]),
    "what could not be read before": (UNREAD, BLACK, [("ascend910b", None, "black")]),
    "what can no longer be read": (BLACK, UNREAD, []),
}


@pytest.mark.parametrize("case", CASES)
def test_policies_of_two_trees_are_compared(tmp_path: Path, case: str) -> None:
    before, after, wanted = CASES[case]
    trees = []
    for name, body in (("before", before), ("after", after)):
        files = {"keep_def.cpp": source(ALONE, name="Keep")} | ({"op_def.cpp": source(body)} if body else {})
        trees.append(of_folder(tmp_path / name, files))
    changes = list(policy_changes(*trees))
    assert [
        (each.chip, each.before and each.before.policy_word, each.after and each.after.policy_word) for each in changes
    ] == wanted
    assert [each.unread is not None for each in changes] == [case == "what could not be read before"] * len(wanted)


def test_of_several_rows_the_first_counts(tmp_path: Path) -> None:
    twice = {"a_def.cpp": source(ALONE), "b_def.cpp": source(BLACK)}
    once = {"a_def.cpp": source(ALONE)}
    assert list(policy_changes(of_folder(tmp_path / "a", twice), of_folder(tmp_path / "b", once))) == []
