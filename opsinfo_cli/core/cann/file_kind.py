"""The kind of a file, library, mixlist, snapshot or a file of compiler options, by its content and its name."""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from ..text.members import Members, read_members
from ..text.source import Source
from .entry_rules import TENSOR_SECTION
from .foreign_files import FOREIGN_KEYS, KERNEL_INDEX, Foreign, foreign_text
from .marks import LISTS
from .policy import PRECISION

if TYPE_CHECKING:
    from typing import Any

    from ..text.scanner import Document

    Content: TypeAlias = dict[str, Any]
    """The members of the root object, of equal keys the last one."""

_LIBRARY_NAME = r"(?:aic-.*ops-info|vector_core_tbe_ops_info|dsa-.*-ops-info).*\.json"
_IN_STORE = rf"/(?:tbe|dsa_core)/config(?:/[^/]+)?/(?!{re.escape(KERNEL_INDEX)}$)[^/]+\.json"
MIXLIST_NAME = r"(?!.*\.(?:opsinfo|schema)\.json$)(?:ops_info.*|.*ops_info|.*mix_?list.*|op_fp32.*)\.json"
"""Names of mixlists, in any case: `ops_info*.json`, `*ops_info.json`, `*mixlist*.json`, `*mix_list*.json`, and
`op_fp32*.json`, as in the examples of MindSpore Lite."""
FileKind: TypeAlias = Literal["library", "mixlist", "snapshot"]
OptionKind: TypeAlias = Literal["keep_dtype", "customize_dtypes", "op_precision"]
NamedKind: TypeAlias = Literal["library", "mixlist"] | OptionKind
"""The files that are checked as such."""
OPTION_KINDS: tuple[OptionKind, ...] = get_args(OptionKind)
"""Files of compiler options that lie beside a mixlist."""
OPTION_NAME = r".*(keep_?d?type|customi[sz]e_?dtype|op_precision).*\.(?:cfg|ini|txt)"
"""Names of these files, in any case: `*keep_dtype*.cfg`, `*customize_dtypes*.cfg`, `*op_precision*.ini` ..."""
_NODE_NAME = r"[\w./:-]*"
_MODE = r"(?:high_p[a-z]+|enable_[a-z_]*32_execution|keep_fp16|support_out_of_bound_index|super_performance|norm_class)"
_HEADING = r"\[By(?:OpType|NodeName)\]"
_OPTION_LINES: dict[OptionKind, tuple[str, str]] = {
    "op_precision": (rf"{_HEADING}|[^=]*=[ \t]*{_MODE}", rf"\[By.*|[^=\[]*=[ \t]*(?:{_MODE}|\w+_\w+)"),
    "customize_dtypes": (r"[^=]+:(?:In|Out)putDtype\b.*", r"[^=]+:(?:In|Out)putDtype\b.*"),
    "keep_dtype": (r"OpType::\w\S*", rf"-?OpType::\S*|{_NODE_NAME}"),
}
"""Patterns of lines: of one that only a file of this kind has, and of those that a file of this kind has."""
_NEARLY_ALL = 0.8
SNAPSHOT = "opsinfo-snapshot"
_SAYS_SNAPSHOT = r'\s*\{\s*"kind"\s*:\s*"opsinfo-snapshot"'
NEAR_LIST = r"(?:white|black|gr[ae]y|trust|block)[-_ ]?list"
NEAR_ACTION = r"to[-_ ]?(?:add|remove)"
_ACTION_BEGINS = ("to-", "to_")
_MARK = rf'"(?:(?:{"|".join(LISTS)})"\s*:\s*[{{[]|{NEAR_LIST}"\s*:\s*\{{|{NEAR_ACTION}"\s*:\s*[{{[])'
"""What is left of a broken mixlist; whole ones are recognised by :func:`_has_own_mark`."""
_TELLING_KEY = (
    rf'"(?:(?i:{NEAR_LIST}|{NEAR_ACTION})|{PRECISION}|{TENSOR_SECTION.pattern}|{"|".join(FOREIGN_KEYS)})"|opInfo\.'
)
"""What is left in the text of every key by which a file of a tree is recognised, unless it is written with escapes."""
_ESCAPED_LETTER = r"\\u(?:00[2-7]|013[01]|017[fF]|212[aA])"
"""An escape that may be a letter, digit or sign of a key in ``_TELLING_KEY``. Where case is ignored, two more letters
equal i, one k and one s."""
_FIRST_KEY = r'"((?:[^"\\]|\\.)*)"\s*:\s*(\{?)'
_NUMBERED_TENSOR = r"(?:in|out)put[0-9]+"


