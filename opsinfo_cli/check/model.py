"""Findings on the effect of a mixlist's entries on the nodes of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..graph.constants import constant_faults
from ..graph.judging import prepare
from ..graph.readers import read_graph
from ..model.policy import Mark, Policy, is_legal
from ..model.precision_mode import MODES, Mode
from .finding import at
from .mixlist_operators import ADD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..graph.answer import Answer
    from ..graph.graph import ModelGraph
    from ..graph.judging import Ready
    from .finding import Finding
    from .mixlist import Reading
    from .mixlist_operators import MixlistTarget

_MIXED = ("mixed_float16", "mixed_bfloat16")


class CheckedModel:
    """A model that mixlists are checked with.

    :ivar types: the op types of its nodes
    :ivar possible: these, and op types that may result from fusion
    """

    def __init__(self, path: str) -> None:
        """:raises Refused: if the model cannot be read"""
        self.path = path
        self.graph: ModelGraph = read_graph(path)
        self.types = {*self.graph.types}
        second = self.graph.model.second_types
        self.possible = self.types | {second[each] for each in self.types if each in second}
        self._ready: dict[int, Ready] = {}

    def ready(self, target: MixlistTarget) -> Ready:
        found = self._ready.get(id(target))
        if found is None:
            found = self._ready[id(target)] = prepare(self.graph, target.target)
        return found


class Situation(NamedTuple):
    """One model judged for one target in one mode, with the whole mixlist."""

    model: CheckedModel
    target: MixlistTarget
    mode: str
    answer: Answer

    def without(self, marks: Mapping[str, frozenset[Mark]], name: str) -> Answer:
        """Return the answer for the mixlist without an op type."""
        rest = {each: own for each, own in marks.items() if each != name}
        return self.model.ready(self.target).judge(self.mode, rest)

    @property
    def where(self) -> str:
        return f"{self.model.path} in {self.mode} on {self.target.label}"


def check_models(
    reading: Reading, models: Sequence[CheckedModel], targets: Sequence[MixlistTarget], modes: Sequence[Mode]
) -> Iterator[Finding]:
    """Yield not-in-model, no-effect-in-model, black-refused-in-model, constant-out-of-range.

    :param modes: the precision modes that it is used with; the mixed modes of each chip if empty
    """
    if not all(map(is_legal, reading.marks.values())):
        return
    situations = [
        Situation(model, target, mode, model.ready(target).judge(mode, reading.marks))
        for model in models
        for target in targets
        for mode in _modes(target, modes)
    ]
    for name in reading.marks:
        having = [each for each in situations if name in each.model.types]
        if not any(name in model.possible for model in models):
            said = f"no node of {', '.join(model.path for model in models)} has the op type `{name}`"
            yield reading.at("not-in-model", reading.first(name), said)
        elif having:
            yield from _entry(reading, name, having)
    yield from _constants(reading, situations)


def without_effect(
    marks: Mapping[str, frozenset[Mark]], models: Sequence[CheckedModel], targets: Sequence[MixlistTarget]
) -> list[str]:
    """Return op types that can be removed together without changing the dtypes of any node of any model.

    All mixed modes of every target are judged. If one of several entries is enough, the first ones are removed.
    """
    situations = [
        (model.ready(target), mode, model.ready(target).judge(mode, marks))
        for model in models
        for target in targets
        for mode in _modes(target, ())
    ]
    left, gone = dict(marks), []
    for name in marks:
        rest = {each: own for each, own in left.items() if each != name}
        if not any(answer.changed(ready.judge(mode, rest)) for ready, mode, answer in situations):
            left = rest
            gone.append(name)
    return gone


def _modes(target: MixlistTarget, modes: Sequence[Mode]) -> list[str]:
    soc = target.target.soc
    names = [mode.name for mode in modes if mode.is_mixed] if modes else list(_MIXED)
    return [name for name in names if modes or soc is None or MODES[name].is_on(soc)]


def _entry(reading: Reading, name: str, situations: Sequence[Situation]) -> Iterator[Finding]:
    """Yield no-effect-in-model and black-refused-in-model for one op type."""
    changes = False
    for each in situations:
        without = each.without(reading.marks, name)
        changes = changes or bool(each.answer.changed(without))
        if ADD[Policy.BLACK] not in reading.marks[name]:
            continue
        refused = [node for node in _refused(each.answer, name) if without[node].code != "refused-dtype"]
        if refused:
            first = each.answer.graph[refused[0]].name
            more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
            said = f"`{name}` on the black list: AI Core refuses node `{first}`{more} of {each.where}"
            yield reading.at("black-refused-in-model", reading.with_mark(name, ADD[Policy.BLACK]), said)
            return
    if not changes:
        said = f"`{name}` changes no dtype in {', '.join(dict.fromkeys(each.model.path for each in situations))}"
        yield reading.at("no-effect-in-model", reading.first(name), said)


def _refused(answer: Answer, name: str) -> Iterator[int]:
    for index, op_type in enumerate(answer.graph.types):
        if op_type == name and answer[index].code == "refused-dtype":
            yield index


def _constants(reading: Reading, situations: Sequence[Situation]) -> Iterator[Finding]:
    """Yield findings on constants, at the entry of the op type that reads them, else at the first character."""
    seen: set[tuple[str, str, str]] = set()
    for each in situations:
        graph, check = each.answer.graph, constant_faults(each.answer)
        start = reading.root.start
        for path, why in check.unread.items():
            if (key := (each.model.path, path, why)) not in seen:
                seen.add(key)
                said = f"the constants of {each.model.path} were not checked: {path}: {why}"
                yield at("constant-out-of-range", reading.source, (start, start + 1), said, severity="note")
        for fault in check.faults:
            if (key := (each.model.path, fault.name, fault.why)) in seen:
                continue
            seen.add(key)
            said = f"constant `{fault.name}`, read by `{fault.used_by}`: {fault.why}, in {each.where}"
            node = graph.find(fault.used_by)
            if node is not None and node.type in reading.marks:
                yield reading.at("constant-out-of-range", reading.first(node.type), said)
            else:
                yield at("constant-out-of-range", reading.source, (start, start + 1), said)
