"""The table of promoted dtypes."""

from __future__ import annotations

from itertools import product

import pytest

from opsinfo_cli.lab.graph.judge.promote import type_of

DTYPES = (
    "float32 float16 int8 int32 uint8 int16 int64 float64 bool complex64 complex128 bfloat16 complex32".split()  # noqa: SIM905
)


def test_two_dtypes_have_one_promoted_dtype_in_either_order() -> None:
    for left, right in product(DTYPES, repeat=2):
        found = type_of(left, right)
        assert found in DTYPES
        assert found == type_of(right, left)
        assert type_of(found, left) == found
        assert (found == left) or (left != right)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("bool", "uint8", "uint8"),
        ("int8", "uint8", "int16"),
        ("float16", "bfloat16", "float32"),
        ("int64", "float16", "float16"),
        ("complex32", "float32", "complex64"),
        ("float64", "complex64", "complex128"),
        ("uint32", "complex64", "complex64"),
        ("complex64", "uint32", None),
        ("uint64", "complex64", "complex128"),
        ("uint16", "complex128", "complex128"),
        ("uint16", "uint16", "uint16"),
        ("uint16", "float32", None),
        (None, "float32", None),
        ("float32", None, None),
        (None, None, None),
    ],
    ids=str,
)
def test_some_pairs_have_what_the_table_of_the_engine_has(
    left: str | None, right: str | None, expected: str | None
) -> None:
    """Source: hicann/ge ffdcbc9f, inc/graph_metadef/external/op_common/data_type_utils.h:59-158."""
    assert type_of(left, right) == expected
