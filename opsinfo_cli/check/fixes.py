"""Apply the fixes of findings to a mixlist, as a plan that the writer computes under the lock and proves. Pure."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..change.moves import Move, proof_failed
from ..text.patch import Edit, Patch, splice
from ..text.scanner import Node, scan
from ..text.source import Source, encoded
from .finding import Finding, Fix

_PASSES = 10
"""The most passes: edits that touch each other wait for the next pass; the rest is reported."""


def applicable(findings: Iterable[Finding], unsafe: bool) -> list[Fix]:
    """Return the fixes of findings.

    :param unsafe: whether to include unsafe fixes"""
    return [each.fix for each in findings if each.fix and (unsafe or each.fix.is_safe)]


@dataclass(frozen=True)
class FixPlan:
    """:param find: returns the findings to fix in a text
    :param unsafe: whether to include unsafe fixes
    """

    find: Callable[[Source], list[Finding]]
    unsafe: bool = False

    def moves(self, source: Source) -> list[Move]:
        return []

    def patch(self, source: Source) -> Patch:
        from ..text.patch import edits_between

        fixed, _ = self._fixed(source)
        return Patch(source.sha256, tuple(edits_between(source.text, fixed.text)), source.bom and not fixed.bom)

    def prove(self, source: Source, result: Source) -> None:
        """Check that the result has the content of the source, apart from renamed names and repetitions."""
        _, renamed = self._fixed(source)
        before, after = scan(source).root, scan(result).root
        if before is None or after is None or _said(before, renamed) != _said(after, _Renamed({}, {})):
            raise proof_failed(source.path)

    def _fixed(self, source: Source) -> tuple[Source, _Renamed]:
        """Return the text after all possible fixes, and the renamed names."""
        renamed = _Renamed({}, {})
        for _ in range(_PASSES):
            fixes = _together(applicable(self.find(source), self.unsafe))
            if not fixes:
                break
            renamed.items.update(fix.renames for fix in fixes if fix.renames)
            renamed.keys.update(fix.renames_key for fix in fixes if fix.renames_key)
            text = splice(source.text, (edit for fix in fixes for edit in fix.edits))
            drops_bom = any(fix.drops_bom for fix in fixes)
            source = Source(encoded(text) if drops_bom else source.with_text(text), source.path)
        return source, renamed


def _together(fixes: list[Fix]) -> list[Fix]:
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


class _Renamed(NamedTuple):
    """Op types and keys, with their new names."""

    items: dict[str, str]
    keys: dict[str, str]


def _said(node: Node, renamed: _Renamed) -> object:
    """Return the content of a text, each string of an array once."""
    if node.kind == "object":
        return {renamed.keys.get(member.name, member.name): _said(member.value, renamed) for member in node}
    if node.kind == "array":
        return list({_item(item, renamed.items, index): None for index, item in enumerate(node.items)})
    return node.plain()


def _item(item: Node, renamed: Mapping[str, str], index: int) -> object:
    if item.kind == "string":
        return renamed.get(str(item.value), item.value)
    return index, repr(item.plain())
