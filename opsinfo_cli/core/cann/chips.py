"""Names of chips, and the folder that each has in an operator package.

People say other names, as 910C or Atlas A3; these are for hints only, because a series has several chips.
``data/chips.json`` is written by ``python -m tools.chips`` from the ``platform_config/*.ini`` of a toolkit and of
hicann/runtime and from the build scripts of operators; it names its sources. An install's own ini files come first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from ...errors import UsageFault
from ...near_names import meant, near_names
from ..package_data import package_data

EARLIER_NAMES = {"ascend910_95": "ascend950"}
"""Folders of chips under their earlier names, and under their present ones.

Source: hicann/ge at ffdcbc9f
- compiler/engines/hccl_engine/hcom_graph_adaptor/ge_plugin/common/device_capability.cc:62-63
"""


class Folder(NamedTuple):
    """What is known of the chips of a folder.

    :param chips: as the ini files spell them: ``Ascend910B4-1``
    :param bf16: whether the engine takes a bfloat16 mode for them; None if no ini file says so
    :param hf32: whether they compute float32 in HF32 where it is allowed
    """

    chips: tuple[str, ...] = ()
    bf16: bool | None = None
    hf32: bool | None = None


@cache
def known_folders() -> Mapping[str, Folder]:
    """Return the folders of the table; the folders on the disk decide which an install has."""
    return {
        name: Folder(tuple(facts["chips"]), facts["bf16"], facts["hf32"])
        for name, facts in package_data(__package__, "chips")["folders"].items()
    }


class PeoplesName(NamedTuple):
    """A name that people use for a product or a chip, which no command takes.

    :param source: the page that says which folder it is
    """

    name: str
    folder: str
    source: str


@cache
def peoples_names() -> Sequence[PeoplesName]:
    return [PeoplesName(**each) for each in package_data(__package__, "chips")["names"]]


def _plain(name: str) -> str:
    """Return a name without the maker's, blanks and case: ``Atlas 800I A2`` and ``800ia2`` are equal."""
    return re.sub(r"[\s_-]|加速卡", "", name.lower()).removeprefix("ascend").removeprefix("atlas")


def known_as(name: str) -> list[PeoplesName]:
    """Return the names of people that are equal to a name, else those that begin with it: ``Atlas 800``."""
    plain = _plain(name)
    if len(plain) < 2:
        return []
    equal = [each for each in peoples_names() if _plain(each.name) == plain]
    begun = [each for each in peoples_names() if _plain(each.name).startswith(plain)]
    return equal or begun


def folder_facts(folder: str) -> Folder:
    return known_folders().get(folder, Folder())


def chip_folder(name: str, own: Mapping[str, str] | None = None, folders: Collection[str] = ()) -> str | None:
    """Return the folder of a chip; None if the name is unknown.

    A name is a folder's (``ascend910b``), a chip's in any case (``Ascend910B3``), or one of these without ``Ascend``,
    as ``npu-smi`` prints it (``910B3``, ``910_9362``). A folder's exact name comes first: ``ascend910b`` is the folder
    of the A2 series, ``Ascend910B`` with a capital a chip of the old 910.

    :param own: chip -> folder of an install; it comes before the table
    :param folders: folders that are known besides those of the table
    """
    spellings = (name, f"ascend{name}")
    for spelling in spellings:
        if spelling in folders or spelling in known_folders():
            return spelling
    table = {chip: folder for folder, facts in known_folders().items() for chip in facts.chips}
    for chips in (own or {}, table):
        by_lower = {chip.lower(): folder for chip, folder in chips.items()}
        for spelling in spellings:
            if spelling.lower() in by_lower:
                return by_lower[spelling.lower()]
    lower = [spelling.lower() for spelling in spellings]
    return next((each for each in lower if each in folders or each in known_folders()), None)


def folder_of(name: str, folders: Collection[str], own: Mapping[str, str] | None = None) -> str | None:
    """Return which of the folders is that of a chip; None if it is none of them. See :func:`chip_folder`."""
    folder = chip_folder(name, own, folders)
    if folder in folders:
        return folder
    same = {**EARLIER_NAMES, **{new: old for old, new in EARLIER_NAMES.items()}}.get(folder or "")
    return same if same in folders else None


def called(folder: str) -> list[str]:
    """Return what people call the chips of a folder and the products that have them, the best known first."""
    return [each.name for each in peoples_names() if each.folder == folder]


def chips_in(folder: str, own: Mapping[str, str] | None = None) -> list[str]:
    """Return the chips of a folder, of an install's own ini files if they name any, else of the table."""
    return [chip for chip, its in (own or {}).items() if its == folder] or list(folder_facts(folder).chips)


_LIKELIEST = ("ascend910b", "ascend910_93", "ascend310p", "ascend910", "ascend950")


def likeliest_chip(folders: Sequence[str]) -> str:
    """Return the folder that a hint has as its example: of a common series if there is one, else the first."""
    return next((each for each in _LIKELIEST if each in folders), folders[0])


def note_of(name: str, folder: str | None) -> list[str]:
    """Return a message for a name that is easily taken for another chip."""
    if folder == "ascend910" and name.lower() in ("ascend910b", "910b"):
        return [f"`{name}` is the old 910; the A2 series (910B1 to 910B4) is `ascend910b`"]
    return []


def suggest(name: str, folders: Collection[str], own: Mapping[str, str] | None = None) -> list[str]:
    """Return folders with a similar name, of the same series: 310 is not 910; if chips are all more similar, these."""
    number = re.search("[0-9]{3}", name)
    chips = {chip for folder in folders for chip in chips_in(folder, own) if chip.lower() not in folders}
    spelt = f"Ascend{name}" if number and number.start() == 0 else name
    near = near_names(spelt, [each for each in {*folders, *chips} if number is None or number[0] in each])
    return [each for each in near if each in folders] or near


def meant_chip(name: str, folders: Collection[str], own: Mapping[str, str] | None = None) -> str | None:
    """Return a hint on a chip that is not known: what people call so, else a similar name; None if there is neither."""
    named: dict[str, list[str]] = {}
    for each in known_as(name):
        named.setdefault(each.folder, []).append(each.name)
    if named:
        said = " or ".join(f"`{folder}` ({', '.join(names)})" for folder, names in named.items())
        is_there = any(folder_of(folder, folders, own) for folder in named)
        return f"did you mean {said}?" if is_there else f"that is {said}; it has {', '.join(folders) or 'none'}"
    return meant(suggest(name, folders, own))


def unknown_chip(name: str, folders: Collection[str], own: Mapping[str, str] | None, path: str) -> UsageFault:
    known = chip_folder(name, own)
    message = f"`{known}` is none of its chips" if known else f"unknown chip `{name}`"
    has = "it has " + (", ".join(folders) or "none")
    hint = has if known else meant_chip(name, folders, own) or has
    if re.fullmatch("(?!Ascend)[A-Z][A-Za-z]+[0-9]{0,2}[A-Za-z]*", name) and hint == has:
        hint = f"an op type comes after the target, as in `opsinfo show TARGET OP`; {has}"
    return UsageFault(message, name="unknown-soc", path=path, hint=hint)
