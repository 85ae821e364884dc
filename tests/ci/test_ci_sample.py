"""The sample repository as it lies there: its snapshots are true, its lists serve both chips."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ci_support import ROOT, SAMPLE

Run = Callable[..., Any]


@pytest.mark.parametrize("soc", ["ascend910", "ascend910b"])
def test_its_snapshots_are_those_of_the_fixtures(opsinfo: Run, fixtures: Path, soc: str) -> None:
    path = SAMPLE / f"snapshots/{soc}.opsinfo.json"
    ran = opsinfo("snapshot", fixtures / "opp", "--soc", soc, "-o", path, "--check")
    assert ran.code == 0, "take it again: opsinfo snapshot fixtures/opp --soc SOC -o FILE"


def test_it_is_clean_by_its_own_configuration(opsinfo: Run, sample: Path) -> None:
    ran = opsinfo("validate", ".", "--format", "json", cwd=sample)
    assert (ran.code, ran.json["findings"]) == (0, [])
    assert [file["path"] for file in ran.json["files"]][:2] == [
        "mixlists/base.mixlist.json",
        "mixlists/bert.mixlist.json",
    ]
    assert len(ran.json["against"]) == 2


def test_what_serves_one_chip_alone_is_said(opsinfo: Run, sample: Path) -> None:
    path = sample / "mixlists/new.mixlist.json"
    path.write_text(json.dumps({"black-list": {"to-add": ["BatchMatMulV2"]}}), "utf-8")
    (finding,) = opsinfo("validate", ".", "--format", "json", cwd=sample).json["findings"]
    assert finding["path"] == "mixlists/new.mixlist.json"
    assert "not of ascend910 (snapshots/ascend910.opsinfo.json)" in finding["message"]


@pytest.mark.parametrize(("language", "name"), [("toml", "opsinfo.toml"), ("yaml", ".pre-commit-config.yaml")])
def test_the_page_shows_what_the_sample_has(language: str, name: str) -> None:
    page = (ROOT / "docs/ci.md").read_text("utf-8")
    assert f"```{language}\n{(SAMPLE / name).read_text('utf-8')}```\n" in page


def test_the_page_names_inputs_that_the_action_has() -> None:
    yaml = pytest.importorskip("yaml")
    page = (ROOT / "docs/ci.md").read_text("utf-8")
    (steps,) = [block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "uses:" in block]
    known = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["inputs"]
    assert set(yaml.safe_load(steps)[1]["with"]) <= set(known)
