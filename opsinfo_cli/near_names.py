"""Names that match a pattern; and similar names for suggestions: those that differ in case or in look-alike letters,
else those of difflib.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from heapq import nsmallest

_SIMILAR = 0.8
"""The least ratio of :mod:`difflib` for a similar name: one wrong letter of three, two of eight, three of twelve."""
_WORSE = 0.1
"""How much lower than the best ratio the ratio of another suggestion may be."""
_LONGEST = 200
"""The longest name for which similar ones are searched, since the search takes the product of both lengths."""
_MOST_WORK = 100_000_000
"""Pairs of letters that are compared for the names of one :class:`NearNames`: some seconds in the worst case."""
_GLANCE = 3
"""Pairs of letters in whose time one letter of a candidate is counted, which leaves out most candidates."""
_LEAST_CONTAINED = 3
"""The fewest letters of a name for which names that contain it are suggested."""
_MOST = 3
_LOOK_ALIKE = str.maketrans("li|oqz5-", "111002s_")


def matches(name: str, globs: Sequence[str]) -> bool:
    """Return whether a name matches a pattern; without patterns every name matches.

    A pattern without a capital letter matches capitals too, as ripgrep's smart case.
    """
    from fnmatch import fnmatchcase

    return not globs or any(fnmatchcase(name.lower() if glob == glob.lower() else name, glob) for glob in globs)


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


def pattern_hint(name: str) -> str | None:
    """Return what takes a pattern that stands in place of a name; None if it is none."""
    return f"`move` and `list` take a pattern as --match '{name}'" if set(name) & set("*?[") else None


class NearNames:
    """Candidates that many names are compared with.

    :param candidates: each name once; read when first asked
    """

    def __init__(self, candidates: Iterable[str]) -> None:
        self._candidates = candidates
        self._left = _MOST_WORK
        self._known: dict[str, list[str]] = {}  # a fix checks the same names in each of its passes

    @property
    def is_exhausted(self) -> bool:
        """Whether names are no longer compared, because that would take minutes."""
        return self._left < 0

    def of(self, name: str) -> list[str]:
        """Return at most three similar candidates, the most similar first; if some only look alike, no others."""
        key = _fold(name)
        if key in self._by_folded:
            return self._by_folded[key][:_MOST]
        if key in self._known or len(key) > _LONGEST or self.is_exhausted:
            return self._known.get(key, [])
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, "", key)
        swapped = (key[:at] + key[at + 1] + key[at] + key[at + 2 :] for at in range(len(key) - 1))
        close = {other: -1.0 for other in swapped if len(key) >= _LEAST_CONTAINED and other in self._by_folded}
        letters = _numbered(key)
        for other, others in self._letters.items():
            might = 2.0 * len(letters & others) / (len(other) + len(key)) >= _SIMILAR  # quick_ratio of difflib
            self._left -= len(other) * (len(key) if might else _GLANCE)
            if self._left < 0:
                return []
            if might:
                matcher.set_seq1(other)
                if (ratio := matcher.ratio()) >= _SIMILAR:
                    close.setdefault(other, -ratio)
        ranked = nsmallest(_MOST, ((rank, other) for other, rank in close.items()))
        best = [other for rank, other in ranked if rank <= ranked[0][0] + _WORSE]
        self._known[key] = [name for other in best for name in self._by_folded[other]][:_MOST]
        return self._known[key]

    def alike(self, name: str) -> list[str]:
        """Return the candidates that differ in case or look-alike letters only."""
        return self._by_folded.get(_fold(name), [])

    def suggestions(self, name: str) -> list[str]:
        """Return at most three: similar candidates, then the shortest that contain the name, whatever the case."""
        near = self.of(name)
        part = _fold(name)
        if part not in self._by_folded and len(part) >= _LEAST_CONTAINED:
            containing = [key for key in self._by_folded if part in key]
            containing.sort(key=lambda key: (not key.startswith(part), len(key), key))
            near = list(dict.fromkeys([*near, *(each for key in containing[:_MOST] for each in self._by_folded[key])]))
        return near[:_MOST]

    @cached_property
    def _by_folded(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for candidate in sorted(self._candidates):
            names.setdefault(_fold(candidate), []).append(candidate)
        return names

    @cached_property
    def _letters(self) -> dict[str, frozenset[str]]:
        """The letters of each candidate; none of one to which no name is similar, because it is too long."""
        return {key: _numbered(key) if len(key) < 2 * _LONGEST else frozenset() for key in self._by_folded}


def _fold(name: str) -> str:
    return name.casefold().translate(_LOOK_ALIKE)


def _numbered(name: str) -> frozenset[str]:
    """Return the letters of a name, equal ones numbered: what two names have in common is then a set, too."""
    counts: Counter[str] = Counter()
    numbered = []
    for letter in name:
        counts[letter] += 1
        numbered.append(f"{letter}{counts[letter]}")
    return frozenset(numbered)
