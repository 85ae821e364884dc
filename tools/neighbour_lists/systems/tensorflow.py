"""TensorFlow's auto mixed precision for CUDA."""

from __future__ import annotations

import re

from ..generated import Generated, NameList, listed
from ..source_text import quoted
from ..upstream import Upstream

CONDITIONS = {
    "use_cuda_ && cuda_version_ >= 9010": "CUDA 9.1 or later",
    "cuda_version_ >= 9010": "CUDA 9.1 or later",
    "cudnn_version_ >= 7602": "cuDNN 7.6.2 or later",
    "cudnn_version_ >= 8000": "cuDNN 8.0 or later",
    "if (use_onednn_)": "oneDNN only: float16 on a CPU",
}


def read(upstream: Upstream) -> Generated:
    path = "tensorflow/include/tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h"
    text = upstream.read(path)
    start = re.search(r"class AutoMixedPrecisionLists(?:Fp16|Cuda) ", text)
    assert start
    body = text[start.start() : text.index("class AutoMixedPrecisionListsMkl")]
    tensor_list = re.search(r"tensor_list_ops\[\] = \{(.*?)\};", text, re.DOTALL)
    assert tensor_list
    lists: list[NameList] = []
    for method, name, cls in (("Allow", "allow", "low"), ("Infer", "infer", "follow"), ("Deny", "deny", "high"),
                              ("Clear", "clear", "clear")):  # fmt: skip
        part = re.search(rf"{method}List\(\) override \{{(.*?)UpdateList\(", body, re.DOTALL)
        assert part
        lists += _conditional(part[1], name, cls)
    lists.append(listed("clear", "clear", quoted(tensor_list[1]), note="TensorList operators"))
    allow = [each for each in lists if each["class"] == "low"]
    source = "tensorflow/tensorflow: tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h"
    return Generated(f"{upstream.version()}, the CUDA lists", source, {"ALL": lists, "TENSOR_CORES_ONLY": allow})


def _conditional(text: str, name: str, cls: str) -> list[NameList]:
    """The names of one method, with conditional ones separate; a condition on CUDA alone is ignored."""
    notes: dict[str, list[str]] = {"": []}
    note = ""
    for line in text.splitlines():
        condition = next((value for words, value in CONDITIONS.items() if words in line), None)
        if line.strip() == "}":
            note = ""
        elif condition:
            note = condition
        notes.setdefault(note, []).extend(quoted(line))
    return [listed(name, cls, names, **({"note": note} if note else {})) for note, names in notes.items() if names]
