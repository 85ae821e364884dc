"""What the engine asks of one entry of a library when it loads it (engine.md 4).

Structure (objects of objects of strings) is asked of every file; the rest only of the entries that win in their
store, because the engine builds kernels from those alone (SUB:124-209).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from .policy import BLANKS, folded
from .vocabulary import (
    ATTR_TYPES,
    DTYPES,
    ENUMERATIONS,
    FORMATS,
    KNOWN_SECTIONS,
    PARAM_TYPES,
    RESERVED_FORMATS,
    TENSOR_SECTION,
    looks_like_dtype,
)

__all__ = ["LoadFault", "Sections", "build_faults", "pattern_of", "structure_faults", "tensors_of", "trimmed"]

Sections = Mapping[str, Mapping[str, str]]


class LoadFault(NamedTuple):
    """Something wrong with an entry.

    :param name: the finding's name
    :param section: the section as written; None for the entry itself
    :param key: the key in the section as written; None for the section itself
    :param token: which part of a comma list, from 0; None for the whole value
    :param near: words the value may have meant
    """

    name: str
    section: str | None
    key: str | None
    message: str
    token: int | None = None
    near: tuple[str, ...] = ()

    @property
    def refuses(self) -> bool:
        return not self.name.startswith("unknown-")

    @property
    def hides_policies(self) -> bool:
        """Whether nothing can be said of a store with this fault.

        The counts of columns are the one rule that a library shipped with an older CANN breaks: such a store is read,
        and the doubt is said.
        """
        return self.refuses and self.name != "column-mismatch"


_STRINGS = {str}


def structure_faults(entry: Any) -> Iterator[LoadFault]:
    """Where an entry is not an object of objects of strings."""
    if not isinstance(entry, dict):
        yield LoadFault("wrong-type", None, None, "an operator's entry must be an object")
        return
    for section, content in entry.items():
        if not isinstance(content, dict):
            yield LoadFault("wrong-type", section, None, f"section `{section}` must be an object")
            continue
        if set(map(type, content.values())) <= _STRINGS:
            continue
        for key, value in content.items():
            if type(value) is not str:  # a number keeps its text in a subclass
                yield LoadFault("wrong-type", section, key, f"`{section}.{key}` must be a string")


def trimmed(entry: Sections) -> Sections:
    """Section names and keys without the blanks around them; of names that become equal the first in byte order."""
    if "".join([*entry, *chain.from_iterable(entry.values())]).isidentifier():
        return entry
    sections: dict[str, dict[str, str]] = {}
    for name in sorted(entry):
        content: dict[str, str] = {}
        for key in sorted(entry[name]):
            content.setdefault(key.strip(BLANKS), entry[name][key])
        sections.setdefault(name.strip(BLANKS), content)
    return sections


def pattern_of(sections: Sections) -> str:
    """The op pattern, case folded; `dynamicFormat.flag` overrides `op.pattern` (OKC:114-118)."""
    if folded(_value(sections, "dynamicFormat", "flag")) == "true":
        return "dynamic"
    return folded(_value(sections, "op", "pattern"))


def tensors_of(sections: Sections) -> tuple[list[str], list[str]]:
    """Section names of inputs and outputs in the engine's numeric order."""
    found = sorted((*_tensor_key(name), name) for name in sections if _tensor_key(name))
    return [name for side, _, name in found if side == 0], [name for side, _, name in found if side == 1]


@lru_cache(maxsize=1 << 12)
def _tensor_key(section: str) -> tuple[int, int] | tuple[()]:
    """0 for an input, 1 for an output, with its number; nothing for another section."""
    match = TENSOR_SECTION.fullmatch(section)
    return (0 if match[1] else 1, int(match[3] or -1)) if match else ()


def build_faults(sections: Sections) -> Iterator[LoadFault]:
    """Where the engine cannot build a kernel from (trimmed) sections, and what it would not know."""
    for name, content in sections.items():
        rule = ENUMERATIONS.get(name)
        if rule:
            yield from _enumeration_faults(name, rule.key, content.get(rule.key, ""), rule.words)
        elif name not in KNOWN_SECTIONS:
            yield from _unknown_section(name)
    pattern = pattern_of(sections)
    inputs, outputs = tensors_of(sections)
    yield from _tensor_faults(sections, [*inputs, *outputs], pattern)
    if pattern == "formatagnostic" and (len(inputs), len(outputs)) != (1, 1):
        said = f"a formatAgnostic operator has one input and one output, this one {len(inputs)} and {len(outputs)}"
        yield LoadFault("column-mismatch", "op", "pattern", said)
    yield from _attr_faults(sections)
    yield from _fallback_faults(sections.get("fallback", {}))


