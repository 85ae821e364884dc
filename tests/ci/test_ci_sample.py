"""The sample repository: its snapshots are up to date, its mixlists work on both chips."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ci_support import ROOT, SAMPLE, committed
from jsonschema import Draft7Validator

Run = Callable[..., Any]


@pytest.mark.parametrize("soc", ["ascend910", "ascend910b"])
def test_the_snapshots_of_the_sample_are_those_of_the_fixtures(opsinfo: Run, fixtures: Path, soc: str) -> None:
    path = SAMPLE / f"snapshots/{soc}.opsinfo.json"
    ran = opsinfo("snapshot", fixtures / "opp", "--soc", soc, "-o", path, "--check")
    assert ran.code == 0, "take it again: opsinfo snapshot fixtures/opp --soc SOC -o FILE"


def test_the_sample_has_no_findings_with_its_own_configuration(opsinfo: Run, sample: Path) -> None:
    ran = opsinfo("validate", ".", "--format", "json", cwd=sample)
    assert (ran.code, ran.json["findings"]) == (0, [])
    assert [file["path"] for file in ran.json["files"]][:2] == [
        "mixlists/base.mixlist.json",
        "mixlists/bert.mixlist.json",
    ]
    assert len(ran.json["against"]) == 2


def test_entries_for_one_chip_only_are_reported(opsinfo: Run, sample: Path) -> None:
    path = sample / "mixlists/new.mixlist.json"
    path.write_text(json.dumps({"black-list": {"to-add": ["BatchMatMulV2"]}}), "utf-8")
    (finding,) = opsinfo("validate", ".", "--format", "json", cwd=sample).json["findings"]
    assert finding["path"] == "mixlists/new.mixlist.json"
    assert "an op type of ascend910b, but not of ascend910, where" in finding["message"]


def wrong_list(sample: Path) -> str:
    """A mixlist with a misspelt name, and a name that only one chip has."""
    path = "mixlists/new.mixlist.json"
    (sample / path).write_text(json.dumps({"black-list": {"to-add": ["MatMu1V2", "BatchMatMulV2"]}}), "utf-8")
    return path


REPORTS = ["--report", "sarif:out.sarif", "--report", "junit:out.xml", "--report", "gitlab:out.json"]


def test_one_run_gives_people_text_and_machines_their_files(opsinfo: Run, sample: Path) -> None:
    committed(sample)
    path = wrong_list(sample)
    ran = opsinfo("validate", ".", *REPORTS, cwd=sample)
    assert (ran.code, "did you mean `MatMulV2`?" in ran.out) == (1, True)
    (results,) = [run["results"] for run in json.loads((sample / "out.sarif").read_bytes())["runs"]]
    places = [each["locations"][0]["physicalLocation"] for each in results]
    assert {place["artifactLocation"]["uri"] for place in places} == {path}
    assert [each["level"] for each in results] == ["error", "warning"]
    suites = {
        suite.attrib["name"]: suite.attrib["failures"] for suite in ElementTree.parse(sample / "out.xml").getroot()
    }
    assert [name for name, failures in suites.items() if failures != "0"] == [path]
    assert [issue["location"]["path"] for issue in json.loads((sample / "out.json").read_bytes())] == [path, path]


def test_the_reports_of_the_sample_match_the_schemas_of_the_formats(
    opsinfo: Run, sample: Path, report_schemas: Path
) -> None:
    xmlschema = pytest.importorskip("xmlschema", reason="only xmlschema reads the schema of JUnit reports")
    wrong_list(sample)
    opsinfo("validate", ".", *REPORTS, cwd=sample)
    xmlschema.XMLSchema(str(report_schemas / "junit-10.xsd")).validate(str(sample / "out.xml"))
    schema = json.loads((report_schemas / "sarif-schema-2.1.0.json").read_bytes())
    faults = Draft7Validator(schema).iter_errors(json.loads((sample / "out.sarif").read_bytes()))
    assert [fault.message for fault in faults] == []


def test_known_findings_pass_until_a_new_one_appears(opsinfo: Run, sample: Path) -> None:
    path = wrong_list(sample)
    assert opsinfo("validate", ".", "--baseline", "known.json", "--update-baseline", cwd=sample).code == 0
    assert opsinfo("validate", ".", "--baseline", "known.json", cwd=sample).code == 0
    (sample / path).write_text(json.dumps({"black-list": {"to-add": ["MatMu1V2", "SoftmaxV3"]}}), "utf-8")
    (new,) = opsinfo("validate", ".", "--baseline", "known.json", "--format", "json", cwd=sample).json["findings"]
    assert "SoftmaxV3" in new["message"]


@pytest.mark.parametrize(("language", "name"), [("toml", "opsinfo.toml"), ("yaml", ".pre-commit-config.yaml")])
def test_the_page_shows_the_files_of_the_sample(language: str, name: str) -> None:
    page = (ROOT / "docs/ci.md").read_text("utf-8")
    assert f"```{language}\n{(SAMPLE / name).read_text('utf-8')}```\n" in page


def test_the_page_names_inputs_that_the_action_has() -> None:
    yaml = pytest.importorskip("yaml")
    page = (ROOT / "docs/ci.md").read_text("utf-8")
    (steps,) = [block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "uses: owner/opsinfo" in block]
    known = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    assert set(yaml.safe_load(steps)[1]["with"]) <= set(known)


RECIPES = {
    # service: (its heading, where a step names the file of a report)
    "github": ("GitHub Actions", {"sarif": r"sarif_file: (\S+)"}),
    "gitlab": ("GitLab", {"gitlab": r"codequality: (\S+)", "junit": r"junit: (\S+)"}),
    "jenkins": ("Jenkins", {"junit": r"junit '([^']+)'", "sarif": r"sarif\(pattern: '([^']+)'\)"}),
}


@pytest.mark.parametrize("service", RECIPES)
@pytest.mark.parametrize("wrong", [False, True], ids=["right", "wrong"])
def test_the_command_of_a_recipe_writes_the_reports_that_its_other_steps_read(
    opsinfo: Run, sample: Path, monkeypatch: pytest.MonkeyPatch, service: str, wrong: bool
) -> None:
    heading, patterns = RECIPES[service]
    part = (ROOT / "docs/ci.md").read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    recipe = re.findall(r"```(?:yaml|groovy)\n(.*?)```", part, re.DOTALL)[0]
    committed(sample)
    path = wrong_list(sample) if wrong else ""
    monkeypatch.setenv("GITHUB_ACTIONS", "true") if service == "github" else None
    (line,) = re.findall(r"""opsinfo"? (validate [^'\n]+)""", recipe)
    ran = opsinfo(*shlex.split(line), cwd=sample)
    assert ran.code == wrong
    annotations = re.findall(rf"^::error title=opsinfo \(M005 unknown-operator\),file={path},line=1", ran.out, re.M)
    assert bool(annotations) is (wrong and service == "github")
    reports = dict(word.split(":") for word in re.findall(r"--report (\S+)", line))
    assert {name: re.findall(pattern, recipe) for name, pattern in patterns.items()} == {
        name: [file] for name, file in reports.items()
    }
    for name, file in reports.items():
        text = (sample / file).read_text("utf-8")
        assert path in text
        assert ElementTree.fromstring(text).tag == "testsuites" if name == "junit" else json.loads(text) or not wrong


