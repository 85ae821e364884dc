"""The Dockerfile of docs/fleet.md, step by step in a small root: `OPSINFO_TEST_ROOT` names one with Python and venv."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "fleet.md").read_text("utf-8")
STEPS = re.search(r"```dockerfile\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()  # type: ignore[index]
FETCH = re.search(r"```sh\n(python3 -m pip wheel.*?)```", (ROOT / "docs/guide.md").read_text("utf-8"), re.DOTALL)[1]  # type: ignore[index]
GIVEN = os.environ.get("OPSINFO_TEST_ROOT", "")

pytestmark = [
    pytest.mark.skipif(not os.path.isdir(GIVEN), reason="OPSINFO_TEST_ROOT names no root to build in"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its root"),
]


@pytest.fixture
def context(tmp_path: Path) -> Path:
    """The wheelhouse beside the Dockerfile."""
    ignored = shutil.ignore_patterns(".*", "__pycache__", "tests", "benchmarks")
    place = shutil.copytree(ROOT, tmp_path / "context", ignore=ignored)
    done = subprocess.run(["bash", "-euc", FETCH], cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be fetched here: {done.stderr.strip().splitlines()[-1]}")
    return place


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """A copy of the root, with the fixtures at the place of CANN."""
    place = tmp_path / "image"
    subprocess.run(["cp", "-a", GIVEN, place], check=True)
    shutil.copytree(ROOT / "fixtures" / "opp", place / "usr/local/Ascend/ascend-toolkit/latest/opp")
    return place


def inside(image: Path, script: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    words = ["chroot", str(image), "/bin/sh", "-c", script]
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False)


def build(context: Path, image: Path) -> subprocess.CompletedProcess[str]:
    """Run the page's lines like a builder, up to the first failure."""
    arguments: dict[str, str] = {}
    done = inside(image, "true")
    for step in STEPS:
        verb, rest = step.split(" ", 1)
        if verb == "ARG" and "=" in rest:
            name, _, value = rest.partition("=")
            arguments[name] = value
        elif verb == "COPY":
            source, target = rest.split()
            at = image / target.lstrip("/")
            at.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (context / source).is_dir() else shutil.copy)(context / source, at)
        elif verb == "RUN":
            for name, value in arguments.items():
                rest = rest.replace(f"${{{name}}}", value)
            done = inside(image, rest)
            if done.returncode:
                break
    return done


def test_the_image_has_the_mixlist_and_libraries_with_the_same_policies(context: Path, image: Path) -> None:
    shutil.copy(ROOT / "fixtures/mixlists/good/several-operators.json", context / "ops_info.json")
    done = build(context, image)
    assert done.returncode == 0, done.stderr
    tool = "/opt/opsinfo/bin/opsinfo"
    opp = "/usr/local/Ascend/ascend-toolkit/latest/opp"
    found = inside(image, f"{tool} list {opp} --soc ascend910b --format json")
    policies = {each["name"]: each["policy"] for each in json.loads(found.stdout)["operators"]}
    assert (policies["SoftmaxV2"], policies["Conv2D"], policies["L2Loss"]) == ("black", "gray", "white")
    assert inside(image, f"{tool} apply {opp} /opt/opsinfo/ops_info.json --soc ascend910b --check").returncode == 0
    assert inside(image, f"{tool} restore {opp} --backup-dir /opt/opsinfo/backups").returncode == 0
    restored = image / "usr/local/Ascend/ascend-toolkit/latest/opp"
    for path in (ROOT / "fixtures" / "opp").rglob("*.json"):
        assert (restored / path.relative_to(ROOT / "fixtures" / "opp")).read_bytes() == path.read_bytes()


def test_a_misspelt_operator_ends_the_build(context: Path, image: Path) -> None:
    (context / "ops_info.json").write_text('{"black-list": {"to-add": ["softmaxV2"]}}')
    done = build(context, image)
    assert done.returncode == 1
    assert "did you mean `SoftmaxV2`?" in done.stdout
    assert not (image / "opt/opsinfo/backups").exists()


def test_the_root_has_the_python_of_the_wheelhouse() -> None:
    output = inside(Path(GIVEN), "python3 -c 'import sys; print(sys.version_info[:2])'").stdout
    assert output.strip() == str(sys.version_info[:2])
