"""Which op types CANN's front end makes of an ONNX operator, by domain and opset: a table of names.

What it builds of a node in a model is ``lab.graph.readers.onnx_plugins``; a test derives the op types from there.
"""

from __future__ import annotations

from functools import cache, lru_cache

from ..package_data import package_data

DEFAULT_DOMAIN = "ai.onnx"
OLDEST_OPSET, NEWEST_OPSET = 1, 18
"""The opsets of ONNX' own domain that have plugins. Some of Huawei's quantisation operators go further."""


def is_standard(domain: str) -> bool:
    """Whether a domain, as a model writes it, is that of ONNX itself."""
    return domain in ("", DEFAULT_DOMAIN)


@cache
def onnx_operators() -> dict[tuple[str, str], list[tuple[frozenset[int], tuple[str, ...]]]]:
    """Return, by domain and operator, opsets with the op types of the nodes there, the most common case first."""
    return {
        (domain, op): [(_numbers(text), tuple(op_types.split())) for text, op_types in rows.items()]
        for domain, ops in package_data(__package__, "onnx_opsets")["domains"].items()
        for op, rows in ops.items()
    }


@cache
def _numbers(text: str) -> frozenset[int]:
    """Return the numbers of ``1,8-18``."""
    ranges = (part.partition("-") for part in text.split(","))
    return frozenset(number for first, _, last in ranges for number in range(int(first), int(last or first) + 1))


@lru_cache(1024)
def onnx_op_types(domain: str, opset: int, op: str) -> tuple[str, ...]:
    """Return the op types of an operator; empty: there is no plugin for the opset."""
    return next((op_types for numbers, op_types in onnx_operators().get((domain, op), []) if opset in numbers), ())
