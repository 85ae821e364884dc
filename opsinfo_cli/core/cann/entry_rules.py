"""The engine's rules for a library entry: its words, and its checks on loading.

Structure (objects of objects of strings) is checked in every file; the rest only of the entries that win in their
store, because the engine builds kernels from those alone (sub_op_info_store.cc:124-209).

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/opskernel/ops_store/op_kernel_info_constructor.cc
- compiler/engines/nn_engine/opskernel/ops_store/sub_op_info_store.cc
- compiler/engines/nn_engine/opskernel/ops_store/ops_kernel_constants.h
- graph_metadef/base/utils/type_utils_inner.cc
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from .c_numbers import is_float, long_or_none, saturated
from .marks import ACTIONS
from .policy import BLANKS, FLAG, PRECISION, folded

if TYPE_CHECKING:
    from typing import Any

Sections = Mapping[str, Mapping[str, str]]
"""Section -> key -> value."""


class EntryFault(NamedTuple):
    """A fault of an entry.

    :param name: the finding's name
    :param section: the section as written; None for the entry itself
    :param key: the key in the section as written; None for the section itself
    :param token: index of the part of a comma list, from 0; None for the whole value
    :param near: similar known words
    :param at_key: whether the key is wrong, not its value
    :param word: one that only some copies of opbuild's script refuse, which are named by ``whose``
    """

    name: str
    section: str | None
    key: str | None
    message: str
    token: int | None = None
    near: tuple[str, ...] = ()
    at_key: bool = False
    word: str = ""
    whose: str = ""

    @property
    def refuses(self) -> bool:
        return not self.name.startswith(("unknown-", "hidden-"))

    @property
    def hides_policies(self) -> bool:
        """Whether the policies of a store with this fault are unknown.

        Libraries of older CANN versions break only the rule on counts of columns; such a store is read with a warning.
        """
        return self.refuses and self.name != "column-mismatch"


class WordKey(NamedTuple):
    """A key whose value, trimmed and case folded, must be one of ``words`` or empty; otherwise the store fails."""

    key: str
    words: frozenset[str]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_JIT = ["static_true", "static_false", "dynamic_true", "dynamic_false"]
_JIT_PAIRS = [f"{first},{second}" for first in _JIT for second in _JIT if first.split("_")[0] != second.split("_")[0]]
_FLAGS = (
    "precision_reduce needCheckSupport dynamicFormat heavyOp softsync dynamicShapeSupport inputMemContinues "
    "outputMemContinues enableVectorCore"
)
_SLICES = (
    "elemwise elemwisebroadcast broadcast slidingwindow slidingwindowdeconv cubematmul reduce resize scatter segment"
)

ENUMERATIONS: dict[str, WordKey] = {
    **dict.fromkeys(_FLAGS.split(), WordKey("flag", _words("true false"))),
    "op": WordKey("pattern", _words("formatagnostic broadcast reduce dynamic rangeagnostic broadcastenhanced")),
    "slicePattern": WordKey("value", _words(_SLICES)),
    "jitCompile": WordKey("flag", frozenset(["true", "false", *_JIT, *_JIT_PAIRS])),
    "rangeLimit": WordKey("value", _words("limited unlimited dynamic")),
    "dynamicRankSupport": WordKey("flag", _words("true false upgrade_to_dynamic_rank")),
    "dynamicCompileStatic": WordKey("flag", _words("true false tune")),
    "aclnnSupport": WordKey("value", _words("default support_aclnn aclnn_only")),
    "multiKernelSupportDynamicGraph": WordKey("value", _words("default multi_kernel single_kernel")),
}

DTYPES = _words(
    "float float16 bfloat16 float32 double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string "
    "string_ref resource dual dual_sub_int8 dual_sub_uint8 complex32 complex64 complex128 qint8 qint16 qint32 "
    "quint8 quint16 variant int4 int2 uint1 uint2 hifloat8 hifloat4 float8_e5m2 float8_e4m3fn float8_e8m0 "
    "float6_e3m2 float6_e2m3 float4_e2m1 float4_e1m2"
)
"""Data types, case folded (type_utils_inner.cc:80-126)."""
_WRONG_DTYPES = _words("bf16 fp16 fp32 fp64 half hif8 f16 f32 float64 single int uint str boolean undefined")
"""Names that users write and that no engine accepts."""
FORMATS = _words(
    "NCHW NHWC ND NC1HWC0 FRACTAL_Z NC1C0HWPAD NHWC1C0 FSR_NCHW FRACTAL_DECONV C1HWNC0 FRACTAL_DECONV_TRANSPOSE "
    "FRACTAL_DECONV_SP_STRIDE_TRANS NC1HWC0_C04 FRACTAL_Z_C04 CHWN DECONV_SP_STRIDE8_TRANS NC1KHKWHWC0 BN_WEIGHT "
    "FILTER_HWCK HWCN LOOKUP_LOOKUPS LOOKUP_KEYS LOOKUP_VALUE LOOKUP_OUTPUT LOOKUP_HITS MD C1HWNCoC0 FRACTAL_NZ "
    "FRACTAL_NZ_C0_16 FRACTAL_NZ_C0_32 FRACTAL_NZ_C0_2 FRACTAL_NZ_C0_4 FRACTAL_NZ_C0_8 NDHWC NCDHW DHWCN DHWNC "
    "NDC1HWC0 FRACTAL_Z_3D FRACTAL_Z_3D_TRANSPOSE CN NC FRACTAL_ZN_LSTM FRACTAL_Z_G ALL NULL ND_RNN_BIAS "
    "FRACTAL_ZN_RNN NYUV NYUV_A NCL FRACTAL_Z_WINO C1HWC0"
)
"""Format names, exact (type_utils_inner.cc:21-78)."""
RESERVED_FORMATS = frozenset({"RESERVED", "FORMAT_RESERVED", "UNDEFINED"})
"""Formats in the engine's table that it refuses nevertheless (op_kernel_info_constructor.cc:899-904)."""
PARAM_TYPES = frozenset({"dynamic", "optional", "required", "reserved"})
ATTR_TYPES = _words("int float bool str listInt listFloat listBool listStr listListInt")
TENSOR_SECTION = re.compile(r"(?:([iI]nput)|([oO]utput))([0-9]*)")
"""A tensor's section: group 1 for an input, 2 for an output, 3 for its number."""
KNOWN_SECTIONS = frozenset(ENUMERATIONS) | _words(
    "imp_path coreType opImplSwitch prebuildPattern promoteType opFile opInterface fallback outputInplaceAbility "
    "attr async partial compute kernel binfile mc2 sgatKeyAttr opKernel kernelSrc"
)


