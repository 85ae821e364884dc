"""Evidence of where a model loses accuracy, and the nodes that it suspects, the first culprits first.

Evidence is a table in which the vendor's tools compare the device with a framework (``compare_table``), the JSON of
`opsinfo simulate`, or the ``dump.json`` of msprobe. In a table a culprit is an operator whose output does not agree,
with nothing wrong before it: what reads a wrong tensor is wrong, too. Where a tensor has no row, the rows of its
readers tell, and else the operators before it; what no row says of them is not claimed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from ...core.document import Count, PolicyName, internal, renamed
from ...core.text.source import read_bytes
from ...errors import Damaged, counted, join_some
from ...opening import open_file
from ..numbers.calls import calls_of, is_dump, op_types_of, spelled_as_types
from ..numbers.float_formats import FORMATS
from .compare_table import TableRow, compared_rows, result_tables
from .graph import NOT_COMPUTED
from .moves import Mover
from .topology import order_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .graph import GraphNode, ModelGraph

Kind: TypeAlias = Literal["overflow", "differs", "unseen", "jump", "costs", "magnitude"]

_JUMP, _LEAST_JUMP, _NOISE = 4.0, 1e-3, 1e-4
"""A jump is an error of at least so many times that of the inputs, and at least so large; smaller input errors count as
noise. Chosen: float16 has 2**-11 of relative error in each rounding, 5e-4; two roundings are no jump, and a tensor that
agrees has a relative distance of a few 1e-4. Suspects by jumps come only where no tensor disagrees."""
_MOST_JUMPS, _MOST_NAMES, _MOST_WITHOUT_MODEL = 3, 1000, 50_000
_LARGEST, _NEAR = FORMATS["fp16"].limits.largest, 1 / 16
"""The largest value of float16, and the share of it from which a call is suspected: four bits from overflow, chosen."""
_OVERFLOW = 2.0
"""The score of an overflow: twice that of a value at the limit."""


@dataclass(frozen=True, kw_only=True)
class Suspect:
    """A node, or a fused operator of the device, that may be where accuracy is lost."""

    name: str
    """The node of the model; empty if the evidence knows op types only and the model has none."""
    names: Sequence[str] = renamed("nodes", default=())
    """All nodes of the graph that it stands for."""
    type: str
    """The op type."""
    kind: Kind
    """What the evidence says: the output overflows or differs, and nothing that was compared before it does; no row,
    and before a tensor that differs, with nothing wrong in between; within the limits, but with an error much larger
    than that of the inputs; the error that its rounding alone costs in a simulation; a dumped call of its kind near the
    largest float16.
    """
    why: str
    """The same for people."""
    ran: str | None = None
    """The dtype of its output in the evidence; null if unknown."""
    predicted: str | None = None
    """The dtype that the judge gives its output; null if it was not judged."""
    policy: PolicyName | None = renamed("list", default=None)
    """The list that decides; null if lists are not used."""
    movable: Mover | None = None
    """What moves all its low nodes to high precision; null if nothing does, or none is low."""
    cosine: float | None = None
    """The cosine of its output; null if unknown."""
    path: str = ""
    """The file that says it."""
    line: int | None = None
    """The line in it; null for JSON."""
    nodes: tuple[int, ...] = internal(())
    """Their indexes; of a fused operator of all that it was fused of; empty without a graph."""


@dataclass(frozen=True, kw_only=True)
class AccuracyEvidence:
    """What evidence suspects."""

    paths: Sequence[str] = renamed("path", default=())
    """The files that were read."""
    rows: Count = 0
    """Their rows or entries."""
    matched: Count = 0
    """Those that are about nodes of the model."""
    suspects: Sequence[Suspect] = ()
    """The most suspect first."""
    mixlist: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    """The smallest mixlist that moves the suspects which a mixlist can move, with the marks that were given."""
    unclear: Sequence[str] = ()
    """What cannot be told, for people."""

    @property
    def types(self) -> list[str]:
        """The op types, the most suspect first."""
        return list(dict.fromkeys(suspect.type for suspect in self.suspects))


def read_evidence(
    paths: Iterable[str], graph: ModelGraph | None = None, seen: Callable[[int], None] | None = None
) -> AccuracyEvidence:
    """Return what files and folders say of a model.

    Memory grows with the model, not with a table.

    :param graph: the graph that is judged, after fusion; without it tables suspect by their own rows, in their order
    :raises Refused: if a file cannot be read, compares calls of torch, or is of another model
    :raises Damaged: if it is none of the three kinds, or cut off
    """
    files = [file for path in paths for file in result_tables(path)]
    documents = [path for path in files if path.endswith(".json") or _begins_with_brace(path)]
    tables = [path for path in files if path not in documents]
    found = _of_tables(tables, graph, seen) if tables else AccuracyEvidence()
    for path in documents:
        more, types = _of_document(path, graph), set(found.types)
        suspects = [*found.suspects, *(each for each in more.suspects if each.type not in types)]
        found = AccuracyEvidence(
            rows=found.rows + more.rows, matched=found.matched + more.matched, suspects=suspects, unclear=found.unclear
        )
    return replace(found, paths=files)


def _begins_with_brace(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open_file(path) as file:
        return file.read(64).lstrip().startswith(b"{")


# tables


@dataclass(eq=False, slots=True)
class _Tensors:
    """What the rows of one operator of the device say of its inputs, or of its outputs: the worst of them, a wrong one
    before those that agree, and then that with the largest error.
    """

    agrees: bool | None = None
    has_overflow: bool = False
    cosine: float | None = None
    error: float | None = None
    dtype: str | None = None
    path: str = ""
    line: int = 0

    def add(self, row: TableRow, path: str) -> None:
        self.has_overflow = self.has_overflow or row.has_overflow is True
        self.dtype = self.dtype or row.dtype
        if not self.line:
            self.path, self.line = path, row.line
        if row.agrees is None:
            return
        worse = (not row.agrees, row.error or 0.0) > (self.agrees is False, self.error or 0.0)
        if self.agrees is None or worse:
            self.agrees, self.cosine, self.error = row.agrees, row.cosine, row.error
            self.path, self.line = path, row.line

    @property
    def is_wrong(self) -> bool | None:
        """None: it was not compared."""
        return True if self.has_overflow else None if self.agrees is None else not self.agrees


class _Operator:
    """An operator of the device with what its rows say."""

    def __init__(self, row: TableRow, nodes: tuple[int, ...]) -> None:
        self.name, self.type, self.nodes = row.operator, row.type, nodes
        self.inputs, self.outputs = _Tensors(), _Tensors()
        self.by_input: dict[int, _Tensors] = {}

    def add(self, row: TableRow, path: str) -> None:
        if row.side == "output":
            self.outputs.add(row, path)
        else:
            self.inputs.add(row, path)
            self.by_input.setdefault(row.number, _Tensors()).add(row, path)


def _of_tables(paths: Sequence[str], graph: ModelGraph | None, seen: Callable[[int], None] | None) -> AccuracyEvidence:
    operators: dict[tuple[str, tuple[int, ...]], _Operator] = {}
    rows = matched = 0
    unknown: dict[str, None] = {}
    overflowed: dict[str, None] = {}
    for path in paths:
        for row in compared_rows(path, seen):
            rows += 1
            own = [] if graph is None else _nodes_of(row, graph)
            nodes = tuple(sorted({node.index for node in own if node.type not in NOT_COMPUTED}))
            if not nodes and graph is not None:
                if own:  # a constant, or an input or output of the graph
                    matched += 1
                elif row.nodes and len(unknown) < _MOST_NAMES:
                    unknown[row.operator] = None
                elif not row.nodes and row.has_overflow and row.side == "output" and len(overflowed) < _MOST_NAMES:
                    overflowed[f"`{row.operator}` ({row.type or 'unknown type'})"] = None
                continue
            matched += 1
            key = (row.operator, nodes)
            if graph is None and key not in operators and (not row.nodes or len(operators) >= _MOST_WITHOUT_MODEL):
                continue
            operators.setdefault(key, _Operator(row, nodes)).add(row, path)
    unclear = []
    if graph is not None and rows and not matched:
        message = f"none of its {counted(rows, 'row')} is about a node of this model: it compares another model"
        hint = f"it has {join_some(list(unknown), 3)}; `opsinfo graph --by node` lists those of the model"
        raise Damaged(message, name="other-model", path=paths[0], hint=hint)
    if len(operators) >= _MOST_WITHOUT_MODEL and graph is None:
        unclear.append(f"without a model only the first {_MOST_WITHOUT_MODEL:,} operators of a table are read")
    if unknown:
        many = f"{_MOST_NAMES} or more operators" if len(unknown) == _MOST_NAMES else counted(len(unknown), "operator")
        unclear.append(f"{many} of the table not in this model: {join_some(list(unknown))}")
    if overflowed:
        unclear.append(f"operators of the device's own overflow, which no list names: {join_some(list(overflowed))}")
    found = list(operators.values())
    if graph is None:  # by the rows alone: wrong outputs whose inputs have no wrong row, overflows first
        wrong = [each for each in found if each.outputs.is_wrong and not each.inputs.is_wrong]
        wrong.sort(key=lambda each: not each.outputs.has_overflow)
        befores = [_INPUTS_AGREE if each.inputs.agrees else _NOT_COMPARED for each in wrong]
        suspects = [
            _suspect(each.name, each.type, (), each.outputs, each.inputs, before)
            for each, before in zip(wrong, befores, strict=True)
        ]
    else:
        suspects = _Culprits(graph, found).suspects()
    silent = sum(each.outputs.is_wrong is None and each.inputs.is_wrong is None for each in found)
    if silent:
        unclear.append(f"{counted(silent, 'operator')} not compared (NaN; the column CompareFailReason says why)")
    return AccuracyEvidence(rows=rows, matched=matched, suspects=suspects, unclear=unclear)


def _nodes_of(row: TableRow, graph: ModelGraph) -> list[GraphNode]:
    """Return the nodes of the operator's own name, and those that it was fused of."""
    named = map(graph.find, (row.operator, *row.nodes) if row.nodes else ())
    return [node for node in named if node is not None]


