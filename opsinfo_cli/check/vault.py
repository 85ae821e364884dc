"""Findings on what opsinfo itself changed: edits an upgrade undid, and what a kill left behind."""

from __future__ import annotations

from collections.abc import Iterator

from ..change.reapply import lost_edits
from ..change.restore import Scope
from ..change.settle import is_dead, mend_modes, outcome
from ..change.vault import Vault
from .finding import Finding, whole_file


def check_vault(vault: Vault, scope: Scope) -> Iterator[Finding]:
    """Folders that dead processes left open are shut on the way."""
    for record, folders in mend_modes(vault):
        for folder in folders:
            said = f"change {record.id} was killed and left this folder open for writing; its mode is put back"
            yield whole_file("modes-left-open", folder, said)
    yield from unfinished_change(vault, scope)
    yield from edits_lost(vault, scope)


def unfinished_change(vault: Vault, scope: Scope) -> Iterator[Finding]:
    for record in vault.pending():
        paths = [changed.path for changed in record.files if scope(changed.path)]
        if paths and is_dead(record) and outcome(vault, record) == "half":
            said = f"change {record.id} of {record.time} was killed between its {len(record.files)} files"
            yield whole_file("unfinished-change", paths[0], said, "`opsinfo restore` on the target puts them back")


def edits_lost(vault: Vault, scope: Scope) -> Iterator[Finding]:
    for lost in lost_edits(vault, scope):
        names = ", ".join(f"`{name}` {policy}" for name, policy in lost.wanted.items())
        gone = f"; gone with the new file: {', '.join(lost.gone)}" if lost.gone else ""
        said = f"your changes from {', '.join(lost.changes)} are gone: the file was replaced ({names or 'none'}{gone})"
        yield whole_file("edits-lost", lost.path, said, "`opsinfo reapply` applies them to the new file")
