"""The list that a search leaves, written through the safe writer or into the run folder."""

from __future__ import annotations

import os

from ...bisect.trial import RunFolder
from ...change.output_file import write_file
from ...report.terminal.output import Output
from ..shared.common_options import WriteOptions
from ..shared.mixlist_output import built
from ..shared.writing import WriteRun

BEST = "best.json"


def delivered_list(
    text: str, base: str | None, out: str | None, folder: RunFolder, writing: WriteOptions, output: Output
) -> str:
    """Write a mixlist to ``out``, or as ``best.json`` into the run folder.

    :param base: the mixlist that it was made from
    :returns: its path
    :raises Refused: if it cannot be written
    """
    if out is None:
        path = os.path.relpath(os.path.join(folder.path, BEST))
        write_file(path, text.encode("utf-8"))
        output.tell(f"wrote {path}")
        return path
    from ...text.source import Source

    run = WriteRun("bisect", output, writing, undo=out)
    sources = [Source.read(base)] if base is not None and os.path.exists(base) else []
    result = built(run, out, text, sources)
    for file in result.files:
        if file.patch:
            output.tell(f"made {out}" if file.is_new else f"wrote {out}; backup {file.backup}")
        else:
            output.tell(f"{out} holds this list already")
    return out
