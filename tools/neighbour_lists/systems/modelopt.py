"""NVIDIA ModelOpt: operators that have no kernel in low precision."""

from __future__ import annotations

from ..generated import Generated, listed
from ..source_text import python_lists
from ..upstream import Upstream


def read(upstream: Upstream) -> Generated:
    path = "modelopt/onnx/autocast/precisionconverter.py"
    names = python_lists(upstream.read(path))["OP_TYPES_NOT_SUPPORTED_IN_LOW_PRECISION"]
    return Generated(
        upstream.version(), f"NVIDIA/Model-Optimizer: {path}", {"": [listed("always high", "high", names)]}
    )
