"""The answer of `bisect` as a page: culprits, and the search drawn as a tree of trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...bisect.answered import BisectAnswer, JudgedSet
from ...bisect.budget import span
from ..page import Number, escaped, page_text, section, table

_ROW, _STEP, _LEFT, _RADIUS = 24, 18, 14, 6
_PASS, _FAIL = "#2e7d32", "#c62828"


def bisect_page(answer: BisectAnswer) -> str:
    """Return one file that fetches nothing and runs no script."""
    parts = []
    if answer.culprits:
        columns = ["Op type", "Nodes", "Casts", "Fails without it: trial", "Same nodes", "Names"]
        parts.append(section("Culprits", table("Op types that must stay high", columns, _culprits(answer)), "culprits"))
    if answer.keep_dtype is not None and answer.keep_dtype.nodes:
        rows = [[each.name, each.type, Number(each.trial or "-")] for each in answer.keep_dtype.nodes]
        parts.append(
            section("Nodes", table("Nodes that keep their dtype", ["Node", "Op type", "Trial"], rows), "nodes")
        )
    parts.append(section("Trials", f"<figure>\n{trial_tree(answer.sets)}</figure>\n" + _sets(answer), "trials"))
    return page_text(f"Search: {answer.ended}", _facts(answer), "".join(parts))


def _facts(answer: BisectAnswer) -> list[tuple[str, str]]:
    counts = answer.counts
    runs = f"{counts.passed} passed, {counts.failed} failed, {counts.cannot_tell} could not tell"
    facts = [("Ended", answer.ended), ("Candidates", str(answer.candidates))]
    facts += [("List", answer.mixlist)] if answer.mixlist else []
    facts += [("Runs", f"{runs}; {counts.cached} sets needed none"), ("Time", span(counts.seconds))]
    facts += [("Minimal", "shown: the check fails without any one culprit" if answer.one_minimal else "not shown")]
    return [*facts, ("Monotone", "as far as observed" if answer.monotone else "no: verdicts contradict each other")]


def _culprits(answer: BisectAnswer) -> Iterator[list[str]]:
    for each in answer.culprits:
        casts = "-" if each.casts is None else f"{each.casts:+d}"
        trial = "-" if each.trial is None else str(each.trial)
        names = ", ".join(each.nodes[:20]) + (f" and {len(each.nodes) - 20} more" if len(each.nodes) > 20 else "")
        yield [each.type, Number(len(each.nodes)), Number(casts), Number(trial), " ".join(each.same) or "-", names]


def _sets(answer: BisectAnswer) -> str:
    rows = [
        [
            ", ".join(str(number) for number, _ in each.trials),
            ", ".join(verdict for _, verdict in each.trials),
            Number(len(each.kept)),
            ", ".join(each.kept) or "none",
        ]
        for each in answer.sets
    ]
    return table("Sets that were run", ["Trial", "Verdicts", "Kept", "Op types that stayed high"], rows)


def trial_tree(sets: Sequence[JudgedSet]) -> str:
    """Return SVG: each set below the smallest passing set from which it was made by releasing candidates."""
    parents = _parents(sets)
    depth: list[int] = []
    for parent in parents:
        depth.append(0 if parent is None else depth[parent] + 1)
    width = _LEFT * 2 + max(depth, default=0) * _STEP + 420
    height = _ROW * max(1, len(sets)) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" font-family="sans-serif" font-size="12">',
        "<title>Tree of trials</title>",
    ]
    for at, each in enumerate(sets):
        x, y = _LEFT + depth[at] * _STEP, _ROW * at + _ROW // 2 + 4
        parent = parents[at]
        if parent is not None:
            above, top = _LEFT + depth[parent] * _STEP, _ROW * parent + _ROW // 2 + 4 + _RADIUS
            parts.append(f'<path d="M{above} {top}V{y}H{x - _RADIUS}" fill="none" stroke="#9e9e9e"/>')
        parts += _drawn(each, x, y)
    return "\n".join([*parts, "</svg>", ""])


def _drawn(each: JudgedSet, x: int, y: int) -> Iterator[str]:
    numbers = ", ".join(str(number) for number, _ in each.trials)
    said = "passes" if each.passed else "fails"
    names = ", ".join(each.kept[:40]) or "none"
    yield f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="{_PASS if each.passed else _FAIL}">'
    yield f"<title>{escaped(names)}</title></circle>"
    text = f"trial {numbers}: {len(each.kept)} kept, {said}"
    yield f'<text x="{x + _RADIUS + 6}" y="{y + 4}" fill="currentColor">{escaped(text)}</text>'


def _parents(sets: Sequence[JudgedSet]) -> list[int | None]:
    """Return for each set the smallest earlier set that passes and contains it."""
    found: list[int | None] = []
    kept = [frozenset(each.kept) for each in sets]
    for at, own in enumerate(kept):
        larger = [other for other in range(at) if sets[other].passed and own < kept[other]]
        found.append(min(larger, key=lambda other: len(kept[other]), default=None))
    return found
