"""Translate operator names between systems, through Ascend's op types."""

from __future__ import annotations

from typing import NamedTuple

from ..model.near_names import NearNames
from .facts import facts
from .name_tables import NameTable, forms_of, fused_with, name_table, unknown_because
from .vocabulary import ListEntry, Loss, OperatorClass, OperatorLists, ReadLists

_HIGHEST_FIRST = (
    OperatorClass.BANNED,
    OperatorClass.HIGH,
    OperatorClass.PROMOTE,
    OperatorClass.FOLLOW,
    OperatorClass.CLEAR,
    OperatorClass.LOW,
)

_BY_OVERLOAD = ("torch-amp", "torch-npu")
"""Systems that list overloads; the formats that can be written list functions."""


class TranslationOptions(NamedTuple):
    """Options of a translation.

    :param same: op types that an unknown name of the same spelling is mapped to
    :param opset: the ONNX opset; None if unknown
    """

    same: frozenset[str] = frozenset()
    opset: int | None = None


def translated(lists: OperatorLists, to: str, options: TranslationOptions | None = None) -> ReadLists:
    """Return the lists with names of ``to``; each entry keeps its source names in ``given``.

    Every name that is dropped, or covers more or fewer operators than before, is in a loss.
    """
    options = options or TranslationOptions()
    if lists.names == to and lists.system not in _BY_OVERLOAD:
        return ReadLists(lists)
    entries, losses = _operators(lists)
    if lists.names == to:
        return ReadLists(lists._replace(entries=tuple(entries)), tuple(losses))
    if lists.names != "ascend":
        entries, more = _to_ascend(entries, lists, options)
        losses += more
    if to != "ascend":
        named = [each for each in entries if not each.is_form]
        entries, more = _from_ascend(named, to, options.opset)
        losses += more
    return ReadLists(lists._replace(names=to, entries=tuple(entries)), tuple(losses))


def respelled(lists: OperatorLists, to: str) -> ReadLists:
    """Return names as a related system spells them, if the spellings differ and a source states how."""
    spellings = facts("names")["respelt"]
    forward = spellings.get(lists.system, {}).get(to, {})
    back = {new: old for old, new in spellings.get(to, {}).get(lists.system, {}).items()}
    known = {**forward, **back}
    changed = tuple(each.name for each in lists.entries if each.name in known)
    if not changed:
        return ReadLists(lists)
    entries = tuple(each._replace(name=known.get(each.name, each.name), given=each.sources) for each in lists.entries)
    details = tuple(f"{name} is {known[name]}" for name in changed)
    loss = Loss("respelt", f"{to} spells these names differently", changed, details)
    return ReadLists(lists._replace(entries=entries), (loss,))


def _operators(lists: OperatorLists) -> tuple[list[ListEntry], list[Loss]]:
    """Return the entries that can be translated: no rules on node names, and operators instead of overloads."""
    losses = []
    nodes = tuple(each.name for each in lists.entries if each.scope == "node")
    if nodes:
        said = "rules on node names are left out; op types cannot express them"
        losses.append(Loss("node-rules", said, nodes, drops=True))
    found: dict[str, ListEntry] = {}
    overloads, clashes = [], []
    for name, each in lists.deciding().items():
        if each.scope == "node":
            continue
        stem, dot, _ = name.partition(".")
        if not (dot and lists.names == "torch"):
            stem = name
        else:
            overloads.append(name)
        known = found.get(stem)
        if known is None:
            found[stem] = each._replace(name=stem, given=each.sources)
        elif known.cls is each.cls:
            found[stem] = known._replace(given=(*known.given, *each.sources))
        else:
            clashes.append(f"{name} is {each.cls}, {stem} is {known.cls}")
    if overloads:
        losses.append(Loss("overloads", "an overload is translated as its whole operator", tuple(overloads)))
    if clashes:
        names = tuple(said.partition(" ")[0] for said in clashes)
        said = "overloads of one operator have different classes; the first one is used"
        losses.append(Loss("conflict", said, names, tuple(clashes), drops=True))
    return list(found.values()), [*losses, *_limits_of_torch(lists)]


def _limits_of_torch(lists: OperatorLists) -> list[Loss]:
    """Return losses of torch's names: the backward pass and, for Habana, which argument of a norm is cast."""
    if lists.names != "torch":
        return []
    losses = [Loss("forward-only", "torch names forward operators; op types of the backward pass keep their list")]
    norms = set(facts("rules")["norm"])
    if lists.system in ("habana-autocast", "optimum-habana"):
        low = tuple(n for n, each in lists.deciding().items() if each.cls is OperatorClass.LOW and n in norms)
        if low:
            losses.append(Loss("first-argument", f"{lists.system} casts the first argument of a norm only", low))
    return losses


