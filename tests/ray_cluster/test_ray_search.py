"""Searches on a Ray cluster give the result of one machine, even if workers, nodes or the search die."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ray_support import LocalCluster, Search, commands, ended
from running_processes import wait_until


def culprits(document: object) -> list[str]:
    assert isinstance(document, dict)
    return [culprit["type"] for culprit in document["culprits"]]


def test_a_killed_worker_ends_its_command_and_the_trial_is_repeated(search: Search) -> None:
    assert search.run("--journal", "local", check=search.check(), local=True)[0] == 0
    process = search.start(check=search.check(hangs=True))
    mixlist, hanging = search.hanging()
    trial = int(mixlist.stem.removeprefix("mixlist-"))
    [worker] = commands(f"ray::opsinfo bisect, trial {trial:04}")
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{hanging}").exists() and not mixlist.parent.exists())
    code, document, err = ended(process)
    assert (code, culprits(document), document["one_minimal"]) == (0, list(search.culprits), True), err
    assert [(record["trial"], record["why"]) for record in search.events("no-verdict")] == [(trial, "lost its place")]
    judged = [record["trial"] for record in search.events("end")]
    assert trial not in judged
    assert len(set(judged)) == len(judged)
    here, there = search.verdicts("local"), search.verdicts()
    assert {frozenset(), frozenset(search.culprits)} <= here.keys() & there.keys()
    assert all(here[kept] == there[kept] for kept in here.keys() & there.keys())
    assert (search.folder / "run/best.json").read_bytes() == (search.folder / "local/best.json").read_bytes()
    assert "ray" not in err.lower()


def test_a_search_that_loses_a_node_repeats_its_trial_on_another_one(search: Search, cluster: LocalCluster) -> None:
    process = search.start(check=search.check(hangs=True))
    search.hanging()
    cluster.tell("kill 1")
    code, document, err = ended(process)
    cluster.tell("add 1")
    assert (code, culprits(document)) == (0, list(search.culprits)), err
    assert [record["why"] for record in search.events("no-verdict")] == ["lost its place"]


def test_a_search_that_was_killed_is_resumed_with_the_same_answer(search: Search) -> None:
    process = search.start(check=search.check(hangs=True))
    mixlist, _ = search.hanging()
    wait_until(lambda: len(search.events("end")) >= 6)
    process.kill()
    process.communicate()
    wait_until(lambda: not commands(str(search.folder / "check.py")) and not mixlist.parent.exists())
    before = [record["trial"] for record in search.events("end")]
    code, document, err = search.run("--resume", check=search.check(hangs=True))
    assert (code, culprits(document)) == (0, list(search.culprits)), err
    judged = [record["trial"] for record in search.events("end")]
    assert judged[: len(before)] == before
    assert len(set(judged)) == len(judged)
    assert all(len(verdicts) == 1 for verdicts in search.verdicts().values())


def test_a_search_that_began_on_this_machine_resumes_on_a_cluster(search: Search) -> None:
    code, document, _ = search.run("--budget", "8", check=search.check(), local=True)
    assert (code, document["ended"]) == (1, "budget")
    code, document, err = search.run("--resume", check=search.check())
    assert (code, culprits(document)) == (0, list(search.culprits)), err
    places = [record["device"] for record in search.events("end")]
    assert places[:8] == [None] * 8
    assert all(place.endswith(" NPU 0") for place in places[8:])


def test_a_resource_that_no_node_has_is_refused_with_what_the_nodes_have(search: Search) -> None:
    code, document, _ = search.run("--resources", "NPU=2", check=search.check())
    error = document["error"]
    assert (code, error["name"]) == (3, "no-resources")
    assert error["message"] == "no node of the Ray cluster has NPU 2: all nodes together have CPU 2, NPU 2"
    assert not (search.folder / "run/journal.jsonl").exists()
