"""An install: an operator package (OPP), or a toolkit that has one; its stores for one chip."""

from __future__ import annotations

from ..chips import note_of
from ..install import CORES, Install, socs_of
from .found import Found, Named, OneChip, TargetOptions


def recognise(named: Named, options: TargetOptions) -> Found | None:
    """A folder with `built-in/op_impl` or `vendors`, or with an `opp` that has them."""
    root = named.root
    if root is None:
        return None
    core = "ai" if options.core == "vector" else options.core  # the vector core has no folders of its own

    def chip(soc: str | None) -> OneChip:
        install = Install.open(root, soc, options.core, list(options.customs))
        return of_install(install, note_of(soc or "", install.soc))

    return Found("install", named.path, lambda: socs_of(root, core), chip)


def of_install(install: Install, notes: list[str]) -> OneChip:
    return OneChip(
        lambda: install.operators,
        install.soc,
        install.version,
        install.core,
        lambda: install.other_engines,
        install,
        notes=notes,
        folders=list(dict.fromkeys(site.directory for core in CORES for site in install.sites(core))),
    )
