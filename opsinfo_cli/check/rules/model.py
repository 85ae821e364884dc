"""Rules on a mixlist and the models it is for."""

from __future__ import annotations

from ..engine_files import CHECK_SUPPORT, GRAPH_OPTIMIZER, MIXED_PRECISION, MIXLIST
from ..rule import Rule

RULES = (
    Rule(
        "G001",
        "not-in-model",
        "model",
        "warning",
        "accepts",
        "No model given with --model has a node of this op type. The entry has no effect on them. In an ONNX or "
        "TensorFlow model, fusion may still create such a node; check a dump or a compiled model.",
        "--model model.om, without a node of the type",
        "--model model.om, with one",
        f"{MIXLIST}:265-270; fusion runs first: {GRAPH_OPTIMIZER}:364-402",
    ),
    Rule(
        "G002",
        "no-effect-in-model",
        "model",
        "warning",
        "accepts",
        "The models have nodes of this op type, but all their nodes have the same dtypes without the entry, for all "
        "given targets and modes (without --precision-mode: the mixed modes of the chip).",
        "--model model.om, where the producers of all its nodes are high already",
        "--model model.om, where a producer is low",
        f"{MIXED_PRECISION}:126-132",
    ),
    Rule(
        "G003",
        "black-refused-in-model",
        "model",
        "error",
        "refuses",
        "The entry puts an op type on the black list, but its kernel has no column for the dtype that the nodes of the "
        "model must then keep. AI Core refuses these nodes: they run on AI CPU, or the compilation fails.",
        "--model model.om, float32 nodes of a type with float16 columns only",
        "--model model.om, nodes of a type with float32 columns",
        f"{CHECK_SUPPORT}:722-830",
    ),
    Rule(
        "G004",
        "constant-out-of-range",
        "model",
        "warning",
        "accepts",
        "A constant of the model is read by a node that runs in a low dtype, and has a value that overflows or becomes "
        "0 there.",
        "--model model.onnx, 70000 in the weights of a white operator",
        "--model model.onnx, the operator on the black list",
        f"{MIXED_PRECISION}:126-132; the dtype's largest finite and smallest subnormal values, rounded to nearest",
    ),
)
