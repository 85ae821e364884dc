"""Public mixlists: every mark of those in the corpus is converted or reported. docs/evidence.md has the counts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from conversion_check import marks_in

from opsinfo_cli.core.cann.library import Operators
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.target import resolve
from opsinfo_cli.core.cann.targets.found import TargetOptions
from opsinfo_cli.core.change.fmt import fixed
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.systems.conversion import convert_lists
from opsinfo_cli.systems.input_lists import of_mixlist
from opsinfo_cli.systems.registry import SYSTEMS
from opsinfo_cli.systems.system import ConversionOptions

PAGE = (Path(__file__).resolve().parents[2] / "docs/evidence.md").read_text("utf-8")
WRITTEN = [name for name, system in SYSTEMS.items() if system.writes and name not in ("mixlist", "mindspore-lite")]


@cache
def operators_of(corpus: Path, name: str) -> Operators:
    return resolve(str(corpus / name / "opp"), TargetOptions(), {}).operators


@pytest.mark.parametrize("target", ["cann-910", "cann-910b"])
@pytest.mark.parametrize("to", WRITTEN)
def test_every_mark_of_every_real_mixlist_is_converted_or_reported(corpus: Path, to: str, target: str) -> None:
    operators, entries, dropped = operators_of(corpus, target), 0, 0
    paths = sorted((corpus / "mixlists").glob("*.json"))
    for path in paths:
        source = fixed(Source.read(str(path)))
        made = convert_lists(of_mixlist(Mixlist(scan(source)), operators), SYSTEMS[to], ConversionOptions())
        assert set(made.given) == marks_in(source.text), path.name
        assert all(each.reason for each in made.entries.dropped)
        text = "".join(made.texts.values())
        if to == "keep-dtype":  # the same names: converted names are in the file
            lines = {line.removeprefix("OpType::") for line in text.splitlines()}
            assert lines == set(made.given) - {each.name for each in made.entries.dropped}
        entries, dropped = entries + len(made.given), dropped + len(made.entries.dropped)
    assert len(paths) > 20
    rows = [line for line in PAGE.splitlines() if f"`{to}`" in line]
    assert any(row.endswith(f"| {entries - dropped} | {dropped} |") for row in rows)
