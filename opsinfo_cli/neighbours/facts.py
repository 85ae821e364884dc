"""Facts stored beside the code as JSON: built-in lists, names, rules, each with its source and version."""

from __future__ import annotations

import json
import os
from functools import cache

from ..errors import UsageFault
from ..model.near_names import did_you_mean
from ..typed import TYPE_CHECKING
from .vocabulary import ListEntry, OperatorClass, OperatorLists

if TYPE_CHECKING:
    from typing import Any

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


@cache
def facts(name: str) -> dict[str, Any]:
    """The content of ``data/<name>.json``."""
    with open(os.path.join(_FOLDER, f"{name}.json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def level_of(system: str, name: str, level: str | None) -> str:
    """The name of a level as the system spells it: the one given, else the system's own default.

    :raises UsageFault: if there is none of that name, or no default
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
    """The lists a system comes with.

    :param name: the fact file
    :param names: whose names they are
    :raises UsageFault: if it has no such level
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
