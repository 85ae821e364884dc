"""The dtype that an Ascend op type runs in, by its list after the mixlist, its kernel and its producer."""

from __future__ import annotations

from collections.abc import Callable

from ..model.entry import Columns, Possible
from ..model.library import Operators
from ..model.mixlist import Mixlist
from ..model.near_names import near_names
from ..model.precision_mode import Mode
from .decide import Decision, OperatorCall, apply
from .facts import facts

_LOW = {"MIX_FP16": "float16", "MIX_BF16": "bfloat16", "MIXED_HIF8": "hifloat8"}
_NO_PRODUCER = ("-",)


def decide_on_ascend(
    call: OperatorCall, mode: Mode, operators: Operators | None, mixlist: Mixlist | None, own: str
) -> Decision:
    """Return the dtype that an op type runs in, and the rule that decides.

    :param call: its dtypes are those that the producers give
    :param own: the dtype of its tensors in the graph
    :param operators: the op types of the target; only a mixed mode needs them
    """
    known = operators is not None and call.name in operators
    policy, columns = None, None
    if operators is not None and known:
        entry = operators[call.name].entry
        policy = mixlist.effective(call.name, entry.policy) if mixlist else entry.policy
        columns = Columns(entry)
    low = _LOW.get(mode.engine, "")
    holds: dict[str, Callable[[], bool]] = {
        "any": lambda: True,
        f"mode:{mode.engine}": lambda: True,
        f"is:{call.name}": lambda: True,
        "mixed": lambda: mode.is_mixed,
        "unknown": lambda: not known,
        "no-low": lambda: columns is not None and columns.can_be_white(mode.low) is Possible.NO,
        "no-float32": lambda: columns is not None and columns.can_be_black() is Possible.NO and own == "float32",
        "no-producer": lambda: call.dtypes == _NO_PRODUCER,
    }
    rules = facts("rules")["systems"]["ascend"]
    for rule in rules["rules"]:
        if all(when == str(policy) or (when in holds and holds[when]()) for when in rule["when"]):
            found = apply(call, rule, low, rules["source"], own)
            near = () if known or operators is None else tuple(near_names(call.name, operators.names))
            return _with_kernel(found, columns)._replace(near=near)
    raise AssertionError("the last rule fits everything")


def _with_kernel(found: Decision, columns: Columns | None) -> Decision:
    """If the library lists no dtypes, the kernel package decides at compile time."""
    if found.dtype is None or columns is None:
        return found
    if not columns.is_listed:
        return found._replace(says=f"{found.says} (provided its kernel has it: the library lists no dtypes)")
    listed = {dtype for tensor in columns.inputs + columns.outputs for dtype in tensor.dtypes}
    names = {found.dtype, "float"} if found.dtype == "float32" else {found.dtype}
    if listed & names:
        return found
    said = f"{found.says}; no kernel of {found.dtype} is listed, and a name alone does not show which one is chosen"
    return found._replace(outcome="not-known", dtype=None, says=said)