def entry_structure_faults(entry: Any) -> Iterator[EntryFault]:
    """Yield faults of an entry that is not an object of objects of strings."""
    if not isinstance(entry, dict):
        yield wrong_type_in_entry()
        return
    for section, content in entry.items():
        if not isinstance(content, dict):
            yield wrong_type_in_entry(section)
            continue
        for key, value in content.items():
            if not isinstance(value, str):
                yield wrong_type_in_entry(section, key)


def wrong_type_in_entry(section: str | None = None, key: str | None = None) -> EntryFault:
    if section is None:
        return EntryFault("wrong-type", None, None, "an operator's entry must be an object")
    if key is None:
        stray = "; a mixlist in a store is read as a library, so move it elsewhere" if section in ACTIONS else ""
        return EntryFault("wrong-type", section, None, f"section `{section}` must be an object{stray}")
    return EntryFault("wrong-type", section, key, f"`{section}.{key}` must be a string")


def names_in(entries: Iterable[Sections]) -> set[str]:
    """Return all names of sections and keys of valid entries."""
    names: set[str] = set()
    for entry in entries:
        names.update(entry, *entry.values())
    return names


def trim(entry: Sections) -> Sections:
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
    if "dynamicFormat" in sections and folded(_value(sections, "dynamicFormat", "flag")) == "true":
        return "dynamic"
    return folded(_value(sections, "op", "pattern")) if "op" in sections else ""


class _Parts(NamedTuple):
    """The sections that the engine checks.

    :param words: name, content, key and words of each section with a word of a list
    :param misspelt: sections with near names
    :param tensors: in the engine's order
    """

    words: list[tuple[str, Mapping[str, str], WordKey]]
    misspelt: list[EntryFault]
    tensors: list[NamedTensor]


def _parts_of(sections: Sections) -> _Parts:
    parts = _Parts([], [], [])
    for name, content in sections.items():
        role = _role_of(name)
        if role is None:
            continue
        if isinstance(role, WordKey):
            parts.words.append((name, content, role))
        elif isinstance(role, EntryFault):
            parts.misspelt.append(role)
        else:
            parts.tensors.append((role, name, content))
    parts.tensors.sort()
    return parts


