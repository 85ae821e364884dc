"""The JSON rules of CANN 8.1 that a model of inference meets; a toolkit's own file goes before them."""

from __future__ import annotations

from .....core.package_data import package_data
from ..toolkit_rules import json_rules

_FILE = package_data("opsinfo_cli.lab.graph", "json-rules")
RULES = tuple(json_rules(_FILE, _FILE["source"]))
