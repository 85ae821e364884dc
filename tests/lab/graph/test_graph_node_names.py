"""Short names of nodes: unique ends, and the names that an end stands for."""

from __future__ import annotations

import pytest

from opsinfo_cli.lab.graph.node_names import ending_with, unique_ends

NAMES = ["enc/0/Mul", "enc/1/Mul", "dec/1/Mul", "dec/1/Add", "Add", "x"]


def test_an_end_is_as_long_as_it_must_be_and_stands_for_its_node_alone() -> None:
    ends = unique_ends(NAMES)
    assert ends == {
        "x": "x", "Add": "Add", "dec/1/Add": "1/Add",
        "enc/0/Mul": "0/Mul", "enc/1/Mul": "enc/1/Mul", "dec/1/Mul": "dec/1/Mul",
    }  # fmt: skip
    for name, end in ends.items():
        assert end == name or ending_with(end, NAMES) == [name]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0/Mul", ["enc/0/Mul"]),
        (".../0/Mul", ["enc/0/Mul"]),
        ("enc/.../Mul", ["enc/0/Mul", "enc/1/Mul"]),
        ("1/Mul", ["enc/1/Mul", "dec/1/Mul"]),
        ("ul", []),
        ("Div", []),
    ],
)
def test_a_text_stands_for_the_names_that_end_with_it_behind_a_slash(text: str, names: list[str]) -> None:
    assert ending_with(text, NAMES) == names
