"""What a source says, as the data files hold it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

NameList = dict[str, Any]
"""One list as the data files hold it: list, class, names, and sometimes note, module, scope."""


class Generated(NamedTuple):
    """What a source says, for one data file."""

    version: str
    source: str
    levels: dict[str, list[NameList]]


def listed(name: str, cls: str, names: Iterable[str], **more: str) -> NameList:
    return {"list": name, "class": cls, **more, "names": list(names)}