def recipe_of_merge_requests(service: str) -> list[str]:
    part = (ROOT / "docs/ci.md").read_text("utf-8").split("\n## Merge requests\n")[1].split("\n## ")[0]
    recipe = re.findall(r"```yaml\n(.*?)```", part, re.DOTALL)[{"github": 0, "gitlab": 1}[service]]
    (line,) = re.findall(r"opsinfo (validate [^\n]+)", recipe)
    return shlex.split(line)


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_the_recipe_of_merge_requests_annotates_policies_and_new_mistakes(
    opsinfo: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: str
) -> None:
    shutil.copytree(ROOT / "fixtures/custom-ops", tmp_path / "change")
    change = tmp_path / "change"
    (change / "standing_mixlist.json").write_text('{"grey-list": {}}')
    committed(change)
    source = change / "op_host/log_custom.cpp"
    source.write_text(source.read_text().replace("PrecisionReduceFlag(false)", "PrecisionReduceFlag(true)"))
    (change / "op_host/sub_custom.cpp").write_text(
        (change / "op_host/add_custom.cpp").read_text().replace("AddCustom", "SubCustom")
    )
    (change / "op_host/scatter_custom.cpp").unlink()
    (change / "new_mixlist.json").write_text('{"grey-list": {}}')
    base = subprocess.run(["git", "-C", change, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    committed(change)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    words = [
        word.replace("$CI_MERGE_REQUEST_DIFF_BASE_SHA", base.strip()) for word in recipe_of_merge_requests(service)
    ]
    ran = opsinfo(*words, cwd=change)
    assert ran.code == 1
    said = [line for line in ran.out.splitlines() if line.startswith("::") and "file=" in line]
    assert [re.findall(r"\((\w+) .*file=([^,:]+)(?:,line=([0-9]+))?", line)[0] for line in said] == [
        ("M001", "new_mixlist.json", "1"),
        ("D013", "op_host", ""),
        ("D013", "op_host", ""),
        ("D012", "op_host/log_custom.cpp", "12"),
        ("D011", "op_host/sub_custom.cpp", "20"),
        ("D011", "op_host/sub_custom.cpp", "21"),
    ]