_INPUTS_AGREE, _NOT_COMPARED = "its inputs agree", "its inputs were not compared"


def _suspect(
    name: str,
    op_type: str,
    nodes: tuple[int, ...],
    outputs: _Tensors,
    inputs: _Tensors,
    before: str,
    own_row: bool = True,
) -> Suspect:
    """:param before: what was measured before it"""
    if inputs.agrees and inputs.cosine is not None and before == _INPUTS_AGREE:
        before += f" (cosine {inputs.cosine:.6g})"
    measured = "" if outputs.cosine is None else f" (cosine {outputs.cosine:.6g})"
    if outputs.cosine is None and outputs.error is not None:
        measured = f" (relative distance {outputs.error:.3g})"
    differs = "does not agree" if before == _NOT_COMPARED else "does not"
    after = f"its output {'overflows' if outputs.has_overflow else differs}{measured}"
    if not own_row:
        after += ", by the rows of its readers"
    kind: Kind = "overflow" if outputs.has_overflow else "differs"
    ran = outputs.dtype if own_row else None
    return Suspect(
        name=name,
        type=op_type,
        nodes=nodes,
        kind=kind,
        why=f"{before}, {after}",
        ran=ran,
        cosine=outputs.cosine,
        path=outputs.path,
        line=outputs.line,
    )


