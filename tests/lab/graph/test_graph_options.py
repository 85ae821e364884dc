"""Files of compiler options: keep_dtype and customize_dtypes, including real ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_support import graph_of
from corpus_place import CORPUS

from opsinfo_cli.core.cann.option_files import Customized, CustomizeDtypes, KeepDtype
from opsinfo_cli.errors import Damaged
from opsinfo_cli.lab.graph.judge.modes import judge_mode, mode_by_number

GRAPH = graph_of([["x", "Data", [], ["float32"]], ["add_1", "Add", ["x", "x"], ["float32"]]])


@pytest.mark.parametrize(
    ("line", "name", "is_type", "inputs", "outputs"),
    [
        ("a:InputDtype:float16,OutputDtype:int8", "a", False, ("float16", None), ("int8",)),
        ("a/b::InputDtype:,float,OutputDtype:", "a/b", False, (None, "float32", None), ()),
        ("OpType::Add:OutputDtype:BFLOAT16", "Add", True, (), ("bfloat16",)),
        ("OpType:: Add :InputDtype:float32", "Add ", True, ("float32",), ()),
    ],
    ids=["node", "node with skipped places", "op type", "op type with blanks"],
)
def test_a_line_of_customize_dtypes_sets_dtypes(
    line: str, name: str, is_type: bool, inputs: tuple[str | None, ...], outputs: tuple[str | None, ...]
) -> None:
    asked = CustomizeDtypes([line])
    assert asked.faults == []
    assert asked.names[(name, is_type)].dtypes == Customized(inputs, outputs)


@pytest.mark.parametrize(
    ("line", "name", "column", "message"),
    [
        ("", "bad-line", 1, "an empty line"),
        ("# a comment", "bad-line", 1, "no `:` after a name"),
        ("add_1", "bad-line", 1, "no `:` after a name"),
        ("add_1:Input:float16", "bad-line", 1, "neither `InputDtype` nor `OutputDtype`"),
        ("a:OutputDtype:int8,InputDtype:int8", "bad-line", 3, "`InputDtype` must come before"),
        ("a:InputDtype:float16,bf16", "bad-dtype", 22, "`bf16` is not a dtype"),
        ("a:InputDtype", "bad-line", 3, "no dtype after `InputDtype`"),
    ],
)
def test_a_line_that_the_engine_refuses_is_refused_with_its_place(
    line: str, name: str, column: int, message: str
) -> None:
    fault = CustomizeDtypes(["b:InputDtype:float16", line]).faults[0]
    assert (fault.name, fault.line, fault.column, fault.refuses) == (name, 2, column, True)
    assert message in fault.message


def test_a_refused_file_has_the_place_and_a_suggestion(tmp_path: Path) -> None:
    path = tmp_path / "dtypes.cfg"
    path.write_text("a:InputDtype:float16\na:OutputDtype:fp16\n", "utf-8")
    with pytest.raises(Damaged) as caught:
        CustomizeDtypes.read(str(path))
    assert (caught.value.line, caught.value.column, caught.value.hint) == (2, 15, "did you mean `float16`?")


def test_the_first_line_of_a_name_wins_and_a_long_one_ends_the_file() -> None:
    asked = CustomizeDtypes(["a:InputDtype:int8", "a:InputDtype:int16", "b" * 1100, "c:InputDtype:int8"])
    assert [(fault.name, fault.line) for fault in asked.faults] == [("duplicate-name", 2), ("line-too-long", 3)]
    assert [each.dtypes.inputs for each in asked.names.values()] == [("int8",)]


def test_a_name_overrides_its_type_and_lines_without_a_match_are_listed() -> None:
    asked = CustomizeDtypes(["OpType::Add:InputDtype:int8", "add_1:InputDtype:int16", "OpType::Mul:InputDtype:int8"])
    assert {node: each.inputs for node, each in asked.marks(GRAPH).items()} == {1: ("int16",)}
    assert [each.message for each in asked.unmatched(GRAPH)] == ["the graph has no op type `Mul`"]


def test_keep_dtype_names_nodes_and_types_and_warns_of_the_rest() -> None:
    kept = KeepDtype(["add_1", "", "OpType::Data", "# why", "   "])
    assert kept.marks(GRAPH) == {0, 1}
    assert [(fault.line, fault.refuses, fault.hint) for fault in kept.unmatched(GRAPH)] == [
        (4, False, "the file has no comments"),
        (5, False, None),
    ]


def test_keep_dtype_with_an_op_type_in_lower_case_is_refused_with_its_line() -> None:
    with pytest.raises(Damaged, match="PascalCase") as caught:
        KeepDtype(["add_1", "OpType::add"]).marks(GRAPH)
    assert caught.value.line == 2


@pytest.mark.skipif(not (CORPUS / "graphs").exists(), reason="the corpus of graphs is not here")
def test_real_files_are_read_without_a_fault() -> None:
    graphs = CORPUS / "graphs"
    for name, count in (("customize_dtypes-dien.txt", 3), ("customize_dtypes-ood.cfg", 1)):
        asked = CustomizeDtypes.read(str(graphs / name))
        assert (len(asked.names), asked.faults) == (count, [])
    for name, count in (("keeptype-fasterrcnn.cfg", 38), ("keeptype-maskrcnn.cfg", 59)):
        assert len(KeepDtype.read(str(graphs / name)).names) == count


def test_every_name_of_a_mode_is_known_and_the_engine_numbers_them() -> None:
    assert judge_mode("mixed_float16").engine == judge_mode("allow_mix_precision").engine == "MIX_FP16"
    assert judge_mode("allow_fp32_to_lowprecision").engine == "ALLOW_FP32_TO_LOWPRECISION"
    numbered = [mode_by_number(number) for number in range(11)]
    assert [mode.engine if mode else None for mode in numbered][:3] == ["FORCE_FP16", "ALLOW_FP32_TO_FP16", "MIX_FP16"]
    assert None not in numbered
    assert [mode and judge_mode(mode.name) for mode in numbered] == numbered
    assert mode_by_number(11) is None
