"""`opsinfo systems show`: show a system's lists, or the settings of its levels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import click

from ...core.cann.policy import policy_meant
from ...core.terminal.answer import Block, Column, CommandAnswer, Either, Lines, Span, Table
from ...core.terminal.console import Console
from ...core.terminal.params import Choice, Command, match_option, option, prints
from ...near_names import matches
from ..input_lists import CLASSES
from ..registry import system_called
from ..system import System
from ..system_lists import SystemLists
from ..vocabulary import ListEntry, OperatorClass
from .open import SYSTEM, open_system

_BY_POLICY = {str(policy): str(cls) for policy, cls in CLASSES.items()}
_ON = Choice([*map(str, OperatorClass), *_BY_POLICY], meant=policy_meant)


@click.command("show", cls=Command)
@click.argument("text", metavar="SYSTEM", type=SYSTEM)
@option("--on", "classes", multiple=True, type=_ON, help="Only operators of this class; repeatable.")
@match_option
@prints(out=True)
def command(text: str, classes: tuple[str, ...], globs: tuple[str, ...], console: Console) -> CommandAnswer:
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
    found = open_system(text, console)
    wanted = {_BY_POLICY.get(word, word) for word in classes}

    def is_wanted(entry: ListEntry) -> bool:
        return (not wanted or str(entry.cls) in wanted) and matches(entry.name, globs)

    return lists_answer(found, [entry for entry in found.lists.entries if is_wanted(entry)])


def levels_answer(system: System) -> CommandAnswer:
    """The settings of each level, and the sources."""
    levels: dict[str, Any] = system.content.get("levels", {})

    def terminal() -> Iterator[Block]:
        if levels:
            yield _levels_table(levels, system.name)
        says = [f"{name}: {level['says']}" for name, level in levels.items() if level.get("says")]
        yield Lines([*says, *_notes(system)], 2)

    has_default = "default" in system.content
    return CommandAnswer(
        SystemLists(system, system.lists()).to_dict if has_default else system.to_dict,
        lambda: [Either(terminal, lambda: [Table([], _level_rows(levels)) if levels else Lines(_notes(system))])],
    )


def _levels_table(levels: dict[str, Any], name: str) -> Table:
    """Return a table with a column for each level; if that is wider than 80 cells, with a row for each setting."""
    properties = dict.fromkeys(key for level in levels.values() for key in level["properties"])
    rows = [[key, *(level["properties"].get(key, "-") for level in levels.values())] for key in properties]
    rows.append(["not listed", *(level["unlisted"] for level in levels.values())])
    if sum(max(map(len, cells)) + 2 for cells in zip(*rows, strict=True)) <= 80:
        return Table([Column(""), *(Column(level or name) for level in levels)], rows)
    return Table([Column("level"), Column("property"), Column("value")], list(_level_rows(levels)))


def _level_rows(levels: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, level in levels.items():
        for key, value in level["properties"].items():
            yield name or "-", key, value
        yield name or "-", "not listed", level["unlisted"]


def _notes(system: System) -> list[str]:
    content = system.content
    if not content:
        return [system.title]
    return [f"{system.title}: {content['version']}", *content["notes"], f"source: {content['source']}"]


def lists_answer(found: SystemLists, entries: Sequence[ListEntry]) -> CommandAnswer:
    """:param entries: those of the lists that are shown; the last row, `*`, stands for names that are not listed"""
    lists = found.lists
    fields = [[e.name, str(e.cls), e.origin or "-", e.scope, e.module or "-", e.note or "-"] for e in entries]
    fields.append(["*", lists.unlisted, "-", "-", "-", "-"])
    used = [i for i in range(6) if i < 3 or any(row[i] not in ("-", "operator") for row in fields)]
    titles = ("name", "class", "list", "scope", "module", "note")
    columns = [Column(titles[i], dim=i > 2, spare=i > 2) for i in used]
    counts = Counter(entry.cls for entry in entries)
    words = ", ".join(f"{counts[cls]} {cls}" for cls in OperatorClass if counts[cls])
    version = f" ({lists.version})" if lists.version else ""
    return CommandAnswer(
        lambda: found.to_dict(entries),
        lambda: [
            Table(columns, [[row[i] for i in used] for row in fields], lambda: fields),
            remark(f"{len(entries)} names of {lists.title}{version}: {words or 'none'}"),
        ],
        status=int(any(loss.is_unread for loss in found.losses)),
    )


def remark(text: str) -> Either:
    """A line below a table, on a terminal only."""
    return Either(lambda: [Lines([[Span(text, "dim")]])], tuple)
