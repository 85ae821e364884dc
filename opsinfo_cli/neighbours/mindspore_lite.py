"""The MindSpore Lite converter's ini file, which names a mixlist."""

from __future__ import annotations

import os
import re

from ..errors import Damaged
from ..model.precision_mode import MODES
from ..text.source import Source
from . import mixlist
from .destinations import ConversionBase, WrittenLists
from .snippet import snippet
from .systems import System
from .vocabulary import OperatorLists

_KEY = re.compile(
    r"^[ \t]*(?:ge\.exec\.modify_mixlist|mixprecision_list_path)[ \t]*=[ \t]*(.+?)[ \t\r]*$", re.MULTILINE
)


def mixlist_path(source: Source) -> str:
    """Return the mixlist path of an ini; a relative one is searched in the working folder, then beside the ini.

    :raises Damaged: if the ini names none, or several
    """
    paths = sorted({match[1] for match in _KEY.finditer(source.text)})
    if len(paths) != 1:
        said = "names no mixlist" if not paths else f"names several mixlists: {', '.join(paths)}"
        raise Damaged(f"the ini {said}", path=source.path, hint="set ge.exec.modify_mixlist to one path")
    beside = os.path.join(os.path.dirname(source.path), paths[0])
    return beside if not os.path.exists(paths[0]) and os.path.exists(beside) else paths[0]


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    written = mixlist.write(lists, base, system)
    ((name, text),) = written.files.items()
    path = os.path.join(os.path.abspath(base.out), name) if base.out else name
    return WrittenLists(
        {name: text, "converter.ini": snippet("mindspore-lite", MODES["allow_mix_precision"], path).text},
        written.losses,
        written.dropped,
        written.unchanged,
    )
