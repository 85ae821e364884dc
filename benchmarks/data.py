"""The input files: copies of real ones, or generated ones of the same shape."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from workplace import ROOT

__all__ = ["Data", "generate", "lay_out"]

CORPUS = Path(os.environ.get("OPSINFO_CORPUS") or ROOT.parent / "shared" / "corpus")
CONFIG = Path("built-in/op_impl/ai_core/tbe/config")
SHAPE_910B = {"cv": 30, "legacy": 818, "math": 34, "nn": 239, "transformer": 259}
"""Package -> number of operators that gives a file as large as the real one."""
SHAPE_910 = 460


@dataclass(frozen=True)
class Data:
    """Two installs.

    :param kind: real or generated
    """

    kind: str
    opp_910b: Path
    opp_910: Path

    @property
    def store_910b(self) -> Path:
        return self.opp_910b / CONFIG / "ascend910b"

    @property
    def store_910(self) -> Path:
        return self.opp_910 / CONFIG / "ascend910"

    @property
    def files(self) -> list[Path]:
        """The libraries of ascend910b in the engine's load order: of equal names the last wins."""
        found = self.store_910b.glob("*.json")
        return sorted(found, key=lambda path: ("legacy" not in path.name, len(path.name), path.name))

    @property
    def largest(self) -> Path:
        return max(self.files, key=lambda path: path.stat().st_size)


def lay_out(folder: Path, python: str, generated: bool) -> Data:
    """Copy or generate the files under ``folder``."""
    if CORPUS.is_dir() and not generated:
        for chip in ("cann-910b", "cann-910"):
            # plain copies: the originals may be read-only
            shutil.copytree(CORPUS / chip / "opp", folder / chip, copy_function=shutil.copyfile)
            for path in (folder / chip, *(folder / chip).rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)
        return Data("real", folder / "cann-910b", folder / "cann-910")
    data = Data("generated", folder / "cann-910b", folder / "cann-910")
    for seed, (package, operators) in enumerate(SHAPE_910B.items()):
        generate(data.store_910b / f"aic-ascend910b-ops-info-{package}.json", operators, python, seed=seed)
    generate(data.store_910 / "aic-ascend910-ops-info.json", SHAPE_910, python, soc="ascend910")
    return data


def generate(path: Path, operators: int, python: str, seed: int = 1, soc: str = "ascend910b") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    script = ROOT / "fixtures" / "generate.py"
    words = ["--operators", str(operators), "--soc", soc, "--seed", str(seed), "--out", str(path)]
    subprocess.run([python, str(script), *words], check=True)
    return path
