"""The lists of a source, in the form of the data files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

NameList = dict[str, Any]
"""One list in the form of the data files: list, class, names, and optionally note, module, scope."""


class Generated(NamedTuple):
    """The content of one data file, from a source."""

    version: str
    source: str
    levels: dict[str, list[NameList]]


def listed(name: str, cls: str, names: Iterable[str], **more: str) -> NameList:
    return {"list": name, "class": cls, **more, "names": list(names)}
