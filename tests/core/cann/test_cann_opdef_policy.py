"""The policy of an op type on each chip, and the place that decides it."""

from __future__ import annotations

from pathlib import Path

import pytest
from opdef_source import PORTS, read, row, source

from opsinfo_cli.core.cann.policy import BadFlag, Policy

ALONE = 'AICore().AddConfig("ascend910b");'
WITH_C, WITH_D = (ALONE.replace('b")', f'b", {name})') for name in "cd")
NEW = "OpAICoreConfig c;"
WHITE, BLACK = "c.PrecisionReduceFlag(true);", "c.PrecisionReduceFlag(false);"
CASES = {
    "no configuration": ([ALONE], "white", True, 7),
    "an empty configuration": ([NEW, WITH_C], "gray", False, 8),
    "a configuration for a chip, whichever": (['OpAICoreConfig c("ascend950");', WITH_C], "white", True, 7),
    "its flag changed": (['OpAICoreConfig c("x");', BLACK, WITH_C], "black", False, 8),
    "two calls": ([NEW, "c.PrecisionReduceFlag(true)", ".PrecisionReduceFlag(false);", WITH_C], "black", False, 9),
    "the key after the flag": (
        [NEW, WHITE, 'c.ExtendCfgInfo("precision_reduce.flag", "false");', WITH_C],
        *("black", False, 9),
    ),
    "the flag after the key": (
        [NEW, 'c.ExtendCfgInfo("precision_reduce.flag", "false");', WHITE, WITH_C],
        *("white", False, 9),
    ),
    "a number": ([NEW, "c.PrecisionReduceFlag(0);", WITH_C], "black", False, 8),
    "a chip twice": (["OpAICoreConfig c, d;", WHITE, BLACK.replace("c.", "d."), WITH_C, WITH_D], "black", False, 9),
    "a chip again without configuration": ([NEW, BLACK, WITH_C, ALONE], "white", True, 10),
    "changed after it was passed": ([NEW, WITH_C, WHITE], "gray", False, 8),
    "a copy changed": (
        [NEW, WHITE, "OpAICoreConfig d = c;", "d.PrecisionReduceFlag(false);", WITH_C],
        "white",
        False,
        8,
    ),
    "assigned": ([NEW, WHITE, "OpAICoreConfig d;", "d = c;", WITH_D], "white", False, 8),
    "changed by reference": ([NEW, BLACK, "auto& d = c;", "d.PrecisionReduceFlag(true);", WITH_C], "white", False, 10),
}


@pytest.mark.parametrize("case", CASES)
def test_the_last_call_in_force_decides(tmp_path: Path, case: str) -> None:
    body, policy, by_default, line = CASES[case]
    reading = read(tmp_path, source("\n".join(body)))
    (found,) = reading.rows
    assert (found.policy, found.by_default, found.line) == (Policy(policy), by_default, line)
    assert Policy.of(found.entry) is found.policy


def test_a_configuration_of_a_chip_has_the_six_flags_and_an_own_one_only_what_it_sets(tmp_path: Path) -> None:
    by_default = row(tmp_path, 'this->AICore().AddConfig("ascend910b");').entry
    assert {key: by_default[key]["flag"] for key in by_default if "flag" in by_default[key]} == {
        "dynamicCompileStatic": "true",
        "dynamicFormat": "true",
        "dynamicRankSupport": "true",
        "dynamicShapeSupport": "true",
        "needCheckSupport": "false",
        "precision_reduce": "true",
    }
    own = row(
        tmp_path, 'OpAICoreConfig c; c.DynamicFormatFlag(false); this->AICore().AddConfig("ascend910b", c);'
    ).entry
    assert {key for key in own if "flag" in own[key]} == {"dynamicFormat"}


def test_a_flag_that_the_engine_refuses_is_a_bad_flag(tmp_path: Path) -> None:
    found = row(tmp_path, f'{NEW} c.ExtendCfgInfo("precision_reduce.flag", "yes"); {WITH_C}')
    with pytest.raises(BadFlag):
        _ = found.policy


def test_a_configuration_that_is_never_passed_is_named_with_what_it_would_have_set(tmp_path: Path) -> None:
    body = f"OpAICoreConfig aicore;\naicore.DynamicFormatFlag(true)\n.PrecisionReduceFlag(false);\n{ALONE}"
    (found,) = read(tmp_path, source(body)).unpassed
    assert (found.name, found.variable, found.line, found.policy) == ("Op", "aicore", 7, Policy.BLACK)


@pytest.mark.parametrize(
    "body",
    [
        f"{NEW} {ALONE}",  # not filled
        f"{NEW} {BLACK} OpAICoreConfig d = c; {WITH_D}",
        f'auto make = []() {{ {NEW} {WHITE} return c; }}; AICore().AddConfig("ascend910b", make());',
    ],
)
def test_a_configuration_that_is_empty_or_whose_copy_is_passed_is_not_named(tmp_path: Path, body: str) -> None:
    assert read(tmp_path, source(body)).unpassed == []


def test_the_name_of_a_chip_is_kept_as_written(tmp_path: Path) -> None:
    assert row(tmp_path, 'this->AICore().AddConfig("Ascend910B");', chip="Ascend910B").chip == "Ascend910B"


def test_an_op_type_without_chip_or_for_the_cpu_only_has_no_row(tmp_path: Path) -> None:
    for body in (PORTS, 'this->AICPU().ExtendCfgInfo("opInfo.engine", "DNN_VM_AICPU");'):
        reading = read(tmp_path, source(body))
        assert (reading.rows, reading.unreadable) == ([], [])
        assert [operator.chips for operator in reading.operators] == [()]


def test_several_registrations_of_one_op_type_are_all_told(tmp_path: Path) -> None:
    text = source(f'{PORTS}\nAICore().AddConfig("ascend910b");') + "namespace ops { OP_ADD(Op); }\n"
    reading = read(tmp_path, text)
    assert [(each.name, each.place.line) for each in reading.registrations] == [("Op", 14), ("Op", 16)]
    assert len(reading.rows) == 2


def test_an_alias_may_be_registered_with_more_arguments(tmp_path: Path) -> None:
    text = source('AICore().AddConfig("ascend910b");', name="BincountDef").replace("OP_ADD(BincountDef);", "")
    reading = read(tmp_path, text + "namespace ops { using Bincount = BincountDef; OP_ADD(Bincount, None, 1); }")
    assert [(found.name, found.entry["opFile"]["value"]) for found in reading.rows] == [("Bincount", "bincount")]
