"""PyTorch's autocast for CUDA."""

from __future__ import annotations

import re

from ..generated import Generated, listed
from ..source_text import quoted
from ..upstream import Upstream


def read(upstream: Upstream) -> Generated:
    path = "torch/include/ATen/autocast_mode.h"
    text = upstream.read(path)

    def names(macro: str) -> list[str]:
        body = re.search(rf"#define AT_FORALL_{macro}\(_\)(.*?[^\\])\n", text, re.DOTALL)
        assert body
        entries = re.findall(r"_\(([\w]+)(?:,\s*(\w+))?\)", body[1])
        return [f"{name}.{overload}" if overload else name for name, overload in entries]

    different = re.search(r"#define AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE\(_\)(.*?[^\\])\n", text, re.DOTALL)
    assert different
    return Generated(
        f"{upstream.version()}, the CUDA lists (CPU and XPU have others)",
        "pytorch/pytorch: aten/src/ATen/autocast_mode.h",
        {
            "": [
                listed("lower_precision_fp", "low", names("LOWER_PRECISION_FP")),
                listed("fp32", "high", names("FP32")),
                listed("fp32_set_opt_dtype", "high", names("FP32_SET_OPT_DTYPE")),
                listed("fp32_append_dtype", "high", quoted(different[1])),
                listed("promote", "promote", names("PROMOTE")),
                listed("banned", "banned", ["binary_cross_entropy"]),
            ]
        },
    )
