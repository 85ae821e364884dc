"""Inis that opbuild writes: one file, or a folder of a build."""

from __future__ import annotations

from ...text.source import Source
from ..ini import ini_store, inis_in, soc_of_ini
from ..library import Operators
from .defined import defined, what_defines
from .found import Found, Named, TargetOptions


def recognise(named: Named, options: TargetOptions) -> Found | None:
    """A file `.ini` that is named so by opbuild or has its lines, or a folder of such names."""
    path = named.path
    if named.is_folder:
        inis = {} if named.is_complete else inis_in(path)

        def operators(soc: str) -> Operators:
            return ini_store([Source.read(each, path) for each in inis[soc]]).operators

        return defined("ini", "the folder has inis", path, sorted(inis), operators, options) if inis else None
    if not named.is_file or options.kind not in (None, "library") or not path.lower().endswith(".ini"):
        return None
    source = named.source
    if what_defines(source) is None:
        return None
    return defined(
        "ini", "the folder has inis", path, [soc_of_ini(path) or ""], lambda _: ini_store([source]).operators, options
    )
