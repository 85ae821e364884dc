"""The MindSpore Lite converter's ini that carries a mixlist (interop.md 1.5)."""

from __future__ import annotations

import os
import re

from ..errors import Damaged
from ..model.precision_mode import MODES
from ..text.source import Source
from . import mixlist
from .homes import Base, Written
from .placed import Lists
from .snippet import snippet
from .systems import System

__all__ = ["mixlist_path", "write"]

_KEY = re.compile(
    r"^[ \t]*(?:ge\.exec\.modify_mixlist|mixprecision_list_path)[ \t]*=[ \t]*(.+?)[ \t\r]*$", re.MULTILINE
)


def mixlist_path(source: Source) -> str:
    """The mixlist an ini names; a relative path is looked for beside the ini where it is not in the working folder.

    :raises Damaged: where it names none, or several
    """
    paths = sorted({match[1] for match in _KEY.finditer(source.text)})
    if len(paths) != 1:
        said = "names no mixlist" if not paths else f"names several mixlists: {', '.join(paths)}"
        raise Damaged(f"the ini {said}", path=source.path, hint="the key is ge.exec.modify_mixlist")
    beside = os.path.join(os.path.dirname(source.path), paths[0])
    return beside if not os.path.exists(paths[0]) and os.path.exists(beside) else paths[0]


def write(lists: Lists, base: Base, system: System) -> Written:
    written = mixlist.write(lists, base, system)
    ((name, text),) = written.files.items()
    path = os.path.join(os.path.abspath(base.out), name) if base.out else name
    return Written(
        {name: text, "converter.ini": snippet("mindspore-lite", MODES["allow_mix_precision"], path).text},
        written.losses,
    )
