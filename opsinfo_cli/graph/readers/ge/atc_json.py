"""ATC JSON (``atc --mode=1`` and ``--mode=5``): ``ge.proto.ModelDef`` as JSON.

Written from the code that writes such files (hicann/ge parser/parser/common/convert/pb2json.cc:36-249); never tried on
a real file, since none is public.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ....errors import Damaged
from ..tree import messages
from .definition import read_document
from .model import GeModel

if TYPE_CHECKING:
    from typing import IO

    from ...graph import ModelGraph


_LONGEST = 1 << 30


def read_ge_json(file: IO[bytes], path: str) -> ModelGraph:
    """Return the graph of a file from ``atc --mode=1`` or ``--mode=5``.

    :raises Damaged: if it is not JSON, or not a model
    """
    data = file.read(_LONGEST + 1)
    if len(data) > _LONGEST:
        raise Damaged(f"the JSON is longer than {_LONGEST >> 30} GiB", name="bad-json", path=path)
    try:
        document = json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except json.JSONDecodeError as error:
        raise Damaged(error.msg, name="bad-json", path=path, line=error.lineno, column=error.colno) from None
    except UnicodeDecodeError as error:
        raise Damaged(f"the JSON is not UTF-8 (byte {error.start})", name="bad-json", path=path) from None
    except (RecursionError, ValueError):
        raise Damaged(
            "the JSON is nested too deep, or has a number of thousands of digits", name="bad-json", path=path
        ) from None
    if not messages(document, "graph"):
        raise Damaged("the JSON has no graph of the graph engine", name="bad-json", path=path)
    model = GeModel("atc-json", path)
    read_document(document, model)
    return model.close()
