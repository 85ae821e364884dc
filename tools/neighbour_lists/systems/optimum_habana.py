"""optimum-habana, whose lists are those of the bridge."""

from __future__ import annotations

import json
import re

from ..generated import Generated
from ..places import DATA
from ..upstream import Upstream


def read(upstream: Upstream) -> Generated:
    """The lists of the bridge, because optimum-habana's own default to None.

    :raises SystemExit: if this version uses its DEFAULT lists, or gives the keys another default
    """
    path = "optimum/habana/transformers/gaudi_configuration.py"
    text = upstream.read(path)
    for key in ("autocast_bf16_ops", "autocast_fp32_ops"):
        if f'kwargs.pop("{key}", None)' not in text:
            raise SystemExit(f"{path}: {key} has a default other than None")
    if any(len(re.findall(rf"\b{name}\b", text)) != 1 for name in ("DEFAULT_BF16_OPS", "DEFAULT_FP32_OPS")):
        raise SystemExit(f"{path}: the DEFAULT lists are used")
    bridge = json.loads((DATA / "habana_autocast.json").read_text("utf-8"))
    return Generated(
        f"{upstream.version()}, whose lists default to None, so that those of {bridge['version']} apply",
        f"huggingface/optimum-habana: {path}; {bridge['source']}",
        {"": bridge["levels"][""]["lists"]},
    )
