"""Implementation modes: which nodes that stay high are computed in HF32, by the options of the compiler."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_support import graph_of, judge, library_of

from opsinfo_cli.core.cann.target import Target
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.lab.graph.atc_options import AtcOptions
from opsinfo_cli.lab.graph.implmode import implementation_modes

FLOATS = {"flag": "false"}, {"dtype": "float,float16", "format": "ND,ND", "paramType": "required"}
ENTRY = {"precision_reduce": FLOATS[0], "input0": {"name": "x", **FLOATS[1]}, "output0": {"name": "y", **FLOATS[1]}}
GRAPH = graph_of(
    [
        ["x", "Data", [], ["float32"]],
        ["conv", "Conv2D", ["x"], ["float32"]],
        ["product", "MatMulV2", ["conv"], ["float32"]],
        ["relu", "Relu", ["product"], ["float32"]],
    ]
)
LIBRARY = library_of(dict.fromkeys(("Conv2D", "MatMulV2", "Relu"), ENTRY))


def computed(soc: str | None = "ascend910b", **options: str) -> dict[str, str | None]:
    answer = judge(GRAPH, LIBRARY, "mixed_float16", soc=soc, atc=AtcOptions(**options))
    return {node.name: node.compute for node in answer if node.judged}


@pytest.mark.parametrize(
    ("options", "hf32"),
    [
        ({}, ["conv"]),
        ({"allow_hf32": "10"}, ["conv"]),
        ({"allow_hf32": "01"}, ["product"]),
        ({"allow_hf32": "true"}, ["conv", "product"]),
        ({"allow_hf32": "00"}, []),
        ({"op_select_implmode": "high_precision", "optypelist_for_implmode": "Conv2D, Relu"}, []),
        ({"op_select_implmode": "high_precision", "optypelist_for_implmode": "Relu"}, ["conv"]),
    ],
    ids=["default", "convolutions", "products", "both", "none", "a list of types comes first", "then the default"],
)
def test_the_options_say_what_is_computed_in_hf32(options: dict[str, str], hf32: list[str]) -> None:
    found = computed(**options)
    assert [name for name, dtype in found.items() if dtype == "hf32"] == hf32
    assert {dtype for name, dtype in found.items() if name not in hf32} == {"float32"}


def test_a_file_of_modes_comes_before_the_default_but_after_an_option(tmp_path: Path) -> None:
    file = tmp_path / "op_precision.ini"
    file.write_text("Conv2D=enable_float_32_execution\n[ByNodeName]\nproduct=enable_hi_float_32_execution\n", "utf-8")
    names = {"op_precision_mode": str(file)}
    assert computed(**names) == {"conv": "float32", "product": "hf32", "relu": "float32"}
    assert computed(**names, allow_hf32="10")["conv"] == "hf32"


@pytest.mark.parametrize(("soc", "dtype"), [("ascend910", "float32"), ("ascend310p", "float32"), (None, None)])
def test_hf32_needs_a_chip_that_has_it(soc: str | None, dtype: str | None) -> None:
    assert computed(soc)["conv"] == dtype


def test_a_low_node_is_computed_in_its_dtype_and_counts_no_hf32() -> None:
    answer = judge(GRAPH, LIBRARY, "force_fp16", soc="ascend910b")
    assert answer.in_hf32 == []
    assert {node.compute for node in answer if node.judged} == {"float16"}


def test_the_reason_of_a_node_says_that_it_is_computed_in_hf32() -> None:
    answer = judge(GRAPH, LIBRARY, "mixed_float16", soc="ascend910b")
    assert [answer[index].name for index in answer.in_hf32] == ["conv"]
    assert answer[1].why == "on the black list by the library: keeps its dtype; computed in HF32"


def test_the_files_of_an_install_say_which_types_a_mode_is_for(tmp_path: Path) -> None:
    folder = tmp_path / "opp/built-in/op_impl/ai_core/tbe/impl_mode"
    folder.mkdir(parents=True)
    (folder / "allow_hf32_matmul_f_conv_t.ini").write_text("Relu=enable_hi_float_32_execution\n", "utf-8")
    (folder / "high_precision.ini").write_text("MatMulV2=high_precision\n", "utf-8")
    modes = implementation_modes(AtcOptions(op_select_implmode="high_precision"), (), "ascend910b", f"{tmp_path}/opp")
    assert modes.types == {"MatMulV2": "high_precision", "Relu": "enable_hi_float_32_execution"}


def test_options_of_the_models_own_command_are_taken_and_those_of_the_user_win() -> None:
    command = ("atc", "--allow_hf32=11", "--op_precision_mode=/nowhere/modes.ini")
    modes = implementation_modes(AtcOptions(), command, "ascend910b", None)
    assert modes.types["MatMulV2"] == "enable_hi_float_32_execution"
    assert modes.caveats == ["not considered: --op_precision_mode=/nowhere/modes.ini: No such file or directory"]
    assert implementation_modes(AtcOptions(allow_hf32="0"), command, "ascend910b", None).types["Conv2D"] == (
        "enable_float_32_execution"
    )


@pytest.mark.parametrize("options", [{"allow_hf32": "2"}, {"op_select_implmode": "high_precison"}])
def test_a_wrong_value_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(UsageFault, match="unknown value"):
        computed(**options)


def test_a_target_without_an_impl_mode_folder_uses_the_types_of_cann_8(opp: Path) -> None:
    answer = judge(GRAPH, Target.open(str(opp), soc="ascend910b"), "must_keep_origin_dtype")
    assert answer.modes.types["Conv3D"] == "enable_hi_float_32_execution"
