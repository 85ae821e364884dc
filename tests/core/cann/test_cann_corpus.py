"""Facts about real libraries that a reader must find."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from opsinfo_cli.core.cann.install import Install
from opsinfo_cli.core.cann.library import Library, Operators
from opsinfo_cli.core.cann.policy import Policy


def operators(corpus: Path, soc: str) -> Operators:
    return Install.open(str(corpus / f"cann-{soc.removeprefix('ascend')}" / "opp"), soc, "ai").operators


def test_the_files_of_ascend910b_hold_1210_entries_for_1196_op_types(corpus: Path) -> None:
    found = operators(corpus, "ascend910b")
    (store,) = found.stores
    assert sum(len(library.members) for library in store.libraries) == 1210
    assert len(found.names) == 1196
    assert sum(len(entries) > 1 for entries in store.definitions.values()) == 14


def test_380_of_them_are_white_95_black_721_gray(corpus: Path) -> None:
    counts = Counter(operator.entry.policy for operator in operators(corpus, "ascend910b"))
    assert counts == {Policy.WHITE: 380, Policy.BLACK: 95, Policy.GRAY: 721}


def test_ascend910_has_613_op_types_33_white_85_black_495_gray(corpus: Path) -> None:
    counts = Counter(operator.entry.policy for operator in operators(corpus, "ascend910"))
    assert counts == {Policy.WHITE: 33, Policy.BLACK: 85, Policy.GRAY: 495}


def test_the_two_socs_share_575_op_types_17_of_them_on_another_list(corpus: Path) -> None:
    old, new = operators(corpus, "ascend910"), operators(corpus, "ascend910b")
    both = set(old.names) & set(new.names)
    assert (len(both), len(old.names) - len(both), len(new.names) - len(both)) == (575, 38, 621)
    assert sum(old[name].entry.policy is not new[name].entry.policy for name in both) == 17


def test_the_known_engine_accepts_every_entry_of_ascend910b(corpus: Path) -> None:
    for store in operators(corpus, "ascend910b").stores:
        assert store.doubts == []
        assert [fault for entry in store.winners() for fault in entry.faults if fault.refuses] == []


def test_every_real_library_reads_back_byte_for_byte(corpus: Path) -> None:
    paths = sorted(corpus.glob("cann-*/opp/**/*.json"))
    assert len(paths) == 8
    for path in paths:
        library = Library.read(str(path))
        assert library.source.with_text(library.source.text) == path.read_bytes()


def test_every_entry_of_a_real_library_has_the_value_in_its_text(corpus: Path) -> None:
    for path in sorted(corpus.glob("cann-*/opp/**/*.json")):
        library = Library.read(str(path))
        assert {name: entry.value for name, entry in library.entries.items()} == json.loads(path.read_bytes())


def test_stores_of_other_cores_are_found(corpus: Path) -> None:
    assert set(Install.open(str(corpus / "cann-910b/opp"), "ascend910b", "ai").other_counts()) == {"vector", "dsa"}
