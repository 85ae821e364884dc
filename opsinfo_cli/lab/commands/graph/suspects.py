"""The answer of `graph --evidence`: the nodes that evidence suspects, what decides them, and what moves them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ....core.cann.mixlist import mixlist_content
from ....core.terminal.answer import Block, Cell, Column, CommandAnswer, Either, PathCell, Table
from ....errors import counted, join_some
from ...graph.evidence import Evidence, Suspect
from ...graph.moves import Mover, Moves
from ...graph.result import Answer, NodeAnswer, summaries_of
from .document import GraphView

if TYPE_CHECKING:
    from ...documents import graph as documents

MOST_SUSPECTS = 50
"""The most suspects that are shown, and for which the judge is asked what moves them."""
_MOST_RANKED = 3
"""How many op types of a ranking, which has no first culprit, the mixlist is for."""


def most_suspect(evidence: Evidence) -> tuple[list[Suspect], int]:
    """Return the suspects that are shown, and for how many of the first ones a mixlist is made."""
    shown = evidence.suspects[:MOST_SUSPECTS]
    ranked = sum(suspect.kind in ("costs", "magnitude") for suspect in shown)
    return shown, len(shown) - max(ranked - _MOST_RANKED, 0)


def evidence_answer(view: GraphView, answer: Answer, evidence: Evidence, moves: Moves) -> CommandAnswer:
    """The suspects, the most suspect first."""
    suspects, _ = most_suspect(evidence)
    rows = [answer[suspect.nodes[0]] if suspect.nodes else None for suspect in suspects]
    found = list(zip(suspects, rows, moves.by, strict=True))
    content = mixlist_content(moves.marks)

    def document() -> documents.GraphDocument:
        nodes = [answer[index] for index in sorted({index for suspect in suspects for index in suspect.nodes})]
        made = view.answer.document(nodes, summaries_of(nodes))
        made["evidence"] = {
            "path": evidence.paths,
            "rows": evidence.rows,
            "matched": evidence.matched,
            "suspects": [_suspect_document(answer, *each) for each in found],
            "mixlist": content,
            "unclear": evidence.unclear,
        }
        return made

    def lines() -> Iterable[tuple[str, ...]]:
        for suspect, row, by in found:
            policy, cosine = row and row.policy, suspect.cosine
            shown = "-" if cosine is None else f"{cosine:.9g}"
            yield suspect.name, suspect.type, suspect.ran or "-", policy or "-", by or "-", shown, suspect.why

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
        texts={"mixlist": lambda: json.dumps(content, indent=2, ensure_ascii=False) + "\n"},
        caveats=view.caveats,
        notes=list(_notes(answer, evidence, moves, found)),
    )


def _suspect_document(
    answer: Answer, suspect: Suspect, row: NodeAnswer | None, by: Mover | None
) -> documents.EvidenceSuspect:
    return {
        "name": suspect.name,
        "nodes": [answer.graph[index].name for index in suspect.nodes],
        "type": suspect.type,
        "kind": suspect.kind,
        "why": suspect.why,
        "ran": suspect.ran,
        "predicted": _predicted(row),
        "list": row.policy if row else None,
        "movable": by,
        "cosine": suspect.cosine,
        "path": suspect.path,
        "line": suspect.line,
    }


def _predicted(row: NodeAnswer | None) -> str | None:
    return next(iter(row.outputs), None) if row and row.judged else None


def not_movable_hint(moves: Moves) -> str:
    """Return what to do where no mixlist moves a suspect."""
    if "keep_dtype" in moves.by:
        return "keep_dtype moves some: --match NAME --write-keep-dtype OUT writes the file"
    return "they are not low here: compare precision mode, chip and lists with those of the compiled model"


def _notes(
    answer: Answer,
    evidence: Evidence,
    moves: Moves,
    found: list[tuple[Suspect, NodeAnswer | None, Mover | None]],
) -> Iterable[str]:
    yield f"{counted(evidence.rows, 'row')}, {evidence.matched} about nodes of this model"
    yield from evidence.unclear
    if not found:
        yield "no operator is suspected: every output that was compared agrees, or its inputs do not"
        return
    others = [
        f"`{suspect.name}` ran in {suspect.ran}, predicted {_predicted(row)}"
        for suspect, row, _ in found
        if suspect.ran and _predicted(row) and suspect.ran != _predicted(row)
    ]
    if others:
        yield f"the device ran other dtypes than predicted: {join_some(others)}; check mode, chip and lists"
    if len(evidence.suspects) > len(found):
        yield f"{len(evidence.suspects) - len(found)} more suspects are not shown"
    kept = [suspect.name for suspect, _, by in found if by == "keep_dtype"]
    if kept:
        yield f"only keep_dtype moves {join_some(kept)}: --match NAME --write-keep-dtype OUT writes the file"
    fixed = [suspect.name for suspect, _, by in found if by is None]
    if fixed:
        yield f"nothing moves {join_some(fixed)}: they are not low in this judging, or have no kernel in float32"
    if moves.added:
        listed = join_some(moves.added, 8)
        yield f"the mixlist that moves them has black {listed}: --format mixlist -o ops_info.json writes it"