class _Culprits:
    """The operators of a graph whose output does not agree, with nothing wrong before them, in the order of the graph.

    :ivar _is_known: of each node, whether a tensor before it was compared, with nothing but unknown ones in between
    """

    def __init__(self, graph: ModelGraph, operators: list[_Operator]) -> None:
        self._graph = graph
        self._at = {index: place for place, index in enumerate(order_of(graph))}
        self._of_node = {index: each for each in operators for index in each.nodes}
        self._last = {id(each): max(each.nodes, key=self._at.__getitem__) for each in operators}
        self._operators = sorted(operators, key=lambda each: self._at[self._last[id(each)]])
        self._readers = self._values_by_readers()
        self._is_known: dict[int, bool] = {}
        for index in self._at:
            self._is_known[index] = any(
                self._outputs(source.node) is not None or self._is_known.get(source.node, False)
                for source in graph[index].sources
                if source
            )

    def suspects(self) -> list[Suspect]:
        first: list[Suspect] = []
        unseen: list[Suspect] = []
        seen: set[int] = set()
        for index in sorted(self._at, key=self._at.__getitem__):
            operator = self._of_node.get(index)
            if operator is not None and self._last[id(operator)] != index:
                continue
            found = self._outputs(index)
            if not found or not found.is_wrong:
                continue
            clean, between = self._before(index)
            if not clean:
                continue
            nodes = operator.nodes if operator else (index,)
            inputs = operator.inputs if operator else _Tensors()
            own_row = operator is not None and found is operator.outputs
            is_known = inputs.agrees is True or any(self._is_known[node] for node in nodes)
            before = _INPUTS_AGREE if not between else "what was compared before it agrees"
            before = before if is_known else _NOT_COMPARED
            first.append(_suspect(self._name(index), self._type(index), nodes, found, inputs, before, own_row))
            for other in between:
                if other not in seen:
                    seen.add(other)
                    where = "between tensors that agree and" if self._is_known[other] else "before"
                    agrees = "does not" if self._is_known[other] else "does not agree"
                    why = f"it has no row, and is {where} `{self._name(index)}`, which {agrees}"
                    name, op_type = self._name(other), self._type(other)
                    unseen.append(Suspect(name=name, type=op_type, nodes=(other,), kind="unseen", why=why))
        first.sort(key=lambda each: each.kind != "overflow")
        return [*first, *unseen] or list(self._jumps())

    def _values_by_readers(self) -> dict[int, _Tensors]:
        """Return what the input rows of single operators say of the nodes that feed them."""
        found: dict[int, _Tensors] = {}
        for operator in self._operators:
            if len(operator.nodes) > 1:
                continue
            sources = self._graph[operator.nodes[0]].sources
            for number, tensors in operator.by_input.items():
                source = sources[number] if number < len(sources) else None
                known = None if source is None else found.get(source.node)
                if source is not None and tensors.is_wrong is not None and (known is None or tensors.is_wrong):
                    found[source.node] = tensors
        return found

    def _outputs(self, index: int) -> _Tensors | None:
        """Return what is known of the outputs of a node; None if nothing is."""
        operator = self._of_node.get(index)
        if operator is not None and self._last[id(operator)] == index and operator.outputs.is_wrong is not None:
            return operator.outputs
        return self._readers.get(index)

    def _before(self, index: int) -> tuple[bool, list[int]]:
        """Return whether all that a node depends on agrees, and the nodes in between of which nothing is known."""
        operator = self._of_node.get(index)
        own: dict[int, _Tensors] = {}
        if operator is not None and operator.inputs.is_wrong is not None:
            if operator.inputs.is_wrong or len(operator.nodes) > 1:
                return not operator.inputs.is_wrong, []
            own = operator.by_input
        inside = set(operator.nodes if operator else (index,))
        waiting, between, seen = list(inside), [], set(inside)
        while waiting:
            current = waiting.pop()
            for number, source in enumerate(self._graph[current].sources):
                if source is None or source.node in seen:
                    continue
                if current == index and number in own and own[number].is_wrong is False:
                    continue
                seen.add(source.node)
                found = self._outputs(source.node)
                if found is None or found.is_wrong is None:
                    waiting.append(source.node)
                    if self._graph[source.node].type not in NOT_COMPUTED:
                        between.append(source.node)
                elif found.is_wrong:
                    return False, []
        return True, between

    def _jumps(self) -> Iterator[Suspect]:
        """Yield the operators whose error is many times that of their inputs, the largest jumps first."""
        found: list[tuple[float, _Operator, float | None]] = []
        for operator in self._operators:
            error = operator.outputs.error
            if error is None or error < _LEAST_JUMP:
                continue
            before = operator.inputs.error
            if before is None:
                sources = [source.node for index in operator.nodes for source in self._graph[index].sources if source]
                errors = [tensors.error for node in sources if (tensors := self._outputs(node)) is not None]
                before = max((each for each in errors if each is not None), default=None)
            ratio = error / max(before or 0.0, _NOISE)
            if ratio >= _JUMP:
                found.append((ratio, operator, before))
        found.sort(key=lambda each: -each[0])
        for ratio, operator, before in found[:_MOST_JUMPS]:
            index, tensors = self._last[id(operator)], operator.outputs
            error = tensors.error or 0.0
            why = (
                f"within the limits, but its error is {ratio:.0f} times that of its inputs ({error:.2g}, {before:.2g})"
                if before is not None
                else f"within the limits, with an error of {error:.2g}; its inputs were not compared"
            )
            yield Suspect(
                name=self._name(index),
                type=self._type(index),
                nodes=operator.nodes,
                kind="jump",
                why=why,
                ran=tensors.dtype,
                cosine=tensors.cosine,
                path=tensors.path,
                line=tensors.line,
            )

    def _name(self, index: int) -> str:
        return self._graph[index].name

    def _type(self, index: int) -> str:
        return self._graph[index].type


