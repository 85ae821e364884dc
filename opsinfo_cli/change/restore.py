"""Putting files back: the last change undone as a whole, or one content by its id."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from ..errors import Refused, UsageFault
from ..model.opp import root_above, version_of
from ..typed import NamedTuple
from .folders import shut
from .interrupted import outcome, undone
from .lock import locked
from .record import Changed, Record
from .replace import Original, digest_at, read_original
from .vault import Vault, sha256_of
from .writer import Write, Writer

Scope = Callable[[str], bool]
"""Whether a real path belongs to the target that is to be restored."""


class Restored(NamedTuple):
    """One file put back: from which backup, and the SHA-256 it has then; None where it was taken away.

    :param current: what it said before, None where there was no file; ``content``: what it says then
    """

    path: str
    id: str
    sha256: str | None
    current: bytes | None
    content: bytes | None


def restore_last(writer: Writer, scope: Scope, force: bool, dry_run: bool) -> tuple[str | None, list[Restored]]:
    """Undo the last change that touched the scope, or end one that was interrupted.

    :returns: the id of the change this makes, None where nothing was written, and what was put back
    :raises UsageFault: where there is none; :raises Refused: where a file is not what the change left
    """
    records = [r for r in writer.vault.records() if any(scope(changed.path) for changed in r.files)]
    ended = {r.id: outcome(writer.vault, r) for r in records if r.state == "pending"}
    halves = [r for r in records if ended.get(r.id) == "half"]
    gone = undone(writer.vault, records)
    ours = ("done", "other")
    done = [
        r for r in records if r.undoes is None and r.id not in gone and (r.can_be_undone or ended.get(r.id) in ours)
    ]
    if not halves and not done:
        raise UsageFault("there is no change to undo", name="nothing-to-restore", hint="`opsinfo backups` lists them")
    record = (halves or done)[-1]
    paths = [changed.path for changed in record.files if os.path.exists(changed.path)]
    if dry_run:
        return _put(writer, record, force, commit=False)
    # a half change is ended here; every other interrupted one is settled as on any run
    with locked(writer.fs, paths, writer.wait) if record in halves else writer.locked(paths):
        return _put(writer, record, force, commit=True)


def _put(writer: Writer, record: Record, force: bool, commit: bool) -> tuple[str | None, list[Restored]]:
    writes, restored = [], []
    for index, changed in enumerate(record.files):
        current = _current(writer, changed)
        digest = sha256_of(current.data) if current else None
        if not force:
            _require_ours(writer.vault, changed, digest)
        data = None if changed.before is None else writer.vault.content(changed.before)
        if digest != changed.before and current is not None:
            writes.append(Write(current, data, changed.given or changed.path))
        said = current.data if current else None
        restored.append(Restored(changed.path, record.backup_id(index), changed.before, said, data))
    if not commit:
        return None, restored
    undo = Record.begin("restore")
    undo.undoes = record.id
    if writes:
        writer.commit(undo, writes)
    shut(writer.fs, record)  # what a killed run left open
    record.state = "pending" if record.folders else "undone"
    with suppress(Refused):  # the restore's own record says so too
        writer.vault.save(record)
    return undo.id if writes else None, restored


def _current(writer: Writer, changed: Changed) -> Original | None:
    """The file as it is; None where there is none.

    :raises Refused: where it cannot be read
    """
    if digest_at(writer.fs, changed.path) is None:
        return None
    return read_original(writer.fs, changed.path)


def restore_to(
    writer: Writer, scope: Scope, which: str, force: bool, dry_run: bool
) -> tuple[str | None, list[Restored]]:
    """Put back one content: a backup or change by its id, or ``pristine``, the first one seen of this lineage.

    :returns: as :func:`restore_last`
    :raises UsageFault: where there is no such backup
    """
    wanted = _pristine(writer.vault, scope) if which == "pristine" else _by_id(writer.vault, scope, which)
    if not wanted:
        raise UsageFault(f"no backup `{which}` of this target", name="no-backup", hint="`opsinfo backups` lists them")
    if len(wanted) == 1 and not os.path.lexists(wanted[0][1].path):
        return _make_again(writer, *wanted[0], force, dry_run)
    if dry_run:
        return _put_contents(writer, wanted, force, commit=False)
    with writer.locked([changed.path for _, changed in wanted]):
        return _put_contents(writer, wanted, force, commit=True)


def _make_again(
    writer: Writer, backup: str, changed: Changed, force: bool, dry_run: bool
) -> tuple[str | None, list[Restored]]:
    """Put back a file that is gone. Its mode follows the umask, for nobody knows the old one."""
    assert changed.before is not None
    if not force and _version_now(changed) != changed.version:
        raise _other_lineage(changed)
    data = writer.vault.content(changed.before)
    restored = [Restored(changed.path, backup, changed.before, None, data)]
    change = None if dry_run else writer.create(changed.path, data, "restore", [])
    return change, restored


def _by_id(vault: Vault, scope: Scope, which: str) -> list[tuple[str, Changed]]:
    found = []
    for record in vault.records():
        for index, changed in enumerate(record.files):
            if which in (record.id, record.backup_id(index)) and changed.before and scope(changed.path):
                found.append((record.backup_id(index), changed))
    return found


def _pristine(vault: Vault, scope: Scope) -> list[tuple[str, Changed]]:
    """The first backup of the newest lineage of each path."""
    newest: dict[str, tuple[str, Changed]] = {}
    for record in vault.records():
        for index, changed in enumerate(record.files):
            known = newest.get(changed.path)
            if scope(changed.path) and changed.before and (known is None or known[1].lineage != changed.lineage):
                newest[changed.path] = (record.backup_id(index), changed)
    return list(newest.values())


def _put_contents(
    writer: Writer, wanted: list[tuple[str, Changed]], force: bool, commit: bool
) -> tuple[str | None, list[Restored]]:
    writes, restored = [], []
    for backup, changed in wanted:
        assert changed.before is not None
        original = read_original(writer.fs, changed.path)
        if not force:
            _require_lineage(writer.vault, changed, sha256_of(original.data))
        data = writer.vault.content(changed.before)
        if data != original.data:
            writes.append(Write(original, data, changed.given or changed.path))
        restored.append(Restored(changed.path, backup, changed.before, original.data, data))
    if not commit or not writes:
        return None, restored
    return writer.commit(Record.begin("restore"), writes).id, restored


def _require_ours(vault: Vault, changed: Changed, digest: str | None) -> None:
    """:raises Refused: where the file is not what the change left it"""
    if digest == changed.after or digest == changed.before:
        return
    if digest is None:
        raise Refused(
            "the file is gone", name="gone", path=changed.path, hint="`opsinfo restore TARGET --to ID` makes it again"
        )
    _require_lineage(vault, changed, digest)
    raise Refused(
        "the file was changed again since; undoing would lose that",
        name="changed-since",
        path=changed.path,
        hint="undo the later changes first, or choose one with --to ID; --force does it all the same, after a backup",
    )


def _require_lineage(vault: Vault, changed: Changed, digest: str) -> None:
    """:raises Refused: where the file is of another vendor state than the backup"""
    current = vault.current_lineage(changed.path, digest)
    if current and current.id == changed.lineage:
        return
    raise _other_lineage(changed)


def _version_now(changed: Changed) -> str | None:
    root = root_above(changed.path)
    return version_of(root) if root else None


def _other_lineage(changed: Changed) -> Refused:
    return Refused(
        f"the backup is of CANN {changed.version or 'unknown'}, the file is of CANN "
        f"{_version_now(changed) or 'unknown'} and was not written by opsinfo: an upgrade or somebody else put it "
        "there",
        name="other-lineage",
        path=changed.path,
        hint="`opsinfo reapply` puts lost moves into the new file; --force restores the old one all the same",
    )
