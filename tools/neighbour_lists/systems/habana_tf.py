"""Habana's lists for TensorFlow."""

from __future__ import annotations

import json

from ..generated import Generated, listed
from ..upstream import Upstream


def read(upstream: Upstream) -> Generated:
    path = "TensorFlow/common/bf16_config/basic.json"
    found = json.loads(upstream.read(path))
    names = {"whitelist": "allowlist", "graylist": "conditional_list"}
    classes = {"allowlist": "low", "conditional_list": "follow", "strict_conditional_list": "follow",
               "whitelist": "low", "graylist": "follow"}  # fmt: skip
    lists = [listed(names.get(key, key), classes[key], found[key]) for key in found if found[key] and key in classes]
    for key, cls in (("non_convertible_exceptions", "high"), ("convertible_exceptions", "low")):
        if found.get(key):
            lists.append(listed(key, cls, [pair[0] for pair in found[key]], scope="node"))
    version = f"HabanaAI/Model-References {upstream.revision}, {upstream.version()}; the file is in 1.0.0 to 1.3.0"
    return Generated(version, f"HabanaAI/Model-References: {path}", {"": lists})
