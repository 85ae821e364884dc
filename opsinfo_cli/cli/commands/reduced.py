"""`opsinfo reduced`: the operators of MindSpore's "Reduce precision" records."""

from __future__ import annotations

from ...model.policy import Policy
from ...model.target import TargetOptions
from ...neighbours.name_tables import name_table
from ...report.terminal.progress import Progress
from ...report.views.reduced import reduced_document, show_reduced
from ...runs.reduced import Reduced, read_reduced
from ...text.source import standard_input
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.options import against_soc_option, pager_option
from ..shared.targets import open_against


@declare.command("reduced")
@declare.argument("logs", nargs=-1, required=True, metavar="LOG...")
@declare.option("--against", metavar="TARGET", help="Show the policy of each operator in this target.")
@against_soc_option
@pager_option
@format_option()
def command(logs: tuple[str, ...], against: str | None, options: TargetOptions, printing: OutputOptions) -> int:
    """List the operators that MindSpore ran in reduced precision, with the number of records.

    The records are INFO lines of MindSpore 1.x and 2.0 (GLOG_v=1): "... Reduce precision, node datatype: ...". Later
    versions print none. Logs may be gzipped; - is standard input.

    \b
    Examples:
      opsinfo reduced mindspore.log
      opsinfo reduced rank_*/mindspore.INFO.gz --against ascend910
    """
    output = output_of("reduced", printing)
    target = open_against(against, output, options) if against else None
    operators = target.operators if target else None
    found, progress = Reduced(), Progress(output, list(logs))
    stdin = standard_input()
    try:
        for log in logs:
            read_reduced(log, found, stdin, progress)
    finally:
        progress.done()

    def policy_of(name: str) -> Policy | None:
        """Return the policy of the op types that a primitive maps to, else of its name; None if they differ."""
        if operators is None:
            return None
        ops = name_table("mindspore").ops.get(name, ())
        named = [each for each in ops if each in operators] or [each for each in (name,) if each in operators]
        policies = {operators[each].entry.policy for each in named}
        return policies.pop() if len(policies) == 1 else None

    if not found.counts:
        output.say(
            "no record of reduced precision was found; MindSpore prints them with GLOG_v=1, up to 2.0", "warning"
        )
    if output.format == "json":
        output.document(reduced_document(found, list(logs), against, policy_of if operators else None))
    else:
        show_reduced(output, found, policy_of if operators else None)
    return 0
