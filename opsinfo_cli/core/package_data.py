"""JSON files of the package: facts with their sources and versions."""

from __future__ import annotations

import json
from functools import cache
from pkgutil import get_data
from typing import Any


@cache
def package_data(package: str, name: str) -> dict[str, Any]:
    """Return the content of ``data/<name>.json`` of a package; it is shared, so do not change it."""
    text = get_data(package, f"data/{name}.json")  # importlib.resources takes a tenth of a short run to import
    assert text is not None
    content: dict[str, Any] = json.loads(text)
    return content
