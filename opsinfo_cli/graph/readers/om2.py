"""Compiled models in the zip form (``OM2``), which carries its graph as JSON.

Source: hicann/ge base/common/helper/om2/om2_package_contants.h:19-40 (the files inside), om2_zip_saver.cc:385-410;
never tried on a real file, since none is public.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import TYPE_CHECKING

from ...errors import Damaged
from .ge_json import graph_of_json

if TYPE_CHECKING:
    from typing import IO

    from ..graph import ModelGraph

_GRAPH = re.compile(r"(?:[^/]+/)?data/model_\d+/debug/ge_visual_\d+_graph_\d+\.json")
_LONGEST = 1 << 30


def read_om2(file: IO[bytes], path: str) -> ModelGraph:
    """The graph of the first model in the archive.

    :raises Damaged: if the archive is broken or has no graph
    """
    try:
        with zipfile.ZipFile(file) as archive:
            found = sorted(name for name in archive.namelist() if _GRAPH.fullmatch(name))
            if not found:
                hint = "give the .om file that ATC writes by default"
                raise Damaged(
                    "the archive has no graph of a compiled model", name="damaged-model", path=path, hint=hint
                )
            with archive.open(found[0]) as member:
                data = member.read(_LONGEST + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise Damaged(f"broken zip archive: {str(error)[:200]}", name="damaged-model", path=path) from None
    if len(data) > _LONGEST:
        raise Damaged(f"`{found[0]}` is longer than {_LONGEST >> 30} GiB", name="damaged-model", path=path)
    return graph_of_json(data, path, "om")
