"""The contract with scripts, stated once for all tests: exit statuses and findings.

The keys of JSON documents are stated by the published schemas, and every run of a command is validated against them.
"""

from __future__ import annotations

import json
import signal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).resolve().parents[1] / "schemas"

STATUSES = (0, 1, 2, 3)
"""Done or clean; findings, differences or would change; wrong usage; a file or the system refused."""

SIGNAL_STATUSES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
"""After a signal that a run may end on."""


class Finding(NamedTuple):
    """What a finding is about, its usual severity, and what the engine does."""

    about: str
    severity: str
    engine: str


FINDINGS = {
    "syntax": Finding("both", "error", "refuses"),
    "comment": Finding("both", "error", "refuses"),
    "trailing-comma": Finding("both", "error", "refuses"),
    "missing-comma": Finding("both", "error", "refuses"),
    "trailing-text": Finding("both", "warning", "accepts"),
    "bom": Finding("both", "note", "accepts"),
    "duplicate-key": Finding("both", "warning", "ignores"),
    "empty-file": Finding("both", "error", "refuses"),
    "wrong-type": Finding("both", "error", "refuses"),
    "pasted-line-numbers": Finding("mixlist", "error", "refuses"),
    "invisible-character": Finding("both", "error", "refuses"),
    "unknown-list": Finding("mixlist", "error", "refuses"),
    "unknown-action": Finding("mixlist", "error", "refuses"),
    "contradiction": Finding("mixlist", "error", "refuses"),
    "duplicate-operator": Finding("mixlist", "warning", "accepts"),
    "unknown-operator": Finding("mixlist", "error", "ignores"),
    "not-in-ai-core": Finding("mixlist", "warning", "ignores"),
    "sibling-type": Finding("mixlist", "note", "accepts"),
    "no-effect": Finding("mixlist", "warning", "ignores"),
    "remove-mismatch": Finding("mixlist", "warning", "ignores"),
    "black-without-fp32": Finding("mixlist", "warning", "accepts"),
    "white-without-low": Finding("mixlist", "warning", "accepts"),
    "false-friend": Finding("mixlist", "note", "accepts"),
    "unknown-mode": Finding("mode", "error", "refuses"),
    "mode-refuses-mixlist": Finding("mode", "error", "refuses"),
    "mode-not-on-soc": Finding("mode", "error", "refuses"),
    "both-modes": Finding("mode", "error", "refuses"),
    "foreign-list": Finding("mixlist", "warning", "refuses"),
    "not-in-model": Finding("model", "warning", "accepts"),
    "no-effect-in-model": Finding("model", "warning", "accepts"),
    "black-refused-in-model": Finding("model", "error", "refuses"),
    "constant-out-of-range": Finding("model", "warning", "accepts"),
    "unknown-node": Finding("options", "warning", "ignores"),
    "no-effect-with-mode": Finding("mode", "warning", "ignores"),
    "not-all-in-float32": Finding("mode", "note", "accepts"),
    "refused-by-columns": Finding("options", "error", "refuses"),
    "unknown-implmode": Finding("options", "warning", "ignores"),
    "mode-not-known-to-type": Finding("options", "warning", "ignores"),
    "repeated-line": Finding("options", "warning", "ignores"),
    "autofuse-list": Finding("options", "warning", "ignores"),
    "missing-file": Finding("options", "error", "refuses"),
    "refused-line": Finding("options", "error", "refuses"),
    "ignored-line": Finding("options", "warning", "ignores"),
    "bad-flag": Finding("library", "error", "refuses"),
    "blank-in-name": Finding("library", "error", "refuses"),
    "bad-value": Finding("library", "error", "refuses"),
    "column-mismatch": Finding("library", "error", "refuses"),
    "unknown-value": Finding("library", "warning", "accepts"),
    "unknown-section": Finding("library", "warning", "accepts"),
    "hidden-flag": Finding("library", "warning", "ignores"),
    "engine-crash": Finding("library", "error", "crashes"),
    "shadowed": Finding("store", "note", "accepts"),
    "stray-json": Finding("store", "warning", "accepts"),
    "load-order-undefined": Finding("store", "warning", "accepts"),
    "store-fails": Finding("install", "error", "refuses"),
    "bad-load-priority": Finding("install", "error", "refuses"),
    "broken-custom-path": Finding("install", "warning", "ignores"),
    "ini-line-ignored": Finding("ini", "warning", "ignores"),
    "ini-refused": Finding("ini", "error", "refuses"),
    "unknown-to-script": Finding("ini", "warning", "accepts"),
    "white-by-default": Finding("OpDef source", "note", "accepts"),
    "config-not-passed": Finding("OpDef source", "warning", "ignores"),
    "registered-twice": Finding("OpDef source", "warning", "accepts"),
    "differs-from-main": Finding("OpDef source", "note", "accepts"),
    "differs-by-chip": Finding("OpDef source", "note", "accepts"),
    "unreadable-source": Finding("OpDef source", "warning", "accepts"),
    "columns-dropped": Finding("OpDef source", "warning", "accepts"),
    "new-policy": Finding("OpDef source", "note", "accepts"),
    "changed-policy": Finding("OpDef source", "warning", "accepts"),
    "removed-policy": Finding("OpDef source", "warning", "accepts"),
    "configuration-changed": Finding("configuration", "warning", "accepts"),
    "edits-lost": Finding("vault", "warning", "accepts"),
    "edited-here": Finding("vault", "note", "accepts"),
    "damaged-backup": Finding("vault", "error", "accepts"),
    "modes-left-open": Finding("vault", "warning", "accepts"),
    "older-vault": Finding("vault", "note", "accepts"),
    "vault-in-container": Finding("vault", "warning", "accepts"),
    "unfinished-change": Finding("vault", "warning", "accepts"),
}
"""Names of findings and the reactions of the engine never change."""

_SCHEMA_OF = {
    "apply": "move",
    "edit": "move",
    "fmt": "move",
    "reapply": "move",
    "snapshot": "move",
    "doctor": "validate",
}


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((SCHEMAS / f"output-{name}.schema.json").read_text("utf-8")))


def schema_faults(document: dict[str, Any]) -> list[str]:
    """The errors of a document by its published schema."""
    command = document["command"]
    findings_and_error = command in ("validate", "doctor") and "findings" in document
    failed = "error" in document and not findings_and_error
    name = "error" if failed else _SCHEMA_OF.get(command, command.replace(" ", "-"))
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(document)]
