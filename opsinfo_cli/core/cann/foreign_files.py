"""Files that look like libraries or mixlists, or lie beside them, and belong to another part of CANN.

Source
- hicann/ge at ffdcbc9f: compiler/engines/cpu_engine, compiler/engines/dvpp_engine (`opInfo.engine`)
- hicann/ops-math: `op_kernel_aicpu/*.json`
- kernel packages of CANN 8.1.RC1: `binary_info_config.json`, `kernel/*/*.json`
- mindspore-ai/mindspore-lite: `*.mindir`, `*.ms`
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from ...errors import UsageFault
from .entry_rules import TENSOR_SECTION
from .policy import PRECISION

if TYPE_CHECKING:
    from typing import Any

_ENGINES = {
    "DNN_VM_AICPU": "AI CPU",
    "DNN_VM_AICPU_ASCEND": "AI CPU",
    "DNN_VM_HOST_CPU": "the host CPU",
    "DNN_VM_DVPP": "DVPP",
}
"""Engines with libraries of their own, by their name in `opInfo.engine`."""
_OURS = frozenset({"AIcoreEngine", "VectorEngine"})
_AI_CORE_ONLY = ("paramType", "dtype")
"""Keys of a tensor that libraries of AI Core have; the others have `type`."""
_POLICIES = "policies are in the libraries of AI Core, `aic-<soc>-ops-info*.json`"
KERNEL_INDEX = "binary_info_config.json"
_BY_KEYS = {
    ("binFileName", "kernelName"): "the description of a compiled kernel",
    ("binList",): "an index of compiled kernels",
    ("op_type", "op_list"): "a list of kernels to compile",
    ("server_count", "server_list"): "a rank table of HCCL",
    ("group_count", "group_list"): "a rank table of HCCL",
}
"""Files of CANN with such keys in the root object."""
FOREIGN_KEYS = ("op", "opInfo", "binaryList", *(keys[-1] for keys in _BY_KEYS))
"""One of these keys is in every JSON file that :func:`foreign_text` recognises, unless it is named ``KERNEL_INDEX``."""
_SINGLE_OPERATORS = re.compile(r'\[\s*\{(?=[^\[\]]*"op"\s*:\s*")(?=[^{]*"(?:input_desc|output_desc)"\s*:)')
_ENGINE_IN_INI = r"^opInfo\.engine=([^\s=]+)\s*$"
_READ_BY_GRAPH = "`opsinfo graph` reads it"
_MODELS = {".onnx": "an ONNX model", ".om": "a compiled model", ".pb": "a TensorFlow model"}
"""Models in binary form, by the extension."""
_MINDIR = rb"\n.[0-9.]+\x12.MindSpore"
_NOT_READ = "opsinfo does not read it; `opsinfo graph` reads ONNX, TensorFlow and compiled models (.om)"


class Foreign(NamedTuple):
    """A file that is neither a library of AI Core nor a mixlist.

    :param what: what it is, with an article
    :param hint: where to find what the user may look for
    """

    what: str
    hint: str

    @property
    def message(self) -> str:
        return f"{self.what}; it has no policy"

    def fault(self, path: str) -> UsageFault:
        return UsageFault(self.message, name="wrong-kind", path=path, hint=self.hint)


def foreign_text(path: str, content: dict[str, Any] | None, text: str) -> Foreign | None:
    """Return what a JSON file, or an ini, of another part of CANN is; None if it is not recognised.

    :param content: the root object; None if the root is not an object, or the text is no JSON
    """
    if content is None:
        if _SINGLE_OPERATORS.match(text.lstrip()):
            return Foreign("a description of single operators for atc or msopgen", _POLICIES)
        ini = re.search(_ENGINE_IN_INI, text, re.MULTILINE)
        return _library_of(ini[1]) if ini and ini[1] not in _OURS else None
    entries = [entry for entry in content.values() if isinstance(entry, dict)]
    engine = next((name for entry in entries if (name := _engine_of(entry))), None)
    if engine and not any(map(_is_of_ai_core, entries)):
        return _library_of(engine)
    if os.path.basename(path) == KERNEL_INDEX or any(isinstance(entry.get("binaryList"), list) for entry in entries):
        return Foreign("an index of compiled kernels", _POLICIES)
    what = next((what for keys, what in _BY_KEYS.items() if content.keys() >= {*keys}), None)
    return Foreign(what, _POLICIES) if what else None


def foreign_binary(path: str, head: bytes) -> Foreign | None:
    """Return which model a file that is not text is; None if it is not recognised.

    :param head: its first bytes, at least 64 if it has so many
    """
    extension = ".om" if head.startswith(b"IMOD") else os.path.splitext(path)[1].lower()
    return unread_model(head) or (Foreign(_MODELS[extension], _READ_BY_GRAPH) if extension in _MODELS else None)


def unread_model(head: bytes) -> Foreign | None:
    """Return which of MindSpore's models begins with ``head``, which opsinfo does not read."""
    if head[4:8] in (b"MSL1", b"MSL2"):
        return Foreign("a model of MindSpore Lite", _NOT_READ)
    return Foreign("a MindIR model", _NOT_READ) if re.match(_MINDIR, head, re.DOTALL) else None


def _library_of(engine: str) -> Foreign:
    return Foreign(f"a library of {_ENGINES.get(engine, f'the engine {engine}')}", _POLICIES)


def _engine_of(entry: dict[str, Any]) -> str | None:
    info = entry.get("opInfo")
    engine = info.get("engine") if isinstance(info, dict) else None
    return engine if isinstance(engine, str) and engine not in _OURS else None


def _is_of_ai_core(entry: dict[str, Any]) -> bool:
    return PRECISION in entry or any(
        key in content
        for section, content in entry.items()
        if TENSOR_SECTION.fullmatch(section) and isinstance(content, dict)
        for key in _AI_CORE_ONLY
    )
