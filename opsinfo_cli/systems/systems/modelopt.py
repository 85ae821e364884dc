"""NVIDIA ModelOpt's `modelopt.onnx.autocast`: arguments of the command, or of its functions in Python.

Of `modelopt.onnx.quantization` only `op_types_to_exclude_fp16` is about float16; its other lists are about INT8
(modelopt/onnx/quantization/__main__.py, quantize.py).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

from ...core.text.source import Source
from ...errors import Damaged, UsageFault
from ..list_text import flag_values, one_chosen, shell_lines
from ..python_text import is_python, python_lists
from ..python_values import CalledLibrary
from ..system import System
from ..vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists, Scope, loss_of

_LOW, _HIGH = OperatorClass.LOW, OperatorClass.HIGH
_LISTS: dict[str, tuple[Scope, OperatorClass]] = {
    "op_types_to_include": ("operator", _LOW),
    "op_types_to_exclude": ("operator", _HIGH),
    "nodes_to_include": ("node", _LOW),
    "nodes_to_exclude": ("node", _HIGH),
    "op_types_to_exclude_fp16": ("operator", _HIGH),
    "op_block_list": ("operator", _HIGH),
}
"""The first four in autocast, the fifth in quantization, the last in ``convert_to_f16``."""
_FLAGS = {f"--{name}": name for name in list(_LISTS)[:5]}
_FLAGS |= {"-opi": "op_types_to_include", "-ope": "op_types_to_exclude"}
_FLAGS |= {"-ni": "nodes_to_include", "-ne": "nodes_to_exclude"}
_OF_QUANTIZATION = "op_types_to_exclude_fp16"
_INT8 = "modelopt.onnx.quantization: its lists are about INT8, and sensitivity to INT8 says little about float16"
_LIBRARY = CalledLibrary(
    functions={
        "convert_to_mixed_precision": (
            "onnx_path", "low_precision_type", "nodes_to_exclude", "op_types_to_exclude", "nodes_to_include",
            "op_types_to_include",
        ),
        "convert_to_f16": ("model", "low_precision_type", "keep_io_types", "op_block_list"),
    },
    names=frozenset(_LISTS),
)  # fmt: skip


class _Command(NamedTuple):
    """One run of a module of ModelOpt."""

    is_quantization: bool
    words: list[str]


def read(system: System, sources: list[Source]) -> ReadLists:
    """Read a call or a command. Included entries come first, because include beats exclude.

    :raises UsageFault: if there are several commands, or they have no list of float16
    :raises Damaged: if a quote is not closed, and no line alone has a flag
    """
    (source,) = sources
    own = system.lists()
    if is_python(source):
        return _read_python(own, source)
    commands, losses = _commands(source)
    command = one_chosen(source, commands, "commands")
    entries: list[ListEntry] = []
    low = own.low
    for flag, value in flag_values(command.words if command else ()):
        name = _FLAGS.get(flag)
        if command and name and (name == _OF_QUANTIZATION) == command.is_quantization:
            entries.append(_entry(value, name, flag))
        if flag == "--low_precision_type":
            low = {"bf16": "bfloat16", "fp16": "float16"}.get(value, low)
    if not entries:
        is_int8 = command is not None and command.is_quantization
        hint = f"--{_OF_QUANTIZATION} is its list of float16" if is_int8 else None
        message = _INT8 if is_int8 else "the command includes or excludes no operator or node"
        raise UsageFault(message, path=source.path, hint=hint)
    return _read_lists(own, entries, low, losses)


def _entry(text: str, name: str, origin: str) -> ListEntry:
    scope, cls = _LISTS[name]
    return ListEntry(text, scope=scope, cls=cls, origin=origin, pattern="regex" if scope == "node" else None)


def _read_lists(own: OperatorLists, entries: list[ListEntry], low: str | None, losses: tuple[Loss, ...]) -> ReadLists:
    entries.sort(key=lambda entry: entry.cls is _HIGH)
    return ReadLists(replace(own, entries=(*entries, *own.as_defaults()), low=low, version=None), losses)


def _read_python(own: OperatorLists, source: Source) -> ReadLists:
    is_int8 = re.search(r"\bquantize\(", source.text) is not None
    library = _LIBRARY._replace(names=frozenset({_OF_QUANTIZATION})) if is_int8 else _LIBRARY
    lists, losses = python_lists(source, library, of_nodes=("nodes_to_include", "nodes_to_exclude"))
    if not lists:
        message = _INT8 if is_int8 else "no call includes or excludes an operator or node"
        raise UsageFault(message, path=source.path)
    entries = [_entry(str(item), name, name) for name, found in lists.items() for item in found.items]
    return _read_lists(own, entries, own.low, losses)


def _commands(source: Source) -> tuple[list[tuple[int, _Command]], tuple[Loss, ...]]:
    """Return the commands, each with its line, and what was not read."""
    commands: list[tuple[int, _Command]] = []
    unread: dict[str, str] = {}
    for number, _, words in shell_lines(source):
        if words is None:
            unread[f"line {number}"] = f"line {number} ({source.path}: a quote is not closed)"
        elif not _FLAGS.keys().isdisjoint(word.partition("=")[0] for word in words):
            commands.append((number, _Command(any("onnx.quantization" in word for word in words), words)))
    if unread and not commands:
        raise Damaged("not a command line: a quote is not closed", path=source.path)
    message = "these lines are not read, because a quote is not closed"
    return commands, loss_of("unread", message, unread, unread.values())


SYSTEMS = (
    System(
        "modelopt", "ModelOpt ONNX autocast", "onnx", "arguments", read=read, facts="modelopt",
        instead="pass --op_types_to_include and --op_types_to_exclude to python -m modelopt.onnx.autocast",
    ),
)  # fmt: skip