def _value(sections: Sections, section: str, key: str) -> str:
    return sections.get(section, {}).get(key, "").strip(BLANKS)


def _enumeration_faults(section: str, key: str, value: str, words: frozenset[str]) -> Iterator[LoadFault]:
    word = folded(value.strip(BLANKS))
    if word and word not in words:
        name = "bad-flag" if section == "precision_reduce" else "bad-value"
        near = tuple(sorted(words)) if len(words) < 4 else ()
        yield LoadFault(name, section, key, f"`{section}.{key}` is `{value}`, which fails the engine", near=near)


_FOLDED_SECTIONS = {re.sub(r"[^a-z]", "", name.lower()): name for name in KNOWN_SECTIONS}


def _unknown_section(name: str) -> Iterator[LoadFault]:
    if name.startswith("attr_") or _tensor_key(name):
        return
    folded = re.sub(r"[^a-z]", "", name.lower())
    meant = _FOLDED_SECTIONS.get(folded) or _FOLDED_SECTIONS.get(folded.removesuffix("s"))
    if not meant and folded in ("input", "output", "inputs", "outputs"):
        meant = folded.removesuffix("s") + "0"
    if meant:
        said = f"section `{name}` is not one the engine reads"
        yield LoadFault("unknown-section", name, None, said, near=(meant,))


def _tensor_faults(sections: Sections, tensors: list[str], pattern: str) -> Iterator[LoadFault]:
    columns: int | None = None
    first = ""
    for section in tensors:
        own, faults = _tensor(pattern, *map(sections[section].get, _TENSOR_KEYS))
        for fault in faults:
            yield fault._replace(section=section)
        if own is None:
            continue
        if columns is None:
            columns, first = own, section
        elif own != columns:
            said = f"`{section}` has {own} columns, `{first}` has {columns}"
            yield LoadFault("column-mismatch", section, "dtype", said)


_TENSOR_KEYS = ("name", "paramType", "dtype", "format", "unknownshape_format", "sub_format", "tuneformatSwitch")


@lru_cache(maxsize=1 << 15)
def _tensor(
    pattern: str,
    name: str | None,
    param_type: str | None,
    dtype: str | None,
    format_: str | None,
    unknown: str | None,
    sub_format: str | None,
    switch: str | None,
) -> tuple[int | None, tuple[LoadFault, ...]]:
    """The number of columns, where the engine counts them, and the faults. The same tensors come back often."""
    faults: list[LoadFault] = []

    def bad(key: str | None, message: str, finding: str = "bad-value", **more: Any) -> None:
        faults.append(LoadFault(finding, "", key, message, **more))

    if not (name or "").strip(BLANKS):
        bad("name" if name is not None else None, "a tensor needs a `name`")
    columns = _columns(bad, pattern, dtype, format_, unknown)
    if sub_format is not None and format_ is not None:
        _check_sub_formats(bad, sub_format)
    if (param_type or "").strip(BLANKS) not in PARAM_TYPES:
        said = "a tensor needs a `paramType`" if param_type is None else f"no `paramType` is called `{param_type}`"
        bad("paramType" if param_type is not None else None, said, near=_case_variants(param_type, PARAM_TYPES))
    if switch is not None and switch.strip(BLANKS) not in ("true", "false"):
        bad("tuneformatSwitch", f"`tuneformatSwitch` is `true` or `false`, not `{switch}`")
    return columns, tuple(faults)


def _columns(bad: Any, pattern: str, dtype: str | None, format_: str | None, unknown: str | None) -> int | None:
    """Count and check the columns (OKC:522-577, 765-995)."""
    listed = format_ is not None or unknown is not None
    if not listed and pattern in ("", "dynamic"):
        return None
    if dtype is None:
        bad(None, "a `dtype` list is needed here")
        return None
    words = folded(dtype.strip(BLANKS)).split(",") if dtype.strip(BLANKS) else []
    if not DTYPES.issuperset(words):
        for index, word in enumerate(dtype.strip(BLANKS).split(",")):
            _check_dtype(bad, index, word.strip(BLANKS))
    for key, text in (("format", format_), ("unknownshape_format", unknown)):
        if text is None:
            continue
        formats = text.strip(BLANKS).split(",") if text.strip(BLANKS) else []
        if len(formats) != len(words):
            said = f"{len(formats)} entries in `{key}`, {len(words)} in `dtype`"
            bad(key, said, "column-mismatch")
        for index, word in enumerate(() if FORMATS.issuperset(formats) else formats):
            _check_format(bad, key, index, word.strip(BLANKS))
    return len(words)


