"""Searches on a Ray cluster of four nodes give the result of one machine, even if nodes or processes die."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ray_nodes import LocalCluster
from ray_support import Search, commands, ended
from running_processes import wait_until


def culprits(document: object) -> list[str]:
    assert isinstance(document, dict)
    return [each["type"] for each in document["culprits"]]


def test_a_search_that_loses_a_node_finds_what_the_local_search_finds(search: Search, cluster: LocalCluster) -> None:
    assert search.run("local", check=search.check(), local=True)[0] == 0
    process = search.start("run", check=search.check(hangs=True))
    wait_until(search.hang.exists)
    cluster.kill(3)
    code, document, err = ended(process)
    cluster.add(3)
    assert (code, culprits(document)) == (0, list(search.culprits)), err
    assert document["one_minimal"]
    lost = search.events("run", "no-verdict")
    assert [record["why"] for record in lost] == ["lost its place"]
    judged = [record["trial"] for record in search.events("run", "end")]
    assert lost[0]["trial"] not in judged
    assert len(set(judged)) == len(judged)
    here, there = search.verdicts("local"), search.verdicts("run")
    shared = here.keys() & there.keys()
    assert {frozenset(), frozenset(search.culprits)} <= shared
    assert {kept: here[kept] for kept in shared} == {kept: there[kept] for kept in shared}
    assert (search.folder / "run/best.json").read_bytes() == (search.folder / "local/best.json").read_bytes()
    assert len({search.node("run", trial)["node"] for trial in judged}) > 1
    assert "ray" not in err.lower()


def test_a_search_that_was_killed_is_resumed_with_the_same_answer(search: Search) -> None:
    process = search.start("run", check=search.check(hangs=True))
    wait_until(lambda: search.hang.exists() and len(search.events("run", "end")) >= 6)
    process.kill()
    process.communicate()
    wait_until(lambda: not commands(str(search.folder / "check.py")))
    before = [record["trial"] for record in search.events("run", "end")]
    folders = [Path(search.node("run", trial)["folder"]) for trial in before]
    wait_until(lambda: not any(folder.exists() for folder in folders))
    code, document, err = search.run("run", "--resume", check=search.check(hangs=True))
    assert (code, culprits(document)) == (0, list(search.culprits)), err
    judged = [record["trial"] for record in search.events("run", "end")]
    assert judged[: len(before)] == before
    assert len(set(judged)) == len(judged)
    assert all(len(found) == 1 for found in search.verdicts("run").values())


def test_a_search_that_began_on_this_machine_resumes_on_a_cluster(search: Search) -> None:
    code, document, _ = search.run("run", "--budget", "8", check=search.check(), local=True)
    assert (code, document["ended"]) == (1, "budget")
    code, document, err = search.run("run", "--resume", check=search.check())
    assert (code, culprits(document)) == (0, list(search.culprits)), err
    places = [record["device"] for record in search.events("run", "end")]
    assert places[:8] == [None] * 8
    assert all(place.endswith(" NPU 0") for place in places[8:])


def test_a_killed_worker_ends_its_command_and_the_trial_is_repeated(search: Search) -> None:
    process = search.start("run", check=search.check(hangs=True))
    trial, hanging = search.hanging()
    [worker] = commands(f"ray::opsinfo bisect, trial {trial:04}")
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{hanging}").exists())
    code, document, err = ended(process)
    assert (code, culprits(document)) == (0, list(search.culprits)), err
    lost = search.events("run", "no-verdict")
    assert [(record["trial"], record["why"]) for record in lost] == [(trial, "lost its place")]
