"""Reports for programs: each matches its schema or documented rules, with no, one and ten thousand findings."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable
from email.message import Message
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from report_support import ROOT, SITUATIONS, checked, finding, many

from opsinfo_cli.core.check import reports
from opsinfo_cli.core.check.checked import Checked, Ignored
from opsinfo_cli.core.check.reports.github import github
from opsinfo_cli.core.check.reports.gitlab import gitlab
from opsinfo_cli.core.check.reports.junit import junit
from opsinfo_cli.core.check.reports.sarif import sarif
from opsinfo_cli.core.check.rules import RULES
from opsinfo_cli.core.terminal.findings import REPORTS

HERE = Path(__file__).parent
ALL = pytest.mark.parametrize("situation", SITUATIONS.values(), ids=list(SITUATIONS))


@cache
def ten_thousand() -> Checked:
    return checked(many(10_000))


def sarif_results(situation: Checked) -> str:
    """What a report says of the files, without the rules of the tool, which every report has, and their indexes."""
    (run,) = json.loads(sarif(situation))["runs"]
    del run["tool"]
    for result in run["results"]:
        del result["ruleIndex"]
    return json.dumps(run, indent=2, ensure_ascii=False) + "\n"


WRITTEN: dict[str, Callable[[Checked], str]] = {
    "github.txt": github,
    "gitlab.json": gitlab,
    "junit.xml": junit,
    "sarif.json": sarif_results,
}


@pytest.mark.parametrize("report", WRITTEN)
@pytest.mark.parametrize("name", SITUATIONS)
def test_a_report_is_that_of_the_golden_file(name: str, report: str) -> None:
    """Only GitHub's report depends on the number of findings."""
    kind, _, ending = report.partition(".")
    path = HERE / kind / f"{name}.{ending}"
    if kind == "github" or not name.startswith("more-"):
        assert WRITTEN[report](SITUATIONS[name]) == path.read_text("utf-8")
    else:
        assert not path.exists()


def test_every_golden_file_is_one_of_a_situation() -> None:
    kinds = [report.partition(".")[0] for report in WRITTEN]
    assert {path.stem for kind in kinds for path in (HERE / kind).iterdir()} == set(SITUATIONS)


def test_github_shows_the_worst_of_ten_thousand_and_counts_the_rest() -> None:
    lines = github(ten_thousand()).splitlines()
    kinds = Counter(line.split(" ")[0] for line in lines)
    assert kinds == {"::error": 10, "::warning": 10, "::notice": 10}
    assert lines[-1] == f"::notice title=opsinfo::{10_000 - 29} more in the log"


@pytest.mark.parametrize("remarks", [0, 1], ids=["whole", "with-ignored"])
@pytest.mark.parametrize(
    ("notes", "warnings"),
    [(("new-policy", 11), 1), (("new-policy", 10), 0), (("bom", 10), 12), (("bom", 9), 11), (("bom", 10), 1)],
)
def test_github_keeps_ten_notices_with_those_that_count_and_every_warning(
    notes: tuple[str, int], warnings: int, remarks: int
) -> None:
    name, count = notes
    found = [finding(name, n) for n in range(1, count + 1)]
    situation = checked([*(finding("duplicate-operator", n) for n in range(1, warnings + 1)), *found])
    situation.ignored = Ignored("opsinfo.toml", 7 * remarks)
    lines = github(situation).splitlines()
    kinds = Counter(line.split(" ")[0] for line in lines)
    assert kinds["::warning"] == min(10, warnings)
    shown = sum(name in line for line in lines)
    hidden = count - shown + max(0, warnings - 10)
    assert kinds["::notice"] == shown + (hidden > 0) + remarks <= 10
    assert not hidden or f"::notice title=opsinfo::{hidden} more in the log" in lines
    assert shown == min(count, 10 - remarks - (hidden > 0))


def gitlab_faults(issues: list[dict[str, Any]]) -> list[str]:
    """The requirements of GitLab's manual, which has no schema."""
    faults = []
    for issue in issues:
        location = issue["location"]
        if not all(isinstance(issue[key], str) and issue[key] for key in ("description", "check_name", "fingerprint")):
            faults.append(f"a string is missing: {issue}")
        if issue["severity"] not in ("info", "minor", "major", "critical", "blocker"):
            faults.append(issue["severity"])
        if not location["path"] or location["path"].startswith("./") or "\\" in location["path"].replace("\\x", ""):
            faults.append(location["path"])
        if not (isinstance(location["lines"]["begin"], int) and location["lines"]["begin"] >= 1):
            faults.append(str(location))
    prints = [issue["fingerprint"] for issue in issues]
    return faults + [f"{len(prints) - len(set(prints))} equal fingerprints"] * (len(set(prints)) < len(prints))


@ALL
def test_gitlab_reports_follow_its_rules(situation: Checked) -> None:
    issues = json.loads(gitlab(situation))
    assert len(issues) == len(situation.findings) + len(situation.failures)
    assert gitlab_faults(issues) == []


def test_a_gitlab_report_has_ten_thousand_issues() -> None:
    issues = json.loads(gitlab(ten_thousand()))
    assert (len(issues), gitlab_faults(issues)) == (10_000, [])


@ALL
def test_sarif_reports_match_the_schema(situation: Checked, report_schemas: Path) -> None:
    assert sarif_faults(json.loads(sarif(situation)), report_schemas) == []


