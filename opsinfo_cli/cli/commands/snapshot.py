"""`opsinfo snapshot`: write the facts of a target to a small file, for machines without CANN."""

from __future__ import annotations

from ...errors import UsageFault
from ...model.file_kind import is_library_name, kind_of
from ...model.snapshot import snapshot_text
from ...model.target import TargetOptions
from ...text.source import Source
from ..line import declare
from ..shared.common_options import OutputOptions, WriteOptions, format_option, output_of
from ..shared.doubts import report_doubts
from ..shared.mixlist_output import built
from ..shared.options import target_options, write_options
from ..shared.targets import open_target
from ..shared.writing import WriteRun


@declare.command("snapshot")
@declare.argument("target")
@declare.option(
    "-o", "--output", "out", metavar="FILE", help="Write to FILE instead of standard output.", writes=("target",)
)
@target_options
@write_options
@format_option()
def command(
    target: str, out: str | None, options: TargetOptions, writing: WriteOptions, printing: OutputOptions
) -> int:
    """Write the facts of TARGET to a file, for use without CANN: op types, policies and dtype columns, by store.

    The file is small and sorted, and does not depend on the machine. It can be used wherever a TARGET is
    read, mainly with --against, and cannot be edited. --check exits 1 if FILE is out of date.

    \b
    Examples:
      opsinfo snapshot ascend910b -o ascend910b.opsinfo.json
      opsinfo validate ops_info.json --against ascend910b.opsinfo.json
      opsinfo diff ascend910b.opsinfo.json /usr/local/Ascend/ascend-toolkit/latest --soc-b ascend910b
    """
    output = output_of("snapshot", printing)
    if out is None and (printing.format == "json" or not writing.writes):
        raise UsageFault("--format json, --check and --dry-run require -o", hint="add -o FILE")
    if out is not None and is_library_name(out):
        raise UsageFault("the engine would load this file as a library", name="wrong-place", path=out)
    found = open_target(target, output, options)
    if found.kind == "mixlist":
        raise UsageFault("a snapshot requires libraries; this is a mixlist", name="wrong-kind", path=target)
    report_doubts(found, output)
    text = snapshot_text(found)
    if found.soc is None:
        output.say("the SoC of the target is unknown: findings will name the file only")
    if out is None:
        output.data(text, exact=True)
        return 0
    run = WriteRun("snapshot", output, writing, undo=out)
    result = built(run, out, text, [], _require_snapshot)
    run.report(result)
    return run.status(result)


def _require_snapshot(source: Source) -> None:
    """:raises UsageFault: if the file is not a snapshot"""
    if kind_of(source) != "snapshot":
        hint = "choose another name, or remove it first"
        raise UsageFault("-o names a file that is not a snapshot", name="exists", path=source.path, hint=hint)
