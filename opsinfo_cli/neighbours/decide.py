"""The dtype that a call runs in, and the rule that decides. Rules are data; what no source states is unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..errors import UsageFault
from ..model.near_names import near_names
from .facts import facts
from .name_tables import name_table
from .vocabulary import OperatorClass, OperatorLists

FLOATS = ("float16", "bfloat16", "float32", "float64")
_WIDTH = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 3}


class OperatorCall(NamedTuple):
    """One call of an operator.

    :param dtypes: those of its inputs; empty if none were given
    :param to_float: the dtype of a MindSpore Cell's own ``to_float``
    :param disabled: whether the call is in a region with casts disabled
    :param as_loss: whether it is the loss function, outside the network
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
    """The dtype that a call runs in, and the rule that decides.

    :param outcome: ``dtype``, ``not-known`` or ``refused``; ``dtype`` is None for the other two
    :param near: similar listed names if the name is not listed, nearest first
    """

    call: OperatorCall
    outcome: str
    dtype: str | None
    says: str
    source: str
    near: tuple[str, ...] = ()


def decide(call: OperatorCall, lists: OperatorLists, low: str | None = None) -> Decision:
    """Return the decision of the first rule that matches.

    :param low: the low dtype, if the system has several
    :raises UsageFault: if the rules of the system are unknown
    """
    content = facts("rules")
    system = content["same"].get(lists.system, lists.system)
    rules = content["systems"].get(f"{system}:{lists.level}") or content["systems"].get(system)
    if rules is None:
        raise UsageFault(f"the rules of {lists.title} are unknown", name="not-known")
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
        "sequence": lambda: any(e.name == call.name and e.origin == "SEQUENCE_CASTS" for e in lists.entries),
        "exempt": lambda: bool(call.dtypes) and all(dtype not in FLOATS[:3] for dtype in call.dtypes),
    }
    for rule in rules["rules"]:
        if all(cls == when if when in _CLASSES else holds[when]() for when in rule["when"]):
            found = apply(call, rule, low or lists.low or "float16", rules["source"])
            return found._replace(near=_near(call.name, lists)) if cls is None else found
    return Decision(call, "not-known", None, "no rule matches", rules["source"])


def _near(name: str, lists: OperatorLists) -> tuple[str, ...]:
    """Return listed names that differ in case or by one letter; none for a short name, which is near too many."""
    known = {each.name for each in lists.entries} | set(name_table(lists.names).ops)
    return () if name in known else tuple(near_names(name, known))


_CLASSES = frozenset(str(cls) for cls in OperatorClass)


def _class_of(call: OperatorCall, lists: OperatorLists) -> str | None:
    """Return the class of a name, or the one class of its listed overloads."""
    listed = lists.deciding()
    names = [call.name]
    if call.is_in_place and lists.system.startswith("apex"):
        names.append(call.name[:-1])
    if lists.names == "torch":
        names.append(facts("rules")["modules"].get(call.name.rpartition(".")[2], call.name))
    for name in names:
        if name in listed:
            return str(listed[name].cls)
    if lists.names == "torch":
        overloads = {each.cls for name, each in listed.items() if name.partition(".")[0] == call.name}
        return str(overloads.pop()) if len(overloads) == 1 else None
    return None


def apply(call: OperatorCall, rule: dict[str, str], low: str, source: str, own: str | None = None) -> Decision:
    """Return the decision of a rule for a call.

    :param own: the dtype of an Ascend tensor in the graph
    """
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


def _casts(call: OperatorCall, rule: dict[str, str], source: str) -> Decision:
    """APEX: half and float together become float. Other mixtures of floats raise, or in a sequence are passed on
    (NVIDIA/apex 4ef930c1, apex/amp/wrap.py)."""
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
    """Return the widest float; None if two are equally wide, or none is given."""
    floats = {dtype for dtype in dtypes if dtype in _WIDTH}
    widest = {dtype for dtype in floats if _WIDTH[dtype] == max(_WIDTH[each] for each in floats)}
    return widest.pop() if len(widest) == 1 else None
