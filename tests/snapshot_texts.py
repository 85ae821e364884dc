"""The text of a snapshot of a target, as the command `snapshot` takes it."""

from __future__ import annotations

from opsinfo_cli.core.cann.snapshot import Snapshot, snapshot_text
from opsinfo_cli.core.cann.target import Target, resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions


def snapshot_of(target: Target, name: str) -> Target:
    """The target that the snapshot of another one is, read from standard input."""
    text = text_of_snapshot(target).encode()
    options = TargetOptions(kind="snapshot", core=target.core, handed=text)  # type: ignore[arg-type]
    found = resolve("-", options, {})
    found.text = found.path = name
    return found


def text_of_snapshot(target: Target) -> str:
    return snapshot_text(Snapshot(target.soc, target.version, target.core, target.operators, target.other_engines))
