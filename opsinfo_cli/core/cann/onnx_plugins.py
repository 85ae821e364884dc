"""CANN's plugins for ONNX operators: which op types an operator becomes, by domain and opset.

The one table of this fact: ``onnx_rules`` has it as text, for the nodes of a model (``graph``) and for names alone
(``neighbours``, ``check``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from .onnx_rules import FAMILIES, PLAIN

DEFAULT_DOMAIN = "ai.onnx"
OLDEST_OPSET, NEWEST_OPSET = 1, 18
"""The opsets of ONNX' own domain that have plugins. Some of Huawei's quantisation operators go further."""
_STEP = re.compile(r"(?:(\w+)=)?([\w~]+)(?:<(@?\w+)>)?\(([^)]*)\)")


class Step(NamedTuple):
    """A node of a case: its name within the operator, ``*`` for the operator itself.

    :param dtype: that of its output; empty for that of its first input, or of the operator for the operator itself
    """

    name: str
    type: str
    dtype: str
    inputs: tuple[str, ...]


class Case(NamedTuple):
    """A case of an operator.

    :param results: the steps' outputs that become those of the operator, in order; empty for the usual ones
    :param refused: why the plugin refuses the operator; empty if it does not
    """

    conditions: tuple[str, ...]
    steps: tuple[Step, ...] = ()
    results: tuple[str, ...] = ()
    refused: str = ""


class Plugin(NamedTuple):
    """What the front end makes of an operator.

    :param type: the op type of one that keeps its inputs; empty if there are only cases
    :param defaults: values of attributes that are not given
    """

    type: str
    cases: tuple[Case, ...] = ()
    defaults: tuple[tuple[str, str], ...] = ()

    @property
    def built(self) -> tuple[str, ...]:
        """The op types of the nodes that it builds in all its cases, the most common case first."""
        cases = sorted(self.cases, key=lambda case: len(case.conditions))
        return tuple(dict.fromkeys(step.type for case in cases for step in case.steps))


@cache
def plugins() -> dict[tuple[str, str], list[tuple[frozenset[int], Plugin]]]:
    """Return the plugins by domain and operator, with their opsets."""
    found: dict[tuple[str, str], list[tuple[frozenset[int], Plugin]]] = {}
    for line in re.sub(r"\n    ", " ", PLAIN).strip().splitlines():
        head, names = line.split(":", 1)
        domain, words = head.split() if " " in head else (DEFAULT_DOMAIN, head)
        for name in names.split():
            op, _, op_type = name.partition(":")
            found.setdefault((domain, op), []).append((_opsets(words), Plugin(op_type or op)))
    for family in FAMILIES:
        for key, opsets, plugin in _family(family):
            rows = found.setdefault(key, [])
            plain = next((row for row in rows if row[0] == opsets), None)
            if plain is not None:
                rows.remove(plain)
                plugin = plugin._replace(type=plain[1].type)
            rows.append((opsets, plugin))
    return {key: sorted(rows, key=lambda row: min(row[0])) for key, rows in found.items()}


def _family(text: str) -> Iterator[tuple[tuple[str, str], frozenset[int], Plugin]]:
    for block in re.split(r"\n(?=\w)", text.strip("\n")):
        head, *lines = re.sub(r"\n        ", " ", block).splitlines()
        words = head.split()
        at = next(number for number, word in enumerate(words) if word[0].isdigit())
        lines = [line.strip() for line in lines]
        needed = next((line.split()[1:] for line in lines if line.startswith("needs:")), [])
        missing = tuple(Case((f"!{name}",), refused=f"the attribute {name} is missing") for name in needed)
        defaults = next((line.split()[1:] for line in lines if line.startswith("defaults:")), [])
        named = tuple((name, value) for name, _, value in (each.partition("=") for each in defaults))
        for op in words[:at]:
            cases = (*missing, *(_case(line, op) for line in lines if not line.startswith(("defaults:", "needs:"))))
            for domain, opsets in (
                (DEFAULT_DOMAIN, words[at]),
                *zip(words[at + 1 :: 2], words[at + 2 :: 2], strict=True),
            ):
                yield (domain, op), _opsets(opsets), Plugin("", cases, named)


def _case(line: str, op: str) -> Case:
    conditions = ""
    found = re.match(r"((?:(?![(])[^:])*): ", line)
    if found:
        conditions, line = found[1], line[found.end() :]
    if line.startswith("!"):
        return Case(tuple(conditions.split()), refused=line[1:].strip())
    text, _, results = line.partition(" -> ")
    if text.startswith("@chain"):
        return Case(tuple(conditions.split()), (Step("*", text.split()[1], "", ("@chain",)),))
    steps = tuple(
        Step(name or "*", op if op_type == "~" else op_type, dtype, tuple(inputs.split()))
        for name, op_type, dtype, inputs in _STEP.findall(text)
    )
    return Case(tuple(conditions.split()), steps, tuple(results.split()))


def _opsets(text: str) -> frozenset[int]:
    """Return the numbers of ``1,8-18``."""
    ranges = (part.partition("-") for part in text.split(","))
    return frozenset(number for first, _, last in ranges for number in range(int(first), int(last or first) + 1))


@lru_cache(1024)
def plugin_of(domain: str, opset: int, op: str) -> Plugin | None:
    """Return the plugin of an operator; None: there is none for the opset."""
    return next((plugin for numbers, plugin in plugins().get((domain, op), []) if opset in numbers), None)
