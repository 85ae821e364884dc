"""A snapshot: the facts of a target in a small file."""

from __future__ import annotations

from ..snapshot import Snapshot
from .found import Found, Named, OneChip, TargetOptions


def recognise(named: Named, options: TargetOptions) -> Found | None:
    """A file whose root says that it is one, or that ``--as`` calls one."""
    if not named.is_file or named.kind != "snapshot":
        return None
    snapshot, path = Snapshot.of(named.source), named.path

    def chip(soc: str | None) -> OneChip:
        snapshot.require_of(soc, options.core, path)
        return OneChip(
            lambda: snapshot.operators,
            snapshot.soc,
            snapshot.version,
            snapshot.core,
            lambda: snapshot.other_engines,
            source=named.source,
            edited=snapshot.edited,
        )

    return Found("snapshot", path, lambda: [snapshot.soc] if snapshot.soc else [], chip)
