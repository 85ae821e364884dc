"""`opsinfo diff`: compare two or more targets, or two mixlists."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import click

from ...errors import UsageFault, counted, quoted
from ...near_names import matches
from ..cann.mixlist import Mixlist, MixlistFile
from ..cann.policy import Policy
from ..cann.target import Target, target_labels
from ..cann.targets.found import FACTS, TargetOptions
from ..compare import (
    Difference,
    ManyTargets,
    MatrixCounts,
    MatrixRow,
    Policies,
    SectionDifference,
    diff,
    difference,
    differs,
    mixlist_for,
    policies_by_name,
    policies_of,
    unread_in,
)
from ..document import POLICY_WORDS, headed
from ..terminal.answer import Block, Cell, Column, CommandAnswer, Either, Lines, Names, PathCell, Span, Table
from ..terminal.console import Console
from ..terminal.csv_markdown import csv_of_documents, csv_text, markdown_text
from ..terminal.open import accepted_mixlist, open_chips, report_doubts, report_no_match, report_unknown
from ..terminal.params import (
    FILE,
    LIST,
    SOC,
    TARGET,
    Command,
    bundle,
    core_option,
    custom_option,
    match_option,
    option,
    prints,
)
from ..terminal.targets import target_facts


@click.command("diff", cls=Command)
@click.argument("targets", nargs=-1, required=True, type=TARGET, metavar="A [B]...")
@option("--mixlist-a", type=FILE, help="Compare A after applying this mixlist.")
@option("--mixlist-b", type=FILE, help="Compare B after applying this mixlist.")
@option("--mixlist", type=FILE, help="Compare all targets after applying this mixlist.")
@option("--sections", is_flag=True, help="Of two targets: also compare fields inside each entry.")
@option("--only-in", type=FILE, help="Only operators that this mixlist names.")
@option("--on", "lists", multiple=True, type=LIST, help="Only operators on this list in any target; repeatable.")
@match_option
@option("--becomes", type=LIST, help="With --format mixlist: only operators that A gets on this list.")
@option("--differing", is_flag=True, help="Of more than two targets: leave out operators that agree.")
@option("--soc", "socs", type=SOC, multiple=True, help="Only this chip of each install; repeatable; as TARGET@SOC.")
@bundle("options", TargetOptions, core_option, custom_option)
@prints("mixlist", "csv", "markdown", "html", out=True)
def command(
    targets: tuple[str, ...],
    mixlist_a: str | None,
    mixlist_b: str | None,
    mixlist: str | None,
    sections: bool,
    only_in: str | None,
    lists: tuple[str, ...],
    globs: tuple[str, ...],
    becomes: str | None,
    differing: bool,
    socs: tuple[str, ...],
    options: TargetOptions,
    console: Console,
    names_system: Callable[[str], bool],
) -> CommandAnswer:
    """Compare the policies of targets, or the marks of two mixlists. Exit status 1 if they differ.

    Of two targets, a terminal shows the changes grouped by kind, the worst first; --format mixlist prints the mixlist
    that gives the operators of A the policies they have in B. Of more targets, or of an install with several chips, it
    shows a table of operators by target. A target may be standard input (`-`), a pipe of the shell, or a file of a
    revision of git.

    \b
    Examples:
      opsinfo diff ascend910 ascend910b
      opsinfo diff $ASCEND_OPP_PATH --differing
      opsinfo diff old/opp@ascend910 ascend910 --only-in ops_info.json
      opsinfo diff HEAD~1:ops_info.json ops_info.json
      opsinfo diff ascend910b ascend910 --format mixlist
      opsinfo diff ascend910b ascend910 --format mixlist --becomes white
    """
    _require_targets(targets, names_system)
    if becomes is not None and console.format != "mixlist":
        raise UsageFault("--becomes requires --format mixlist", hint="--on LIST leaves the operators on a list")
    given = [target for text in targets for target in open_chips(text, console, options, socs)]
    if socs and not any(isinstance(target, Target) and FACTS[target.kind].has_chips for target in given):
        raise UsageFault("--soc requires an install", hint="leave out --soc")
    is_matrix = len(given) > 2 or len(targets) == 1
    _require_alike(given)
    _require_fitting(given, is_matrix, console, mixlist_a or mixlist_b, mixlist, sections)
    if lists and given[0].kind == "mixlist":
        raise UsageFault("--on requires policies; a mixlist has marks", hint="--match and --only-in choose operators")
    if mixlist_a and console.format == "mixlist":
        hint = "leave it out: the printed mixlist takes its place"
        raise UsageFault("--format mixlist starts at the library of A, without --mixlist-a", hint=hint)
    only = accepted_mixlist(only_in, console) if only_in else None
    opened = [target for target in given if isinstance(target, Target)]
    if not opened:
        a, b = given
        marked = [name for each in given if isinstance(each, MixlistFile) for name in each.mixlist.marks]
        return difference_answer(diff(a, b, named=_names(dict.fromkeys(marked, ()), only, (), globs)))
    for target in opened:
        report_doubts(target, console)
    everywhere = accepted_mixlist(mixlist, console) if mixlist else None
    if is_matrix:
        policies = policies_by_name([policies_of(target.operators, everywhere) for target in opened])
        names = _names(policies, only, lists, globs)
        shown = {name: each for name, each in policies.items() if names is None or name in names}
        if policies and not shown:
            report_no_match(console, len(policies), {"--on": lists, "--match": globs, "--only-in": only_in})
        return matrix_answer(opened, shown, len(policies), mixlist, differing)
    a, b = opened
    applied = [_applied(path, target, console) or everywhere for path, target in ((mixlist_a, a), (mixlist_b, b))]
    both = [policies_of(target.operators, each) for target, each in zip(opened, applied, strict=True)]
    named = _names(policies_by_name(both), only, lists, globs)
    if only and (missing := sorted(name for name in only.marks if name not in a.operators and name not in b.operators)):
        console.warn(f"in neither target: {counted(len(missing), 'op type')} of the mixlist: {', '.join(missing)}")
    if becomes is not None:
        becoming = frozenset(name for name, policy in both[1].items() if str(policy) == becomes)
        named = becoming if named is None else becoming & named
    if console.format == "mixlist":  # it generates, so its exit status is not that of a comparison
        return _port(a, b, applied[1], named, console)
    return difference_answer(diff(a, b, *applied, named=named, sections=sections))


def _require_targets(targets: Sequence[str], names_system: Callable[[str], bool]) -> None:
    """:raises UsageFault: if a target is another system, or two are standard input"""
    if targets.count("-") > 1:
        raise UsageFault("standard input can be read only once", hint="give one of the targets as a path")
    for text in targets:
        if not os.path.lexists(text) and names_system(text):
            hint = f"`opsinfo systems diff {quoted(*targets)}` compares them"
            raise UsageFault(f"{text} is another system", hint=hint)


def _require_alike(targets: Sequence[Target | MixlistFile]) -> None:
    """:raises UsageFault: if there is nothing to compare, or something other than two mixlists or no mixlist"""
    if len(targets) == 1:
        hint = f"`opsinfo list {quoted(targets[0].text)}` shows its operators"
        raise UsageFault("one target has nothing to be compared with", hint=hint)
    mixlists = [target for target in targets if target.kind == "mixlist"]
    if not mixlists or len(mixlists) == len(targets) == 2:
        return
    if len(targets) == 2:
        a, b = targets
        other = next(target for target in targets if target.kind != "mixlist")
        twice = quoted(other.text, other.text)
        hint = f"`opsinfo diff {twice} --mixlist-b {quoted(mixlists[0].text)}` shows what the mixlist changes"
        raise UsageFault(f"A is {a.phrase}, B is {b.phrase}; they cannot be compared", name="wrong-kind", hint=hint)
    message = "a mixlist has marks, not policies"
    hint = "--mixlist FILE applies it to the targets"
    raise UsageFault(message, name="wrong-kind", path=mixlists[0].path, hint=hint)


def _require_fitting(
    targets: Sequence[Target | MixlistFile],
    is_matrix: bool,
    console: Console,
    one_mixlist: str | None,
    mixlist: str | None,
    sections: bool,
) -> None:
    """:raises UsageFault: if an option is for other targets"""
    is_port = console.format == "mixlist"
    if targets[0].kind == "mixlist" and (sections or one_mixlist or mixlist or is_port):
        raise UsageFault("--sections, --mixlist-a, --mixlist-b and --format mixlist compare libraries, not mixlists")
    if is_matrix and (sections or one_mixlist or is_port):
        words = "--sections, --mixlist-a, --mixlist-b and --format mixlist"
        raise UsageFault(f"{words} compare two targets, A and B", hint="choose chips as A@SOC B@SOC")


def _names(
    policies: Mapping[str, Policies], only: Mixlist | None, lists: Sequence[str], globs: Sequence[str]
) -> frozenset[str] | None:
    """Return the op types that the options leave; None for all."""
    if only is None and not lists and not globs:
        return None
    return frozenset(
        name
        for name, each in policies.items()
        if (only is None or name in only.marks)
        and (not lists or any(policy is not None and str(policy) in lists for policy in each))
        and matches(name, globs)
    )


def _applied(path: str | None, target: Target, console: Console) -> Mixlist | None:
    mixlist = accepted_mixlist(path, console) if path else None
    if mixlist is not None:
        report_unknown(mixlist, target.operators, console)
    return mixlist


def _port(
    a: Target, b: Target, applied: Mixlist | None, named: frozenset[str] | None, console: Console
) -> CommandAnswer:
    library, wanted = policies_of(a.operators), policies_of(b.operators)
    missing = difference(library, wanted, named, unread_in(a, b))
    for names, side, other in ((missing.only_in_b, "B", "A"), (missing.only_in_a, "A", "B")):
        if names:
            effect = "not ported" if side == "B" else "not changed"
            console.warn(f"{effect}: {counted(len(names), 'op type')} of {side} that {other} lacks; -v names them")
            console.detail(f"in {side} only: {', '.join(names)}")
    both = {name for name in library.keys() & wanted.keys() if named is None or name in named}
    content, impossible = mixlist_for(a.operators, b.operators, applied, both)
    if impossible:
        console.warn(f"white in one store of A and black in another, so no marks make it gray: {', '.join(impossible)}")
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return CommandAnswer(dict, formats={"mixlist": lambda: text})


_WORST_FIRST = (
    ("white", "black"),
    ("black", "white"),
    ("gray", "black"),
    ("gray", "white"),
    ("white", "gray"),
    ("black", "gray"),
)


def difference_answer(found: Difference[Any]) -> CommandAnswer:
    sides = (found.changed, found.only_in_a, found.only_in_b, found.sections or ())
    return CommandAnswer(
        found.to_dict,
        lambda: [Either(lambda: _groups(found), lambda: [Table([], [], lambda: _fields(found))])],
        formats={
            "html": lambda: _page(found),
            "csv": lambda: csv_of_documents(("name", "change", "a", "b", "section", "key"), _records(found)),
            "markdown": lambda: markdown_text(_table(found)),
        },
        content=counted(sum(map(len, sides)), "difference"),
        notes=[_summary(found)],
        status=1 if found else 0,
    )


def _fields(found: Difference[Any]) -> Iterator[Sequence[str]]:
    """Yield changes, worst first, then op types on one side only, then differences inside entries.

    If B is sources, new op types come first, and a line says why and where the policy in B is decided.
    """
    b = found.sources
    alone = {name: _marks_alone(found, name) for name in (*found.only_in_a, *found.only_in_b)}
    new = [("only_in_b", name, *(_decision(b, name, "-") if b else alone[name])) for name in found.only_in_b]
    if b:
        yield from new
    for name, pair in sorted(found.changed.items(), key=lambda item: (_rank(_change(item[1])), item[0])):
        policies = map(_text, pair)
        yield "changed", name, *(_decision(b, name, next(policies)) if b else policies)
    yield from (("only_in_a", name, *alone[name]) for name in found.only_in_a)
    if not b:
        yield from new
    for each in found.sections or ():
        yield "section", each.name, _place(each), _value(each.a), _value(each.b)


def _marks_alone(found: Difference[Any], name: str) -> tuple[str, ...]:
    """Return the fields of an op type on one side only: its marks in A and in B; none if these are no mixlists."""
    return tuple(_text(marks) or "-" for marks in found.marks_alone(name) if isinstance(found.a, MixlistFile))


def _decision(b: Target, name: str, before: str) -> tuple[str, str, str, str]:
    """Return the fields of a policy in sources: that before it, it, why, and its place."""
    operator = b.operators[name]
    why = "by default" if operator.entry.by_default else "-"
    return before, str(operator.policy), why, f"{operator.entry.path}:{operator.entry.line}"


def _groups(found: Difference[Any]) -> Iterator[Block]:
    """Yield a block of names for each kind of change, worst first."""
    a, b, sections = found.a, found.b, found.sections
    chips = [f" ({target.soc})" if target.soc and "@" not in target.text else "" for target in (a, b)]
    yield Lines([[Span("A  "), PathCell(a.text, chips[0])], [Span("B  "), PathCell(b.text, chips[1])]])
    sources = found.sources
    if sources:
        for title, names in _new_by_policy(sources, found.only_in_b):
            yield Lines(["", [Span("+ ", "added"), Span(f"new, {title}  {len(names)}")]])
            yield Names(names)
    for change, names in _changes(found):
        before, after = (Span(word, next((each for each in POLICY_WORDS if each == word), "")) for word in change)
        defaults = sum(sources.operators[name].entry.by_default for name in names) if sources else 0
        of = f", {defaults} of them by default" if defaults else ""
        yield Lines(["", [Span("~ ", "warning"), before, Span(" -> "), after, Span(f"  {len(names)}{of}")]])
        yield Names(names)
    title = f"only in A: not declared for {b.soc}" if sources else "only in A"
    for sign, side, names in (
        (Span("- ", "removed"), title, found.only_in_a),
        (Span("+ ", "added"), "only in B", [] if sources else found.only_in_b),
    ):
        groups: dict[str, list[str]] = {}
        for name in names:
            groups.setdefault("".join(f", {_text(marks)}" for marks in found.marks_alone(name) if marks), []).append(
                name
            )
        for marks, alike in sorted(groups.items()):
            yield Lines(["", [sign, Span(f"{side}{marks}  {len(alike)}")]])
            yield Names(alike)
    if sections:
        yield Lines(["", [Span("~ ", "warning"), Span(f"inside  {len(sections)}")]])
        yield Lines(
            [f"  {each.name} {_place(each)}: {_value(each.a)} -> {_value(each.b)}" for each in sections], indent=4
        )


def _new_by_policy(b: Target, names: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return op types that only sources have by their policy, those that are white by default first."""
    groups: dict[str, list[str]] = {"white by default": [], "white": [], "black": [], "gray": []}
    for name in names:
        operator = b.operators[name]
        groups["white by default" if operator.entry.by_default else str(operator.policy)].append(name)
    return [(title, own) for title, own in groups.items() if own]


