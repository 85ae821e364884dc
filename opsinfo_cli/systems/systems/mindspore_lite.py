"""The MindSpore Lite converter's ini file, which names a mixlist."""

from __future__ import annotations

import os
import re

from ...core.cann.precision_mode import MODES
from ...core.cann.snippet import snippet
from ...core.text.source import Source
from ...errors import Damaged
from ...opening import first_file
from ..system import ConversionOptions, System, WrittenLists
from ..vocabulary import OperatorLists
from . import mixlist

_KEY = re.compile(
    r"^[ \t]*(?:ge\.exec\.modify_mixlist|mixprecision_list_path)[ \t]*=[ \t]*(.+?)[ \t\r]*$", re.MULTILINE
)


def mixlist_path(source: Source) -> str:
    """Return the mixlist path of an ini; a relative one is searched in the working folder, then beside the ini, as
    ``validate --follow`` does.

    :raises Damaged: if the ini names none, or several
    """
    paths = sorted({_unquote(match[1]) for match in _KEY.finditer(source.text)})
    if len(paths) != 1:
        message = "names no mixlist" if not paths else f"names several mixlists: {', '.join(paths)}"
        raise Damaged(f"the ini {message}", path=source.path, hint="name one mixlist in all options")
    beside = os.path.join(os.path.dirname(source.path), paths[0])
    return first_file((paths[0], beside)) or paths[0]


def _unquote(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def write(system: System, lists: OperatorLists, options: ConversionOptions) -> WrittenLists:
    written = mixlist.write(system, lists, options)
    ((name, text),) = written.files.items()
    path = os.path.join(os.path.abspath(options.out), name) if options.out else name
    ini = snippet("mindspore-lite", MODES["allow_mix_precision"], path).text
    return written._replace(files={name: text, "converter.ini": ini})


SYSTEMS = (
    System(
        "mindspore-lite", "MindSpore Lite converter", "ascend", "ini and its mixlist", "ini and mixlist",
        write=write, input="mixlist", mixlist_path=mixlist_path,
    ),
)  # fmt: skip
