"""Trained models of other projects: taken from their wheels by `.ci/run models`, in the folder ``$OPSINFO_MODELS``."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from corpus_place import CORPUS

from opsinfo_cli.core.cann.input_shapes import ShapesOf, stated_shapes

ROOT = Path(__file__).resolve().parents[2]
FOLDER = os.environ.get("OPSINFO_MODELS")


class Trained(NamedTuple):
    """A model and the shapes of its open dimensions; ``numbers`` are inputs with a meaning of their own."""

    name: str
    file: str
    shapes: dict[str, tuple[int, ...]]
    numbers: dict[str, Any]

    @property
    def shapes_of(self) -> ShapesOf:
        return partial(stated_shapes, self.shapes)


TRAINED = [
    Trained("recogniser", "rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", {"x": (1, 3, 48, 320)}, {}),
    Trained("detector", "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", {"x": (1, 3, 160, 160)}, {}),
    Trained(
        "classifier", "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": (1, 3, 48, 192)}, {}
    ),
    Trained("magika", "magika/models/standard_v3_3/model.onnx", {"bytes": (1, 2048)}, {}),
    Trained(
        "silero", "silero_vad/data/silero_vad.onnx", {"input": (1, 576), "state": (2, 1, 128), "sr": ()}, {"sr": 16000}
    ),
]


def path_of(model: Trained) -> str:
    """Return the model's file, or skip the test if it is missing."""
    if not FOLDER:
        pytest.skip("OPSINFO_MODELS does not name a folder of trained models; .ci/run models makes one")
    path = Path(FOLDER, model.file)
    if not path.exists():
        pytest.skip(f"{model.file} is not in $OPSINFO_MODELS: its wheel could not be installed")
    return str(path)


def target() -> tuple[str, str]:
    """The install that models are judged by, and its SoC: a real one, or the fixture where the corpus is missing."""
    real = CORPUS / "cann-910b" / "opp"
    return str(real if real.is_dir() else ROOT / "fixtures" / "opp"), "ascend910b"