def is_library_name(path: str) -> bool:
    """Return whether a path is a library's: by its name, or because it is in a store's config directory."""
    return bool(
        re.fullmatch(_LIBRARY_NAME, os.path.basename(path), re.DOTALL) or re.search(_IN_STORE, os.path.abspath(path))
    )


def is_mixlist_name(path: str) -> bool:
    """Return whether a name is a mixlist's and not a library's."""
    name = os.path.basename(path)
    return bool(re.fullmatch(MIXLIST_NAME, name, re.DOTALL | re.IGNORECASE)) and not is_library_name(path)


def is_option_name(path: str) -> bool:
    """Return whether a name is that of a keep_dtype, customize_dtypes or op_precision file."""
    return bool(re.fullmatch(OPTION_NAME, os.path.basename(path), re.DOTALL | re.IGNORECASE))


def option_kind(text: str, path: str, is_named: bool) -> OptionKind | None:
    """Return one of ``OPTION_KINDS``; None if it is none of them, as every file named `.json`.

    :param is_named: whether the user names the file: one with nothing but node names is then a keep_dtype file
    """
    extension = os.path.splitext(path)[1].lower()
    if extension == ".json" or text.lstrip().startswith("{"):
        return None
    for kind in _OPTION_LINES:
        if fits_option_kind(kind, text):
            return kind
    if match := re.fullmatch(OPTION_NAME, os.path.basename(path), re.DOTALL | re.IGNORECASE):
        return next(kind for kind in OPTION_KINDS if kind[0] == match[1][0].lower())
    if not is_named or extension not in (".cfg", ".txt") or not text.strip():
        return None
    return "keep_dtype" if all(re.fullmatch(_NODE_NAME, line.strip()) for line in text.split("\n")) else None


def fits_option_kind(kind: OptionKind, text: str) -> bool:
    """Return whether a text shows that it is of a kind: one line is of that kind alone, and nearly all lines fit.

    An ini of another tool may have lines that look so, beside others and below sections of its own.
    """
    return any(re.fullmatch(_OPTION_LINES[kind][0], line) for line in _lines(text)) and mostly_fits(kind, text)


def mostly_fits(kind: OptionKind, text: str) -> bool:
    """Return whether nearly all lines fit a kind, and no section is another tool's: what may be edited."""
    lines = _lines(text)
    if kind == "op_precision" and any(line.startswith("[") for line in lines):
        headings = [line for line in lines if line.startswith("[")]
        return all(line.startswith("[By") for line in headings)
    return sum(bool(re.fullmatch(_OPTION_LINES[kind][1], line)) for line in lines) >= _NEARLY_ALL * len(lines)


def _lines(text: str) -> list[str]:
    """Return the lines that are neither blank nor comments."""
    return [line for line in map(str.strip, text.split("\n")) if line and not line.startswith("#")]


def kind_of(source: Source, outcome: Members | Document | None = None) -> FileKind | None:
    """Return ``library``, ``mixlist`` or ``snapshot``; None if neither the text nor the name shows it.

    A text with faults that leave its values readable, such as comments, is judged by these values.

    :param outcome: the result of :func:`.read_members` for the text, if already parsed
    """
    outcome = outcome or read_members(source)
    content = _content(outcome)
    if content is None:
        return _kind_by_name(source.path) if _is_whole(outcome) else _kind_of_broken(source)
    if content.get("kind") == SNAPSHOT:
        return "snapshot"
    if foreign_text(source.path, content, source.text):
        return None
    if _has_mixlist_key(content, source.text) or ("[" in source.text and any(map(_holds_array, content.values()))):
        return "mixlist"
    if is_library_name(source.path) or _looks_like_library(content):
        return "library"
    return None if content and not is_mixlist_name(source.path) else "mixlist"


def is_marked(source: Source, outcome: Members | Document | None = None) -> bool:
    """Return whether a file on a walk is recognisably a mixlist or a library.

    By its name, or by keys that JSON of other tools hardly has: `file_list`, and arrays, are not enough.
    """
    outcome = outcome or read_members(source)
    content = _content(outcome)
    if content is None:
        if _is_whole(outcome) or not source.text.strip():
            return False
        kind = _kind_of_broken(source)
        is_of_its_own = is_mixlist_name(source.path) or bool(re.search(_MARK, source.text, re.IGNORECASE))
        return kind == "library" or (kind == "mixlist" and is_of_its_own)
    if content.get("kind") == SNAPSHOT or foreign_text(source.path, content, source.text):
        return False
    is_mixlist = _has_mixlist_key(content, source.text) and (is_mixlist_name(source.path) or _has_own_mark(content))
    return is_mixlist or _looks_like_library(content)


