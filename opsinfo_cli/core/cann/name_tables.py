"""Tables from other frameworks' operators to Ascend op types, and families of op types.

ONNX: the plugins of CANN, by opset (``onnx_opsets``). TensorFlow: GE's parser and CANN's plugins (``op_names``).
MindSpore: its adapters (mindspore_to_ascend.json), Paddle: its NPU kernels (paddle_to_ascend.json), both by
``tools.neighbour_lists``. torch: names.json.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from ...near_names import NearNames, meant
from ..package_data import package_data
from .onnx_opsets import DEFAULT_DOMAIN, onnx_operators
from .op_names import tensorflow_names


class NameTable(NamedTuple):
    """One system's operator names with their Ascend op types.

    :param ops: by name, the op types of the operator itself
    :param plumbing: by name, other op types of its expansion, which several operators share
    :param names: by op type, in any form, the names that map to it and that a list of the system may have
    :param unclear: known names without an op type, with the reason
    :param why_unknown: what is true of a name that is in none of them
    """

    ops: dict[str, tuple[str, ...]]
    plumbing: dict[str, tuple[str, ...]]
    names: dict[str, tuple[str, ...]]
    unclear: dict[str, str]
    why_unknown: str


@cache
def name_table(names: str, opset: int | None = None) -> NameTable:
    """Return the table of one system; empty if the system has none.

    :param opset: the ONNX opset; None for all opsets together
    """
    content = package_data(__package__, "names")["systems"].get(names, {})
    why_unknown = "no source gives an op type for it"
    if names == "onnx":
        ops, plumbing, unclear = _onnx(opset, content)
    elif names == "mindspore":
        ops, plumbing, unclear = _mindspore()
        version = package_data(__package__, "mindspore_to_ascend")["version"].partition(",")[0]
        why_unknown = f"{version} registers no op type for it"
    elif names == "paddle":
        content = package_data(__package__, "paddle_to_ascend")
        ops, plumbing = {name: tuple(op_types) for name, op_types in content["names"].items()}, {}
        unclear = dict.fromkeys(content["composed"], "its NPU kernel runs only op types that other operators run, too")
        why_unknown = f"no NPU kernel of {content['version'].partition(' of ')[0]} gives an op type for it"
    else:
        by_name = {**(tensorflow_names() if names == "tensorflow" else {}), **content.get("names", {})}
        ops, plumbing = {name: tuple(op_types) for name, op_types in by_name.items()}, {}
        unclear = content.get("unclear", {})
    back: dict[str, dict[str, None]] = {}
    internal = set(package_data(__package__, "mindspore_to_ascend")["internal"]) if names == "mindspore" else set()
    for name in (name for name in ops if name not in internal):
        for form in (form for op in ops[name] for form in (op, *forms_of(op))):
            back.setdefault(form, {})[name] = None
    return NameTable(ops, plumbing, {op: tuple(of_op) for op, of_op in back.items()}, unclear, why_unknown)


_Types = dict[str, tuple[str, ...]]


def _onnx(opset: int | None, content: dict[str, Any]) -> tuple[_Types, _Types, dict[str, str]]:
    """Return ops, plumbing and unclear: op types that only move or reshape data are plumbing of an expansion."""
    shared, own = _plumbing(), content["own"]
    ops, plumbing, unclear = {}, {}, dict(content["unclear"])
    for (domain, op), rows in onnx_operators().items():
        has_own_opsets = opset is None or domain != DEFAULT_DOMAIN
        name = op if domain == DEFAULT_DOMAIN else f"{domain}::{op}"
        chosen = [op_types for opsets, op_types in rows if has_own_opsets or opset in opsets]
        op_types = list(dict.fromkeys(op_type for of_row in chosen for op_type in of_row))
        plain = {of_row[0] for of_row in chosen if len(of_row) == 1}  # nodes that are the operator itself
        if not chosen:
            known = frozenset().union(*(opsets for opsets, _ in rows))
            unclear[name] = f"not in opset {opset}; known in {_ranges(known)}"
            continue
        if name in own:
            kept = [op_type for op_type in op_types if op_type in own[name]]
        else:
            kept = [op_type for op_type in op_types if op_type in plain or op_type not in shared]
        if kept:
            ops[name] = tuple(kept)
            plumbing[name] = tuple(op_type for op_type in op_types if op_type not in kept)
        else:
            unclear[name] = f"it expands only to {' and '.join(op_types)}, which other operators use too"
    return ops, plumbing, unclear


def _plumbing() -> set[str]:
    """Return the op types that an expansion shares with many operators."""
    return set(package_data(__package__, "names")["plumbing"])


def _mindspore() -> tuple[_Types, _Types, dict[str, str]]:
    """Return ops, plumbing and unclear of Primitives, and of Cells and Primitives that run others."""
    content = package_data(__package__, "mindspore_to_ascend")
    ops: _Types = {name: tuple(op_types) for name, op_types in content["names"].items()}
    unclear = dict.fromkeys(content["custom"], "it runs kernels of MindSpore's own, which no library has")
    plumbing: _Types = {}
    for name, primitives in content["composed"].items():
        op_types = dict.fromkeys(op_type for each in primitives for op_type in content["names"][each])
        kept = tuple(op_type for op_type in op_types if op_type not in _plumbing() or len(op_types) == 1)
        if kept:
            plumbing[name] = tuple(op_type for op_type in op_types if op_type not in kept)
            ops[name] = kept
        else:
            unclear[name] = f"it runs only {' and '.join(op_types)}, which other operators run too"
    return ops, plumbing, unclear


def _ranges(numbers: frozenset[int]) -> str:
    """Return numbers as ``1,8-18``."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ",".join("-".join(map(str, part)) for part in parts)


def loss_cells() -> frozenset[str]:
    """Return the Cells of MindSpore's ``nn/loss``."""
    return frozenset(f"nn.{name}" for name in package_data(__package__, "mindspore_to_ascend")["losses"])


def unknown_because(names: Iterable[str], why: str, known: Iterable[str]) -> list[str]:
    """Return ``name (why)`` for each name, with the known names that differ only in case or look-alike letters."""
    near = NearNames(known)
    hints = {name: meant(near.alike(name)[:1]) for name in names}
    return [f"{name} ({why}; {hint})" if hint else f"{name} ({why})" for name, hint in hints.items()]


@cache
def _families() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the members of each family, and the family of each member."""
    members: dict[str, list[str]] = package_data(__package__, "families")["families"]
    return members, {op_type: key for key, op_types in members.items() for op_type in op_types}


def forms_of(op_type: str) -> tuple[str, ...]:
    """Return other forms of an op type: with constant inputs (``ReduceSumD``), other versions (``MatMulV3``)."""
    families, key_of = _families()
    return tuple(form for form in families.get(key_of.get(op_type, op_type), ()) if form != op_type)


def becomes(op_type: str) -> tuple[str, ...]:
    """Return the op types that the compiler makes of this one alone, before policies act: ``Square`` of ``Pow(x, 2)``.

    On some chip, and of some nodes: the passes are those of ``docs/fusions.md``.
    """
    return tuple(package_data(__package__, "families")["becomes"].get(_families()[1].get(op_type, op_type), ()))


def fused_with(op_type: str) -> tuple[str, ...]:
    """Return op types that result from fusing this one with others."""
    return tuple(package_data(__package__, "families")["fused"].get(_families()[1].get(op_type, op_type), ()))
