"""`opsinfo show`: show all details of operators, and why they are on their list."""

from __future__ import annotations

import click

from ..cann.library import Operator
from ..cann.mixlist import Mixlist
from ..cann.operator_rows import OperatorRow, operator_row
from ..cann.policy import combination
from ..cann.target import Target, TargetOptions
from ..terminal.answer import Answer
from ..terminal.console import Console
from ..terminal.open import accepted_mixlist, open_target, report_doubts, require_operators
from ..terminal.params import OP, TARGET, Command, given_names, mixlist_option, prints, target_options
from .operator_view import Details, show_answer


@click.command("show", cls=Command)
@click.argument("target", type=TARGET)
@click.argument("ops", nargs=-1, required=True, type=OP, metavar="OP...")
@mixlist_option
@target_options
@prints("opdef")
def command(target: str, ops: tuple[str, ...], mixlist: str | None, options: TargetOptions, console: Console) -> Answer:
    """Show all details of operators, and why they are on their list.

    --format opdef prints the lines of an OpDef source that give an operator its policy, after applying --mixlist.

    \b
    Examples:
      opsinfo show ascend910b MatMulV2
      opsinfo show ascend910b SoftmaxV2 --mixlist ops_info.json
      opsinfo show op_host@ascend910b AddCustom --format opdef
    """
    opened = open_target(target, console, options, stdin=True)
    require_operators(opened)
    applied = accepted_mixlist(mixlist, console) if mixlist else None
    operators = opened.operators.require(given_names(ops))
    report_doubts(opened, console)
    details = []
    for operator in operators:
        row = operator_row(operator, applied)
        details.append(Details(row, operator.entry, _reasons(opened, operator, row, applied)))
    return show_answer(opened, details)


def _reasons(target: Target, operator: Operator, row: OperatorRow, mixlist: Mixlist | None) -> list[str]:
    reasons = [_library_reason(target, operator, str(row.library_policy))]
    if mixlist and row.marks:
        marks = combination(row.marks)
        if row.policy is row.library_policy:
            reasons.append(f"{mixlist.path} has {marks}, which changes nothing")
        else:
            reasons.append(f"{mixlist.path} has {marks}: {row.library_policy} becomes {row.policy}")
    elif mixlist:
        reasons.append(f"{mixlist.path} does not list it")
    return reasons


def _library_reason(target: Target, operator: Operator, policy: str) -> str:
    if target.snapshot:
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
