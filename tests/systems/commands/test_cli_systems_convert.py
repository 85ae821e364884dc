"""`systems convert` for a real chip. Other answers are in tests/answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Run, write


def test_the_hmp_example_lists_become_a_mixlist_for_the_real_910b(opsinfo: Run, corpus: Path, tmp_path: Path) -> None:
    low = write(
        tmp_path / "bf16.txt", "addmm avg_pool2d bmm conv2d dot max_pool2d mm mv relu t linear".replace(" ", "\n")
    )
    high = write(tmp_path / "fp32.txt", "cross_entropy log_softmax softmax nll_loss topk".replace(" ", "\n"))
    base = corpus / "cann-910b/opp"
    out = tmp_path / "ops_info.json"
    words = ("systems", "convert", "--from", "habana-hmp", "--to", "mixlist", "--against", base, low, high)
    ran = opsinfo(*words, "-o", out, "--format", "json")
    assert ran.code == 0
    assert json.loads(out.read_text("utf-8")) == {
        "black-list": {"to-add": ["AxpyWithSoftmaxAndDropOutDoMask", "SoftmaxV2", "TopKD", "TopKV2"]},
        "white-list": {
            "to-add": [
                *("AvgPoolV2", "BatchMatMulV3", "Dot", "MatMulV3"),
                *("Relu", "ReluV2", "TransposeBatchMatMul"),
            ]
        },
    }
    dropped = [(each["name"], each["reason"]) for each in ran.json["entries"]["dropped"]]
    assert dropped == [("t", "a view in torch; no source states which operator runs, if any")]
    assert (ran.json["entries"]["given"], ran.json["entries"]["carried"]) == (16, 15)
    assert {"BatchMatMulV3", "MatMulV3"} <= set(ran.json["added"])
    losses = {loss["kind"]: loss for loss in ran.json["losses"]}
    assert list(losses) == [
        "forward-only", "unknown-name", "one-to-many", "broader", "form", "dtype", "default-direction", "no-kernel"
    ]  # fmt: skip
    assert losses["no-kernel"]["names"] == ["AvgPoolV2"]
    assert losses["one-to-many"]["names"] == ["linear", "cross_entropy"]
    assert "MatMulV2 also runs npu_linear" in losses["broader"]["details"]
    assert "no-class" not in losses  # HMP's own promote list is not the user's
    first, second, *_ = ran.err.splitlines()
    assert first == "warning: 1 of 16 entries are not converted:"
    assert second == "  t: a view in torch; no source states which operator runs, if any"
    checked = opsinfo("validate", out, "--against", base, "--precision-mode", "mixed_bfloat16", "--format", "json")
    assert checked.json["files"][0]["engine_accepts"] is True
    assert checked.json["summary"]["errors"] == 0


SCRIPT = """
types = list(float16.DEFAULT_OP_BLOCK_LIST)
types += ["ReduceLogSum", "Softmax"]
nodes = [node.name for node in model.graph.node if node.op_type == "Concat"]
half = float16.convert_float_to_float16(model, op_block_list=types, node_block_list=nodes)
"""


def test_a_computed_list_of_nodes_is_named_and_the_operators_are_converted(
    opsinfo: Run, opp: Path, tmp_path: Path
) -> None:
    script = write(tmp_path / "half.py", SCRIPT)
    words = ("systems", "convert", "--from", "onnxconverter", "--to", "mixlist", "--against", f"{opp}@ascend910b")
    ran = opsinfo(*words, script, "--format", "json")
    assert ran.code == 0
    (text,) = (file["text"] for file in ran.json["files"])
    assert {"SoftmaxV2", "ReduceSumD"} <= set(json.loads(text)["black-list"]["to-add"])
    (loss,) = (loss for loss in ran.json["losses"] if loss["kind"] == "node-rules")
    assert (loss["names"], loss["lossy"]) == (["node_block_list"], True)
    assert f"{script}:4:9" in loss["details"][0]
    for name, code in (("'Softmax'", 0), ("'Softmax', name", 1)):
        part = write(tmp_path / "part.py", f"float16.convert_float_to_float16(m, op_block_list=[{name}])\n")
        assert opsinfo("systems", "diff", *2 * [f"onnxconverter={part}"]).code == code
    strict = opsinfo(*words, script, "--strict", "-o", tmp_path / "out.json")
    assert (strict.code, (tmp_path / "out.json").exists()) == (1, False)


def test_an_onnx_list_marks_what_the_nodes_of_a_model_have(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    script = write(tmp_path / "half.py", 'op_block_list = ["ReduceLogSum"]\n')
    words = ("--from", "onnxconverter", "--to", "keep-dtype", script)
    ran = opsinfo("systems", "convert", *words)
    assert (ran.code, set(ran.out.split())) == (0, {"OpType::ReduceSum", "OpType::ReduceSumD", "OpType::Log"})


def test_an_entry_that_is_not_converted_is_named_once(opsinfo: Run, opp: Path) -> None:
    words = ("systems", "convert", "--from", "torch-npu", "--to", "mixlist", "--against", f"{opp}@ascend910b")
    listed, _, rest = opsinfo(*words).err.partition("\nwarning: ")
    assert "  einsum: no source gives an op type for it" in listed.splitlines()
    assert "einsum" not in rest
    assert "left out: frobenius_norm (no source gives an op type for it)" in rest  # of frobenius_norm.dim


@pytest.mark.parametrize(
    ("source", "text", "to", "expected", "dropped"),
    [
        ("onnxconverter", "node_block_list = ['softmax']", "mixlist", {"SoftmaxV2"}, set()),
        ("onnxconverter", "op_block_list = ['Softmax']\n"
         "node_block_list = ['softmax', 'fc1', 'none']", "mixlist", {"SoftmaxV2", "BatchMatMulV2"}, {"none"}),
        ("onnxconverter", "node_block_list = ['log', 'bias']", "mixlist", {"Add"}, set()),
        ("modelopt", "python -m modelopt.onnx.autocast --nodes_to_exclude 'soft.*' 'fc'", "mixlist",
         {"SoftmaxV2", "BatchMatMulV2"}, set()),
        ("modelopt", "python -m modelopt.onnx.autocast --nodes_to_include relu --nodes_to_exclude 'fc' 'rel' 'relu'",
         "keep-dtype", {"fc1", "fc2"}, {"rel", "relu"}),
        ("tensorrt", "trtexec --precisionConstraints=obey --layerPrecisions=bias:fp32,s*x:fp32", "mixlist",
         {"Add", "SoftmaxV2"}, set()),
    ],
)  # fmt: skip
def test_with_a_model_names_of_nodes_are_carried_or_dropped_by_their_own_name(
    opsinfo: Run, opp: Path, fixtures: Path, tmp_path: Path,
    source: str, text: str, to: str, expected: set[str], dropped: set[str],
) -> None:  # fmt: skip
    pytest.importorskip("onnx")
    against = ("--against", f"{opp}@ascend910b") if to == "mixlist" else ()
    words = ("--from", source, "--to", to, "--model", fixtures / "model.onnx", "--format", "json", *against)
    ran = opsinfo("systems", "convert", write(tmp_path / "lists", text), *words)
    (made,) = (file["text"] for file in ran.json["files"])
    found = json.loads(made)["black-list"]["to-add"] if to == "mixlist" else made.split()
    assert ({*found} - {*ran.json["added"]}, ran.code) == (expected, 0)
    assert {each["name"] for each in ran.json["entries"]["dropped"]} == dropped