def _changes(found: Difference[Any]) -> list[tuple[tuple[str, str], list[str]]]:
    """Return each kind of change with its op types, worst first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for name, pair in found.changed.items():
        groups.setdefault(_change(pair), []).append(name)
    return sorted(groups.items(), key=lambda group: (_rank(group[0]), group[0]))


def _summary(found: Difference[Any]) -> str:
    changes = ", ".join(f"{len(names)} {' -> '.join(change)}" for change, names in _changes(found))
    changed = f"{len(found.changed)} changed" + (f" ({changes})" if changes else "")
    return f"{changed}, {len(found.only_in_a)} only in A, {len(found.only_in_b)} only in B, {found.same} the same"


def _place(difference: SectionDifference) -> str:
    return difference.section if difference.key is None else f"{difference.section}.{difference.key}"


def _value(value: str | None) -> str:
    return "-" if value is None else value


def _change(pair: tuple[Any, Any]) -> tuple[str, str]:
    return _text(pair[0]), _text(pair[1])


def _rank(change: tuple[str, str]) -> int:
    return _WORST_FIRST.index(change) if change in _WORST_FIRST else len(_WORST_FIRST)


def _text(value: Any) -> str:
    """:param value: a policy or marks"""
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _page(found: Difference[Any]) -> str:
    from ..terminal.page import table_page

    a, b, note = found.a, found.b, ""
    left = len(_alike(found.sections or ())) - _MOST_INSIDE
    if left > 0:
        note = f"{left} rarer differences inside entries are not shown (`opsinfo diff --sections` prints all)"
    facts = [("A", _facts(a)), ("B", _facts(b)), ("Operators", _summary(found))]
    tables = [_table(found, _MOST_INSIDE)]
    return table_page(" and ".join(target_labels([a, b])), facts, tables, note=note)


def _table(found: Difference[Any], most_inside: int | None = None) -> Table:
    """Return the differences, worst first.

    :param most_inside: the number of kinds of differences inside entries, the most frequent ones; None for all
    """
    rows: list[list[Cell]] = []
    for change, names in _changes(found):
        rows += [[name, " -> ".join(change), *change, ""] for name in names]
    for side, alone in (("A", found.only_in_a), ("B", found.only_in_b)):
        rows += [[name, f"only in {side}", *map(_text, found.marks_alone(name)), ""] for name in alone]
    inside = _alike(found.sections or ())[:most_inside]
    for (place, *values), names in inside:
        named = names[0] if len(names) == 1 else f"{len(names)} op types: {', '.join(names)}"
        rows.append([named, "inside", *values, place])
    columns = [Column("operator"), Column("change", policy=True), Column("A"), Column("B"), Column("field")]
    if found.sections is None:
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Table(columns, rows)


def _records(found: Difference[Any]) -> Iterator[Mapping[str, object]]:
    """Yield the members of the JSON document as rows, each with the name of its member as `change`."""
    document = found.to_dict()
    yield from ({**each, "change": "changed"} for each in document["changed"])
    marks = {each["name"]: each["marks"] for each in document.get("marked", [])}
    for side in ("a", "b"):
        only = f"only_in_{side}"
        yield from ({"name": name, "change": only, side: marks.get(name)} for name in document[only])
    yield from ({**each, "change": "section"} for each in document.get("sections", []))


_MOST_INSIDE = 600
"""The differences inside entries on a page, the most frequent ones."""


def _alike(sections: Sequence[SectionDifference]) -> list[tuple[tuple[str, str, str], list[str]]]:
    """Return (place, a, b) with the op types that have this difference, the most frequent first."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for each in sections:
        found.setdefault((_place(each), _value(each.a), _value(each.b)), []).append(each.name)
    return sorted(found.items(), key=lambda item: -len(item[1]))


