"""CANN's plugins for ONNX operators: which op types an operator becomes, by domain and opset.

The one table of this fact is ``onnx_rules``, for the nodes of a model (``lab.graph``) and for names alone (``systems``,
``check``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from .onnx_rules import FAMILIES, PLAIN, Case

DEFAULT_DOMAIN = "ai.onnx"
OLDEST_OPSET, NEWEST_OPSET = 1, 18
"""The opsets of ONNX' own domain that have plugins. Some of Huawei's quantisation operators go further."""


class Plugin(NamedTuple):
    """What the front end makes of an operator.

    :param type: the op type of one that keeps its inputs; empty if there are only cases
    :param defaults: values of attributes that are not given
    """

    type: str
    cases: tuple[Case, ...] = ()
    defaults: Mapping[str, int | float | str] = {}

    @property
    def built(self) -> tuple[str, ...]:
        """The op types of the nodes that it builds in all its cases, the most common case first."""
        cases = sorted(self.cases, key=lambda case: len(case.conditions))
        return tuple(dict.fromkeys(step.type for case in cases for step in case.steps))


@cache
def plugins() -> dict[tuple[str, str], list[tuple[frozenset[int], Plugin]]]:
    """Return the plugins by domain and operator, with their opsets."""
    found: dict[tuple[str, str], list[tuple[frozenset[int], Plugin]]] = {}
    for plain in PLAIN:
        opsets = _opsets(plain.opsets)
        for op, op_type in plain.op_types.items():
            found.setdefault((plain.domain, op), []).append((opsets, Plugin(op_type)))
    for rule in (rule for family in FAMILIES for rule in family):
        for domain, text in ((DEFAULT_DOMAIN, rule.opsets), (rule.also, "1")):
            if not domain:
                continue
            opsets, rows = _opsets(text), found.setdefault((domain, rule.name), [])
            plain_row = next((row for row in rows if row[0] == opsets), None)
            if plain_row is not None:
                rows.remove(plain_row)
            rows.append((opsets, Plugin(plain_row[1].type if plain_row else "", rule.cases, rule.defaults)))
    return {key: sorted(rows, key=lambda row: min(row[0])) for key, rows in found.items()}


@cache
def _opsets(text: str) -> frozenset[int]:
    """Return the numbers of ``1,8-18``."""
    ranges = (part.partition("-") for part in text.split(","))
    return frozenset(number for first, _, last in ranges for number in range(int(first), int(last or first) + 1))


@lru_cache(1024)
def plugin_of(domain: str, opset: int, op: str) -> Plugin | None:
    """Return the plugin of an operator; None: there is none for the opset."""
    return next((plugin for numbers, plugin in plugins().get((domain, op), []) if opset in numbers), None)