def may_be_recognised(source: Source) -> bool:
    """Return whether :func:`is_marked` or :func:`foreign_of` may recognise a file, without reading its JSON.

    A tree may hold large files of other tools, which need not be read to be passed over.
    """
    if is_library_name(source.path) or is_mixlist_name(source.path) or os.path.basename(source.path) == KERNEL_INDEX:
        return True
    return any(re.search(pattern, source.text) for pattern in (_TELLING_KEY, _ESCAPED_LETTER))


def foreign_of(source: Source, outcome: Members | Document | None = None) -> Foreign | None:
    """Return what a file is that :func:`kind_of` finds to be neither; None if it is not recognised."""
    return foreign_text(source.path, _content(outcome or read_members(source)), source.text)


def _content(outcome: Members | Document) -> Content | None:
    """Return the members of the root object; None if the root is another value, or cannot be read."""
    if isinstance(outcome, Members):
        return None if outcome.members is None else {member.key: member.value for member in outcome.members}
    if outcome.root is None or outcome.root.kind != "object":
        return None
    return {member.name: member.value.plain(str) for member in outcome.root.members}


def _is_whole(outcome: Members | Document) -> bool:
    """Return whether the root value can be read."""
    return isinstance(outcome, Members) or outcome.root is not None


def _has_own_mark(content: Content) -> bool:
    """Return whether a list of operators or an action is among the keys; its value is no word or number.

    Vocabularies have all these words as keys, and translations of user interfaces some of them.
    """
    for key, value in content.items():
        if not isinstance(value, dict):
            if key in LISTS and (value is None or isinstance(value, (bool, list))):
                return True
            continue
        is_near = bool(re.fullmatch(NEAR_LIST, key, re.IGNORECASE))
        if key in LISTS or (is_near and not value):
            return True
        action = f"(?:{NEAR_ACTION}|add|remove)" if is_near else NEAR_ACTION
        if any(
            re.fullmatch(action, inner, re.IGNORECASE) and isinstance(held, (dict, list))
            for inner, held in value.items()
        ):
            return True
    return False


def _holds_array(value: Any) -> bool:
    if isinstance(value, dict):
        return list in map(type, value.values())
    return isinstance(value, list)


def _has_mixlist_key(content: Content, text: str) -> bool:
    if any(key.endswith("list") for key in content):
        return True
    if '"to' not in text and "\\u" not in text:  # spares a library the search in all its entries
        return False
    return any(key.startswith(_ACTION_BEGINS) for value in content.values() if isinstance(value, dict) for key in value)


def _looks_like_library(content: Content) -> bool:
    """Return whether all values are objects, and one of them has a section that only entries of libraries have.

    The values of a tensor are strings; where they are others, it is a tensor of another tool.
    """
    if not all(isinstance(entry, dict) for entry in content.values()):
        return False
    for entry in content.values():
        for section, keys in entry.items():
            if not isinstance(keys, dict):
                continue
            if section == PRECISION or (
                TENSOR_SECTION.fullmatch(section) and all(isinstance(value, str) for value in keys.values())
            ):
                return True
    return False


def _kind_by_name(path: str) -> FileKind | None:
    if is_library_name(path):
        return "library"
    return "mixlist" if is_mixlist_name(path) else None


def _kind_of_broken(source: Source) -> FileKind | None:
    """Return the kind of a text that is cut off or broken: by its name, its first keys, or its tensors."""
    if re.match(_SAYS_SNAPSHOT, source.text):
        return "snapshot"
    if (kind := _kind_by_name(source.path)) or not re.match(r"\s*\{", source.text):
        return kind
    for match in islice(re.finditer(_FIRST_KEY, source.text), 3):
        key = match[1]
        if key.endswith("list") or key.startswith(_ACTION_BEGINS):
            return "mixlist"
        if match[2] and (key == PRECISION or re.fullmatch(_NUMBERED_TENSOR, key)):
            return "library"
    is_cut_library = '"paramType"' in source.text and re.search(rf'"{_NUMBERED_TENSOR}"\s*:\s*\{{', source.text)
    return "library" if is_cut_library else None
