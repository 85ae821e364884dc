"""What the choice of dtypes reads from an entry, in the short form that a snapshot keeps.

Columns that several tensors share are kept once, under a key made from their text. The key does not depend on the other
columns, so the difference of two snapshots shows only what changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from .entry_faults import pattern_of
from .policy import BLANKS, folded
from .tensor_faults import comma_list, tensor_key, tensors_of
from .vocabulary import PARAM_TYPES

if TYPE_CHECKING:
    from typing import Any

    from .load_fault import Sections

NULL_FILES = ("Null", "AICore_Null")
"""``opFile`` of an operator without a kernel file."""
FLAGS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "dynamicShapeSupport": ("dynamicShapeSupport", "flag", ("true",)),
    "dynamicRankSupport": ("dynamicRankSupport", "flag", ("true", "upgrade_to_dynamic_rank")),
    "dynamicCompileStatic": ("dynamicCompileStatic", "flag", ("true", "tune")),
    "heavyOp": ("heavyOp", "flag", ("true",)),
}
"""Flag of a snapshot -> section, key and the values that set it."""
OP_FILE_NULL = "opFileNull"
CONST = "const"
"""The word of a tensor whose value must be known at compile time (``valueDepend`` required)."""
USUAL_PARAM_TYPE = "required"
MOST_COLUMNS = 1 << 16
"""Columns of one tensor in a snapshot; no library comes near."""
_KEY_LENGTH = 4
_RUN = re.compile(r"(.*)\*([1-9][0-9]{0,3})", re.DOTALL)


class ColumnSet(NamedTuple):
    """The columns of one tensor: comma lists in the library's order; None if the library has no such key."""

    dtype: str | None
    format: str | None
    unknownshape_format: str | None

    def document(self) -> dict[str, str]:
        """As a snapshot keeps it: equal neighbours once, with their number."""
        return {key: _short(text) for key, text in zip(self._fields, self, strict=True) if text is not None}


def column_set_of(document: Mapping[str, str]) -> ColumnSet:
    """The inverse of :meth:`ColumnSet.document`."""
    return ColumnSet(*(_long(document[key]) if key in document else None for key in ColumnSet._fields))


def columns_in(text: str) -> int:
    """The number of columns of a short list, without writing it out."""
    return sum(int(run[2]) if (run := _RUN.fullmatch(word)) else 1 for word in text.split(","))


def column_sets_of(sections: Sections) -> dict[str, ColumnSet]:
    """The columns of every tensor, by its section."""
    return {name: _columns(sections[name]) for side in tensors_of(sections) for name in side}


def keyed(sets: Iterable[ColumnSet]) -> dict[ColumnSet, str]:
    """The key of each set: the first characters of its hash that no other has."""
    from base64 import b32encode
    from hashlib import sha256

    digests = {each: b32encode(sha256(repr(tuple(each)).encode()).digest()).decode().lower() for each in sets}
    ordered = sorted(digests.items(), key=lambda pair: pair[1])
    keys = {}
    for index, (each, digest) in enumerate(ordered):
        near = [other for _, other in ordered[max(index - 1, 0) : index + 2] if other != digest]
        length = max((_common(digest, other) + 1 for other in near), default=0)
        keys[each] = digest[: max(length, _KEY_LENGTH)]
    return keys


def kernel_document(sections: Sections, keys: Mapping[ColumnSet, str]) -> dict[str, Any]:
    """An entry's sections as the facts of a snapshot."""
    document: dict[str, Any] = {}
    if pattern := pattern_of(sections):
        document["pattern"] = pattern
    flags = [name for name, (section, key, values) in FLAGS.items() if _value(sections, section, key) in values]
    if sections.get("opFile", {}).get("value", "").strip(BLANKS) in NULL_FILES:
        flags.append(OP_FILE_NULL)
    if flags:
        document["flags"] = flags
    if promotes := sections.get("promoteType", {}).get("value", "").strip(BLANKS):
        document["promote_type"] = promotes
    for side, names in zip(("inputs", "outputs"), tensors_of(sections), strict=True):
        tensors = [_tensor(name, sections[name], f"{side[:-1]}{at}", keys) for at, name in enumerate(names)]
        if tensors:
            document[side] = tensors
    return document


def sections_of(document: Mapping[str, Any], sets: Mapping[str, ColumnSet]) -> Sections:
    """The inverse of :func:`kernel_document`: sections with which an entry gives the same choices."""
    sections: dict[str, dict[str, str]] = {}
    if "pattern" in document:
        sections["op"] = {"pattern": document["pattern"]}
    for flag in document.get("flags", ()):
        if flag == OP_FILE_NULL:
            sections["opFile"] = {"value": NULL_FILES[0]}
        elif flag in FLAGS:
            section, key, values = FLAGS[flag]
            sections[section] = {key: values[0]}
    if "promote_type" in document:
        sections["promoteType"] = {"value": document["promote_type"]}
    for side in ("inputs", "outputs"):
        for at, (name, key, *words) in enumerate(document.get(side, ())):
            param_type = next((word for word in words if word in PARAM_TYPES), USUAL_PARAM_TYPE)
            content = {"name": name, "paramType": param_type, **(sets[key]._asdict() if key else {})}
            if CONST in words:
                content["valueDepend"] = "required"
            section = next((word for word in words if tensor_key(word)), f"{side[:-1]}{at}")
            sections[section] = {each: text for each, text in content.items() if text is not None}
    return sections


def _tensor(section: str, content: Mapping[str, str], usual: str, keys: Mapping[ColumnSet, str]) -> list[str]:
    """Name and key of the columns, then words: the paramType unless it is required, ``const``, an unusual section."""
    columns = _columns(content)
    name, param_type = (content.get(key, "").strip(BLANKS) for key in ("name", "paramType"))
    words = [param_type] if param_type != USUAL_PARAM_TYPE else []
    if content.get("valueDepend", "").strip(BLANKS) == "required":
        words.append(CONST)
    if section != usual:
        words.append(section)
    return [name, keys[columns] if any(text is not None for text in columns) else "", *words]


def _columns(content: Mapping[str, str]) -> ColumnSet:
    def words(key: str, change: Any) -> str | None:
        return ",".join(change(word.strip(BLANKS)) for word in comma_list(content[key])) if key in content else None

    formats = [words(key, lambda word: word.partition(":")[0]) for key in ("format", "unknownshape_format")]
    return ColumnSet(words("dtype", folded), *formats)


def _value(sections: Sections, section: str, key: str) -> str:
    return folded(sections.get(section, {}).get(key, "").strip(BLANKS))


def _common(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    return next((at for at, (one, other) in enumerate(zip(left, right, strict=True)) if one != other), len(left))


def _short(text: str) -> str:
    """``float16,float16,float`` as ``float16*2,float``."""
    runs = [(word, len([*run])) for word, run in groupby(text.split(","))]
    return ",".join(word if count == 1 else f"{word}*{count}" for word, count in runs)


def _long(text: str) -> str:
    words: list[str] = []
    for word in text.split(","):
        run = _RUN.fullmatch(word)
        words += [run[1]] * int(run[2]) if run else [word]
    return ",".join(words)
