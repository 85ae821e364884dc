"""`opsinfo show`: show all details of operators, and why they are on their list."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import click

from ...errors import OpsinfoError, counted
from ..cann.entry import Entry, TensorColumns
from ..cann.library import Operator
from ..cann.marks import combination
from ..cann.mixlist import Mixlist
from ..cann.opdef.configuration_text import configuration_text
from ..cann.operator_rows import OperatorDetails, OperatorRow, ShowDocument, Standing
from ..cann.target import Target
from ..cann.targets.found import TargetOptions
from ..document import as_json, keys_of
from ..terminal.answer import Block, Column, CommandAnswer, Either, Line, Lines, PathCell, Span, Table, Tree
from ..terminal.console import Console
from ..terminal.csv_markdown import csv_of_documents, markdown_text
from ..terminal.open import accepted_mixlist, open_target, report_doubts
from ..terminal.params import (
    OP,
    TARGET,
    Command,
    backup_dir_option,
    given_names,
    mixlist_option,
    prints,
    target_options,
)
from ..terminal.targets import below
from ..text.escape import cell_width, shown


@click.command("show", cls=Command)
@click.argument("target", type=TARGET)
@click.argument("ops", nargs=-1, required=True, type=OP, metavar="OP...")
@mixlist_option
@target_options
@backup_dir_option
@prints("csv", "markdown", "opdef", out=True)
def command(
    target: str,
    ops: tuple[str, ...],
    mixlist: str | None,
    options: TargetOptions,
    backup_dir: str | None,
    console: Console,
) -> CommandAnswer:
    """Show all details of operators, and why they are on their list.

    --format opdef prints the lines of an OpDef source that give an operator its policy, after applying --mixlist.

    \b
    Examples:
      opsinfo show ascend910b MatMulV2
      opsinfo show ascend910b SoftmaxV2 --mixlist ops_info.json
      opsinfo show custom-ops@ascend910b AddCustom --format opdef
    """
    opened = open_target(target, console, options, stdin=True)
    applied = accepted_mixlist(mixlist, console) if mixlist else None
    operators = opened.operators.require(given_names(ops))
    report_doubts(opened, console)
    details = []
    files = [operator.entry.path for operator in operators] + ([mixlist] if mixlist else [])
    kept = _kept_reasons(files, backup_dir)
    for operator in operators:
        row = OperatorDetails.of(operator, applied)
        why = kept.get((operator.entry.path, operator.name, str(row.library_policy)), [])
        if mixlist and row.marks:
            why = [*why, *kept.get((mixlist, operator.name, str(row.policy)), [])]
        edits = [
            f"changed{f' here by {edit.change}' if edit.change else ''}{f' on {edit.time}' if edit.time else ''}; "
            f"the vendor ships {edit.before}"
            for edit in console.edited_here
            if (edit.name, edit.file) in ((operator.name, operator.entry.path), (operator.name, opened.path))
        ]
        details.append(Details(row, operator.entry, [*_reasons(opened, operator, row, applied), *edits, *why]))
    return show_answer(opened, details)


def _kept_reasons(paths: Sequence[str], backup_dir: str | None) -> dict[tuple[str, str, str], list[str]]:
    """Return what ``--reason`` said of the last change of an op type in a file, by path, name and requested policy.

    An upgrade may have replaced the file: then the entry's policy is another one, and not for this reason.
    """
    from ..change.vault import Vault
    from ..change.vault_place import vault_path

    try:
        history = Vault(vault_path(backup_dir, os.environ)).history()
    except OpsinfoError:  # another user's, perhaps: `opsinfo doctor` says so
        return {}
    asked = history.asked()
    return {
        (path, name, policy): [f"the reason given: {entry.record.why} (change {entry.record.id})"]
        for path in paths
        for name, entry in asked.get(os.path.realpath(path), {}).items()
        if entry.record.why and (policy := entry.file.moves[name][1])
    }


def _reasons(target: Target, operator: Operator, row: OperatorRow, mixlist: Mixlist | None) -> list[str]:
    reasons = [_library_reason(target, operator, str(row.library_policy))]
    if mixlist and row.marks:
        marks = combination(mixlist.marks_of(row.name))
        if row.policy is row.library_policy:
            reasons.append(f"{mixlist.path} has {marks}, which changes nothing")
        else:
            reasons.append(f"{mixlist.path} has {marks}: {row.library_policy} becomes {row.policy}")
    elif mixlist:
        reasons.append(f"{mixlist.path} does not list it")
    return reasons


def _library_reason(target: Target, operator: Operator, policy: str) -> str:
    if target.kind == "snapshot":
        return f"the snapshot has {policy}: {_MEANING[policy]}"
    flag = operator.entry.sections.get("precision_reduce", {}).get("flag")
    if target.kind == "opdef":
        return _source_reason(operator, flag)
    if flag is None:
        return "its entry has no precision_reduce flag: it follows its producer"
    return f'its entry has precision_reduce.flag "{flag}": {_MEANING[policy]}'


def _source_reason(operator: Operator, flag: str | None) -> str:
    """Return which call decides, as the place of the entry has it."""
    if operator.entry.by_default:
        return "white by default: its source sets no policy, and AddConfig makes it white"
    if flag is None:
        return "its configuration has no PrecisionReduceFlag: it follows its producer"
    return f"its source says PrecisionReduceFlag({flag}): {_MEANING[str(operator.policy)]}"


_MEANING = {
    "white": "it may be reduced to half precision",
    "black": "it keeps its precision",
    "gray": "no flag, it follows its producer",
}


class Details(NamedTuple):
    """
    :param entry: the one that decides
    :param reasons: why the op type is on its list, one sentence each
    """

    row: OperatorDetails
    entry: Entry
    reasons: list[str]


class DetailLine(NamedTuple):
    """A line under a heading; equal headings follow each other."""

    heading: str
    words: list[Span | PathCell]


def show_answer(target: Target, operators: Sequence[Details]) -> CommandAnswer:
    document = as_json(ShowDocument([each.row for each in operators], target.facts))
    return CommandAnswer(
        lambda: document,
        lambda: [Either(lambda: [_tree(each, target) for each in operators], lambda: [_answer_lines(operators)])],
        formats={
            "opdef": lambda: configuration_text(target.soc, [(each.row, each.entry.sections) for each in operators]),
            "csv": lambda: csv_of_documents(keys_of(OperatorDetails), document["operators"]),
            "markdown": lambda: markdown_text(_table(operators, target)),
        },
        content=counted(len(operators), "operator"),
    )


def _table(operators: Sequence[Details], target: Target) -> Table:
    titles = ("operator", "policy", "why", "file:line", "inputs", "outputs", "can be black", "can be white")
    return Table(
        [Column(title) for title in titles],
        [
            [
                each.row.name,
                str(each.row.policy),
                "; ".join(each.reasons),
                f"{below(each.row.file or '', target.path)}:{each.row.line}",
                *("; ".join(map(_tensor, tensors)) for tensors in (each.row.inputs, each.row.outputs)),
                str(each.row.can_be_black),
                str(each.row.can_be_white),
            ]
            for each in operators
        ],
    )


def _tensor(tensor: TensorColumns) -> str:
    return f"{tensor.name}: {_dtypes(tensor)}"


def _dtypes(tensor: TensorColumns) -> str:
    return ", ".join(dict.fromkeys(tensor.dtypes)) or "chosen by the kernel"


def _heading(row: OperatorRow) -> Line:
    policy = str(row.policy)
    return [Span(f"{row.name}  "), Span(policy, policy)]  # type: ignore[arg-type]


def _tree(details: Details, target: Target) -> Block:
    branches = []
    for heading, parts in groupby(_parts(details, lambda path: below(path, target.path)), lambda part: part.heading):
        lines = [part.words for part in parts]
        if heading in ("inputs", "outputs"):
            branches.append(Tree(heading, [Tree(line) for line in lines]))
        else:
            branches += [Tree([Span(f"{heading}: ", "dim"), *line]) for line in lines]
    return Tree(_heading(details.row), branches)


def _answer_lines(operators: Sequence[Details]) -> Block:
    lines: list[Line] = []
    for details in operators:
        lines += [""] * bool(lines) + [_heading(details.row)]
        before = ""
        for heading, words in _parts(details, str):
            lines.append([Span(f"  {heading if heading != before else '':<9} "), *words])
            before = heading if heading in ("why", "inputs", "outputs") else ""
    return Lines(lines)


def _parts(details: Details, path_of: Callable[[str], str]) -> Iterator[DetailLine]:
    """Yield policy, reasons, entries, dtypes, and possible policies.

    :param path_of: returns how a path is shown
    """
    row = details.row

    def place(entry: OperatorRow | Standing, effect: str = "") -> list[Span | PathCell]:
        policy = f", {entry.policy}" if isinstance(entry, Standing) else ""
        store = f" ({entry.store})" if entry.store else ""
        gap = "" if policy or not store else " "
        return [PathCell(path_of(entry.file or ""), f":{entry.line}{policy}{gap}{store}{effect}")]

    yield from (DetailLine("why", [Span(reason)]) for reason in details.reasons)
    yield DetailLine("entry", place(row))
    yield from (DetailLine("shadowed", place(entry, ", never read")) for entry in row.shadowed)
    yield from (DetailLine("also in", place(entry, ", used if the first refuses a node")) for entry in row.also_in)
    if details.entry.unread:
        yield DetailLine("dtypes", [Span(f"could not be read: {details.entry.unread}")])
        return
    yield from (DetailLine("inputs", [Span(text)]) for text in _tensors(row.inputs))
    yield from (DetailLine("outputs", [Span(text)]) for text in _tensors(row.outputs))
    yield DetailLine("black", [Span(_POSSIBLE_BLACK[str(row.can_be_black)])])
    yield DetailLine("white", [Span(_POSSIBLE_WHITE[str(row.can_be_white)])])


def _tensors(tensors: Sequence[TensorColumns]) -> Iterator[str]:
    width = max((cell_width(shown(tensor.name)) for tensor in tensors), default=0)
    for tensor in tensors:
        padding = " " * (width - cell_width(shown(tensor.name)))
        yield f"{tensor.name}{padding}  {tensor.param_type:<8}  {_dtypes(tensor)}"


_BY_KERNEL = "unknown here: the kernel chooses its dtypes when compiling"
_POSSIBLE_BLACK = {
    "yes": "possible",
    "no": "not possible: no float32 among its input columns; black makes it unsupported for float32 input",
    "kernel": _BY_KERNEL,
}
_POSSIBLE_WHITE = {
    "yes": "possible",
    "no": "without effect: no float16 or bfloat16 among its columns",
    "kernel": _BY_KERNEL,
}