def _facts(target: Target | MixlistFile) -> str:
    return ", ".join(f"CANN {value}" if name == "CANN" else value for name, value in target_facts(target) if value)


def matrix_answer(
    targets: Sequence[Target], rows: Mapping[str, Policies], total: int, mixlist: str | None, differing: bool
) -> CommandAnswer:
    """:param rows: the policies of each op type that the options leave
    :param total: the number of op types before narrowing
    :param mixlist: the path of the mixlist that was applied
    :param differing: whether op types that agree are left out
    """
    labels = target_labels(targets)
    different = {name for name, policies in rows.items() if differs(_read(name, policies, targets))}
    shown = {name: policies for name, policies in rows.items() if name in different or not differing}
    table = Table(
        [Column("operator"), *(Column(label, policy=True) for label in labels)],
        [
            [name, *(_cell(name, *each) for each in zip(policies, targets, strict=True))]
            for name, policies in shown.items()
        ],
    )
    of = f" of {total}" if total != len(shown) else ""

    def document() -> dict[str, Any]:
        rows = [MatrixRow(name, policies) for name, policies in shown.items()]
        return headed("diff", ManyTargets(labels, rows, MatrixCounts(len(shown), len(different), total)))

    return CommandAnswer(
        document,
        lambda: [Either(lambda: _narrow(table, labels), lambda: [table])],
        formats={
            "html": lambda: _matrix_page(targets, labels, table, different, mixlist),
            "csv": lambda: csv_text(["name", *labels], ([name, *policies] for name, policies in shown.items())),
            "markdown": lambda: markdown_text(table),
        },
        content=counted(len(shown), "operator"),
        notes=[f"{len(shown)}{of} operators in {len(targets)} targets, {len(different)} differ"],
        status=1 if different else 0,
    )


