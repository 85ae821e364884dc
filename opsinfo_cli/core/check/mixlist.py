"""Rules on mixlists: their structure and marks, and their op types in the targets that they are for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Protocol, TypeVar

from ...errors import join_some
from ...near_names import NearNames, did_you_mean, meant
from ..cann.entry import BF16, FP16, Columns, Possible
from ..cann.file_kind import NEAR_LIST
from ..cann.marks import (
    ACTIONS,
    ADD_BLACK,
    ADD_GRAY,
    ADD_WHITE,
    LISTS,
    REMOVE_GRAY,
    Mark,
    combination,
    effective,
    is_legal,
)
from ..cann.mixlist import MarkedItem, StructureFault, collected_marks, marked_items
from ..cann.mixlist_text import is_mixlist
from ..cann.name_tables import becomes
from ..cann.op_names import FUSED_KERNELS, false_friends, translated_types
from ..cann.policy import Policy, policy_meant
from ..cann.precision_mode import Mode
from ..cann.target import Target, target_labels
from ..package_data import package_data
from ..text.escape import INVISIBLE
from ..text.layout import drop_part, quote
from ..text.patch import Edit
from ..text.scanner import Document, Node
from ..text.source import Source
from .finding import Finding, Fix, at, named
from .rules import Severity
from .structure import mixlist_faults
from .text import bom, duplicate_keys, faults, pasted_line_numbers, pointer_to, trailing_text

T = TypeVar("T")


@dataclass(eq=False)
class MixlistTarget:
    """One chip that a mixlist is for.

    :param label: its name for people, the chip if no other target has it; see :func:`mixlist_targets`
    """

    target: Target
    label: str = ""

    def __post_init__(self) -> None:
        self.label = self.label or self.target.soc or self.target.text

    @property
    def facts(self) -> str:
        """The chip and its CANN version, which stay the same if the target is moved or renamed."""
        return " ".join(fact for fact in (self.target.soc, self.target.version) if fact) or "a target"

    @cached_property
    def by_stem(self) -> Mapping[str, list[str]]:
        """Op types such as `X`, `XD`, `XV2`, `XV2D` by their common stem."""
        forms: dict[str, list[str]] = {}
        for name in self.target.operators.names:
            forms.setdefault(_stem(name), []).append(name)
        return forms

    def policy(self, name: str) -> Policy:
        return self.target.operators[name].entry.policy

    def policies(self, name: str) -> frozenset[Policy]:
        return self.target.operators[name].policies

    def columns(self, name: str) -> Columns:
        return Columns(self.target.operators[name].entry)


def foreign_list(root: Node | None, path: str, against: Sequence[MixlistTarget]) -> Node | None:
    """Return the key of the first list of JSON that has lists, none of which certainly is of a mixlist, and no entry of
    which is an op type of the targets or of any table; None for anything else.
    """
    if root is None or root.kind != "object" or is_mixlist(root, path):
        return None
    lists = [member for member in root if re.fullmatch(NEAR_LIST, member.name, re.IGNORECASE)]
    entries = {str(node.value).lower() for member in lists for node in _strings(member.value)}
    known = (name.lower() for target in against for name in target.target.operators.names)
    if not entries or entries & _op_types_of_tables() or not entries.isdisjoint(known):
        return None
    return lists[0].key


def _strings(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if each.kind == "string":
            yield each
        waiting += [*each.items, *(member.value for member in each.members)]


@cache
def _op_types_of_tables() -> frozenset[str]:
    """Op types, in lower case, that operators of other systems become."""
    content = package_data("opsinfo_cli.core.cann", "names")
    named = (
        op_type
        for system in content["systems"].values()
        for types in system.get("names", {}).values()
        for op_type in types
    )
    return frozenset(op_type.lower() for op_type in (*content["plumbing"], *named, *translated_types()))


def mixlist_targets(targets: Sequence[Target]) -> list[MixlistTarget]:
    return [MixlistTarget(target, label) for target, label in zip(targets, target_labels(targets), strict=True)]


class Labelled(Protocol):
    """A target or model in a message: its name for people, and its facts for the baseline, which does not depend on
    where a target lies.
    """

    @property
    def label(self) -> str: ...
    @property
    def facts(self) -> str: ...


def listed(some: Iterable[Labelled]) -> str:
    return ", ".join(named(each.label, each.facts) for each in some)


@dataclass
class MixlistReading:
    """The content of the well-formed parts of a mixlist."""

    source: Source
    root: Node
    _forms_left: dict[tuple[MixlistTarget, str, Policy], list[str]] = field(default_factory=dict)

    @cached_property
    def is_ours(self) -> bool:
        """Whether the file may be edited."""
        return is_mixlist(self.root, self.source.path)

    @cached_property
    def items(self) -> list[MarkedItem]:
        return list(marked_items(self.root, by_near_keys=True))

    @cached_property
    def marks(self) -> dict[str, frozenset[Mark]]:
        return collected_marks(self.items)

    @cached_property
    def by_name(self) -> dict[str, list[MarkedItem]]:
        """The items of each op type, in the order of the lists."""
        named: dict[str, list[MarkedItem]] = {}
        for item in self.items:
            named.setdefault(item.name, []).append(item)
        return named

    def first(self, name: str) -> MarkedItem:
        return self.by_name[name][0]

    def with_mark(self, name: str, mark: Mark) -> MarkedItem:
        return next(item for item in self.by_name[name] if item.mark == mark)

    def at(
        self,
        rule: str,
        item: MarkedItem | None,
        message: str,
        hint: str | None = None,
        severity: Severity | None = None,
        fix: Fix | None = None,
    ) -> Finding:
        """Return a finding at an item, or at the first character."""
        span = (item.node.start, item.node.end) if item else (self.root.start, self.root.start + 1)
        pointer = pointer_to(*item.keys, item.place) if item else None
        return at(
            rule,
            self.source,
            span,
            message,
            pointer=pointer,
            hint=hint,
            severity=severity,
            fix=fix if self.is_ours else None,
        )

    def drop(self, item: MarkedItem) -> Fix:
        return Fix((drop_part(item.array, item.place),))

    def drop_marks(self, name: str, marks: Iterable[Mark]) -> Fix | None:
        """Return the unsafe fix that removes marks of an op type; None if the engine would refuse the rest.

        An item that is repeated is left to the fix of the repetition.
        """
        dropped = set(marks)
        items = [item for item in self.by_name[name] if item.mark in dropped]
        rest = self.marks[name] - dropped
        if len(items) != len(dropped) or not (is_legal(rest) or not rest):
            return None
        edits = tuple(drop_part(item.array, item.place) for item in items)
        return Fix(edits, is_safe=False, drops=tuple((*item.keys, name) for item in items))

    def forms_left(self, against: MixlistTarget, name: str, policy: Policy) -> list[str]:
        """Return texts about the forms of an op type that end with another policy in a target.

        They are the same for each form, so they are kept; a form whose marks contradict each other has no policy.
        """
        key = against, _stem(name), policy
        if key not in self._forms_left:
            self._forms_left[key] = []
            made = (form for form in becomes(name) if form in against.by_stem.get(_stem(form), ()))
            for form in (*against.by_stem[key[1]], *made):
                marks, before = self.marks.get(form, frozenset()), against.policy(form)
                if is_legal(marks) and (after := effective(before, marks)) is not policy:
                    self._forms_left[key].append(f"`{form}` {_turns(before, after)}")
        return self._forms_left[key]

    def rename(self, name: str, near: str) -> Fix | None:
        """Return the fix that renames every occurrence of an op type; None if the engine would refuse the result."""
        if not is_legal(self.marks[name] | self.marks.get(near, frozenset())):
            return None
        edits = tuple(Edit(item.node.start, item.node.end, quote(near)) for item in self.by_name[name])
        return Fix(edits, is_safe=False, renames=(name, near))


def check_mixlist(document: Document) -> Iterator[Finding]:
    """Yield all findings on a mixlist that need no library."""
    source, root = document.source, document.root
    numbered = list(pasted_line_numbers(source))
    if numbered:
        yield from numbered
        return
    is_ours = is_mixlist(root, source.path)
    yield from bom(source, is_ours)
    yield from faults(document, is_ours or root is None)
    if root is None:
        return
    yield from trailing_text(source, document.end, is_ours)
    yield from duplicate_keys(source, root, is_ours)
    yield from structure(source, root, is_ours)
    reading = MixlistReading(source, root)
    yield from contradictions(reading)
    yield from invisible_characters(reading)
    yield from duplicate_operators(reading)
    yield from gray_to_add_alone(reading)


def structure(source: Source, root: Node, fixable: bool) -> Iterator[Finding]:
    """Yield wrong-type, unknown-list and unknown-action, by the schema; a near key can be renamed."""
    for fault in mixlist_faults(root):
        hint = _hint_at_key(fault) if fault.name != "wrong-type" else None
        span, fix = (fault.node.start, fault.node.end), None
        if fault.meant is not None and fixable:
            renamed = str(fault.steps[-1]), fault.meant
            fix = Fix((Edit(*span, quote(fault.meant)),), is_safe=False, renames_key=renamed)
        yield at(fault.name, source, span, fault.message, pointer=pointer_to(*fault.steps), hint=hint, fix=fix)


def _hint_at_key(fault: StructureFault) -> str:
    key = str(fault.steps[-1])
    if key == "$schema":
        return "set the schema in the editor's settings instead; the engine accepts no other key"
    known = ACTIONS if fault.name == "unknown-action" else LISTS
    policy = policy_meant(key)
    if policy and fault.name == "unknown-list":
        return f"did you mean `{policy}-list`?"
    return did_you_mean(key, known) or "use one of " + ", ".join(f"`{word}`" for word in known)


def contradictions(reading: MixlistReading) -> Iterator[Finding]:
    """Yield contradiction, at the last mark of an op type, which makes the combination illegal."""
    for name, marks in reading.marks.items():
        if is_legal(marks):
            continue
        last = max(reading.by_name[name], key=lambda item: item.node.start)
        message = f"`{name}`: the engine refuses {combination(marks)} (E20003)"
        hint = "use one `to-add`, and at most one `to-remove` of another list"
        if sum(mark.action == "to-add" for mark in marks) > 1:
            hint = "keep the `to-add` of one list only"
        elif marks == {REMOVE_GRAY}:
            hint = "to remove it from gray, add it to another list"
        yield reading.at("contradiction", last, message, hint)


def invisible_characters(reading: MixlistReading) -> Iterator[Finding]:
    for name in reading.marks:
        if INVISIBLE.search(name):
            plain = INVISIBLE.sub("", name)
            message = f"`{name}` has an invisible character, so that it is no operator; the engine ignores it"
            hint = f"it comes with copying from a page: write `{plain}`"
            fix = reading.rename(name, plain) if plain else None
            finding = reading.at("invisible-character", reading.first(name), message, hint, fix=fix)
            yield replace(finding, engine="ignores")


def duplicate_operators(reading: MixlistReading) -> Iterator[Finding]:
    seen = set()
    for item in reading.items:
        if (item.name, item.mark) in seen:
            message = f"`{item.name}` appears twice in this array"
            yield reading.at("duplicate-operator", item, message, fix=reading.drop(item))
        seen.add((item.name, item.mark))


def gray_to_add_alone(reading: MixlistReading) -> Iterator[Finding]:
    """Yield no-effect for a gray `to-add` alone, which needs no library."""
    for name, marks in reading.marks.items():
        if marks == {ADD_GRAY}:
            message = f"`{name}` keeps the library's policy: a gray-list `to-add` alone has no effect"
            hint = "to make it gray, add it to `to-remove` of the list it is on"
            yield reading.at("no-effect", reading.first(name), message, hint, fix=reading.drop_marks(name, marks))


def check_against(
    reading: MixlistReading,
    targets: Sequence[MixlistTarget],
    names: NearNames,
    modes: Sequence[Mode],
    has_models: bool = False,
) -> Iterator[Finding]:
    """Yield the findings on op types.

    :param names: all op types of the targets
    :param modes: the precision modes that the mixlist is used with; both mixed modes if empty
    :param has_models: whether models are given, which show whose operators the names are
    """
    for name, marks in reading.marks.items():
        if not is_legal(marks) or INVISIBLE.search(name):
            continue
        unread = [against for against in targets if name in against.target.operators.unreadable]
        if unread:
            message = f"`{name}` could not be read in {listed(unread)}, so its policy there is not known"
            yield reading.at("unreadable-source", reading.first(name), message)
        knowing = [against for against in targets if name in against.target.operators]
        yield from unknown_operator(reading, name, [each for each in targets if each not in unread], names, knowing)
        if not knowing:
            continue
        entry = KnownEntry(reading, name, marks, knowing)
        yield from no_effect(entry)
        yield from remove_mismatch(entry)
        yield from sibling_type(entry, len(targets))
        yield from black_without_fp32(entry, modes)
        yield from white_without_low(entry, modes)
        if not has_models:
            yield from false_friend(entry)


def near_names_of(targets: Iterable[MixlistTarget]) -> NearNames:
    return NearNames({name for against in targets for name in against.target.operators.names})


@dataclass
class KnownEntry:
    """An op type of a mixlist, and the targets that have it."""

    reading: MixlistReading
    name: str
    marks: frozenset[Mark]
    knowing: list[MixlistTarget]

    @cached_property
    def useless(self) -> list[Mark]:
        """The marks that change nothing in any store of the targets."""
        policies = {policy for each in self.knowing for policy in each.policies(self.name)}
        adds = [mark for mark in (ADD_BLACK, ADD_WHITE) if policies == {mark.policy}]
        return sorted(
            mark for mark in self.marks if mark in adds or (mark.action == "to-remove" and mark.policy not in policies)
        )

    def at_useless(self, rule: str, mark: Mark, message: str, hint: str | None = None) -> Finding:
        """Return the finding on a mark without effect. Its fix drops all of them, so that the rest stays legal."""
        fix = self.reading.drop_marks(self.name, self.useless)
        return self.reading.at(rule, self.reading.with_mark(self.name, mark), message, hint, fix=fix)


def _alike(results: Iterable[tuple[MixlistTarget, T | None]]) -> dict[T, list[MixlistTarget]]:
    """Return the targets of each distinct result except None."""
    chips: dict[T, list[MixlistTarget]] = {}
    for against, result in results:
        if result is not None:
            chips.setdefault(result, []).append(against)
    return chips


def unknown_operator(
    reading: MixlistReading,
    name: str,
    targets: Sequence[MixlistTarget],
    names: NearNames,
    knowing: Sequence[MixlistTarget],
) -> Iterator[Finding]:
    """Yield unknown-operator and not-in-ai-core.

    :param names: the op types of all targets
    :param knowing: the targets that have the op type
    """
    if len(knowing) == len(targets):
        return
    item = reading.first(name)
    if knowing:
        lacking = [against for against in targets if against not in knowing]
        message = f"`{name}` is an op type of {listed(knowing)}, but not of {listed(lacking)}"
        yield reading.at("unknown-operator", item, f"{message}, where the engine ignores it", severity="warning")
        return
    engines = _alike((against, against.target.other_engines.get(name)) for against in targets)
    if engines:
        parts = (f"{engine} in {listed(own)}" for engine, own in engines.items())
        owners = " and of ".join(parts if len(targets) > 1 else engines)
        message = f"`{name}` is an op type of {owners}, not of the AI Core; the engine ignores it here"
        yield reading.at("not-in-ai-core", item, message)
        return
    where = f"any of the {len(targets)} targets" if len(targets) > 3 else listed(targets)
    message = f"unknown operator `{name}` in {where}; the engine ignores it"
    places = _alike((against, against.target.operators.elsewhere(name)) for against in targets)
    if places:
        yield reading.at("unknown-operator", item, message, "; ".join(places), "warning")
        return
    if near := names.of(name):
        fix = reading.rename(name, near[0]) if len(near) == 1 else None
        yield reading.at("unknown-operator", item, message, meant(near), "error", fix)
    else:
        hint = "no operator there has a similar name"
        if name in FUSED_KERNELS:
            hint = "a profile calls a kernel so that was fused after dtypes were chosen: name the op types that it was "
            hint += "fused of (fusion_op_*.csv of msprof, Original Ops)"
        elif names.is_exhausted:
            hint = "similar names were searched for the first unknown ones only"
        yield reading.at("unknown-operator", item, message, hint, "warning")


def no_effect(entry: KnownEntry) -> Iterator[Finding]:
    """Yield no-effect: a to-add of the list that the op type is on in every target."""
    where = "the library" if len(entry.knowing) == 1 else listed(entry.knowing)
    for mark in entry.useless:
        if mark.action == "to-add":
            message = f"`{entry.name}` is already {mark.policy} in {where}"
            yield entry.at_useless("no-effect", mark, message, "remove the entry")


def remove_mismatch(entry: KnownEntry) -> Iterator[Finding]:
    """Yield remove-mismatch: a to-remove of a list that the op type is on in no target."""
    policies = _alike((against, against.policy(entry.name)) for against in entry.knowing)
    parts = [f"{policy} in {listed(policies[policy])}" for policy in sorted(policies)]
    standing = " or ".join(parts if len(entry.knowing) > 1 else map(str, policies))
    for mark in entry.useless:
        if mark.action == "to-remove":
            message = f"`{entry.name}` is {standing}, not {mark.policy}, in the library; this `to-remove` does nothing"
            yield entry.at_useless("remove-mismatch", mark, message)


def sibling_type(entry: KnownEntry, targets: int) -> Iterator[Finding]:
    """Yield sibling-type, one for all targets: fused or versioned forms that the mixlist leaves with another policy.

    :param targets: the number of targets; the chips are named for what is so in some of them only
    """
    own: dict[str, list[MixlistTarget]] = {}
    others: dict[str, list[MixlistTarget]] = {}
    for against in entry.knowing:
        before = against.policy(entry.name)
        after = effective(before, entry.marks)
        differing = entry.reading.forms_left(against, entry.name, after)
        if differing:
            own.setdefault(_turns(before, after), []).append(against)
        for form in differing:
            others.setdefault(form, []).append(against)
    if not others:
        return

    def where(chips: list[MixlistTarget]) -> str:
        return f" in {listed(chips)}" if len(chips) < targets else ""

    turns = " and ".join(turn + (where(chips) if len(own) > 1 else "") for turn, chips in own.items())
    left = join_some([other + where(chips) for other, chips in others.items()], 10)
    message = f"`{entry.name}` {turns}, but {left}; fusion may turn one into the other"
    hint = "add the other form too, if both are meant"
    yield entry.reading.at("sibling-type", entry.reading.first(entry.name), message, hint)


def _turns(before: Policy, after: Policy) -> str:
    """Return the effect of the mixlist on a policy, as text."""
    return f"stays {after}" if before is after else f"becomes {after}"


_FORM = re.compile(r"(.+?)(V[0-9]+)?(D)?")


def _stem(name: str) -> str:
    match = _FORM.fullmatch(name)
    # a single capital before the D belongs to the name: `Conv2D` and `Pad3D` are not forms of `Conv2` and `Pad3`
    if match and not (match[3] and re.search(r"[0-9]$", match[1]) and not match[2]):
        return match[1]
    return name


def black_without_fp32(entry: KnownEntry, modes: Sequence[Mode]) -> Iterator[Finding]:
    if ADD_BLACK not in entry.marks or (modes and not any(mode.low <= FP16 | BF16 and mode.low for mode in modes)):
        return
    lacking = [against for against in entry.knowing if against.columns(entry.name).can_be_black() is Possible.NO]
    if lacking:
        message = f"`{entry.name}` has no float32 columns in {listed(lacking)}: black makes float32 input unsupported"
        yield entry.reading.at("black-without-fp32", entry.reading.with_mark(entry.name, ADD_BLACK), message)


def white_without_low(entry: KnownEntry, modes: Sequence[Mode]) -> Iterator[Finding]:
    if ADD_WHITE not in entry.marks:
        return
    lows = [mode.low for mode in modes if mode.is_mixed] or ([FP16 | BF16] if not modes else [])
    lacking: list[tuple[MixlistTarget, frozenset[str] | None]] = []  # the first low precision that no column has
    for against in entry.knowing:
        columns = against.columns(entry.name)
        missing = next((low for low in lows if columns.can_be_white(low) is Possible.NO), None)
        lacking.append((against, missing))
    for low, chips in _alike(lacking).items():
        words = " or ".join(sorted(low, reverse=True))
        message = f"`{entry.name}` has no {words} columns in {listed(chips)}: white has no effect"
        yield entry.reading.at("white-without-low", entry.reading.with_mark(entry.name, ADD_WHITE), message)


def false_friend(entry: KnownEntry) -> Iterator[Finding]:
    """Yield false-friend, unless the mixlist has what the operator of another framework becomes as well."""
    name, marks = entry.name, entry.reading.marks
    becomes: dict[str, Sequence[str]] = {}
    for framework, op_types in false_friends(name).items():
        known = [each for each in op_types if any(each in against.target.operators for against in entry.knowing)]
        if not marks.keys() >= set(known or op_types):
            becomes[framework] = known or op_types
    if becomes:
        texts = []
        for framework, meant_types in becomes.items():
            quoted = " or ".join(f"`{op_type}`" for op_type in meant_types)
            texts.append(f"{framework}'s `{name}` becomes {quoted}")
        message = f"`{name}` is an op type of its own: {', '.join(texts)}"
        hint = "name what the operator becomes, if the list is for such a model; --model names its nodes"
        yield entry.reading.at("false-friend", entry.reading.first(name), message, hint)
