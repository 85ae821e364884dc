"""Small models of the corpus, each for one condition of a pass, with the op types that the compiler gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpus_place import CORPUS

from opsinfo_cli.core.cann.target import Target
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers import read_graph

FOLDER = CORPUS / "vectors" / "fusions"
WRONG = {"pow2_neg_three": "the exponent in the file is 2, the expected types are those of 3"}
TARGETS = {"ascend910b": "cann-910b/opp@ascend910b", "ascend910": "cann-910/opp@ascend910"}

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the corpus of fusions is not here")


def expectations() -> list[tuple[str, str]]:
    path = FOLDER / "expected.json"
    expected: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return [(name, chip) for name, each in expected.items() for chip in each["types"] if chip in TARGETS]


@pytest.mark.parametrize(("name", "chip"), expectations() or [("no corpus", "")])
def test_a_model_has_the_op_types_of_the_compiler(name: str, chip: str) -> None:
    if name in WRONG:
        pytest.skip(WRONG[name])
    expected = json.loads((FOLDER / "expected.json").read_text("utf-8"))[name]
    path: Path = FOLDER / f"{name}.onnx"
    answer = prepare(read_graph(str(path)), Target.open(str(CORPUS / TARGETS[chip]))).judge("mixed_float16")
    rows = [row for row in answer if row.type not in ("Data", "Const", "NetOutput")]
    assert sorted(row.type for row in rows) == sorted(expected["types"][chip])
    if chip in expected.get("high", {}):
        assert sorted(row.type for row in rows if row.runs == "high") == sorted(expected["high"][chip])
