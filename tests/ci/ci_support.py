"""Shared by the tests of CI: temporary repositories, and a sample of a team's repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "tests" / "sample-repository"
PIP = {"PIP_CACHE_DIR": os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip"), "PIP_NO_COMPILE": "1"}
"""The caller's cache, looked up before tests get another home, so that packages are fetched once for all tests; and no
byte code, since most modules that are installed are never imported."""

SHIPPED = ["opsinfo_cli", "schemas", "pyproject.toml", "README.md", "LICENSE", "action.yml", "action", ".pre-commit-hooks.yaml"]  # fmt: skip # noqa: E501


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com", "-c", "init.defaultBranch=main"]
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # a hook's own
    environment = {**outside, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def committed(folder: Path) -> str:
    """Turn a folder into a repository with all its files committed.

    :returns: the commit
    """
    git(folder, "init", "-q")
    git(folder, "add", "--all")
    git(folder, "commit", "-q", "-m", "Begin")
    return git(folder, "rev-parse", "HEAD")


def shipped(place: Path) -> Path:
    """The files of the checkout that users of this repository get."""
    for name in SHIPPED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, place / name)
    return place
