"""Arguments of NVIDIA ModelOpt's `python -m modelopt.onnx.autocast`."""

from __future__ import annotations

import shlex
from contextlib import suppress

from ...core.text.source import Source
from ...errors import Damaged, UsageFault
from ..system import System
from ..vocabulary import ListEntry, Loss, OperatorClass, ReadLists, Scope, loss_of

_FLAGS: dict[str, tuple[Scope, OperatorClass]] = {
    **dict.fromkeys(("--op_types_to_include", "-opi"), ("operator", OperatorClass.LOW)),
    **dict.fromkeys(("--op_types_to_exclude", "-ope"), ("operator", OperatorClass.HIGH)),
    **dict.fromkeys(("--nodes_to_include", "-ni"), ("node", OperatorClass.LOW)),
    **dict.fromkeys(("--nodes_to_exclude", "-ne"), ("node", OperatorClass.HIGH)),
}


def read(system: System, sources: list[Source]) -> ReadLists:
    """Read a command line from a script. Included entries come first, because include beats exclude.

    :raises Damaged: if a quote is not closed, and no line alone has a flag
    """
    (source,) = sources
    words, losses = _words(source)
    own = system.lists()
    entries: list[ListEntry] = []
    low, flag = own.low, ""
    for before, word in zip(["", *words], words, strict=False):
        flag, _, value = word.partition("=") if word.startswith("-") else (flag, "", word)
        if flag in _FLAGS and value:
            scope, cls = _FLAGS[flag]
            entries.append(ListEntry(value, cls, scope, flag))
        if before == "--low_precision_type":
            low = {"bf16": "bfloat16", "fp16": "float16"}.get(word, own.low)
    if not entries:
        raise UsageFault("the command includes or excludes no operator or node", path=source.path)
    entries.sort(key=lambda entry: entry.cls is OperatorClass.HIGH)
    return ReadLists(own._replace(entries=(*entries, *own.as_defaults()), low=low, version=None), losses)


def _words(source: Source) -> tuple[list[str], tuple[Loss, ...]]:
    """Return the words of a script; if a quote is not closed, those of the lines that can be read alone."""
    text = source.text.replace("\\\n", " ")
    with suppress(ValueError):
        return shlex.split(text, comments=True), ()
    words, unread = [], {}
    for number, line in enumerate(text.split("\n"), 1):
        try:
            words += shlex.split(line, comments=True)
        except ValueError as error:
            unread[f"line {number}"] = f"line {number} ({source.path}: {error})"
    if _FLAGS.keys().isdisjoint(word.partition("=")[0] for word in words):
        raise Damaged("not a command line: a quote is not closed", path=source.path)
    return words, loss_of("unread", "these lines are not read, because a quote is not closed", unread, unread.values())


SYSTEMS = (
    System(
        "modelopt", "ModelOpt ONNX autocast", "onnx", "arguments", read=read, facts="modelopt",
        instead="pass --op_types_to_include and --op_types_to_exclude to python -m modelopt.onnx.autocast",
    ),
)  # fmt: skip
