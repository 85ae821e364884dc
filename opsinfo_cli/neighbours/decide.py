"""What dtype a call runs in, and by which rule. Rules are data; what their sources do not say is not known."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..errors import UsageFault
from .facts import facts
from .placed import Class, Lists

__all__ = ["FLOATS", "Call", "Decision", "apply", "decide"]

FLOATS = ("float16", "bfloat16", "float32", "float64")
_WIDTH = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 3}


class Call(NamedTuple):
    """One operator as it is called.

    :param dtypes: those of its inputs; empty where none were said
    :param to_float: the dtype of a MindSpore Cell's own ``to_float``
    :param disabled: whether it is called where casts are switched off
    :param as_loss: whether it is the loss, outside the network
    """

    name: str
    dtypes: tuple[str, ...] = ()
    to_float: str | None = None
    disabled: bool = False
    as_loss: bool = False

    @property
    def is_in_place(self) -> bool:
        return self.name.endswith("_") and not self.name.endswith("__")


class Decision(NamedTuple):
    """:param outcome: dtype, not-known, or refused; ``dtype`` is None for the other two"""

    call: Call
    outcome: str
    dtype: str | None
    says: str
    source: str


def decide(call: Call, lists: Lists, low: str | None = None) -> Decision:
    """Find the first rule that fits.

    :param low: the dtype that is low, where the system leaves a choice
    :raises UsageFault: where no rules are known for the system
    """
    content = facts("rules")["systems"]
    rules = content.get(lists.title) or content.get(lists.system)
    if rules is None:
        raise UsageFault(f"no rules are known for {lists.title}", name="not-known")
    cls = _class_of(call, lists)
    holds: dict[str, Callable[[], bool]] = {
        "any": lambda: True,
        "unlisted": lambda: cls is None,
        "disabled": lambda: call.disabled,
        "loss": lambda: call.as_loss,
        "to-float": lambda: call.to_float is not None,
        "in-place": lambda: call.is_in_place,
        "norm": lambda: call.name in facts("rules")["norm"],
        "half": lambda: "float16" in call.dtypes or not call.dtypes,
        "any-half": lambda: "float16" in call.dtypes,
        "double": lambda: "float64" in call.dtypes,
        "sequence": lambda: any(e.name == call.name and e.origin == "SEQUENCE_CASTS" for e in lists.placed),
        "exempt": lambda: bool(call.dtypes) and all(dtype not in FLOATS[:3] for dtype in call.dtypes),
    }
    for rule in rules["rules"]:
        if all(cls == when if when in _CLASSES else holds[when]() for when in rule["when"]):
            return apply(call, rule, low or lists.low or "float16", rules["source"])
    return Decision(call, "not-known", None, "no rule fits", rules["source"])


_CLASSES = frozenset(str(cls) for cls in Class)


def _class_of(call: Call, lists: Lists) -> str | None:
    """The class of a name, or of the functions whose overloads are listed under it."""
    placed = lists.deciding()
    for name in (call.name, call.name[:-1] if call.is_in_place and lists.system == "apex" else call.name):
        if name in placed:
            return str(placed[name].cls)
    if lists.names == "torch":
        overloads = {each.cls for name, each in placed.items() if name.partition(".")[0] == call.name}
        return str(overloads.pop()) if len(overloads) == 1 else None
    return None


def apply(call: Call, rule: dict[str, str], low: str, source: str, own: str | None = None) -> Decision:
    """:param own: the dtype an Ascend tensor has in the graph"""
    then = rule["then"]
    results: dict[str, Callable[[], str | None]] = {
        "low": lambda: low,
        "float32": lambda: "float32",
        "own": lambda: own,
        "to-float": lambda: call.to_float,
        "first": lambda: next(iter(call.dtypes), None),
        "producer": lambda: next(iter(call.dtypes), None),
        "inputs": lambda: _alike(call.dtypes),
        "alike": lambda: _alike(call.dtypes),
        "first-if-alike": lambda: _alike(call.dtypes),
        "widest": lambda: _widest(call.dtypes),
        "not-known": lambda: None,
        "refused": lambda: None,
    }
    if then in ("casts", "sequence-casts"):
        return _casts(call, rule, source)
    dtype = results[then]()
    outcome = "refused" if then == "refused" else "dtype" if dtype else "not-known"
    return Decision(call, outcome, dtype, rule["says"], source)


def _casts(call: Call, rule: dict[str, str], source: str) -> Decision:
    """APEX: half and float meet as float. Another mixture of floats raises, or is passed on where it is a sequence
    (interop.md 2.2; apex/amp/wrap.py)."""
    raises = rule["then"] == "casts"
    kinds = {dtype for dtype in call.dtypes if dtype in FLOATS} if raises else set(call.dtypes)
    if raises and len(kinds) > 1 and kinds != {"float16", "float32"}:
        return Decision(call, "refused", None, f"{rule['says']}; any other mixture raises", source)
    met = kinds == {"float16", "float32"}
    dtype = "float32" if met else next(iter(kinds)) if len(kinds) == 1 else _alike(call.dtypes)
    return Decision(call, "dtype" if dtype else "not-known", dtype, rule["says"], source)


def _alike(dtypes: tuple[str, ...]) -> str | None:
    return dtypes[0] if len(set(dtypes)) == 1 else None


def _widest(dtypes: tuple[str, ...]) -> str | None:
    """The widest float; None where two are equally wide, or none was said."""
    floats = {dtype for dtype in dtypes if dtype in _WIDTH}
    widest = {dtype for dtype in floats if _WIDTH[dtype] == max(_WIDTH[each] for each in floats)}
    return widest.pop() if len(widest) == 1 else None
