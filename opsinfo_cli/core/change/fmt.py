"""Fixing the syntax of a mixlist, and writing one file from the fixed text of another. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from ..text.patch import Patch, edits_between
from ..text.scanner import scan, syntax_patch
from ..text.source import Source
from .plan import Plan, proof_failed


class FmtPlan(Plan):
    """Fix the syntax for a strict reader; leave everything else unchanged."""

    def patch(self, source: Source) -> Patch:
        return syntax_patch(scan(source))

    def prove(self, source: Source, result: Source) -> None:
        """Check that the result is strict, has the same content, and needs no further fix."""
        before, after = scan(source), scan(result)
        same = before.root is not None and after.require_root().plain() == before.root.plain()
        if not same or syntax_patch(after):
            raise proof_failed(source.path)


def fixed(source: Source) -> Source:
    """:raises Damaged: if a fault cannot be fixed"""
    plan = FmtPlan()
    patch = plan.patch(source)
    if not patch:
        return source
    result = Source(patch.apply(source), source.path)
    plan.prove(source, result)
    return result


@dataclass(frozen=True)
class BuildPlan(Plan):
    """Give a file the content of another source.

    :param made_from: SHA-256 of the file, if the text was made from its content
    """

    text: str
    made_from: str | None = None

    def patch(self, source: Source) -> Patch:
        """:raises Stale: if the file changed since the text was made from it"""
        return Patch(self.made_from or source.sha256, tuple(edits_between(source.text, self.text)), drop_bom=source.bom)

    def prove(self, source: Source, result: Source) -> None:
        if result.text != self.text or result.bom:
            raise proof_failed(source.path)
