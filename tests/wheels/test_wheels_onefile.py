"""The one file of `.ci/onefile.sh`, on a host without packages, without a network, and with a home of its own."""

from __future__ import annotations

import os
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from test_wheels_packaging import GIVEN

import opsinfo_cli

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def onefile() -> Path:
    found = sorted(Path(GIVEN).glob("*.pex")) if GIVEN else []
    if not found:
        pytest.skip("OPSINFO_DIST names no folder with a .pex: .ci/onefile.sh makes it")
    return found[0]


@pytest.fixture(scope="module")
def run(onefile: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run the file with an interpreter that has no package, in a network namespace without a device if there can be."""
    place = tmp_path_factory.mktemp("bare")
    venv.create(place / "venv", with_pip=False)
    python = str(place / "venv/bin/python")
    assert subprocess.run([python, "-c", "import click"], capture_output=True, check=False).returncode == 1
    alone = ["unshare", "--net", "--map-root-user"]
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        alone = []

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*alone, python, str(onefile), *map(str, words)],
            cwd=place,
            env={"PATH": os.defpath, "HOME": str(place)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_it_is_this_version_and_needs_nothing(run: Run) -> None:
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"opsinfo {opsinfo_cli.__version__}\n", "")


def test_it_has_data_schemas_and_jsonschema(run: Run, fixtures: Path, tmp_path: Path) -> None:
    known = tmp_path / "known.json"
    known.write_text('{"schema_version": 1, "kind": "opsinfo-baseline", "findings": []}')
    good = fixtures / "mixlists/good/add-black.json"
    done = run("validate", good, "--against", fixtures / "opp@ascend910b", "--baseline", known)
    assert (done.returncode, done.stderr) == (0, "1 file checked: no findings\n"), done.stdout
    assert run("systems", "show", "apex:O1").stdout.startswith("conv1d\tlow")
    assert run("list", fixtures / "opp@ascend910b", "--format", "html").stdout.startswith("<!DOCTYPE html>")


def test_it_reads_models(run: Run, onefile: Path, fixtures: Path, tmp_path: Path) -> None:
    """A dump needs no package; ONNX needs those that only the larger file has."""
    assert run("graph", fixtures / "graphs/ge_proto_00020_FeTopoSortingAfter.txt").returncode == 0
    model = tmp_path / "model.onnx"
    model.write_bytes(b"\x08\x08\x3a\x03\x12\x01g\x42\x02\x10\x11")  # ir_version 8, graph `g`, opset 17
    done = run("graph", model, "--against", fixtures / "opp@ascend910b")
    expected = (0, "") if "-models-" in onefile.name else (3, "onnx")
    assert (done.returncode, expected[1] in done.stderr) == (expected[0], True), done.stderr
