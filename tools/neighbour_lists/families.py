"""families.json: op types of libraries that are one operator in several forms."""

from __future__ import annotations

import json
import re
from pathlib import Path

from .data_text import dumped
from .places import NAMES


def families(paths: list[Path]) -> str:
    """families.json: op types that are forms of one operator: X, XD, XV2, XV3, XDV2, XV2D."""
    op_types = sorted({name for path in paths for name in json.loads(path.read_text("utf-8"))})
    found: dict[str, list[str]] = {}
    for name in op_types:
        found.setdefault(stem(name), []).append(name)
    content = json.loads((NAMES / "families.json").read_text("utf-8"))
    content["families"] = {key: names for key, names in sorted(found.items()) if len(names) > 1 or key not in names}
    return dumped(content)


def stem(op_type: str) -> str:
    """``TopKV2D`` and ``TopKD`` as ``TopK``; the D of ``Conv2D`` and ``SpaceToBatchND`` stays."""
    return re.sub(r"(?:V\d)?(?:(?<![\dN])D|(?<=V\d)D)?(?:V\d)?$", "", op_type) or op_type