def build_faults(sections: Sections) -> tuple[EntryFault, ...]:
    """Return faults that prevent the engine from building a kernel from (trimmed) sections, and unknown words."""
    parts = _parts_of(sections)
    words: list[EntryFault] = []  # of values and missing keys, which the published schema states too
    for name, content, role in parts.words:
        value = content.get(role.key)
        if value is not None and value not in role.words and folded(value.strip(BLANKS)) not in ("", *role.words):
            words.append(word_fault(name, role.key, value, sorted(role.words)))
    for _, section, content in parts.tensors:
        for key, required in _TENSOR_WORDS.items():
            value = content.get(key)
            if value is None:
                if key in REQUIRED_OF_TENSOR:
                    words.append(missing_key(section, key, content))
            elif value.strip(BLANKS) not in required if required else not value.strip(BLANKS):
                words.append(tensor_word_fault(section, key, value))
    return (*words, *_combination_faults(sections, parts, not words))


def combination_faults(sections: Sections, words_are_right: bool) -> tuple[EntryFault, ...]:
    """Return the faults of :func:`build_faults` that the published schema cannot state.

    :param words_are_right: whether the schema accepts the sections; else the engine stops before it may crash
    """
    return tuple(_combination_faults(sections, _parts_of(sections), words_are_right))


def _combination_faults(sections: Sections, parts: _Parts, words_are_right: bool) -> Iterator[EntryFault]:
    yield from parts.misspelt
    if PRECISION in sections and sections[PRECISION].keys() != {FLAG}:
        yield from _hidden_flags(sections[PRECISION])
    pattern = pattern_of(sections)
    faults = list(_tensor_faults(parts.tensors, pattern))
    yield from faults
    if pattern == "formatagnostic":
        if [key[0] for key, _, _ in parts.tensors] != [0, 1]:
            inputs = sum(key[0] == 0 for key, _, _ in parts.tensors)
            counts = f"{inputs} and {len(parts.tensors) - inputs}"
            message = f"a formatAgnostic operator must have one input and one output, not {counts}"
            yield EntryFault("column-mismatch", "op", "pattern", message)
        elif words_are_right and not any(fault.refuses for fault in faults):
            yield from _crash_faults(parts.tensors, folded(_value(sections, "dynamicShapeSupport", "flag")) == "true")
    if "attr" in sections:
        yield from _attr_faults(sections)
    if "fallback" in sections:
        yield from _fallback_faults(sections["fallback"])


@lru_cache(maxsize=1 << 12)
def _role_of(section: str) -> WordKey | TensorKey | EntryFault | None:
    """Return the kind of a section by its name: an enumeration, a tensor, a misspelling; None if unchecked."""
    if section.startswith("attr_"):
        return None
    if section in ENUMERATIONS:
        return ENUMERATIONS[section]
    key = tensor_key(section)
    if key or section in KNOWN_SECTIONS:
        return key
    letters = _letters(section)
    if letters in ("input", "output", "inputs", "outputs"):
        meant: str | None = letters.removesuffix("s") + "0"
    else:
        meant = _SECTION_BY_LETTERS.get(letters) or _SECTION_BY_LETTERS.get(letters.removesuffix("s"))
    if meant is not None:
        message = f"unknown section `{section}`: the engine ignores it"
        return EntryFault("unknown-section", section, None, message, near=(meant,))
    if len(letters) < _LONGEST_NAME and _is_near(letters, _letters(PRECISION), 0.84):
        message = f"the engine ignores the section `{section}`, with the policy in it"
        return EntryFault("hidden-flag", section, None, message, near=(PRECISION,))
    return None


