"""Near names for suggestions, best first; none if every name is far."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from heapq import merge
from itertools import count

_LOOK_ALIKE = [set(group) for group in ("1lI|i", "0OoQ", "5S", "2Z", "8B", "-_", "6b", "uv", "vV", "nm")]
_STEP, _CASE, _ALIKE = 10, 3, 3
"""Costs in tenths of an edit step, so that sums are exact."""


def near_names(name: str, candidates: Iterable[str], most: int = 3) -> list[str]:
    """Return at most ``most`` candidates within reach of ``name``, nearest first; see :meth:`NearNames.of`."""
    return NearNames(candidates).of(name, most)


def did_you_mean(name: str, candidates: Iterable[str] | NearNames) -> str | None:
    known = candidates if isinstance(candidates, NearNames) else NearNames(candidates)
    return meant(known.of(name))


def meant(near: list[str]) -> str | None:
    """Return near names as a hint."""
    return f"did you mean {', '.join(f'`{each}`' for each in near)}?" if near else None


def suggestion(name: str, near: NearNames, candidates: Iterable[str]) -> str | None:
    """Return near names, and every candidate that contains the name in any case, as a hint."""
    first = near.of(name)
    others = [each for each in sorted(candidates) if name.lower() in each.lower()] if len(name) >= _LEAST else []
    if not others:
        return meant(first)
    shown = list(dict.fromkeys([*first, *others]))
    length = 0
    for index, each in enumerate(shown):
        length += len(each) + 4
        if length > _MOST:
            return f"did you mean {_quoted(shown[:index])} or one of {len(shown) - index} more?"
    return f"did you mean {_quoted(shown)}?"


_LEAST = 3
"""The most letters of a name for which others are searched."""
_MOST = 800
"""The most letters of a hint."""


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in names)


class NearNames:
    """Near names among candidates. It compares each name with few candidates, so that thousands of names can be
    looked up.

    :param candidates: each name once; read when first asked
    """

    def __init__(self, candidates: Iterable[str]) -> None:
        self._candidates = candidates

    def of(self, name: str, most: int = 3) -> list[str]:
        """Return at most ``most`` candidates within reach of ``name``, nearest first.

        Reach grows with the length of the name: one step for every three letters, at most three.
        """
        reach = min(3.0, max(1.0, len(name) / 3))
        found: list[tuple[float, str]] = []
        for steps, candidate in self._nearest_first(name, int(reach)):
            if found and (steps >= 1 > found[0][0] or (len(found) == most and found[-1] < (steps, candidate))):
                break  # the rest cannot be nearer
            same = name.lower() == candidate.lower()
            limit = found[-1][0] if len(found) == most else reach
            far = _CASE / _STEP if same else distance(name, candidate, limit)
            if far <= limit:
                insort(found, (far, candidate))
                del found[most:]
        if found and found[0][0] < 1:  # only case or look-alikes differ, so the meaning is clear
            found = [each for each in found if each[0] < 1]
        return [candidate for _, candidate in found]

    def _nearest_first(self, name: str, furthest: int) -> Iterator[tuple[int, str]]:
        """Yield every candidate that may be near enough, with its least distance in steps; then by name."""
        seen = set()
        for steps in range(furthest + 1):
            lengths = range(len(name) - steps, len(name) + steps + 1)
            groups = [self._by_length[length] for length in lengths if length in self._by_length]
            for candidate in merge(*(group.within(name, steps) for group in groups)):
                if candidate not in seen:
                    seen.add(candidate)
                    yield steps, candidate

    @cached_property
    def _by_length(self) -> dict[int, _SameLength]:
        names: dict[int, list[str]] = {}
        for candidate in sorted(self._candidates):
            names.setdefault(len(candidate), []).append(candidate)
        return {length: _SameLength(each, length) for length, each in names.items()}


class _SameLength:
    """Candidates of one length, with a set of those that have a letter at a place: one bit per candidate."""

    _FEW = 16
    _FRONT = 40
    """The most letters of a name that are compared."""

    def __init__(self, names: list[str], length: int) -> None:
        self.names = names
        self.length = length

    def within(self, name: str, steps: int) -> Iterator[str]:
        """Yield every candidate within ``steps`` of ``name``; if names are long or candidates few, others too."""
        left = self._reached(name, steps) if len(self.names) > self._FEW else (1 << len(self.names)) - 1
        while left:
            lowest = left & -left
            yield self.names[lowest.bit_length() - 1]
            left ^= lowest

    def _reached(self, name: str, steps: int) -> int:
        """Return the candidates within the edit distance, for all at once, in whole steps, with swaps.

        One row for each letter of the name; each row has a set of candidates for each cell of :func:`_cells`. Of long
        names only the fronts are compared, which are no further apart than the names.
        """
        everyone, having = (1 << len(self.names)) - 1, self._bits.get
        letters = list(map(_letter, name[: self._FRONT]))
        cells = _cells(steps, self.length - len(name))
        above = row = [0] * (len(cells) + 1)
        for i, letter in enumerate([-1, *letters]):
            upper, above, row = above, row, [0] * (len(cells) + 1)
            for n, (shift, same, changed, lost, gained) in enumerate(cells):
                j = i + shift
                if i > 0 and 0 < j <= self.length:
                    row[n] = above[same] & having((letter, j - 1), 0) | above[changed] | above[lost] | row[gained]
                    if upper[changed] and i > 1 and j > 1:
                        row[n] |= upper[changed] & having((letter, j - 2), 0) & having((letters[i - 2], j - 1), 0)
                elif not i * j and j >= 0:
                    row[n] = everyone
            if not any(row) and not any(above):
                return 0
        return row[len(cells) - 1]

    @cached_property
    def _bits(self) -> dict[tuple[int, int], int]:
        bits: dict[tuple[int, int], bytearray] = {}
        size = len(self.names) // 8 + 1
        for index, name in enumerate(self.names):
            for key in zip(map(_letter, name[: self._FRONT + 3]), count()):
                bits.setdefault(key, bytearray(size))[index >> 3] |= 1 << (index & 7)
        return {key: int.from_bytes(each, "little") for key, each in bits.items()}


@lru_cache(maxsize=64)
def _cells(steps: int, longer: int) -> list[tuple[int, int, int, int, int]]:
    """Return the cells of a row, by steps and by the extra letters of the candidate's front; the last is the end.

    Cells from which the end cannot be reached are left out.

    :returns: for each cell its shift, and the places of its predecessors: in the row above by an equal, a
        changed and a lost letter, in its own by one gained; -1 for none
    """
    cells = [
        (taken, shift)
        for taken in range(steps + 1)
        for shift in range(-taken, taken + 1)
        if taken + abs(longer - shift) <= steps
    ]
    at = {cell: n for n, cell in enumerate(cells)}

    def before(taken: int, shift: int) -> int:
        return at.get((taken - 1, shift), -1)

    return [(s, n, before(k, s), before(k, s + 1), before(k, s - 1)) for n, (k, s) in enumerate(cells)]


_ONE_LETTER = str.maketrans("li|oqsz86vm_\u03c2", "111005" + "2bbun-\u03c3")
"""Maps look-alike lower case letters to one, and the final sigma to the other one."""


@lru_cache(maxsize=1 << 12)
def _letter(character: str) -> int:
    return ord(character.lower()[0].translate(_ONE_LETTER)) % 97


def distance(a: str, b: str, limit: float = 1e9) -> float:
    """Return the edit distance with swaps; a change of case or to a look-alike character costs less than a step.

    Gives up, with a number above ``limit``, as soon as nothing nearer is possible.

    >>> distance("MatMu1V2", "MatMulV2") < distance("MatMu1V2", "MatMulV3")
    True
    """
    a, b = _apart(a, b)
    a, b = _apart(a[::-1], b[::-1])
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    far = _tenths(a, b, int(min(limit * _STEP + 1e-6, _STEP * (len(a) + len(b)))))
    return limit + 1 if far is None else far / _STEP


def _apart(a: str, b: str) -> tuple[str, str]:
    """Return both names without their common prefix, which costs nothing."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle - 1)
    return a[low:], b[low:]


