"""A library: one file of operator information."""

from __future__ import annotations

import os
import re

from ....errors import UsageFault
from ..chips import folder_of
from ..library import Library
from .found import Found, Named, OneChip, TargetKind, TargetOptions

_SOC_IN_NAME = r"(?:aic|dsa)-([a-z0-9_]+)-ops-info(?:-.+)?\.json"


def recognise(named: Named, options: TargetOptions) -> Found | None:
    """A file that is recognised by its content, its name or its folder, or that ``--as`` calls one."""
    if not named.is_file or named.kind != "library":
        return None
    source, outcome, path = named.source, named.outcome, named.path
    own = soc_of_library(path)

    def chip(soc: str | None) -> OneChip:
        require_chip(soc, own, "library", path)
        return OneChip(lambda: Library.of(source, outcome).operators, own, source=source)

    return Found("library", path, lambda: [own] if own else [], chip)


def soc_of_library(path: str) -> str | None:
    """Return the chip that the folder or the name of a library shows."""
    parts = os.path.abspath(path).split("/")
    if parts[-3:-2] == ["config"]:
        return parts[-2]
    match = re.fullmatch(_SOC_IN_NAME, parts[-1])
    return match[1] if match else None


def require_chip(asked: str | None, own: str | None, kind: TargetKind, path: str) -> None:
    """:raises UsageFault: if a library or store is of another chip"""
    if asked and own and folder_of(asked, [own]) is None:
        raise UsageFault(f"the {kind} is of {own}, not of `{asked}`", name="unknown-soc", path=path)
