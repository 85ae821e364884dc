"""The formats of a report of findings. Each module is loaded on use."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from ...check.run import CheckResult

FORMATS = ("text", "concise", "json", "github", "gitlab", "sarif", "junit")


def rendered(format: str, checked: CheckResult, document: dict[str, Any]) -> str:
    """Return a report as the text of a file.

    :param document: the JSON document of the report
    """
    if format == "json":
        return json.dumps(document, indent=2) + "\n"
    text: str = getattr(import_module(f".{format}", __package__), format)(checked)
    return text
