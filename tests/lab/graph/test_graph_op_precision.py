"""Files of implementation modes, read as the engine reads them."""

from __future__ import annotations

import pytest

from opsinfo_cli.core.cann.option_files import OpPrecision

TEXT = """\
# modes of two models
Conv2D = high_precision
 [ByNodeName]\t
conv_1=enable_float_32_execution
conv_1=keep_fp16
[ByOpType]
Conv2D=high_performance
MatMulV2=enable_hi_float_32_execution
"""


@pytest.mark.parametrize(
    ("name", "op_type", "mode"),
    [
        ("conv_1", "Conv2D", "enable_float_32_execution"),
        ("conv_2", "Conv2D", "high_precision"),
        ("mm", "MatMulV2", "enable_hi_float_32_execution"),
        ("Conv2D", "Relu", None),
    ],
    ids=["a name before its type", "the first line of a type", "the second part for types", "a type is no name"],
)
def test_a_node_has_the_mode_of_the_line_that_wins(name: str, op_type: str, mode: str | None) -> None:
    read = OpPrecision(TEXT.splitlines())
    assert (read.nodes.get(name) or read.types.get(op_type)) == mode


@pytest.mark.parametrize(
    ("line", "name", "column", "message"),
    [
        ("Add=high_precison", "unknown-implmode", 5, "unknown implementation mode `high_precison`"),
        ("[ByOptype]", "bad-line", 1, "not a heading"),
        ("Add", "bad-line", 1, "not a heading"),
        ("Add= ", "bad-line", 1, "no mode after `=`"),
        ("=high_precision", "bad-line", 1, "no name before `=`"),
        ("  Mul=keep_fp16", "repeated-line", 3, "line 1 also sets a mode for `Mul` and wins"),
    ],
)
def test_a_line_that_the_engine_ignores_has_its_place(line: str, name: str, column: int, message: str) -> None:
    read = OpPrecision(["Mul=high_precision", line])
    (fault,) = read.faults
    assert (fault.name, fault.line, fault.column, fault.refuses) == (name, 2, column, False)
    assert message in fault.message
    assert read.types == {"Mul": "high_precision"}


@pytest.mark.parametrize("line", ["", "  ", "# Add=wrong", "[ByNodeName]", "\t[ByOpType]\r"])
def test_comments_headings_and_blank_lines_are_no_faults(line: str) -> None:
    assert OpPrecision([line]).faults == []
