"""MindSpore: O1, O2 and auto."""

from __future__ import annotations

import re

from ..generated import Generated, listed
from ..source_text import python_lists
from ..upstream import Upstream


def read(upstream: Upstream) -> Generated:
    found = python_lists(upstream.read("mindspore/train/amp.py"))

    def names(variable: str) -> list[str]:
        return [re.sub(r"^(P|gen)\.", "", name) for name in found[variable]]

    promote = "Addcdiv Addcmul Cross _PyboostCrossPrim GridSampler2D GridSampler3D BiasAdd AddN Dot Concat".split()  # noqa: SIM905
    return Generated(
        f"{upstream.version()}; auto's promote list, which is compiled in, copied manually from 2.7.0",
        "mindspore-ai/mindspore: mindspore/python/mindspore/train/amp.py; mindspore/ccsrc/common/amp/amp.cc",
        {
            "O1": [listed("AMP_WHITE_LIST", "low", names("AMP_WHITE_LIST"), scope="class")],
            "O2": [listed("AMP_BLACK_LIST", "high", names("AMP_BLACK_LIST"), scope="class")],
            "auto": [
                listed("AMP_AUTO_WHITE_LIST", "low", names("AMP_AUTO_WHITE_LIST")),
                listed("AMP_AUTO_BLACK_LIST", "high", names("AMP_AUTO_BLACK_LIST")),
                listed("g_AutoPromoteList", "promote", promote),
            ],
        },
    )
