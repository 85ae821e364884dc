"""The values of `--ray` and `--resources`, and the number of trials that fit on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.bisect.places.ray_options import (
    address_of,
    described,
    require_absolute,
    resources_of,
    slots_of,
    task_options,
)
from opsinfo_cli.errors import UsageFault


@pytest.mark.parametrize("text", ["auto", "10.0.0.5:6379", "head.example:6379", "[fd00::1]:6379"])
def test_an_address_is_auto_or_a_host_with_a_port(text: str) -> None:
    assert address_of(text) == text


@pytest.mark.parametrize("text", ["", "local", "10.0.0.5", ":6379", "host:", "host:port", "ray://host:10001"])
def test_any_other_address_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageFault, match=r"--ray: cannot read"):
        address_of(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("NPU=1", {"NPU": 1}),
        ("NPU=2, CPU=8", {"NPU": 2, "CPU": 8}),
        ("NPU=0.5", {"NPU": 0.5}),
        ("memory=8e9", {"memory": 8e9}),
    ],
)
def test_resources_are_names_with_numbers(text: str, found: dict[str, float]) -> None:
    assert resources_of(text) == found


@pytest.mark.parametrize(
    "text",
    ["", "NPU", "NPU=", "=1", "NPU=x", "NPU=0", "NPU=-1", "NPU=inf", "NPU=nan", "NPU=1.5", "NPU=1,NPU=1", "NPU=1,"],
)
def test_other_resources_are_wrong_usage(text: str) -> None:
    with pytest.raises(UsageFault, match=r"--resources: "):
        resources_of(text)


def test_a_task_takes_the_requested_resources_and_no_other_processor() -> None:
    assert task_options({"NPU": 1}) == {"num_cpus": 0, "resources": {"NPU": 1}}
    everything = {"CPU": 8, "GPU": 1, "memory": 8e9, "NPU": 2}
    own = {"num_cpus": 8, "num_gpus": 1, "memory": 8e9}
    assert task_options(everything) == {**own, "resources": {"NPU": 2}}


def node(alive: bool = True, **has: float) -> dict[str, Any]:
    own = {"node:10.0.0.5": 1.0, "memory": 1e9, "object_store_memory": 8e7}
    return {"Alive": alive, "Resources": {**own, **has}}


@pytest.mark.parametrize(
    ("nodes", "wanted", "slots"),
    [
        ([node(CPU=1, NPU=8)], {"NPU": 1}, 8),
        ([node(CPU=1, NPU=8), node(CPU=1, NPU=8)], {"NPU": 1}, 16),
        ([node(CPU=1, NPU=8), node(False, CPU=1, NPU=8)], {"NPU": 1}, 8),
        ([node(CPU=16, NPU=8)], {"NPU": 1, "CPU": 4}, 4),
        ([node(NPU=3), node(NPU=3)], {"NPU": 2}, 2),
        ([node(NPU=1)], {"NPU": 0.1}, 10),
        ([node(CPU=1)], {"NPU": 1}, 0),
        ([], {"NPU": 1}, 0),
    ],
    ids=[
        "one node",
        "two nodes",
        "a dead node",
        "CPUs are the limit",
        "slots do not span nodes",
        "a fraction",
        "a node without NPU",
        "no nodes",
    ],
)
def test_a_cluster_has_slots_for_the_trials_that_fit_on_its_nodes(
    nodes: list[dict[str, Any]], wanted: dict[str, float], slots: int
) -> None:
    assert slots_of(nodes, wanted) == slots


def test_nodes_are_described_by_their_resources() -> None:
    nodes = [node(CPU=8, NPU=2), node(CPU=8, NPU=2), node(CPU=4), node(False, CPU=99), node()]
    assert described(nodes) == "1 node with CPU 4; 2 nodes with CPU 8, NPU 2; 1 node with nothing"
    assert described([]) == "no node"


def test_a_relative_path_of_a_file_is_refused_with_its_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("check.sh", "python"):
        (tmp_path / name).touch()
    require_absolute(["python", "-u", str(tmp_path / "check.sh"), "{mixlist}", "absent.py"])
    for command in (["./check.sh"], ["python", "check.sh", "{mixlist}"]):
        with pytest.raises(UsageFault, match="is a file of the current directory") as caught:
            require_absolute(command)
        assert str(tmp_path / "check.sh") in str(caught.value.hint)
