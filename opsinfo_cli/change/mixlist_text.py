"""The text of a newly written mixlist, in the layout of another one. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.mixlist import Mixlist, mixlist_content
from ..model.policy import Mark
from ..text.layout import style_of
from ..text.scanner import scan
from ..text.source import Source, encoded
from .moves import proof_failed


def written_like(mixlist: Mixlist, marks: Mapping[str, frozenset[Mark]]) -> str:
    """Return a mixlist with these marks in the style of ``mixlist``; its text if it has exactly these marks.

    :raises Refused: if reading the text does not give the same marks
    """
    source = mixlist.source
    lists = mixlist_content(marks)
    if mixlist.root.plain() == lists:
        return source.text
    style = style_of(source.text, mixlist.root)
    text = style.render(lists, "") + (style.newline if source.text.endswith("\n") else "")
    if Mixlist(scan(Source(encoded(text), source.path))).marks != dict(marks):
        raise proof_failed(source.path)
    return text
