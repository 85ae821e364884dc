"""onnxconverter-common's `op_block_list` and `node_block_list`."""

from __future__ import annotations

from dataclasses import replace

from ...core.text.source import Source
from ...errors import UsageFault
from ..python_text import python_lists
from ..python_values import CalledLibrary, Default
from ..system import System
from ..vocabulary import ListEntry, OperatorClass, ReadLists

_PARAMETERS = (
    "model", "min_positive_val", "max_finite_val", "keep_io_types", "disable_shape_infer", "op_block_list",
    "node_block_list",
)  # fmt: skip


def read(system: System, sources: list[Source]) -> ReadLists:
    """Read the lists. A list in the file replaces the default one.

    :raises UsageFault: if the file sets neither list
    """
    (source,) = sources
    own = system.lists()
    default = "DEFAULT_OP_BLOCK_LIST"
    library = CalledLibrary(
        functions={"convert_float_to_float16": _PARAMETERS},
        names=_PARAMETERS[-2:],
        constants={default: [Default(entry.name) for entry in own.entries]},
    )
    lists, losses = python_lists(source, library, of_nodes=_PARAMETERS[-1:])
    operators, nodes = lists.get("op_block_list", lists.get(default)), lists.get("node_block_list")
    if operators is None and nodes is None:
        raise UsageFault("the file sets neither op_block_list nor node_block_list", path=source.path)
    high = OperatorClass.HIGH
    blocked = []
    for name in operators.items if operators else ():
        is_default = isinstance(name, Default)
        blocked.append(
            ListEntry(str(name), cls=high, origin=default if is_default else "op_block_list", is_default=is_default)
        )
    of_nodes = [
        ListEntry(str(name), scope="node", cls=high, origin="node_block_list")
        for name in (nodes.items if nodes else ())
    ]
    kept = () if operators is not None else own.as_defaults()
    return ReadLists(replace(own, entries=(*blocked, *kept, *of_nodes), version=None), losses)


SYSTEMS = (
    System(
        "onnxconverter", "onnxconverter-common", "onnx", "op_block_list", read=read, facts="onnxconverter",
        instead="pass op_block_list to convert_float_to_float16",
    ),
)  # fmt: skip
