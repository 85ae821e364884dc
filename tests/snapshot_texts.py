"""The text of a snapshot of a target, as the command `snapshot` takes it."""

from __future__ import annotations

from opsinfo_cli.core.cann.snapshot import Snapshot, snapshot_text
from opsinfo_cli.core.cann.target import Target


def text_of_snapshot(target: Target) -> str:
    return snapshot_text(Snapshot(target.soc, target.version, target.core, target.operators, target.other_engines))
