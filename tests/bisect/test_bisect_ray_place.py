"""The search's side of a Ray cluster, with a stand-in for the process that connects to Ray."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from opsinfo_cli.bisect.places import ray_cluster
from opsinfo_cli.bisect.places.place import Trial, TrialEnd
from opsinfo_cli.bisect.places.ray_cluster import RayPlace
from opsinfo_cli.errors import MissingPackage, Refused

pytestmark = pytest.mark.process
HEAD = """
import json, os, socket, sys, time
line = socket.socket(fileno=os.dup(0))
asked = line.makefile("rb")
def tell(event, **facts):
    line.sendall((json.dumps({"event": event, **facts}) + "\\n").encode())
def failed(message):
    tell("failed", name="no-cluster", message=message, hint=None, path=None)
"""
READY = HEAD + 'tell("ready", slots=3)\n'
Stub = Callable[[str], RayPlace]


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stub:
    """A place whose process runs the given code."""

    def make(code: str) -> RayPlace:
        monkeypatch.setattr(ray_cluster, "find_spec", lambda name: SimpleNamespace(origin="ray.py"))
        monkeypatch.setattr(ray_cluster, "_START", code.replace("{", "{{").replace("}", "}}"))
        return RayPlace("10.0.0.5:6379", {"NPU": 1.0}, str(tmp_path / "ray.log"))

    return make


def trial(folder: Path, number: int) -> Trial:
    own = folder / f"{number:04}"
    own.mkdir()
    return Trial(number, frozenset(), {"mixlist": ("m.json", b"{}")}, str(own), ["check", "{mixlist}"], 5.0)


def ends(place: RayPlace, count: int) -> dict[int, TrialEnd]:
    found: dict[int, TrialEnd] = {}
    due = time.monotonic() + 60
    while len(found) < count:
        assert time.monotonic() < due
        found |= {each.number: end for each, end in place.wait(0.5)}
    return found


@pytest.mark.parametrize("found", [None, SimpleNamespace(origin=None)], ids=["nothing", "a folder of that name"])
def test_without_ray_the_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, found: object) -> None:
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: found)
    with pytest.raises(MissingPackage) as caught:
        RayPlace("auto", {}, str(tmp_path / "ray.log"))
    assert "opsinfo[ray]" in str(caught.value.hint)


def test_trials_are_requested_and_their_results_returned(stub: Stub, tmp_path: Path) -> None:
    place = stub(
        READY + "ends = [dict(code=1, signal=0, seconds=2.5, device='a')]\n"
        "ends += [dict(code=0, signal=9), dict(code=None, lost=True)]\n"
        "for text in asked:\n"
        "    request = json.loads(text)\n"
        "    with open(os.path.join(request['folder'], 'output.log'), 'w') as output:\n"
        "        output.write(json.dumps(request['command'] + [request['files']]))\n"
        "    tell('ended', trial=request['number'], **ends[request['number'] - 1])\n"
    )
    assert place.slots == 3
    for number in (1, 2, 3):
        place.start(trial(tmp_path, number))
    found = ends(place, 3)
    place.stop()
    tail = '["check", "{mixlist}", {"mixlist": "m.json"}]'
    assert found == {
        1: TrialEnd(1, seconds=2.5, tail=tail, device="a"),
        2: TrialEnd(None, signal=9, tail=tail),
        3: TrialEnd(None, tail=tail, lost=True),
    }


def test_slots_follow_the_cluster_and_are_never_less_than_one(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    place = stub(READY + "for text in asked: pass\ntell('x')\n")
    assert place.slots == 3
    place._is_end({"event": "slots", "slots": 0})
    assert (place.slots, place.wait(0)) == (1, [])
    monkeypatch.setattr(ray_cluster, "_EMPTY", 0.0)
    with pytest.raises(Refused, match="no node of the Ray cluster can run a trial any more"):
        place.wait(0.01)
    place._is_end({"event": "slots", "slots": 2})
    assert (place.slots, place.wait(0)) == (2, [])
    place.stop()


def test_a_refusal_of_the_process_is_raised(stub: Stub) -> None:
    place = stub(HEAD + "failed('cannot connect')\n")
    with pytest.raises(Refused, match="cannot connect"):
        _ = place.slots


def test_ends_that_come_with_a_failure_are_returned_first(stub: Stub, tmp_path: Path) -> None:
    place = stub(READY + "asked.readline(); tell('ended', trial=1, code=0); failed('too late'); asked.read()\n")
    place.start(trial(tmp_path, 1))
    assert list(ends(place, 1)) == [1]
    with pytest.raises(Refused, match="too late"):
        place.wait(60)
    place.stop()


def test_a_process_that_dies_is_a_lost_connection(stub: Stub, tmp_path: Path) -> None:
    place = stub(READY + "asked.readline(); print('why', file=sys.stderr, flush=True); os._exit(1)\n")
    place.start(trial(tmp_path, 1))
    with pytest.raises(Refused, match="the connection to the Ray cluster was lost") as caught:
        place.wait(60)
    place.stop()
    assert str(tmp_path / "ray.log") in str(caught.value.hint)
    assert (tmp_path / "ray.log").read_text() == "why\n"


def test_a_cluster_that_does_not_answer_is_given_up(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "_CONNECTED", 0.2)
    place = stub(HEAD + "asked.read()\n")
    with pytest.raises(Refused, match="does not answer"):
        _ = place.slots


def test_a_process_that_does_not_end_is_killed_and_the_next_search_has_its_own(
    stub: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_cluster, "_LEFT", 0.2)
    place = stub(READY + f"open({str(tmp_path / 'pids')!r}, 'a').write(f'{{os.getpid()}}\\n'); time.sleep(600)\n")
    pids = tmp_path / "pids"
    for count in (1, 2):
        assert place.slots == 3
        while not pids.exists() or len(pids.read_text().splitlines()) < count:
            time.sleep(0.02)
        place.stop()
    assert len(set(pids.read_text().split())) == 2
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids.read_text().split())
