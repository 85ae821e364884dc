"""Facts stored as JSON in ``data``: built-in lists, names and rules, each with its source and version."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def facts(name: str) -> dict[str, Any]:
    """Return the content of ``data/<name>.json``."""
    text = files(__package__).joinpath("data", f"{name}.json").read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    return content
