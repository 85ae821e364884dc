"""onnxconverter-common: the operators that stay float32."""

from __future__ import annotations

from ..generated import Generated, listed
from ..source_text import python_lists
from ..upstream import Upstream


def read(upstream: Upstream) -> Generated:
    path = "onnxconverter_common/float16.py"
    names = python_lists(upstream.read(path))["DEFAULT_OP_BLOCK_LIST"]
    version = f"microsoft/onnxconverter-common {upstream.version()}"
    return Generated(version, f"microsoft/onnxconverter-common: {path}",
                     {"": [listed("DEFAULT_OP_BLOCK_LIST", "high", names)]})  # fmt: skip
