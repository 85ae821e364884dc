"""The checks of `docs/checks` that users copy, with stand-ins for the programs of Ascend."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="the checks compare with numpy")

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """#!/bin/sh
value() { echo "$words" | sed -n "s/^--$1=//p"; }
words=$(printf '%s\\n' "$@")
"""
RUN = """#!{python}
import sys
from pathlib import Path
import numpy as np
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
out = Path(words["--output"], "2026_11_26")
out.mkdir()
text = Path(words["--model"]).read_text()
np.array([1, 2, 3 if '"SoftmaxV2"' in text else 9], np.float32).tofile(out / "model_output_0.bin")
"""
LITE = """
import numpy as np
class Context: ...
class ModelType: MINDIR = 0
class Tensor:
    def set_data_from_numpy(self, array): self.array = array
    def get_data_to_numpy(self): return self.array
class Model:
    def build_from_file(self, path, kind, context): self.text = open(path).read()
    def get_inputs(self): return [Tensor()]
    def predict(self, tensors):
        tensors[0].array = tensors[0].array * ([1, 1, 1] if '"SoftmaxV2"' in self.text else [1, 1, 3])
        return tensors
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with the checks, a model, inputs, a reference, and stand-ins for the programs in `bin`."""
    shutil.copytree(ROOT / "docs" / "checks", tmp_path / "checks")
    (tmp_path / "checks" / "model.onnx").write_bytes(b"")
    for name in ("inputs", "reference", "bin"):
        (tmp_path / ("bin" if name == "bin" else f"checks/{name}")).mkdir()
    np.save(tmp_path / "checks/inputs/0.npy", np.array([1, 2, 3], np.float32))
    np.array([1, 2, 3], np.float32).tofile(tmp_path / "checks/reference/0.bin")
    broken = 'grep -q Broken "$list" && { echo E10001; exit 1; }\n'
    programs = {
        "atc": f"{PROGRAM}out=$(value output) list=$(value modify_mixlist)\n{broken}cp $list $out.om\n",
        "msame": RUN.format(python=sys.executable),
        "converter_lite": f"{PROGRAM}out=$(value outputFile) config=$(value configFile)\n"
        f"list=$(sed -n '/acl_build/,$s/^ge.exec.modify_mixlist=//p' $config)\n{broken}cp $list $out.mindir\n",
        "python3": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
    }
    for name, text in programs.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "bin" / "mindspore_lite.py").write_text(LITE)
    return tmp_path


def _run(place: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": f"{place / 'bin'}:{ROOT}"}
    return subprocess.run([*map(str, words)], capture_output=True, text=True, cwd=place, env=env, timeout=120)


@pytest.mark.parametrize("check", ["check-atc.sh", "check-converter-lite.sh"])
def test_a_search_with_the_check_finds_what_must_stay_high(place: Path, check: str) -> None:
    if not shutil.which("sh"):
        pytest.skip("no shell")
    target = ROOT / "fixtures" / "opp"
    words = ["--against", f"{target}@ascend910b", "--among", "SoftmaxV2", "--among", "Relu", "--max-drop", "0.001"]
    command = [sys.executable, "-m", "opsinfo_cli", "bisect", *words, "-o", "out.json"]
    done = _run(place, *command, "--", place / "checks" / check, "{mixlist}", "{trial}")
    assert done.returncode == 0, done.stderr
    assert "SoftmaxV2" in (place / "out.json").read_text()
    assert "Relu" not in (place / "out.json").read_text()


@pytest.mark.parametrize("check", ["check-atc.sh", "check-converter-lite.sh"])
def test_what_does_not_compile_fails_and_a_missing_program_ends_the_search(place: Path, check: str) -> None:
    (place / "trial").mkdir()
    (place / "broken.json").write_text('{"black-list": {"to-add": ["Broken"]}}')
    done = _run(place, place / "checks" / check, place / "broken.json", place / "trial")
    assert (done.returncode, done.stdout.splitlines()) == (1, ["E10001", "not compiled: loss inf"])
    (place / "bin" / ("atc" if "atc" in check else "converter_lite")).unlink()
    done = _run(place, place / "checks" / check, place / "broken.json", place / "trial")
    assert (done.returncode, "is not in PATH" in done.stderr) == (126, True)


def test_outputs_that_do_not_fit_cannot_tell_and_a_bound_fails(place: Path) -> None:
    compare: list[str | Path] = [sys.executable, place / "checks" / "compare.py"]
    (place / "out").mkdir()
    assert _run(place, *compare, place / "out", place / "checks/reference").returncode == 125
    np.array([1, 2, np.nan], np.float32).tofile(place / "out/0.bin")
    done = _run(place, *compare, place / "out", place / "checks/reference", "0.5")
    assert (done.returncode, done.stdout) == (1, "loss inf\n")
    np.array([1, 2, 3], np.float32).tofile(place / "out/0.bin")
    done = _run(place, *compare, place / "out", place / "checks/reference", "0")
    assert (done.returncode, done.stdout) == (0, "loss 0\n")
