"""A storm: processes move, apply, restore, reapply, fix and prune the same files, are killed, and their clocks step.

``OPSINFO_STORM_SECONDS`` and ``OPSINFO_STORM_WRITERS`` set the duration and the number; 180 and 60 by default.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "faults"))

from faults_support import everywhere, fork, library_text

from opsinfo_cli.core.cann.library import Library
from opsinfo_cli.core.cann.policy import Policy
from opsinfo_cli.core.change import record as recording
from opsinfo_cli.core.change.fmt import FmtPlan
from opsinfo_cli.core.change.plan import Job, LibraryPlan
from opsinfo_cli.core.change.reapply import lost_edits
from opsinfo_cli.core.change.restore import restore_last, restore_to
from opsinfo_cli.core.change.vault import Vault
from opsinfo_cli.core.change.writer import Writer
from opsinfo_cli.errors import NotConfirmed, OpsinfoError

SECONDS = float(os.environ.get("OPSINFO_STORM_SECONDS", "180"))
WRITERS = int(os.environ.get("OPSINFO_STORM_WRITERS", "60"))
OPS = [f"Op{number}" for number in range(12)]
MIXLIST = '{"black-list": {"to-add": ["Op1",],},}\n'


class Storm:
    def __init__(self, top: Path) -> None:
        self.libraries = [top / f"aic-ascend910b-ops-info-{letter}.json" for letter in "abc"]
        self.mixlist = top / "mixlist.json"
        self.place, self.log = top / "vault", top / "log"
        self.log.mkdir()
        for number, path in enumerate(self.libraries):
            path.write_text(library_text(**dict.fromkeys(OPS, "true"), **{f"Own{number}": "true"}))
        self.mixlist.write_text(MIXLIST)
        self.first = {path: path.read_bytes() for path in self.libraries}

    def writer(self, force: bool = False) -> Writer:
        return Writer(Vault(str(self.place)), wait=20, force=force)

    def act(self, chance: random.Random) -> str | None:
        """Run a random command; return the id of its change."""
        paths = chance.sample(self.libraries, chance.randint(1, 3))
        to, op = chance.choice(list(Policy)), chance.choice(OPS)
        plan = [Job(str(path), LibraryPlan({op: to})) for path in paths]
        scope: Callable[[str], bool] = chance.choice([everywhere, lambda path: path == str(paths[0])])
        kind = chance.choice("move move apply restore pristine reapply fmt prune".split())  # noqa: SIM905
        if kind in ("move", "apply"):
            return self.writer().run(kind, plan[:1] if kind == "move" else plan).change
        if kind == "restore":
            return restore_last(self.writer(), scope)[0]
        if kind == "pristine":
            return restore_to(self.writer(), scope, "pristine")[0]
        if kind == "reapply":
            lost = lost_edits(Vault(str(self.place)).history(), everywhere)
            work = [Job(each.path, LibraryPlan(each.wanted)) for each in lost if each.wanted]
            return self.writer().run("reapply", work).change if work else None
        if kind == "fmt":
            return self.writer().run("fmt", [Job(str(self.mixlist), FmtPlan())]).change
        vault = Vault(str(self.place))
        with vault.locked(time.monotonic() + 20):
            vault.prune(scope, chance.randint(1, 5), dry_run=False)
        return None

    def run(self, seed: int, until: float) -> int:
        """A process of the storm: notes what it did, and steps its clock now and then."""
        chance, clock, step = random.Random(seed), time.time_ns, [0]
        recording.time = _Clock(lambda: clock() + step[0])  # type: ignore[assignment]
        with (self.log / str(os.getpid())).open("a") as log:
            while time.monotonic() < until:
                step[0] = chance.choice([0, 0, 3600, -3600, -86400]) * 10**9
                try:
                    change = self.act(chance)
                except NotConfirmed:
                    change = None
                except OpsinfoError as error:
                    print("refused", error.name, error.message, file=log, flush=True)
                    continue
                if change:
                    print("did", change, file=log, flush=True)
        return 0


class _Clock:
    """The module `time`, with another clock."""

    def __init__(self, time_ns: Callable[[], int]) -> None:
        self.time_ns, self.strftime = time_ns, time.strftime

    def gmtime(self) -> time.struct_time:
        return time.gmtime(self.time_ns() // 10**9)

    def monotonic(self) -> float:
        return time.monotonic()


def test_a_storm_of_writers_loses_nothing(tmp_path: Path) -> None:
    storm, chance = Storm(tmp_path), random.Random(11)
    until = time.monotonic() + SECONDS
    seeds = iter(range(10**6))
    children = [fork(lambda: storm.run(next(seeds), until)) for _ in range(WRITERS)]
    kills = 0
    while time.monotonic() < until - 1:
        time.sleep(chance.uniform(0.02, 0.4))
        victim = chance.randrange(len(children))
        with suppress(ProcessLookupError):
            os.kill(children[victim], signal.SIGKILL)
        os.waitpid(children[victim], 0)
        kills += 1
        seed = 1000 + kills
        children[victim] = fork(partial(storm.run, seed, until))
        if not kills % 7:  # an upgrade, or another program
            path = chance.choice(storm.libraries)
            (tmp_path / "theirs").write_bytes(storm.first[path])
            (tmp_path / "theirs").rename(path)
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert set(statuses) <= {0}, statuses
    lines = [line.split(maxsplit=2) for path in storm.log.iterdir() for line in path.read_text().splitlines()]
    did = [words[1] for words in lines if words[0] == "did"]
    refused = {words[1] for words in lines if words[0] == "refused"}
    print(f"{len(did)} changes, {len(lines) - len(did)} refusals {sorted(refused)}, {kills} kills")
    while True:  # remains of the last kills
        try:
            storm.writer().run("apply", [Job(str(path), LibraryPlan({"Op0": Policy.GRAY})) for path in storm.libraries])
            break
        except OpsinfoError as error:
            if error.name != "unfinished-change":
                raise
            restore_last(storm.writer(force=True), everywhere)
    vault = Vault(str(storm.place))
    assert vault.damage(contents=True) == []
    records = vault.history().records
    assert not set(did) - {record.id for record in records}, "every reported success is in the vault"
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    assert "pending" not in {record.state for record in records if record.kind != "fmt"}
    for path in storm.libraries:
        Library.read(str(path)).operators  # noqa: B018
        json.loads(path.read_text())
    assert [words for words in lines if "damaged-backup" in words] == []
    restore_to(storm.writer(force=True), everywhere, "pristine")
    assert {path: path.read_bytes() for path in storm.libraries} == storm.first


if __name__ == "__main__":
    pytest.main([__file__, "-s"])
