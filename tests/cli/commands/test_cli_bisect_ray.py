"""`opsinfo bisect --ray`: options that are refused before a cluster is contacted. `tests/ray_cluster` has the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bisect_support import among
from cli_support import Run

from opsinfo_cli.bisect.places import ray


@pytest.fixture
def words(opp: Path) -> list[str | Path]:
    return ["bisect", "--against", opp, "--soc", "ascend910b", *among(), "--format", "json"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--resources", "NPU=1", "--", "true"], "--resources requires --ray"),
        (["--keep-folders", "--", "true"], "--keep-folders requires --ray"),
        (["--ray", "auto", "--jobs", "2", "--", "true"], "--jobs cannot be combined with --ray"),
        (["--ray", "auto", "--devices", "0", "--", "true"], "--devices cannot be combined with --ray"),
        (["--ray", "auto", "-i"], "--ray cannot be combined with -i"),
        (["--ray", "auto", "--resources", "NPU", "--", "true"], "--resources: cannot read `NPU`"),
        (["--ray", "ray://head:10001", "--", "true"], "--ray: cannot read `ray://head:10001`"),
        (["--ray", "auto", "--", "./check.sh"], "`./check.sh` is a file of the current directory"),
    ],
)
def test_options_that_make_no_sense_are_wrong_usage(
    opsinfo: Run, words: list[Any], tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "check.sh").touch()
    ran = opsinfo(*words, *options)
    assert (ran.code, ran.json["error"]["message"][: len(message)]) == (2, message)
    assert not (tmp_path / ".opsinfo-bisect").exists()


def test_without_ray_the_extra_is_named(
    opsinfo: Run, words: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray, "find_spec", lambda name: None)
    error = opsinfo(*words, "--ray", "auto", "--", "true").json["error"]
    assert (error["name"], error["hint"]) == ("missing-package", "python -m pip install 'opsinfo[ray]'")
    assert not (tmp_path / ".opsinfo-bisect").exists()
