"""A damaged journal: never wrong bytes with exit 0, and every damage is reported."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from damaged_journals import damage
from faults_counts import Counts
from faults_support import everywhere, jobs, lay, writer_on

from opsinfo_cli.change.restore import restore_last, restore_to
from opsinfo_cli.change.vault import Vault
from opsinfo_cli.change.vault_check import damage_in
from opsinfo_cli.errors import OpsinfoError, UsageFault
from opsinfo_cli.model.policy import Policy


def state_of(top: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


def lay_again(top: Path, state: dict[str, bytes]) -> None:
    for path in top.rglob("*"):
        if path.is_file() and str(path) not in state:
            path.unlink()
    for name, data in state.items():
        if not Path(name).exists() or Path(name).read_bytes() != data:
            Path(name).write_bytes(data)


def test_a_damaged_journal_is_reported_and_gives_no_wrong_bytes(tmp_path: Path, counts: Counts) -> None:
    place, paths = tmp_path / "vault", lay(tmp_path / "config", 2)
    first = [path.read_bytes() for path in paths]
    writer_on(place).run("move", jobs(paths[:1], Policy.BLACK, "Log"))
    writer_on(place).run("apply", jobs(paths))
    before_last = [path.read_bytes() for path in paths]
    writer_on(place).run("move", jobs(paths[1:], Policy.WHITE, "Log"))
    restore_last(writer_on(place), everywhere, False, False)
    writer_on(place).run("move", jobs(paths[:1], Policy.WHITE, "Log"))
    sound = state_of(tmp_path)
    wanted: dict[str, tuple[Callable[[], Any], list[bytes]]] = {
        "last": (lambda: restore_last(writer_on(place), everywhere, False, False), before_last),
        "pristine": (lambda: restore_to(writer_on(place), everywhere, "pristine", False, False), first),
    }
    wrong = []
    for seed in range(counts.damages):
        for which, (act, right) in wanted.items():
            lay_again(tmp_path, sound)
            what = damage(place, seed)
            if state_of(place) == {name: data for name, data in sound.items() if name.startswith(f"{place}/")}:
                continue  # two equal files were swapped
            now = [path.read_bytes() for path in paths]
            if not damage_in(Vault(str(place)), contents=True):
                wrong.append(f"{what}: not reported")
            try:
                act()
            except UsageFault as error:
                wrong.append(f"{what}, {which}: {error.message}")
            except OpsinfoError as error:
                if [path.read_bytes() for path in paths] != now or error.exit_code != 3:
                    wrong.append(f"{what}, {which}: refused ({error.name}), and the files changed")
            else:
                if [path.read_bytes() for path in paths] != right:
                    wrong.append(f"{what}, {which}: wrong bytes")
    shutil.rmtree(place)
    assert not wrong, "\n".join(wrong)
