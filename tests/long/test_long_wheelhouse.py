"""The recipe of docs/guide.md for hosts without a network, run as the page shows it. It needs a network itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FETCH, INSTALL = re.findall(r"```sh\n(python3 -m .*?)```", (ROOT / "docs/guide.md").read_text("utf-8"), re.DOTALL)
IGNORED = shutil.ignore_patterns(".*", "__pycache__", "tests", "benchmarks")


def sh(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    words = ["bash", "-euo", "pipefail", "-c", script]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, **variables}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheelhouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = shutil.copytree(ROOT, tmp_path_factory.mktemp("checkout") / "opsinfo", ignore=IGNORED)
    done = sh(FETCH, place)
    if done.returncode:
        pytest.skip(f"nothing can be fetched here: {done.stderr.strip().splitlines()[-1]}")
    return place / "wheelhouse"


def test_one_wheelhouse_serves_both_architectures(wheelhouse: Path) -> None:
    bound = sorted(path.name.split("-")[0] for path in wheelhouse.iterdir() if not path.name.endswith("-any.whl"))
    assert bound == ["rpds_py", "rpds_py"]
    for machine in ("x86_64", "aarch64"):
        assert len(list(wheelhouse.glob(f"rpds_py-*manylinux2014_{machine}.whl"))) == 1


def test_this_host_installs_from_the_wheelhouse_alone(wheelhouse: Path, tmp_path: Path) -> None:
    shutil.copytree(wheelhouse, tmp_path / "wheelhouse")
    done = sh(INSTALL, tmp_path, PIP_FIND_LINKS="", PIP_INDEX_URL="", PIP_EXTRA_INDEX_URL="")
    assert done.returncode == 0, done.stderr
    mixlist = ROOT / "fixtures/mixlists/good/several-operators.json"
    ran = sh(f"opsinfo/bin/opsinfo validate {mixlist} --against {ROOT}/fixtures/opp --soc ascend910b", tmp_path)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_host_of_either_architecture_finds_every_wheel(wheelhouse: Path, tmp_path: Path, machine: str) -> None:
    script = (
        "python3 -m pip install --no-index --find-links wheelhouse --only-binary=:all: "
        f"--platform manylinux2014_{machine} --target {tmp_path} opsinfo"
    )
    done = sh(script, wheelhouse.parent, PIP_FIND_LINKS="", PIP_INDEX_URL="", PIP_EXTRA_INDEX_URL="")
    assert done.returncode == 0, done.stderr
    (native,) = (tmp_path / "rpds").glob("*.so")
    assert machine in native.name
