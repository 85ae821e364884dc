"""What the engine asks of an operator's inputs and outputs: names, kinds, and columns that fit (engine.md 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from .load_fault import LoadFault, Sections, case_variants
from .policy import BLANKS, folded
from .vocabulary import DTYPES, FORMATS, PARAM_TYPES, RESERVED_FORMATS, TENSOR_SECTION, looks_like_dtype

__all__ = ["NamedTensor", "TensorKey", "forget_tensors", "tensor_faults", "tensor_key", "tensors_of"]


TensorKey: TypeAlias = tuple[int, int]
"""0 for an input, 1 for an output, with its number: the engine's order."""
NamedTensor: TypeAlias = "tuple[TensorKey, str, Mapping[str, str]]"
"""A tensor's key, the name of its section, and what that says."""


@lru_cache(maxsize=1 << 12)
def tensor_key(section: str) -> TensorKey | None:
    match = TENSOR_SECTION.fullmatch(section)
    return (0 if match[1] else 1, int(match[3] or -1)) if match else None


def tensors_of(sections: Sections) -> tuple[list[str], list[str]]:
    """Section names of inputs and outputs in the engine's numeric order."""
    found = sorted((key, name) for name in sections if (key := tensor_key(name)))
    return [name for (side, _), name in found if side == 0], [name for (side, _), name in found if side == 1]


def tensor_faults(tensors: list[NamedTensor], pattern: str) -> list[LoadFault]:
    """Faults of all tensors of an operator, in the engine's order."""
    faults: list[LoadFault] = []
    columns: int | None = None
    first = ""
    for _, section, content in tensors:
        get = content.get
        name = get("name")
        own, wrong = _tensor(
            pattern,
            get("dtype"),
            get("format"),
            get("unknownshape_format"),
            get("sub_format"),
            name and name.strip(BLANKS) and "named",
            get("paramType"),
            get("tuneformatSwitch"),
        )
        if wrong:
            faults += [fault._replace(section=section) for fault in wrong]
        if own == columns or own is None:
            continue
        if columns is None:
            columns, first = own, section
        else:
            said = f"`{section}` has {own} columns, `{first}` has {columns}"
            faults.append(LoadFault("column-mismatch", section, "dtype", said))
    return faults


@lru_cache(maxsize=1 << 13)
def _tensor(
    pattern: str,
    dtype: str | None,
    format_: str | None,
    unknown: str | None,
    sub_format: str | None,
    name: str | None,
    param_type: str | None,
    switch: str | None,
) -> tuple[int | None, tuple[LoadFault, ...]]:
    """The number of columns, where the engine counts them, and the faults. Few tensors of a library differ in these."""
    columns, wrong = _columns(pattern, dtype, format_, unknown)
    wrong = [*_others(name, param_type, switch), *wrong]
    if sub_format is not None and format_ is not None:
        wrong += _sub_format_faults(sub_format)
    return columns, tuple(wrong)


def forget_tensors() -> None:
    """Let go of the texts that were judged: a few thousand strings can hold on to the memory of a whole library."""
    for judged in (_tensor, _dtypes, _formats):
        judged.cache_clear()


def _bad(key: str | None, message: str, name: str = "bad-value", **more: Any) -> LoadFault:
    return LoadFault(name, "", key, message, **more)


def _others(name: str | None, param_type: str | None, switch: str | None) -> list[LoadFault]:
    """Faults of a tensor beside its columns."""
    faults = []
    if not name:
        faults.append(_bad(None if name is None else "name", "a tensor needs a `name`"))
    if (param_type or "").strip(BLANKS) not in PARAM_TYPES:
        said = "a tensor needs a `paramType`" if param_type is None else f"no `paramType` is called `{param_type}`"
        near = case_variants(param_type, PARAM_TYPES)
        faults.append(_bad(None if param_type is None else "paramType", said, near=near))
    if switch is not None and switch.strip(BLANKS) not in ("true", "false"):
        faults.append(_bad("tuneformatSwitch", f"`tuneformatSwitch` is `true` or `false`, not `{switch}`"))
    return faults


def _columns(
    pattern: str, dtype: str | None, format_: str | None, unknown: str | None
) -> tuple[int | None, list[LoadFault]]:
    """Count and check the columns (OKC:522-577, 765-995)."""
    if format_ is None and unknown is None and pattern in ("", "dynamic"):
        return None, []
    if dtype is None:
        return None, [_bad(None, "a `dtype` list is needed here")]
    count, all_known = _dtypes(dtype)
    faults = [] if all_known else list(_dtype_faults(dtype))
    for key, text in (("format", format_), ("unknownshape_format", unknown)):
        if text is None:
            continue
        own, all_known = _formats(text)
        if own != count:
            faults.append(_bad(key, f"{own} entries in `{key}`, {count} in `dtype`", "column-mismatch"))
        if not all_known:
            faults += _format_faults(key, text)
    return count, faults


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


def _dtype_faults(text: str) -> Iterator[LoadFault]:
    for index, word in enumerate(map(_trim, _parts(text))):
        if folded(word) in DTYPES:
            continue
        if looks_like_dtype(word):
            said = f"`{word}` is no dtype of the engine commit we know"
            yield _bad("dtype", said, "unknown-value", token=index)
        else:
            yield _bad("dtype", f"`{word}` is no dtype", token=index, near=_MEANT_DTYPE.get(word.lower(), ()))


_MEANT_DTYPE = {"bf16": ("bfloat16",), "fp16": ("float16",), "half": ("float16",), "fp32": ("float32",)}


def _format_faults(key: str, text: str) -> Iterator[LoadFault]:
    for index, word in enumerate(map(_trim, _parts(text))):
        name, colon, suffix = word.partition(":")
        if name in FORMATS and (not colon or suffix.isdigit()):
            continue
        meant = case_variants(name, FORMATS)
        if name in RESERVED_FORMATS or meant or not re.fullmatch(r"[A-Z][A-Za-z0-9_]*", name):
            yield _bad(key, f"`{word}` is no format", token=index, near=meant)
        else:
            said = f"`{word}` is no format of the engine commit we know"
            yield _bad(key, said, "unknown-value", token=index)


def _sub_format_faults(text: str) -> Iterator[LoadFault]:
    for index, word in enumerate(_parts(text)):
        number = re.match(r"\s*[+-]?[0-9]+", word)
        if not number or not 0 <= int(number.group()) <= 65535:
            yield _bad("sub_format", f"`{word}` is no number from 0 to 65535", token=index)


def _trim(word: str) -> str:
    return word.strip(BLANKS)
