"""Paddle: O1, OD and O2."""

from __future__ import annotations

from ..generated import Generated, listed
from ..source_text import python_lists
from ..upstream import Upstream


def read(upstream: Upstream) -> Generated:
    found = python_lists(upstream.read("paddle/amp/amp_lists.py"))
    white = [
        listed("white", "low", found["WHITE_LIST"]),
        listed("white", "low", found["ONLY_FP16_WHITE_LIST"], note="float16 only"),
    ]
    extra = listed("extra black", "high", found["EXTRA_BLACK_LIST"])
    return Generated(
        upstream.version(),
        "PaddlePaddle/Paddle: python/paddle/amp/amp_lists.py, auto_cast.py",
        {"OD": white, "O1": [*white, listed("black", "high", found["FP16_BLACK_LIST"]), extra], "O2": [*white, extra]},
    )
