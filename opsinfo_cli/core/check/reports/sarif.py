"""Findings as SARIF 2.1.0, with their rules and fixes."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import quote

from ....errors import OpsinfoError
from ....version import __version__
from ...text.escape import visible
from ...text.source import Place
from ..checked import Checked
from ..finding import Finding
from ..rules import RULES, Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INDEX = {name: index for index, name in enumerate(RULES)}


def sarif(checked: Checked) -> str:
    from importlib import metadata

    driver: dict[str, Any] = {"name": "opsinfo", "version": __version__}
    try:
        urls = metadata.metadata("opsinfo").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:  # run from a checkout or a zip
        urls = []
    if urls:  # the property may not be null
        driver["informationUri"] = urls[0].split(", ", 1)[1]
    driver["rules"] = [_rule(rule) for rule in RULES.values()]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not checked.failures,
                "exitCode": checked.status,
                "toolExecutionNotifications": [_notification(checked, error) for error in checked.failures],
            }
        ],
        **({"properties": {"remarks": checked.remarks}} if checked.remarks else {}),
        "results": [_result(checked, finding) for finding in checked.findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    fails, passes = ((text or "(an empty file)").replace("\ufeff", "<BOM>") for text in (rule.fails, rule.passes))
    plain = f"{rule.why}\n\nFails:\n\n{fails}\n\nPasses:\n\n{passes}\n\nSource: {rule.source}"
    markdown = f"{rule.why}\n\nFails:\n\n```\n{fails}\n```\n\nPasses:\n\n```\n{passes}\n```\n\nSource: {rule.source}"
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.why.split(". ")[0].rstrip(".") + "."},
        "fullDescription": {"text": rule.why},
        "help": {"text": plain, "markdown": markdown},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {"tags": [rule.about], "engine": rule.engine},
    }


def _result(checked: Checked, finding: Finding) -> dict[str, Any]:
    hint = f"\nhint: {visible(finding.hint)}" if finding.hint else ""
    location: dict[str, Any] = {}
    if checked.is_file(finding.path):
        location["physicalLocation"] = {"artifactLocation": _artifact(checked, finding.path)}
        if finding.start and finding.end:
            location["physicalLocation"]["region"] = _region(finding.start, finding.end)
    if finding.pointer is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": visible(finding.pointer) or "/"}]
    result: dict[str, Any] = {
        "ruleId": finding.rule.code,
        "ruleIndex": _INDEX[finding.rule.name],
        "level": finding.severity,
        "message": {"text": visible(finding.message) + hint},
        "locations": [location],
        "partialFingerprints": {"opsinfo/v1": finding.fingerprint},
        "properties": {"engine": finding.engine},
    }
    if finding.fix and finding.fix.edits and checked.is_file(finding.path):
        replacements = [
            {"deletedRegion": _region(*places), "insertedContent": {"text": edit.text}}
            for edit, places in zip(finding.fix.edits, finding.places, strict=True)
        ]
        change = {"artifactLocation": _artifact(checked, finding.path), "replacements": replacements}
        text = f"what `opsinfo validate --fix{'' if finding.fix.is_safe else ' --unsafe-fixes'}` does"
        result["fixes"] = [{"description": {"text": text}, "artifactChanges": [change]}]
    return result


def _notification(checked: Checked, error: OpsinfoError) -> dict[str, Any]:
    notification: dict[str, Any] = {
        "descriptor": {"id": error.name},
        "level": "error",
        "message": {"text": visible(error.message)},
    }
    if error.path:
        location = {"physicalLocation": {"artifactLocation": _artifact(checked, error.path)}}
        notification["locations"] = [location]
    return notification


def _artifact(checked: Checked, path: str) -> dict[str, str]:
    """Return a path as a URI: relative to the repository's root, or absolute if it is outside."""
    relative = checked.relative(path)
    uri = quote(os.fsencode(relative))
    return {"uri": f"file://{uri}"} if relative.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _region(start: Place, end: Place) -> dict[str, int]:
    return {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
