"""opsinfo in a zip, on a host without compiled packages: every command answers, or says which package is missing."""

from __future__ import annotations

import json
import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cli_support import ROOT

UNCHECKED = py_compile.PycInvalidationMode.UNCHECKED_HASH
COMPILED = ("numpy", "onnx", "onnxruntime", "ray", "rpds")
SESSIONS = (
    "import sys, opsinfo_cli\n"
    f"sys.modules.update(dict.fromkeys({COMPILED[:-1]}))\n"  # the tests need rpds
    "assert opsinfo_cli.__file__.startswith(sys.argv[1]), opsinfo_cli.__file__\n"
    "import pytest\n"
    "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-k', 'not on_a_terminal', sys.argv[2]]))\n"
)
ALONE = f"import sys; sys.modules.update(dict.fromkeys({COMPILED})); from opsinfo_cli.app import main; main()"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with its schemas, as in a wheel."""
    path = tmp_path_factory.mktemp("zip") / "opsinfo.zip"
    compiled = path.with_suffix(".pyc")
    with zipfile.ZipFile(path, "w") as file:
        for folder, place in ((ROOT / "opsinfo_cli", "opsinfo_cli"), (ROOT / "schemas", "opsinfo_cli/schemas")):
            for each in folder.rglob("*"):
                if each.is_file() and "__pycache__" not in each.parts:
                    name = f"{place}/{each.relative_to(folder)}"
                    file.write(each, name)
                    if each.suffix == ".py":  # else each process of a session compiles what it imports
                        code = py_compile.compile(str(each), str(compiled), invalidation_mode=UNCHECKED)
                        file.write(code or "", f"{name}c")
    return path


@pytest.mark.heavy
def test_every_command_gives_its_answers_from_a_zip(archive: Path, tmp_path: Path) -> None:
    """The recorded sessions, which name every command."""
    done = subprocess.run(
        [sys.executable, "-c", SESSIONS, archive, ROOT / "tests/answers"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run(archive: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    shutil.copytree(ROOT / "fixtures", folder, dirs_exist_ok=True)
    return subprocess.run(
        [sys.executable, "-c", ALONE, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.heavy
@pytest.mark.parametrize(
    "words", [("list", "opp@ascend910b"), ("graph", "graphs/ge_proto_00020_FeTopoSortingAfter.txt")]
)
def test_a_page_is_made_from_a_zip(archive: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(archive, tmp_path, *words, "--format", "html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<!DOCTYPE html>")


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("words", "package"),
    [
        (("graph", "model.onnx"), "onnx"),
        (("simulate", "model.onnx", "--against", "opp@ascend910b"), "onnx"),
        (("validate", "mixlists/good/add-black.json", "--model", "model.onnx", "--against", "opp@ascend910b"), "onnx"),
        (("validate", "mixlists/good/add-black.json", "--baseline", "known.json"), "jsonschema"),
        (("numerics", "values.npy"), "numpy"),
    ],
)
def test_a_missing_package_is_named(archive: Path, tmp_path: Path, words: tuple[str, ...], package: str) -> None:
    model = pytest.importorskip("onnx.helper")
    value = model.make_tensor_value_info("x", 1, [1])
    graph = model.make_graph([model.make_node("Relu", ["x"], ["y"])], "g", [value], [])
    (tmp_path / "model.onnx").write_bytes(model.make_model(graph).SerializeToString())
    (tmp_path / "values.npy").write_bytes(b"\x93NUMPY")
    (tmp_path / "known.json").write_text('{"schema_version": 1, "findings": []}')
    done = run(archive, tmp_path, *words, "--format", "json")
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["name"]) in [(3, "missing-package"), (3, "numpy-missing")], error
    assert package in error["message"]
    assert "pip install" in error["hint"]
