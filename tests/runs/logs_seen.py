"""The evidence of a log as a plain value, for complete test cases."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from opsinfo_cli.runs.points import Asked, run_points
from opsinfo_cli.runs.scale import advise
from opsinfo_cli.runs.scan import Log
from opsinfo_cli.runs.stream import Window

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
    "notes": (),
    "rises": 0,
    "falls": 0,
    "halvings": 0,
    "not_numbers": 0,
    "behind": 0,
}


def seen(case: dict[str, Any]) -> dict[str, Any]:
    """Evidence, count, scale, points and advice of a case's log, without default values."""
    log = Log("log")
    data = "\n".join(case["log"]).encode() + b"\n"
    log.take(Window(data, len(data)))
    asked = Asked(**case.get("asked", {}))
    found = log.evidence(asked.steps, asked.ranks)
    scale = found.scale
    evidence = {name: value for name, value in vars(found).items() if name not in ("count", "scale")}
    moved = ("rises", "falls", "halvings", "not_numbers", "behind", "start", "final")
    ends = {name: value for name in ("lowest", "highest") if math.isfinite(value := getattr(scale, name))}
    advice = {name: value for name, value in asdict(advise(found, asked.limit)).items() if value}
    return {
        **_unusual(evidence),
        "count": _unusual(asdict(found.count)) if found.count else None,
        "scale": {**_unusual({name: getattr(scale, name) for name in moved}), **ends, "drawn": _drawn(found)},
        "points": {point.name: _shown(point) for point in run_points(found, asked)},
        "advice": {name: list(value) if isinstance(value, tuple) else value for name, value in advice.items()},
    }


def _unusual(fields: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in fields.items() if name not in DEFAULTS or value != DEFAULTS[name]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}


def _drawn(found: Any) -> str:
    points = [f"{point.at}:{point.scale:g}" for point in found.scale.drawn]
    return " ".join(points if len(points) < 12 else [*points[:6], f"({len(points)})", *points[-3:]])


def _shown(point: Any) -> str:
    return f"{point.status}: {point.says}" + (f" [{point.hint}]" if point.hint else "")
