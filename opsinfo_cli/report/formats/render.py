"""The formats of a report of findings. Each is a module that is loaded on use."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from ...check.check_result import CheckResult

FORMATS = ("text", "concise", "json", "github", "gitlab", "sarif", "junit")


def rendered(format: str, checked: CheckResult, document: dict[str, Any]) -> str:
    """A report as the text of a file.

    :param document: what the JSON format says
    """
    if format == "json":
        return json.dumps(document, indent=2) + "\n"
    text: str = getattr(import_module(f".{format}", __package__), format)(checked)
    return text
