"""How a TARGET is recognised: the kinds in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....errors import Refused, UsageFault
from ....opening import near_file
from ...text.source import Source
from ..file_kind import foreign_of
from . import chip, ini, install, library, package, snapshot, sources, store
from .found import Found, Named, TargetOptions

if TYPE_CHECKING:
    from ...text.members import Members
    from ...text.scanner import Document

KINDS: tuple[Callable[[Named, TargetOptions], Found | None], ...] = (
    # folders; a file is an ini, a source, a snapshot or a library, of which none looks like another
    store.recognise,  # a folder of libraries: what it holds itself counts before what lies below it or made it
    package.recognise,  # before ini and sources, of which it is built, and before install: both have a folder `vendors`
    ini.recognise,  # before sources, of which opbuild made it
    sources.recognise,  # before install: a project may have a folder `vendors` without a package
    install.recognise,
    snapshot.recognise,
    library.recognise,
    chip.recognise,  # no path
)
"""The first that recognises what is named decides."""


def recognise(named: Named, options: TargetOptions) -> Found | Source:
    """Return what a user names as TARGET, or the text of a mixlist, which some commands take besides.

    :raises UsageFault: if it is neither
    :raises Refused: if it cannot be read, or does not exist
    """
    found = next(filter(None, (kind(named, options) for kind in KINDS)), None)
    if found is not None:
        return found
    if named.is_folder:
        raise not_a_target(named.path)
    if named.is_read:
        if named.kind == "mixlist":
            return named.source
        raise unknown_kind(named.source, "add --as library or --as mixlist", named.outcome)
    raise Refused(
        "no such file or directory", name="unreadable", path=named.path, hint=near_file(named.path) or _WHAT_A_TARGET_IS
    )


_WHAT_A_TARGET_IS = (
    "a target is a library, mixlist or snapshot file, a folder of libraries, an operator package (OPP), one of its "
    "chips as PACKAGE@SOC, an ini of opbuild or OpDef sources, or the name of a chip"
)


def not_a_target(directory: str) -> UsageFault:
    """Return the error for a directory without libraries: what its files are, if that is known."""
    foreign = next(filter(None, store.foreign_in(directory)), None)
    if foreign:
        return foreign.fault(directory)
    message = "the directory is neither a store nor an operator package"
    hint = "a store has `aic-<soc>-ops-info*.json`, an operator package `built-in/op_impl`, a project OpDef sources"
    return UsageFault(message, name="wrong-kind", path=directory, hint=hint)


def unknown_kind(source: Source, hint: str, outcome: Members | Document | None = None) -> UsageFault:
    """Return the error for a file that is neither a library nor a mixlist: what it is, if that is known."""
    if foreign := foreign_of(source, outcome):
        return foreign.fault(source.path)
    return UsageFault("neither a library nor a mixlist", name="unknown-kind", path=source.path, hint=hint)
