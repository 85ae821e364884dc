"""The engine's checks of an operator's inputs and outputs: names, kinds, and matching columns.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/op_kernel_info_constructor.cc
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from .c_numbers import long_or_none, saturated
from .load_fault import LoadFault, Sections, case_variants
from .policy import BLANKS, folded
from .vocabulary import DTYPES, FORMATS, PARAM_TYPES, RESERVED_FORMATS, TENSOR_SECTION, looks_like_dtype

if TYPE_CHECKING:
    from typing import Any, TypeAlias

TensorKey: TypeAlias = tuple[int, int]
"""(0 for an input or 1 for an output, number): the engine's order."""
UNCOUNTED = frozenset(["", "dynamic"])
"""Op patterns for which a tensor without formats needs no columns."""
NamedTensor: TypeAlias = "tuple[TensorKey, str, Mapping[str, str]]"
"""A tensor's key, the name of its section, and its content."""


@lru_cache(maxsize=1 << 12)
def tensor_key(section: str) -> TensorKey | None:
    match = TENSOR_SECTION.fullmatch(section)
    return (0 if match[1] else 1, saturated(match[3]) if match[3] else -1) if match else None


def tensors_of(sections: Sections) -> tuple[list[str], list[str]]:
    """Return section names of inputs and outputs in the engine's numeric order."""
    found = sorted((key, name) for name in sections if (key := tensor_key(name)))
    return [name for (side, _), name in found if side == 0], [name for (side, _), name in found if side == 1]


def tensor_faults(tensors: list[NamedTensor], pattern: str) -> list[LoadFault]:
    """Return faults of all tensors of an operator, in the engine's order."""
    faults: list[LoadFault] = []
    columns: int | None = None
    first = ""
    for _, section, content in tensors:
        own, wrong = _tensor(pattern, content)
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


def _tensor(pattern: str, content: Mapping[str, str]) -> tuple[int | None, list[LoadFault]]:
    """Return the number of columns, None if the engine does not count them, and the faults."""
    columns, wrong = _columns(pattern, content)
    wrong = [*_others(content), *wrong]
    if "sub_format" in content and "format" in content:
        wrong += sub_format_faults(content["sub_format"])
    return columns, wrong


def _bad(key: str | None, message: str, name: str = "bad-value", **more: Any) -> LoadFault:
    return LoadFault(name, "", key, message, **more)


def _others(content: Mapping[str, str]) -> list[LoadFault]:
    """Return faults of a tensor outside its columns."""
    faults = []
    name, param_type, switch = map(content.get, ("name", "paramType", "tuneformatSwitch"))
    if not (name or "").strip(BLANKS):
        faults.append(_bad(None if name is None else "name", "a tensor requires a `name`"))
    if (param_type or "").strip(BLANKS) not in PARAM_TYPES:
        said = "a tensor requires a `paramType`" if param_type is None else f"unknown `paramType` `{param_type}`"
        near = case_variants(param_type, PARAM_TYPES)
        faults.append(_bad(None if param_type is None else "paramType", said, near=near))
    if switch is not None and switch.strip(BLANKS) not in ("true", "false"):
        faults.append(_bad("tuneformatSwitch", f"`tuneformatSwitch` must be `true` or `false`, not `{switch}`"))
    return faults


def _columns(pattern: str, content: Mapping[str, str]) -> tuple[int | None, list[LoadFault]]:
    """Count and check the columns (op_kernel_info_constructor.cc:522-577, 765-995)."""
    listed = [(key, content[key]) for key in ("format", "unknownshape_format") if key in content]
    if not listed and pattern in UNCOUNTED:
        return None, []
    dtype = content.get("dtype")
    if dtype is None:
        return None, [_bad(None, "a `dtype` list is required here")]
    count = len(comma_list(dtype))
    faults = list(_dtype_faults(dtype, _unread(content)))
    for key, text in listed:
        own = len(comma_list(text))
        if own != count:
            faults.append(_bad(key, f"{own} entries in `{key}`, {count} in `dtype`", "column-mismatch"))
        faults += _format_faults(key, text)
    return count, faults


def _unread(content: Mapping[str, str]) -> frozenset[int]:
    """Return columns of unknown shapes only with format NULL: the engine skips their dtype."""
    if "format" in content:
        return frozenset()
    words = comma_list(content.get("unknownshape_format", ""))
    return frozenset(index for index, word in enumerate(words) if _format(word) == "NULL")


