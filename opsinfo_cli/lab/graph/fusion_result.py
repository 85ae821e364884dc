"""``fusion_result.json``: how often each pass of a compiler matched and took effect, and a prediction beside it.

atc and the graph engine write it into the working folder (hicann/ge ffdcbc9f, compiler/engines/nn_engine/fusion/common/
fusion_statistic/fusion_statistic_writer.cc): an object with a member a graph, ``session_and_graph_id_0_0``. Older
versions write an object a graph, with ``session_and_graph_id`` in it, the oldest ones with ``graphId`` and maybe
``sessionId``, alone, in a list, or one behind the other.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

from ...core.document import Count, LineNumber, Schema, internal
from ...core.text.scanner import Member, Node, scan
from ...core.text.source import Source
from ...errors import Damaged, brief
from ...opening import open_file
from .fusions.fuse import RULES
from .fusions.rule import PREPARED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .fusions.fuse import Fused

_ID = "session_and_graph_id"
_SESSION, _GRAPH = "sessionId", "graphId"
_MARK = _ID.encode()
_MOST = 1 << 26
"""The largest file that is read, in bytes; one graph takes some kilobytes."""


class CompiledGraph(NamedTuple):
    """The counts of one compiled graph.

    :param name: session and graph, ``0_0``
    :param passes: by pass, how often it matched, and how often it took effect
    """

    name: str
    passes: Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class PassCount:
    """One pass."""

    name: Annotated[str, Schema(examples=["ConstToAttrPass"])]
    """The compiler's name of the pass."""
    predicted: int | None
    """How often it was applied here; null if its rule is not known, or it may have run on further nodes."""
    matched: Count
    """How often it matched in the compiler."""
    effective: Count
    """How often it took effect there."""

    @property
    def differs(self) -> bool:
        return self.predicted is not None and self.predicted != self.effective


@dataclass(frozen=True)
class FusionResult:
    """A prediction beside one graph of a file."""

    graph: Annotated[str, Schema(examples=["0_0"])]
    """Session and graph."""
    graphs: LineNumber
    """Number of graphs in the file."""
    passes: list[PassCount] = internal()

    @property
    def known(self) -> list[PassCount]:
        """The passes whose rules are known."""
        return [count for count in self.passes if count.predicted is not None]

    @property
    def differing(self) -> int:
        """The number of passes that took effect another number of times than predicted."""
        return sum(count.differs for count in self.passes)


def is_fusion_result(path: str) -> bool:
    """Return whether a file is a ``fusion_result.json``, by its content.

    :raises Refused: if it cannot be read
    """
    with open_file(path) as file:
        start = file.read(1 << 16)
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") and any(
        mark in start for mark in (_MARK, b'"graph_fusion"', b'"ub_fusion"')
    )


def read_fusion_result(path: str) -> list[CompiledGraph]:
    """Return the graphs of a file.

    :raises Refused: if it cannot be read
    :raises Damaged: if it is not a ``fusion_result.json``, with the place of what is none
    """
    with open_file(path) as file:
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise Damaged(f"more than {_MOST >> 20} MiB", name="damaged-fusion-result", path=path)
    source, at = Source(data, path), 0
    graphs: list[CompiledGraph] = []
    while (at := _after_blanks(source.text, at)) < len(source.text):  # values may stand one behind the other
        document = scan(source, at)
        graphs += _graphs(source, document.require_root())
        at = document.end
    if not graphs:
        raise Damaged("no graph in this fusion_result.json", name="damaged-fusion-result", path=path)
    return graphs


def _after_blanks(text: str, at: int) -> int:
    match = re.compile(r"[ \t\r\n,]*").match(text, at)
    return match.end() if match else at


def _graphs(source: Source, value: Node) -> Iterator[CompiledGraph]:
    """:raises Damaged: if a count is none; has its place"""
    if value.kind == "array":
        for part in value.items:
            yield from _graphs(source, part)
    elif own := [str(each.value) for key in (_SESSION, _GRAPH) if (each := value.get(key)) is not None]:
        yield _graph(source, "_".join(own), value)
    elif (named := value.get(_ID)) is not None:
        yield _graph(source, str(named.value), value)
    else:
        for member in value:
            if member.name.startswith(_ID) and member.value.kind == "object":
                yield _graph(source, member.name.removeprefix(_ID).lstrip("_"), member.value)


def _graph(source: Source, name: str, value: Node) -> CompiledGraph:
    passes = value.get("graph_fusion") or ()
    return CompiledGraph(name, {each.name: _counts(source, each) for each in passes if each.value.kind == "object"})


def _counts(source: Source, of_pass: Member) -> tuple[int, int]:
    """:raises Damaged: if they are no counts, or a pass took effect more often than it matched"""
    read = {}
    for key in ("match_times", "effect_times"):
        node = of_pass.value.get(key)
        if node and (node.kind not in ("string", "number") or not re.fullmatch("[0-9]{1,18}", str(node.value))):
            written = brief(source.text[node.start : node.end])
            raise source.damaged(f"{key} of {of_pass.name} is no count: {written}", node.start, _HINT)
        read[key] = int(str(node.value)) if node else 0
        if node and of_pass.value.get("match_times") and read[key] > read["match_times"]:
            message = f"{of_pass.name} took effect {read[key]} times, but matched only {read['match_times']} times"
            raise source.damaged(message, node.start, _HINT)
    return read["match_times"], read["effect_times"]


_HINT = "the compiler writes a new file in each run: give that one"


def beside(fused: Fused, graphs: Sequence[CompiledGraph]) -> FusionResult:
    """Return the counts of a prediction beside those of the graph that is closest to it."""
    prepared = {name for name, rule in RULES.items() if rule.priority == PREPARED}  # the compiler does not count them
    predicted = Counter(fusion.name for fusion in fused.fusions if fusion.name not in prepared)
    known = (RULES.keys() | predicted.keys()) - fused.not_applied.keys()

    def rows(graph: CompiledGraph) -> list[PassCount]:
        return [
            PassCount(name, predicted[name] if name in known else None, *graph.passes.get(name, (0, 0)))
            for name in sorted({*graph.passes, *predicted})
        ]

    def distance(graph: CompiledGraph) -> int:
        return sum(abs(row.predicted - row.effective) for row in rows(graph) if row.predicted is not None)

    closest = min([graph for graph in graphs if graph.passes] or graphs, key=distance)
    return FusionResult(closest.name, len(graphs), rows(closest))
