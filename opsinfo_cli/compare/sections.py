"""Differences inside the entries of op types that two targets share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..model.load_fault import Sections
from ..model.store import Operators


class SectionDifference(NamedTuple):
    """One key that differs.

    ``key`` is None if a whole section is on one side only, ``a`` or ``b`` if it is missing there.
    """

    name: str
    section: str
    key: str | None
    a: str | None
    b: str | None


def section_differences(a: Operators, b: Operators) -> Iterator[SectionDifference]:
    for name in sorted(set(a.names) & set(b.names)):
        yield from _entry(name, a[name].entry.sections, b[name].entry.sections)


def _entry(name: str, a: Sections, b: Sections) -> Iterator[SectionDifference]:
    for section in sorted({*a, *b}):
        mine, theirs = a.get(section), b.get(section)
        if mine is None or theirs is None:
            yield SectionDifference(name, section, None, _said(mine), _said(theirs))
            continue
        for key in sorted({*mine, *theirs}):
            if mine.get(key) != theirs.get(key):
                yield SectionDifference(name, section, key, mine.get(key), theirs.get(key))


def _said(content: object) -> str | None:
    if not isinstance(content, dict):
        return None
    return ", ".join(f"{key}={value}" for key, value in content.items())
