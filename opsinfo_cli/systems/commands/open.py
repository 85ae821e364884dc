"""What the commands of `opsinfo systems` share: open a system's lists, and report what that loses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from ...core.cann.targets.found import TargetOptions
from ...core.terminal.console import Console
from ...core.terminal.open import open_target_or_mixlist
from ...core.terminal.params import Word
from ..decide import FLOATS, dtype_called
from ..input_lists import of_target
from ..registry import SYSTEMS, names_system
from ..system_lists import SystemLists, read_system
from ..vocabulary import Loss, ReadLists

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

DTYPE = Word("DTYPE", lambda *_: FLOATS, parse=dtype_called)


def open_lists(text: str, console: Console, options: TargetOptions) -> ReadLists | SystemLists:
    """Return the lists of a system or a TARGET; of a mixlist alone the op types whose policy its marks decide.

    :raises UsageFault: if the level is unknown, or the files have another format
    """
    if not names_system(text):
        return of_target(open_target_or_mixlist(text, console, options), console.warn)
    return open_system(text, console)


def open_system(text: str, console: Console) -> SystemLists:
    """As :func:`.read_system`, and report what that loses."""
    found = read_system(text)
    report_losses(found.losses, console)
    return found


def report_losses(losses: Iterable[Loss], console: Console) -> None:
    """Print one line for each; -v and the JSON document have all names."""
    for loss in losses:
        single = loss.details or loss.names
        shown = len(single) if console.verbose else _SHOWN
        names = ", ".join(single[:shown])
        more = f" and {len(single) - shown} more" if len(single) > shown else ""
        message = f"{loss.message}: {names}{more}" if names else loss.message
        (console.warn if loss.lossy else console.note)(message)
