"""Habana's autocast for PyTorch."""

from __future__ import annotations

import re

from ..generated import Generated, listed
from ..source_text import quoted
from ..upstream import Upstream


def read(upstream: Upstream) -> Generated:
    path = "hpu_ops/autocast_helpers.h"
    text = upstream.read(path)

    def names(variable: str) -> list[str]:
        body = re.search(rf"{variable}\s*\{{(.*?)\}};", text, re.DOTALL)
        assert body
        return quoted(body[1])

    lists = [
        listed("lower", "low", names("default_lower_ops")),
        listed("fp32", "high", names("default_fp32_ops")),
        listed("promote", "promote", names("promote_list"), note="fixed; no file can replace it"),
    ]
    return Generated(
        f"HabanaAI/gaudi-pytorch-bridge {upstream.version()}",
        f"HabanaAI/gaudi-pytorch-bridge: {path}, hpu_ops/backend/autocast_helpers.cpp",
        {"": lists},
    )
