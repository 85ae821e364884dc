"""Translate operator names between systems, through Ascend's op types."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ..core.cann.name_tables import NameTable, becomes, forms_of, fused_with, name_table, unknown_because
from .facts import facts
from .registry import SYSTEMS
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists, Scope, loss_of

_HIGHEST_FIRST = (
    OperatorClass.BANNED,
    OperatorClass.HIGH,
    OperatorClass.PROMOTE,
    OperatorClass.FOLLOW,
    OperatorClass.CLEAR,
    OperatorClass.LOW,
)


def translate(lists: OperatorLists, to: str, same: frozenset[str] = frozenset(), opset: int | None = None) -> ReadLists:
    """Return the lists with names of ``to``; each entry keeps its source names in ``given``.

    Every name that is dropped, or covers more or fewer operators than before, is in a loss.

    :param same: op types that an unknown name of the same spelling is mapped to
    :param opset: the ONNX opset; None if unknown
    """
    system = SYSTEMS.get(lists.system)
    if lists.names == to and not (system and system.by_overload):
        return ReadLists(lists)
    entries, losses = _operators(lists)
    if lists.names != "ascend" and lists.names != to:
        entries, more = _to_ascend(entries, name_table(lists.names, opset), lists.names, same)
        losses += more
    if to not in ("ascend", lists.names):
        entries, more = _from_ascend([entry for entry in entries if not entry.is_form], to, opset)
        losses += more
    return ReadLists(replace(lists, names=to, entries=tuple(entries)), tuple(losses))


def _operators(lists: OperatorLists) -> tuple[list[ListEntry], list[Loss]]:
    """Return the entries that can be translated: no rules on node names, and operators instead of overloads."""
    is_torch = lists.names == "torch"
    nodes = [entry.name for entry in lists.entries if entry.scope == "node"]
    operators: dict[str, ListEntry] = {}
    overloads, clashes = [], {}
    for name, entry in lists.deciding().items():
        if entry.scope == "node":
            continue
        stem = name.partition(".")[0] if is_torch else name
        if stem != name:
            overloads.append(name)
        known = operators.get(stem)
        if known is None:
            operators[stem] = replace(entry, name=stem, given=entry.sources)
        elif known.cls is entry.cls:
            operators[stem] = replace(known, given=(*known.sources, *entry.sources))
        else:
            clashes[name] = f"{name} is {entry.cls}, {stem} is {known.cls}"
    message = "op types cannot express names of nodes; --model MODEL gives the op types of these nodes"
    losses = loss_of("node-rules", message, nodes, drops=True)
    losses += loss_of("overloads", "an overload is translated as its whole operator", overloads)
    message = "overloads of one operator have different classes; the first one is used"
    losses += loss_of("conflict", message, clashes, clashes.values(), drops=True)
    if is_torch:
        message = "torch names forward operators; op types of the backward pass keep their list"
        losses += (Loss("forward-only", message),)
    system = SYSTEMS.get(lists.system)
    if is_torch and system and system.casts_first_argument:
        norms = [n for n, e in lists.deciding().items() if e.cls is OperatorClass.LOW and n in facts("rules")["norm"]]
        losses += loss_of("first-argument", f"{lists.system} casts the first argument of a norm only", norms)
    return list(operators.values()), list(losses)


class _Request(NamedTuple):
    """The entries that request a class for one op type: by its name, or as another form."""

    named: list[ListEntry]
    as_form: list[ListEntry]


def _to_ascend(
    entries: list[ListEntry], table: NameTable, names: str, known: frozenset[str]
) -> tuple[list[ListEntry], list[Loss]]:
    requests: dict[str, _Request] = {}
    unknown, many, same = [], {}, []
    for entry in entries:
        ops = table.ops.get(entry.name, ())
        if not ops and entry.name in known and entry.name not in table.unclear:
            same.append(entry.name)
            ops = (entry.name,)
        if not ops:
            unknown.append(entry.name)
        if len(ops) > 1:
            many[entry.name] = f"{entry.name} is {' and '.join(ops)}"
        for op in ops:
            requests.setdefault(op, _Request([], [])).named.append(entry)
        made = [form for op in ops for form in (*forms_of(op), *fused_with(op), *becomes(op))]
        for form in dict.fromkeys(form for form in made if form not in ops):
            requests.setdefault(form, _Request([], [])).as_form.append(entry)
    not_in_table = [name for name in unknown if name not in table.unclear]
    cells = [name for name in not_in_table if names == "mindspore" and "." in name]
    others = [name for name in not_in_table if name not in cells]
    reasons = {name: f"{name} ({_of_cell(name)})" for name in cells}
    reasons |= dict(zip(others, unknown_because(others, table.why_unknown, table.ops), strict=True))
    reasons = {**reasons, **{n: f"{n} ({r})" for n, r in table.unclear.items()}}
    message = f"these names of {names} have no op type of their own; they are left out"
    losses = loss_of("unknown-name", message, unknown, [reasons[name] for name in unknown], drops=True)
    losses += loss_of("one-to-many", "one name maps to several op types, and each gets its class", many, many.values())
    message = "an operator also runs op types that other operators share; those keep their list"
    shared = {e.name: " and ".join(table.plumbing[e.name]) for e in entries if table.plumbing.get(e.name)}
    losses += loss_of("expansion", message, shared, [f"{name} also runs {ops}" for name, ops in shared.items()])
    listed = {entry.name for entry in entries}
    wider = {}
    for op, request in sorted(requests.items()):
        others = [name for name in table.names.get(op, ()) if name not in listed and op in table.ops[name]]
        if request.named and others:
            wider[op] = f"{op} also runs {' and '.join(others)}"
    message = "an op type also runs operators that the source does not list"
    losses += loss_of("broader", message, wider, wider.values())
    losses += loss_of("same-name", "mapped to the op type of the same name; no source confirms it", same)
    decided, conflicts = _decide(requests)
    return decided, [*losses, *conflicts]


def _of_cell(name: str) -> str:
    """Return why a class of MindSpore, or another one, has no op type."""
    is_cell = name.startswith(("nn.", "mint.nn."))
    return "opsinfo has no table of this Cell" if is_cell else "no Cell of MindSpore, but a class of another module"


def _decide(requests: dict[str, _Request]) -> tuple[list[ListEntry], tuple[Loss, ...]]:
    """Choose one class per op type: user entries before defaults, named before forms, then the highest precision."""
    decided = []
    conflicts: dict[str, str] = {}
    overruled: dict[str, str] = {}
    for op, request in requests.items():
        asking = request.named or request.as_form
        asking = [entry for entry in asking if not entry.is_default] or asking
        first = min(asking, key=lambda entry: _HIGHEST_FIRST.index(entry.cls))
        given = tuple(dict.fromkeys(name for entry in asking if entry.cls is first.cls for name in entry.sources))
        decided.append(
            replace(first, name=op, scope="operator", note=None, module=None, given=given, is_form=not request.named)
        )
        losers = [entry for entry in asking if entry.cls is not first.cls]
        overruled |= {entry.name: f"{entry.name} ({op} is {first.cls} because of {first.name})" for entry in losers}
        if losers and request.named:
            conflicts[op] = f"{op} ({', '.join(f'{entry.name} {entry.cls}' for entry in asking)})"
    if not conflicts:
        return decided, ()
    message = "names of different classes map to one op type, which gets the higher precision"
    losses = loss_of("conflict", message, conflicts, conflicts.values())
    kept = {source for entry in decided for source in entry.given}
    gone = {name: reason for name, reason in overruled.items() if name not in kept}
    message = "other names decide the class of their op types"
    return decided, losses + loss_of("conflict", message, gone, gone.values(), drops=True)


def _from_ascend(entries: list[ListEntry], to: str, opset: int | None) -> tuple[list[ListEntry], list[Loss]]:
    """Use a name if a form of its first op type is listed and no other op type of it is in another class."""
    table = name_table(to, opset)
    by_type = {entry.name: entry for entry in entries}
    named_entries: dict[str, ListEntry] = {}
    served: set[str] = set()
    torn: dict[str, list[str]] = {}  # names whose op types are in different classes
    wider, overruled = {}, {}  # overruled: op types whose name has the class of another form
    for name in dict.fromkeys(name for op in by_type for name in table.names.get(op, ())):
        ops = table.ops[name]
        named = [op for op in ops if op in by_type]
        forms = list(dict.fromkeys(form for op in ops for form in forms_of(op) if form in by_type and form not in ops))
        deciding = named or forms
        if len({by_type[op].cls for op in deciding}) > 1:
            torn[name] = deciding
            continue
        if not any(op in by_type for op in (ops[0], *forms_of(ops[0]))):
            continue
        first = by_type[deciding[0]]
        agreeing = [op for op in (*named, *forms) if by_type[op].cls is first.cls]
        given = tuple(dict.fromkeys(source for op in agreeing for source in by_type[op].sources))
        scope: Scope = "class" if name.startswith("nn.") else "operator"
        is_form = all(by_type[op].is_form for op in agreeing)
        named_entries[name] = replace(first, name=name, scope=scope, given=given, is_form=is_form)
        served.update(agreeing)
        overruled.update({op: name for op in forms if op not in agreeing})
        if rest := [op for op in ops if op not in by_type]:
            wider[name] = f"{name} is also {' and '.join(rest)}"
    unserved = [op for op, entry in by_type.items() if op not in served and not entry.is_form]
    details = [f"{name} ({', '.join(f'{op} {by_type[op].cls}' for op in ops)})" for name, ops in torn.items()]
    message = "op types of one name are in different classes; the name is left out"
    losses = loss_of("one-to-many", message, torn, details)
    in_torn = {op for ops in torn.values() for op in ops}
    message = f"another op type of the same name in {to} is in another class"
    losses += loss_of("conflict", message, [op for op in unserved if op in in_torn], drops=True)
    unknown = [op for op in unserved if op not in in_torn and op not in overruled]
    reasons = unknown_because(unknown, f"no source names it in {to}", name_table(to).names)
    message = f"no source names these op types in {to}; they are left out"
    losses += loss_of("unknown-name", message, unknown, reasons, drops=True)
    lost_forms = [op for op in unserved if op not in in_torn and op in overruled]
    details = [f"{overruled[op]} has the class of another form of {op}" for op in lost_forms]
    message = "another form of the operator is in another class, and both have the same name"
    losses += loss_of("conflict", message, lost_forms, details, drops=True)
    losses += loss_of("broader", "a name also maps to op types that are not listed", wider, wider.values())
    return list(named_entries.values()), list(losses)
