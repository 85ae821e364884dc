"""Tables from other frameworks' operators to Ascend op types, and families of op types.

ONNX: registrations in hicann/ops-nn, ops-math and ops-cv, ``REGISTER_CUSTOM_OP(...).OriginOpType(...)``, by opset.
TensorFlow: GE's parser and the ``*_tf_plugin.cpp`` files of the same repositories. torch and MindSpore: see names.json.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ..model.near_names import meant
from .facts import facts

OLDEST_OPSET, NEWEST_OPSET = 1, 18
"""The opsets of the ONNX table (ATC supports 11 to 18)."""


class NameTable(NamedTuple):
    """One system's operator names with their Ascend op types.

    :param ops: by name, the op types of the operator itself
    :param plumbing: by name, other op types of its expansion, which several operators share
    :param names: by op type, in any form, the names that map to it
    :param unclear: known names without an op type, with the reason
    """

    ops: dict[str, tuple[str, ...]]
    plumbing: dict[str, tuple[str, ...]]
    names: dict[str, tuple[str, ...]]
    unclear: dict[str, str]


@cache
def name_table(names: str, opset: int | None = None) -> NameTable:
    """Return the table of one system; empty if the system has none.

    :param opset: the ONNX opset; None for all opsets together
    """
    content = facts("names")["systems"].get(names, {})
    if names == "onnx":
        ops, plumbing, unclear = _onnx(opset, content)
    else:
        by_name = {**(facts("tf_to_ascend") if names == "tensorflow" else {}), **content.get("names", {})}
        ops, plumbing = {name: tuple(op_types) for name, op_types in by_name.items()}, {}
        unclear = content.get("unclear", {})
    back: dict[str, dict[str, None]] = {}
    for name, op_types in ops.items():
        for form in (form for op in op_types for form in (op, *forms_of(op))):
            back.setdefault(form, {})[name] = None
    return NameTable(ops, plumbing, {op: tuple(of_op) for op, of_op in back.items()}, unclear)


_Types = dict[str, tuple[str, ...]]


def _onnx(opset: int | None, content: dict[str, dict[str, list[str]]]) -> tuple[_Types, _Types, dict[str, str]]:
    """Return ops, plumbing and unclear: op types that only move or reshape data are plumbing of an expansion."""
    shared, own = set(content["plumbing"]), content["own"]
    ops, plumbing, unclear = {}, {}, {}
    for name, entry in facts("onnx_to_ascend_by_opset")["ops"].items():
        any_opset = opset is None or "." in name or "::" in name  # other domains have their own opsets
        ranges = [row for row in entry["by_opset"] if any_opset or _is_in(opset or 0, row["opsets"])]
        op_types = list(dict.fromkeys(op for row in ranges for op in row["ascend"]))
        if not ranges:
            known = ", ".join(row["opsets"] for row in entry["by_opset"])
            unclear[name] = f"not in opset {opset}; known in {known}"
            continue
        kept = [op for op in op_types if op in own[name]] if name in own else op_types
        if entry["expands"] and len(op_types) > 1 and name not in own:
            kept = [op for op in op_types if op not in shared]
        if kept:
            ops[name] = tuple(kept)
            plumbing[name] = tuple(op for op in op_types if op not in kept)
        else:
            unclear[name] = f"it expands only to {' and '.join(op_types)}, which other operators use too"
    return ops, plumbing, unclear


def _is_in(opset: int, text: str) -> bool:
    """Return whether ranges such as ``1,8-10`` or ``all`` have the opset, capped at the newest one of the table."""
    if text == "all":
        return True
    ranges = (part.partition("-") for part in text.split(","))
    return any(int(first) <= min(opset, NEWEST_OPSET) <= int(last or first) for first, _, last in ranges)


_ALIKE = str.maketrans("1i|05z86-vm", "lllos2bb_un")
"""Maps look-alike lower case letters to one."""


def unknown_because(names: Iterable[str], why: str, known: Iterable[str]) -> list[str]:
    """Return ``name (why)`` for each name, with the known names that differ only in case or look-alike letters."""
    alike: dict[str, list[str]] = {}
    names = list(names)
    for other in known if names else ():
        alike.setdefault(other.lower().translate(_ALIKE), []).append(other)
    hints = {name: meant(alike.get(name.lower().translate(_ALIKE), [])[:1]) for name in names}
    return [f"{name} ({why}; {hint})" if hint else f"{name} ({why})" for name, hint in hints.items()]


@cache
def _families() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the members of each family, and the family of each member."""
    members: dict[str, list[str]] = facts("families")["families"]
    return members, {op_type: key for key, op_types in members.items() for op_type in op_types}


def forms_of(op_type: str) -> tuple[str, ...]:
    """Return other forms of an op type: with constant inputs (``ReduceSumD``), other versions (``MatMulV3``)."""
    families, key_of = _families()
    return tuple(form for form in families.get(key_of.get(op_type, op_type), ()) if form != op_type)


def fused_with(op_type: str) -> tuple[str, ...]:
    """Return op types that result from fusing this one with others."""
    return tuple(facts("families")["fused"].get(_families()[1].get(op_type, op_type), ()))
