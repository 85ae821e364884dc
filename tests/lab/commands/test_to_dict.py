"""`to_dict()` of the lab's results: valid by the published schema, and the document of the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import Run
from contract import schema_faults
from model_files import onnx_model

from opsinfo_cli import Graph, Profile, bisect_mixlist, simulate_model

GRAPH = "graphs/ge_proto_00020_FeTopoSortingAfter.txt"


def checked(document: Any) -> Any:
    """Return a document that its schema accepts, as JSON has it."""
    assert schema_faults(document) == []
    return json.loads(json.dumps(document))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    return onnx_model(tmp_path, [[1.001, 0.3], [0.1, -2.7]])


def test_an_answer_of_a_graph_is_the_document_of_the_command(opsinfo: Run, opp: Path, fixtures: Path) -> None:
    path, target = fixtures / GRAPH, f"{opp}@ascend910b"
    document = checked(Graph.read(path).judge(target, "mixed_float16").to_dict())
    shown = opsinfo("graph", path, "--against", target, "--precision-mode", "mixed_float16", "--format", "json").json
    assert document == {name: value for name, value in shown.items() if name not in ("constants", "unread")}
    assert document["nodes"]


@pytest.mark.parametrize("device", ["", "0"])
def test_a_profile_is_the_document_of_the_command_without_a_target(opsinfo: Run, fixtures: Path, device: str) -> None:
    path = fixtures / "profiles/op_summary.csv"
    document = checked(Profile.read(path, device=device).to_dict())
    chosen = ["--device", device] if device else []
    assert document == opsinfo("profile", path, *chosen, "--format", "json").json


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ((), {}),
        (("--by", "node"), {"by_node": True}),
        (("--no-trace", "--no-rank"), {"traced": False, "ranked": False}),
    ],
)
def test_a_report_is_the_document_of_the_command(
    opsinfo: Run, opp: Path, model: Path, words: tuple[str, ...], parts: dict[str, Any]
) -> None:
    target = f"{opp}@ascend910b"
    document = checked(simulate_model(model, target, max_error=0.5, **parts).to_dict())
    ran = opsinfo("simulate", model, "--against", target, "--max-error", "0.5", *words, "--format", "json")
    assert document == ran.json


@pytest.mark.parametrize(
    ("needed", "budget", "ended"), [("MatMulV2", None, "found"), ("nothing", None, "cannot-cure"), ("e", 4, "budget")]
)
def test_the_answer_of_a_search_is_the_document_of_the_command(
    opsinfo: Run, opp: Path, tmp_path: Path, model: Path, needed: str, budget: int | None, ended: str
) -> None:
    target, check = f"{opp}@ascend910b", ["grep", "-q", needed, "{mixlist}"]
    found = bisect_mixlist(check, target, model=model, budget=budget, journal=str(tmp_path / "python"))
    document = checked(found.to_dict())
    words = ["--budget", str(budget)] if budget else []
    ran = opsinfo("bisect", "--against", target, "--model", model, *words, "--format", "json", "--", *check)
    assert document["ended"] == ended
    changing = {"folder", "mixlist", "overhead_ms", "trials"}
    assert {**document, **dict.fromkeys(changing)} == {**ran.json, **dict.fromkeys(changing)}


def test_one_source_of_inputs_is_taken_for_a_list_of_one(opp: Path, model: Path, tmp_path: Path) -> None:
    target, numpy = f"{opp}@ascend910b", pytest.importorskip("numpy")
    arrays = {"x": numpy.zeros((2, 2), numpy.float32)}
    numpy.savez(tmp_path / "inputs.npz", **arrays)
    sources: dict[str, Any] = {"seed": "random:3", "path": tmp_path / "inputs.npz", "arrays": arrays}
    names = {
        name: simulate_model(model, target, inputs=source, traced=False, ranked=False).to_dict()["inputs"]
        for name, source in sources.items()
    }
    assert names == {"seed": ["random:3"], "path": [str(tmp_path / "inputs.npz")], "arrays": ["given"]}
