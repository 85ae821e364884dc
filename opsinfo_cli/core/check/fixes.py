"""Apply the fixes of findings to a file, as a plan that the writer computes under the lock and proves. Pure."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ..cann.file_kind import OptionKind
from ..cann.mixlist_text import line_numbers
from ..change.plan import Plan, proof_failed
from ..text.patch import Edit, Patch, edits_between, splice
from ..text.scanner import Node, scan
from ..text.source import Source, encoded
from .finding import Finding, Fix
from .options import OptionFile

_PASSES = 10
"""The most passes: edits that touch each other wait for the next pass; the rest is reported."""


def applicable(findings: Iterable[Finding], unsafe: bool) -> list[Fix]:
    return [finding.fix for finding in findings if finding.fix and (unsafe or finding.fix.is_safe)]


@dataclass(frozen=True)
class FixPlan(Plan):
    """The fixes of a mixlist.

    :param find: returns the findings to fix in a text
    :param unsafe: whether to include unsafe fixes
    """

    find: Callable[[Source], list[Finding]]
    unsafe: bool = False

    def patch(self, source: Source) -> Patch:
        fixed, _ = self._fix(source)
        return Patch(source.sha256, tuple(edits_between(source.text, fixed.text)), source.bom and not fixed.bom)

    def prove(self, source: Source, result: Source) -> None:
        """Check that the result has the content of the source, apart from renamed names, dropped entries and
        repetitions."""
        _, changes = self._fix(source)
        numbered = source.replaced(source.with_text(splice(source.text, line_numbers(source))))
        before, after = scan(numbered).root, scan(result).root
        only_dropped = _Changes({}, {}, changes.dropped)
        if before is None or after is None or _content(before, changes) != _content(after, only_dropped):
            raise proof_failed(source.path)

    def _fix(self, source: Source) -> tuple[Source, _Changes]:
        """Return the text after all possible fixes, and what they change."""
        changes = _Changes({}, {}, set())
        drops = False
        for _ in range(_PASSES):
            possible = applicable(self.find(source), self.unsafe)
            fixes = _choose([fix for fix in possible if bool(fix.drops) is drops])
            if not fixes and not drops:  # last of all, so that no name is renamed to one whose entry was dropped
                drops, fixes = True, _choose([fix for fix in possible if fix.drops])
            if not fixes:
                break
            changes.items.update(fix.renames for fix in fixes if fix.renames)
            changes.keys.update(fix.renames_key for fix in fixes if fix.renames_key)
            changes.dropped.update(entry for fix in fixes for entry in fix.drops)
            text = splice(source.text, (edit for fix in fixes for edit in fix.edits))
            drops_bom = any(fix.drops_bom for fix in fixes)
            source = source.replaced(encoded(text) if drops_bom else source.with_text(text))
        return source, changes


@dataclass(frozen=True)
class OptionFixPlan(FixPlan):
    """The fixes of a file of compiler options.

    :param kind: one of ``OPTION_KINDS``
    """

    kind: OptionKind = "keep_dtype"

    def prove(self, source: Source, result: Source) -> None:
        """Check that the compiler takes all that it took before, apart from renamed names and comments."""
        _, changes = self._fix(source)
        before, after = OptionFile(self.kind, source).values, OptionFile(self.kind, result).values
        for (is_type, name), value in before.items():
            renamed = after.get((is_type, changes.items.get(name, name)))
            if renamed != value and not name.startswith("#"):
                raise proof_failed(source.path)


def _choose(fixes: list[Fix]) -> list[Fix]:
    """Return as many fixes as possible that do not touch each other."""
    taken: list[Fix] = []
    edits: list[Edit] = []
    targets: set[str] = set()
    for fix in fixes:
        target = fix.renames[1] if fix.renames else None
        if target not in targets and not any(_touches(edit, edits) for edit in fix.edits):
            taken.append(fix)
            for edit in fix.edits:
                insort(edits, edit)
            targets |= {target} if target else set()
    return taken


def _touches(edit: Edit, edits: list[Edit]) -> bool:
    """Return whether an edit overlaps one of a sorted list, or inserts at the end of another edit."""
    at = bisect_left(edits, edit)
    for other in edits[max(0, at - 1) : at + 1]:
        inserts = edit.start == edit.end or other.start == other.end
        if edit.start < other.end + inserts and other.start < edit.end + inserts:
            return True
    return False


class _Changes(NamedTuple):
    """What fixes change in the content.

    :param items: op types with their new names
    :param keys: keys with their new names
    :param dropped: the keys of list and action, and the op type, of each dropped entry
    """

    items: dict[str, str]
    keys: dict[str, str]
    dropped: set[tuple[str, str, str]]


def _content(node: Node, changes: _Changes, keys: tuple[str, ...] = ()) -> object:
    """Return the content of a text after the changes, each string of an array once.

    :param keys: the keys that lead to the node
    """
    if node.kind == "object":
        renamed = {changes.keys.get(member.name, member.name): member.value for member in node}
        return {name: _content(value, changes, (*keys, name)) for name, value in renamed.items()}
    if node.kind == "array":
        items: dict[object, None] = {}
        for index, item in enumerate(node.items):
            is_name = item.kind == "string"
            items[changes.items.get(str(item.value), item.value) if is_name else (index, repr(item.plain()))] = None
        return [item for item in items if (*keys, item) not in changes.dropped]
    return node.plain()
