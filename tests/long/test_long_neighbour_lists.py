"""Public lists: every pair of HabanaAI/Model-References, every mixlist of the corpus.

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

from conversion_check import marks_in, names_in, unaccounted

from opsinfo_cli.core.cann.library import Operators
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.target import TargetOptions, resolve
from opsinfo_cli.core.change.fmt import fixed
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.systems.conversion import convert_lists
from opsinfo_cli.systems.input_lists import of_mixlist, read_lists
from opsinfo_cli.systems.registry import SYSTEMS
from opsinfo_cli.systems.system import ConversionOptions

FOLDER = os.environ.get("OPSINFO_HABANA_LISTS")
"""Read before the fixtures clear the environment."""

PAGE = (Path(__file__).resolve().parents[2] / "docs/evidence.md").read_text("utf-8")
TARGETS = ("cann-910", "cann-910b")
WRITTEN = [name for name, system in SYSTEMS.items() if system.writes and name not in ("mixlist", "mindspore-lite")]


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
        count, entries, dropped = count + 1, entries + len(made.given), dropped + len(made.dropped)
        kinds.add(tuple(sorted(wanted.items())))
    assert count > 400
    print(f"{system} to {target}: {count} pairs, {len(kinds)} different, {entries} entries, {dropped} named as dropped")
    assert f"| {count}" in PAGE
    assert (
        f"| {entries} | a mixlist for {target.replace('cann-', 'ascend')} | {entries - dropped} | {dropped} |" in PAGE
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("to", WRITTEN)
def test_every_mark_of_every_real_mixlist_is_converted_or_reported(corpus: Path, to: str, target: str) -> None:
    operators, entries, dropped = operators_of(corpus, target), 0, 0
    paths = sorted((corpus / "mixlists").glob("*.json"))
    for path in paths:
        source = fixed(Source.read(str(path)))
        made = convert_lists(of_mixlist(Mixlist(scan(source)), operators), SYSTEMS[to], ConversionOptions())
        assert set(made.given) == marks_in(source.text), path.name
        assert all(each.reason for each in made.dropped)
        text = "".join(made.files.values())
        if to == "keep-dtype":  # the same names: converted names are in the file
            lines = {line.removeprefix("OpType::") for line in text.splitlines()}
            assert lines == set(made.given) - {each.name for each in made.dropped}
        entries, dropped = entries + len(made.given), dropped + len(made.dropped)
    assert len(paths) > 20
    print(f"{len(paths)} mixlists on {target} to {to}: {entries} entries, {dropped} named as dropped")
    rows = [line for line in PAGE.splitlines() if f"`{to}`" in line]
    assert any(row.endswith(f"| {entries - dropped} | {dropped} |") for row in rows)
