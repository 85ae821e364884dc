"""`opsinfo systems decide`: explain which dtype a call gets, and the rule that decides."""

from __future__ import annotations

from collections.abc import Iterator

import click

from ...core.cann.targets.found import TargetOptions
from ...core.terminal import completion
from ...core.terminal.answer import Block, CommandAnswer, Either, Lines, Span, Table
from ...core.terminal.config import Targeted, given_or_configured, too_many_configured
from ...core.terminal.console import Console
from ...core.terminal.open import accepted_mixlist, open_against, require_against
from ...core.terminal.params import FILE, TARGET, Word, install_options, option, prints
from ...errors import UsageFault
from ...near_names import meant
from ..decide import Decision, Decisions, decide
from .open import DTYPE, SYSTEM, report_losses


@click.command("decide", cls=Targeted)
@click.argument("ops", nargs=-1, required=True, type=Word("OP[:DTYPE,...]", completion.operators))
@option("--system", type=SYSTEM, required=True, help="apex:O1, torch-amp, ascend:mixed_float16 and so on.")
@option("--low", type=DTYPE, help="The low dtype, if the system leaves a choice.")
@option("--as-loss", is_flag=True, help="MindSpore: the call is the loss, outside the network.")
@option("--own", type=DTYPE, help="Ascend: the dtype in the graph; float32 by default.")
@option("--against", type=TARGET, help="Ascend: the target with the policies.")
@option("--mixlist", type=FILE, help="Ascend: apply this mixlist.")
@install_options
@prints()
def command(
    ops: tuple[str, ...],
    system: str,
    low: str | None,
    as_loss: bool,
    own: str | None,
    against: str | None,
    mixlist: str | None,
    options: TargetOptions,
    console: Console,
) -> CommandAnswer:
    """Explain which dtype an operator call gets: the rule that decides, with its source.

    DTYPE are those of its inputs; for Ascend those that its producers give, `-` for none. If no source decides, the
    answer is `unknown`; a name that is not listed gets near names.

    \b
    Examples:
      opsinfo systems decide --system habana-hmp add:bfloat16,float32 linear
      opsinfo systems decide --system apex:O1 bmm:float16,float32 mul:float16,float32
      opsinfo systems decide --system mindspore:O2 nn.BatchNorm2d nn.Dense
      opsinfo systems decide --system ascend:mixed_float16 --against ascend910b Add
    """
    is_ascend = system.partition(":")[0] == "ascend"
    against = given_or_configured("against", against, is_ascend)
    if not is_ascend and options != TargetOptions():
        raise UsageFault("--own, --against, --mixlist, --soc, --core and --custom are for Ascend")
    if is_ascend and against is None:
        require_against(options)
    too_many = too_many_configured("against") if is_ascend and against is None else None
    try:
        found = decide(
            system,
            ops,
            low=low,
            as_loss=as_loss,
            own=own,
            against=open_against(against, console, options) if is_ascend and against is not None else against,
            mixlist=accepted_mixlist(mixlist, console) if is_ascend and mixlist else mixlist,
            say=console.warn,
        )
    except UsageFault as fault:
        if fault.name == "needs-target":
            fault.hint = too_many or fault.hint
        raise
    if too_many:
        console.note(too_many)
    report_losses(found.losses, console)
    for decision in found.decisions:
        if hint := meant(list(decision.near or ())):
            console.note(f"{decision.operator}: {hint}")
    return decisions_answer(found)


_OUTCOMES = {"not-known": "unknown", "refused": "refused"}


def decisions_answer(found: Decisions) -> CommandAnswer:
    """Operator, inputs, dtype, rule and source; on a terminal the rule and the source are below."""

    def terminal() -> Iterator[Block]:
        for decision in found.decisions:
            call = f"{decision.operator}({', '.join(decision.inputs)})"
            yield Lines([[Span(call), Span("  "), Span(_dtype(decision), "title")]])
            yield Lines([f"  {decision.says}"], 2)
            yield Lines([[Span(f"  source: {decision.source}", "dim")]], 4)

    fields = [[d.operator, ",".join(d.inputs) or "-", _dtype(d), d.says, d.source] for d in found.decisions]
    is_partial = any(loss.is_unread for loss in found.losses)
    return CommandAnswer(found.to_dict, lambda: [Either(terminal, lambda: [Table([], fields)])], status=int(is_partial))


def _dtype(decision: Decision) -> str:
    return decision.dtype or _OUTCOMES[decision.outcome]
