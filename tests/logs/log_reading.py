"""Read logs from text, and show what was read as plain values."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from opsinfo_cli.logs.blocks import Block
from opsinfo_cli.logs.evidence import Evidence
from opsinfo_cli.logs.log import Log
from opsinfo_cli.logs.points import Facts, run_points
from opsinfo_cli.logs.scale import advise

DEFAULTS = {
    "level": None,
    "precision": None,
    "scaling": None,
    "static_scale": None,
    "fatal": None,
    "at_is_step": False,
    "known": True,
    "ranks": None,
    "doubt": None,
    "proof": None,
    "unreadable": None,
    "silent": None,
    "zeros": 0,
    "engines": 1,
    "grows_each_step": False,
    "scale_key": None,
    "logged": None,
    "even": False,
    "notes": (),
    "rises": 0,
    "falls": 0,
    "halvings": 0,
    "not_numbers": 0,
}


def log_of(*blocks: bytes | str) -> Log:
    log = Log()
    for block in blocks:
        log.take(Block(block.encode() if isinstance(block, str) else block, continues=False))
    return log


def evidence_of(*lines: bytes | str, **known: int | None) -> Evidence:
    """The evidence of the lines of one block."""
    text = b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)
    return log_of(text).evidence(**known)


def points_of(evidence: Evidence) -> list[tuple[int, float]]:
    return [(step, scale) for step, scale in evidence.scale.points]


def shown(evidence: Evidence, facts: Facts) -> dict[str, Any]:
    """Evidence, count, scale, points and advice, without default values."""
    scale = evidence.scale
    moved = ("rises", "falls", "halvings", "not_numbers", "start", "final")
    ends = {name: value for name in ("lowest", "highest") if math.isfinite(value := getattr(scale, name))}
    advice = {name: value for name, value in asdict(advise(evidence, facts.limit)).items() if value}
    fields = {name: value for name, value in vars(evidence).items() if name not in ("count", "scale", "losses")}
    return {
        **_unusual(fields),
        "count": _unusual(asdict(evidence.count)),
        "scale": {**_unusual({name: getattr(scale, name) for name in moved}), **ends, "drawn": _drawn(evidence)},
        "points": {
            point.name: f"{point.status}: {point.says}" + (f" [{point.hint}]" if point.hint else "")
            for point in run_points(evidence, facts)
            if point.says != "the log prints no loss and no gradient norm"
        },
        "advice": advice,
    }


def _unusual(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in DEFAULTS or value != DEFAULTS[name]}


def _drawn(evidence: Evidence) -> str:
    points = [f"{point.at}:{point.scale:g}" for point in evidence.scale.drawn]
    return " ".join(points if len(points) < 12 else [*points[:6], f"({len(points)})", *points[-3:]])
