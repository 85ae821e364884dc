"""Facts stored as JSON: built-in lists, names and rules, each with its source and version."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import TYPE_CHECKING

from ..errors import UsageFault
from ..model.near_names import did_you_mean
from .vocabulary import ListEntry, OperatorClass, OperatorLists

if TYPE_CHECKING:
    from typing import Any

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


@cache
def facts(name: str) -> dict[str, Any]:
    """Return the content of ``data/<name>.json``."""
    with open(os.path.join(_FOLDER, f"{name}.json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def level_of(system: str, name: str, level: str | None) -> str:
    """Return a level as the system spells it; the system's default if none is given.

    :raises UsageFault: if the level is unknown, or none is given and there is no default
    """
    found = facts(name)
    levels: list[str] = list(found["levels"])
    if level is None and "default" in found:
        return str(found["default"])
    if level is None:
        raise UsageFault(f"{system} has levels: {', '.join(levels)}", hint=f"for example {system}:{levels[-1]}")
    unknown = found.get("unknown_levels", {})
    if level in unknown:
        raise UsageFault(f"{system}:{level} is unknown: {unknown[level]}", name="not-known")
    by_case = {each.lower(): each for each in levels}
    if level.lower() not in by_case or not level:
        known = ", ".join(each for each in levels if each)
        hint = did_you_mean(level, levels) or (f"there are {known}" if known else f"{system} has no levels")
        raise UsageFault(f"{system} has no level `{level}`", name="unknown-level", hint=hint)
    return by_case[level.lower()]


def built_in(system: str, name: str, names: str, level: str | None) -> OperatorLists:
    """Return the built-in lists of a system.

    :param name: the fact file
    :param names: the system whose operator names are used
    :raises UsageFault: if the level is unknown
    """
    found = facts(name)
    chosen = level_of(system, name, level)
    content = found["levels"][chosen]
    entries = tuple(
        ListEntry(
            operator,
            OperatorClass(each["class"]),
            each.get("scope", "operator"),
            each["list"],
            each.get("note"),
            each.get("module"),
        )
        for each in content["lists"]
        for operator in each["names"]
    )
    return OperatorLists(system, names, entries, content["unlisted"], found["low"], found["version"], chosen)