def _read(name: str, policies: Policies, targets: Sequence[Target]) -> Policies:
    """Return the policies of an op type in the targets in which it could be read, or is not there."""
    sides = zip(policies, targets, strict=True)
    return tuple(policy for policy, target in sides if name not in target.operators.unreadable)


_BY_DEFAULT = "white by default"


def _cell(name: str, policy: Policy | None, target: Target) -> Span:
    """Return the policy in one target; of sources, whether it is there by default."""
    if policy is None:
        return Span("?" if name in target.operators.unreadable else "-")
    is_default = target.kind == "opdef" and policy is Policy.WHITE and target.operators[name].entry.by_default
    return Span(_BY_DEFAULT if is_default else policy.value, policy.value)


def _narrow(table: Table, labels: Sequence[str]) -> Iterator[Block]:
    """Yield the table; of many targets with letters under numbers, and a legend of the numbers."""
    if len(labels) <= _MOST_WORDS:
        yield table
        return
    rows = [[cell if isinstance(cell, str) else _letter(cell) for cell in row] for row in table.rows]  # type: ignore[arg-type]
    legend = [f"{number:>3}  {label}" for number, label in enumerate(labels, 1)]
    if any(isinstance(cell, Span) and cell.text == "d" for row in rows for cell in row):
        legend.append(f"  d  {_BY_DEFAULT}")
    yield Lines([*legend, ""])
    columns = [table.columns[0], *(Column(str(number), policy=True) for number in range(1, len(labels) + 1))]
    yield Table(columns, rows)


_MOST_WORDS = 6
"""The targets whose names a table has; more are numbered."""


def _letter(cell: Span) -> Span:
    return cell._replace(text="d" if cell.text == _BY_DEFAULT else cell.text[0])


def _matrix_page(
    targets: Sequence[Target], labels: Sequence[str], table: Table, different: Collection[str], mixlist: str | None
) -> str:
    from ..terminal.page import table_page

    title = f"Operators of {' and '.join(labels)}" if len(labels) < 3 else f"Operators of {len(labels)} targets"
    facts = [(label, _facts(target)) for label, target in zip(labels, targets, strict=True)]
    rows = [[*row, "differing" if row[0] in different else "the same"] for row in table.rows]
    page = Table([*table.columns, Column("in all", policy=True)], rows)
    return table_page(title, facts + [("Mixlist", mixlist)] * bool(mixlist), [page])  # type: ignore[list-item]