def _is_near(word: str, known: str, ratio: float) -> bool:
    """Return whether two words are similar; 0.84 of 15 letters is two wrong ones, 0.75 of four a swapped pair."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, word, known).ratio() >= ratio


_LONGEST_NAME = 32


def _hidden_flags(content: Mapping[str, str]) -> Iterator[EntryFault]:
    """Yield a fault of a section `precision_reduce` without its key, and of every key that is nearly that."""
    others = ((key, _letters(key)) for key in content if key != FLAG)
    near = [key for key, letters in others if len(letters) < _LONGEST_NAME and _is_near(letters, FLAG, 0.75)]
    effect = "" if FLAG in content else "; without `flag` the op type is gray"
    for key in near:
        message = f"the engine ignores the key `{PRECISION}.{key}`{effect}"
        yield EntryFault("hidden-flag", PRECISION, key, message, near=(FLAG,), at_key=True)
    if FLAG not in content and not near:
        yield EntryFault("hidden-flag", PRECISION, None, f"`{PRECISION}` has no `flag`, so the op type is gray")


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


_SECTION_BY_LETTERS = {_letters(section): section for section in KNOWN_SECTIONS}


def _value(sections: Sections, section: str, key: str) -> str:
    return sections.get(section, {}).get(key, "").strip(BLANKS)


def word_fault(section: str, key: str, value: str, words: Sequence[str]) -> EntryFault:
    """Return the fault of a value that is none of the words of its key.

    :param words: sorted; named if there are few
    """
    name = "bad-flag" if section == PRECISION else "bad-value"
    near = tuple(words) if len(words) < 4 else ()
    return EntryFault(name, section, key, f"`{section}.{key}` is `{value}`, which the engine refuses", near=near)


def missing_key(section: str, key: str, given: Iterable[str]) -> EntryFault:
    """Return the fault of a tensor without a key that the engine requires, at the key that is nearly that.

    :param given: the keys of the section
    """
    like = (each for each in given if len(each) < _LONGEST_NAME and _is_near(_letters(each), _letters(key), 0.84))
    meant = next(like, None)
    near = () if meant is None else (key,)
    return EntryFault("bad-value", section, meant, f"a tensor requires a `{key}`", near=near, at_key=bool(near))


def tensor_word_fault(section: str, key: str, value: str) -> EntryFault:
    """Return the fault of a tensor's name, ``paramType`` or ``tuneformatSwitch``."""
    near = case_variants(value, PARAM_TYPES) if key == "paramType" else ()
    if key == "paramType" and not near and len(value) < _LONGEST_NAME:
        near = tuple(word for word in sorted(PARAM_TYPES) if _is_near(value.strip(BLANKS).lower(), word, 0.84))
    return EntryFault("bad-value", section, key, _TENSOR_MESSAGES[key].format(value), near=near)


# Tensors: names, kinds, and matching columns.

TensorKey: TypeAlias = tuple[int, int]
"""(0 for an input or 1 for an output, number): the engine's order."""
NamedTensor: TypeAlias = "tuple[TensorKey, str, Mapping[str, str]]"
"""A tensor's key, the name of its section, and its content."""
_UNCOUNTED = frozenset(["", "dynamic"])
"""Op patterns for which a tensor without formats needs no columns."""
_COLUMN_KEYS = ("sub_format", "dtype", "format", "unknownshape_format")
REQUIRED_OF_TENSOR = ("name", "paramType")
_TENSOR_WORDS: dict[str, frozenset[str]] = {
    "name": frozenset(),
    "paramType": PARAM_TYPES,
    "tuneformatSwitch": _words("true false"),
}
"""Keys of a tensor with the words that they may have; empty for any."""
_TENSOR_MESSAGES = {
    "name": "a tensor requires a `name`",
    "paramType": "unknown `paramType` `{}`",
    "tuneformatSwitch": "`tuneformatSwitch` must be `true` or `false`, not `{}`",
}
_ALL_FORMATS = 25
_LARGEST_SUB_FORMAT = 65535
MEANT_DTYPE = {
    "bf16": ("bfloat16",),
    "fp16": ("float16",),
    "fp32": ("float32",),
    "half": ("float16",),
    "hif8": ("hifloat8",),
}
"""Short names of dtypes that the engine does not know, with those that it knows."""


@lru_cache(maxsize=1 << 12)
def tensor_key(section: str) -> TensorKey | None:
    match = TENSOR_SECTION.fullmatch(section)
    return (0 if match[1] else 1, saturated(match[3]) if match[3] else -1) if match else None


def tensors_of(sections: Sections) -> tuple[list[str], list[str]]:
    """Return section names of inputs and outputs in the engine's numeric order."""
    found = sorted((key, name) for name in sections if (key := tensor_key(name)))
    return [name for (side, _), name in found if side == 0], [name for (side, _), name in found if side == 1]


def comma_list(text: str) -> list[str]:
    """Return the parts of a comma list, split as in the engine; empty for blanks only."""
    text = text.strip(BLANKS)
    return text.split(",") if text else []


