"""`opsinfo systems decide`: explain which dtype a call gets, and the rule that decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from ...core.cann.near_names import meant
from ...core.cann.precision_mode import Mode, required_mode
from ...core.cann.target import TargetOptions
from ...core.terminal import completion
from ...core.terminal.answer import Answer, Block, Either, Lines, Span, Table, members
from ...core.terminal.config import Targeted, given_or_configured, too_many_configured
from ...core.terminal.console import Console
from ...core.terminal.open import accepted_mixlist, open_given, report_doubts
from ...core.terminal.params import FILE, TARGET, Word, install_options, option, prints
from ...errors import UsageFault
from ..decide import Decision, OperatorCall, decide, decide_on_ascend
from ..registry import system_called
from .open import DTYPE, SYSTEM, dtype_called, open_system

if TYPE_CHECKING:
    from ..decide import Decision


@click.command("decide", cls=Targeted)
@click.argument("ops", nargs=-1, required=True, type=Word("OP[:DTYPE,...]", completion.operators))
@option("--system", type=SYSTEM, required=True, help="apex:O1, torch-amp, ascend:mixed_float16 and so on.")
@option("--low", type=DTYPE, help="The low dtype, if the system leaves a choice.")
@option("--to-float", type=DTYPE, help="MindSpore: the Cell's own to_float.")
@option("--as-loss", is_flag=True, help="MindSpore: the call is the loss, outside the network.")
@option("--disabled", is_flag=True, help="APEX, HMP: the call is inside disable_casts().")
@option("--own", type=DTYPE, help="Ascend: the dtype in the graph; float32 by default.")
@option("--against", type=TARGET, help="Ascend: the target with the policies.")
@option("--mixlist", type=FILE, help="Ascend: apply this mixlist.")
@install_options
@prints()
def command(
    ops: tuple[str, ...],
    system: str,
    low: str | None,
    to_float: str | None,
    as_loss: bool,
    disabled: bool,
    own: str | None,
    against: str | None,
    mixlist: str | None,
    options: TargetOptions,
    console: Console,
) -> Answer:
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
    surroundings = {"to_float": to_float, "as_loss": as_loss, "disabled": disabled}
    calls = [_call(text, surroundings) for text in ops]
    name, _, level = system.partition(":")
    against = given_or_configured("against", against, name == "ascend")
    _require_fitting(name, to_float or as_loss, disabled, own or against or mixlist or options != TargetOptions(), low)
    if name == "ascend":
        decisions = _on_ascend(calls, required_mode(level), own or "float32", against, mixlist, options, console)
    else:
        lists = open_system(system, console)
        decisions = [decide(call, lists, low) for call in calls]
    for decision in decisions:
        if hint := meant(list(decision.near)):
            console.note(f"{decision.call.name}: {hint}")
    return decisions_answer(system, decisions)


def _require_fitting(name: str, of_mindspore: object, disabled: bool, of_ascend: object, low: str | None) -> None:
    """:raises UsageFault: if an option does not apply to the system"""
    takes = system_called(name.partition("=")[0]).call_options if name != "ascend" else frozenset[str]()
    if of_mindspore and "to_float" not in takes:
        raise UsageFault("--to-float and --as-loss are for MindSpore")
    if disabled and "disabled" not in takes:
        raise UsageFault("only APEX and HMP have disable_casts()")
    if of_ascend and name != "ascend":
        raise UsageFault("--own, --against, --mixlist, --soc, --core and --custom are for Ascend")
    if low and name == "ascend":
        raise UsageFault("--low is for other systems; for Ascend the mode sets it")


def _call(text: str, surroundings: dict[str, Any]) -> OperatorCall:
    name, colon, dtypes = text.partition(":")
    if not name or (colon and not dtypes):
        raise UsageFault(f"`{text}` is not OP or OP:DTYPE,...")
    if dtypes == "-":
        return OperatorCall(name, ("-",), **surroundings)
    return OperatorCall(name, tuple(dtype_called(word) for word in dtypes.split(",") if dtypes), **surroundings)


def _on_ascend(
    calls: list[OperatorCall],
    mode: Mode,
    own: str,
    against: str | None,
    mixlist: str | None,
    options: TargetOptions,
    console: Console,
) -> list[Decision]:
    if mode.is_mixed and against is None:
        hint = too_many_configured("against") or "add --against TARGET"
        raise UsageFault("a mixed mode requires the library's lists", name="needs-target", hint=hint)
    if mixlist and not mode.is_mixed:
        raise UsageFault(f"the engine takes no mixlist with `{mode.name}` (E10001)", name="mode-refuses-mixlist")
    target = open_given(against, console, options)
    if target:
        report_doubts(target, console)
        if target.soc and not mode.is_on(target.soc):
            raise UsageFault(f"{target.soc} does not support `{mode.name}`", name="mode-not-on-soc")
    chosen = accepted_mixlist(mixlist, console) if mixlist else None
    return [decide_on_ascend(call, mode, target.operators if target else None, chosen, own) for call in calls]


_OUTCOMES = {"not-known": "unknown", "refused": "refused"}


def decisions_answer(system: str, decisions: Sequence[Decision]) -> Answer:
    """Operator, inputs, dtype, rule and source; on a terminal the rule and the source are below."""

    def terminal() -> Iterator[Block]:
        for decision in decisions:
            call = f"{decision.call.name}({', '.join(decision.call.dtypes)})"
            yield Lines([[Span(call), Span("  "), Span(_dtype(decision), "title")]])
            yield Lines([f"  {decision.says}"], 2)
            yield Lines([[Span(f"  source: {decision.source}", "dim")]], 4)

    fields = [[d.call.name, ",".join(d.call.dtypes) or "-", _dtype(d), d.says, d.source] for d in decisions]
    document = {
        "system": system,
        "decisions": [
            {
                "operator": decision.call.name,
                "inputs": decision.call.dtypes,
                **members(decision, "outcome", "dtype", "says", "source", "near"),
            }
            for decision in decisions
        ],
    }
    return Answer(lambda: document, lambda: [Either(terminal, lambda: [Table([], fields)])])


def _dtype(decision: Decision) -> str:
    return decision.dtype or _OUTCOMES[decision.outcome]