def _tenths(a: str, b: str, limit: int) -> int | None:
    """Return the distance in tenths of a step; None if it is above ``limit``.

    Only a band along the diagonal is computed: each step away from it costs one. Place ``d`` of row ``i`` stands for
    the first ``i`` characters of ``a`` and the first ``i + d - width`` of ``b``.
    """
    width = limit // _STEP
    beyond = limit + 1
    before: list[int] = []
    row = [(d - width) * _STEP if d >= width else beyond for d in range(2 * width + 1)]
    row.append(beyond)  # what is left of the first place and right of the last
    for i, x in enumerate(a, 1):
        previous, row = row, [beyond] * (2 * width + 2)
        for d in range(max(0, width - i), min(2 * width, len(b) - i + width) + 1):
            j = i + d - width
            best = min(previous[d + 1], row[d - 1]) + _STEP
            y = b[j - 1] if j else ""
            if j and (changed := previous[d] + (x != y and _change(x, y))) < best:
                best = changed
            if before and j > 1 and x == b[j - 2] and a[i - 2] == y != x and before[d] + _STEP < best:
                best = before[d] + _STEP
            row[d] = best
        if min(row) > limit and min(previous) > limit:
            return None
        before = previous
    far = row[len(b) - len(a) + width]
    return far if far <= limit else None


_PAIRS = {(x, y) for group in _LOOK_ALIKE for x in group for y in group}


@lru_cache(maxsize=1 << 12)
def _change(x: str, y: str) -> int:
    """Return the cost of replacing one character by another."""
    if x.lower() == y.lower():
        return _CASE
    return _ALIKE if (x, y) in _PAIRS else _STEP
