"""`opsinfo snapshot`: the facts of a target in a small file, for machines without CANN."""

from __future__ import annotations

from typing import Any

from ...errors import UsageFault
from ...model.file_kind import is_library_name, kind_of
from ...model.snapshot_text import snapshot_text
from ...text.source import Source
from ..line import declare
from ..shared.mixlist_input import say_doubts
from ..shared.mixlist_output import built
from ..shared.options import format_option, open_target, output_of, target_options, write_options
from ..shared.writing import Run

__all__ = ["command"]


@declare.command("snapshot")
@declare.argument("target")
@declare.option("-o", "--output", "out", metavar="FILE", help="Write it there instead of to standard output.")
@target_options
@write_options
@format_option()
def command(target: str, out: str | None, format_: str, **options: Any) -> int:
    """Write the facts of TARGET that checks need: op types, policies and dtypes, by store.

    The file is small and sorted, and says the same wherever it is taken. It is read wherever a
    TARGET is, --against first of all, and never written into. --check tells by exit status 1
    that FILE is out of date.

    \b
    Examples:
      opsinfo snapshot ascend910b -o ascend910b.opsinfo.json
      opsinfo validate ops_info.json --against ascend910b.opsinfo.json
      opsinfo diff ascend910b.opsinfo.json /usr/local/Ascend/ascend-toolkit/latest --soc-b ascend910b
    """
    output = output_of("snapshot", options, format_)
    if out is None and (format_ == "json" or options["check"] or options["dry_run"]):
        raise UsageFault("--format json, --check and --dry-run tell of a written file", hint="name it with -o FILE")
    if out is not None and is_library_name(out):
        raise UsageFault("the engine would load it from there as a library", name="wrong-place", path=out)
    found = open_target(target, output, options)
    if found.kind == "mixlist":
        raise UsageFault("a mixlist is small already; a snapshot is taken of libraries", name="wrong-kind", path=target)
    say_doubts(found, output)
    text = snapshot_text(found)
    if found.soc is None:
        output.say("the target does not tell its SoC: findings will name the file alone")
    if out is None:
        output.data(text, exact=True)
        return 0
    run = Run("snapshot", output, options, undo=out)
    result = built(run, out, text, [], _require_snapshot)
    run.report(result)
    return run.status(result)


def _require_snapshot(source: Source) -> None:
    """:raises UsageFault: where a file is something else"""
    if kind_of(source) != "snapshot":
        hint = "choose another name, or remove it first"
        raise UsageFault("-o names a file that is no snapshot", name="exists", path=source.path, hint=hint)
