"""A quick check of an entry without faults, because listings need the policy of every entry.

An entry that does not pass may still be without faults: see :func:`.entry_faults.build_faults`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from .entry_faults import attribute_faults, build_faults, enumeration_faults, pattern_of, role_of
from .load_fault import LoadFault, Sections
from .policy import BLANKS, PRECISION, Policy, folded
from .tensor_faults import UNCOUNTED, comma_list, sub_format_faults
from .vocabulary import DTYPES, FORMATS, PARAM_TYPES, Enumeration

if TYPE_CHECKING:
    from typing import Any

_FEW = 1 << 13
"""The most texts in the cache; a real library needs a tenth."""


class _Memory(dict["Any", "Any"]):
    """A cache of a function's results for the few texts that libraries repeat."""

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        self.ask = ask

    def __missing__(self, text: Any) -> Any:
        if len(self) >= _FEW:
            self.clear()
        self[text] = answer = self.ask(text)
        return answer


_UNCLEAR = -1
"""Stands for an unknown number of columns."""


def _count_dtypes(text: str | None) -> int:
    return _UNCLEAR if text is None else _count(folded(text), DTYPES)


def _count_formats(text: str) -> int:
    return _count(text, FORMATS)


def _count(text: str, known: frozenset[str]) -> int:
    words = comma_list(text)
    is_known = known.issuperset(words) or known.issuperset(word.strip(BLANKS) for word in words)
    return len(words) if is_known else _UNCLEAR


def _kind(section: str) -> Any:
    """Return the kind of a section: tensor (True), enumeration (key, judge), unclear (False), or ignored."""
    role = role_of(section)
    if isinstance(role, Enumeration):
        return role.key, _Memory(lambda value: value is None or not any(enumeration_faults(section, role, value)))
    return role and not isinstance(role, LoadFault)


def _learned(section: str) -> Any:
    if len(_kinds) >= _FEW:
        _kinds.clear()
    _kinds[section] = kind = _kind(section)
    return kind


_kinds: dict[str, Any] = {}
_dtypes = _Memory(_count_dtypes)
_formats = _Memory(_count_formats)
_sub_formats = _Memory(lambda text: not any(sub_format_faults(text)))
_attributes = _Memory(lambda values: not attribute_faults(*values))
_SCALARS = frozenset(["int", "float", "bool", "str"])


def forget_texts() -> None:
    """Clear the cache: a few thousand texts can keep the memory of a whole library in use."""
    for memory in (_kinds, _dtypes, _formats, _sub_formats, _attributes):
        memory.clear()


def policy_if_clear(sections: Sections) -> Policy | None:
    """Return the policy of (trimmed) sections that have no faults; None if that requires a full check."""
    tensors = []
    known = _kinds  # not cached: it is needed most often, and a plain dict is faster
    for section, content in sections.items():
        try:
            kind = known[section]
        except KeyError:
            kind = _learned(section)
        if kind is None:
            continue
        if kind is True:
            tensors.append(content)
        elif not kind or not kind[1][content.get(kind[0])]:
            return None
    pattern = ""
    if "op" in sections or "dynamicFormat" in sections:
        pattern = pattern_of(sections)
        if pattern == "formatagnostic" and not _is_alike_pair(tensors, sections) and build_faults(sections):
            return None
    if not _are_clear(tensors, pattern):
        return None
    if "fallback" in sections or ("attr" in sections and not _has_clear_attributes(sections)):
        return None
    return _GRAY if PRECISION not in sections else Policy.of(sections)


_GRAY = Policy.GRAY


def _is_alike_pair(tensors: list[Mapping[str, str]], sections: Sections) -> bool:
    """Return whether the tensors are one input and one output with equal lists, as of most formatAgnostic operators."""
    if len(tensors) != 2 or "input0" not in sections or "output0" not in sections:
        return False
    first, second = tensors
    return all(first.get(key) == second.get(key) for key in ("dtype", "format", "unknownshape_format"))


def _are_clear(tensors: Iterable[Mapping[str, str]], pattern: str) -> bool:
    columns = before = None
    for content in tensors:
        try:  # subscripts take half the time of `get`
            name, param_type = content["name"], content["paramType"]
        except KeyError:
            return False
        # a name above "!" begins with neither a blank nor a control character
        if name <= "!" or param_type not in PARAM_TYPES or "tuneformatSwitch" in content:
            return False
        if "sub_format" in content and not _sub_formats[content["sub_format"]]:
            return False
        get = content.get
        lists = get("dtype"), get("format"), get("unknownshape_format")
        if lists == before:
            continue
        dtype, format_, unknown = before = lists
        if format_ is None and unknown is None and pattern in UNCOUNTED:
            continue
        count = _dtypes[dtype]
        if (format_ and _formats[format_] != count) or (unknown and _formats[unknown] != count):
            return False
        if count == _UNCLEAR or (columns is not None and columns != count) or "" in lists:
            return False
        columns = count
    return True


def _has_clear_attributes(sections: Sections) -> bool:
    listed = sections["attr"].get("list")
    for name in listed.split(",") if listed else ():
        content = sections.get("attr_" + name)
        if content is None:
            return False
        get = content.get
        type_, value = get("type"), get("value")
        default = None
        if type_ not in _SCALARS:
            default = get("defaultValue")  # only that of a list is read as numbers
        elif value == "all":
            continue  # a scalar of any value has no faults
        if not _attributes[type_, value, get("paramType"), default]:
            return False
    return True
