"""Clusters that cannot be reached, and one that dies. They come first: `auto` would find the cluster of other tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from ray_support import Search, commands, ended, running
from running_processes import wait_until


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "cannot connect to the Ray cluster at `127.0.0.1:1`: Connection refused"),
        ("auto", "cannot connect to the Ray cluster at `auto`: Could not find any running Ray instance"),
    ],
)
def test_an_address_without_a_cluster_is_refused_quickly_and_leaves_no_journal(
    tmp_path: Path, address: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    search = Search(tmp_path, address)
    code, document, err = search.run(check=search.check())
    assert (code, document["error"]["name"]) == (3, "no-cluster"), err
    assert document["error"]["message"].startswith(message)
    assert "Traceback" not in err
    assert not (tmp_path / "run/journal.jsonl").exists()


def test_a_cluster_that_dies_stops_the_search_which_can_be_resumed_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "5")
    with running(tmp_path, 1) as cluster:
        search = Search(tmp_path, cluster.address)
        process = search.start(check=search.check())
        wait_until(lambda: len(search.events("end")) >= 6)
        cluster.tell("kill 0")
        code, document, err = ended(process)
    assert (code, document["error"]["name"]) == (3, "no-cluster"), err
    assert "--resume" in document["error"]["hint"]
    wait_until(lambda: not commands(str(tmp_path / "check.py")))
    before = len(search.events("end"))
    code, document, err = search.run("--resume", check=search.check(), local=True)
    assert (code, [culprit["type"] for culprit in document["culprits"]]) == (0, list(search.culprits)), err
    assert len(search.events("end")) > before
