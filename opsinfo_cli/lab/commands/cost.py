"""The cost of a list as text; `bisect` and `graph` share it."""

from __future__ import annotations

from ...errors import counted
from ..graph.cost import Cost, NodeBytes


def cost_text(cost: Cost) -> str:
    """Return nodes, the bytes of their outputs if they are known, and their time."""
    nodes = nodes_text(cost)
    return nodes if cost.microseconds is None else f"{nodes}, which took {duration(cost.microseconds)} in the profile,"


def nodes_text(found: Cost | NodeBytes) -> str:
    """Return nodes, and the bytes of their outputs if they are known: ``12 nodes (1.2 MB)``."""
    return counted(found.nodes, "node") + (f" ({size(found.bytes)})" if found.bytes else "")


def size(count: int) -> str:
    """Return bytes as text: ``512 bytes``, ``1.2 MB``."""
    if count > 1 << 63:  # more than any machine addresses, and beyond a float's range perhaps
        return "more than 2^63 bytes"
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else counted(count, "byte")


def duration(microseconds: float) -> str:
    """Return a time with a unit that suits it.

    >>> duration(12.5), duration(4122.34)
    ('12.5 us', '4.122 ms')
    """
    value, unit = microseconds, "us"
    for larger in ("ms", "s"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:.4g} {unit}"
