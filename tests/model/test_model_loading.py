"""Values of an entry that the engine accepts, and values that fail the store.

The cases follow hicann/ge, compiler/engines/nn_engine/opskernel/ops_store: sub_op_info_store.cc and
op_kernel_info_constructor.cc.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from opsinfo_cli.model.entry import BF16, FP16, HIF8, Columns, Entry, Possible
from opsinfo_cli.model.entry_rules import EntryFault
from opsinfo_cli.model.library import Library
from opsinfo_cli.text.source import Source

Sections = dict[str, dict[str, str]]


def entry_of(sections: Sections) -> Entry:
    import json

    return Library.of(Source(json.dumps({"Op": sections}).encode(), "f.json")).entries["Op"]


def names(sections: Sections) -> list[str]:
    return sorted({fault.name for fault in entry_of(sections).faults})


def tensor(**more: str) -> dict[str, str]:
    return {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND,ND", **more}


def io(first: dict[str, str], **sections: dict[str, str]) -> Sections:
    return {"input0": first, **sections}


FLAGS = ["needCheckSupport", "dynamicFormat", "heavyOp", "softsync", "dynamicShapeSupport"]
FLAGS += ["inputMemContinues", "outputMemContinues", "enableVectorCore"]


def agnostic(input0: dict[str, str], output0: dict[str, str], **more: dict[str, str]) -> Sections:
    """A formatAgnostic operator whose tensors have two dtypes and these formats."""
    usual = {"name": "x", "paramType": "required", "dtype": "float16,float"}
    return {"op": {"pattern": "formatAgnostic"}, "input0": {**usual, **input0}, "output0": {**usual, **output0}, **more}


def attribute(kind: str, value: str) -> Sections:
    return {"attr": {"list": "N"}, "attr_N": {"type": kind, "value": value, "paramType": "required"}}


ACCEPTED = {
    **{
        f"{section}.{key}={word}": {section: {key: word}}
        for section, key, words in [
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
        for word in words.split("|")
    },
    "no section at all": {},
    "a tensor": io(tensor()),
    "a tensor with blanks around its words": io(
        tensor(dtype=" float16 , float ", format=" ND , ND ", paramType=" required ")
    ),
    "a dtype in capitals": io(tensor(dtype="FLOAT16,Float")),
    "float32 in lower case": io(tensor(dtype="float16,float32")),
    "formats with a sub format": io(tensor(format="FRACTAL_Z:8,ND")),
    "NULL as an unknownshape_format": io(tensor(unknownshape_format="NULL,ND")),
    "sub formats": io(tensor(sub_format="0,65535")),
    "tuneformatSwitch": io(tensor(tuneformatSwitch="true")),
    "any reshapeType and shape": io(tensor(reshapeType="whatever", shape="all")),
    "an unknown valueDepend": io(tensor(valueDepend="perhaps")),
    "every paramType": io(
        tensor(paramType="dynamic"),
        input1=tensor(paramType="optional"),
        input2=tensor(paramType="required"),
        output0=tensor(paramType="reserved"),
    ),
    "capitals in the section's name": {"Input0": tensor(), "Output": tensor()},
    "no dtype if nothing requires columns": io({"name": "x", "paramType": "required"}),
    "dtypes alone in a broadcast": {
        "op": {"pattern": "broadcast"},
        "input0": {"name": "x", "paramType": "required", "dtype": "float16,float"},
        "output0": {"name": "y", "paramType": "required", "dtype": "float16,float"},
    },
    "formatAgnostic with one and one": {
        "op": {"pattern": "formatAgnostic"},
        "input0": {"name": "x", "paramType": "required", "dtype": "float"},
        "output0": {"name": "y", "paramType": "required", "dtype": "float"},
    },
    "an attribute": {
        "attr": {"list": "axis, N"},
        "attr_axis": {"type": "listInt", "value": "all", "paramType": "required"},
        "attr_N": {"type": "int", "value": "1,2", "paramType": "optional", "defaultValue": "1"},
    },
    "a list attribute that ends with a semicolon": attribute("listInt", "[1,2];"),
    "a list attribute that begins with an empty list": attribute("listInt", "[];[1]"),
    "a list of lists with an empty one": attribute("listListInt", "[[1],[]]"),
    "an int attribute with a semicolon": attribute("int", "1;x"),
    "the smallest normal float, rounded": attribute("float", "1.17549435e-38"),
    "a format with a NUL": io(tensor(format="ND\0x,ND")),
    "the largest sub format of a format": io(tensor(format="ND:65535,ND:0")),
    "the format UNDEFINED with a sub format": io(tensor(format="UNDEFINED:1,ND")),
    "a bad dtype in a NULL column of unknown shapes": io(
        {"name": "x", "paramType": "required", "dtype": "bf16,float", "unknownshape_format": "NULL,ND"}
    ),
    "formatAgnostic without formats": agnostic({}, {}),
    "formatAgnostic with formats": agnostic({"format": "ND,ND"}, {"format": "ND,NCHW"}),
    "formatAgnostic with formats of its input alone and dynamic shapes": agnostic(
        {"format": "ND,ND"}, {}, dynamicShapeSupport={"flag": "true"}
    ),
    "an attribute section that no list names": {"attr_axis": {"type": "nonsense"}},
}


@pytest.mark.parametrize("situation", ACCEPTED)
def test_the_engine_accepts(situation: str) -> None:
    assert names(ACCEPTED[situation]) == []


REFUSED: dict[str, tuple[str, Sections]] = {
    "a misspelt flag": ("bad-flag", {"precision_reduce": {"flag": "flase"}}),
    "a flag of another language": ("bad-flag", {"precision_reduce": {"flag": "yes"}}),
    **{f"{section}.flag=1": ("bad-value", {section: {"flag": "1"}}) for section in FLAGS},
    "an unknown pattern": ("bad-value", {"op": {"pattern": "elementwise"}}),
    "an unknown slicePattern": ("bad-value", {"slicePattern": {"value": "elem"}}),
    "a jitCompile pair with a blank": ("bad-value", {"jitCompile": {"flag": "static_true, dynamic_true"}}),
    "a jitCompile pair of one kind": ("bad-value", {"jitCompile": {"flag": "static_true,static_false"}}),
    "an unknown rangeLimit": ("bad-value", {"rangeLimit": {"value": "none"}}),
    "an unknown dynamicRankSupport": ("bad-value", {"dynamicRankSupport": {"flag": "upgrade"}}),
    "an unknown dynamicCompileStatic": ("bad-value", {"dynamicCompileStatic": {"flag": "auto"}}),
    "an unknown aclnnSupport": ("bad-value", {"aclnnSupport": {"value": "yes"}}),
    "an unknown multiKernelSupportDynamicGraph": (
        "bad-value",
        {"multiKernelSupportDynamicGraph": {"value": "dual_kernel"}},
    ),
    "a fallback in words": ("bad-value", {"fallback": {"enable": "true"}}),
    "a fallback in words for unknown shapes": ("bad-value", {"fallback": {"unknownshape_enable": "1,false"}}),
    "the dtype undefined": ("bad-value", io(tensor(dtype="undefined,float"))),
    "a sub format of a format beyond 65535": ("bad-value", io(tensor(format="ND:65536,ND"))),
    "a sub format of a format that is not ASCII": ("bad-value", io(tensor(format="ND:\u0663,ND"))),
    "an empty sub format of a format": ("bad-value", io(tensor(format="ND:,ND"))),
    "the format UNDEFINED with the sub format 0": ("bad-value", io(tensor(format="UNDEFINED:0,ND"))),
    "a bad dtype in a NULL column of known shapes": ("bad-value", io(tensor(dtype="bf16,float", format="NULL,ND"))),
    "formatAgnostic with formats of its input alone": ("engine-crash", agnostic({"format": "ND,ND"}, {})),
    "formatAgnostic with formats of its output alone": ("engine-crash", agnostic({}, {"format": "ND,ND"})),
    "formatAgnostic with formats of its output alone and dynamic shapes": (
        "engine-crash",
        agnostic({}, {"format": "ND,ND"}, dynamicShapeSupport={"flag": "True"}),
    ),
    "formatAgnostic with a NULL format of its output alone": (
        "engine-crash",
        agnostic({"format": "ND,ND"}, {"format": "NULL,ND"}),
    ),
    "a dtype called bf16": ("bad-value", io(tensor(dtype="bf16,float"))),
    "a dtype called fp16": ("bad-value", io(tensor(dtype="fp16,float"))),
    "a dtype called half": ("bad-value", io(tensor(dtype="half,float"))),
    "a dtype called hif8": ("bad-value", io(tensor(dtype="hif8,float"))),
    "a format in lower case": ("bad-value", io(tensor(format="nd,ND"))),
    "the format RESERVED": ("bad-value", io(tensor(format="RESERVED,ND"))),
    "the format UNDEFINED": ("bad-value", io(tensor(format="UNDEFINED,ND"))),
    "a paramType with a capital": ("bad-value", io(tensor(paramType="Required"))),
    "no paramType": ("bad-value", io({"name": "x", "dtype": "float", "format": "ND"})),
    "no name": ("bad-value", io({"paramType": "required", "dtype": "float", "format": "ND"})),
    "an empty name": ("bad-value", io(tensor(name=" "))),
    "no dtype beside a format": ("bad-value", io({"name": "x", "paramType": "required", "format": "ND"})),
    "no dtype in a reduce": (
        "bad-value",
        {"op": {"pattern": "reduce"}, "input0": {"name": "x", "paramType": "required"}},
    ),
    "a sub format too large": ("bad-value", io(tensor(sub_format="65536"))),
    "a sub format that is not a number": ("bad-value", io(tensor(sub_format="x"))),
    "a tuneformatSwitch with a capital": ("bad-value", io(tensor(tuneformatSwitch="True"))),
    "fewer formats than dtypes": ("column-mismatch", io(tensor(format="ND"))),
    "fewer unknownshape_formats than dtypes": ("column-mismatch", io(tensor(unknownshape_format="ND"))),
    "tensors of different columns": ("column-mismatch", io(tensor(), output0=tensor(dtype="float", format="ND"))),
    "formatAgnostic with two inputs": (
        "column-mismatch",
        {"op": {"pattern": "formatAgnostic"}, "input0": tensor(), "input1": tensor(), "output0": tensor()},
    ),
    "an attribute without its section": ("bad-value", {"attr": {"list": "axis"}}),
    "an attribute without a type": ("bad-value", {"attr": {"list": "axis"}, "attr_axis": {"value": "all"}}),
    "an attribute without a value": ("bad-value", {"attr": {"list": "axis"}, "attr_axis": {"type": "int"}}),
    "an int attribute beyond 64 bits": (
        "bad-value",
        {"attr": {"list": "N"}, "attr_N": {"type": "int", "value": "1,9223372036854775808", "paramType": "required"}},
    ),
    "a list of ints of which one is beyond 64 bits": (
        "bad-value",
        {"attr": {"list": "N"}, "attr_N": {"type": "listInt", "value": "[1,-9223372036854775809]", "paramType": "x"}},
    ),
    "a list of lists with a word in its last list": ("bad-value", attribute("listListInt", "[[1,2],[3,x]]")),
    "a list of lists with a word in its first list": ("bad-value", attribute("listListInt", "[[x,2],[3]]")),
    "lists between semicolons with a word in the last": ("bad-value", attribute("listListInt", "[1];[x]")),
    "a list with a default that is not a number": (
        "bad-value",
        {
            "attr": {"list": "N"},
            "attr_N": {"type": "listInt", "value": "1", "paramType": "optional", "defaultValue": "x"},
        },
    ),
    "a float attribute beyond floats": (
        "bad-value",
        {"attr": {"list": "N"}, "attr_N": {"type": "float", "value": "1e39", "paramType": "required"}},
    ),
    "an int attribute that is not a number": (
        "bad-value",
        {"attr": {"list": "N"}, "attr_N": {"type": "int", "value": "x", "paramType": "required"}},
    ),
}


@pytest.mark.parametrize("situation", REFUSED)
def test_the_engine_refuses(situation: str) -> None:
    name, sections = REFUSED[situation]
    assert names(sections) == [name]
    assert all(fault.refuses for fault in entry_of(sections).faults)


SUSPECT: dict[str, tuple[str, Sections]] = {
    "a dtype of a newer engine": ("unknown-value", io(tensor(dtype="float5_e2m2,float"))),
    "a format of a newer engine": ("unknown-value", io(tensor(format="FRACTAL_NEW,ND"))),
    "an attribute type in lower case": (
        "unknown-value",
        {"attr": {"list": "N"}, "attr_N": {"type": "listint", "value": "all", "paramType": "required"}},
    ),
    "a section with an extra s": ("unknown-section", {"precision_reduces": {"flag": "true"}}),
    "a section in other case": ("unknown-section", {"Precision_Reduce": {"flag": "true"}}),
    "a section without its underscore": ("unknown-section", {"precisionReduce": {"flag": "true"}}),
    "an input spelt with a dash": ("unknown-section", {"input-0": tensor()}),
}


@pytest.mark.parametrize("situation", SUSPECT)
def test_unknown_words_that_a_newer_engine_may_have_are_warnings(situation: str) -> None:
    name, sections = SUSPECT[situation]
    assert names(sections) == [name]
    assert not any(fault.refuses for fault in entry_of(sections).faults)


def test_every_fault_has_its_place_its_near_words_and_its_message() -> None:
    rows = [
        "\t".join((situation, place_of(fault), " ".join(fault.near), fault.message))
        for situation, (_, sections) in {**REFUSED, **SUSPECT}.items()
        for fault in entry_of(sections).faults
    ]
    assert rows == (Path(__file__).parent / "fault_texts.tsv").read_text("utf-8").splitlines()[1:]


def place_of(fault: EntryFault) -> str:
    """``section.key[token]``, as far as the fault names them."""
    token = "" if fault.token is None else f"[{fault.token}]"
    return ".".join(filter(None, (fault.section, fault.key))) + token


def test_dynamic_format_overrides_the_pattern() -> None:
    sections: Sections = {
        "op": {"pattern": "formatAgnostic"},
        "dynamicFormat": {"flag": " TRUE"},
        "input0": {"name": "x", "paramType": "required"},
    }
    assert names(sections) == []
    assert Columns(entry_of(sections)).source == "kernel"


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
