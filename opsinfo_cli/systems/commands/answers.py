"""The answers of `opsinfo systems`: systems, their levels and lists, differences, decisions, conversions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.commands.differences_view import difference_members
from ...core.terminal.answer import Answer, Block, Cell, Column, Either, Exact, Lines, Span, Table, members
from ...core.terminal.changes import change_notes, diffs, status_of
from ...errors import UsageFault
from ..facts import facts
from ..system import System
from ..vocabulary import ListEntry, OperatorClass, OperatorLists

if TYPE_CHECKING:
    from ...core.change.plan import Result
    from ...core.compare import Difference
    from ..conversion import Conversion
    from ..decide import Decision

_OUTCOMES = {"not-known": "unknown", "refused": "refused"}


def systems_answer(systems: Sequence[System]) -> Answer:
    columns = [Column("system"), Column("levels"), Column("reads"), Column("writes")]
    cells = [[s.name, " ".join(s.levels) or "-", s.reads or "-", "yes" if s.writes else "-"] for s in systems]
    fields = [[*row[:3], s.writes or "-", s.names, s.title] for row, s in zip(cells, systems, strict=True)]
    return Answer(
        lambda: {"systems": [_system(system) for system in systems]},
        lambda: [
            Table(columns, cells, lambda: fields),
            _remark("`opsinfo systems show SYSTEM` shows the levels of one, and NAME:LEVEL its lists"),
        ],
    )


def _remark(text: str) -> Either:
    """A line below a table, on a terminal only."""
    return Either(lambda: [Lines([[Span(text, "dim")]])], tuple)


def levels_answer(system: System) -> Answer:
    """The settings of each level, and the sources."""
    content = _content(system)
    levels: dict[str, Any] = content.get("levels", {})

    def terminal() -> Iterator[Block]:
        if levels:
            yield _levels_table(levels, system.name)
        says = [f"{name}: {level['says']}" for name, level in levels.items() if level.get("says")]
        yield Lines([*says, *_notes(system)], 2)

    default = {"lists": system.lists()} if "default" in content else {}
    return Answer(
        lambda: {"systems": [_system(system)], **(_lists(default["lists"]) if default else {})},
        lambda: [Either(terminal, lambda: [Table([], _level_rows(levels))])],
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
    content = _content(system)
    if not content:
        return [system.title]
    return [f"{system.title}: {content['version']}", *content["notes"], f"source: {content['source']}"]


def _content(system: System) -> dict[str, Any]:
    return facts(system.facts) if system.facts else {}


def _system(system: System) -> dict[str, Any]:
    content = _content(system)
    return {
        **members(system, "name", "title", "names", "reads", "writes", "delta"),
        "version": content.get("version"),
        "source": content.get("source"),
        "notes": content.get("notes", []),
        "levels": [
            {
                "name": name or None,
                "unlisted": level["unlisted"],
                "says": level.get("says"),
                "properties": level["properties"],
            }
            for name, level in content.get("levels", {}).items()
        ],
    }


def lists_answer(lists: OperatorLists, entries: Sequence[ListEntry], system: System) -> Answer:
    """:param entries: those of the lists that are shown; the last row, `*`, stands for names that are not listed"""
    fields = [[e.name, str(e.cls), e.origin or "-", e.scope, e.module or "-", e.note or "-"] for e in entries]
    fields.append(["*", lists.unlisted, "-", "-", "-", "-"])
    used = [i for i in range(6) if i < 3 or any(row[i] not in ("-", "operator") for row in fields)]
    titles = ("name", "class", "list", "scope", "module", "note")
    columns = [Column(titles[i], dim=i > 2, spare=i > 2) for i in used]
    counts = Counter(entry.cls for entry in entries)
    words = ", ".join(f"{counts[cls]} {cls}" for cls in OperatorClass if counts[cls])
    version = f" ({lists.version})" if lists.version else ""
    return Answer(
        lambda: {"systems": [_system(system)], **_lists(lists, entries)},
        lambda: [
            Table(columns, [[row[i] for i in used] for row in fields], lambda: fields),
            _remark(f"{len(entries)} names of {lists.title}{version}: {words or 'none'}"),
        ],
    )


def _lists(lists: OperatorLists, entries: Sequence[ListEntry] | None = None) -> dict[str, Any]:
    entries = lists.entries if entries is None else entries
    counts = Counter(entry.cls for entry in entries)
    return {
        "system": _source(lists),
        "operators": [
            {**members(entry, "name", "scope", "module", "note"), "class": entry.cls, "list": entry.origin or None}
            for entry in entries
        ],
        "counts": {str(cls): counts[cls] for cls in OperatorClass},
        "total": len(lists.entries),
    }


def _source(lists: OperatorLists) -> dict[str, Any]:
    own = members(lists, "names", "unlisted", "low", "version")
    return {"name": lists.system, "level": lists.level or None, **own}


def difference_answer(a: OperatorLists, b: OperatorLists, difference: Difference[Any]) -> Answer:
    """Status 1 if they differ; `*` stands for names that are not listed."""
    changed = {name: (str(x), str(y)) for name, (x, y) in difference.changed.items()}
    if a.unlisted != b.unlisted:
        changed["*"] = (a.unlisted, b.unlisted)
    fields = [
        *(["changed", name, *pair] for name, pair in changed.items()),
        *(["only_in_a", name] for name in difference.only_in_a),
        *(["only_in_b", name] for name in difference.only_in_b),
    ]
    rows: list[list[Cell]] = [["~", name, *pair] for name, pair in changed.items()]
    rows += [[Span("-", "removed"), name, "listed", "-"] for name in difference.only_in_a]
    rows += [[Span("+", "added"), name, "-", "listed"] for name in difference.only_in_b]
    columns = [Column(""), Column("name"), Column(f"A {a.title}"), Column(f"B {b.title}")]
    sides = f"{len(difference.only_in_a)} only in A, {len(difference.only_in_b)} only in B"
    return Answer(
        lambda: {"system_a": _source(a), "system_b": _source(b), **difference_members(difference)},
        lambda: [Table(columns, rows, lambda: fields)],
        notes=[f"{len(difference.changed)} of another class, {sides}, {difference.same} the same"],
        status=1 if difference or a.unlisted != b.unlisted else 0,
    )


def decisions_answer(system: str, decisions: Sequence[Decision]) -> Answer:
    """Operator, inputs, dtype, rule and source; on a terminal the rule and the source are below."""

    def terminal() -> Iterator[Block]:
        for decision in decisions:
            call = f"{decision.call.name}({', '.join(decision.call.dtypes)})"
            yield Lines([[Span(call), Span("  "), Span(_dtype(decision), "title")]])
            yield Lines([f"  {decision.says}"], 2)
            yield Lines([[Span(f"  source: {decision.source}", "dim")]], 4)

    fields = [[d.call.name, ",".join(d.call.dtypes) or "-", _dtype(d), d.says, d.source] for d in decisions]
    document = {
        "system": system,
        "decisions": [
            {
                "operator": decision.call.name,
                "inputs": decision.call.dtypes,
                **members(decision, "outcome", "dtype", "says", "source", "near"),
            }
            for decision in decisions
        ],
    }
    return Answer(lambda: document, lambda: [Either(terminal, lambda: [Table([], fields)])])


def _dtype(decision: Decision) -> str:
    return decision.dtype or _OUTCOMES[decision.outcome]


def conversion_answer(
    conversion: Conversion,
    head: Mapping[str, Any],
    dry_run: bool,
    paths: Mapping[str, str] | None = None,
    result: Result | None = None,
    undo: str = "",
    status: int = 0,
) -> Answer:
    """The files themselves, or what was written.

    :param head: the first keys of the document
    :param paths: where each file is written
    :param undo: the command line that undoes the change
    """

    def document() -> dict[str, Any]:
        files = [
            {"name": name, "path": (paths or {}).get(name), "text": text} for name, text in conversion.files.items()
        ]
        entries = {
            "given": len(conversion.given),
            "carried": len(conversion.given) - len(conversion.dropped),
            "dropped": [entry._asdict() for entry in conversion.dropped],
        }
        losses = [
            {**members(loss, "kind", "message", "names", "details"), "lossy": not loss.is_harmless}
            for loss in conversion.losses
        ]
        change = result.change if result else None
        tail = {"added": conversion.added, "losses": losses, "files": files, "change": change}
        return {**head, "entries": entries, **tail, "dry_run": dry_run}

    def blocks() -> list[Block]:
        if result is not None:
            return diffs(result) if dry_run else []
        if len(conversion.files) > 1:
            message = f"this makes {len(conversion.files)} files ({', '.join(conversion.files)})"
            raise UsageFault(message, hint="-o DIRECTORY writes them")
        return [Exact(text) for text in conversion.files.values()]

    notes = change_notes(result, undo, True, False) if result is not None and not dry_run else []
    status = status_of(result, False) if result is not None else status
    return Answer(document, blocks, notes=[*notes], status=status, paged=False)
