"""What a verdict rests on: a model of which nothing was judged, or that is low itself, proves nothing."""

from __future__ import annotations

import io

import pytest
from corpus_place import CORPUS

from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.result import Answer
from opsinfo_cli.lab.graph.verdict import no_verdict, nothing_judged, share_not_judged

onnx = pytest.importorskip("onnx")

from opsinfo_cli.lab.graph.readers.onnx import read_onnx  # noqa: E402


def _answer(nodes: str, opset: int = 18, dtype: str = "float", mode: str = "mixed_float16") -> Answer:
    head = f'<ir_version: 8, opset_import: ["" : {opset}]> g ({dtype}[4,4] x) => ({dtype}[4,4] y)'
    data = onnx.parser.parse_model(f"{head} {{ {nodes} }}").SerializeToString()
    return prepare(read_onnx(io.BytesIO(data), "m.onnx"), "fixtures/opp@ascend910b").judge(mode)


@pytest.mark.parametrize("opset", [19, 20, 21])
def test_a_model_without_plugins_has_no_verdict_and_a_way_out(opset: int) -> None:
    found = no_verdict(_answer("a = MatMul (x, x) y = Relu (a)", opset))
    assert found is not None
    assert found.message == "nothing was judged: atc refuses the model; 0 of 2 compute nodes judged"
    assert "convert_version(model, 18)" in str(found.hint)


def test_op_types_that_no_library_has_are_nothing_judged_too() -> None:
    found = nothing_judged(_answer("y = Hardmax (x)"))
    assert found is not None
    assert (found.message, found.exit_code) == ("nothing was judged: 0 of 1 compute node judged", 1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_model_that_is_low_itself_has_no_reference(dtype: str) -> None:
    mode = "mixed_float16" if dtype == "float16" else "mixed_bfloat16"
    answer = _answer("a = MatMul (x, x) y = MatMul (a, x)", dtype=dtype, mode=mode)
    assert nothing_judged(answer) is None
    found = no_verdict(answer)
    assert found is not None
    assert found.message.startswith("2 nodes are low in the model itself")


def test_a_float32_model_has_a_verdict_whether_or_not_it_gets_low() -> None:
    for mode in ("mixed_float16", "must_keep_origin_dtype"):
        answer = _answer("a = MatMul (x, x) y = Relu (a)", mode=mode)
        assert no_verdict(answer) is None
        assert share_not_judged(answer.coverage) == ""


def test_the_share_that_was_not_judged_is_said() -> None:
    answer = _answer("a = MatMul (x, x) y = Hardmax (a)")
    assert no_verdict(answer) is None
    assert share_not_judged(answer.coverage) == "1 of 2 compute nodes not judged (50 %)"


@pytest.mark.parametrize("case", ["opset20_gate", "float16_model"])
def test_real_exports(case: str) -> None:
    path = CORPUS / "cases" / case / "m.onnx"
    if not path.exists():
        pytest.skip("requires the corpus")
    with path.open("rb") as file:
        assert no_verdict(prepare(read_onnx(file, str(path)), "fixtures/opp@ascend910b").judge("mixed_float16"))
