"""torch_npu's autocast."""

from __future__ import annotations

import re

from ..generated import Generated, listed
from ..upstream import Upstream


def read(upstream: Upstream) -> Generated:
    path = "torch_npu/csrc/aten/AutoCastOps.cpp"
    text = upstream.read(path)
    found: dict[str, list[str]] = {}
    for words in re.findall(r"^\s*KERNEL_PRIVATEUSEONE\(([^)]*)\)", text, re.MULTILINE):
        *name, policy = (word.strip() for word in words.split(","))
        found.setdefault(policy, []).append(".".join(name))
    found["fp32_append_dtype"] = re.findall(r'KERNEL_DIFFERENT_REDISPATCH[^"]*"([^"]+)"', text)
    banned = re.findall(r'm\.impl\(TORCH_SELECTIVE_NAME\("aten::(\w+)"', text)
    classes = {"lower_precision_fp": "low", "promote": "promote"}
    order = ("lower_precision_fp", "fp32", "fp32_set_opt_dtype", "fp32_append_dtype", "promote")
    lists = [listed(name, classes.get(name, "high"), found[name]) for name in order]
    lists.append(listed("banned", "banned", banned))
    return Generated(f"Ascend/pytorch {upstream.version()}", f"Ascend/pytorch: {path}", {"": lists})
