"""NVIDIA APEX, level O1: lists of functions that its patches wrap."""

from __future__ import annotations

from ..generated import Generated, listed
from ..source_text import python_lists
from ..upstream import Upstream


def read(upstream: Upstream, on_npu: bool = False) -> Generated:
    folder = "apex/amp/lists"
    functional = python_lists(upstream.read(f"{folder}/functional_overrides.py"))
    torch = python_lists(upstream.read(f"{folder}/torch_overrides.py"))
    tensor = python_lists(upstream.read(f"{folder}/tensor_overrides.py"))
    rnns = python_lists(upstream.read("apex/amp/rnn_compat.py"))["RNN_NAMES"]
    module = "torch.nn.functional"
    bmms = (
        listed("(neither)", "follow", torch["_bmms"], module="torch",
               note="low on CUDA 9.1 or later; on an NPU torch is not CUDA-enabled and they are in neither list")
        if on_npu
        else listed("FP16_FUNCS", "low", torch["_bmms"], module="torch", note="CUDA 9.1 or later, else FP32_FUNCS")
    )  # fmt: skip
    lists = [
        listed("FP16_FUNCS", "low", functional["FP16_FUNCS"], module=module),
        listed("FP32_FUNCS", "high", functional["FP32_FUNCS"], module=module),
        listed("BANNED_FUNCS", "banned", functional["BANNED_FUNCS"], module=module,
               note="raises on half input; allow_banned=True makes it float32"),
        listed("FP16_FUNCS", "low", torch["FP16_FUNCS"], module="torch"),
        bmms,
        listed("FP32_FUNCS", "high", torch["FP32_FUNCS"], module="torch"),
        listed("RNN_NAMES", "low", [*rnns, *(f"{name}_cell" for name in rnns)], module="torch",
               note="wrapped separately from the lists (amp.py, step 5)"),
        listed("CASTS", "promote", torch["CASTS"], module="torch"),
        listed("SEQUENCE_CASTS", "promote", torch["SEQUENCE_CASTS"], module="torch"),
        *(listed(name, cls, tensor[name], module="torch.Tensor")
          for name, cls in (("FP16_FUNCS", "low"), ("FP32_FUNCS", "high"), ("CASTS", "promote"))),
    ]  # fmt: skip
    version = f"NVIDIA/apex {upstream.version()}; apex.amp was removed by cb65b8ed of 2025-05-08"
    return Generated(version, "NVIDIA/apex: apex/amp/lists/*.py, rnn_compat.py, amp.py", {"O1": lists})
