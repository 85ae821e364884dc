"""Known and accepted findings: fingerprints, and a file of them in the repository.

A fingerprint identifies a finding across runs, even if lines move, entries before it change, or a target is moved.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated

from ...errors import Damaged, Refused
from ..document import Schema
from ..text.source import read_bytes
from .finding import Finding
from .rules import RULES
from .schema import validator_for
from .selection import RuleSelection

_MOVES = re.compile(r"(?<=\bline )[0-9]+|(?<=\boffset )[0-9]+|(?<=\.json:)[0-9]+|(?<= \()/[^()]*(?=\))")
"""Parts of a message that are places, in the file or on this machine."""

_TARGET = re.compile(r" \([^()]*\)")
"""The path of a target in a message, after its SoC."""

_INDEX = re.compile(r"/[0-9]+(?=/|$)")
"""The index of an item, which changes as a line number does; the message names the item."""


def fingerprinted(findings: Iterable[Finding], relative: Callable[[str], str]) -> list[Finding]:
    """Return the findings, each with a unique fingerprint of rule, file, JSON pointer and identity.

    For findings equal in all of these, each fingerprint also hashes the previous one.

    :param relative: returns a path relative to the repository
    """
    last: dict[str, str] = {}
    result = []
    for finding in findings:
        same = _identity(finding.rule.name, relative(finding.path), finding.pointer, finding.identity)
        digest = _digest(same if same not in last else f"{same}\0{last[same]}")
        last[same] = digest
        result.append(replace(finding, fingerprint=digest))
    return result


def not_in(known: Collection[str], relative: Callable[[str], str], findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings whose fingerprint is not known, without their fingerprints."""
    marked = fingerprinted(findings, relative)
    return [each for each, mark in zip(findings, marked, strict=True) if mark.fingerprint not in known]


def _identity(name: str, path: str, pointer: str | None, identity: str) -> str:
    pointer = _INDEX.sub("/*", pointer) if pointer is not None else "none"
    return "\0".join((name, path, pointer, _MOVES.sub("N", identity)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


@dataclass(frozen=True, order=True)
class KnownFinding:
    """One accepted finding. Only the fingerprint is compared; the other keys are for readers."""

    path: Annotated[str, Schema(examples=["configs/ops_info.json"])]
    """The path relative to the root of the repository, with forward slashes."""
    code: Annotated[str, Schema(pattern="^[A-Z][0-9]{3}$", examples=["M005"])]
    """The rule's code."""
    name: Annotated[str, Schema(pattern="^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$", examples=["unknown-operator"])]
    """The rule's name; it never changes."""
    pointer: Annotated[str, Schema(examples=["/black-list/to-add/0"])]
    """JSON pointer (RFC 6901) to the value at the time the baseline was written; empty if there is none."""
    message: str
    """The message of the finding."""
    fingerprint: Annotated[str, Schema(pattern="^[0-9a-f]{32}$")]
    """Hash of the rule, the file, the pointer without indexes, and the message without line numbers."""

    @property
    def is_old(self) -> bool:
        """Whether the fingerprint hashes the message as it is: up to version 0.2.0, with the path of a target."""
        pointer = self.pointer or None
        return bool(_TARGET.search(self.message)) and self.fingerprint == _digest(
            _identity(self.name, self.path, pointer, self.message)
        )


@dataclass(frozen=True)
class Baseline:
    entries: tuple[KnownFinding, ...] = ()

    @classmethod
    def read(cls, path: str) -> Baseline:
        """:raises Refused: if the file cannot be read
        :raises Damaged: if the file is not a baseline
        """
        try:
            document = json.loads(read_bytes(path))
        except Refused as error:
            error.hint = "--update-baseline creates it"
            raise
        except (ValueError, RecursionError):
            raise _no_baseline(path, "it is not JSON") from None
        fault = next(validator_for("baseline").iter_errors(document), None)
        if fault is not None:
            raise _no_baseline(path, f"{fault.json_path}: {fault.message}"[:300])
        entries = [{key: entry[key] for key in KnownFinding.__annotations__} for entry in document["findings"]]
        return cls(tuple(KnownFinding(**entry) for entry in entries))

    @property
    def fingerprints(self) -> frozenset[str]:
        return frozenset(entry.fingerprint for entry in self.entries)

    def renewed(self, findings: Iterable[Finding], relative: Callable[[str], str]) -> Baseline:
        """Return the baseline with the fingerprints of today for old entries whose finding occurs."""
        today: dict[str, list[str]] = {}
        for finding in findings:
            message = _TARGET.sub("", finding.message)
            same = _identity(finding.rule.name, relative(finding.path), finding.pointer, message)
            today.setdefault(same, []).append(finding.fingerprint)
        entries: list[KnownFinding] = []
        for entry in self.entries:
            same = _identity(entry.name, entry.path, entry.pointer or None, _TARGET.sub("", entry.message))
            prints = today.get(same) if entry.is_old else None
            entries += [replace(entry, fingerprint=each) for each in prints or [entry.fingerprint]]
        return Baseline(tuple(entries))

    def gone(
        self, findings: Iterable[Finding], checked: Collection[str], selection: RuleSelection, root: str
    ) -> list[KnownFinding]:
        """Return entries whose finding no longer occurs, in files that were checked or no longer exist.

        :param findings: all findings, including those in the baseline
        :param checked: the files of this run, relative to the repository
        """
        seen = {finding.fingerprint for finding in findings}
        missing = []
        for entry in self.entries:
            rule = RULES.get(entry.name)
            is_selected = rule is None or selection.keeps(rule, entry.pointer)
            is_checked = entry.path in checked or not os.path.lexists(os.path.join(root, entry.path))
            if entry.fingerprint not in seen and is_selected and is_checked:
                missing.append(entry)
        return missing

    def updated(
        self, findings: Iterable[Finding], gone: Iterable[KnownFinding], relative: Callable[[str], str]
    ) -> Baseline:
        """Return the new baseline: present findings added, gone ones removed; entries outside this run are kept."""
        kept = {entry.fingerprint: entry for entry in self.entries}
        for entry in gone:
            kept.pop(entry.fingerprint, None)  # two entries may have the same, after a merge
        for finding in findings:
            rule, path, pointer = finding.rule, relative(finding.path), finding.pointer or ""
            known = KnownFinding(path, rule.code, rule.name, pointer, finding.message, finding.fingerprint)
            kept[finding.fingerprint] = known
        return Baseline(tuple(sorted(kept.values())))

    def text(self) -> str:
        document = {
            "schema_version": 1,
            "kind": "opsinfo-baseline",
            "findings": [asdict(entry) for entry in sorted(self.entries)],
        }
        return json.dumps(document, indent=2) + "\n"


def _no_baseline(path: str, why: str) -> Damaged:
    hint = "--baseline FILE --update-baseline writes one to a new FILE"
    return Damaged(f"not an opsinfo baseline: {why}", path=path, hint=hint)
