"""The table of all systems that can be read, written or queried."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from ..errors import UsageFault
from ..model.near_names import did_you_mean
from .facts import built_in, facts
from .vocabulary import OperatorLists


class System(NamedTuple):
    """One system or format.

    :param names: the system whose operator names it uses
    :param reads: the format of its files; None if it cannot be read
    :param writes: the format that is written; None if it cannot be written
    :param facts: the file of its built-in lists; None if it has none
    :param module: the module that reads and writes it
    :param delta: whether its files list only differences from a baseline
    """

    name: str
    title: str
    names: str
    reads: str | None = None
    writes: str | None = None
    facts: str | None = None
    module: str | None = None
    delta: bool = False

    @property
    def levels(self) -> list[str]:
        return [level for level in facts(self.facts)["levels"] if level] if self.facts else []

    @property
    def code(self) -> ModuleType:
        assert self.module is not None
        return import_module(f".{self.module}", __package__)


_TEXTS = "BF16 file, FP32 file"
_ALL = (
    System("library", "Ascend operator library", "ascend", "a TARGET", module="ascend_lists"),
    System("mixlist", "Ascend modify_mixlist", "ascend", "JSON", "JSON", module="mixlist", delta=True),
    System("keep-dtype", "Ascend keep_dtype file", "ascend", "one a line", "one a line", module="keep_dtype"),
    System("habana-hmp", "Habana HMP", "torch", _TEXTS, _TEXTS, "habana_hmp", "habana_text"),
    System("habana-autocast", "Habana torch autocast", "torch", _TEXTS, _TEXTS, "habana_autocast", "habana_text"),
    System(
        "optimum-habana", "optimum-habana", "torch",
        "gaudi_config.json", "gaudi_config.json", "optimum_habana", "optimum_habana",
    ),
    System("habana-tf", "Habana TensorFlow", "tensorflow", "JSON", "JSON", "habana_tf", "habana_tf"),
    System("mindspore", "MindSpore amp_level", "mindspore", facts="mindspore"),
    System("mindspore-white", "MindSpore white_list", "mindspore", "classes", "classes", module="mindspore"),
    System("mindspore-black", "MindSpore black_list", "mindspore", "classes", "classes", module="mindspore"),
    System(
        "mindspore-lite", "MindSpore Lite converter", "ascend",
        "ini and its mixlist", "ini and mixlist", module="mindspore_lite", delta=True,
    ),
    System("apex", "NVIDIA APEX on CUDA", "torch", "register_* calls", "register_* calls", "apex", "apex"),
    System("apex-npu", "APEX on an NPU", "torch", "register_* calls", "register_* calls", "apex_npu", "apex"),
    System("torch-amp", "torch.amp, CUDA", "torch", facts="torch_amp"),
    System("torch-npu", "torch_npu autocast", "torch", facts="torch_npu"),
    System(
        "tensorflow", "TensorFlow AMP rewrite", "tensorflow",
        "paintbuckets_*.txt", "shell variables", "tensorflow", "tensorflow", delta=True,
    ),
    System(
        "tensorflow-2.6", "TensorFlow 2.6 AMP rewrite", "tensorflow",
        "paintbuckets_*.txt", "shell variables", "tensorflow_2_6", "tensorflow", delta=True,
    ),
    System("paddle", "Paddle auto_cast", "paddle", "custom lists", "custom lists", "paddle", "paddle"),
    System(
        "onnxconverter", "onnxconverter-common", "onnx",
        "op_block_list", "op_block_list", "onnxconverter", "onnxconverter",
    ),
    System("modelopt", "ModelOpt ONNX autocast", "onnx", "arguments", "arguments", "modelopt", "modelopt"),
    System(
        "modelopt-0.40", "ModelOpt 0.40 ONNX autocast", "onnx",
        "arguments", "arguments", "modelopt_0_40", "modelopt",
    ),
)  # fmt: skip
SYSTEMS = {system.name: system for system in _ALL}


def names_system(text: str) -> bool:
    """Return whether ``NAME``, ``NAME:LEVEL`` or ``NAME=FILE`` names a system and is not an existing file."""
    return text.partition("=")[0].partition(":")[0] in SYSTEMS and not os.path.lexists(text)


def system_called(name: str) -> System:
    """:raises UsageFault: if the name is unknown"""
    if name in SYSTEMS:
        return SYSTEMS[name]
    hint = did_you_mean(name, SYSTEMS) or "`opsinfo systems` lists them"
    raise UsageFault(f"unknown system `{name}`", name="unknown-system", hint=hint)


def lists_of(text: str) -> OperatorLists:
    """Return the built-in lists of ``NAME`` or ``NAME:LEVEL``.

    :raises UsageFault: if the system or level is unknown, or the system has no built-in lists
    """
    name, colon, level = text.partition(":")
    system = system_called(name)
    if system.facts is None:
        raise UsageFault(
            f"{name} has no built-in lists, only files", name="wrong-kind", hint=f"give a file: {name}=FILE"
        )
    return built_in(name, system.facts, system.names, level if colon else None)
