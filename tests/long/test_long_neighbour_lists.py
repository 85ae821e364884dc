"""Public lists: every pair of HabanaAI/Model-References.

``OPSINFO_HABANA_LISTS`` names a folder with the files ``ops_bf16*.txt`` and ``ops_fp32*.txt`` of the repository's tags,
in a subfolder for each tag (``git archive TAG -- PATHS``). docs/evidence.md has the counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "systems"))

from conversion_check import names_in, unaccounted

from opsinfo_cli.core.cann.library import Operators
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.systems.conversion import convert_lists
from opsinfo_cli.systems.input_lists import read_lists
from opsinfo_cli.systems.registry import SYSTEMS
from opsinfo_cli.systems.system import ConversionOptions

FOLDER = os.environ.get("OPSINFO_HABANA_LISTS")
"""Read before the fixtures clear the environment."""

PAGE = (Path(__file__).resolve().parents[2] / "docs/evidence.md").read_text("utf-8")
TARGETS = ("cann-910", "cann-910b")


def pairs() -> Iterator[tuple[Path, Path | None]]:
    """Each BF16 list with the FP32 list beside it, if there is one."""
    for low in sorted(Path(FOLDER or "").rglob("*bf16*.txt")):
        high = low.with_name(low.name.replace("bf16", "fp32"))
        yield low, high if high.exists() else None


@cache
def operators_of(corpus: Path, name: str) -> Operators:
    return resolve(str(corpus / name / "opp"), TargetOptions(), {}).operators


@pytest.mark.skipif(not FOLDER, reason="OPSINFO_HABANA_LISTS names no folder with the lists of Model-References")
@pytest.mark.parametrize("system", ["habana-hmp", "habana-autocast"])
@pytest.mark.parametrize("target", TARGETS)
def test_every_entry_of_every_habana_pair_is_converted_or_reported(corpus: Path, system: str, target: str) -> None:
    operators, count, entries, dropped, kinds = operators_of(corpus, target), 0, 0, 0, set()
    for low, high in pairs():
        files = [each for each in (low, high) if each]
        read = read_lists(SYSTEMS[system], [Source.read(str(path)) for path in files])
        made = convert_lists(read, SYSTEMS["mixlist"], ConversionOptions(operators=operators, target=target))
        wanted = dict.fromkeys(names_in(high.read_text("utf-8")), "high") if high else {}
        wanted |= dict.fromkeys(names_in(low.read_text("utf-8")), "low")
        assert set(made.given) == set(wanted), low
        assert unaccounted(made, wanted, operators) == [], low
        count, entries, dropped = count + 1, entries + len(made.given), dropped + len(made.entries.dropped)
        kinds.add(tuple(sorted(wanted.items())))
    assert count > 400
    print(f"{system} to {target}: {count} pairs, {len(kinds)} different, {entries} entries, {dropped} named as dropped")
    assert f"| {count}" in PAGE
    assert (
        f"| {entries} | a mixlist for {target.replace('cann-', 'ascend')} | {entries - dropped} | {dropped} |" in PAGE
    )
