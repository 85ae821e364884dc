"""NVIDIA ModelOpt's arguments for `python -m modelopt.onnx.autocast` (interop.md 4.4)."""

from __future__ import annotations

import shlex

from ..errors import Damaged, UsageFault
from ..text.source import Source
from .homes import Base, Home, Written, sorted_into, unlike
from .placed import Class, Lists, Placed, Told
from .systems import System, lists_of

__all__ = ["read", "write"]

_FLAGS = {
    "--op_types_to_include": ("operator", Class.LOW),
    "-opi": ("operator", Class.LOW),
    "--op_types_to_exclude": ("operator", Class.HIGH),
    "-ope": ("operator", Class.HIGH),
    "--nodes_to_include": ("node", Class.LOW),
    "-ni": ("node", Class.LOW),
    "--nodes_to_exclude": ("node", Class.HIGH),
    "-ne": ("node", Class.HIGH),
}
_HOMES = {
    Class.LOW: Home("--op_types_to_include"),
    Class.HIGH: Home("--op_types_to_exclude"),
    Class.FOLLOW: Home(None, False),
    Class.PROMOTE: Home(None, False),
    Class.CLEAR: Home(None, False),
    Class.BANNED: Home("--op_types_to_exclude", False),
}


def read(sources: list[Source], system: System) -> Told:
    """A command line as it is written in a script; include comes first, because it beats exclude.

    :raises Damaged: where its quotes do not close
    """
    if len(sources) != 1:
        raise UsageFault(f"{system.name} is one file")
    try:
        words = shlex.split(sources[0].text.replace("\\\n", " "), comments=True)
    except ValueError as error:
        raise Damaged(f"not a command line: {error}", path=sources[0].path) from None
    own = lists_of(system.name)
    placed: list[Placed] = []
    low, flag = own.low, ""
    for before, word in zip(["", *words], words, strict=False):
        flag, _, value = word.partition("=") if word.startswith("-") else (flag, "", word)
        if flag in _FLAGS and value:
            placed.append(Placed(value, _FLAGS[flag][1], _FLAGS[flag][0], flag))
        if before == "--low_precision_type":
            low = {"bf16": "bfloat16", "fp16": "float16"}.get(word, own.low)
    if not placed:
        raise UsageFault("no operator or node is included or excluded there", path=sources[0].path)
    placed.sort(key=lambda each: each.cls is Class.HIGH)
    return Told(own._replace(placed=(*placed, *own.placed), low=low, version=None))


def write(lists: Lists, base: Base, system: System) -> Written:
    own = lists_of(system.name)
    built_in = own.deciding()
    operators = lists._replace(placed=tuple(each for each in lists.placed if each.scope != "node"))
    found = sorted_into(operators, _HOMES, system.name)
    low = lists.low if lists.low in ("float16", "bfloat16") else own.low
    lines = ["python -m modelopt.onnx.autocast", f"--low_precision_type {'bf16' if low == 'bfloat16' else 'fp16'}"]
    for flag, names in found.lists.items():
        names = [name for name in names if name not in built_in or built_in[name].cls is not _FLAGS[flag][1]]
        lines += [f"{flag} {' '.join(map(shlex.quote, names))}"] if names else []
    for flag in ("--nodes_to_include", "--nodes_to_exclude"):
        nodes = [e.name for e in lists.placed if e.scope == "node" and e.cls is _FLAGS[flag][1]]
        lines += [f"{flag} {' '.join(map(shlex.quote, nodes))}"] if nodes else []
    losses = [*found.losses, *unlike(lists, own.unlisted, low, system.name)]
    return Written({"autocast.sh": " \\\n  ".join(lines) + "\n"}, losses)