# JSON


def _of_document(path: str, graph: ModelGraph | None) -> AccuracyEvidence:
    """:raises Damaged: if it is neither JSON of `opsinfo simulate` nor a dump.json of msprobe"""
    try:
        document = json.loads(read_bytes(path))
        kind: Kind = "magnitude" if is_dump(document) else "costs"
        entries = _magnitudes(document, path) if kind == "magnitude" else _costs(document)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        message = "neither a compare table, JSON of `opsinfo simulate` nor a dump.json of msprobe"
        hint = "make it with `opsinfo simulate --format json`, or with msprobe and the task statistics"
        raise Damaged(message, path=path, hint=hint) from None
    by_type: dict[str, list[GraphNode]] = {}
    for node in graph or ():
        by_type.setdefault(node.type, []).append(node)
    matched = sum(
        graph is None or graph.find(name) is not None or not by_type.keys().isdisjoint(types)
        for _, types, name in entries
    )
    if graph and entries and not matched and kind == "costs":
        message = f"none of its {counted(len(entries), 'op type')} is in this model: it is of another model"
        raise Damaged(message, name="other-model", path=path, hint="`opsinfo graph` lists the op types of the model")
    scores: dict[tuple[str, str], float] = {}
    for score, types, name in entries:
        for op_type in types if score > 0 else ():
            scores[op_type, name] = max(score, scores.get((op_type, name), 0.0))
    suspects = []
    for (op_type, name), score in sorted(scores.items(), key=lambda each: (-each[1], each[0])):
        own = graph.find(name) if graph and name else None
        nodes = [own] if own else by_type.get(op_type, [])
        if graph and not nodes:
            continue
        why = f"its rounding alone has an error of {score:.3g}"
        if kind == "magnitude":
            reach = "exceeds the largest float16" if score > 1 else f"reaches {score:.0%} of the largest float16"
            why = f"a call of its kind {reach}"
        indexes = tuple(node.index for node in nodes)
        shown = name or (nodes[0].name if nodes else "")
        suspects.append(Suspect(name=shown, type=op_type, nodes=indexes, kind=kind, why=why, path=path))
    return AccuracyEvidence(rows=len(entries), matched=matched, suspects=suspects)


def _magnitudes(document: Any, path: str) -> list[tuple[float, Sequence[str], str]]:
    """Return for each call the share of float16's range that it reaches, 0 if that is small, and its op types."""
    found: list[tuple[float, Sequence[str], str]] = []
    for call in calls_of(document["data"], path):
        share = max(call.magnitudes) / _LARGEST
        score = 0.0 if share < _NEAR else share if share <= 1 else _OVERFLOW
        found.append((score, (*op_types_of(call.name), *spelled_as_types(call.name)), ""))
    return found


def _costs(document: Any) -> list[tuple[float, Sequence[str], str]]:
    """Return the error that each op type, or each node if they were ranked, causes alone; 0 if it is unknown."""
    entries = [entry for entry in document.get("nodes") or () if "error_alone" in entry] or document["types"]
    return [(float(entry["error_alone"] or 0), (str(entry["type"]),), str(entry.get("name", ""))) for entry in entries]
