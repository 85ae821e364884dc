"""HTML pages of `list`, `diff` and `matrix`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...compare import Difference, Policies, SectionDifference, differs
from ...model import operator_rows
from ...model.policy import Policy
from ...model.target import Target
from ..formats.table_page import PageCell, PageRow, TableFilter, TablePage, table_page_text
from ..page import LISTS, Bar
from .differences import changes_worst_first, said_of
from .matrix import column_labels
from .operators import short_name


def list_page(target: Target, rows: Sequence[operator_rows.OperatorRow], total: int, mixlist: str | None) -> str:
    """Return a page of op types with their policy, the deciding entry, and other entries."""
    marked = any(row.marks for row in rows)
    noted = any(row.shadowed or row.also_in for row in rows)
    files = sorted({row.file for row in rows if row.file})
    counts = _counts((row.policy for row in rows), "undecided")
    columns = ["Operator", "Policy", *(["Library", "Marks"] if marked else []), "Entry", *(["Also"] if noted else [])]
    return table_page_text(
        TablePage(
            f"Operators of {column_labels([target])[0]}",
            [*_facts(target), *_if("Mixlist", mixlist), ("Operators", _of(len(rows), total))],
            [Bar("Policies", counts)],
            [TableFilter("On", [each for each in counts if each[1]])],
            columns,
            [PageRow(_list_cells(row, marked, noted, files), [_word(row.policy, "undecided")]) for row in rows],
        )
    )


def _list_cells(row: operator_rows.OperatorRow, marked: bool, noted: bool, files: list[str]) -> list[PageCell]:
    cells = [PageCell(row.name), _policy_cell(row.policy)]
    if marked:
        cells += [_policy_cell(row.library_policy), PageCell(", ".join(map(str, row.marks)))]
    place = f"{row.file}:{row.line}" if row.file else ""
    cells.append(PageCell(f"{short_name(row.file, files)}:{row.line}" if row.file else "", full=place))
    if noted:
        said = [f"shadows {_standing(each, files)}" for each in row.shadowed]
        said += [f"also in {_standing(each, files)}" for each in row.also_in]
        places = [f"{each.file}:{each.line}" for each in (*row.shadowed, *row.also_in)]
        cells.append(PageCell("; ".join(said), full="; ".join(places)))
    return cells


def _standing(each: operator_rows.Standing, files: list[str]) -> str:
    return f"{short_name(each.file, list({*files, each.file}))}:{each.line}" + (
        f" ({each.policy})" if each.policy else ""
    )


def matrix_page(targets: Sequence[Target], rows: Mapping[str, Policies], total: int, mixlist: str | None) -> str:
    """Return a page of op types by target."""
    labels = column_labels(targets)
    by_target = [_counts((row[index] for row in rows.values()), "absent") for index in range(len(targets))]
    tags = {name: _matrix_tags(row) for name, row in rows.items()}
    on = [(word, sum(word in each for each in tags.values())) for word in (*LISTS, "absent")]
    different = sum(map(differs, rows.values()))
    facts = [(label, _place(target)) for label, target in zip(labels, targets, strict=True)]
    return table_page_text(
        TablePage(
            f"Operators of {' and '.join(labels)}" if len(labels) < 3 else f"Operators of {len(labels)} targets",
            [*facts, *_if("Mixlist", mixlist), ("Operators", _of(len(rows), total))],
            [Bar(label, counts) for label, counts in zip(labels, by_target, strict=True)],
            [
                TableFilter("On", [each for each in on if each[1]]),
                TableFilter("In all", [("differing", different), ("the same", len(rows) - different)]),
            ],
            ["Operator", *labels],
            [PageRow([PageCell(name), *map(_policy_cell, row)], tags[name]) for name, row in rows.items()],
        )
    )


def _matrix_tags(policies: Policies) -> list[str]:
    words = dict.fromkeys(_word(policy, "absent") for policy in policies)
    return [*words, "differing" if differs(policies) else "the same"]


def diff_page(a: Target, b: Target, found: Difference[Any], inside: Iterable[SectionDifference] | None) -> str:
    """Return a page of changes, worst first, then op types on one side only, then differences inside entries."""
    rows: list[PageRow] = []
    for change, names in changes_worst_first(found):
        for name in names:
            rows.append(PageRow([PageCell(name), _change_cell(found.changed[name], len(rows)), PageCell()], [change]))
    for word, names in (("only in A", found.only_in_a), ("only in B", found.only_in_b)):
        rows += [
            PageRow([PageCell(name), PageCell(lists=(word,), key=f"{len(rows)}"), PageCell()], [word]) for name in names
        ]
    for each in inside or ():
        place = each.section if each.key is None else f"{each.section}.{each.key}"
        detail = f"{place}: {'-' if each.a is None else each.a} -> {'-' if each.b is None else each.b}"
        rows.append(
            PageRow(
                [PageCell(each.name), PageCell(lists=("section",), key=f"{len(rows)}"), PageCell(detail)], ["section"]
            )
        )
    counts = list(Counter(row.tags[0] for row in rows).items())
    columns = ["Operator", "Change", "Detail"]
    if inside is None:
        columns, rows = columns[:2], [PageRow(row.cells[:2], row.tags) for row in rows]
    facts = [("A", _place(a)), ("B", _place(b))]
    return table_page_text(
        TablePage(
            " and ".join(column_labels([a, b])),
            facts,
            [Bar("Operators", [*(each for each in counts if each[0] != "section"), ("the same", found.same)])],
            [TableFilter("Change", counts)] if counts else [],
            columns,
            rows,
        )
    )


def _change_cell(pair: tuple[Any, Any], rank: int) -> PageCell:
    return PageCell(lists=(said_of(pair[0]), said_of(pair[1])), key=f"{rank}")


def _policy_cell(policy: Policy | None) -> PageCell:
    return PageCell(lists=(str(policy),), key=_RANK[policy]) if policy else PageCell("-", key=_LAST)


_RANK = {Policy.WHITE: "0", Policy.BLACK: "1", Policy.GRAY: "2"}
_LAST = "3"


def _word(policy: Policy | None, none: str) -> str:
    return str(policy) if policy else none


def _counts(policies: Iterable[Policy | None], none: str) -> list[tuple[str, int]]:
    """:param none: the word for those without a policy"""
    counts = Counter(_word(policy, none) for policy in policies)
    return [(word, counts[word]) for word in LISTS] + ([(none, counts[none])] if counts[none] else [])


def _facts(target: Target) -> list[tuple[str, str]]:
    version = target.install.version if target.install else None
    return [*_if("Path", target.path), *_if("Chip", target.soc), *_if("CANN", version)]


def _place(target: Target) -> str:
    return ", ".join(said if name != "CANN" else f"CANN {said}" for name, said in _facts(target))


def _if(name: str, said: str | None) -> list[tuple[str, str]]:
    return [(name, said)] if said else []


def _of(count: int, total: int) -> str:
    return str(count) if count == total else f"{count} of {total}"