class _Request(NamedTuple):
    """The entries that request a class for one op type: by its name, or as another form."""

    named: list[ListEntry]
    as_form: list[ListEntry]


def _to_ascend(
    entries: list[ListEntry], lists: OperatorLists, options: TranslationOptions
) -> tuple[list[ListEntry], list[Loss]]:
    table = name_table(lists.names, options.opset)
    requests: dict[str, _Request] = {}
    unknown, many, taken = [], [], []
    for each in entries:
        ops = table.ops.get(each.name, ())
        if not ops and each.name in options.same and each.name not in table.unclear:
            taken.append(each.name)
            ops = (each.name,)
        if not ops:
            unknown.append(each.name)
        if len(ops) > 1:
            many.append(each.name)
        forms = dict.fromkeys(form for op in ops for form in (*forms_of(op), *fused_with(op)) if form not in ops)
        for op in ops:
            requests.setdefault(op, _Request([], [])).named.append(each)
        for form in forms:
            requests.setdefault(form, _Request([], [])).as_form.append(each)
    losses = [*_unknown(unknown, table, lists.names), *_one_to_many(many, table)]
    losses += [*_plumbing(entries, table), *_broader(requests, {each.name for each in entries}, table)]
    if taken:
        losses.append(Loss("same-name", "mapped to the op type of the same name; no source confirms it", tuple(taken)))
    decided, conflicts = _decided(requests)
    return decided, losses + conflicts


def _unknown(names: list[str], table: NameTable, system: str) -> list[Loss]:
    if not names:
        return []
    said = f"no source gives an op type for these names of {system}; they are left out"
    known = NearNames(table.ops)
    why = tuple(
        f"{name} ({table.unclear[name]})"
        if name in table.unclear
        else unknown_because(name, "no source gives an op type for it", known)
        for name in names
    )
    return [Loss("unknown-name", said, tuple(names), why, drops=True)]


def _one_to_many(names: list[str], table: NameTable) -> list[Loss]:
    if not names:
        return []
    details = tuple(f"{name} is {' and '.join(table.ops[name])}" for name in names)
    return [Loss("one-to-many", "one name maps to several op types, and each gets its class", tuple(names), details)]


def _plumbing(entries: list[ListEntry], table: NameTable) -> list[Loss]:
    """Return a loss for shared op types of an expansion: other operators use them too, so they keep their list."""
    said = "an operator also runs op types that other operators share; those keep their list"
    names = tuple(each.name for each in entries if table.plumbing.get(each.name))
    details = tuple(f"{name} also runs {' and '.join(table.plumbing[name])}" for name in names)
    return [Loss("expansion", said, names, details)] if names else []


def _broader(requests: dict[str, _Request], listed: set[str], table: NameTable) -> list[Loss]:
    """Return a loss for op types that names outside the source map to as well."""
    wider = {
        op: [name for name in table.names.get(op, ()) if name not in listed and op in table.ops[name]]
        for op, request in requests.items()
        if request.named
    }
    wider = {op: names for op, names in wider.items() if names}
    if not wider:
        return []
    details = tuple(f"{op} also runs {' and '.join(names)}" for op, names in sorted(wider.items()))
    said = "an op type also runs operators that the source does not list"
    return [Loss("broader", said, tuple(sorted(wider)), details)]


def _decided(requests: dict[str, _Request]) -> tuple[list[ListEntry], list[Loss]]:
    """Choose one class per op type: user entries before defaults, named before forms, then the highest precision."""
    decided, details, names = [], [], []
    lost: dict[str, str] = {}
    for op, request in requests.items():
        asking = request.named or request.as_form
        asking = [each for each in asking if not each.is_default] or asking
        first = min(asking, key=lambda each: _HIGHEST_FIRST.index(each.cls))
        given = tuple(dict.fromkeys(name for each in asking if each.cls is first.cls for name in each.sources))
        decided.append(
            first._replace(name=op, scope="operator", note=None, module=None, given=given, is_form=not request.named)
        )
        losers = [each for each in asking if each.cls is not first.cls]
        lost |= {each.name: f"{each.name} ({op} is {first.cls} because of {first.name})" for each in losers}
        if losers and request.named:
            details.append(f"{op} ({', '.join(f'{each.name} {each.cls}' for each in asking)})")
            names.append(op)
    if not details:
        return decided, []
    said = "names of different classes map to one op type, which gets the higher precision"
    losses = [Loss("conflict", said, tuple(names), tuple(details))]
    kept = {source for each in decided for source in each.given}
    gone = {name: why for name, why in lost.items() if name not in kept}
    if gone:
        said = "other names decide the class of their op types"
        losses.append(Loss("conflict", said, tuple(gone), tuple(gone.values()), drops=True))
    return decided, losses