def _check_dtype(bad: Any, index: int, word: str) -> None:
    if folded(word) in DTYPES:
        return
    near = {"bf16": ("bfloat16",), "fp16": ("float16",), "half": ("float16",), "fp32": ("float32",)}
    meant = near.get(word.lower(), ())
    if looks_like_dtype(word):
        bad("dtype", f"`{word}` is no dtype of the engine commit we know", "unknown-value", token=index)
    else:
        bad("dtype", f"`{word}` is no dtype", token=index, near=meant)


def _check_format(bad: Any, key: str, index: int, word: str) -> None:
    name, colon, suffix = word.partition(":")
    if name in FORMATS and (not colon or suffix.isdigit()):
        return
    meant = _case_variants(name, FORMATS)
    if name in RESERVED_FORMATS or meant or not re.fullmatch(r"[A-Z][A-Za-z0-9_]*", name):
        bad(key, f"`{word}` is no format", token=index, near=meant)
    else:
        bad(key, f"`{word}` is no format of the engine commit we know", "unknown-value", token=index)


def _check_sub_formats(bad: Any, text: str) -> None:
    for index, word in enumerate(text.strip(BLANKS).split(",") if text.strip(BLANKS) else []):
        number = re.match(r"\s*[+-]?[0-9]+", word)
        if not number or not 0 <= int(number.group()) <= 65535:
            bad("sub_format", f"`{word}` is no number from 0 to 65535", token=index)


def _case_variants(word: str | None, words: frozenset[str]) -> tuple[str, ...]:
    return tuple(each for each in sorted(words) if word is not None and each.lower() == word.strip(BLANKS).lower())


_INTEGER = re.compile(r"\s*[+-]?[0-9]+")
_REAL = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+|0[xX][0-9a-fA-F]+|inf|nan)", re.IGNORECASE)


def _attr_faults(sections: Sections) -> Iterator[LoadFault]:
    """Only attributes named in ``attr.list`` are looked at (OKC:1261-1327)."""
    listed = sections.get("attr", {}).get("list", "")
    for index, word in enumerate(listed.split(",") if listed.strip(BLANKS) else []):
        section = "attr_" + word.strip(BLANKS)
        content = sections.get(section)
        if content is None:
            said = f"`attr.list` names `{word.strip(BLANKS)}`, but there is no section `{section}`"
            yield LoadFault("bad-value", "attr", "list", said, token=index)
            continue
        for key in ("type", "value"):
            if not content.get(key, "").strip(BLANKS):
                yield LoadFault("bad-value", section, key if key in content else None, f"`{section}` needs a `{key}`")
        if content.get("paramType", "").strip(BLANKS):
            yield from _attr_value_faults(section, content)


def _attr_value_faults(section: str, content: Mapping[str, str]) -> Iterator[LoadFault]:
    kind = content.get("type", "").strip(BLANKS)
    value = content.get("value", "").strip(BLANKS)
    if kind not in ATTR_TYPES:
        if kind:
            near = _case_variants(kind, ATTR_TYPES)
            yield LoadFault("unknown-value", section, "type", f"`{kind}` is no attribute type", near=near)
        return
    number = {"int": _INTEGER, "float": _REAL}.get(kind.removeprefix("list").removeprefix("List").lower())
    if number is None:
        return
    checked = [("value", value)] if value != "all" else []
    if kind.startswith("list") and content["paramType"].strip(BLANKS) != "required":
        checked.append(("defaultValue", content.get("defaultValue", "").strip(BLANKS)))
    for key, text in checked:
        items = re.sub(r"[\[\]]", "", text) if kind.startswith("list") else text
        for item in re.split(r"[,;]", items) if items else ():
            if not number.match(item):
                yield LoadFault("bad-value", section, key, f"`{item}` in `{section}.{key}` is no {kind} value")
                break


def _fallback_faults(content: Mapping[str, str]) -> Iterator[LoadFault]:
    for key in ("enable", "unknownshape_enable"):
        for index, word in enumerate(content.get(key, "").split(",")):
            if word.strip(BLANKS) not in ("", "true", "false"):
                said = f"`fallback.{key}` is a list of `true` and `false`, not `{word}`"
                yield LoadFault("bad-value", "fallback", key, said, token=index)
