"""The annotated model that `opsinfo graph --annotate` writes."""

from __future__ import annotations

import os

from ...change.output_file import require_writable, write_file
from ...errors import UsageFault
from ...graph.annotation import annotated
from ...report.formats.summary import counted
from ...report.terminal.output import Output
from .judging import JudgedModel


def require_new(out: str) -> None:
    """:raises UsageFault: if ``out`` exists
    :raises Refused: if no file can be written there
    """
    if os.path.lexists(out):
        raise UsageFault(f"--annotate: {out} exists already", name="exists", hint="choose another name, or remove it")
    require_writable(out)


def write_annotated(path: str, judged: JudgedModel, out: str, output: Output) -> None:
    """Write the model with the answer in its nodes' descriptions.

    :raises UsageFault: if the model is not ONNX, or the new file would not find its weights
    :raises Refused: if it cannot be written
    """
    data, described = annotated(path, judged.answer, out)
    write_file(out, data)
    output.say(f"wrote {out}: {counted(described, 'node')} described")
