"""`opsinfo systems show`: show a system's lists, or the settings of its levels."""

from __future__ import annotations

import click

from ...core.cann.policy import policy_meant
from ...core.terminal.answer import Answer
from ...core.terminal.console import Console
from ...core.terminal.params import Choice, Command, match_option, matches, option, prints
from ..input_lists import CLASSES
from ..registry import system_called
from ..vocabulary import ListEntry, OperatorClass
from .answers import levels_answer, lists_answer
from .open import SYSTEM, open_system

_BY_POLICY = {str(policy): str(cls) for policy, cls in CLASSES.items()}
_ON = Choice([*map(str, OperatorClass), *_BY_POLICY], meant=policy_meant)


@click.command("show", cls=Command)
@click.argument("text", metavar="SYSTEM", type=SYSTEM)
@option("--on", "classes", multiple=True, type=_ON, help="Only operators of this class; repeatable.")
@match_option
@prints(out=True)
def command(text: str, classes: tuple[str, ...], globs: tuple[str, ...], console: Console) -> Answer:
    """Show the lists of a system: each operator with its class, and its list's own name. The last row, `*`, stands for
    names that are not listed. For a system with several levels, NAME alone shows the settings of each level.

    Classes: low is always reduced (white), high stays float32 (black), follow takes its producer's type (gray),
    promote takes its widest input, clear passes low precision on, banned is refused in low precision.

    In a pipe, tab-separated: name, class, list, scope, module, note; for levels level, property, value.

    \b
    Examples:
      opsinfo systems show apex
      opsinfo systems show apex:O1 --on low
      opsinfo systems show mindspore:O2 --format json
      opsinfo systems show habana-hmp=bf16.txt,fp32.txt
    """
    name, equals, _ = text.partition("=")
    system = system_called(name.partition(":")[0])
    has_choice = ":" not in name and not equals and (len(system.levels) > 1 or not system.facts)
    if has_choice and not (classes or globs):
        return levels_answer(system)
    lists = open_system(text, console)
    wanted = {_BY_POLICY.get(word, word) for word in classes}

    def is_wanted(entry: ListEntry) -> bool:
        return (not wanted or str(entry.cls) in wanted) and matches(entry.name, globs)

    return lists_answer(lists, [entry for entry in lists.entries if is_wanted(entry)], system)
