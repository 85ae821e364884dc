"""Ports and columns of an op type on a chip, as opbuild merges them."""

from __future__ import annotations

from pathlib import Path

import pytest
from opdef_source import PORTS, columns, reason, row

from opsinfo_cli.core.cann.entry_rules import build_faults

ADD = 'this->AICore().AddConfig("ascend910b");'
CONFIG, PASS = "OpAICoreConfig c;", 'this->AICore().AddConfig("ascend910b", c);'
F16, F32, BF16, I32 = "ge::DT_FLOAT16", "ge::DT_FLOAT", "ge::DT_BF16", "ge::DT_INT32"
ND, NCHW = "ge::FORMAT_ND", "ge::FORMAT_NCHW"

CASES = {
    "no dtype and no format": ('Input("x");', {"input0": (None, "ND")}),
    "a port without format is ND": (
        f'Input("x").DataType({{{F16}, {F32}}});',
        {"input0": ("float16,float32", "ND,ND")},
    ),
    "lists are combined, the first slowest": (
        f'Input("x").DataTypeList({{{F16}, {F32}}}).FormatList({{{ND}, {NCHW}}}); Output("y").DataTypeList({{{I32}}});',
        {
            "input0": ("float16,float16,float32,float32", "ND,NCHW,ND,NCHW"),
            "output0": ("int32,int32,int32,int32", "ND,ND,ND,ND"),
        },
    ),
    "plain columns are slower than lists": (
        f'Input("x").DataType({{{F16}, {F32}}}); Output("y").DataTypeList({{{I32}, {BF16}}});',
        {
            "input0": ("float16,float16,float32,float32", "ND,ND,ND,ND"),
            "output0": ("int32,bfloat16,int32,bfloat16", "ND,ND,ND,ND"),
        },
    ),
    "a list with a repeated element is ignored": (
        f'Input("x").DataTypeList({{{F16}, {F16}}}).FormatList({{{NCHW}}});',
        {"input0": (None, "NCHW")},
    ),
    "the second form is ignored": (
        f'Input("x").DataType({{{F16}}}).DataTypeList({{{F32}}}); Output("y").FormatList({{{NCHW}}}).Format({{{ND}}});',
        {"input0": ("float16", "ND"), "output0": (None, "NCHW")},
    ),
    "an empty vector is ignored": (
        f'Input("x").DataType({{{F16}}}).DataType({{}});',
        {"input0": ("float16", "ND")},
    ),
    "a port named again is the same": (
        f'Input("x").DataType({{{F16}}}); Input("x").Format({{{NCHW}}}); Output("x").DataType({{{F32}}});',
        {"input0": ("float16", "NCHW"), "output0": ("float32", "ND")},
    ),
    "followers": (
        f'Input("x").DataType({{{F16}, {F32}}}).Format({{{NCHW}, {NCHW}}}); Output("y").Follow("x");'
        'Output("z").Follow("y", FollowType::DTYPE); Output("w").Follow("x", ops::FollowType::SHAPE);',
        {
            "input0": ("float16,float32", "NCHW,NCHW"),
            "output0": ("float16,float32", "NCHW,NCHW"),
            "output1": (None, "ND,ND"),  # another type in the chain
            "output2": (None, "ND,ND"),
        },
    ),
    "a chain of followers": (
        f'Input("x").DataType({{{F16}}}); Input("a").Follow("x"); Output("y").Follow("a");',
        {"input0": ("float16", "ND"), "input1": ("float16", "ND"), "output0": ("float16", "ND")},
    ),
    "followers of nothing, an output, and each other": (
        'Input("x").Follow("no"); Output("y").Follow("y"); Input("a").Follow("y"); Input("b").Follow("b");',
        {"input0": (None, "ND"), "input1": (None, "ND"), "input2": (None, "ND"), "output0": (None, "ND")},
    ),
    "a follower of lists": (
        f'Input("x").DataTypeList({{{F16}, {F32}}}).FormatList({{{ND}, {NCHW}}}); Output("y").Follow("x");',
        {
            "input0": ("float16,float16,float32,float32", "ND,NCHW,ND,NCHW"),
            "output0": ("float16,float16,float32,float32", "ND,NCHW,ND,NCHW"),
        },
    ),
    "an output that follows lists, and has the name of another input": (
        f'Input("x").DataTypeList({{{F16}, {F32}}}); Input("a").DataType({{{I32}}}); Output("a").Follow("x");',
        {
            "input0": ("float16,float32", "ND,ND"),
            "input1": ("int32,int32", "ND,ND"),
            "output0": ("float16,float32", "ND,ND"),
        },
    ),
    "an input that follows lists": (
        f'Input("x").DataTypeList({{{F16}, {F32}}}).FormatList({{{NCHW}}}); Input("a").Follow("x");',
        {"input0": ("float16,float32", "NCHW,NCHW"), "input1": ("float16,float32", "NCHW,NCHW")},
    ),
    "columns of scalars that do not count": (
        f'Input("x").DataType({{{F16}, {F32}}}); Input("a").Scalar().DataType({{{I32}}}).To({F32});'
        f'Input("c").Scalar().DataType({{{I32}, {I32}}}).Format({{{NCHW}}}); Input("d").Scalar().To("x");'
        'Input("e").Scalar().To("d");',
        {
            "input0": ("float16,float32", "ND,ND"),
            "input1": ("float32,float32", "ND,ND"),
            "input2": ("int32,int32", "ND,ND"),
            "input3": ("float16,float32", "ND,ND"),
            "input4": (None, "ND,ND"),
        },
    ),
    "scalars": (
        f'Input("x").DataType({{{F16}, {F32}}}); Input("a").Scalar().To({F32}); Input("b").ScalarList().To("x");'
        f'Input("c").Scalar().DataType({{{I32}, {I32}}}).Format({{{NCHW}, {NCHW}}});',
        {
            "input0": ("float16,float32", "ND,ND"),
            "input1": ("float32,float32", "ND,ND"),
            "input2": ("float16,float32", "ND,ND"),
            "input3": ("int32,int32", "ND,ND"),
        },
    ),
    "a value that is needed early is ND": (
        f'Input("x").DataType({{{I32}}}).Format({{{NCHW}}}).ValueDepend(OPTIONAL);',
        {"input0": ("int32", "ND")},
    ),
    "unknown words": (
        'Input("x").DataType({ge::DT_UNDEFINED, ge::DT_INT2})'
        ".Format({ge::FORMAT_FRACTAL_DECONV_SP_STRIDE8_TRANS, ge::FORMAT_FRACTAL_ZZ});",
        {"input0": ("unknow,int2", "DECONV_SP_STRIDE8_TRANS,UNKNOWN")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_columns(tmp_path: Path, case: str) -> None:
    body, wanted = CASES[case]
    entry = row(tmp_path, f"{body} {ADD}").entry
    assert {name: (entry[name].get("dtype"), entry[name].get("format")) for name in columns(entry)} == wanted


OVERRIDES = {
    "dtypes and formats": (
        f'c.Input("x").DataType({{{BF16}}}).Format({{{NCHW}}}); c.Output("y").DataType({{{BF16}}}).Format({{{NCHW}}});',
        {"input0": ("bfloat16", "NCHW"), "output0": ("bfloat16", "NCHW")},
    ),
    "dtypes alone lose the formats": (
        f'c.Input("x").DataType({{{BF16}, {F32}}});',
        {"input0": ("bfloat16,float32", None), "output0": ("float16,float32", "ND,ND")},
    ),
    "a new port comes last": (
        f'c.Input("z").DataType({{{I32}, {I32}}});',
        {
            "input0": ("float16,float32", "ND,ND"),
            "input1": ("int32,int32", "ND,ND"),
            "output0": ("float16,float32", "ND,ND"),
        },
    ),
    "a scalar finds no input that the chip adds": (
        f'c.Input("z").DataType({{{I32}, {I32}}}); c.Input("s").Scalar().To("z");',
        {
            "input0": ("float16,float32", "ND,ND"),
            "input1": ("int32,int32", "ND,ND"),
            "input2": (None, "ND,ND"),
            "output0": ("float16,float32", "ND,ND"),
        },
    ),
    "another number of columns drops all": (
        f'c.Input("x").DataType({{{BF16}}}).Format({{{ND}}});',
        {"input0": (None, None), "output0": (None, None)},
    ),
}


@pytest.mark.parametrize("case", OVERRIDES)
def test_a_chip_overrides(tmp_path: Path, case: str) -> None:
    body, wanted = OVERRIDES[case]
    entry = row(tmp_path, f"{PORTS} {CONFIG} {body} {PASS}").entry
    assert {name: (entry[name].get("dtype"), entry[name].get("format")) for name in columns(entry)} == wanted


def test_a_follower_does_not_see_what_a_chip_overrides(tmp_path: Path) -> None:
    body = f'{PORTS} Output("z").Follow("x"); {CONFIG} c.Input("x").DataType({{{BF16}, {F32}}}); {PASS}'
    assert columns(row(tmp_path, body).entry) == {
        "input0": "bfloat16,float32",
        "output0": "float16,float32",
        "output1": "float16,float32",
    }


def test_an_override_also_replaces_what_it_does_not_name(tmp_path: Path) -> None:
    body = (
        f'Input("x").ParamType(DYNAMIC).DataType({{{F16}}}).ValueDepend(REQUIRED).UnknownShapeFormat({{{NCHW}}});'
        f'{CONFIG} c.Input("x").DataType({{{F16}}}).Format({{{ND}}}); {PASS}'
    )
    port = row(tmp_path, body).entry["input0"]
    assert (port["paramType"], port["valueDepend"], port["unknownshape_format"]) == ("required", "required", "NCHW")


def test_an_override_takes_away_what_only_the_base_has_but_for_dtypes_of_binaries(tmp_path: Path) -> None:
    base = f".DataType({{{F16}}}).Format({{{ND}}})"
    body = (
        f'Input("x"){base}.DataTypeForBinQuery({{{F32}}}); Input("s").Scalar().To(ge::DT_FLOAT){base};'
        f'Output("y"){base}.InitValue(0).OutputShapeDependOnCompute();'
        f'{CONFIG} c.Input("x"){base}; c.Input("s"){base}; c.Output("y"){base}; {PASS}'
    )
    entry = row(tmp_path, body).entry
    assert (entry["input0"]["for_bin_dtype"], entry["input1"]["dtype"]) == ("float32", "float16")
    assert entry["output0"].keys() == {"name", "dtype", "format", "shape", "paramType"}
    plain = row(tmp_path, body.replace('c.Input("s")', 'c.Input("t")').replace('c.Output("y")', 'c.Output("z")')).entry
    assert plain["input1"]["dtype"] == "float32"
    assert {"initValue", "outputShapeDependOnCompute"} <= plain["output0"].keys()


@pytest.mark.parametrize(
    "default", ["Int(1e400)", "ListInt({1, 1e400})", "Int(std::numeric_limits<float>::infinity())"]
)
def test_a_default_that_no_whole_number_holds_is_unreadable(tmp_path: Path, default: str) -> None:
    found = row(tmp_path, f'Attr("a").AttrType(OPTIONAL).{default}; {ADD}')
    assert "attr_a" not in found.entry
    assert [part.reason.partition(":")[0] for part in found.unread_parts] == ["attribute `a`"]


def test_columns_of_unequal_length_are_told_with_their_places(tmp_path: Path) -> None:
    body = f'\nInput("x").DataType({{{F16}, {F32}}})\n.Format({{{ND}}});\nOutput("y").DataType({{{F16}}});\n{ADD}'
    found = row(tmp_path, body).misaligned
    assert [(each.port, each.name, each.key, each.words, each.place.line) for each in found] == [
        ("input0", "x", "dtype", 2, 8),
        ("input0", "x", "format", 1, 9),
        ("output0", "y", "dtype", 1, 10),
    ]
    assert row(tmp_path, PORTS + ADD).misaligned == []


def test_an_unknown_shape_of_another_length_is_written_as_it_is_and_told(tmp_path: Path) -> None:
    found = row(tmp_path, f'Input("x").DataType({{{F16}, {F32}}})\n.UnknownShapeFormat({{{ND}}}); {ADD}')
    assert found.entry["input0"]["unknownshape_format"] == "ND"
    assert [(each.port, each.words, each.place.line) for each in found.misaligned_unknown_shape] == [("input0", 1, 8)]


def test_an_entry_without_output_is_one_that_the_engine_accepts(tmp_path: Path) -> None:
    """``check_output_exist`` of the vendor's script is never called, and 43 of 2,920 real rows have no output."""
    entry = row(tmp_path, f'Input("x").DataType({{{F16}}}).Format({{{ND}}}); {ADD}').entry
    assert [name for name in entry if name.startswith("output")] == []
    assert list(build_faults(entry)) == []


def test_other_lines_of_a_port(tmp_path: Path) -> None:
    body = (
        'Input("a").ParamType(VIRTUAL); Input("b").ParamType(IGNORE); Input("c").ParamType(DYNAMIC);'
        'Output("y").OutputShapeDependOnCompute().InitValue(0);'
        f'Output("z").DataType({{{F32}}}).InitValue({{ScalarType::FLOAT32, 1}});'
        f'Output("w").DataTypeList({{{F32}, {I32}}})'
        ".InitValue({{ScalarType::FLOAT32, 0.5}, {ScalarType::INT32, 2}});"
    )
    entry = row(tmp_path, body + ADD).entry
    assert [(entry[f"input{at}"]["paramType"], entry[f"input{at}"].get("virtual")) for at in range(3)] == [
        ("optional", "true"),
        ("ignore", None),
        ("dynamic", None),
    ]
    assert entry["output0"]["outputShapeDependOnCompute"] == "true"
    assert [entry[f"output{at}"]["initValue"] for at in range(3)] == [
        "0",
        '{ "is_list" : false, "type": "float32", "value": 1.000000}',
        '{ "is_list" : true, "int32": { "type": "int32", "value": 2 }, '
        '"float32": { "type": "float32", "value": 0.500000 }}',
    ]


def test_attributes(tmp_path: Path) -> None:
    body = """Attr("a").Int(); Attr("b").AttrType(OPTIONAL).Float(1e-6f); Attr("c").AttrType(OPTIONAL).ListInt({1, -2});
        Attr("d").AttrType(OPTIONAL).Bool(true); Attr("e").AttrType(OPTIONAL).String("x,y");
        Attr("f").AttrType(OPTIONAL).ListListInt({{1}, {}}); Attr("g").AttrType(OPTIONAL).Int(ge::DT_BF16);
        Attr("h").AttrType(OPTIONAL).Float(0.1);
        Attr("i").AttrType(OPTIONAL).ListFloat(); Attr("a").AttrType(OPTIONAL).Int(INT64_MAX);"""
    entry = row(tmp_path, body + ADD).entry
    assert entry["attr"] == {"list": "a,b,c,d,e,f,g,h,i"}
    assert entry["attr_b"] == {"type": "float", "value": "all", "paramType": "optional", "defaultValue": "1e-06"}
    assert {name: entry[f"attr_{name}"]["defaultValue"] for name in "acdefghi"} == {
        "a": "9223372036854775807",
        "c": "[1,-2]",
        "d": "true",
        "e": "x,y",
        "f": "[[1],[]]",
        "g": "27",
        "h": "0.1",
        "i": "[]",
    }


def test_an_attribute_that_is_not_known_is_left_out_with_the_reason(tmp_path: Path) -> None:
    found = row(tmp_path, f'Attr("a").Int(kNo);\nAttr("b").Int(1); {ADD}')
    assert found.entry["attr"] == {"list": "b"}
    (part,) = found.unread_parts
    assert (part.file, part.line) == (f"{tmp_path}/op_host/op_def.cpp", 7)
    assert part.reason == "attribute `a`: `kNo` is not defined in the project"


def test_other_keys(tmp_path: Path) -> None:
    body = (
        f'{CONFIG} c.ExtendCfgInfo("opFile.value", "x_apt").ExtendCfgInfo("coreType.value", "VectorCore"); {PASS}'
        'this->EnableFallBack(); this->MC2().HcclGroup("group").HcclGroup({"group", "tp"});'
    )
    entry = row(tmp_path, body, name="LAWSnakeCASETest2D").entry
    assert {name: each["value"] for name, each in entry.items() if "value" in each} == {
        "opFile": "x_apt",
        "coreType": "VectorCore",
        "aclnnSupport": "support_aclnn",
        "prebuildPattern": "Opaque",
        "opInterface": "law_snake_case_test2_d",
    }
    assert entry["mc2"] == {"ctx": "mc2_context_0,mc2_context_1"}
    jit = row(tmp_path, f'{CONFIG} c.ExtendCfgInfo("jitCompile.flag", "static_true,dynamic_true"); {PASS}').entry
    assert "coreType" not in jit


@pytest.mark.parametrize(
    "dtypes",
    [
        "kNo",
        "Make(3)",
        "{ge::DT_FLOAT, kNo}",
        "v",
        "std::vector<ge::DataType>(n, ge::DT_FLOAT)",
        "{static_cast<ge::DataType>(7)}",
        "{\n#ifdef FROM_THE_BUILD\nge::DT_FLOAT,\n#endif\nge::DT_INT8}",
    ],
)
def test_an_unreadable_column_leaves_the_policy(tmp_path: Path, dtypes: str) -> None:
    body = (
        "std::vector<ge::DataType> v = {kNo}; int n = kCount;\n"
        f'Input("x").DataType({dtypes}).Format({{{ND}}}); {CONFIG} c.PrecisionReduceFlag(false); {PASS}'
    )
    found = row(tmp_path, body)
    assert found.policy == "black"
    assert found.columns_unread is not None
    assert f"{tmp_path}/op_host/op_def.cpp:" in found.columns_unread
    assert "input0" not in found.entry
    assert found.entry["opFile"] == {"value": "op"}


def test_an_unreadable_name_of_a_port_is_not_guessed(tmp_path: Path) -> None:
    assert reason(tmp_path, f"Input(kName); {ADD}") == (7, "`kName` is not defined in the project")
