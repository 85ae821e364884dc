"""The kind of a file, library, mixlist or snapshot, by its content and its name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..text.json_values import Members, value_of
from ..text.source import Source
from .library_file import members_of
from .policy import PRECISION
from .vocabulary import KNOWN_SECTIONS, TENSOR_SECTION

if TYPE_CHECKING:
    from typing import Any

    from ..text.document import Document
    from ..text.json_values import RawMember

_LIBRARY_NAME = r"(?:aic-.*ops-info|vector_core_tbe_ops_info|dsa-.*-ops-info).*\.json"
_IN_STORE = r"/(?:tbe|dsa_core)/config(?:/[^/]+)?/[^/]+\.json"
MIXLIST_NAME = r"(?!.*\.(?:opsinfo|schema)\.json$)(?:ops_info.*|.*ops_info|.*mix_?list.*)\.json"
"""Names of mixlists, in any case: `ops_info*.json`, `*ops_info.json`, `*mixlist*.json`, `*mix_list*.json`."""
SNAPSHOT = "opsinfo-snapshot"
_SAYS_SNAPSHOT = r'\s*\{\s*"kind"\s*:\s*"opsinfo-snapshot"'
_FIRST_KEY = r'"((?:[^"\\]|\\.)*)"\s*:'


def is_library_name(path: str) -> bool:
    """Return whether a path is a library's: by its name, or because it is in a store's config directory."""
    return bool(
        re.fullmatch(_LIBRARY_NAME, os.path.basename(path), re.DOTALL) or re.search(_IN_STORE, os.path.abspath(path))
    )


def is_mixlist_name(path: str) -> bool:
    """Return whether a name is a mixlist's and not a library's."""
    name = os.path.basename(path)
    return bool(re.fullmatch(MIXLIST_NAME, name, re.DOTALL | re.IGNORECASE)) and not is_library_name(path)


def kind_of(source: Source) -> str | None:
    """Return ``library``, ``mixlist`` or ``snapshot``; None if neither the text nor the name shows it."""
    return kind_in(source, members_of(source))


def kind_in(source: Source, outcome: Members | Document) -> str | None:
    """As :func:`kind_of`, for a parsed text."""
    if not isinstance(outcome, Members) or outcome.members is None:
        return _kind_of_broken(source)
    content = _Content(source.text, outcome.members)
    if content.is_of_snapshot:
        return "snapshot"
    if _has_mixlist_key(content, outcome.names) or (outcome.names is None and any(map(_holds_list, content.values()))):
        return "mixlist"
    if is_library_name(source.path) or _looks_like_library(content.values()):
        return "library"
    return None if outcome.members and not is_mixlist_name(source.path) else "mixlist"


def is_marked(source: Source, outcome: Members | Document | None = None) -> bool:
    """Return whether a file on a walk is recognisably a mixlist or a library.

    By its keys or its name; arrays alone are not enough, because JSON of other tools has them too.
    """
    outcome = outcome or members_of(source)
    if not isinstance(outcome, Members) or outcome.members is None:
        return _kind_of_broken(source) in ("library", "mixlist") and bool(source.text.strip())
    content = _Content(source.text, outcome.members)
    if content.is_of_snapshot:
        return False
    return _has_mixlist_key(content, outcome.names) or _looks_like_library(content.values())


def _holds_list(value: Any) -> bool:
    if isinstance(value, dict):
        return list in map(type, value.values())
    return isinstance(value, list)


class _Content:
    """The root object of a file, of equal keys the last one."""

    def __init__(self, text: str, members: list[RawMember]) -> None:
        self.text = text
        self.members = {member.key: member for member in members}

    @property
    def is_of_snapshot(self) -> bool:
        kind = self.members.get("kind")
        return kind is not None and kind.value == SNAPSHOT

    def values(self) -> Iterator[Any]:
        """Yield the values; those that were not kept are read again one by one."""
        return (value_of(self.text, member) for member in self.members.values())


def _has_mixlist_key(content: _Content, names: frozenset[str] | None) -> bool:
    """:param names: all keys of the second and third level, if known"""
    if any(key.endswith("list") for key in content.members):
        return True
    if names is not None and not any(name.startswith(("to-", "to_")) for name in names):
        return False
    return any(key.startswith(("to-", "to_")) for value in content.values() if isinstance(value, dict) for key in value)


def _looks_like_library(entries: Iterable[Any]) -> bool:
    for entry in entries:
        for section, content in entry.items() if isinstance(entry, dict) else ():
            if isinstance(content, dict) and (section == PRECISION or TENSOR_SECTION.fullmatch(section)):
                return True
    return False


def _kind_of_broken(source: Source) -> str | None:
    if re.match(_SAYS_SNAPSHOT, source.text):
        return "snapshot"
    if is_library_name(source.path):
        return "library"
    if is_mixlist_name(source.path):
        return "mixlist"
    for match in list(re.finditer(_FIRST_KEY, source.text))[:3]:
        key = match[1]
        if key.endswith("list") or key.startswith(("to-", "to_")):
            return "mixlist"
        if key in KNOWN_SECTIONS or TENSOR_SECTION.fullmatch(key):
            return "library"
    return None
