"""An ONNX model with dtype and reason in its node descriptions, for viewers such as Netron."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...errors import UsageFault
from .readers.onnx import external_files

if TYPE_CHECKING:
    from .result import Answer


def annotate(answer: Answer, out: str) -> tuple[bytes, int]:
    """Return the model with the answer in the descriptions of its main graph's nodes, and the number of these nodes.

    An existing description of a node is kept, before the new text. Weights in external files are not moved.

    :raises UsageFault: if the model is not ONNX, or would not find its weights from ``out``
    """
    read = answer.graph.model
    if read.onnx is None:
        raise UsageFault("--annotate requires an ONNX model", name="not-onnx", path=read.path)
    if any(note.kind == "functions" for note in read.notes):
        raise UsageFault("--annotate cannot describe a model that defines functions", name="not-onnx", path=read.path)
    folders = [os.path.realpath(os.path.dirname(path) or ".") for path in (read.path or "", out)]
    if folders[0] != folders[1] and external_files(read.onnx):
        message = "the weights are in other files, beside the model"
        hint = "write the annotated model into the folder of the model"
        raise UsageFault(message, name="external-data", path=read.path, hint=hint)
    model = type(read.onnx)()
    model.CopyFrom(read.onnx)
    unnamed = described = 0
    for node in model.graph.node:
        name = node.name
        if not name and node.op_type != "Constant":
            name = f"{node.op_type}_{unnamed}"
            unnamed += 1
        found = answer.find(name) if name else None
        if found is None:
            continue
        inputs, outputs = (", ".join(dtype or "none" for dtype in side) for side in (found.inputs, found.outputs))
        text = f"opsinfo, {answer.mode.name}: {found.type}: inputs {inputs}; outputs {outputs}"
        text += f" ({found.confidence})" if found.confidence else ""
        node.name = name
        node.doc_string = "\n".join(filter(None, [node.doc_string, f"{text}; {found.why}"]))
        described += 1
    return model.SerializeToString(), described
