"""The facts that lie beside the code as JSON: built-in lists, names, rules, each with its source and version."""

from __future__ import annotations

import json
import os
from functools import cache

from ..errors import UsageFault
from ..model.near_names import did_you_mean
from ..typed import TYPE_CHECKING
from .placed import Class, Lists, Placed

if TYPE_CHECKING:
    from typing import Any

__all__ = ["built_in", "facts", "level_of"]

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")


@cache
def facts(name: str) -> dict[str, Any]:
    with open(os.path.join(_FOLDER, f"{name}.json"), encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def level_of(system: str, name: str, level: str | None) -> str:
    """The level that is meant: the one given, else the system's own default.

    :raises UsageFault: where there is none of that name, or no default
    """
    found = facts(name)
    levels: list[str] = list(found["levels"])
    if level is None and "default" in found:
        return str(found["default"])
    if level is None:
        raise UsageFault(f"{system} has levels: {', '.join(levels)}", hint=f"say {system}:{levels[-1]}")
    unknown = found.get("unknown_levels", {})
    if level in unknown:
        raise UsageFault(f"{system}:{level} is not known: {unknown[level]}", name="not-known")
    by_case = {each.lower(): each for each in levels}
    if level.lower() not in by_case or not level:
        known = ", ".join(each for each in levels if each)
        hint = did_you_mean(level, levels) or (f"there are {known}" if known else f"{system} has no levels")
        raise UsageFault(f"{system} has no level `{level}`", name="unknown-level", hint=hint)
    return by_case[level.lower()]


def built_in(system: str, name: str, names: str, level: str | None) -> Lists:
    """The lists a system comes with.

    :param name: the fact file; :param names: whose names they are
    :raises UsageFault: where it has no such level
    """
    found = facts(name)
    chosen = level_of(system, name, level)
    content = found["levels"][chosen]
    placed = tuple(
        Placed(
            operator,
            Class(each["class"]),
            each.get("scope", "operator"),
            each["list"],
            each.get("note"),
            each.get("module"),
        )
        for each in content["lists"]
        for operator in each["names"]
    )
    return Lists(system, names, placed, content["unlisted"], found["low"], found["version"], chosen)
