"""Findings as a JUnit report: a suite for each file, a case for each finding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from ...text.escape import visible
from ..checked import Checked
from ..finding import Finding

_ILLEGAL = re.compile("[\ufffe\uffff]")


def junit(checked: Checked) -> str:
    """Return the report. Findings that cause exit status 1 are failures; others are skipped tests with a message."""
    suites: dict[str, list[Finding]] = {verdict.path: [] for verdict in checked.files}
    for finding in checked.findings:
        suites.setdefault(finding.path, []).append(finding)
    failing = sum(map(checked.fails, checked.findings))
    cases = sum(max(1, len(findings)) for findings in suites.values()) + len(checked.failures)
    whole = _attributes(name="opsinfo", tests=cases, failures=failing, errors=len(checked.failures))
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites{whole}>"]
    lines += (f"  <!-- {re.sub('-(?=-)', '- ', _legal(remark))} -->" for remark in checked.remarks)
    for path, findings in suites.items():
        lines += _suite(checked, checked.relative(path), findings)
    for error in checked.failures:
        path = checked.relative(error.path) if error.path else "opsinfo"
        lines += [
            f"  <testsuite{_attributes(name=path, tests=1, failures=0, errors=1, skipped=0)}>",
            f"    <testcase{_attributes(name=error.name, classname=path)}>",
            f"      <error{_attributes(type=error.name, message=error.message)}/>",
            "    </testcase>",
            "  </testsuite>",
        ]
    return "\n".join([*lines, "</testsuites>", ""])


def _suite(checked: Checked, path: str, findings: list[Finding]) -> Iterator[str]:
    failing = sum(map(checked.fails, findings))
    counts = {"tests": max(1, len(findings)), "failures": failing, "errors": 0, "skipped": len(findings) - failing}
    yield f"  <testsuite{_attributes(name=path, **counts)}>"
    if not findings:  # some readers reject an empty suite
        yield f"    <testcase{_attributes(name='No findings', classname=path)}/>"
    for finding in findings:
        place = f":{finding.start.line}:{finding.start.column}" if finding.start else ""
        element = "failure" if checked.fails(finding) else "skipped"
        verdict = _attributes(type=finding.severity, message=finding.message)
        yield f"    <testcase{_attributes(name=f'{finding.rule.code} {finding.rule.name}{place}', classname=path)}>"
        yield f"      <{element}{verdict}>{escape(_legal(f'{path}{place}: {finding.message}'))}"
        if finding.hint:
            yield f"hint: {escape(_legal(finding.hint))}"
        yield f"engine: {finding.engine}</{element}>"
        yield "    </testcase>"
    yield "  </testsuite>"


def _attributes(**values: str | int) -> str:
    return "".join(f" {name}={quoteattr(_legal(str(value)))}" for name, value in values.items())


def _legal(text: str) -> str:
    """Return the text without characters that XML cannot contain, even escaped."""
    return _ILLEGAL.sub(lambda match: f"\\u{ord(match.group()):04x}", visible(text))
