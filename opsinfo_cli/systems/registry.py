"""All systems: every module of ``systems`` describes its own in ``SYSTEMS``."""

from __future__ import annotations

import os
from importlib import import_module
from pkgutil import iter_modules

from ..errors import UsageFault
from ..near_names import did_you_mean, meant
from . import systems
from .system import System
from .vocabulary import OperatorLists

SYSTEMS: dict[str, System] = {
    system.name: system
    for module in iter_modules(systems.__path__, f"{systems.__name__}.")
    for system in import_module(module.name).SYSTEMS
}


INT8_TOOLS = ("nncf", "quark", "aimet", "neural-compressor", "openvino")
NOT_FLOAT16 = "sensitivity to INT8 says little about float16, so its lists are not converted"


def names_system(text: str) -> bool:
    """Return whether ``NAME``, ``NAME:LEVEL`` or ``NAME=FILE`` names a system and is not an existing file."""
    return text.partition("=")[0].partition(":")[0] in SYSTEMS and not os.path.lexists(text)


def system_called(name: str) -> System:
    """:raises UsageFault: if the name is unknown"""
    if name in SYSTEMS:
        return SYSTEMS[name]
    if name.lower() in INT8_TOOLS:
        raise UsageFault(f"{name} is a tool for INT8; {NOT_FLOAT16}", name="unknown-system")
    if "=" in name:
        hint = "a file that is read is an argument of its own; -o names one that is written"
    else:
        near = [known for known in SYSTEMS if name and name in known]
        schemes = dict.fromkeys(system.names for system in SYSTEMS.values() if system.names in name)
        hint = did_you_mean(name, SYSTEMS) or formats_of(*schemes) or meant(near) or "`opsinfo systems list` lists them"
    raise UsageFault(f"unknown system `{name}`", name="unknown-system", hint=hint)


def formats_of(*schemes: str) -> str:
    """Return the formats that have names of naming schemes, as a hint; nothing if there are none."""
    found = [
        f"{system.name} ({system.reads or 'its own lists alone'})"
        for system in SYSTEMS.values()
        if system.names in schemes
    ]
    return f"formats with names of {' and '.join(schemes)}: {', '.join(found)}" if found else ""


def lists_of(text: str) -> OperatorLists:
    """Return the built-in lists of ``NAME`` or ``NAME:LEVEL``.

    :raises UsageFault: if the system or level is unknown, or the system has no built-in lists
    """
    name, colon, level = text.partition(":")
    return system_called(name).lists(level if colon else None)
