"""The answer of `graph --evidence`: the nodes that evidence suspects, what decides them, and what moves them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ....core.cann.mixlist import mixlist_content
from ....core.terminal.answer import Block, Cell, Column, CommandAnswer, Either, PathCell, Table
from ....errors import counted, join_some
from ...graph.evidence import AccuracyEvidence, Suspect
from ...graph.moves import Mover, Moves
from ...graph.result import Answer
from .document import GraphView, graph_document

MOST_SUSPECTS = 50
"""The most suspects that are shown, and for which the judge is asked what moves them."""
_MOST_RANKED = 3
"""How many op types of a ranking, which has no first culprit, the mixlist is for."""


def most_suspect(evidence: AccuracyEvidence) -> tuple[Sequence[Suspect], int]:
    """Return the suspects that are shown, and for how many of the first ones a mixlist is made."""
    shown = evidence.suspects[:MOST_SUSPECTS]
    ranked = sum(suspect.kind in ("costs", "magnitude") for suspect in shown)
    return shown, len(shown) - max(ranked - _MOST_RANKED, 0)


def evidence_answer(view: GraphView, answer: Answer, evidence: AccuracyEvidence, moves: Moves) -> CommandAnswer:
    """The suspects, the most suspect first."""
    found = list(map(partial(_judged, answer), most_suspect(evidence)[0], moves.by))
    content = mixlist_content(moves.marks)

    def document() -> Mapping[str, Any]:
        nodes = [answer[index] for index in sorted({index for suspect in found for index in suspect.nodes})]
        return graph_document(view.answer, nodes, evidence=replace(evidence, suspects=found, mixlist=content))

    def lines() -> Iterable[tuple[str, ...]]:
        for suspect in found:
            cosine = "-" if suspect.cosine is None else f"{suspect.cosine:.9g}"
            words = (word or "-" for word in (suspect.ran, suspect.policy, suspect.movable))
            yield suspect.name, suspect.type, *words, cosine, suspect.why

    def blocks() -> list[Block]:
        columns = [Column("node"), Column("op type"), Column("ran in"), Column("list", policy=True)]
        columns += [Column("moved by"), Column("why", dim=True)]
        cells: list[list[Cell]] = [
            [PathCell(name, is_node=True), op_type, ran, policy, by, why]
            for name, op_type, ran, policy, by, _, why in lines()
        ]
        return [Either(lambda: [Table(columns, cells)], lambda: [Table((), lines())])]

    return CommandAnswer(
        document,
        blocks,
        formats={"mixlist": lambda: json.dumps(content, indent=2, ensure_ascii=False) + "\n"},
        caveats=view.caveats,
        notes=list(_notes(answer, evidence, moves, found)),
    )


def _judged(answer: Answer, suspect: Suspect, by: Mover | None) -> Suspect:
    """Return a suspect with what the judge says of it."""
    row = answer[suspect.nodes[0]] if suspect.nodes else None
    predicted = next(iter(row.outputs), None) if row and row.judged else None
    names = [answer.graph[index].name for index in suspect.nodes]
    return replace(suspect, names=names, predicted=predicted, policy=row.policy if row else None, movable=by)


def not_movable_hint(answer: Answer, suspects: Sequence[Suspect], moves: Moves) -> str:
    """Return what to do where no mixlist moves a suspect."""
    if "keep_dtype" in moves.by:
        return "keep_dtype moves some: --match NAME --write-keep-dtype OUT writes the file"
    if lacking := _lacking_types(answer, suspects):
        return f"the target does not have {join_some(lacking)}: what moves them is unknown; check the target"
    return "they are not low here: compare precision mode, chip and lists with those of the compiled model"


def _lacking_types(answer: Answer, suspects: Iterable[Suspect]) -> list[str]:
    """Return the op types of suspects that the target does not have: what they run in is unknown."""
    rows = (answer[index] for suspect in suspects for index in suspect.nodes)
    return list(dict.fromkeys(row.type for row in rows if row.code == "not-in-store"))


def _notes(answer: Answer, evidence: AccuracyEvidence, moves: Moves, found: list[Suspect]) -> Iterable[str]:
    yield f"{counted(evidence.rows, 'row')}, {evidence.matched} about nodes of this model"
    yield from evidence.unclear
    if not found:
        yield "no operator is suspected: nothing in the evidence points at a node of this model"
        return
    others = [
        f"`{suspect.name}` ran in {suspect.ran}, predicted {suspect.predicted}"
        for suspect in found
        if suspect.ran and suspect.predicted and suspect.ran != suspect.predicted
    ]
    if others:
        yield f"the device ran other dtypes than predicted: {join_some(others)}; check mode, chip and lists"
    if len(evidence.suspects) > len(found):
        yield f"{len(evidence.suspects) - len(found)} more suspects are not shown"
    kept = [suspect.name for suspect in found if suspect.movable == "keep_dtype"]
    if kept:
        yield f"only keep_dtype moves {join_some(kept)}: --match NAME --write-keep-dtype OUT writes the file"
    left = [suspect for suspect in found if suspect.movable is None]
    if lacking := _lacking_types(answer, left):
        yield f"the target does not have {join_some(lacking)}: whether they are low, and what moves them, is unknown"
    fixed = [suspect.name for suspect in left if suspect.type not in lacking]
    if fixed:
        yield f"nothing moves {join_some(fixed)}: they are not low in this judging, or have no kernel in float32"
    if moves.added:
        listed = join_some(moves.added, 8)
        yield f"the mixlist that moves them has black {listed}: --format mixlist -o ops_info.json writes it"
