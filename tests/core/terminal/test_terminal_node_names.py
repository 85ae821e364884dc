"""Names of nodes in narrow tables: rows are distinct, the end is whole, and what is cut leads back to the name."""

from __future__ import annotations

import pytest

from opsinfo_cli.core.terminal.answer import Column, PathCell, Table
from opsinfo_cli.core.terminal.drawing import draw

NAMES = {
    "ends": [f"StatefulPartitionedCall/model/block_{n}/ApplyActivation_0/Mul_{n}" for n in range(4)],
    "an end of few letters": [f"model/ApplyActivation_0/{end}" for end in ("Tan", "Tanh", "Reshape", "Reshape_1")],
    "heads": [f"bert/encoder/layer_{n}/attention/self/query/MatMul" for n in range(12)],
    "one long name": ["model/" + "a" * 90, "model/b" + "a" * 90],
}


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_rows_are_distinct_and_their_ends_are_whole(
    monkeypatch: pytest.MonkeyPatch, names: list[str], width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    table = Table([Column("node"), Column("why")], [(PathCell(name, is_node=True), "x" * 20) for name in names])
    drawn = draw([table], "utf-8", colored=False)
    shown: list[str] = []
    for line in drawn.splitlines()[2:]:
        cell = line[: line.index("x" * 20)] if "x" * 20 in line else line
        if "x" * 20 in line:
            shown.append(cell.strip())
        else:
            shown[-1] += cell.strip()  # a name that would look like another one is broken
    assert len(set(shown)) == len(names)
    assert all(text == name or name.endswith(text.removeprefix("...")) for text, name in zip(shown, names, strict=True))
    assert all(len(line) <= width for line in drawn.splitlines())
