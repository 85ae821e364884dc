"""Other systems and their lists, as text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ...neighbours.facts import facts
from ...neighbours.systems import System
from ...neighbours.vocabulary import ListEntry, OperatorClass, OperatorLists
from ..escape import row
from ..terminal.output import Output


def show_lists(output: Output, lists: OperatorLists, shown: list[ListEntry]) -> None:
    """Print name, class, list, scope, module and note; the last row, `*`, stands for names that are not listed."""
    rows = [[e.name, str(e.cls), e.origin or "-", e.scope, e.module or "-", e.note or "-"] for e in shown]
    rows.append(["*", lists.unlisted, "-", "-", "-", "-"])
    if not output.on_terminal:
        output.lines(row(*each) for each in rows)
        return
    from ..terminal.table import Column, print_table

    used = [i for i in range(len(rows[0])) if i < 3 or any(each[i] not in ("-", "operator") for each in rows)]
    titles = ("name", "class", "list", "scope", "module", "note")
    columns = [Column(titles[i], dim=i > 2, spare=i > 2) for i in used]
    with output.paged():
        print_table(output, columns, [[each[i] for i in used] for each in rows])
    counts = Counter(each.cls for each in shown)
    said = ", ".join(f"{counts[cls]} {cls}" for cls in OperatorClass if counts[cls])
    version = f" ({lists.version})" if lists.version else ""
    output.tell(f"{len(shown)} names of {lists.title}{version}: {said or 'none'}", prose=True)


def lists_document(lists: OperatorLists, shown: list[ListEntry]) -> dict[str, Any]:
    counts = Counter(each.cls for each in shown)
    return {
        "system": source_document(lists),
        "operators": [_entry_document(each) for each in shown],
        "counts": {str(cls): counts[cls] for cls in OperatorClass},
        "total": len(lists.entries),
    }


def source_document(lists: OperatorLists) -> dict[str, Any]:
    return {
        "name": lists.system,
        "level": lists.level or None,
        "names": lists.names,
        "unlisted": lists.unlisted,
        "low": lists.low,
        "version": lists.version,
    }


def _entry_document(each: ListEntry) -> dict[str, Any]:
    return {
        "name": each.name,
        "class": each.cls,
        "list": each.origin or None,
        "scope": each.scope,
        "module": each.module,
        "note": each.note,
    }


def show_systems(output: Output, systems: list[System]) -> None:
    """Print name, levels, input, output, naming scheme and title; on a terminal the first four."""
    if not output.on_terminal:
        output.lines(
            row(s.name, " ".join(s.levels) or "-", s.reads or "-", s.writes or "-", s.names, s.title) for s in systems
        )
        return
    from ..terminal.places import Words
    from ..terminal.table import Column, print_table

    cells: list[list[str | Words]] = [
        [s.name, Words(tuple(s.levels) or ("-",)), s.reads or "-", s.writes or "-"] for s in systems
    ]
    with output.paged():
        print_table(output, [Column(title) for title in ("system", "levels", "reads", "writes")], cells)
    output.tell("`opsinfo systems SYSTEM` shows the levels of one and the sources of its lists", prose=True)


def show_levels(output: Output, system: System) -> None:
    """Print the levels of one system with their settings, then the sources."""
    if not output.on_terminal:
        output.lines(row(*each) for each in _level_rows(system))
        return
    levels = facts(system.facts)["levels"] if system.facts else {}
    with output.paged():
        if levels:
            _level_table(output, system, levels)
        for name, level in levels.items():
            if level.get("says"):
                output.lines(output.wrapped(f"{name}: {level['says']}", 2))
        for note in _notes(system):
            output.lines(output.wrapped(note, 2))


def _level_table(output: Output, system: System, levels: dict[str, Any]) -> None:
    """Print a column for each level; if they do not fit, a paragraph for each."""
    from ..terminal.table import Column, print_table, required_width

    names = list(dict.fromkeys(name for level in levels.values() for name in level["properties"]))
    rows = [[name, *(level["properties"].get(name, "-") for level in levels.values())] for name in names]
    rows.append(["not listed", *(level["unlisted"] for level in levels.values())])
    columns = [Column(""), *(Column(level or system.name) for level in levels)]
    if required_width(columns, rows) <= output.columns:
        print_table(output, columns, rows)
    else:
        for index, column in enumerate(columns[1:], 1):
            said = ", ".join(f"{each[0]} {each[index]}" for each in rows if each[index] != "-")
            output.lines(output.wrapped(f"{column.title}: {said}", 2))
    output.lines([""])


def _level_rows(system: System) -> Iterator[tuple[str, ...]]:
    for level, content in (facts(system.facts)["levels"] if system.facts else {}).items():
        for name, value in content["properties"].items():
            yield level or "-", name, value
        yield level or "-", "not listed", content["unlisted"]


def _notes(system: System) -> list[str]:
    if not system.facts:
        return [system.title]
    found = facts(system.facts)
    return [f"{system.title}: {found['version']}", *found["notes"], f"source: {found['source']}"]


def system_document(system: System) -> dict[str, Any]:
    found = facts(system.facts) if system.facts else {}
    return {
        "name": system.name,
        "title": system.title,
        "names": system.names,
        "reads": system.reads,
        "writes": system.writes,
        "delta": system.delta,
        "version": found.get("version"),
        "source": found.get("source"),
        "notes": found.get("notes", []),
        "levels": [
            {
                "name": name or None,
                "unlisted": level["unlisted"],
                "says": level.get("says"),
                "properties": level["properties"],
            }
            for name, level in found.get("levels", {}).items()
        ],
    }