def _from_ascend(entries: list[ListEntry], to: str, opset: int | None) -> tuple[list[ListEntry], list[Loss]]:
    """Use a name if a form of its first op type is listed and no other op type of it is in another class."""
    table = name_table(to, opset)
    by_type = {each.name: each for each in entries}
    found: dict[str, ListEntry] = {}
    served: set[str] = set()
    torn: dict[str, list[str]] = {}
    wider, overruled = {}, {}
    for name in dict.fromkeys(name for op in by_type for name in table.names.get(op, ())):
        named, forms = _listed_types(table.ops[name], by_type)
        deciding = named or forms
        if len({by_type[op].cls for op in deciding}) > 1:
            torn[name] = deciding
            continue
        if not any(op in by_type for op in (table.ops[name][0], *forms_of(table.ops[name][0]))):
            continue
        first = by_type[deciding[0]]
        agreeing = [op for op in (*named, *forms) if by_type[op].cls is first.cls]
        given = tuple(dict.fromkeys(source for op in agreeing for source in by_type[op].sources))
        scope = "class" if name.startswith("nn.") else "operator"
        is_form = all(by_type[op].is_form for op in agreeing)
        found[name] = first._replace(name=name, scope=scope, given=given, is_form=is_form)
        served.update(agreeing)
        overruled.update({op: name for op in forms if op not in agreeing})
        rest = [op for op in table.ops[name] if op not in by_type]
        if rest:
            wider[name] = f"{name} is also {' and '.join(rest)}"
    unserved = [op for op, each in by_type.items() if op not in served and not each.is_form]
    losses = [*_torn(torn, by_type, unserved, to), *_unnamed(unserved, torn, overruled, to)]
    if wider:
        said = "a name also maps to op types that are not listed"
        losses.append(Loss("broader", said, tuple(wider), tuple(wider.values())))
    return list(found.values()), losses


def _listed_types(ops: tuple[str, ...], by_type: dict[str, ListEntry]) -> tuple[list[str], list[str]]:
    """Return the listed op types that a name maps to, and listed other forms of them."""
    named = [op for op in ops if op in by_type]
    forms = dict.fromkeys(form for op in ops for form in forms_of(op) if form in by_type and form not in ops)
    return named, list(forms)


def _torn(torn: dict[str, list[str]], by_type: dict[str, ListEntry], unserved: list[str], to: str) -> list[Loss]:
    if not torn:
        return []
    details = tuple(f"{name} ({', '.join(f'{op} {by_type[op].cls}' for op in ops)})" for name, ops in torn.items())
    said = "op types of one name are in different classes; the name is left out"
    losses = [Loss("one-to-many", said, tuple(torn), details)]
    dropped = tuple(op for op in unserved if any(op in ops for ops in torn.values()))
    if dropped:
        said = f"another op type of the same name in {to} is in another class"
        losses.append(Loss("conflict", said, dropped, drops=True))
    return losses


def _unnamed(unserved: list[str], torn: dict[str, list[str]], overruled: dict[str, str], to: str) -> list[Loss]:
    """Return losses for op types without a name, and for those whose name follows another form."""
    left = [op for op in unserved if not any(op in ops for ops in torn.values())]
    losses = []
    unknown = tuple(op for op in left if op not in overruled)
    if unknown:
        said = f"no source names these op types in {to}; they are left out"
        known = NearNames(name_table(to).names)
        why = tuple(unknown_because(op, f"no source names it in {to}", known) for op in unknown)
        losses.append(Loss("unknown-name", said, unknown, why, drops=True))
    gone = tuple(op for op in left if op in overruled)
    if gone:
        details = tuple(f"{overruled[op]} has the class of another form of {op}" for op in gone)
        said = "another form of the operator is in another class, and both have the same name"
        losses.append(Loss("conflict", said, gone, details, drops=True))
    return losses
