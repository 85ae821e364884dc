"""What a change brings: the findings that its base lacks, and the policies that are new, changed or removed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from ...errors import OpsinfoError
from ..cann.opdef.find import read_source
from ..cann.opdef_store import line_span
from ..cann.policy import BadFlag
from ..cann.repository import CONFIG_FILES, configuration_in
from ..cann.target import Target
from ..text.source import Source
from .base import Base
from .finding import FileVerdict, Finding, at
from .kinds import SourceProject
from .policy_news import Decided, policy_news
from .rules import RULES
from .text import pointer_to

_COMPARED = ("store", "library", "ini")


class Key(NamedTuple):
    """What has one policy: an op type on a chip, of the sources of a package, of its `experimental/`, or of a library.

    :param part: ``main`` or ``experimental`` of sources, else the relative path of the library or store
    """

    part: str
    name: str
    chip: str


@dataclass
class TreePolicies:
    """The policies of one tree.

    :param unread: names, with their chip, that the sources have and whose policy could not be read
    :param unread_files: sources of which nothing could be read; they may have any op type whose name is in them
    """

    policies: dict[Key, Decided] = field(default_factory=dict)
    unread: set[tuple[str, str | None]] = field(default_factory=set)
    unread_files: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, projects: Iterable[SourceProject]) -> TreePolicies:
        side = cls()
        for project in projects:
            for part, readings in (("main", project.main), ("experimental", project.experimental)):
                for reading in readings.values():
                    for row in reading.rows:
                        try:
                            decided = Decided(str(row.policy), row.by_default, row.file, row.line)
                        except BadFlag:
                            side.unread.add((row.name, row.chip))
                        else:
                            side.policies.setdefault(Key(part, row.name, row.chip), decided)
                    for each in reading.unreadable:
                        if each.name:
                            side.unread.add((each.name, each.chip))
                        else:
                            side.unread_files.append(each.file)
        return side

    @cached_property
    def _unread_texts(self) -> list[bytes]:
        texts = []
        for file in self.unread_files:
            try:
                texts.append(read_source(file))
            except OpsinfoError:
                texts.append(b"")
        return texts

    def may_have(self, key: Key) -> bool:
        """Return whether the tree may have a policy that could not be read."""
        if (key.name, key.chip) in self.unread or (key.name, None) in self.unread:
            return True
        word = re.compile(rb"\b" + re.escape(key.name.encode("utf-8", "surrogateescape")) + rb"\b")
        return any(not text or word.search(text) for text in self._unread_texts)


def _policies_in(path: str | None, part: str) -> dict[Key, Decided] | None:
    """Return the policies of a library, store or ini, which may be missing; None if they cannot be read."""
    if path is None:
        return {}
    try:
        target = Target.open(path)
        return {
            Key(part, each.name, target.soc or ""): Decided(str(each.policy), False, each.entry.path, each.entry.line)
            for each in target.operators
        }
    except OpsinfoError:  # its findings say why
        return None


def compare_libraries(
    base: Base, here: TreePolicies, there: TreePolicies, files: Sequence[FileVerdict], in_base: Sequence[FileVerdict]
) -> None:
    """Add the policies of libraries, stores and inis that differ, if both sides of each could be read."""
    pairs: dict[str, list[str | None]] = {}
    for number, verdicts in enumerate((files, in_base)):
        for each in verdicts:
            if each.kind in _COMPARED:
                pairs.setdefault(base.relative(each.path), [None, None])[number] = each.path
    stores = {part for part, paths in pairs.items() if any(path and os.path.isdir(path) for path in paths)}
    for part, (one, other) in pairs.items():
        if os.path.dirname(part) in stores or base.is_same(part):
            continue
        now, before = _policies_in(one, part), _policies_in(other, part)
        if now is not None and before is not None:
            here.policies.update(now)
            there.policies.update(before)


def policy_findings(base: Base, here: TreePolicies, there: TreePolicies) -> Iterator[Finding]:
    """Yield each policy that is new, changed or removed."""
    chips: dict[tuple[str, str], dict[str, Decided]] = {}
    for key, decided in here.policies.items():
        chips.setdefault((key.part, key.name), {})[key.chip] = decided
    sources: dict[str, Source] = {}
    for key in sorted({*here.policies, *there.policies}):
        now, before = here.policies.get(key), there.policies.get(key)
        if now and (before or not there.may_have(key)):
            news = policy_news(key.name, key.chip, now, before and before.policy, chips[key.part, key.name])
            if news:
                if now.file not in sources:
                    sources[now.file] = Source(read_source(now.file), now.file, strict=False)
                source = sources[now.file]
                span, pointer = line_span(source, now.line), pointer_to(key.name)
                yield at(news.rule, source, span, news.message, pointer=pointer, identity=news.identity)
        elif before and not here.may_have(key):
            on = f" on {key.chip}" if key.chip else ""
            message = f"`{key.name}`{on} is removed; it was {before.policy}"
            place = _remaining(os.path.join(base.head, base.relative(before.file)))
            yield Finding(RULES["removed-policy"], message, _shown(place), pointer=pointer_to(key.name))


def _remaining(path: str) -> str:
    """Return a path, or the nearest folder above it that still exists."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path


def _shown(path: str) -> str:
    """Return a path relative to the working folder if it is below it, as findings of a walk have it."""
    below = os.path.relpath(path)
    return path if below.startswith("..") else below


def configuration_findings(base: Base) -> Iterator[Finding]:
    """Yield each configuration file, at the working folder or above it in the checkout, that the base has otherwise."""
    folder = os.path.realpath(os.curdir)
    while True:
        for name in CONFIG_FILES:
            one, other = os.path.join(folder, name), base.pair(os.path.join(folder, name))
            if base.is_same(base.relative(one)):
                continue
            now, before = _settings(one), _settings(other)
            if now != before:
                verb = "is new" if before is None else "is removed" if now is None else "differs from that of the base"
                message = f"the configuration of opsinfo {verb}: it decides what is read and which findings are hidden"
                yield Finding(RULES["configuration-changed"], message, _shown(_remaining(one)))
        if folder in (base.head, "/"):
            return
        folder = os.path.dirname(folder)


def _settings(path: str) -> object:
    """Return what a file configures; its text if it is not TOML, None if it configures nothing."""
    try:
        source = Source.read(path)
    except OpsinfoError:
        return None
    try:
        return configuration_in(source)
    except (ValueError, RecursionError, OverflowError):
        return source.text


def without_defaults(findings: Sequence[Finding]) -> list[Finding]:
    """Leave out what is white by default where the same line says that the policy is new or changed."""
    said = {
        (each.path, each.start, each.pointer) for each in findings if each.rule.name in ("new-policy", "changed-policy")
    }
    return [
        each
        for each in findings
        if each.rule.name != "white-by-default" or (each.path, each.start, each.pointer) not in said
    ]
