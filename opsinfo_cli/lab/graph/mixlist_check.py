"""Rules on the effect of a mixlist's entries on the nodes of models."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ...core.cann.input_shapes import ModelInput, Shapes, ShapesOf, require_input, stated_shapes
from ...core.cann.marks import ADD_BLACK, Mark, is_legal
from ...core.cann.op_names import D_FORMS
from ...core.cann.precision_mode import MODES, Mode
from ...core.check.mixlist import listed
from ...errors import counted, join_some
from .constants import constant_faults
from .fusions.fuse import fuse, fused_into
from .judge.kernel_sources import Kernels
from .judge.support import refuses_all_nodes, required_slots
from .limits import open_dimensions_text
from .prepare import PreparedModel, prepare
from .readers import read_graph
from .verdict import nothing_judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...core.cann.option_files import CustomizeDtypes
    from ...core.check.finding import Finding
    from ...core.check.mixlist import MixlistReading, MixlistTarget
    from ...errors import NoVerdict
    from .graph import GraphNode, ModelGraph
    from .result import Answer

_MIXED = ("mixed_float16", "mixed_bfloat16")


class OpenedModel:
    """A model that mixlists are checked with.

    :ivar facts: its name for the baseline
    """

    def __init__(self, path: str, shapes_of: ShapesOf | None = None) -> None:
        """:raises Refused: if the model cannot be read
        :raises UsageFault: if shapes do not fit it
        """
        self.path = self.label = path
        self.facts = os.path.basename(path)
        self.graph: ModelGraph = read_graph(path, shapes_of=shapes_of)
        self._prepared: dict[MixlistTarget, PreparedModel] = {}
        self.decided_open: dict[str, None] = {}
        """Names of the nodes for which open dimensions decided, for any target, mode and list; a set in order."""
        self._faults: list[NoVerdict | None] = []

    @cached_property
    def possible(self) -> set[str]:
        """The op types of its nodes, and those that may result from fusion."""
        types = {*self.graph.types, *fuse(self.graph, Kernels(None)).graph.types}
        return types | second_types(self.graph) if self.is_predicted else types

    @cached_property
    def operators(self) -> dict[str, list[GraphNode]]:
        """The nodes of operators of ONNX or TensorFlow that became op types of another name, by operator."""
        nodes: dict[str, list[GraphNode]] = {}
        for node in self.graph:
            operator = str(node.attributes.get("operator", ""))
            if operator and operator not in self.graph.types and "::" not in node.type:
                nodes.setdefault(operator, []).append(node)
        return nodes

    def prepare(self, target: MixlistTarget) -> PreparedModel:
        if target not in self._prepared:
            self._prepared[target] = prepare(self.graph, target.target)
        return self._prepared[target]

    def answer(self, target: MixlistTarget, mode: str, marks: Mapping[str, frozenset[Mark]]) -> Answer:
        """Return the answer with a whole mixlist, and note what open dimensions decided, and whether it judges."""
        answer = self.prepare(target).judge(mode, marks)
        self._faults.append(nothing_judged(answer))
        self.decided_open.update(dict.fromkeys(answer.decided_open))
        return answer

    @property
    def fault(self) -> NoVerdict | None:
        """Return that nothing of it was judged, whatever the target, mode and list; None if something was."""
        return next(iter(self._faults), None) if all(self._faults) else None

    @property
    def is_predicted(self) -> bool:
        return self.graph.model.predicted

    def pop_note(self) -> str | None:
        """Return a line that says what open dimensions decided since the last call; None if nothing."""
        decided, self.decided_open = self.decided_open, {}
        return f"{self.path}: {open_dimensions_text(decided, self.graph.model.inputs)}" if decided else None


def open_models(paths: Iterable[str], shapes: Shapes) -> CheckedModels:
    """Return the models of these paths, each with the shapes of those inputs that it has.

    :raises UsageFault: if a shape does not fit, or is of no input of any model
    :raises Refused: if a model cannot be read
    """
    seen: list[ModelInput] = []

    def own(inputs: Sequence[ModelInput]) -> Shapes:
        seen.extend(inputs)
        names = {model_input.name for model_input in inputs}
        return stated_shapes({name: shape for name, shape in shapes.items() if name in names}, inputs)

    models = CheckedModels(OpenedModel(path, own if shapes else None) for path in paths)
    for name in shapes:
        require_input(name, seen, "--shape")
    return models


def second_types(graph: ModelGraph) -> set[str]:
    """Return the types that fusion may turn op types with a constant input into."""
    return {
        f"{node.type}D"
        for node in graph
        if node.type in D_FORMS and any(source and graph[source.node].type == "Const" for source in node.sources)
    }


class Situation(NamedTuple):
    """One model judged for one target in one mode, with the whole mixlist."""

    model: OpenedModel
    target: MixlistTarget
    mode: str
    answer: Answer

    def without(self, marks: Mapping[str, frozenset[Mark]], name: str) -> Answer:
        """Return the answer for the mixlist without an op type."""
        rest = {other: own for other, own in marks.items() if other != name}
        return self.model.prepare(self.target).judge(self.mode, rest)

    @property
    def where(self) -> str:
        return f"{listed([self.model])} in {self.mode} on {listed([self.target])}"


class CheckedModels(list[OpenedModel]):
    """The models of one run, with the rules on their nodes."""

    def check_mixlist(
        self, reading: MixlistReading, targets: Sequence[MixlistTarget], modes: Sequence[Mode]
    ) -> Iterator[Finding]:
        """Yield not-in-model, false-friend, no-effect-in-model, black-refused-in-model, constant-out-of-range.

        :param modes: the precision modes that the mixlist is used with; the mixed modes of each chip if empty
        """
        if not all(map(is_legal, reading.marks.values())):
            return
        situations = [
            Situation(model, target, mode, model.answer(target, mode, reading.marks))
            for model in self
            for target in targets
            for mode in _modes(target, modes)
        ]
        for name in reading.marks:
            having = [situation for situation in situations if name in situation.answer.graph.types]
            fused = sorted(
                {op_type for situation in situations for op_type in fused_into(situation.answer.graph, name)}
            )
            if having:
                yield from _entry(reading, name, having)
            elif fused:
                yield from not_in_model(reading, name, self, fused)
            elif friends := list(false_friend(reading, name, self)):
                yield from friends
            elif not any(name in model.possible for model in self):
                yield from not_in_model(reading, name, self)
        yield from constant_out_of_range(reading, situations)

    def without_effect(self, marks: Mapping[str, frozenset[Mark]], targets: Sequence[MixlistTarget]) -> list[str]:
        """Return op types that can be removed together without changing the dtypes of any node of any model.

        All mixed modes of every target are judged. If one of several entries is enough, the first ones are removed.
        """
        situations = [
            (model.prepare(target), mode, model.answer(target, mode, marks))
            for model in self
            for target in targets
            for mode in _modes(target, ())
        ]
        left, gone = dict(marks), []
        for name in marks:
            rest = {other: own for other, own in left.items() if other != name}
            if not any(answer.changed(prepared.judge(mode, rest)) for prepared, mode, answer in situations):
                left = rest
                gone.append(name)
        return gone

    def refused_by_columns(
        self, asked: CustomizeDtypes, targets: Sequence[MixlistTarget]
    ) -> dict[tuple[str, bool], tuple[str, str | None]]:
        """Return the names of a file whose dtypes no column has: of op types by the library; with models by their
        nodes.
        """
        kernels = {target: Kernels(target.target.operators, target.target.soc) for target in targets}
        answers = [
            (model, target, model.prepare(target).with_files(customize_dtypes=asked).judge("mixed_float16"))
            for model in self
            for target in targets
        ]
        refused: dict[tuple[str, bool], tuple[GraphNode, OpenedModel, MixlistTarget]] = {}
        for model, target, answer in answers:
            for node in answer.graph:
                key = next((key for key in ((node.name, False), (node.type, True)) if key in asked.names), None)
                if key is None or key in refused:
                    continue
                found = answer[node.index]
                if found.code == "refused-customized" and found.confidence == "library":
                    refused[key] = node, model, target
        said: dict[tuple[str, bool], tuple[str, str | None]] = {}
        for key, line in asked.names.items():
            by_columns = () if self or not line.is_type else kernels.items()
            chips = [target for target, own in by_columns if refuses_all_nodes(line.dtypes, own.of(line.name))]
            if chips:
                op_type, first = line.name, chips[0]
                why = f"AI Core refuses its nodes in {listed(chips)}"
            elif key in refused:
                node, model, first = refused[key]
                op_type = node.type
                why = f"AI Core refuses node `{node.name}` of {listed([model])} on {listed([first])}"
            else:
                continue
            message = f"no column of `{op_type}` has the dtypes of this line: {why}"
            said[key] = message, _columns_of(kernels[first], op_type)
        return said


def _modes(target: MixlistTarget, modes: Sequence[Mode]) -> list[str]:
    soc = target.target.soc
    names = [mode.name for mode in modes if mode.is_mixed] if modes else list(_MIXED)
    return [name for name in names if modes or soc is None or MODES[name].is_on(soc)]


def not_in_model(
    reading: MixlistReading, name: str, models: Sequence[OpenedModel], fused: Sequence[str] = ()
) -> Iterator[Finding]:
    """:param fused: the op types that fusion makes of the nodes of this one"""
    after = f" after fusion, which makes {', '.join(f'`{op_type}`' for op_type in fused)} of them" if fused else ""
    message = f"no node of {listed(models)} has the op type `{name}`{after}"
    yield reading.at("not-in-model", reading.first(name), message)


def false_friend(reading: MixlistReading, name: str, models: Sequence[OpenedModel]) -> Iterator[Finding]:
    """Yield false-friend where operators of that name became op types that the mixlist lacks."""
    for model in models:
        nodes = model.operators.get(name, [])
        op_types = sorted({node.type for node in nodes})
        if nodes and not reading.marks.keys() >= set(op_types):
            becomes = join_some([f"`{op_type}`" for op_type in op_types], 10)
            message = (
                f"no node of {listed([model])} has the op type `{name}`: its {counted(len(nodes), 'operator')} "
                f"of that name become {becomes}, such as {join_some([f'`{node.name}`' for node in nodes], 3)}"
            )
            single = op_types[0] if len(op_types) == 1 else None
            fix = reading.rename(name, single) if single else None
            yield reading.at("false-friend", reading.first(name), message, f"name {becomes}", "warning", fix)


def _entry(reading: MixlistReading, name: str, situations: Sequence[Situation]) -> Iterator[Finding]:
    """Yield no-effect-in-model and black-refused-in-model for one op type."""
    changes = False
    for situation in situations:
        without = situation.without(reading.marks, name)
        changes = changes or bool(situation.answer.changed(without))
        if ADD_BLACK not in reading.marks[name]:
            continue
        graph = situation.answer.graph
        refused = [
            node
            for node, op_type in enumerate(graph.types)
            if op_type == name
            and situation.answer[node].code == "refused-dtype"
            and without[node].code != "refused-dtype"
        ]
        if refused:
            first = graph[refused[0]].name
            more = f" and {len(refused) - 1} more" if len(refused) > 1 else ""
            message = f"`{name}` on the black list: AI Core refuses node `{first}`{more} of {situation.where}"
            yield reading.at("black-refused-in-model", reading.with_mark(name, ADD_BLACK), message)
            return
    if not changes:
        models = list(dict.fromkeys(situation.model for situation in situations))
        message = f"`{name}` changes no dtype in {listed(models)}"
        yield reading.at("no-effect-in-model", reading.first(name), message)


def constant_out_of_range(reading: MixlistReading, situations: Sequence[Situation]) -> Iterator[Finding]:
    """Yield the findings at the entry of the op type that reads a constant, else at the first character."""
    seen: set[tuple[str, str, str]] = set()
    for situation in situations:
        graph, check = situation.answer.graph, constant_faults(situation.answer)
        for path, why in check.unread.items():
            if (key := (situation.model.path, path, why)) not in seen:
                seen.add(key)
                message = f"the constants of {listed([situation.model])} were not checked: {path}: {why}"
                yield reading.at("constant-out-of-range", None, message, severity="note")
        for fault in check.faults:
            if (key := (situation.model.path, fault.name, fault.why)) in seen:
                continue
            seen.add(key)
            message = f"constant `{fault.name}`, read by `{fault.used_by}`: {fault.why}, in {situation.where}"
            node = graph.find(fault.used_by)
            item = reading.first(node.type) if node is not None and node.type in reading.marks else None
            yield reading.at("constant-out-of-range", item, message)


def _columns_of(kernels: Kernels, op_type: str) -> str | None:
    """Return the columns of an op type as a line would ask for them, some if there are many."""
    found: dict[str, None] = {}
    for kernel in kernels.of(op_type):
        sides = [[slot.static.dtypes for slot in required_slots(slots)] for slots in (kernel.inputs, kernel.outputs)]
        for inputs, outputs in zip(*(zip(*rows, strict=False) for rows in sides), strict=False):
            found[f"InputDtype:{','.join(inputs)},OutputDtype:{','.join(outputs)}"] = None
    return f"it has {join_some([f'`{line}`' for line in found], 3)}" if found else None
