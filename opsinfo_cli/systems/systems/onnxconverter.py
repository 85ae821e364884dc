"""onnxconverter-common's `op_block_list` and `node_block_list`."""

from __future__ import annotations

from ...core.text.source import Source
from ...errors import UsageFault
from ..python_text import named_lists
from ..system import System
from ..vocabulary import ListEntry, OperatorClass, ReadLists


def read(system: System, sources: list[Source]) -> ReadLists:
    """Read the lists. A list in the file replaces the default one.

    :raises UsageFault: if the file sets neither list
    """
    (source,) = sources
    own = system.lists()
    constants = {"DEFAULT_OP_BLOCK_LIST": [entry.name for entry in own.entries]}
    wanted, of_nodes = frozenset({"op_block_list", "node_block_list"}), frozenset({"node_block_list"})
    lists, losses = named_lists(source, wanted, constants, of_nodes)
    if not lists:
        raise UsageFault("the file sets neither op_block_list nor node_block_list", path=source.path)
    high = OperatorClass.HIGH
    blocked = [
        ListEntry(name.text, high, origin=name.constant or "op_block_list", is_default=name.constant is not None)
        for name in lists.get("op_block_list", ())
    ]
    nodes = [ListEntry(name.text, high, "node", "node_block_list") for name in lists.get("node_block_list", ())]
    kept = () if "op_block_list" in lists else own.as_defaults()
    return ReadLists(own._replace(entries=(*blocked, *kept, *nodes), version=None), losses)


SYSTEMS = (
    System(
        "onnxconverter", "onnxconverter-common", "onnx", "op_block_list", read=read, facts="onnxconverter",
        instead="pass op_block_list to convert_float_to_float16",
    ),
)  # fmt: skip
