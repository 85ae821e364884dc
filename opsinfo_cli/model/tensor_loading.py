"""What the engine asks of an operator's inputs and outputs: names, kinds, and columns that fit (engine.md 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from .load_fault import LoadFault, Sections, case_variants
from .policy import BLANKS, folded
from .vocabulary import DTYPES, FORMATS, PARAM_TYPES, RESERVED_FORMATS, TENSOR_SECTION, looks_like_dtype

__all__ = ["is_tensor", "tensor_faults", "tensors_of"]


def is_tensor(section: str) -> bool:
    return bool(_tensor_key(section))


def tensors_of(sections: Sections) -> tuple[list[str], list[str]]:
    """Section names of inputs and outputs in the engine's numeric order."""
    found = sorted((*_tensor_key(name), name) for name in sections if _tensor_key(name))
    return [name for side, _, name in found if side == 0], [name for side, _, name in found if side == 1]


@lru_cache(maxsize=1 << 12)
def _tensor_key(section: str) -> tuple[int, int] | tuple[()]:
    """0 for an input, 1 for an output, with its number; nothing for another section."""
    match = TENSOR_SECTION.fullmatch(section)
    return (0 if match[1] else 1, int(match[3] or -1)) if match else ()


def tensor_faults(sections: Sections, tensors: list[str], pattern: str) -> Iterator[LoadFault]:
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
        bad("paramType" if param_type is not None else None, said, near=case_variants(param_type, PARAM_TYPES))
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
    count, all_known = _dtypes(dtype)
    for index, word in enumerate(() if all_known else _parts(dtype)):
        _check_dtype(bad, index, word.strip(BLANKS))
    for key, text in (("format", format_), ("unknownshape_format", unknown)):
        if text is None:
            continue
        own, all_known = _formats(text)
        if own != count:
            bad(key, f"{own} entries in `{key}`, {count} in `dtype`", "column-mismatch")
        for index, word in enumerate(() if all_known else _parts(text)):
            _check_format(bad, key, index, word.strip(BLANKS))
    return count


def _parts(text: str) -> list[str]:
    """A comma list as the engine splits it: of blanks alone, nothing."""
    return text.strip(BLANKS).split(",") if text.strip(BLANKS) else []


@lru_cache(maxsize=1 << 13)
def _dtypes(text: str) -> tuple[int, bool]:
    """How many dtypes a list has, and whether all are known as they stand."""
    words = _parts(folded(text))
    return len(words), DTYPES.issuperset(words)


@lru_cache(maxsize=1 << 13)
def _formats(text: str) -> tuple[int, bool]:
    words = _parts(text)
    return len(words), FORMATS.issuperset(words)


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
    meant = case_variants(name, FORMATS)
    if name in RESERVED_FORMATS or meant or not re.fullmatch(r"[A-Z][A-Za-z0-9_]*", name):
        bad(key, f"`{word}` is no format", token=index, near=meant)
    else:
        bad(key, f"`{word}` is no format of the engine commit we know", "unknown-value", token=index)


def _check_sub_formats(bad: Any, text: str) -> None:
    for index, word in enumerate(_parts(text)):
        number = re.match(r"\s*[+-]?[0-9]+", word)
        if not number or not 0 <= int(number.group()) <= 65535:
            bad("sub_format", f"`{word}` is no number from 0 to 65535", token=index)
