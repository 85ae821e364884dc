"""A model's graph, read and judged: for the commands, and for a program.

>>> graph = Graph.read("model.onnx")  # doctest: +SKIP
>>> graph.judge("ascend910b", "mixed_float16", "ops_info.json").counts.low  # doctest: +SKIP
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from ...arguments import checked
from ...core.cann.input_shapes import stated_shapes
from ...core.cann.option_files import CustomizeDtypes, KeepDtype
from .atc_options import NO_OPTIONS, AtcOptions, command_options
from .graph import ModelGraph
from .judge.modes import mode_by_number
from .prepare import prepare
from .readers import read_graph
from .verdict import refusal_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ...core.cann.input_shapes import Shapes, ShapesOf
    from ...core.cann.library import Operators
    from ...core.cann.mixlist import AnyMixlist
    from ...core.cann.target import AnyTarget
    from ..listener import Listener
    from .prepare import PreparedModel
    from .result import Answer


def open_model(path: str, listener: Listener, shapes_of: ShapesOf | None = None) -> ModelGraph:
    """Return a model's graph, and tell what the reader could not read and how it was compiled.

    :param shapes_of: the shapes that are written into it, as :func:`.read_graph` does
    :raises UsageFault: if they do not fit it
    :raises Refused: if the file cannot be read or is not a model
    """
    total = os.path.getsize(path) if os.path.isfile(path) else None
    with listener.progress("reading", total) as advance:
        graph = read_graph(path, advance, shapes_of)
    for note in graph.model.notes:
        listener.note(f"{path}: {note.message}")
    for line in refusal_lines(graph.model):
        listener.warn(f"{path}: {line}")
    if graph.model.atc_cmdline:
        given = command_options(graph.model.command)
        mode = given.get("precision_mode_v2") or given.get("precision_mode")
        listener.note(f"compiled by: {graph.model.atc_cmdline}")
        default = "unknown, the file of --raw_ge_options is not read" if given.get("raw_ge_options") else "its default"
        listener.note(f"precision mode of that command: {mode or default}")
        if given.get("modify_mixlist"):
            listener.note(f"mixlist of that command: {given['modify_mixlist']}")
    elif (number := graph.model.graph_precision_mode) is not None:
        named = mode_by_number(number)
        listener.note(f"precision mode in the file: {named.name if named else number}")
    return graph


def prepare_model(
    graph: ModelGraph,
    against: AnyTarget | Operators | None,
    keep_dtype: KeepDtype | str | os.PathLike[str] | None = None,
    customize_dtypes: CustomizeDtypes | str | os.PathLike[str] | None = None,
    atc: AtcOptions = NO_OPTIONS,
    no_fusion: Collection[str] = (),
) -> PreparedModel:
    """Read the option files and prepare a graph; parameters and errors as of :meth:`Graph.judge`."""
    if isinstance(keep_dtype, (str, os.PathLike)):
        keep_dtype = KeepDtype.read(os.fspath(keep_dtype))
    if isinstance(customize_dtypes, (str, os.PathLike)):
        customize_dtypes = CustomizeDtypes.read(os.fspath(customize_dtypes))
    return prepare(
        graph, against, keep_dtype=keep_dtype, customize_dtypes=customize_dtypes, atc=atc, no_fusion=no_fusion
    )


class Graph(ModelGraph):
    """A model's graph with a method to judge it."""

    @classmethod
    @checked
    def read(cls, path: str | os.PathLike[str], shapes: Shapes | None = None) -> Graph:
        """Return the graph of a model file: a compiled model, a GE dump, ATC JSON, ONNX or TensorFlow.

        :param shapes: of the inputs of an ONNX or TensorFlow model, by name, -1 for an open dimension: as if the file
            had them; inputs that are not named keep those of the file
        :raises UsageFault: if a shape does not fit the model
        :raises Refused: if the file cannot be read or is not a model
        :raises MissingPackage: if it is an ONNX model and the ``onnx`` package is not installed
        """
        return cls.of(read_graph(os.fspath(path), shapes_of=None if shapes is None else partial(stated_shapes, shapes)))

    @classmethod
    def of(cls, graph: ModelGraph) -> Graph:
        """Return the same graph, with the methods of the public API."""
        return cls(graph.nodes, graph.model, graph.subgraphs)

    @checked
    def judge(
        self,
        against: AnyTarget | Operators | None,
        mode: str,
        mixlist: AnyMixlist | None = None,
        *,
        keep_dtype: KeepDtype | str | os.PathLike[str] | None = None,
        customize_dtypes: CustomizeDtypes | str | os.PathLike[str] | None = None,
        output_type: str | None = None,
        input_fp16_nodes: str | None = None,
        op_precision_mode: str | None = None,
        op_select_implmode: str | None = None,
        optypelist_for_implmode: str | None = None,
        allow_hf32: str | None = None,
        no_fusion: Sequence[str] = (),
    ) -> Answer:
        """Return the answer of a mode and a mixlist for this graph.

        :param against: a target, an install, a store, a library, or the path or SoC name of one
        :param mode: any name of a precision mode
        :param mixlist: a mixlist, its path, a parsed one, or marks by op type
        :param keep_dtype: a keep_dtype file, or its path, and so ``customize_dtypes``
        :param output_type: as of atc, ``FP16`` or ``node:0:FP16``; None: as in the model's own command
        :param input_fp16_nodes: as of atc, names of inputs with semicolons; None: as in the model's own command
        :param op_precision_mode: as of atc, the path of a file of implementation modes; None here and for the next
            three: as in the model's own command
        :param op_select_implmode: as of atc, ``high_precision`` or ``high_performance``, also with ``_for_all``
        :param optypelist_for_implmode: as of atc, op types with commas
        :param allow_hf32: as of atc, ``10`` and the like: HF32 for convolutions, for matrix products
        :param no_fusion: fusions that are left out, by the compiler's names of the passes, or ``all``
        :raises UsageFault: if there is no such mode or target, or an option does not fit the model
        :raises Refused: if a file cannot be read, or the engine would refuse it
        """
        atc = AtcOptions(
            output_type, input_fp16_nodes, op_precision_mode, op_select_implmode, optypelist_for_implmode, allow_hf32
        )
        prepared = prepare_model(self, against, keep_dtype, customize_dtypes, atc, no_fusion)
        return prepared.judge(mode, mixlist)
