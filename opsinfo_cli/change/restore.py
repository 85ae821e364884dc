"""Restore files: undo the last change as a whole, or restore one content by its id."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from ..errors import NotConfirmed, Refused, UsageFault
from ..model.install import root_above, version_of
from .chain import Link, Scope, refusal
from .folders import shut
from .interrupted import outcome, state_of, undone
from .journal import Journal
from .journal_reading import read_record
from .record import Changed, Record, machine_name
from .replace import Original, read_original
from .vault import Vault, sha256_of
from .writer import Write, Writer


class Restored(NamedTuple):
    """One restored file: its backup, and its SHA-256 afterwards; None if it was removed.

    :param current: its content before, None if there was no file
    :param content: its content after
    """

    path: str
    id: str
    sha256: str | None
    current: bytes | None
    content: bytes | None


def restore_last(writer: Writer, scope: Scope, force: bool, dry_run: bool) -> tuple[str | None, list[Restored]]:
    """Undo the last change that touched the scope, or end one that was interrupted.

    :returns: the id of the new change, None if nothing was written, and the restored files
    :raises UsageFault: if there is no change
    :raises Refused: if a file changed since, or damage to the vault makes that unknown
    """
    while True:
        record = _last(writer.vault, scope)
        if dry_run:
            return _put(writer, record, force, commit=False)
        paths = [changed.path for changed in record.files if os.path.exists(changed.path)]
        with writer.locked(paths, ends=record.id):
            if _last(writer.vault, scope).id == record.id:  # no other process came first
                return _put(writer, record, force, commit=True)


def _last(vault: Vault, scope: Scope) -> Record:
    """Return the change to undo: one that was interrupted half way, else the last that was not undone."""
    journal = vault.journal()
    records = [record for record in journal.records if _is_ours(journal, record, scope)]
    ended = {record.id: outcome(vault, record) for record in records if record.state == "pending"}
    halves = [record for record in records if ended.get(record.id) in ("half", "torn")]
    gone = undone(vault, records)
    done = [
        record
        for record in records
        if record.undoes is None
        and record.id not in gone
        and (record.can_be_undone or ended.get(record.id) in ("done", "other"))
    ]
    found = (halves or done)[-1:]
    journal.require_known(scope, found[0] if found else None)
    if not found:
        raise UsageFault("there is no change to undo", name="nothing-to-restore", hint="`opsinfo backups` lists them")
    return found[0]


def _is_ours(journal: Journal, record: Record, scope: Scope) -> bool:
    """Return whether a record is of this machine, in scope, and on the branch that the head names."""
    links = [Link(record, index) for index in range(len(record.files))]
    return record.machine == machine_name() and any(
        scope(link.key.path) and journal.lineage_id(link) == link.changed.lineage for link in links
    )


def _put(writer: Writer, record: Record, force: bool, commit: bool) -> tuple[str | None, list[Restored]]:
    journal = writer.vault.journal()
    writes, restored = [], []
    for index, changed in enumerate(record.files):
        link = Link(record, index)
        current = _current(writer, changed)
        digest = sha256_of(current.data) if current else None
        if not force and not _is_torn(writer.vault, record, changed):
            _require_ours(writer.vault, journal, link, digest)
        data = None if changed.before is None else _content(writer.vault, link)
        if digest != changed.before and current is not None:
            writes.append(Write(current, data, changed.given or changed.path))
        said = current.data if current else None
        restored.append(Restored(changed.path, link.backup, changed.before, said, data))
    if not commit:
        return None, restored
    undo = Record.begin("restore", undoes=record.id)
    confirmed: NotConfirmed | None = None
    if writes:
        try:
            writer.commit(undo, writes)
        except NotConfirmed as error:
            confirmed = error
    shut(writer.fs, record)  # folders that a killed run left writable
    record.state = "pending" if record.folders else "undone"
    with suppress(Refused):  # the restore's own record has it too
        writer.vault.save(record)
    if confirmed:
        raise confirmed
    return undo.id if writes else None, restored


def _is_torn(vault: Vault, record: Record, changed: Changed) -> bool:
    return record.state == "pending" and record.in_place and state_of(vault, record, changed) == "torn"


def _content(vault: Vault, link: Link) -> bytes:
    """:raises Refused: if the content was pruned, or is missing or damaged"""
    digest = str(link.changed.before)
    data = vault.find(digest)
    now = read_record(vault, link.record.id) if data is None else None  # a prune may have come first
    if data is None and now is not None and now.files[link.nth].pruned:
        raise Refused(
            "this backup was removed by `opsinfo backups --prune`; only its record is left",
            name="pruned",
            path=link.changed.path,
            hint="`opsinfo backups` lists the others; `--to pristine` restores the first one",
        )
    return vault.content(digest)


def _current(writer: Writer, changed: Changed) -> Original | None:
    """Return the present file; None if there is none.

    :raises Refused: if it cannot be read
    """
    try:
        writer.fs.stat(changed.path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Refused(error.strerror or str(error), name="unreadable", path=changed.path) from None
    return read_original(writer.fs, changed.path)


def restore_to(
    writer: Writer, scope: Scope, which: str, force: bool, dry_run: bool
) -> tuple[str | None, list[Restored]]:
    """Restore one content: a backup or change by its id, or ``pristine``, the first one seen of this lineage.

    :returns: as :func:`restore_last`
    :raises UsageFault: if there is no such backup
    """
    journal = writer.vault.journal()
    wanted = _pristine(journal, scope) if which == "pristine" else _by_id(journal, scope, which)
    if not wanted:
        raise UsageFault(f"no backup `{which}` of this target", name="no-backup", hint="`opsinfo backups` lists them")
    if len(wanted) == 1 and not os.path.lexists(wanted[0].changed.path):
        return _make_again(writer, wanted[0], force, dry_run)
    if dry_run:
        return _put_contents(writer, wanted, force, commit=False)
    with writer.locked([link.changed.path for link in wanted]):
        if which == "pristine":  # an upgrade may have begun a new lineage during the wait
            wanted = _pristine(writer.vault.journal(), scope)
        return _put_contents(writer, wanted, force, commit=True)


def _make_again(writer: Writer, link: Link, force: bool, dry_run: bool) -> tuple[str | None, list[Restored]]:
    """Restore a file that no longer exists. Its mode follows the umask, because the old one is unknown."""
    changed = link.changed
    if not force and _version_now(changed) != changed.version:
        raise _other_lineage(changed)
    data = _content(writer.vault, link)
    restored = [Restored(changed.path, link.backup, changed.before, None, data)]
    change = None if dry_run else writer.create(changed.path, data, "restore", [])
    return change, restored


def _by_id(journal: Journal, scope: Scope, which: str) -> list[Link]:
    """:raises Refused: if the record exists and is damaged"""
    for damage in journal.damage:
        if damage.kind == "record" and os.path.basename(damage.path) in (which, which.rpartition(".")[0]):
            raise refusal(damage)
    links = [Link(record, index) for record in journal.records for index in range(len(record.files))]
    return [
        link
        for link in links
        if which in (link.record.id, link.backup) and link.changed.before and scope(link.key.path)
    ]


def _pristine(journal: Journal, scope: Scope) -> list[Link]:
    """Return the first backup of the newest lineage of each path.

    :raises Refused: if damage to the vault makes it unknown
    """
    journal.require_attributed()
    found = []
    for key in journal.keys:
        if key.machine != machine_name() or not scope(key.path):
            continue
        walk = journal.walk(key.path)
        kept = [link for link in walk.links if link.changed.before]
        newest = kept[0].changed.lineage if kept else None
        mine = [link for link in kept if link.changed.lineage == newest]
        if walk.broken and not (walk.links and _begins(walk.links[-1], newest)):
            raise refusal(walk.broken)
        found += mine[-1:]
    return found


def _begins(oldest: Link, lineage: str | None) -> bool:
    """Return whether a lineage begins at or after the oldest known link."""
    return oldest.changed.lineage != lineage or oldest.changed.lineage.endswith(oldest.record.id)


def _put_contents(writer: Writer, wanted: list[Link], force: bool, commit: bool) -> tuple[str | None, list[Restored]]:
    journal = writer.vault.journal()
    writes, restored = [], []
    for link in wanted:
        changed = link.changed
        original = read_original(writer.fs, changed.path)
        if not force:
            _require_lineage(writer.vault, journal, link, sha256_of(original.data))
        data = _content(writer.vault, link)
        if data != original.data:
            writes.append(Write(original, data, changed.given or changed.path))
        restored.append(Restored(changed.path, link.backup, changed.before, original.data, data))
    if not commit or not writes:
        return None, restored
    return writer.commit(Record.begin("restore"), writes).id, restored


def _require_ours(vault: Vault, journal: Journal, link: Link, digest: str | None) -> None:
    """:raises Refused: if the file changed since the change"""
    changed = link.changed
    if digest == changed.after or digest == changed.before:
        return
    if digest is None:
        raise Refused(
            "the file is missing",
            name="gone",
            path=changed.path,
            hint="`opsinfo restore TARGET --to ID` creates it again",
        )
    _require_lineage(vault, journal, link, digest)
    raise Refused(
        "the file was changed again since; undoing would lose the later change",
        name="changed-since",
        path=changed.path,
        hint="undo the later changes first, or choose one with --to ID; --force undoes it anyway, after a backup",
    )


def _require_lineage(vault: Vault, journal: Journal, link: Link, digest: str) -> None:
    """:raises Refused: if the file is of another vendor state than the backup, or that is unknown"""
    current = journal.current_lineage(link.key.path, digest)
    if current and current.id == journal.lineage_id(link):
        return
    walk = journal.walk(link.key.path)
    if walk.broken:
        place = vault.place("objects", str(link.changed.before))
        raise refusal(walk.broken, f"--force restores this content anyway; {place} has it")
    raise _other_lineage(link.changed)


def _version_now(changed: Changed) -> str | None:
    root = root_above(changed.path)
    return version_of(root) if root else None


def _other_lineage(changed: Changed) -> Refused:
    return Refused(
        f"the backup is of CANN {changed.version or 'unknown'}, the file is of CANN "
        f"{_version_now(changed) or 'unknown'} and was not written by opsinfo: something else, such as an upgrade, "
        "wrote it",
        name="other-lineage",
        path=changed.path,
        hint="`opsinfo reapply` applies lost moves to the new file; --force restores the old one anyway",
    )