def comma_list(text: str) -> list[str]:
    """Return the parts of a comma list, split as in the engine; empty for blanks only."""
    text = text.strip(BLANKS)
    return text.split(",") if text else []


def crash_faults(tensors: list[NamedTensor], has_dynamic_shapes: bool) -> list[LoadFault]:
    """Return faults of a formatAgnostic operator with unequal counts of formats: the engine reads past the shorter one.

    A tensor without any list of formats gets all formats for each dtype. Source: hicann/ge ffdcbc9f,
    compiler/engines/nn_engine/opskernel/ops_store/op_kernel_info_constructor.cc:350-428, 522-577.
    """
    (_, first, one), (_, second, other) = tensors
    before, after = _supported(one, has_dynamic_shapes), _supported(other, has_dynamic_shapes)
    if after[0] >= before[0] and after[1] >= before[1]:
        return []
    said = f"formatAgnostic, and `{second}` has fewer formats than `{first}`: the engine crashes when it loads this"
    return [LoadFault("engine-crash", "op", "pattern", said)]


_ALL_FORMATS = 25


def _supported(content: Mapping[str, str], has_dynamic_shapes: bool) -> tuple[int, int]:
    """Return the number of a tensor's columns that the engine keeps, for known and for unknown shapes."""
    known, unknown = content.get("format"), content.get("unknownshape_format")
    if known is None and unknown is None:
        generated = len(comma_list(content.get("dtype", ""))) * _ALL_FORMATS
        return generated, generated if has_dynamic_shapes else 0
    kept = [word for word in comma_list(unknown or known or "") if _format(word) != "NULL"]
    return len(comma_list(known or "")), len(kept)


def _format(word: str) -> str:
    """Return a format as the engine reads it: trimmed, and cut at a NUL."""
    return _trim(word).partition("\0")[0]


def _dtype_faults(text: str, unread: frozenset[int] = frozenset()) -> Iterator[LoadFault]:
    """:param unread: columns whose dtype the engine never reads"""
    for index, word in enumerate(map(_trim, comma_list(text))):
        if folded(word) in DTYPES or index in unread:
            continue
        if looks_like_dtype(word):
            yield _bad("dtype", f"`{word}` is not a known dtype", "unknown-value", token=index)
        else:
            yield _bad("dtype", f"`{word}` is not a dtype", token=index, near=_MEANT_DTYPE.get(word.lower(), ()))


_MEANT_DTYPE = {"bf16": ("bfloat16",), "fp16": ("float16",), "half": ("float16",), "fp32": ("float32",)}


def _format_faults(key: str, text: str) -> Iterator[LoadFault]:
    """Yield faults of formats with an optional sub format, 0 to 65535; above 0 the engine accepts reserved words too.

    Source: hicann/ge ffdcbc9f, graph_metadef/base/utils/type_utils_inner.cc:264-298, 320-336.
    """
    for index, word in enumerate(map(_format, comma_list(text))):
        name, colon, suffix = word.partition(":")
        number = int(suffix) if colon and re.fullmatch(r"0*[0-9]{1,5}", suffix, re.ASCII) else None
        if colon and (number is None or number > _LARGEST_SUB_FORMAT):
            said = f"`{word}`: a sub format must be a number from 0 to {_LARGEST_SUB_FORMAT}"
            yield _bad(key, said, token=index)
        elif name in FORMATS or (name in RESERVED_FORMATS and number):
            continue
        elif _is_never_a_format(name):
            yield _bad(key, f"`{word}` is not a format", token=index, near=case_variants(name, FORMATS))
        else:
            yield _bad(key, f"`{word}` is not a known format", "unknown-value", token=index)


_LARGEST_SUB_FORMAT = 65535


def _is_never_a_format(name: str) -> bool:
    """Return whether no newer engine can have the name."""
    is_word = re.fullmatch(r"[A-Z][A-Za-z0-9_]*", name)
    return name in RESERVED_FORMATS or not is_word or bool(case_variants(name, FORMATS))


def sub_format_faults(text: str) -> Iterator[LoadFault]:
    for index, word in enumerate(comma_list(text)):
        number = long_or_none(word)
        if number is None or not 0 <= number <= _LARGEST_SUB_FORMAT:
            yield _bad("sub_format", f"`{word}` is not a number from 0 to {_LARGEST_SUB_FORMAT}", token=index)


def _trim(word: str) -> str:
    return word.strip(BLANKS)
