"""Checks against a snapshot have the same findings as checks against its target."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from check_support import Checker
from hypothesis import given, settings
from hypothesis import strategies as st
from snapshot_texts import snapshot_of

from opsinfo_cli.core.cann.precision_mode import MODES
from opsinfo_cli.core.cann.target import Target, resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.check.mixlist import MixlistTarget

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
LISTS = ("black-list", "white-list", "gray-list")


def pair(path: Path, soc: str) -> tuple[MixlistTarget, MixlistTarget]:
    """A target and its snapshot, both under one name."""
    target = resolve(str(path), TargetOptions(soc=soc), {})
    return MixlistTarget(renamed(target)), MixlistTarget(snapshot_of(target, "t"))


def renamed(target: Target) -> Target:
    target.text = "t"
    return target


@cache
def fixture_pairs() -> list[tuple[MixlistTarget, MixlistTarget]]:
    return [pair(FIXTURES / "opp", soc) for soc in ("ascend910", "ascend910b")]


def found(text: str, against: list[MixlistTarget], modes: list[str]) -> list[Any]:
    checker = Checker(against=against, modes=modes, kind="mixlist")
    checker.check_file("m.json", text.encode())
    checker.check_modes()
    return [(each.rule.name, each.start, each.severity, each.message, each.hint) for each in checker.outcome.findings]


def op_types() -> st.SearchStrategy[str]:
    known = sorted(
        {name for one, _ in fixture_pairs() for name in [*one.target.operators.names, *one.target.other_engines]}
    )
    return st.sampled_from(known).flatmap(lambda name: st.sampled_from([name, name, name, name.lower(), name + "V2"]))


mixlists = st.dictionaries(
    st.sampled_from(LISTS),
    st.dictionaries(st.sampled_from(["to-add", "to-remove"]), st.lists(op_types(), max_size=6), max_size=2),
    max_size=3,
)


@settings(max_examples=200)
@given(mixlists, st.lists(st.sampled_from(sorted(MODES)), max_size=2), st.lists(st.sampled_from([0, 1]), min_size=1))
def test_a_snapshot_gives_the_findings_of_its_install(mixlist: Any, modes: list[str], chips: list[int]) -> None:
    text = json.dumps(mixlist, indent=1)
    installs, snapshots = zip(*(fixture_pairs()[chip] for chip in sorted(set(chips))), strict=True)
    for mine, whole in zip(found(text, list(snapshots), modes), found(text, list(installs), modes), strict=True):
        hint = whole[-1] or ""  # only an install has other chips, and packages for them
        knows_more = whole[0] == "unknown-operator" and (" only" in hint or "it is an operator of" in hint)
        assert (mine[:2] == whole[:2] and mine[3] == whole[3]) if knows_more else mine == whole


def test_a_snapshot_gives_the_findings_of_a_real_install(corpus: Path) -> None:
    installs, snapshots = zip(
        *(pair(corpus / f"cann-{each}/opp", f"ascend{each}") for each in ("910", "910b")), strict=True
    )
    everything = 0
    for path in sorted((corpus / "mixlists").glob("*.json")):
        for modes in ([], ["mixed_bfloat16"], ["allow_mix_precision"]):
            mine = found(path.read_text("utf-8"), list(snapshots), modes)
            assert mine == found(path.read_text("utf-8"), list(installs), modes)
            everything += len(mine)
    assert everything > 50


CHIPS = {
    # situation: (list and action, op type, rule, part of the message about the chips)
    "a name of one chip alone": (
        "black-list.to-add",
        "BatchMatMulV2",
        "unknown-operator",
        "of ascend910b, but not of ascend910",
    ),
    "a name of another engine": (
        "black-list.to-add",
        "Unique",
        "not-in-ai-core",
        "AI CPU in ascend910, ascend910b",
    ),
    "already on the list on both": (
        "white-list.to-add",
        "MatMulV2",
        "no-effect",
        "already white in ascend910, ascend910b",
    ),
    "on other lists than claimed": (
        "white-list.to-remove",
        "KlDivLossGrad",
        "remove-mismatch",
        "black in ascend910 or gray in ascend910b",
    ),
    "no float32 on one chip": (
        "black-list.to-add",
        "Conv2DBackpropInputD",
        "black-without-fp32",
        "columns in ascend910: black",
    ),
}


@pytest.mark.parametrize("situation", CHIPS)
def test_findings_name_the_chips(situation: str) -> None:
    mark, op, rule, message = CHIPS[situation]
    list_name, action = mark.split(".")
    snapshots = [snapshot for _, snapshot in fixture_pairs()]
    messages = [each[3] for each in found(json.dumps({list_name: {action: [op]}}), snapshots, []) if each[0] == rule]
    assert len(messages) == 1
    assert message in messages[0]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_a_name_that_no_chip_knows_lists_up_to_three_chips(count: int) -> None:
    snapshots = [snapshot for _, snapshot in fixture_pairs() * 3][:count]
    ((name, _, _, message, _),) = found('{"black-list": {"to-add": ["NoSuchThingAtAll"]}}', snapshots, [])
    assert name == "unknown-operator"
    assert (f"in any of the {count} targets;" in message) == (count > 3)
    assert ("ascend910" in message) == (count <= 3)


@pytest.mark.parametrize(
    ("op", "message"),
    [
        ("Unique", "`Unique` is an op type of AI CPU, not of the AI Core; the engine ignores it here"),
        ("NoSuchThingAtAll", "unknown operator `NoSuchThingAtAll` in ascend910; the engine ignores it"),
    ],
)
def test_a_finding_for_one_chip_names_it_only_if_that_is_needed(op: str, message: str) -> None:
    (snapshot, *_) = [snapshot for _, snapshot in fixture_pairs()]
    ((_, _, _, printed, _),) = found(json.dumps({"black-list": {"to-add": [op]}}), [snapshot], [])
    assert printed == message
