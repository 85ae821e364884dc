"""`opsinfo apply`: bake a mixlist into libraries."""

from __future__ import annotations

import click

from ...errors import UsageFault
from ..cann.mixlist import MixlistFile
from ..cann.target import Target
from ..cann.targets.found import TargetOptions
from ..change.apply import apply
from ..terminal.answer import CommandAnswer
from ..terminal.console import Console
from ..terminal.open import accepted_mixlist, open_target_or_mixlist
from ..terminal.params import (
    FILE,
    SOC,
    TARGET,
    Command,
    OutputFile,
    WriteOptions,
    as_option,
    bundle,
    core_option,
    custom_option,
    option,
    prints,
    reason_option,
    store_option,
    strict_option,
    write_options,
)
from ..terminal.write import answer_of_result, answer_of_target, report_change, settings_of


@click.command("apply", cls=Command)
@click.argument("target", type=TARGET)
@click.argument("mixlist", type=FILE, metavar="MIXLIST")
@option(
    "-o",
    "--output",
    "copy",
    type=OutputFile("PATH", or_folder=True),
    help="Write a copy: a file, or a directory for a store.",
)
@strict_option
@store_option
@option("--soc", "socs", type=SOC, multiple=True, help="Chip of an install that has several; repeatable.")
@bundle("options", TargetOptions, as_option, core_option, custom_option)
@write_options(reason_option)
@prints()
def command(
    target: str,
    mixlist: str,
    copy: str | None,
    store: str | None,
    socs: tuple[str, ...],
    options: TargetOptions,
    writing: WriteOptions,
    console: Console,
) -> CommandAnswer:
    """Write the policies that MIXLIST gives to operators into the libraries of TARGET.

    The result is what the engine computes from library and mixlist at every start. An operator that becomes
    gray gets an entry without a flag.

    \b
    Examples:
      opsinfo apply ascend910b ops_info.json --dry-run
      opsinfo apply config/ascend910b ops_info.json \
        --output baked
    """
    opened = [_opened(target, console, options._replace(soc=soc)) for soc in socs or [None]]
    targets = list({each.soc: each for each in opened}.values())
    result = apply(
        targets,
        accepted_mixlist(mixlist, console),
        output=copy,
        store=store,
        strict=console.strict,
        say=console.warn,
        **settings_of(writing),
    )
    if console.is_failed and (result.dry_run if copy else result.change is None):
        console.error("warnings count as errors (--strict); nothing was written")
        return answer_of_result(result, target=target, undo="", dry_run=True)._replace(status=1)
    if copy is None:
        return answer_of_target(report_change(result, writing, console), target, writing, console)
    answer = answer_of_result(result, target=targets[0].path, undo="", dry_run=writing.dry_run)
    if writing.writes:
        answer = answer._replace(notes=[f"wrote {copy}; {targets[0].path} was not changed"])
    return answer


def _opened(text: str, console: Console, options: TargetOptions) -> Target:
    """:raises UsageFault: if it is a mixlist"""
    target = open_target_or_mixlist(text, console, options)
    if isinstance(target, MixlistFile):
        message = "TARGET is a mixlist; a mixlist is applied to libraries"
        hint = "are the arguments swapped? `opsinfo apply TARGET MIXLIST`"
        raise UsageFault(message, name="wrong-kind", path=target.path, hint=hint)
    return target
