"""Which files of a folder are OpDef sources.

A build takes ``<op>/op_host/<op type>_def.cpp`` by name, but projects of users name the file freely and often keep the
tiling in it. Sources are therefore recognised by content: they register an op type. Where a text shows no more than
that, because a header has the class, its base or the include of the registry, reading decides (:func:`shows_class`).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ....errors import Refused, counted, join_some
from ....opening import folders_above, open_file, unreadable
from ..repository import git_root

SUFFIXES = (".cpp", ".cc", ".cxx")
LARGEST = 4 << 20
"""Bytes of a source or header. The largest of 1,500 real sources has 0.3 MB."""

MOST_FILES = 200_000
"""Files below a folder that is walked. The largest of six checkouts has 22,209."""

LEFT_OUT = frozenset(
    {
        *("op_kernel", "op_kernel_aicpu"),  # code of the chip; AI CPU operators, another library with the same names
        *("test", "tests", "examples", "example", "template", "templates"),
        *("build", "build_out", "third_party", "node_modules"),
        "experimental",  # a build of its own that repeats op types
    }
)
"""Folders that are read only if they, or something in them, are named."""

NAMED_IF_LEFT_OUT = frozenset({"experimental", "examples", "example", "template", "templates"})
"""Those of them in which operators of AI Core may be; that they are passed over is said."""

_REGISTERS = re.compile(rb"^(?:[^\n/]|/(?!/))*?\bOP_ADD\s*\(\s*[A-Za-z_]\w*\s*[,)]", re.MULTILINE)
"""Not behind ``//``."""
_CLASS = re.compile(rb"OpDef\b|\bop_def_registry\.h\"")
"""The name of a class that ends with ``OpDef``, wherever it stands; or the header of the registry."""


class NotRead(NamedTuple):
    """A file with ``OP_ADD(`` that was passed over.

    :param is_read: whether it was read, and is of another program; else it lies in a folder that is left out
    """

    path: str
    reason: str
    is_read: bool = True


def passed_over_note(not_read: Sequence[NotRead]) -> str:
    """Return the line that counts the files that were passed over, by reason."""
    reasons = Counter("not read" if each.is_read else each.reason for each in not_read)
    why = join_some([f"{count} {reason}" for reason, count in sorted(reasons.items())])
    return f"{counted(len(not_read), 'file')} with `OP_ADD(` passed over: {why}; -v lists them"


class Sources(NamedTuple):
    """:param left_out: files in folders that are read only if they are named"""

    files: list[str]
    left_out: list[NotRead]


def is_source(text: bytes) -> bool:
    """Return whether a text may register an op type; other programs have a macro ``OP_ADD``, too.

    >>> is_source(b"class A : public OpDef {}; OP_ADD(A);"), is_source(b"// OP_ADD is explained in the manual")
    (True, False)
    """
    return b"OP_ADD" in text and _REGISTERS.search(text) is not None


def shows_class(path: str, text: bytes) -> bool:
    """Return whether the text or the name of a file shows that its ``OP_ADD`` is that of OpDef sources."""
    is_named = os.path.basename(path).partition(".")[0].endswith("_def") or "op_host" in path.split("/")
    return is_named or _CLASS.search(text) is not None


def is_experimental(path: str) -> bool:
    """Return whether a source lies in a folder ``experimental``, whose operators are not part of the package."""
    return "experimental" in path.split("/")[:-1]


def build_folder(path: str) -> str:
    """Return the folder of the build that a source is part of: its last one of :data:`LEFT_OUT`, or the top."""
    parts = path.split("/")[:-1]
    last = max((at for at, part in enumerate(parts, start=1) if part in LEFT_OUT), default=0)
    return "/".join(parts[:last])


def left_out_of(file: str, folders: frozenset[str]) -> NotRead:
    """Return a source that is passed over because of the folders that it is in."""
    return NotRead(file, f"below `{min(folders)}`", is_read=False)


def find_sources(path: str) -> Sources:
    """Return the OpDef sources of a file, folder, checkout or project, sorted.

    Folders in :data:`LEFT_OUT` and hidden ones are passed over below ``path``, and sources in those where operators may
    be are named; symbolic links to folders are not followed.

    :raises Refused: if the path cannot be read, or has more than :data:`MOST_FILES`
    """
    if not os.path.isdir(path):
        return Sources([path] if is_source(read_source(path)) else [], [])

    def refuse(error: OSError) -> None:
        raise unreadable(error, error.filename) from None

    found: list[str] = []
    left_out: list[NotRead] = []
    seen = 0
    for parent, folders, files in os.walk(path, onerror=refuse):
        seen += len(files)
        if seen > MOST_FILES:
            message = f"no target at its top, and more than {MOST_FILES:,} files in which sources may be"
            raise Refused(message, path=path, hint="name the folder of the operators")
        above = LEFT_OUT.intersection(parent[len(path) :].split("/"))
        wanted = LEFT_OUT - (frozenset() if above else NAMED_IF_LEFT_OUT)
        folders[:] = [name for name in folders if name not in wanted and not name.startswith(".")]
        for file in (os.path.join(parent, name) for name in files if name.endswith(SUFFIXES)):
            try:
                registers = is_source(read_source(file, path if os.path.islink(file) else None))
            except Refused:  # its reader names the reason
                registers = file.endswith("_def.cpp")
            if registers and above:
                left_out.append(left_out_of(file, above))
            elif registers:
                found.append(file)
    return Sources(sorted(found), sorted(left_out))


def read_source(path: str, tree: str | None = None) -> bytes:
    """Return the text of a source or header.

    :param tree: the folder in which the path was met; None for a path that the user names
    :raises Refused: if the file cannot be read, is outside the tree, or is larger than :data:`LARGEST`
    """
    with open_file(path, tree) as file:
        text = file.read(LARGEST + 1)
    if len(text) > LARGEST:
        raise Refused(f"the file has more than {LARGEST >> 20} MB, which no OpDef source has", path=path)
    return text


def project_of(path: str) -> str:
    """Return the folder that includes of a source, or of the sources of a folder, may lead into.

    It is the nearest repository of git; without one the outermost folder above with a ``CMakeLists.txt``, because a
    build sees no further; else the folder itself.
    """
    named = os.path.abspath(path)
    folder = named if os.path.isdir(named) else os.path.dirname(named)
    above = [folder, *folders_above(folder)]
    built = [each for each in above if os.path.isfile(os.path.join(each, "CMakeLists.txt"))]
    return git_root(folder) or (built[-1] if built else folder)
