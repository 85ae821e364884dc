"""Values of an entry that the engine accepts, and values that fail the store.

The cases follow hicann/ge, compiler/engines/nn_engine/opskernel/ops_store: sub_op_info_store.cc and
op_kernel_info_constructor.cc.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opsinfo_cli.core.cann.entry import BF16, FP16, HIF8, Columns, Entry, Possible
from opsinfo_cli.core.cann.entry_rules import EntryFault
from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.text.source import Source

Sections = dict[str, dict[str, str]]


def entry_of(sections: Sections) -> Entry:
    return Library.of(Source(json.dumps({"Op": sections}).encode(), "f.json")).entries["Op"]


def names(sections: Sections) -> list[str]:
    return sorted({fault.name for fault in entry_of(sections).faults})


def tensor(**more: str) -> dict[str, str]:
    return {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND,ND", **more}


def io(first: dict[str, str], **sections: dict[str, str]) -> Sections:
    return {"input0": first, **sections}


FLAGS = ["needCheckSupport", "dynamicFormat", "heavyOp", "softsync", "dynamicShapeSupport"]
FLAGS += ["inputMemContinues", "outputMemContinues", "enableVectorCore"]


WORDS = [
    ("precision_reduce", "flag", "true|FALSE| True |"),
    ("op", "pattern", "dynamic|rangeAgnostic|BROADCASTENHANCED|"),
    *((section, "flag", "true|False|") for section in FLAGS),
    (
        "slicePattern",
        "value",
        "elemwise|elemwiseBroadcast|broadcast|slidingWindow|slidingWindowDeconv|cubeMatmul",
    ),
    ("slicePattern", "value", "reduce|resize|scatter|segment|ELEMWISE|"),
    ("jitCompile", "flag", "true|false|static_true|static_false|dynamic_true|dynamic_false"),
    ("jitCompile", "flag", "static_true,dynamic_true|static_true,dynamic_false|static_false,dynamic_true"),
    ("jitCompile", "flag", "static_false,dynamic_false|dynamic_true,static_true|dynamic_true,static_false"),
    ("jitCompile", "flag", "dynamic_false,static_true|dynamic_false,static_false"),
    ("rangeLimit", "value", "limited|unlimited|dynamic|Limited|"),
    ("dynamicRankSupport", "flag", "true|false|upgrade_to_dynamic_rank"),
    ("dynamicCompileStatic", "flag", "true|false|tune"),
    ("aclnnSupport", "value", "default|support_aclnn|aclnn_only"),
    ("multiKernelSupportDynamicGraph", "value", "default|multi_kernel|single_kernel"),
    ("opFile", "value", "add|Null|AICore_Null|"),
    ("promoteType", "value", "dynamic|x1,x2;y"),
    ("coreType", "value", "AiCore|whatever"),
    ("fallback", "enable", "1,0|1| 0 ,1|,"),
    ("outputInplaceAbility", "flag", "{{0,0}}"),
    ("somethingNew", "flag", "anything"),
]
"""Words that the engine accepts, of a key in a section."""


@pytest.mark.parametrize(("section", "key", "words"), WORDS)
def test_the_engine_accepts_the_words_of_a_key(section: str, key: str, words: str) -> None:
    assert [word for word in words.split("|") if names({section: {key: word}})] == []


FAULTS = [json.loads(line) for line in Path(__file__).with_name("entry_faults.jsonl").read_text("utf-8").splitlines()]
"""Situation, entry, and its faults: name, place, near words, message; the engine accepts an entry without any."""


@pytest.mark.parametrize(("sections", "faults"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_every_fault_has_its_place_its_near_words_and_its_message(sections: Sections, faults: list[list[str]]) -> None:
    found = entry_of(sections).faults
    assert [[each.name, place_of(each), [*each.near], each.message] for each in found] == faults
    assert [each.refuses for each in found] == [name not in MAY_BE_NEWER for name, *_ in faults]


MAY_BE_NEWER = ("unknown-value", "unknown-section", "hidden-flag")
"""Faults that are warnings: words that a newer engine may have, and those that no engine reads."""


def place_of(fault: EntryFault) -> str:
    """``section.key[token]``, as far as the fault names them."""
    token = "" if fault.token is None else f"[{fault.token}]"
    return ".".join(filter(None, (fault.section, fault.key))) + token


def test_dynamic_format_overrides_the_pattern() -> None:
    sections: Sections = {
        "op": {"pattern": "formatAgnostic"},
        "dynamicFormat": {"flag": " TRUE"},
        "input0": {"name": "x", "paramType": "required", "dtype": "float16"},
    }
    assert names(sections) == []
    assert not Columns(entry_of(sections)).is_listed
    assert Columns(entry_of({**sections, "dynamicFormat": {}})).is_listed


def test_tensors_are_in_numeric_order() -> None:
    sections = {f"input{number}": tensor(name=f"x{number}") for number in (10, 2, 0)}
    assert [each.name for each in Columns(entry_of(sections)).inputs] == ["x0", "x2", "x10"]


def test_sections_that_are_equal_after_trimming_are_checked() -> None:
    sections: Sections = {" input0": tensor(dtype="bf16,float"), "input0": {"name": "x"}}
    entry = entry_of(sections)
    places = [entry.span(fault) for fault in entry.faults]
    assert places
    assert all(start < end for start, end in places)


POSSIBLE = {
    # situation: (sections, can be black, can be white)
    "half and full precision": (io(tensor()), "yes", "yes"),
    "half precision alone": (io(tensor(dtype="float16,bfloat16")), "no", "yes"),
    "full precision alone": (io(tensor(dtype="float,float32")), "yes", "no"),
    "no float at all": (io(tensor(dtype="int32,bool")), "yes", "no"),
    "low precision in the output alone": (io(tensor(dtype="int32,int8"), output0=tensor()), "yes", "yes"),
    "dtypes of a broadcast": (
        {"op": {"pattern": "broadcast"}, "input0": {"name": "x", "paramType": "required", "dtype": "FLOAT16"}},
        "no",
        "yes",
    ),
    "nothing listed": ({}, "kernel", "kernel"),
    "dynamic format without lists": (
        {"dynamicFormat": {"flag": "true"}, "input0": {"name": "x", "paramType": "required", "dtype": "float"}},
        "kernel",
        "kernel",
    ),
    "dynamic format beside lists": ({"dynamicFormat": {"flag": "true"}, "input0": tensor()}, "yes", "yes"),
}


@pytest.mark.parametrize("situation", POSSIBLE)
def test_columns_show_which_policies_are_possible(situation: str) -> None:
    sections, black, white = POSSIBLE[situation]
    columns = Columns(entry_of(sections))
    assert (str(columns.can_be_black()), str(columns.can_be_white())) == (black, white)


def test_white_depends_on_the_low_precision_of_the_mode() -> None:
    columns = Columns(entry_of(io(tensor(dtype="float16,float"))))
    assert columns.can_be_white(FP16) is Possible.YES
    assert columns.can_be_white(BF16) is Possible.NO
    assert columns.can_be_white(HIF8 | FP16) is Possible.YES
