"""Differences, as text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...compare import Difference
from ...model.target import Target
from ..escape import row, visible
from ..terminal.output import Output

if TYPE_CHECKING:
    from typing import Any

    from ...compare import SectionDifference


_WORST_FIRST = ("white -> black", "black -> white", "gray -> black", "gray -> white", "white -> gray", "black -> gray")


def difference_rows(found: Difference[Any]) -> Iterator[str]:
    """Yield tab-separated rows: changes, worst first, then op types on one side only."""
    for name, pair in sorted(found.changed.items(), key=lambda item: (_rank(_change(item[1])), item[0])):
        yield row("changed", name, *map(said_of, pair))
    for word, names in (("only_in_a", found.only_in_a), ("only_in_b", found.only_in_b)):
        yield from (row(word, name) for name in names)


def difference_groups(output: Output, a: Target, b: Target, found: Difference[Any]) -> Iterator[str]:
    """Yield a summary, then a block of names for each kind of change, worst first."""
    from ..terminal.name_grid import side_by_side
    from ..terminal.places import shortened

    width = output.columns
    for side, target in (("A", a), ("B", b)):
        soc = f" ({target.soc})" if target.soc else ""
        yield f"{side}  {shortened(visible(target.text), width - 3 - len(soc))}{soc}"
    yield from output.wrapped(summary(found))
    for change, names in changes_worst_first(found):
        words = (output.paint(word, word) for word in change.split(" -> "))
        yield from ("", f"{output.paint('~', 'warning')} {' -> '.join(words)}  {len(names)}")
        yield from side_by_side(names, width)
    for sign, word, color, names in (
        ("-", "only in A", "error", found.only_in_a),
        ("+", "only in B", "note", found.only_in_b),
    ):
        if names:
            yield from ("", f"{output.paint(sign, color)} {word}  {len(names)}")
            yield from side_by_side(names, width)


def changes_worst_first(found: Difference[Any]) -> list[tuple[str, list[str]]]:
    """Return each kind of change with its op types, worst first."""
    groups: dict[str, list[str]] = {}
    for name, pair in found.changed.items():
        groups.setdefault(_change(pair), []).append(name)
    return sorted(groups.items(), key=lambda each: (_rank(each[0]), each[0]))


def summary(found: Difference[Any]) -> str:
    changes = Counter(_change(each) for each in found.changed.values())
    told = ", ".join(f"{count} {change}" for change, count in sorted(changes.items(), key=lambda item: _rank(item[0])))
    changed = f"{len(found.changed)} changed" + (f" ({told})" if told else "")
    return f"{changed}, {len(found.only_in_a)} only in A, {len(found.only_in_b)} only in B, {found.same} the same"


def section_lines(output: Output, inside: list[SectionDifference]) -> Iterator[str]:
    if inside and output.on_terminal:
        yield from ("", f"{output.paint('~', 'warning')} inside  {len(inside)}")
    for each in inside:
        place = each.section if each.key is None else f"{each.section}.{each.key}"
        a, b = each.a if each.a is not None else "-", each.b if each.b is not None else "-"
        if output.on_terminal:
            yield from output.wrapped(f"  {visible(each.name)} {visible(place)}: {visible(a)} -> {visible(b)}", 4)
        else:
            yield row("section", each.name, place, a, b)


def _change(pair: tuple[Any, Any]) -> str:
    return f"{said_of(pair[0])} -> {said_of(pair[1])}"


def _rank(change: str) -> int:
    return _WORST_FIRST.index(change) if change in _WORST_FIRST else len(_WORST_FIRST)


def said_of(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def difference_document(
    a: Target, b: Target, found: Difference[Any], inside: list[SectionDifference] | None
) -> dict[str, Any]:
    from .operators import target_document

    document: dict[str, Any] = {
        "a": target_document(a),
        "b": target_document(b),
        "only_in_a": found.only_in_a,
        "only_in_b": found.only_in_b,
        "changed": [{"name": name, "a": _plain(x), "b": _plain(y)} for name, (x, y) in found.changed.items()],
        "counts": {
            "only_in_a": len(found.only_in_a),
            "only_in_b": len(found.only_in_b),
            "changed": len(found.changed),
            "same": found.same,
        },
    }
    if inside is not None:
        document["sections"] = [each._asdict() for each in inside]
    return document


def _plain(value: Any) -> Any:
    return [str(mark) for mark in value] if isinstance(value, tuple) else value


def mixlist_text(mixlist: dict[str, dict[str, list[str]]]) -> str:
    import json

    return json.dumps(mixlist, indent=2, ensure_ascii=False) + "\n"
