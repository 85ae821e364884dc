"""The dtype that a call runs in, and the rule that decides. Rules are data; what no source states is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple
from warnings import warn

from ..core.cann.entry import Columns, Possible
from ..core.cann.library import Operators
from ..core.cann.mixlist import AnyMixlist, Mixlist
from ..core.cann.name_tables import loss_cells, name_table
from ..core.cann.precision_mode import Mode, required_mode
from ..core.cann.target import AnyTarget, Target
from ..core.document import headed, internal, optional
from ..errors import UsageFault
from ..near_names import did_you_mean, near_names
from .facts import facts
from .registry import SYSTEMS, system_called
from .system_lists import read_system
from .vocabulary import Loss, OperatorLists

FLOATS = ("float16", "bfloat16", "float32", "float64")
_WIDTH = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 3}
_NO_PRODUCER = ("-",)


_DTYPES = (*FLOATS, "hifloat8", "int8", "int16", "int32", "int64", "uint8", "bool")
_SHORT = {"fp16": "float16", "half": "float16", "bf16": "bfloat16", "fp32": "float32", "float": "float32"}
_SHORT |= {"fp64": "float64", "double": "float64", "hif8": "hifloat8"}


def dtype_called(text: str) -> str:
    """:raises UsageFault: if it is not a dtype"""
    dtype = _SHORT.get(text, text)
    if dtype not in _DTYPES:
        hint = did_you_mean(text, (*_DTYPES, *_SHORT)) or f"known dtypes: {', '.join(_DTYPES)}"
        raise UsageFault(f"`{text}` is not a dtype", name="unknown-dtype", hint=hint)
    return dtype


class OperatorCall(NamedTuple):
    """One call of an operator.

    :param dtypes: those of its inputs; empty if none were given
    :param as_loss: whether it is the loss function, outside the network
    """

    name: str
    dtypes: tuple[str, ...] = ()
    as_loss: bool = False

    @property
    def is_in_place(self) -> bool:
        return self.name.endswith("_") and not self.name.endswith("__")


@dataclass(frozen=True)
class Decision:
    """The decision for one call."""

    operator: str
    """The operator."""
    inputs: tuple[str, ...]
    """The dtypes of the inputs, as given; for Ascend the dtypes of the producers, `-` for none."""
    outcome: Literal["dtype", "refused", "not-known"]
    """dtype: the operator runs in `dtype`. refused: the call raises an error, or no kernel accepts it. not-known: no
    source decides it, or too little was given.
    """
    dtype: str | None
    """The dtype; null if there is none."""
    says: str
    """The rule as text."""
    source: str
    """The source of the rule."""
    near: Sequence[str] | None = optional(())
    """Similar known names if the name is not listed, the nearest first."""


@dataclass(frozen=True)
class Decisions:
    """The dtype that operator calls run in, and the rule that decides it. Later versions may add keys."""

    system: str
    """The system, as given."""
    decisions: list[Decision]
    """One decision for each call, in the order given."""
    losses: Sequence[Loss] = internal(())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of ``opsinfo systems decide``."""
        return headed("systems decide", self)


