"""Short names of nodes: their last parts, as far as they tell a node from the others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LEFT_OUT = "..."


def unique_ends(names: Iterable[str]) -> dict[str, str]:
    """Return the shortest end of each name, of whole parts between slashes, that no other name has.

    >>> unique_ends(["a/x/Mul", "a/y/Mul", "a/y/Add"])
    {'a/y/Add': 'Add', 'a/x/Mul': 'x/Mul', 'a/y/Mul': 'y/Mul'}
    """
    left = [(name, name.split("/")) for name in dict.fromkeys(names)]
    found: dict[str, str] = {}
    depth = 0
    while left:
        depth += 1
        ends = ["/".join(parts[-depth:]) for _, parts in left]
        counts = Counter(ends)
        again = []
        for (name, parts), end in zip(left, ends, strict=True):
            if counts[end] == 1 or depth >= len(parts):
                found[name] = end
            else:
                again.append((name, parts))
        left = again
    return found


def ending_with(text: str, names: Iterable[str]) -> list[str]:
    """Return the names, each once, that end with a text behind a slash; ``...`` in it stands for anything.

    >>> ending_with("Mul", ["a/Mul", "b/BatchMul"]), ending_with("a/...ul", ["a/x/Mul", "b/Mul"])
    (['a/Mul'], ['a/x/Mul'])
    """
    head, gap, tail = text.rpartition(_LEFT_OUT)
    if not gap:
        tail = f"/{text}"
    least = len(head) + len(tail)
    fits = (name for name in names if len(name) >= least and name.startswith(head) and name.endswith(tail))
    return list(dict.fromkeys(fits))
