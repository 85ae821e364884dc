"""Findings on a mixlist's op types, checked against the libraries that it is for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from ..errors import join_some
from ..model.entry import BF16, FP16, Columns, Possible
from ..model.library import Operators
from ..model.near_names import NearNames, meant
from ..model.policy import Mark, Policy, effective, is_legal
from ..model.precision_mode import Mode
from ..model.target import Target
from .finding import Finding
from .mixlist import Reading

T = TypeVar("T")

ADD = {policy: Mark("to-add", policy) for policy in Policy}


@dataclass
class MixlistTarget:
    """One chip that a mixlist is for."""

    target: Target

    @property
    def label(self) -> str:
        """The chip, with its target."""
        soc, text = self.target.soc, self.target.text
        return f"{soc} ({text})" if soc and soc != text else text

    @property
    def operators(self) -> Operators:
        return self.target.operators

    @cached_property
    def by_stem(self) -> Mapping[str, list[str]]:
        """Op types such as `X`, `XD`, `XV2`, `XV2D` by their common stem."""
        found: dict[str, list[str]] = {}
        for name in self.operators.names:
            found.setdefault(_stem(name), []).append(name)
        return found

    @cached_property
    def other_engines(self) -> Mapping[str, str]:
        return self.target.other_engines

    def policy(self, name: str) -> Policy:
        return self.operators[name].entry.policy

    def columns(self, name: str) -> Columns:
        return Columns(self.operators[name].entry)


def check_against(reading: Reading, targets: list[MixlistTarget], modes: list[Mode]) -> Iterator[Finding]:
    """Yield the findings.

    :param modes: the precision modes that it is used with; both mixed modes if empty
    """
    known = NearNames({name for against in targets for name in against.operators.names})
    forms = {id(against): Forms(reading, against) for against in targets}
    for name, marks in reading.marks.items():
        if not is_legal(marks):
            continue
        knowing = [against for against in targets if name in against.operators]
        yield from unknown_operator(reading, name, targets, knowing, known)
        if not knowing:
            continue
        yield from no_effect(reading, name, marks, knowing)
        yield from remove_mismatch(reading, name, marks, knowing)
        yield from sibling_type(reading, name, marks, knowing, forms)
        yield from black_without_fp32(reading, name, marks, knowing, modes)
        yield from white_without_low(reading, name, marks, knowing, modes)


def _named(some: list[MixlistTarget]) -> str:
    return ", ".join(against.label for against in some)


def _where(knowing: list[MixlistTarget]) -> str:
    """Return the place for a message; it names the chips if there are several."""
    return f" in {_named(knowing)}" if len(knowing) > 1 else " in the library"


def _alike(found: Iterable[tuple[MixlistTarget, T | None]]) -> Iterator[tuple[T, str]]:
    """Yield each distinct result except None, with its chips."""
    chips: dict[T, list[MixlistTarget]] = {}
    for against, what in found:
        if what is not None:
            chips.setdefault(what, []).append(against)
    return ((what, _named(some)) for what, some in chips.items())


def unknown_operator(
    reading: Reading, name: str, targets: list[MixlistTarget], knowing: list[MixlistTarget], known: NearNames
) -> Iterator[Finding]:
    """Yield unknown-operator and not-in-ai-core.

    :param known: the op types of all targets
    """
    if len(knowing) == len(targets):
        return
    item = reading.first(name)
    if knowing:
        lacking = _named([against for against in targets if against not in knowing])
        said = f"`{name}` is an op type of {_named(knowing)}, but not of {lacking}, where the engine ignores it"
        yield reading.at("unknown-operator", item, said, severity="warning")
        return
    engines = dict(_alike((against, against.other_engines.get(name)) for against in targets))
    if engines:
        said = " and of ".join(f"{each} in {chips}" if len(targets) > 1 else each for each, chips in engines.items())
        said = f"`{name}` is an op type of {said}, not of the AI Core; the engine ignores it here"
        yield reading.at("not-in-ai-core", item, said)
        return
    near = known.of(name)
    chips = f"any of the {len(targets)} targets" if len(targets) > 3 else _named(targets)
    said = f"unknown operator `{name}` in {chips}; the engine ignores it"
    hint, severity = (meant(near), "error") if near else ("no operator there has a similar name", "warning")
    fix = reading.renaming(name, near[0]) if len(near) == 1 else None
    yield reading.at("unknown-operator", item, said, hint, severity, fix)


def no_effect(reading: Reading, name: str, marks: frozenset[Mark], knowing: list[MixlistTarget]) -> Iterator[Finding]:
    """Yield no-effect: a to-add of the list that the op type is on in every target."""
    for policy in (Policy.BLACK, Policy.WHITE):
        if ADD[policy] in marks and all(against.policy(name) is policy for against in knowing):
            said = f"`{name}` is already {policy}{_where(knowing)}"
            yield reading.at("no-effect", reading.with_mark(name, ADD[policy]), said, "remove the entry")


def remove_mismatch(
    reading: Reading, name: str, marks: frozenset[Mark], knowing: list[MixlistTarget]
) -> Iterator[Finding]:
    """Yield remove-mismatch: a to-remove of a list that the op type is on in no target."""
    policies = dict(_alike((against, against.policy(name)) for against in knowing))
    for mark in sorted(marks):
        if mark.action == "to-remove" and mark.policy not in policies:
            several = len(knowing) > 1
            is_on = " or ".join(
                sorted(f"{each} in {chips}" if several else str(each) for each, chips in policies.items())
            )
            said = f"`{name}` is {is_on}, not {mark.policy}, in the library; this `to-remove` does nothing"
            yield reading.at("remove-mismatch", reading.with_mark(name, mark), said)


def sibling_type(
    reading: Reading, name: str, marks: frozenset[Mark], knowing: list[MixlistTarget], forms: Mapping[int, Forms]
) -> Iterator[Finding]:
    """Yield sibling-type: fused or versioned forms that the mixlist leaves with another policy.

    :param forms: by the identity of their target
    """
    for said, chips in _alike(
        (against, _siblings_say(name, marks, against, forms[id(against)])) for against in knowing
    ):
        hint = "add the other form too, if both are meant"
        yield reading.at(
            "sibling-type", reading.first(name), f"{said} in {chips}; fusion may turn one into the other", hint
        )


def _siblings_say(name: str, marks: frozenset[Mark], against: MixlistTarget, forms: Forms) -> str | None:
    mine = effective(against.policy(name), marks)
    others = forms.with_other_policy(name, mine)
    if not others:
        return None
    return f"`{name}` {_turns(against.policy(name), mine)}, but {join_some(others, 10)}"


def _turns(before: Policy, after: Policy | None) -> str:
    """Return the effect of the mixlist on a policy, as text."""
    return f"stays {after}" if before is after else f"becomes {after}"


class Forms:
    """The policies of the forms of an op type in a target after a mixlist."""

    def __init__(self, reading: Reading, against: MixlistTarget) -> None:
        self._marks = reading.marks
        self._against = against
        self._others: dict[tuple[str, Policy], list[str]] = {}

    def with_other_policy(self, name: str, policy: Policy) -> list[str]:
        """Return texts about the forms of an op type that end with another policy; the same for each form."""
        asked = _stem(name), policy
        if asked not in self._others:
            standings = {each: self._standing(each) for each in self._against.by_stem[asked[0]]}
            self._others[asked] = [
                f"`{each}` {_turns(self._against.policy(each), standing)}"
                for each, standing in standings.items()
                if standing not in (None, policy)
            ]
        return self._others[asked]

    def _standing(self, name: str) -> Policy | None:
        """Return the final policy of an op type; None if its marks contradict each other."""
        marks = self._marks.get(name, frozenset())
        return effective(self._against.policy(name), marks) if is_legal(marks) else None


_FORM = re.compile(r"(.+?)(V[0-9]+)?(D)?")


def _stem(name: str) -> str:
    match = _FORM.fullmatch(name)
    # a single capital before the D belongs to the name: `Conv2D` and `Pad3D` are not forms of `Conv2` and `Pad3`
    if match and not (match[3] and re.search(r"[0-9]$", match[1]) and not match[2]):
        return match[1]
    return name


def black_without_fp32(
    reading: Reading, name: str, marks: frozenset[Mark], knowing: list[MixlistTarget], modes: list[Mode]
) -> Iterator[Finding]:
    if ADD[Policy.BLACK] not in marks or (modes and not any(mode.low <= FP16 | BF16 and mode.low for mode in modes)):
        return
    lacking = [against for against in knowing if against.columns(name).can_be_black() is Possible.NO]
    if lacking:
        said = f"`{name}` has no float32 columns in {_named(lacking)}: black makes float32 input unsupported"
        yield reading.at("black-without-fp32", reading.with_mark(name, ADD[Policy.BLACK]), said)


def white_without_low(
    reading: Reading, name: str, marks: frozenset[Mark], knowing: list[MixlistTarget], modes: list[Mode]
) -> Iterator[Finding]:
    if ADD[Policy.WHITE] not in marks:
        return
    lows = [mode.low for mode in modes if mode.is_mixed] or ([FP16 | BF16] if not modes else [])
    lacking = ((against, _low_lacked(against.columns(name), lows)) for against in knowing)
    for words, chips in _alike(lacking):
        said = f"`{name}` has no {words} columns in {chips}: white has no effect"
        yield reading.at("white-without-low", reading.with_mark(name, ADD[Policy.WHITE]), said)


def _low_lacked(columns: Columns, lows: list[frozenset[str]]) -> str | None:
    """Return the first low precision that no column has, as text."""
    low = next((low for low in lows if columns.can_be_white(low) is Possible.NO), None)
    return " or ".join(sorted(low, reverse=True)) if low else None