def _tensor_faults(tensors: list[NamedTensor], pattern: str) -> Iterator[EntryFault]:
    """Yield faults of all tensors of an operator, in the engine's order."""
    columns: int | None = None
    first = ""
    for _, section, content in tensors:
        own, faults = _tensor(pattern in _UNCOUNTED, *map(content.get, _COLUMN_KEYS))
        for fault in faults:
            yield fault._replace(section=section)
        if own == columns or own is None:
            continue
        if columns is None:
            columns, first = own, section
        else:
            message = f"`{section}` has {own} columns, `{first}` has {columns}"
            yield EntryFault("column-mismatch", section, "dtype", message)


@lru_cache(maxsize=1 << 12)
def _tensor(
    may_lack_columns: bool,
    sub_format: str | None,
    dtype: str | None,
    format_: str | None,
    unknown_format: str | None,
) -> tuple[int | None, tuple[EntryFault, ...]]:
    """Return the number of columns, None if the engine does not count them, and the faults.

    Kept for the next tensors of equal content: a library has 6,000 tensors, and 1,000 different ones.

    Source: op_kernel_info_constructor.cc:522-577, 765-995.
    """
    lists = {"format": format_, "unknownshape_format": unknown_format}
    listed = {key: text for key, text in lists.items() if text is not None}
    count: int | None = None
    faults: list[EntryFault] = []
    if not listed and may_lack_columns:
        pass  # the engine counts none
    elif dtype is None:
        faults.append(_bad(None, "a `dtype` list is required here"))
    else:
        count = len(comma_list(dtype))
        unread: set[int] = set()  # a column of unknown shapes alone: the engine skips its dtype if its format is NULL
        if format_ is None:
            words = comma_list(unknown_format or "")
            unread = {index for index, word in enumerate(words) if _format(word) == "NULL"}
        faults += _dtype_faults(dtype, unread)
        for key, text in listed.items():
            own = len(comma_list(text))
            if own != count:
                faults.append(_bad(key, f"{own} entries in `{key}`, {count} in `dtype`", "column-mismatch"))
            faults += _format_faults(key, text)
    if sub_format is not None and format_ is not None:
        for index, word in enumerate(comma_list(sub_format)):
            number = long_or_none(word)
            if number is None or not 0 <= number <= _LARGEST_SUB_FORMAT:
                message = f"`{word}` is not a number from 0 to {_LARGEST_SUB_FORMAT}"
                faults.append(_bad("sub_format", message, token=index))
    return count, tuple(faults)


def _bad(key: str | None, message: str, name: str = "bad-value", **more: Any) -> EntryFault:
    return EntryFault(name, "", key, message, **more)


def _crash_faults(tensors: list[NamedTensor], has_dynamic_shapes: bool) -> list[EntryFault]:
    """Return faults of a formatAgnostic operator with unequal counts of formats: the engine reads past the shorter one.

    A tensor without any list of formats gets all formats for each dtype.

    Source: op_kernel_info_constructor.cc:350-428, 522-577.
    """
    (_, first, one), (_, second, other) = tensors
    before, after = _kept_columns(one, has_dynamic_shapes), _kept_columns(other, has_dynamic_shapes)
    if after[0] >= before[0] and after[1] >= before[1]:
        return []
    message = f"formatAgnostic, and `{second}` has fewer formats than `{first}`: the engine crashes when it loads this"
    return [EntryFault("engine-crash", "op", "pattern", message)]


def _kept_columns(content: Mapping[str, str], has_dynamic_shapes: bool) -> tuple[int, int]:
    """Return the number of a tensor's columns that the engine keeps, for known and for unknown shapes."""
    known, unknown = content.get("format"), content.get("unknownshape_format")
    if known is None and unknown is None:
        generated = len(comma_list(content.get("dtype", ""))) * _ALL_FORMATS
        return generated, generated if has_dynamic_shapes else 0
    kept = [word for word in comma_list(unknown or known or "") if _format(word) != "NULL"]
    return len(comma_list(known or "")), len(kept)


def _format(word: str) -> str:
    """Return a format as the engine reads it: trimmed, and cut at a NUL."""
    return word.strip(BLANKS).partition("\0")[0]


def _dtype_faults(text: str, unread: set[int]) -> Iterator[EntryFault]:
    if DTYPES.issuperset(folded(text).split(",")):
        return
    for index, word in enumerate(comma_list(text)):
        word = word.strip(BLANKS)
        if folded(word) in DTYPES or index in unread:
            continue
        # one of a newer engine, it may be, and no misspelling
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", word) and word.lower() not in _WRONG_DTYPES:
            yield _bad("dtype", f"`{word}` is not a known dtype", "unknown-value", token=index)
        else:
            yield _bad("dtype", f"`{word}` is not a dtype", token=index, near=MEANT_DTYPE.get(word.lower(), ()))


