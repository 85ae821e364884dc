"""Fixes for a strict reader: comments, commas, the byte order mark, text after the end."""

from __future__ import annotations

from .document import Document
from .patch import Edit, Patch


def syntax_patch(document: Document) -> Patch:
    """Return the smallest edits that fix the faults of a text.

    :raises Damaged: if a fault cannot be fixed
    """
    if any(fault.fix is None for fault in document.faults):
        document.faults.sort(key=lambda fault: fault.fix is not None)
        document.require_root()
    edits = {fault.fix for fault in document.faults if fault.fix}
    if document.tail is not None:
        edits.add(without_tail(document.source.text, document.end))
    return Patch(document.source.sha256, tuple(sorted(edits)), drop_bom=document.source.bom)


def without_tail(text: str, end: int) -> Edit:
    """:param end: offset after the first value"""
    newline = "\r\n" if "\r\n" in text else "\n"
    return Edit(end, len(text), newline if text.endswith("\n") else "")
