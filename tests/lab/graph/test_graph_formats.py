"""Format filters: which columns are left when the dtypes were matched."""

from __future__ import annotations

import pytest

from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.lab.graph.judge.format_filters import filter_formats, heavy_format
from opsinfo_cli.lab.graph.judge.kernel import NOTHING, Kernel, Slot
from opsinfo_cli.lab.graph.judge.node_facts import BoundPort, OperatorPort

SLOT = Slot("input0", "x", "required", False, NOTHING, NOTHING)


def bound(formats: str, own: str | None, present: bool = True) -> BoundPort:
    names = tuple(formats.split())
    return BoundPort(OperatorPort("float32", own, present=present), SLOT, ("float32",) * len(names), names)


def left(op_type: str, heavy: bool, inputs: list[BoundPort | None], columns: list[int] | None = None) -> list[int]:
    kernel = Kernel(op_type, Policy.GRAY, (), (), "library", heavy=heavy)
    count = next(len(each.formats) for each in inputs if each)
    columns = [*range(count)] if columns is None else columns
    filter_formats(kernel, inputs, [], range(len(inputs)), columns)
    return columns


CASES = {
    # situation: (op type, heavy, formats of the columns, the tensor's own format, columns left)
    "small channels go where another column is left": ("Conv2D", True, "NC1HWC0_C04 NC1HWC0", "NCHW", [1]),
    "small channels stay alone": ("Conv2D", True, "NC1HWC0_C04 NC1HWC0_C04", "NCHW", [0, 1]),
    "small channels stay in other operators": ("Pooling", True, "NC1HWC0_C04 NC1HWC0", "NCHW", [0, 1]),
    "small channels stay in light kernels": ("Conv2D", False, "NC1HWC0_C04 NC1HWC0", "NCHW", [0, 1]),
    "a product prefers heavy formats": ("MatMulV2", True, "ND FRACTAL_NZ", "ND", [1]),
    "a light product keeps the format it has": ("MatMulV2", False, "ND FRACTAL_NZ", "ND", [0]),
    "a product without heavy formats keeps the format it has": ("MatMulV2", True, "ND NCHW", "ND", [0]),
    "another heavy kernel prefers heavy formats": ("Conv3D", True, "NCHW NC1HWC0", "NCHW", [1]),
    "another heavy kernel without heavy formats keeps its own": ("Conv3D", True, "NHWC NCHW", "NCHW", [1]),
    "three dimensions for three": ("Add", False, "NC1HWC0 NDC1HWC0 NDHWC", "NDHWC", [2]),
    "no three dimensions for two": ("Add", False, "NDC1HWC0 NC1HWC0", "NCHW", [1]),
    "ND fits any number of dimensions": ("Add", False, "NDC1HWC0 ND", "NCHW", [1]),
    "a tensor of ND has no number of dimensions": ("Add", False, "NDC1HWC0 FRACTAL_NZ", "ND", [0, 1]),
    "ND is not brought to five dimensions": ("Add", False, "NC1HWC0 FRACTAL_NZ", "ND", [1]),
    "the own format and ND are taken first": ("Add", False, "NC1HWC0 NCHW ND NHWC", "NCHW", [1, 2]),
    "an unknown format filters nothing": ("Add", False, "NC1HWC0 NCHW NDC1HWC0", None, [0, 1, 2]),
    "one column is not asked for its dimensions": ("Add", False, "NDC1HWC0", "NCHW", [0]),
}


@pytest.mark.parametrize("situation", CASES)
def test_columns_are_filtered_by_the_format_of_one_tensor(situation: str) -> None:
    op_type, heavy, formats, own, expected = CASES[situation]
    assert left(op_type, heavy, [bound(formats, own)]) == expected


def test_an_absent_tensor_filters_nothing() -> None:
    absent = bound("NC1HWC0 ND", "ND", present=False)
    assert left("Add", False, [absent, None]) == [0, 1]
    assert left("Add", False, [None, bound("NC1HWC0 ND", "ND")]) == [1]


def test_every_input_of_a_product_narrows_in_turn() -> None:
    inputs = [bound("ND FRACTAL_NZ FRACTAL_NZ", "ND"), None, bound("ND ND FRACTAL_Z", "ND")]
    assert left("MatMulV2", True, inputs) == [2]


def test_columns_that_a_shorter_row_lacks_are_dropped_or_kept_as_the_engine_does() -> None:
    assert left("Add", False, [bound("NC1HWC0 ND", "NCHW")], [0, 1, 2]) == [1]
    assert left("Add", False, [bound("NC1HWC0 NHWC", "NCHW")], [0, 1, 2]) == [0, 1, 2]
    assert left("Add", False, [bound("NC1HWC0 FRACTAL_NZ", "ND")], [0, 1, 2]) == [1]
    assert left("Conv2D", True, [bound("NC1HWC0_C04 NC1HWC0", "NCHW")], [0, 1, 2]) == [1]


def test_a_heavy_format_is_one_that_data_must_be_brought_to() -> None:
    port = bound("ND NC1HWC0", "ND")
    assert [heavy_format(port, column) for column in range(3)] == [None, "NC1HWC0", None]
    assert heavy_format(None, 0) is None
    assert heavy_format(bound("NC1HWC0", "ND", present=False), 0) is None
