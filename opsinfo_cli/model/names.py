"""Near names: what somebody may have meant, best first, and nothing where all is far."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "distance", "meant", "near_names"]

_LOOK_ALIKE = [set(group) for group in ("1lI|i", "0OoQ", "5S", "2Z", "8B", "-_", "6b", "uv", "vV", "nm")]
_STEP, _CASE, _ALIKE = 1.0, 0.3, 0.3


def near_names(name: str, candidates: Iterable[str], most: int = 3) -> list[str]:
    """At most ``most`` candidates within reach of ``name``, the nearest first.

    Reach grows with the length of the name: a step for every three letters, three at the most.
    """
    reach = min(3.0, max(1.0, len(name) / 3))
    found = []
    for candidate in candidates:
        if abs(len(candidate) - len(name)) <= reach:
            same = name.lower() == candidate.lower()
            far = _CASE if same else distance(name, candidate, reach)
            if far <= reach:
                found.append((far, candidate))
    found.sort()
    if found and found[0][0] < _STEP:  # only case or look-alikes differ: that is what was meant
        found = [each for each in found if each[0] < _STEP]
    return [candidate for _, candidate in found[:most]]


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    return meant(near_names(name, candidates))


def meant(near: list[str]) -> str | None:
    """Near names as a hint."""
    return f"did you mean {', '.join(f'`{each}`' for each in near)}?" if near else None


def distance(a: str, b: str, limit: float = 1e9) -> float:
    """Edit distance with swaps; a change of case or to a look-alike character costs less than a step.

    Gives up, with a number above ``limit``, as soon as nothing nearer is possible.

    >>> distance("MatMu1V2", "MatMulV2") < distance("MatMu1V2", "MatMulV3")
    True
    """
    before: list[float] = []
    row = [i * _STEP for i in range(len(b) + 1)]
    for i, x in enumerate(a, 1):
        previous, row = row, [i * _STEP]
        for j, y in enumerate(b, 1):
            best = previous[j - 1] + _change(x, y)
            best = min(best, previous[j] + _STEP, row[j - 1] + _STEP)
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y and x != y:
                best = min(best, before[j - 2] + _STEP)
            row.append(best)
        if min(row) > limit and (not before or min(previous) > limit):
            return limit + 1
        before = previous
    return row[-1]


def _change(x: str, y: str) -> float:
    if x == y:
        return 0.0
    if x.lower() == y.lower():
        return _CASE
    return _ALIKE if any(x in group and y in group for group in _LOOK_ALIKE) else _STEP