def _format_faults(key: str, text: str) -> Iterator[EntryFault]:
    """Yield faults of formats with an optional sub format, 0 to 65535; above 0 the engine accepts reserved words too.

    Source: type_utils_inner.cc:264-298, 320-336.
    """
    if FORMATS.issuperset(text.split(",")):
        return
    for index, word in enumerate(map(_format, comma_list(text))):
        name, colon, suffix = word.partition(":")
        number = int(suffix) if colon and re.fullmatch(r"0*[0-9]{1,5}", suffix, re.ASCII) else None
        if colon and (number is None or number > _LARGEST_SUB_FORMAT):
            message = f"`{word}`: a sub format must be a number from 0 to {_LARGEST_SUB_FORMAT}"
            yield _bad(key, message, token=index)
        elif name in FORMATS or (name in RESERVED_FORMATS and number):
            continue
        else:
            near = case_variants(name, FORMATS)
            if near or name in RESERVED_FORMATS or not re.fullmatch(r"[A-Z][A-Za-z0-9_]*", name):
                yield _bad(key, f"`{word}` is not a format", token=index, near=near)
            else:  # a newer engine may have it
                yield _bad(key, f"`{word}` is not a known format", "unknown-value", token=index)


# Attributes and fallbacks.


def _attr_faults(sections: Sections) -> Iterator[EntryFault]:
    """Yield faults of attributes; only those in ``attr.list`` are read (op_kernel_info_constructor.cc:1261-1327)."""
    listed = _value(sections, "attr", "list")
    for index, word in enumerate(listed.split(",") if listed else ()):
        section = "attr_" + word.strip(BLANKS)
        content = sections.get(section)
        if content is None:
            message = f"`attr.list` has `{word.strip(BLANKS)}`, but there is no section `{section}`"
            yield EntryFault("bad-value", "attr", "list", message, token=index)
            continue
        get = content.get
        for fault in _attribute_faults(get("type"), get("value"), get("paramType"), get("defaultValue")):
            yield fault._replace(section=section)


@lru_cache(maxsize=1 << 12)
def _attribute_faults(
    type_: str | None, value: str | None, param_type: str | None, default: str | None
) -> tuple[EntryFault, ...]:
    """Return faults of values read as numbers; the engine warns about a scalar's default, and fails on a list's."""
    needed = {"type": type_, "value": value}
    missing = [
        EntryFault("bad-value", "", None if text is None else key, f"an attribute requires a `{key}`")
        for key, text in needed.items()
        if not (text or "").strip(BLANKS)
    ]
    kind = (type_ or "").strip(BLANKS)
    required = (param_type or "").strip(BLANKS)
    if not kind or not required:
        return tuple(missing)
    if kind not in ATTR_TYPES:
        near = case_variants(kind, ATTR_TYPES)
        return (*missing, EntryFault("unknown-value", "", "type", f"`{kind}` is not an attribute type", near=near))
    is_number = _NUMBERS.get(kind.removeprefix("list").removeprefix("List").lower())
    checked = {"value": value or ""}
    if kind.startswith("list") and required != "required":
        checked["defaultValue"] = default or ""
    return (
        *missing,
        *(
            EntryFault("bad-value", "", key, f"`{item}` is not a value of type `{kind}`")
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


def _fallback_faults(content: Mapping[str, str]) -> Iterator[EntryFault]:
    for key in ("enable", "unknownshape_enable"):
        for index, word in enumerate(content.get(key, "").split(",")):
            if word.strip(BLANKS) not in ("", "1", "0"):
                message = f"`fallback.{key}` must be a list of `1` and `0`, not `{word}`"
                near = _MEANT_FALLBACK.get(word.strip(BLANKS).lower(), ())
                yield EntryFault("bad-value", "fallback", key, message, token=index, near=near)


_MEANT_FALLBACK = {"true": ("1",), "false": ("0",)}


def case_variants(word: str | None, words: frozenset[str]) -> tuple[str, ...]:
    """Return words that differ from ``word`` only in case."""
    return tuple(each for each in sorted(words) if word is not None and each.lower() == word.strip(BLANKS).lower())
