"""A prediction for a real network, compared with the compiled model.

``OPSINFO_ASCEND310_LIBRARY`` names ``aic-ascend310-ops-info.json`` of CANN 8.1.RC1 (github.com/leideng/CANN-8.1.RC1,
Ascend/ascend-toolkit/8.1.RC1/opp/built-in/op_impl/ai_core/tbe/config/ascend310). docs/evidence.md has the result.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LIBRARY = os.environ.get("OPSINFO_ASCEND310_LIBRARY")
"""Read before the fixtures clear the environment."""


@pytest.mark.skipif(LIBRARY is None, reason="OPSINFO_ASCEND310_LIBRARY is not set")
def test_the_autoencoder_is_predicted_as_it_was_compiled(opsinfo: Callable[..., Any], corpus: Path) -> None:
    graphs = corpus / "graphs"
    arguments = ["--against", LIBRARY, "--precision-mode", "force_fp16", "--read-back", graphs / "autoencoder.om"]
    ran = opsinfo("graph", graphs / "autoencoder.pb", *arguments, "--format", "json")
    assert ran.code == 0
    back = ran.json["read_back"]
    assert (back["matched"], back["by_fusion"], back["agreement"], back["differs"]) == (14, 9, 100.0, [])
    reasons = Counter((each["in"], each["type"]) for each in back["unmatched"])
    assert reasons == {
        ("compiled", "Const"): 17,
        ("compiled", "TransData"): 7,
        ("compiled", "Cast"): 3,
        **{("compiled", each): 1 for each in ("AtomicAddrClean", "Data", "NetOutput", "Recv", "Send")},
        ("predicted", "Reshape"): 3,
    }
