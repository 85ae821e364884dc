"""The engine's checks of a library entry on loading.

Structure (objects of objects of strings) is checked in every file; the rest only of the entries that win in their
store, because the engine builds kernels from those alone (sub_op_info_store.cc:124-209).

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/op_kernel_info_constructor.cc
- compiler/engines/nn_engine/opskernel/ops_store/sub_op_info_store.cc
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from .c_numbers import is_float, long_or_none
from .load_fault import LoadFault, Sections, case_variants
from .policy import BLANKS, folded
from .tensor_faults import NamedTensor, TensorKey, crash_faults, tensor_faults, tensor_key
from .vocabulary import ATTR_TYPES, ENUMERATIONS, KNOWN_SECTIONS, Enumeration

if TYPE_CHECKING:
    from typing import Any


def structure_faults(entry: Any) -> Iterator[LoadFault]:
    """Yield faults of an entry that is not an object of objects of strings."""
    if not isinstance(entry, dict):
        yield LoadFault("wrong-type", None, None, "an operator's entry must be an object")
        return
    for section, content in entry.items():
        if not isinstance(content, dict):
            yield LoadFault("wrong-type", section, None, f"section `{section}` must be an object")
            continue
        for key, value in content.items():
            if not isinstance(value, str):
                yield LoadFault("wrong-type", section, key, f"`{section}.{key}` must be a string")


def names_in(entries: Iterable[Sections]) -> set[str]:
    """Return all names of sections and keys of valid entries."""
    names: set[str] = set()
    for entry in entries:
        names.update(entry, *entry.values())
    return names


def trimmed(entry: Sections) -> Sections:
    """Return sections with trimmed names and keys; of names that become equal, the first in byte order."""
    sections: dict[str, dict[str, str]] = {}
    for name in sorted(entry):
        content: dict[str, str] = {}
        for key in sorted(entry[name]):
            content.setdefault(key.strip(BLANKS), entry[name][key])
        sections.setdefault(name.strip(BLANKS), content)
    return sections


def pattern_of(sections: Sections) -> str:
    """Return the op pattern, case folded; `dynamicFormat.flag` overrides `op.pattern`.

    Source: op_kernel_info_constructor.cc:114-118
    """
    if folded(_value(sections, "dynamicFormat", "flag")) == "true":
        return "dynamic"
    return folded(_value(sections, "op", "pattern"))


def build_faults(sections: Sections) -> list[LoadFault]:
    """Return faults that prevent the engine from building a kernel from (trimmed) sections, and unknown words."""
    faults: list[LoadFault] = []
    tensors: list[NamedTensor] = []
    for name, content in sections.items():
        role = role_of(name)
        if role is None:
            continue
        if isinstance(role, Enumeration):
            value = content.get(role.key)
            if value is not None and value not in role.words:
                faults += enumeration_faults(name, role, value)
        elif isinstance(role, LoadFault):
            faults.append(role)
        else:
            tensors.append((role, name, content))
    pattern = pattern_of(sections)
    tensors.sort()
    faults += tensor_faults(tensors, pattern)
    if pattern == "formatagnostic":
        if [key[0] for key, _, _ in tensors] != [0, 1]:
            faults.append(_not_one_each(tensors))
        elif not any(fault.refuses for fault in faults):
            faults += crash_faults(tensors, folded(_value(sections, "dynamicShapeSupport", "flag")) == "true")
    if "attr" in sections:
        faults += _attr_faults(sections)
    if "fallback" in sections:
        faults += _fallback_faults(sections["fallback"])
    return faults


@lru_cache(maxsize=1 << 12)
def role_of(section: str) -> Enumeration | TensorKey | LoadFault | None:
    """Return the kind of a section by its name: an enumeration, a tensor, a misspelling; None if unchecked."""
    if section.startswith("attr_"):
        return None
    if section in ENUMERATIONS:
        return ENUMERATIONS[section]
    key = tensor_key(section)
    if key or section in KNOWN_SECTIONS:
        return key
    meant = _near_section(section)
    if meant is None:
        return None
    return LoadFault(
        "unknown-section", section, None, f"unknown section `{section}`: the engine ignores it", near=(meant,)
    )


def _not_one_each(tensors: list[NamedTensor]) -> LoadFault:
    inputs = sum(key[0] == 0 for key, _, _ in tensors)
    said = f"a formatAgnostic operator must have one input and one output, not {inputs} and {len(tensors) - inputs}"
    return LoadFault("column-mismatch", "op", "pattern", said)


def _value(sections: Sections, section: str, key: str) -> str:
    return sections.get(section, {}).get(key, "").strip(BLANKS)


def enumeration_faults(section: str, enumeration: Enumeration, value: str) -> Iterator[LoadFault]:
    key, words = enumeration
    word = folded(value.strip(BLANKS))
    if word and word not in words:
        name = "bad-flag" if section == "precision_reduce" else "bad-value"
        near = tuple(sorted(words)) if len(words) < 4 else ()
        yield LoadFault(name, section, key, f"`{section}.{key}` is `{value}`, which the engine refuses", near=near)


def _near_section(name: str) -> str | None:
    """Return the section that a misspelt one means, ignoring case, signs and a plural."""
    letters = _letters(name)
    if letters in ("input", "output", "inputs", "outputs"):
        return letters.removesuffix("s") + "0"
    return _by_letters().get(letters) or _by_letters().get(letters.removesuffix("s"))


@lru_cache(maxsize=1)
def _by_letters() -> dict[str, str]:
    return {_letters(each): each for each in KNOWN_SECTIONS}


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _attr_faults(sections: Sections) -> Iterator[LoadFault]:
    """Yield faults of attributes; only those in ``attr.list`` are read (op_kernel_info_constructor.cc:1261-1327)."""
    listed = _value(sections, "attr", "list")
    for index, word in enumerate(listed.split(",") if listed else ()):
        section = "attr_" + word.strip(BLANKS)
        content = sections.get(section)
        if content is None:
            said = f"`attr.list` has `{word.strip(BLANKS)}`, but there is no section `{section}`"
            yield LoadFault("bad-value", "attr", "list", said, token=index)
            continue
        get = content.get
        for fault in attribute_faults(get("type"), get("value"), get("paramType"), get("defaultValue")):
            yield fault._replace(section=section)


def attribute_faults(
    type_: str | None, value: str | None, param_type: str | None, default: str | None
) -> tuple[LoadFault, ...]:
    """Return faults of values read as numbers; the engine warns about a scalar's default, and fails on a list's."""
    needed = {"type": type_, "value": value}
    missing = [
        LoadFault("bad-value", "", None if text is None else key, f"an attribute requires a `{key}`")
        for key, text in needed.items()
        if not (text or "").strip(BLANKS)
    ]
    kind = (type_ or "").strip(BLANKS)
    required = (param_type or "").strip(BLANKS)
    if not kind or not required:
        return tuple(missing)
    if kind not in ATTR_TYPES:
        near = case_variants(kind, ATTR_TYPES)
        return (*missing, LoadFault("unknown-value", "", "type", f"`{kind}` is not an attribute type", near=near))
    is_number = _NUMBERS.get(kind.removeprefix("list").removeprefix("List").lower())
    checked = {"value": value or ""}
    if kind.startswith("list") and required != "required":
        checked["defaultValue"] = default or ""
    return (
        *missing,
        *(
            LoadFault("bad-value", "", key, f"`{item}` is not a value of type `{kind}`")
            for key, text in checked.items()
            if is_number and text.strip(BLANKS) != "all"
            for item in _items(kind, text.strip(BLANKS))
            if not is_number(item)
        ),
    )


_NUMBERS: dict[str, Callable[[str], bool]] = {"int": lambda item: long_or_none(item) is not None, "float": is_float}


def _items(kind: str, text: str) -> list[str]:
    """Return the numbers of a value, split as in the engine.

    A list may be empty: brackets are dropped, and no text between two `;` or `],` is an empty list. A scalar is not
    split at `;`. Source: hicann/ge ffdcbc9f, compiler/engines/nn_engine/opskernel/ops_store/
    op_kernel_info_constructor.cc:640-722, 1010-1085.
    """
    if not kind.startswith("list"):
        return text.split(",") if text else []
    lists = text.split(";")
    if kind == "listListInt":
        lists = [each for part in lists for each in (part + "],").split("],")[:-1]]
    plain = (each.replace("[", "").replace("]", "") for each in lists)
    return [item for each in plain if each for item in each.split(",")]


def _fallback_faults(content: Mapping[str, str]) -> Iterator[LoadFault]:
    for key in ("enable", "unknownshape_enable"):
        for index, word in enumerate(content.get(key, "").split(",")):
            if word.strip(BLANKS) not in ("", "1", "0"):
                said = f"`fallback.{key}` must be a list of `1` and `0`, not `{word}`"
                near = _MEANT_FALLBACK.get(word.strip(BLANKS).lower(), ())
                yield LoadFault("bad-value", "fallback", key, said, token=index, near=near)


_MEANT_FALLBACK = {"true": ("1",), "false": ("0",)}
