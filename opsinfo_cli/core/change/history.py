"""What happened to the files of a machine: its records in order, those of pruned changes too.

A change *counts* if its files got its content (:func:`.record.outcome`). An *undo* is a change that names what it took
back. A move *stands* if its change counts, unless an undo took it back by a move that stands: an undo leaves op types
that were moved again, and may be undone itself. A *lineage* is the contents of a file that follow from one content that
opsinfo did not write; it has the id of the first backup of that one.

| change                                 | kind    | undoes     |
| -------------------------------------- | ------- | ---------- |
| move, or any other command that writes | move    | nothing    |
| reapply                                | reapply | nothing    |
| restore TARGET --to ID, --to pristine  | restore | nothing    |
| restore TARGET                         | restore | the change |
| restore TARGET --only                  | restore | its file   |
| restore CHANGE                         | revert  | the change |
| restore CHANGE.1                       | revert  | its file   |
| restore CHANGE of another machine      | revert  | nothing    |

Every question is one of these records, and no answer depends on what was pruned, which is contents alone:

- A plain restore undoes the newest change that is not undone, and whose content the files have, but for undos of the
  kind restore: so it goes back change by change (`restore.py`).
- The undo of a change takes back its moves that stand, but for op types that a later change moved, by a move that
  stands; if no later change stands, the old bytes come back (`revert.py`).
- The last moves of changes that undo nothing are asked for: `reapply` repeats them after an upgrade, and `doctor`
  misses them. Undone, a reapply settles what it repeated; a return to the first content of a lineage settles all.
- Who edited a library is said by its last moves since the first content of its lineage (`standing.py`).
- A content belongs to the lineage of the newest change that read or wrote it; one of none is a new state of the vendor.

`test_change_revert.py` has a case of each row, and `test_long_hostile_history.py` any sequence of them against a model.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TypeAlias

from ...errors import Refused
from ..document import internal
from .record import BackupEntry, Record, outcome

Moves: TypeAlias = dict[str, list[str | None]]
"""As in a record: op type -> [policy before, policy after]."""


@dataclass(frozen=True)
class Damage:
    path: str
    """The path of the file in the vault."""
    message: str
    """What is wrong with the file."""
    numbers: range = internal(range(0))
    """Of the changes that cannot be read."""


@dataclass(frozen=True)
class History:
    """The changes of one machine, in order, and the damage found while reading them."""

    machine: str
    records: list[Record]
    damage: list[Damage]

    @property
    def next_number(self) -> int:
        known = [record.number for record in self.records[-1:]]
        return max([*known, *(damage.numbers[-1] for damage in self.damage if damage.numbers)], default=0) + 1

    @cached_property
    def entries(self) -> list[BackupEntry]:
        return [entry for record in self.records for entry in record.entries]

    @cached_property
    def by_path(self) -> dict[str, list[BackupEntry]]:
        """The changes of each file, in order, by its real path."""
        found: dict[str, list[BackupEntry]] = {}
        for entry in self.entries:
            found.setdefault(entry.file.path, []).append(entry)
        return found

    # undos

    @cached_property
    def _undone_and_standing(self) -> tuple[set[str], dict[str, Moves]]:
        """The backup ids of files in which a change is undone, and backup id -> the moves that stand.

        The newest change comes first, so that it is known whether an undo stands in a file before what it undid is met.
        """
        undone: set[str] = set()
        standing: dict[str, Moves] = {}
        undos: dict[str, list[Record]] = {}  # id of a change, or of a file of one -> what undid it
        for record in reversed(self.records):
            counts = outcome(record) == "done"
            for entry in record.entries:
                moves = entry.file.moves if counts else {}
                for undo in (*undos.get(record.id, ()), *undos.get(entry.id, ())):
                    here = [each for each in undo.entries if each.file.path == entry.file.path]
                    # a file that had its old content already is not written by the undo, and goes with its other files
                    stands = any(each.id not in undone for each in here or undo.entries)
                    if stands:
                        undone.add(entry.id)
                    if here and here[0].file.moves:
                        moves = {name: move for name, move in moves.items() if name not in standing[here[0].id]}
                    elif stands:
                        moves = {}
                standing[entry.id] = moves
            for each in record.undone if counts else ():
                undos.setdefault(each, []).append(record)
        return undone, standing

    def is_undone(self, entry: BackupEntry) -> bool:
        return entry.id in self._undone_and_standing[0]

    def standing_moves(self, entry: BackupEntry) -> Moves:
        """Return the moves of a change in a file that stand."""
        return self._undone_and_standing[1][entry.id]

    def stands(self, entry: BackupEntry) -> bool:
        """Return whether something of a change is in effect in a file; an undo is not, but what it brought back is."""
        if entry.record.undoes or outcome(entry.record) != "done":
            return False
        return not self.is_undone(entry) or bool(self.standing_moves(entry))

    def last_moves(self, entries: Iterable[BackupEntry]) -> dict[str, BackupEntry]:
        """Return op type -> the newest of these changes whose move of it stands.

        :param entries: in order
        """
        return {name: entry for entry in entries if not entry.record.undoes for name in self.standing_moves(entry)}

    def asked(self, change: str | None = None) -> dict[str, dict[str, BackupEntry]]:
        """Return path -> op type -> the change whose move of it is asked for.

        The path is used as given: if a link in it now leads to another install, that one is meant.

        :param change: the id or number of the only change whose moves are meant
        """
        found: dict[str, dict[str, BackupEntry]] = {}
        real_path = cache(os.path.realpath)
        for entry in self.entries:
            record, file = entry.record, entry.file
            if change in (None, record.id, str(record.number)):
                own = found.setdefault(real_path(file.given), {})
                first = self._first_copies.get((file.path, file.lineage))
                if record.kind == "reapply" and self.is_undone(entry):
                    for name in file.moves:
                        own.pop(name, None)
                if record.kind == "restore" and self.stands(entry) and first and file.after == first.file.before:
                    own.clear()
                else:
                    own.update(self.last_moves([entry]))
        return found

    # lineages

    @cached_property
    def _lineages(self) -> dict[str, dict[str, str]]:
        """Real path -> SHA-256 of a content -> the lineage of the newest change that read or wrote it."""
        found: dict[str, dict[str, str]] = {}
        for entry in self.entries:
            known = found.setdefault(entry.file.path, {})
            if entry.file.before is not None:
                known[entry.file.before] = entry.file.lineage
            if entry.file.after is not None and entry.record.state != "abandoned":
                known[entry.file.after] = entry.file.lineage
        return found

    def lineage_of(self, path: str, digest: str) -> str | None:
        """Return the newest lineage of a path that knows a content; None if opsinfo neither read nor wrote it."""
        return self._lineages.get(path, {}).get(digest)

    @cached_property
    def _first_copies(self) -> dict[tuple[str, str], BackupEntry | None]:
        """Path and lineage -> the backup of the content with which the lineage begins; None if there is none yet.

        Lineages whose first change cannot be read are left out.
        """
        contents: dict[tuple[str, str], str | None] = {}
        found: dict[tuple[str, str], BackupEntry | None] = {}
        for entry in self.entries:
            file = entry.file
            key = file.path, file.lineage
            if entry.id == file.lineage:
                contents[key], found[key] = file.before or file.after, None
            if key in found and found[key] is None and file.backup and file.before == contents[key]:
                found[key] = entry
        return found

    def pristine(self, path: str, lineage: str) -> BackupEntry | None:
        """Return the backup of the content with which a lineage begins; None if there is none yet.

        :raises Refused: if the change with which it begins cannot be read
        """
        if (path, lineage) in self._first_copies:
            return self._first_copies[path, lineage]
        number = int(lineage.rpartition("-")[2].partition(".")[0])
        raise self._refusal([damage for damage in self.damage if number in damage.numbers])

    def pristine_ids(self) -> set[str]:
        return {entry.id for entry in self._first_copies.values() if entry}

    def require_known(self, since: int = 0) -> None:
        """:raises Refused: if a change after number ``since`` cannot be read, because it may be about any file"""
        unknown = [damage for damage in self.damage if damage.numbers and damage.numbers[-1] > since]
        if unknown:
            raise self._refusal(unknown)

    def _refusal(self, damage: Sequence[Damage]) -> Refused:
        path = damage[0].path if damage else None
        message = damage[0].message if damage else "the change with which these backups begin is missing"
        return Refused(
            f"the vault is damaged, so what happened to this file is uncertain: {message}",
            name="damaged-backup",
            path=path,
            hint="`opsinfo backups` lists what is known, and --to ID restores one of them; the backups are plain files "
            "beside their record.json, which can be copied by hand",
        )
