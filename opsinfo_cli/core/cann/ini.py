"""Operator information as an ini of opbuild, read as the vendor's script reads it to make a library of it.

A section is an op type, a key `section.key`. Every repository has its own copy of the script; they differ in the words
that they accept.

Source: hicann/ops-nn at e5c3fa9
- scripts/util/parse_ini_to_json.py
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from ..text.members import RawMember
from ..text.source import Source
from .entry import Entry, comma_parts
from .entry_rules import DTYPES, FORMATS, EntryFault, Sections
from .library import Library, Store

_NAME = r"(?:.*[._-])?aic-(?P<soc>[^.]+?)-ops-info.*\.ini"
_INNER = ("inner", "exc")
"""Folders below the first one with more inis of a build, in the order in which the script reads them."""
_FOLDERS = [f"{top}{inner}" for top in ("", "autogen/") for inner in ("", *_INNER)]
REFUSED = "the vendor's script makes no library of this file; `opsinfo validate` shows all that it refuses"


def soc_of_ini(path: str) -> str | None:
    match = re.fullmatch(_NAME, os.path.basename(path), re.DOTALL)
    return match["soc"] if match else None


def is_ini(path: str, text: str) -> bool:
    """Return whether a file is operator information: by its name, or by the lines that those of opbuild have.

    They are the title of a section, and anywhere `inputN.paramType=`, `outputN.paramType=` or `precision_reduce.flag=`.
    Other inis of CANN have neither: op_precision, fe.ini, config.ini, and those of AI CPU and ATB.
    """
    if not path.lower().endswith(".ini"):
        return False
    return soc_of_ini(path) is not None or bool(
        re.search(_MARK, text, re.MULTILINE) and re.search(r"^\[.*\]\s*$", text, re.M)
    )


_MARK = r"^(?:(?:in|out)put[0-9]+\.paramType|precision_reduce\.flag)="


def inis_in(folder: str) -> dict[str, list[str]]:
    """Return the inis of a build folder by chip, in the order in which the script reads them."""
    found: dict[str, list[str]] = {}
    for inner in _FOLDERS:
        directory = os.path.join(folder, inner).rstrip("/")
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            continue
        for name in names:
            path = os.path.join(directory, name)
            if (soc := soc_of_ini(name)) and os.path.isfile(path):
                found.setdefault(soc, []).append(path)
    return found


def build_of(path: str) -> tuple[str, str | None]:
    """Return the folder and the chip of the build that an ini is part of."""
    folder, name = os.path.split(os.path.abspath(path))
    above, last = os.path.split(folder)
    return above if last in _INNER else folder, soc_of_ini(name)


def rank(source: Source) -> int:
    """Return the number of an ini in the order in which the script reads those of a build."""
    last = os.path.basename(os.path.dirname(os.path.abspath(source.path)))
    return _INNER.index(last) + 1 if last in _INNER else 0


class IgnoredText(NamedTuple):
    """Text that the script drops or replaces in silence; ``start:end`` spans it."""

    start: int
    end: int
    message: str


class Ini(NamedTuple):
    """What the script reads of one file.

    :param members: a section each, in order
    :param ignored: what it drops
    :param refused: why it makes no library at all
    """

    members: list[RawMember]
    ignored: list[IgnoredText]
    refused: list[IgnoredText]


def read_ini(source: Source) -> Ini:
    """Read the lines of a file; line ends are those of :func:`ini_source`."""
    members: list[RawMember] = []
    ignored: list[IgnoredText] = []
    refused: list[IgnoredText] = []
    entry: dict[str, dict[str, str]] = {}
    head: tuple[int, int] | None = None
    is_orphaned = False
    at = last = 0
    for raw in source.text.split("\n"):
        start, at = at, at + len(raw) + 1
        line = raw.rstrip()
        if not line:
            continue
        end = start + len(line)
        if line[0] == "[":
            if line[-1] == "]" and not (source.bom and start == 0):
                if head:
                    members.append(_member(source, entry, head, last))
                entry, head = {}, (start, end)
            else:
                ignored.append(IgnoredText(start, end, _why_dropped(line, source.bom and start == 0, head is not None)))
        elif "=" in line:
            name, _, value = line.partition("=")
            section, dot, key = name.partition(".")
            content = entry.setdefault(section, {})
            if dot and "." not in key and key not in content:
                content[key] = value
            elif section != "kernelSrc" or not dot or "." in key:
                refused.append(_why_refused(name, start))
            if head is None and not is_orphaned:
                ignored.append(IgnoredText(start, end, "keys before the first section: the script drops them"))
                is_orphaned = True
        elif line.lstrip()[0] == "[":
            ignored.append(IgnoredText(start, end, _why_dropped(line, False, head is not None)))
        elif line.lstrip()[0] not in ";#":
            ignored.append(IgnoredText(start, end, "the script drops a line without `=`"))
        last = end
    if head:
        members.append(_member(source, entry, head, last))
    else:
        refused.append(IgnoredText(0, 1, "no op type: the script finds no line that is `[OpType]` (Not find OpType)"))
    left = {member.key: member for member in members}
    for member in members:
        if (winner := left[member.key]) is not member:
            number = source.place(winner.key_start).line
            message = f"section `{member.key}` is replaced, with all its keys, by the one in line {number}"
            ignored.append(IgnoredText(member.key_start, member.key_end, message))
    return Ini(members, sorted(ignored), refused)


def _why_refused(name: str, start: int) -> IgnoredText:
    """Return why the script fails on a key: by its form, else because its section has it already."""
    dots = name.count(".")
    if dots == 1:
        message = f"`{name}` is there twice in its section: the script fails (is repeated)"
    else:
        count = "more than one dot" if dots else "no dot"
        message = f"`{name}` has {count}: a key is `section.key`, and the script fails (ValueError)"
    return IgnoredText(start, start + max(len(name), 1), message)


def _member(source: Source, entry: dict[str, dict[str, str]], head: tuple[int, int], end: int) -> RawMember:
    entry.pop("kernelSrc", None)  # the script skips it
    return RawMember(source.text[head[0] + 1 : head[1] - 1], entry, *head, head[0], end, False, True)


def _why_dropped(line: str, is_after_bom: bool, has_section: bool) -> str:
    if is_after_bom:
        return "the byte order mark hides the first section from the script, which drops it with all its keys"
    why = "does not end in `]`" if line[0] == "[" else "does not begin in the first column"
    keys = "the keys after it go to the section before" if has_section else "the keys after it are dropped"
    return f"a section {why}: the script drops the line, and {keys}"


def ini_source(source: Source) -> Source:
    """Return a source whose lines end as Python reads them: CR, LF or both are one line end."""
    if "\r" in source.text:
        source.text = re.sub("\r\n?", "\n", source.text)
    return source


# What the script checks after it has read all files, so only of sections that no other one replaces.


_SCRIPTS = ("ops-nn", "ops-math", "ops-cv", "vllm-ascend", "asc-devkit")
"""The repositories whose copies of the script are known (commits in docs/sources.md)."""
_IN_NONE = (
    "float6_e2m3 float6_e3m2 hifloat4 uint2 variant ALL C1HWC0 DECONV_SP_STRIDE8_TRANS FRACTAL_Z_WINO LOOKUP_HITS "
    "LOOKUP_KEYS LOOKUP_LOOKUPS LOOKUP_OUTPUT LOOKUP_VALUE NCL ND_RNN_BIAS NYUV NYUV_A"
)
_IN_ALL_BUT_CV = (
    "complex32 hifloat8 float4_e1m2 float4_e2m1 float8_e4m3fn float8_e5m2 float8_e8m0 FRACTAL_NZ_C0_2 FRACTAL_NZ_C0_4"
)
_NOT_IN = {
    **dict.fromkeys(_IN_NONE.split(), _SCRIPTS),
    **dict.fromkeys(_IN_ALL_BUT_CV.split(), ("ops-cv",)),
    "int2": ("ops-nn", "ops-cv"),
    "FRACTAL_NZ_C0_8": ("ops-math", "ops-cv", "vllm-ascend"),
    "FRACTAL_NZ_C0_16": ("ops-nn", "ops-cv", "asc-devkit"),
    "FRACTAL_NZ_C0_32": ("ops-cv", "asc-devkit"),
}
"""Words that the engine knows -> the copies of the script that refuse them."""
_ONLY_IN_SCRIPTS = (
    *("FRACTAL_DECONV_SP_STRIDE8_TRANS", "FRACTAL_ZZ", "HASHTABLE_LOOKUP_LOOKUPS", "HASHTABLE_LOOKUP_KEYS"),
    *("HASHTABLE_LOOKUP_VALUE", "HASHTABLE_LOOKUP_OUTPUT", "HASHTABLE_LOOKUP_HITS"),
)
_WORDS = {"dtype": DTYPES, "format": FORMATS.union(_ONLY_IN_SCRIPTS)}
_FLAGS = (
    *("dynamicFormat", "dynamicShapeSupport", "dynamicRankSupport", "precision_reduce", "heavyOp"),
    *("needCheckSupport", "enableVectorCore"),
)
_PARAM_TYPES = ("dynamic", "optional", "required")
_ATTR_TYPES = (
    *("int", "float", "bool", "str", "listInt", "listFloat", "listBool", "listStr", "listListInt"),
    *("type", "listType", "tensor", "listTensor"),
)


def script_faults(sections: Sections) -> Iterator[EntryFault]:
    """Yield what the script refuses of an op type, ``ini-refused``, and words that only some copies refuse,
    ``unknown-to-script``.
    """
    for section, content in sections.items():
        if section.startswith(("input", "output")):
            for fault in _tensor_faults(*map(content.get, ("name", "paramType", "dtype", "format"))):
                yield fault._replace(section=section)
    if "attr" in sections:
        yield from _attr_faults(sections)
    for section in _FLAGS:
        if section in sections:
            flag = sections[section].get("flag")
            if flag is None:
                yield _fault(section, None, f"section `{section}` has no key `flag`, and the script fails")
            elif flag.strip() not in ("true", "false"):
                yield _fault(section, "flag", f"`{section}.flag` is `{flag}`; the script takes `true` or `false` only")


def _fault(section: str, key: str | None, message: str, token: int | None = None) -> EntryFault:
    return EntryFault("ini-refused", section, key, message, token)


@lru_cache(maxsize=1 << 12)
def _tensor_faults(
    name: str | None, param_type: str | None, dtype: str | None, format_: str | None
) -> tuple[EntryFault, ...]:
    faults = []
    missing = [key for key, value in (("name", name), ("paramType", param_type)) if value is None]
    if missing:
        faults.append(_fault("", None, f"the script requires {' and '.join(f'`{key}`' for key in missing)}"))
    elif param_type not in _PARAM_TYPES:
        faults.append(_fault("", "paramType", f"`paramType` is `{param_type}`; the script takes {_join(_PARAM_TYPES)}"))
    counts = []
    for key, text in (("dtype", dtype), ("format", format_)):
        words = [word.strip() for word in text.split(",")] if text else []
        counts.append(len(words))
        for index, word in enumerate(words):
            if word not in _NOT_IN and word in _WORDS[key]:
                continue
            scripts = _NOT_IN.get(word)
            if scripts == _SCRIPTS:
                faults.append(_fault("", key, f"every known copy of the script refuses `{word}`", index))
            else:  # one that no list has may be newer than all of them
                whose = f"refused by the script of {_join(scripts, 'and')}" if scripts else _IN_NO_SCRIPT
                message = f"`{word}` {whose}"
                faults.append(EntryFault("unknown-to-script", "", key, message, index, word=word, whose=whose))
    if all(counts) and counts[0] != counts[1]:
        faults.append(_fault("", "format", f"{counts[1]} entries in `format`, {counts[0]} in `dtype`"))
    return tuple(faults)


_IN_NO_SCRIPT = "in no known copy of the script"


def _join(words: Sequence[str], last: str = "or") -> str:
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _attr_faults(sections: Sections) -> Iterator[EntryFault]:
    listed = sections["attr"].get("list")
    if listed is None:
        yield _fault("attr", None, "section `attr` has no key `list`")
        return
    for index, word in enumerate(listed.split(",")):
        section = f"attr_{word.strip()}"
        content = sections.get(section)
        if not content:
            yield _fault("attr", "list", f"`attr.list` has `{word.strip()}`, but there is no `{section}`", index)
            continue
        if "type" not in content or "value" not in content:
            yield _fault(section, None, "the script requires `type` and `value`")
        if content.get("paramType") and content["paramType"] not in ("optional", "required"):
            yield _fault(section, "paramType", f"`paramType` is `{content['paramType']}`, not `optional` or `required`")
        if content.get("type") and content["type"] not in _ATTR_TYPES:
            yield _fault(section, "type", f"`{content['type']}` is not an attribute type of the script")


class IniEntry(Entry):
    """A section of an ini."""

    hint = REFUSED

    @property
    def faults(self) -> Sequence[EntryFault]:
        return (*super().faults, *script_faults(self.value))

    def combination_faults(self, words_are_right: bool) -> Sequence[EntryFault]:
        return (*super().combination_faults(words_are_right), *script_faults(self.value))

    def span(self, fault: EntryFault) -> tuple[int, int]:
        """Return the span of the line of a fault, or of the word in it; without a key that of the section."""
        span = self._lines.get((fault.section, fault.key)) if fault.section is not None else None
        if span is None:
            return self.member.key_start, self.member.key_end
        start, stop = span
        if fault.token is None:
            return start, stop
        if span not in self._words:  # once for all faults of a line
            at = self.source.text.find("=", start) + 1
            parts = comma_parts(self.source.text[at:stop].rstrip())
            self._words[span] = [(at + first, at + end) for first, end in parts]
        return self._words[span][fault.token]

    @cached_property
    def _words(self) -> dict[tuple[int, int], list[tuple[int, int]]]:
        return {}

    @cached_property
    def _lines(self) -> dict[tuple[str, str | None], tuple[int, int]]:
        """The span of the first line of each key, and of each section (key None)."""
        found: dict[tuple[str, str | None], tuple[int, int]] = {}
        at = self.member.key_end
        for line in self.source.text[at : self.member.end].split("\n"):
            name, mark, _ = line.partition("=")
            section, _, key = name.partition(".")
            start = at + len(line) - len(line.lstrip())
            for each in ((section.strip(), key.strip()), (section.strip(), None)) if mark else ():
                found.setdefault(each, (start, at + len(line)))
            at += len(line) + 1
        return found


class IniLibrary(Library):
    """The sections of one ini; of equal ones the last.

    :param ini: with what the script drops and refuses
    """

    def __init__(self, source: Source, ini: Ini) -> None:
        super().__init__(source, ini.members)
        self.ini = ini

    def entry_of(self, member: RawMember) -> Entry:
        return IniEntry(self.source, member, self._has_blanks)


class IniStore(Store):
    """The inis of one chip, read one after the other: a later section replaces an earlier one."""

    def __init__(self, libraries: Sequence[IniLibrary]) -> None:
        super().__init__(libraries)
        for library in libraries:
            self.remarks += [library.source.damaged(each.message, each.start) for each in library.ini.ignored]

    def contenders(self, name: str) -> list[Entry]:
        return self.definitions[name][-1:]


def ini_store(sources: Sequence[Source]) -> IniStore:
    """Load the inis of one chip, as one call of the script.

    :raises Damaged: if the script, or the engine, refuses one
    """
    libraries = []
    for source in map(ini_source, sources):
        library = IniLibrary(source, read_ini(source))
        for refused in library.ini.refused:
            raise source.damaged(refused.message, refused.start, REFUSED)
        for entry, fault in library.structure_faults():
            raise entry.damaged(fault)
        libraries.append(library)
    store = IniStore(libraries)
    store.require_loadable()
    return store
