"""Similar names for suggestions: those that differ in case or in look-alike letters, else those of difflib."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property

_SIMILAR = 0.8
"""The least ratio of :mod:`difflib` for a similar name: one wrong letter of three, two of eight, three of twelve."""
_WORSE = 0.1
"""How much lower than the best ratio the ratio of another suggestion may be."""
_LONGEST = 200
"""The longest name for which similar ones are searched, since the search takes the product of both lengths."""
_LEAST_CONTAINED = 3
"""The fewest letters of a name for which names that contain it are suggested."""
_MOST = 3
_LOOK_ALIKE = str.maketrans("li|oq-", "11100_")


def near_names(name: str, candidates: Iterable[str]) -> list[str]:
    """Return at most three candidates similar to ``name``, the most similar first."""
    return NearNames(candidates).of(name)


def did_you_mean(name: str, candidates: Iterable[str] | NearNames) -> str | None:
    known = candidates if isinstance(candidates, NearNames) else NearNames(candidates)
    return meant(known.of(name))


def meant(near: Iterable[str]) -> str | None:
    """Return suggested names as a hint."""
    quoted = ", ".join(f"`{name}`" for name in near)
    return f"did you mean {quoted}?" if quoted else None


class NearNames:
    """Candidates that many names are compared with.

    :param candidates: each name once; read when first asked
    """

    def __init__(self, candidates: Iterable[str]) -> None:
        self._candidates = candidates

    def of(self, name: str) -> list[str]:
        """Return at most three similar candidates, the most similar first; if some only look alike, no others."""
        return self._similar(_folded(name))[:_MOST]

    def suggestions(self, name: str) -> list[str]:
        """Return at most three: similar candidates, then the shortest that contain the name, whatever the case."""
        near = self.of(name)
        part = _folded(name)
        if part not in self._by_folded and len(part) >= _LEAST_CONTAINED:
            containing = [key for key in self._by_folded if part in key]
            containing.sort(key=lambda key: (not key.startswith(part), len(key), key))
            near = list(dict.fromkeys([*near, *(each for key in containing[:_MOST] for each in self._by_folded[key])]))
        return near[:_MOST]

    def _similar(self, key: str) -> list[str]:
        if key in self._by_folded:
            return self._by_folded[key]
        if len(key) > _LONGEST:
            return []
        close = get_close_matches(key, self._by_folded, _MOST, _SIMILAR)
        ranked = sorted((-SequenceMatcher(None, other, key).ratio(), other) for other in close)
        return [name for rank, other in ranked if rank <= ranked[0][0] + _WORSE for name in self._by_folded[other]]

    @cached_property
    def _by_folded(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for candidate in sorted(self._candidates):
            names.setdefault(_folded(candidate), []).append(candidate)
        return names


def _folded(name: str) -> str:
    return name.casefold().translate(_LOOK_ALIKE)