def test_a_sarif_report_has_ten_thousand_results(report_schemas: Path) -> None:
    document = json.loads(sarif(ten_thousand()))
    results = document["runs"][0]["results"]
    assert len(results) == 10_000
    assert len({result["partialFingerprints"]["opsinfo/v1"] for result in results}) == 10_000
    document["runs"][0]["results"] = results[::40]  # the checker is slow, and they are all made alike
    assert sarif_faults(document, report_schemas) == []


def sarif_faults(document: Any, schemas: Path) -> list[str]:
    from jsonschema import Draft7Validator

    validator = Draft7Validator(json.loads((schemas / "sarif-schema-2.1.0.json").read_text("utf-8")))
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(document)]


@pytest.mark.parametrize("urls", [[], ["Documentation, https://docs.example.com/a, b", "Source, https://example.com"]])
def test_the_address_in_sarif_is_the_first_of_the_package_and_never_null(
    monkeypatch: pytest.MonkeyPatch, urls: list[str]
) -> None:
    package = Message()
    for url in urls:
        package["Project-URL"] = url
    monkeypatch.setattr("importlib.metadata.metadata", lambda name: package)
    driver = json.loads(sarif(ten_thousand()))["runs"][0]["tool"]["driver"]
    assert driver.get("informationUri", "absent") == ("https://docs.example.com/a, b" if urls else "absent")


def test_sarif_has_every_rule_with_help_and_results_refer_to_their_rule() -> None:
    run = json.loads(sarif(ten_thousand()))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["name"] for rule in rules] == list(RULES)
    assert all(rule["help"]["text"] and rule["help"]["markdown"] and rule["shortDescription"]["text"] for rule in rules)
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])


def test_sarif_paths_are_uris_from_the_root_of_the_repository() -> None:
    def artifact(name: str) -> dict[str, str]:
        result = json.loads(sarif(SITUATIONS[name]))["runs"][0]["results"][0]
        location: dict[str, str] = result["locations"][0]["physicalLocation"]["artifactLocation"]
        return location

    assert artifact("one-error") == {"uri": "a.json", "uriBaseId": "%SRCROOT%"}
    assert artifact("everything-to-escape")["uri"] == "a%3Ab%2Cc%25d%20%E6%96%87.json"
    assert artifact("outside-the-repository") == {"uri": "file:///elsewhere/b.json"}


def test_sarif_fixes_replace_the_span_of_the_edit() -> None:
    (fix,) = json.loads(sarif(checked(many(1))))["runs"][0]["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    region = {"startLine": 1, "startColumn": 7, "endLine": 1, "endColumn": 11}
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": "Add"}}]


def test_sarif_lists_files_that_could_not_be_checked() -> None:
    (invocation,) = json.loads(sarif(SITUATIONS["unreadable"]))["runs"][0]["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 3)
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "Permission denied"


@ALL
def test_junit_reports_match_the_schema(situation: Checked, report_schemas: Path) -> None:
    xmlschema = pytest.importorskip("xmlschema", reason="only xmlschema reads the schema of JUnit reports")
    schema = xmlschema.XMLSchema(str(report_schemas / "junit-10.xsd"))
    assert [str(error) for error in schema.iter_errors(ElementTree.fromstring(junit(situation)))] == []


@ALL
def test_junit_counts_are_those_of_its_cases(situation: Checked) -> None:
    root = ElementTree.fromstring(junit(situation))
    assert root.attrib["tests"] == str(len(root.findall(".//testcase")))
    for suite in root:
        for attribute, element in (
            ("tests", "testcase"),
            ("failures", ".//failure"),
            ("errors", ".//error"),
            ("skipped", ".//skipped"),
        ):
            assert suite.attrib[attribute] == str(len(suite.findall(element)))


def test_a_junit_report_has_ten_thousand_cases_in_a_suite_for_each_file() -> None:
    root = ElementTree.fromstring(junit(ten_thousand()))
    assert (len(root.findall(".//testcase")), len(root.findall("testsuite"))) == (10_000, 6)


def test_junit_of_a_clean_file_is_one_case_that_passes() -> None:
    (suite,) = ElementTree.fromstring(junit(SITUATIONS["nothing"]))
    (case,) = suite
    assert (suite.attrib["name"], case.attrib["name"], list(case)) == ("clean.json", "No findings", [])


def test_junit_fails_if_the_exit_status_does() -> None:
    findings = [finding("no-effect"), finding("bom", hint=None)]
    for strict, failures in ((False, 0), (True, 1)):
        situation = checked(findings, strict=strict)
        assert (len(re.findall("<failure", junit(situation))), situation.status) == (failures, failures)


def test_paths_are_relative_to_the_root() -> None:
    for text in (github(SITUATIONS["one-error"]), gitlab(SITUATIONS["one-error"]), junit(SITUATIONS["one-error"])):
        assert "a.json" in text
        assert ROOT not in text


def test_the_reports_are_the_modules_with_a_function_of_their_name() -> None:
    modules = {path.stem for path in Path(reports.__path__[0]).glob("[a-z]*.py")}
    assert modules == set(REPORTS)
    for name in REPORTS:
        assert callable(getattr(import_module(f"{reports.__name__}.{name}"), name))


@pytest.mark.parametrize("name", ["a--b", "a---b", "-----", "b-"])
def test_a_name_of_many_dashes_is_no_end_of_a_comment_of_junit(name: str) -> None:
    situation = checked([])
    situation.ignored = Ignored(f"{name}/opsinfo.toml", 1)
    assert ElementTree.fromstring(junit(situation)).tag == "testsuites"