def decide(
    system: str,
    calls: str | Iterable[str],
    *,
    low: str | None = None,
    as_loss: bool = False,
    own: str | None = None,
    against: AnyTarget | None = None,
    mixlist: AnyMixlist | None = None,
    say: Callable[[str], None] = warn,
) -> Decisions:
    """Return the dtypes that operator calls get, as ``opsinfo systems decide``.

    :param system: as for :func:`.read_system`, or ``ascend:MODE``
    :param calls: ``OP`` or ``OP:DTYPE,...`` with the dtypes of the inputs; for Ascend those that the producers give,
        ``-`` for none
    :param low: the low dtype, if the system leaves a choice
    :param as_loss: MindSpore: whether the call is the loss, outside the network
    :param own: Ascend: the dtype in the graph; None for float32
    :param against: Ascend: the target with the policies
    :param mixlist: Ascend: applied to them
    :param say: called with what makes the policies uncertain
    :raises UsageFault: if an argument is not for the system
    """
    name, _, level = system.partition(":")
    if as_loss and (name == "ascend" or not system_called(name.partition("=")[0]).knows_loss):
        raise UsageFault("--as-loss is for MindSpore")
    if name != "ascend" and not (own is against is mixlist is None):
        raise UsageFault("--own, --against, --mixlist, --soc, --core and --custom are for Ascend")
    if low and name == "ascend":
        raise UsageFault("--low is for other systems; for Ascend the mode sets it")
    asked = []
    for text in [calls] if isinstance(calls, str) else calls:
        word, colon, dtypes = text.partition(":")
        if not word or (colon and not dtypes):
            raise UsageFault(f"`{text}` is not OP or OP:DTYPE,...")
        known = _NO_PRODUCER if dtypes == "-" else tuple(dtype_called(each) for each in dtypes.split(",") if dtypes)
        asked.append(OperatorCall(word, known, as_loss))
    if name != "ascend":
        found = read_system(system)
        chosen = None if low is None else dtype_called(low)
        return Decisions(system, [decide_by_lists(call, found.lists, chosen) for call in asked], found.losses)
    if not level:
        hint = "for example ascend:mixed_float16; `opsinfo modes` lists them"
        raise UsageFault("ascend requires a precision mode", name="unknown-mode", hint=hint)
    mode = required_mode(level)
    if mode.is_mixed and against is None:
        raise UsageFault("a mixed mode requires the library's lists", name="needs-target", hint="add --against TARGET")
    if mixlist is not None and not mode.is_mixed:
        raise UsageFault(f"the engine takes no mixlist with `{mode.name}` (E10001)", name="mode-refuses-mixlist")
    target = None if against is None else Target.open(against)
    if target:
        for doubt in target.doubts_of_policies():
            say(doubt)
        if target.soc and not mode.is_on(target.soc):
            raise UsageFault(f"{target.soc} does not support `{mode.name}`", name="mode-not-on-soc")
    operators, applied = target.operators if target else None, None if mixlist is None else Mixlist.open(mixlist)
    kept = dtype_called(own or "float32")
    return Decisions(system, [decide_on_ascend(call, mode, operators, applied, kept) for call in asked])


def decide_by_lists(call: OperatorCall, lists: OperatorLists, low: str | None = None) -> Decision:
    """Return the decision of the first rule that matches.

    :param low: the low dtype, if the system has several
    :raises UsageFault: if the rules of the system are unknown
    """
    content = facts("rules")
    system = content["same"].get(lists.system, lists.system)
    rules = content["systems"].get(f"{system}:{lists.level}") or content["systems"].get(system)
    if rules is None:
        raise UsageFault(f"the rules of {lists.title} are unknown", name="not-known")
    call = call._replace(name=SYSTEMS[lists.system].spelled(call.name))
    cls = _class_of(call, lists)
    holds: _Conditions = {
        cls or "unlisted": lambda: True,
        "loss": lambda: call.as_loss or call.name in loss_cells(),
        "in-place": lambda: call.is_in_place,
        "norm": lambda: call.name in content["norm"],
        "batch-norm": lambda: call.name.rpartition(".")[2].replace("_", "").lower().startswith("batchnorm"),
        "half": lambda: "float16" in call.dtypes or not call.dtypes,
        "any-half": lambda: "float16" in call.dtypes,
        "double": lambda: "float64" in call.dtypes,
        "sequence": lambda: any(e.name == call.name and e.origin == "SEQUENCE_CASTS" for e in lists.entries),
        "exempt": lambda: bool(call.dtypes) and all(dtype not in FLOATS[:3] for dtype in call.dtypes),
    }
    own = [rule for rule in rules["rules"] if rule.get("only", lists.system) == lists.system]
    rule = _first(own, holds)
    if rule is None:
        return Decision(call.name, call.dtypes, "not-known", None, "no rule matches", rules["source"])
    decision = _apply(call, rule, low or lists.low or "float16", rules["source"])
    known = {entry.name for entry in lists.entries} | set(name_table(lists.names).ops)
    is_near = cls is None and call.name not in known | loss_cells()
    return replace(decision, near=tuple(near_names(call.name, known))) if is_near else decision


_Conditions = dict[str, Callable[[], bool]]
"""Whether each condition of a rule holds; one that is not in it does not."""


def _first(rules: list[dict[str, Any]], holds: _Conditions) -> dict[str, Any] | None:
    """Return the first rule whose conditions all hold."""
    holds["any"] = lambda: True
    return next((rule for rule in rules if all(when in holds and holds[when]() for when in rule["when"])), None)


