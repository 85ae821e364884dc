"""What the commands of `opsinfo systems` share: open a system's lists, and report what that loses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from ...core.cann.near_names import did_you_mean
from ...core.cann.target import TargetOptions
from ...core.terminal.console import Console
from ...core.terminal.open import accepted_mixlist, open_given, open_target, report_doubts
from ...core.terminal.params import Word
from ...core.text.source import Source
from ...errors import UsageFault
from ..decide import FLOATS
from ..input_lists import of_mixlist, of_operators, read_lists
from ..registry import SYSTEMS, lists_of, names_system, system_called
from ..system import System
from ..vocabulary import Loss, OperatorLists, ReadLists

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _systems(_: click.Context, param: click.Parameter) -> Iterator[CompletionItem]:
    """Yield systems, each followed by its levels; for --from and --to the formats."""
    from click.shell_completion import CompletionItem

    for system in SYSTEMS.values():
        if "--to" not in param.opts or system.write:
            yield CompletionItem(system.name, help=system.title)
        if "--to" not in param.opts:
            yield from (CompletionItem(f"{system.name}:{level}", help=system.title) for level in system.levels)


SYSTEM = Word("SYSTEM", _systems, reads=True)
"""NAME, NAME:LEVEL or NAME=FILE[,FILE]."""
FORMAT = Word("FORMAT", _systems)
_SHOWN = 8

_DTYPES = (*FLOATS, "hifloat8", "int8", "int16", "int32", "int64", "uint8", "bool")
_SHORT = {"fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32", "float": "float32"}
_SHORT |= {"fp64": "float64", "double": "float64", "hif8": "hifloat8"}


def dtype_called(text: str) -> str:
    """:raises UsageFault: if it is not a dtype"""
    dtype = _SHORT.get(text, text)
    if dtype not in _DTYPES:
        hint = did_you_mean(text, (*_DTYPES, *_SHORT)) or f"known dtypes: {', '.join(_DTYPES)}"
        raise UsageFault(f"`{text}` is not a dtype", name="unknown-dtype", hint=hint)
    return dtype


DTYPE = Word("DTYPE", lambda *_: FLOATS, parse=dtype_called)


def open_lists(text: str, console: Console, options: TargetOptions) -> OperatorLists:
    """Return the lists of a system or a TARGET.

    :raises UsageFault: if the level is unknown, or the files have another format
    """
    return open_system(text, console) if names_system(text) else lists_of_target(text, console, options).lists


def open_system(text: str, console: Console) -> OperatorLists:
    """:raises UsageFault: if the system or level is unknown, or the files have another format"""
    name, equals, files = text.partition("=")
    if not equals:
        return lists_of(text)
    system = system_called(name)
    if system.input != "text":
        raise UsageFault(f"{name} is a TARGET, not another system", name="wrong-kind", hint=f"give {files}")
    read = read_files(system, files.split(","), None, console, TargetOptions())
    report_losses(read.losses, console)
    return read.lists


def lists_of_target(text: str, console: Console, options: TargetOptions) -> ReadLists:
    """Return the op types of a library, store or install; for a mixlist alone, those whose policy its marks decide."""
    target = open_target(text, console, options)
    if target.kind == "mixlist":
        return ReadLists(of_mixlist(target.mixlist).lists)
    report_doubts(target, console)
    return ReadLists(of_operators(target.operators, text=text))


def read_files(
    system: System, paths: Sequence[str], against: str | None, console: Console, options: TargetOptions
) -> ReadLists:
    """:param against: the TARGET that a mixlist's marks apply to; None to read the marks alone

    :raises UsageFault: if the system has no files to read
    """
    if system.input != "text" and len(paths) != 1:
        raise UsageFault(f"{system.name} takes exactly one {'TARGET' if system.input == 'target' else 'file'}")
    if system.input == "target":
        return lists_of_target(paths[0], console, options)
    if system.input == "text":
        return read_lists(system, [Source.read(path) for path in paths])
    path = system.mixlist_path(Source.read(paths[0])) if system.mixlist_path else paths[0]
    mixlist = accepted_mixlist(path, console)
    target = open_given(against, console, options)
    if target:
        report_doubts(target, console)
    return of_mixlist(mixlist, target.operators if target else None, system.name)


def report_losses(losses: Iterable[Loss], console: Console) -> None:
    """Print one line for each; -v and the JSON document have all names."""
    for loss in losses:
        single = loss.details or loss.names
        shown = len(single) if console.verbose else _SHOWN
        names = ", ".join(single[:shown])
        more = f" and {len(single) - shown} more" if len(single) > shown else ""
        message = f"{loss.message}: {names}{more}" if names else loss.message
        (console.note if loss.is_harmless else console.warn)(message)
