"""`opsinfo graph` on public models: a compiled one, and networks of the onnx package."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from cli_support import Run, names


@pytest.fixture(scope="module")
def light() -> list[Path]:
    """The light networks that the onnx package brings for its own tests."""
    onnx = pytest.importorskip("onnx", reason="ONNX models are read with the onnx package")
    found = sorted(Path(onnx.__file__).parent.joinpath("backend/test/data/light").glob("*.onnx"))
    if not found:
        pytest.skip("this onnx package has no light networks")
    return found


def test_the_compiled_model_shows_its_command_and_its_three_casts(opsinfo: Run, corpus: Path) -> None:
    ran = opsinfo("graph", corpus / "graphs" / "autoencoder.om", "--match", "*Cast*", "--by", "node")
    assert names(ran) == ["trans_Cast_0", "trans_Cast_21", "trans_Cast_35"]
    assert "--soc_version=Ascend310" in ran.err
    assert "3 edges need a Cast: 3 to run" in ran.err


@pytest.mark.parametrize("mode", ["mixed_float16", "mixed_bfloat16"])
def test_every_light_network_is_judged_with_its_operators_all_known(
    opsinfo: Run, corpus: Path, light: list[Path], mode: str
) -> None:
    target = ["--against", corpus / "cann-910b" / "opp", "--soc", "ascend910b", "--precision-mode", mode]
    for path in light:
        document = opsinfo("graph", path, *target, "--format", "json").json
        assert [note for note in document["notes"] if note["kind"] == "unmapped-operator"] == []
        assert document["counts"]["low"] > 0
        assert document["counts"]["casts_folded"] > 0


def test_casts_of_resnet50_are_those_of_its_weights_its_image_and_its_output(
    opsinfo: Run, corpus: Path, light: list[Path]
) -> None:
    """On constants: weights of 53 convolutions and of the last layer, and its bias. BatchNorm reads none: the host
    computes what BNInferenceD reads.
    """
    (path,) = [path for path in light if path.stem == "light_resnet50"]
    target = ["--against", corpus / "cann-910b" / "opp", "--soc", "ascend910b", "--precision-mode", "mixed_float16"]
    document = opsinfo("graph", path, *target, "--format", "json").json
    type_of = {node["name"]: node["type"] for node in document["nodes"]}
    folded = [type_of[cast["consumer"]] for cast in document["casts"] if cast["constant"]]
    assert Counter(folded) == {"Conv2D": 53, "MatMulV2": 2}
    running = [(type_of[cast["producer"]], type_of[cast["consumer"]]) for cast in document["casts"]]
    assert [ends for ends in running if ends[0] != "Const"] == [("Data", "Conv2D"), ("SoftmaxV2", "NetOutput")]