def _class_of(call: OperatorCall, lists: OperatorLists) -> str | None:
    """Return the class of a name, or the one class of its listed overloads."""
    listed = lists.deciding()
    names = [call.name]
    if call.is_in_place and SYSTEMS[lists.system].wraps_in_place:
        names.append(call.name[:-1])
    if lists.names == "torch":
        names.append(facts("rules")["modules"].get(call.name.rpartition(".")[2], call.name))
    for name in names:
        if name in listed:
            return str(listed[name].cls)
    if lists.names == "torch":
        overloads = {entry.cls for name, entry in listed.items() if name.partition(".")[0] == call.name}
        return str(overloads.pop()) if len(overloads) == 1 else None
    return None


def decide_on_ascend(
    call: OperatorCall, mode: Mode, operators: Operators | None, mixlist: Mixlist | None, own: str
) -> Decision:
    """Return the dtype that an Ascend op type runs in, by its list after the mixlist, its kernel and its producer.

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
    holds: _Conditions = {
        str(policy): lambda: True,
        f"mode:{mode.engine}": lambda: True,
        f"is:{call.name}": lambda: True,
        "mixed": lambda: mode.is_mixed,
        "unknown": lambda: not known,
        "no-low": lambda: columns is not None and columns.can_be_white(mode.low) is Possible.NO,
        "no-float32": lambda: columns is not None and columns.can_be_black() is Possible.NO and own == "float32",
        "no-producer": lambda: call.dtypes == _NO_PRODUCER,
    }
    rules = facts("rules")["systems"]["ascend"]
    rule = _first(rules["rules"], holds)
    assert rule is not None  # the last rule fits everything
    decision = _apply(call, rule, mode.low_dtype or "", rules["source"], own)
    near = () if known or operators is None else tuple(near_names(call.name, operators.names))
    return replace(_with_kernel(decision, columns), near=near)


def _with_kernel(decision: Decision, columns: Columns | None) -> Decision:
    """If the library lists no dtypes, the kernel package decides at compile time."""
    if decision.dtype is None or columns is None:
        return decision
    if not columns.is_listed:
        return replace(decision, says=f"{decision.says} (provided its kernel has it: the library lists no dtypes)")
    listed = {dtype for tensor in columns.inputs + columns.outputs for dtype in tensor.dtypes}
    names = {decision.dtype, "float"} if decision.dtype == "float32" else {decision.dtype}
    if listed & names:
        return decision
    says = (
        f"{decision.says}; no kernel of {decision.dtype} is listed, and a name alone does not show which one is chosen"
    )
    return replace(decision, outcome="not-known", dtype=None, says=says)


def _apply(call: OperatorCall, rule: dict[str, str], low: str, source: str, own: str | None = None) -> Decision:
    """Return what a rule's ``then`` gives for a call.

    :param own: the dtype of an Ascend tensor in the graph
    """
    then = rule["then"]
    if then in ("casts", "sequence-casts"):
        return _casts(call, rule, source)
    dtype: str | None
    if then in ("first", "producer"):
        dtype = next(iter(call.dtypes), None)
    elif then in ("inputs", "alike", "first-if-alike"):
        dtype = _alike(call.dtypes)
    elif then == "widest":
        widths = [_WIDTH.get(given, 0) for given in call.dtypes]
        widest = {given for given in call.dtypes if _WIDTH.get(given) == max(widths)}
        dtype = widest.pop() if len(widest) == 1 else None  # two may be equally wide
    else:
        dtype = {"low": low, "own": own, "float32": "float32"}.get(then)
    if then == "refused":
        return Decision(call.name, call.dtypes, "refused", None, rule["says"], source)
    return Decision(call.name, call.dtypes, "dtype" if dtype else "not-known", dtype, rule["says"], source)


def _casts(call: OperatorCall, rule: dict[str, str], source: str) -> Decision:
    """APEX: half and float together become float. Other mixtures of floats raise, or in a sequence are passed on
    (NVIDIA/apex 4ef930c1, apex/amp/wrap.py)."""
    raises = rule["then"] == "casts"
    kinds = {dtype for dtype in call.dtypes if dtype in FLOATS} if raises else set(call.dtypes)
    if raises and len(kinds) > 1 and kinds != {"float16", "float32"}:
        return Decision(call.name, call.dtypes, "refused", None, f"{rule['says']}; any other mixture raises", source)
    if kinds == {"float16", "float32"}:
        dtype: str | None = "float32"
    else:
        dtype = next(iter(kinds)) if len(kinds) == 1 else _alike(call.dtypes)
    return Decision(call.name, call.dtypes, "dtype" if dtype else "not-known", dtype, rule["says"], source)


def _alike(dtypes: tuple[str, ...]) -> str | None:
    return dtypes[0] if len(set(dtypes)) == 1 else None
