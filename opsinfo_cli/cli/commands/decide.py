"""`opsinfo decide`: show the dtype that a call runs in, and the rule that decides."""

from __future__ import annotations

from typing import Any

from ...errors import UsageFault
from ...model.near_names import did_you_mean
from ...model.precision_mode import Mode, required_mode
from ...model.target import TargetOptions
from ...neighbours.ascend_decision import decide_on_ascend
from ...neighbours.decide import FLOATS, Decision, OperatorCall, decide
from ...neighbours.mindspore import class_name
from ...report.terminal.output import Output
from ...report.views.decisions import decisions_document, show_decisions
from ..line import declare
from ..shared.common_options import OutputOptions, format_option, output_of
from ..shared.doubts import report_doubts
from ..shared.mixlist_input import accepted_mixlist
from ..shared.neighbour_lists import open_system
from ..shared.options import against_soc_option, pager_option
from ..shared.targets import open_against

_DTYPES = (*FLOATS, "hifloat8", "int8", "int16", "int32", "int64", "uint8", "bool")
_SHORT = {"fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32", "float": "float32"}
_SHORT |= {"fp64": "float64", "double": "float64", "hif8": "hifloat8"}


@declare.command("decide")
@declare.argument("ops", nargs=-1, required=True, metavar="OP[:DTYPE,...]...")
@declare.option("--system", required=True, metavar="SYSTEM", help="apex:O1, torch-amp, ascend:mixed_float16 and so on.")
@declare.option("--low", metavar="DTYPE", help="The low dtype, if the system leaves a choice.")
@declare.option("--to-float", metavar="DTYPE", help="MindSpore: the Cell's own to_float.")
@declare.option("--as-loss", is_flag=True, help="MindSpore: the call is the loss, outside the network.")
@declare.option("--disabled", is_flag=True, help="APEX, HMP: the call is inside disable_casts().")
@declare.option("--own", metavar="DTYPE", help="Ascend: the dtype in the graph; float32 by default.")
@declare.option("--against", metavar="TARGET", help="Ascend: the target with the policies.")
@declare.option("--mixlist", metavar="FILE", help="Ascend: apply this mixlist.")
@against_soc_option
@pager_option
@format_option()
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
    printing: OutputOptions,
) -> int:
    """Show the dtype that an operator call runs in, and the rule that decides, with its source.

    DTYPE are those of its inputs; for Ascend those that its producers give, `-` for none. If no source decides, the
    answer is `unknown`; a name that is not listed gets near names.

    \b
    Examples:
      opsinfo decide --system habana-hmp add:bfloat16,float32 linear
      opsinfo decide --system apex:O1 bmm:float16,float32 mul:float16,float32
      opsinfo decide --system mindspore:O2 nn.BatchNorm2d nn.Dense
      opsinfo decide --system ascend:mixed_float16 --against ascend910b SoftmaxV2:float16
    """
    output = output_of("decide", printing)
    chosen = {"to_float": _dtype(to_float), "as_loss": as_loss, "disabled": disabled}
    calls = [_call(text, chosen) for text in ops]
    name, _, level = system.partition(":")
    _require_fitting(name, to_float or as_loss, disabled, own or against or mixlist or options.soc, low)
    if name == "ascend":
        found = _on_ascend(calls, required_mode(level), _dtype(own) or "float32", against, mixlist, options, output)
    else:
        lists = open_system(system, output)
        if lists.names == "mindspore":
            calls = [call._replace(name=class_name(call.name)) for call in calls]
        found = [decide(call, lists, _dtype(low)) for call in calls]
    if output.format == "json":
        output.document(decisions_document(system, found))
    else:
        show_decisions(output, found)
    return 0


def _require_fitting(name: str, of_mindspore: object, disabled: bool, of_ascend: object, low: str | None) -> None:
    """:raises UsageFault: if an option does not apply to the system"""
    if of_mindspore and not name.startswith("mindspore"):
        raise UsageFault("--to-float and --as-loss are for MindSpore")
    if disabled and name.partition("=")[0] not in ("apex", "apex-npu", "habana-hmp"):
        raise UsageFault("only APEX and HMP have disable_casts()")
    if of_ascend and name != "ascend":
        raise UsageFault("--own, --against, --mixlist and --soc are for Ascend")
    if low and name == "ascend":
        raise UsageFault("--low is for other systems; for Ascend the mode sets it")


def _call(text: str, chosen: dict[str, Any]) -> OperatorCall:
    name, colon, dtypes = text.partition(":")
    if not name or (colon and not dtypes):
        raise UsageFault(f"`{text}` is not OP or OP:DTYPE,...")
    if dtypes == "-":
        return OperatorCall(name, ("-",), **chosen)
    return OperatorCall(name, tuple(str(_dtype(each)) for each in dtypes.split(",")) if dtypes else (), **chosen)


def _dtype(text: str | None) -> str | None:
    """:raises UsageFault: if it is not a dtype"""
    if text is None:
        return None
    dtype = _SHORT.get(text, text)
    if dtype not in _DTYPES:
        hint = did_you_mean(text, (*_DTYPES, *_SHORT)) or f"known dtypes: {', '.join(_DTYPES)}"
        raise UsageFault(f"`{text}` is not a dtype", name="unknown-dtype", hint=hint)
    return dtype


def _on_ascend(
    calls: list[OperatorCall],
    mode: Mode,
    own: str,
    against: str | None,
    mixlist: str | None,
    options: TargetOptions,
    output: Output,
) -> list[Decision]:
    if mode.is_mixed and against is None:
        raise UsageFault("a mixed mode requires the library's lists", name="needs-target", hint="add --against TARGET")
    if mixlist and not mode.is_mixed:
        raise UsageFault(f"the engine takes no mixlist with `{mode.name}` (E10001)", name="mode-refuses-mixlist")
    target = open_against(against, output, options) if against else None
    if target:
        report_doubts(target, output)
        if target.soc and not mode.is_on(target.soc):
            raise UsageFault(f"{target.soc} does not support `{mode.name}`", name="mode-not-on-soc")
    chosen = accepted_mixlist(mixlist, output) if mixlist else None
    return [decide_on_ascend(call, mode, target.operators if target else None, chosen, own) for call in calls]
