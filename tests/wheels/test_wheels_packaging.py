"""Releases: the wheel in a bare environment, outside the checkout, and the contents of the sdist.

`.ci/run wheels` builds both and names their folder in ``OPSINFO_DIST``; without it they are built here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

import opsinfo_cli

ROOT = Path(__file__).resolve().parents[2]
GIVEN = os.environ.get("OPSINFO_DIST")
"""Read before a fixture removes all variables that begin with OPSINFO_."""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel."""
    if GIVEN:
        return Path(GIVEN)
    pytest.importorskip("build", reason="`build` makes sdist and wheel (the extra `release`)")
    target = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(target), str(ROOT)], check=True, capture_output=True)
    return target


@pytest.fixture(scope="module")
def bare(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with only the wheel and its dependencies."""
    place = tmp_path_factory.mktemp("bare")
    venv.create(place, with_pip=True)
    wheel = next(dist.glob("opsinfo-*.whl"))
    python = place / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", str(wheel)], check=True, capture_output=True)
    return place


def run(bare: Path, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(bare / "bin" / "opsinfo"), *args], cwd=cwd, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )


def test_the_wheel_runs_the_main_job_in_a_bare_environment(bare: Path, tmp_path: Path, fixtures: Path) -> None:
    done = run(bare, "list", str(fixtures / "opp"), "--soc", "ascend910b", "--format", "json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["total"] == 40


def test_the_wheel_carries_the_schemas_that_validate_needs(bare: Path, tmp_path: Path) -> None:
    mixlist = tmp_path / "ops_info.json"
    mixlist.write_text('{"black-list": {"to_add": []}}')
    done = run(bare, "validate", str(mixlist), cwd=tmp_path)
    assert done.returncode == 1
    assert "error[M002]" in done.stdout
    shipped = set(run(bare, "schema", cwd=tmp_path).stdout.split())
    assert shipped == {path.name.removesuffix(".schema.json") for path in (ROOT / "schemas").glob("*.schema.json")}


def test_the_wheel_carries_the_facts_about_other_systems(bare: Path, tmp_path: Path) -> None:
    assert run(bare, "systems", "show", "apex:O1", cwd=tmp_path).stdout.startswith("conv1d\tlow")
    assert run(bare, "modes", "--snippet", "atc", cwd=tmp_path).stdout.startswith("--precision_mode_v2=mixed_float16")


def test_the_wheel_is_marked_as_typed(bare: Path) -> None:
    code = "import importlib.resources as r; print(r.files('opsinfo_cli').joinpath('py.typed').is_file())"
    done = subprocess.run([str(bare / "bin" / "python"), "-c", code], cwd=bare, capture_output=True, text=True)
    assert done.stdout == "True\n"


def test_the_wheel_carries_the_scripts_of_the_shells(bare: Path, tmp_path: Path) -> None:
    for shell in ("bash", "zsh", "fish"):
        assert f"{shell}_complete" in run(bare, "completion", shell, cwd=tmp_path).stdout


def test_the_wheel_carries_the_parts_of_a_page(bare: Path, tmp_path: Path, fixtures: Path) -> None:
    done = run(bare, "list", str(fixtures / "opp-old"), "--format", "html", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("<!DOCTYPE html>")


def test_every_command_of_the_wheel_shows_its_help(bare: Path, tmp_path: Path) -> None:
    listed = run(bare, "--help", cwd=tmp_path).stdout
    commands = re.findall(r"^  ([a-z][a-z-]*)  +[A-Z]", listed, re.MULTILINE)
    assert len(commands) > 10
    for command in commands:
        done = run(bare, command, "--help", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), command


def test_wheel_and_sdist_have_the_version_of_the_package(dist: Path) -> None:
    version = opsinfo_cli.__version__
    assert {path.name for path in dist.iterdir() if path.suffix != ".pex"} == {
        f"opsinfo-{version}-py3-none-any.whl",
        f"opsinfo-{version}.tar.gz",
    }


def test_the_sdist_has_what_tests_and_contributors_need(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    for needed in (
        "schemas/mixlist.schema.json",
        "fixtures/opp/version.info",
        "tests/conftest.py",
        "tests/sample-repository/old/ops_info.json",
        "action/validate.sh",
        ".ci/run",
        ".github/workflows/ci.yml",
        ".pre-commit-hooks.yaml",
        "CONTRIBUTING.md",
        "mkdocs.yml",
        "README.md",
        "LICENSE",
    ):
        assert needed in names
