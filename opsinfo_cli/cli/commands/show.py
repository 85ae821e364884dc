"""`opsinfo show`: show all details of operators, and why they are on their list."""

from __future__ import annotations

from ...model.entry import Columns
from ...model.library import Operator
from ...model.mixlist import Mixlist
from ...model.operator_rows import OperatorRow, operator_row
from ...model.policy import combination
from ...model.target import Target, TargetOptions
from ...report.views.operator import show_lines, tensors_document
from ...report.views.operators import row_document, target_document
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.doubts import report_doubts
from ..shared.mixlist_input import accepted_mixlist
from ..shared.options import given_names, mixlist_option, pager_option, target_options
from ..shared.targets import open_target, require_operators


@declare.command("show")
@declare.argument("target")
@declare.argument("ops", nargs=-1, required=True, metavar="OP...")
@mixlist_option
@target_options
@pager_option
@format_option()
def command(
    target: str, ops: tuple[str, ...], mixlist: str | None, options: TargetOptions, printing: OutputOptions
) -> int:
    """Show all details of operators, and why they are on their list.

    \b
    Examples:
      opsinfo show ascend910b MatMulV2
      opsinfo show ascend910b SoftmaxV2 --mixlist ops_info.json
    """
    output = output_of("show", printing)
    found = open_target(target, output, options, stdin=True)
    require_operators(found)
    chosen = accepted_mixlist(mixlist, output) if mixlist else None
    operators = found.operators.require(given_names(ops))
    report_doubts(found, output)
    rows = [(operator, operator_row(operator, chosen), Columns(operator.entry)) for operator in operators]
    if output.format == "json":
        documents = [{**row_document(row), **tensors_document(columns)} for _, row, columns in rows]
        output.document({"target": target_document(found), "operators": documents})
    else:
        blocks = [
            show_lines(output, row, columns, _why(found, operator, row, chosen), found.path)
            for operator, row, columns in rows
        ]
        with output.paged():
            output.lines(line for index, block in enumerate(blocks) for line in ([""] if index else []) + block)
    return 0


def _why(target: Target, operator: Operator, row: OperatorRow, mixlist: Mixlist | None) -> list[str]:
    why = [_library_says(target, operator, str(row.library_policy))]
    if mixlist and row.marks:
        marks = combination(row.marks)
        if row.policy is row.library_policy:
            why.append(f"{mixlist.path} has {marks}, which changes nothing")
        else:
            why.append(f"{mixlist.path} has {marks}: {row.library_policy} becomes {row.policy}")
    elif mixlist:
        why.append(f"{mixlist.path} does not list it")
    return why


def _library_says(target: Target, operator: Operator, policy: str) -> str:
    if target.snapshot:
        return f"the snapshot has {policy}: {_MEANING[policy]}"
    flag = operator.entry.sections.get("precision_reduce", {}).get("flag")
    if flag is None:
        return "its entry has no precision_reduce flag: it follows its producer"
    return f'its entry has precision_reduce.flag "{flag}": {_MEANING[policy]}'


_MEANING = {
    "white": "it may be reduced to half precision",
    "black": "it keeps its precision",
    "gray": "no flag, it follows its producer",
}
