"""Small graphs with known dtypes, one data file each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from case_support import CASES, graph_of, judge, library_of, marks_of

from opsinfo_cli.core.cann.library import Operators
from opsinfo_cli.core.cann.option_files import CustomizeDtypes, KeepDtype
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.lab.graph.atc_options import AtcOptions
from opsinfo_cli.lab.graph.result import Answer

LISTS_PLAY_NO_PART = {"mode", "promoted", "cast", "related"}


def judgings() -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*.json")):
        for number, asked in enumerate(json.loads(path.read_text("utf-8"))["judgings"]):
            found.append(pytest.param(path, number, id=f"{path.stem}-{number}-{asked['mode']}"))
    return found


@pytest.mark.parametrize(("path", "number"), judgings())
def test_a_small_graph_has_the_expected_dtypes(path: Path, number: int) -> None:
    case = json.loads(path.read_text("utf-8"))
    asked = {**case, **case["judgings"][number]}
    libraries = asked.get("stores", [asked.get("library")])
    graph = graph_of(asked["nodes"], asked.get("bodies"))
    options = {
        "keep_dtype": KeepDtype(asked["keep"]) if "keep" in asked else None,
        "customize_dtypes": CustomizeDtypes(asked["customize"]) if "customize" in asked else None,
        "atc": AtcOptions(**asked.get("atc", {})),
    }
    operators = Operators([library_of(library).stores[0] for library in libraries])
    marks = marks_of(asked.get("black", []), asked.get("white", []), asked.get("free", []))
    if "refused" in asked:
        with pytest.raises(UsageFault) as caught:
            judge(graph, operators, asked["mode"], marks, **options)
        assert asked["refused"] in f"{caught.value.message}; {caught.value.hint}"
        return
    answer = judge(graph, operators, asked["mode"], marks, **options)
    assert {name: shown(answer, name) for name in asked.get("dtypes", {})} == asked.get("dtypes", {})
    for name, (code, by, decided_by) in asked.get("why", {}).items():
        found = answer.find(name)
        assert found is not None
        reason = found
        source = None if reason.decided_by is None else reason.decided_by.node
        listed = None if code in LISTS_PLAY_NO_PART else reason.by
        assert (reason.code, listed, source) == (code, by, decided_by), found
    if "casts" in asked:
        assert list(answer.cast_counts[:3]) == asked["casts"]
    if "path" in asked:
        assert [step.node.name for step in answer.path_of(asked["path"][0])][: len(asked["path"])] == asked["path"]


def shown(answer: Answer, name: str) -> str:
    node = answer.find(name)
    assert node is not None
    return f"{' '.join(map(str, node.inputs))} > {' '.join(map(str, node.outputs))}"
