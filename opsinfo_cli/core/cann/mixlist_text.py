"""What opsinfo may change in a text: only what certainly is a mixlist, and nothing in it that may be meant."""

from __future__ import annotations

import re

from ..text.patch import Edit, Patch, edits_between, splice
from ..text.scanner import COMMENT, Node, scan, syntax_patch
from ..text.source import Source
from .file_kind import NEAR_ACTION, NEAR_LIST, is_mixlist_name

_NUMBER = re.compile(r"^[ \t]*([0-9]{1,5})(?:[ \t\r]*(?:\n|\Z)|[.:|)]?[ \t]?(?=[ \t]*[{}\[\]\"/#]))", re.MULTILINE)
"""A number that stands alone on a line, or before the text of a line."""
MOVE_TAIL = "move it into the object, or remove it"
"""The hint at text after the end of the value."""
_VALUE = re.compile(r"[{\[\"]")


def is_mixlist(root: Node | None, path: str) -> bool:
    """Return whether a value is certainly a mixlist, and not JSON of another tool: a list has an action or is an empty
    object, or the file has a name of mixlists and a list; an empty object is one.
    """
    if root is None or root.kind != "object":
        return False
    lists = [member.value for member in root if re.fullmatch(NEAR_LIST, member.name, re.IGNORECASE)]
    acts = any(each.kind == "object" and not each.members for each in lists) or any(
        re.fullmatch(f"(?:{NEAR_ACTION}|add|remove)", member.name, re.IGNORECASE) for each in lists for member in each
    )
    return acts or not root.members or (is_mixlist_name(path) and bool(lists))


def line_numbers(source: Source) -> list[Edit]:
    """Return the edits that remove the line numbers of a listing from a mixlist; none if there are no numbers at the
    beginning of lines, if they do not count up, or if the rest is no mixlist. A listing numbers its first line, too: a
    number on a line after the first bracket alone is an element of a list.
    """
    found = list(_NUMBER.finditer(source.text))
    numbers = [int(match[1]) for match in found]
    if not found or 0 <= source.text.find("{") < found[0].start():
        return []
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return []
    edits = [Edit(match.start(), match.end(), "") for match in found]
    rest = scan(source.replaced(source.with_text(splice(source.text, edits))))
    is_whole = is_mixlist(rest.root, source.path) and rest.root is not None and bool(rest.root.members)
    return edits if is_whole and is_left_over(rest.source.text, rest.end) else []


def is_left_over(text: str, end: int) -> bool:
    """Return whether text after the first value, comments aside, has no other value that may be meant."""
    return not _VALUE.search(re.sub(COMMENT, "", text[end:]))


def mixlist_patch(source: Source) -> Patch:
    """Return the edits that fix the syntax of a mixlist, line numbers of a listing included.

    :raises Damaged: if a fault cannot be fixed, if a fix would remove what may be meant, or if it is no mixlist
    """
    numbers = line_numbers(source)
    document = scan(source.replaced(source.with_text(splice(source.text, numbers))))
    patch = syntax_patch(document)
    if patch and not is_mixlist(document.root, source.path):
        hint = "opsinfo changes a file only if it has a white-list, black-list or gray-list with to-add or to-remove"
        raise source.damaged("the syntax is to be fixed, but this is no mixlist", 0, hint)
    if document.tail is not None and not is_left_over(document.source.text, document.end):
        raise document.source.damaged("text after the end of the value may be meant", document.tail, MOVE_TAIL)
    if numbers:
        return Patch(
            source.sha256, tuple(edits_between(source.text, splice(document.source.text, patch.edits))), source.bom
        )
    return patch
