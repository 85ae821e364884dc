"""Arguments of NVIDIA ModelOpt's `python -m modelopt.onnx.autocast`."""

from __future__ import annotations

import shlex

from ..errors import Damaged, UsageFault
from ..text.source import Source
from .destinations import ConversionBase, Destination, WrittenLists, default_differences, sorted_by_list
from .systems import System, lists_of
from .vocabulary import ListEntry, OperatorClass, OperatorLists, ReadLists

_FLAGS = {
    "--op_types_to_include": ("operator", OperatorClass.LOW),
    "-opi": ("operator", OperatorClass.LOW),
    "--op_types_to_exclude": ("operator", OperatorClass.HIGH),
    "-ope": ("operator", OperatorClass.HIGH),
    "--nodes_to_include": ("node", OperatorClass.LOW),
    "-ni": ("node", OperatorClass.LOW),
    "--nodes_to_exclude": ("node", OperatorClass.HIGH),
    "-ne": ("node", OperatorClass.HIGH),
}
_DESTINATIONS = {
    OperatorClass.LOW: Destination("--op_types_to_include"),
    OperatorClass.HIGH: Destination("--op_types_to_exclude"),
    OperatorClass.FOLLOW: Destination(None, False),
    OperatorClass.PROMOTE: Destination(None, False),
    OperatorClass.CLEAR: Destination(None, False),
    OperatorClass.BANNED: Destination("--op_types_to_exclude", False),
}


def read(sources: list[Source], system: System) -> ReadLists:
    """Read a command line from a script. Included entries come first, because include beats exclude.

    :raises Damaged: if a quote is not closed
    """
    if len(sources) != 1:
        raise UsageFault(f"{system.name} takes exactly one file")
    try:
        words = shlex.split(sources[0].text.replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise Damaged(f"not a command line: {error}", path=sources[0].path) from None
    own = lists_of(system.name)
    entries: list[ListEntry] = []
    low, flag = own.low, ""
    for before, word in zip(["", *words], words, strict=False):
        flag, _, value = word.partition("=") if word.startswith("-") else (flag, "", word)
        if flag in _FLAGS and value:
            entries.append(ListEntry(value, _FLAGS[flag][1], _FLAGS[flag][0], flag))
        if before == "--low_precision_type":
            low = {"bf16": "bfloat16", "fp16": "float16"}.get(word, own.low)
    if not entries:
        raise UsageFault("the command includes or excludes no operator or node", path=sources[0].path)
    entries.sort(key=lambda each: each.cls is OperatorClass.HIGH)
    return ReadLists(own._replace(entries=(*entries, *own.as_defaults()), low=low, version=None))


def write(lists: OperatorLists, base: ConversionBase, system: System) -> WrittenLists:
    own = lists_of(system.name)
    built_in = own.deciding()
    operators = lists._replace(entries=tuple(each for each in lists.entries if each.scope != "node"))
    found = sorted_by_list(operators, _DESTINATIONS, system.name)
    low = lists.low if lists.low in ("float16", "bfloat16") else own.low
    lines = ["python -m modelopt.onnx.autocast", f"--low_precision_type {'bf16' if low == 'bfloat16' else 'fp16'}"]
    for flag, names in found.lists.items():
        names = [name for name in names if name not in built_in or built_in[name].cls is not _FLAGS[flag][1]]
        lines += [f"{flag} {' '.join(map(shlex.quote, names))}"] if names else []
    for flag in ("--nodes_to_include", "--nodes_to_exclude"):
        nodes = [e.name for e in lists.entries if e.scope == "node" and e.cls is _FLAGS[flag][1]]
        lines += [f"{flag} {' '.join(map(shlex.quote, nodes))}"] if nodes else []
    losses = [*found.losses, *default_differences(lists, own.unlisted, low, system.name)]
    return WrittenLists({"autocast.sh": " \\\n  ".join(lines) + "\n"}, losses, found.dropped)
