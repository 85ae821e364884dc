"""JSON as the data files have it."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 120


def dumped(content: Any) -> str:
    """Return JSON in the layout of the data files: arrays of strings filled to the line width."""
    return _dumped(content, 0) + "\n"


def _dumped(value: Any, depth: int, before: int = 0) -> str:
    pad, inner = "  " * depth, "  " * (depth + 1)
    if isinstance(value, dict) and value:
        rows = []
        for key, each in value.items():
            head = f"{inner}{json.dumps(key, ensure_ascii=False)}: "
            rows.append(head + _dumped(each, depth + 1, len(head)))
        return "{\n" + ",\n".join(rows) + f"\n{pad}}}"
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return _filled([json.dumps(each, ensure_ascii=False) for each in value], depth, before)
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(inner + _dumped(each, depth + 1) for each in value) + f"\n{pad}]"
    return json.dumps(value, ensure_ascii=False)


def _filled(words: list[str], depth: int, before: int) -> str:
    single = f"[{', '.join(words)}]"
    if before + len(single) < WIDTH:
        return single
    pad, inner = "  " * depth, "  " * (depth + 1)
    lines, line = [], inner
    for n, word in enumerate(words):
        word += "," if n < len(words) - 1 else ""
        if len(line) > len(inner) and len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = inner
        line += (" " if len(line) > len(inner) else "") + word
    return "[\n" + "\n".join([*lines, line]) + f"\n{pad}]"
