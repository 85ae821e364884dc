"""What is known of all changes of a machine: their records, and of pruned ones what later runs need.

A pruned change leaves the hashes of its contents, so that a file with one of them is not taken for a vendor's, and the
last policy that was requested for each op type, so that it can be applied again after an upgrade.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from ...errors import Refused
from ..document import internal
from .record import BackupEntry, Record, outcome, sealed, unsealed

Mover: TypeAlias = tuple[str, str | None]
"""The id of a change, and its time, which is not known of one without record."""


class Content(NamedTuple):
    """A content that a file had.

    :param number: of the newest change that read or wrote it
    :param lineage: that of this change
    :param written: number of the newest change in effect that wrote it; 0 if none did
    """

    number: int = 0
    lineage: str = ""
    written: int = 0


class Request(NamedTuple):
    """The policy that was last requested for an op type.

    :param number: of the change that made the request
    :param why: the reason that the user gave
    """

    number: int = 0
    lineage: str = ""
    policy: str = ""
    why: str | None = None


@dataclass(frozen=True)
class KnownChanges:
    """What stays known of changes without their records.

    :param numbers: of the changes
    :param contents: real path -> SHA-256 -> content
    :param requests: path as given -> op type -> request
    :param undone: the ids of the changes, and of files of changes, that these undid
    """

    numbers: set[int] = field(default_factory=set)
    contents: dict[str, dict[str, Content]] = field(default_factory=dict)
    requests: dict[str, dict[str, Request]] = field(default_factory=dict)
    undone: frozenset[str] = frozenset()

    def with_records(self, records: Iterable[Record], history: History) -> KnownChanges:
        """Return this knowledge and that of some records.

        :param history: that of the records, which says whether they are in effect
        """
        contents = {path: dict(known) for path, known in self.contents.items()}
        requests = {path: dict(known) for path, known in self.requests.items()}
        numbers, undone = set(self.numbers), set(self.undone)
        for record in records:
            numbers.add(record.number)
            if history.is_undo_in_effect(record):
                undone.update(record.undone)
            for entry in record.entries:
                file, now = entry.file, (record.number, entry.file.lineage)
                known = contents.setdefault(file.path, {})
                if file.before is not None:
                    last = known.get(file.before, Content())
                    known[file.before] = Content(*max(last[:2], now), last.written)
                if file.after is not None and record.state != "abandoned":
                    last = known.get(file.after, Content())
                    written = record.number if history.is_in_effect(entry) else 0
                    known[file.after] = Content(*max(last[:2], now), max(last.written, written))
                standing = history.moves_in_effect(entry)
                if standing:
                    asked = requests.setdefault(file.given, {})
                    for name, (_, policy) in standing.items():
                        if policy is not None:
                            request = Request(*now, policy, record.why)
                            asked[name] = max(asked.get(name, Request()), request, key=lambda each: each.number)
        return KnownChanges(numbers, contents, requests, frozenset(undone))

    def requests_by_path(self) -> dict[str, dict[str, Request]]:
        """Return the last requests by the real path to which the given ones lead now: two may lead to one file."""
        found: dict[str, dict[str, Request]] = {}
        for given, own in self.requests.items():
            last = found.setdefault(os.path.realpath(given), {})
            for name, request in own.items():
                last[name] = max(last.get(name, request), request)
        return found

    def render(self, machine: str) -> bytes:
        runs = groupby(enumerate(sorted(self.numbers)), lambda pair: pair[1] - pair[0])  # numbers without a gap
        numbers = [[run[0][1], run[-1][1]] for run in (list(pairs) for _, pairs in runs)]
        return sealed({"machine": machine, **vars(self), "numbers": numbers, "undone": sorted(self.undone)})

    @classmethod
    def parse(cls, data: bytes, machine: str) -> KnownChanges:
        """:raises ValueError: if the bytes are not those of :meth:`render`; may raise TypeError and others, too"""
        read: dict[str, Any] = unsealed(data)
        if read["machine"] != machine:
            raise ValueError("it is that of another machine")
        return cls(
            {number for first, last in read["numbers"] for number in range(first, last + 1)},
            {path: {key: Content(*each) for key, each in known.items()} for path, known in read["contents"].items()},
            {path: {key: Request(*each) for key, each in known.items()} for path, known in read["requests"].items()},
            frozenset(read["undone"]),
        )


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
    """The changes of one machine, in order, and the damage found while reading them.

    :param pruned: what is known of changes without records
    """

    machine: str
    records: list[Record]
    damage: list[Damage]
    pruned: KnownChanges = field(default_factory=KnownChanges)

    @property
    def next_number(self) -> int:
        known = [self.records[-1].number] if self.records else []
        known += [*self.pruned.numbers, *(damage.numbers[-1] for damage in self.damage if damage.numbers)]
        return max(known, default=0) + 1

    @cached_property
    def entries(self) -> list[BackupEntry]:
        return [entry for record in self.records for entry in record.entries]

    @cached_property
    def _by_path(self) -> dict[str, list[BackupEntry]]:
        found: dict[str, list[BackupEntry]] = {}
        for entry in self.entries:
            found.setdefault(entry.file.path, []).append(entry)
        return found

    def entries_of(self, path: str) -> list[BackupEntry]:
        """Return the changes of one file, in order."""
        return self._by_path.get(path, [])

    @cached_property
    def undone(self) -> set[str]:
        """The ids of the changes, and of files of changes, that a restore undid, and that no restore of this restore
        brought back.
        """
        undone: set[str] = set()
        for record in reversed(self.records):
            if record.id not in undone and outcome(record) == "done":
                undone.update(record.undone)
        return undone | self.pruned.undone

    def is_undo_in_effect(self, record: Record) -> bool:
        return bool(record.undoes) and record.id not in self.undone and outcome(record) == "done"

    def is_undone(self, entry: BackupEntry) -> bool:
        return entry.id in self.undone or entry.record.id in self.undone

    def is_in_effect(self, entry: BackupEntry) -> bool:
        """Return whether a change is done, no undo, and not undone in a file."""
        return not entry.record.undoes and not self.is_undone(entry) and outcome(entry.record) == "done"

    @cached_property
    def _taken_back(self) -> dict[tuple[str, str], set[str]]:
        """Change and path -> the op types that restores gave back what they had before it."""
        found: dict[tuple[str, str], set[str]] = {}
        for record in filter(self.is_undo_in_effect, self.records):
            for change in {each.partition(".")[0] for each in record.undone}:
                for file in record.files:
                    found.setdefault((change, file.path), set()).update(file.moves)
        return found

    def moves_in_effect(self, entry: BackupEntry) -> dict[str, list[str | None]]:
        """Return the moves of a change in a file that stand: an undo leaves op types that were moved again."""
        record, file = entry.record, entry.file
        if record.undoes or outcome(record) != "done":
            return {}
        if not self.is_undone(entry):
            return file.moves
        back = self._taken_back.get((record.id, file.path))  # none: it was put back already, or by an earlier version
        return {name: move for name, move in file.moves.items() if back and name not in back}

    def movers(self, path: str, since: int = 0) -> dict[str, Mover]:
        """Return the op types of a file that changes after number ``since`` moved: the last change, and its time."""
        found: dict[str, Mover] = {}
        for given, requests in self.pruned.requests.items():
            if path in (given, os.path.realpath(given)):
                late = ((name, request.number) for name, request in requests.items() if request.number > since)
                found.update((name, (f"{self.machine}-{number}", None)) for name, number in late)
        for entry in self.entries_of(path):
            if entry.record.number > since:
                moves = self.moves_in_effect(entry)
                found.update(dict.fromkeys(moves, (entry.record.id, entry.record.time)))
        return found

    @cached_property
    def known(self) -> KnownChanges:
        """What is known of all changes, pruned or not."""
        return self.pruned.with_records(self.records, self)

    def lineage_of(self, path: str, digest: str) -> str | None:
        """Return the newest lineage of a path that knows a content; None if opsinfo neither read nor wrote it."""
        return self.known.contents.get(path, {}).get(digest, Content()).lineage or None

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
