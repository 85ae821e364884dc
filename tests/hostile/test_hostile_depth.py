"""Deep nesting, with every mix of brackets, at every place of a value."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hostile_counts import Counts
from hostile_support import ACCEPTED, LIBRARY, MIXLIST, REFUSED, Hostile, check_commands

from opsinfo_cli.core.text.members import MAX_DEPTH, read_members
from opsinfo_cli.core.text.scanner import Document, scan
from opsinfo_cli.core.text.source import Source

pytestmark = pytest.mark.heavy

UNITS = {"[": "]", '{"a":': "}", '["x",': "]", '{"a":"b","a":': "}"}
MIXES = ["".join(mix) for length in (1, 2, 3) for mix in itertools.product(list(UNITS)[:2], repeat=length)]
MIXES += ['["x",', '{"a":"b","a":', '["x",{"a":"b","a":', "[ \n", '{ "a" : ']
PLACES = {
    "alone": ("", ""),
    "for an entry": ('{"Add":', "}"),
    "for a flag": ('{"Add":{"precision_reduce":{"flag":', "}}}"),
    "in a list": ('{"black-list":{"to-add":["Add",', "]}}"),
    "after other entries": ('{"A":{"b":{"c":"d"}},"B":', "}"),
}


def brackets(mix: str) -> str:
    """The name of a case: ``object array``."""
    kinds = " ".join({"[": "array", "{": "object"}[each] for each in mix if each in "[{")
    return kinds + (" after members" if "," in mix else " with blanks" if " " in mix else "")


def closing(mix: str) -> str:
    return "".join({"[": "]", "{": "}"}[each] for each in reversed(mix) if each in "[{")


def depth_of(mix: str) -> int:
    return mix.count("[") + mix.count("{")


@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("place", PLACES)
def test_both_readers_refuse_every_mix_of_brackets_beyond_the_limit(place: str, ended: bool, counts: Counts) -> None:
    before, after = PLACES[place]
    start = list(PLACES).index(place)  # all places together have every mix at its longest
    for number, mix in enumerate(MIXES, start):
        for repeats in (MAX_DEPTH, 1000, *([30_000] if number % counts.mixes == 0 else [])):
            text = before + mix * repeats + ('"z"' + closing(mix) * repeats + after if ended else "")
            source = Source(text.encode(), "f.json")
            outcome = read_members(source)
            assert isinstance(outcome, Document), (mix, repeats)
            assert [fault.name for fault in outcome.faults] == ["syntax"]
            assert "deep" in outcome.faults[0].message


@pytest.mark.parametrize("mix", MIXES, ids=brackets)
def test_both_readers_have_the_same_depth_limit_for_every_mix(mix: str) -> None:
    for levels in range(MAX_DEPTH - 4, MAX_DEPTH + 5):
        repeats, rest = divmod(levels - 1, depth_of(mix))
        if rest:
            continue
        text = '{"top":' + mix * repeats + '"z"' + closing(mix) * repeats + "}"
        source = Source(text.encode(), "f.json")
        refused = isinstance(read_members(source), Document)
        assert refused is bool(scan(source).faults), levels
        assert refused is (levels + 1 > MAX_DEPTH), "the string inside is a level too"


BOMBS = {
    "arrays": "[" * 100_000,
    "objects": '{"a":' * 100_000,
    "arrays and objects that end": '[{"a":' * 50_000 + "1" + "}]" * 50_000,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_library_with_a_bomb_in_an_entry_is_refused_by_every_command(
    hostile: Hostile, tmp_path: Path, bomb: str
) -> None:
    data = f'{{"Add": {{"op": {{"pattern": {BOMBS[bomb]}'.encode()
    check_commands(hostile, tmp_path / "f.json", data, "library", REFUSED)


def test_a_mixlist_that_is_a_bomb_is_refused_by_every_command(hostile: Hostile, tmp_path: Path) -> None:
    data = ('{"black-list": {"to-add": [' + BOMBS["arrays and objects that end"] + "]}}").encode()
    check_commands(hostile, tmp_path / "f.json", data, "mixlist", REFUSED)


@pytest.mark.parametrize(("kind", "text"), [("library", LIBRARY), ("mixlist", MIXLIST)], ids=["library", "mixlist"])
def test_a_bomb_after_the_end_is_never_read(hostile: Hostile, tmp_path: Path, kind: str, text: str) -> None:
    data = (text + "\n" + BOMBS["objects"]).encode()
    expected = ACCEPTED if kind == "library" else {**ACCEPTED, "fmt": 3}  # which would remove what may be meant
    check_commands(hostile, tmp_path / "f.json", data, kind, expected)


def test_many_bombs_in_one_tree_are_each_named(hostile: Hostile, tmp_path: Path) -> None:
    for number, (opening, text) in enumerate(itertools.product(PLACES.values(), BOMBS.values())):
        (tmp_path / f"{number}.json").write_text(opening[0] + text)
    paths = sorted(tmp_path.glob("*.json"))
    ran = hostile("validate", *paths, "--as", "mixlist", "--format", "json")
    assert ran.code == 1
    assert {finding["path"] for finding in ran.json["findings"]} == set(map(str, paths))
    assert {finding["name"] for finding in ran.json["findings"]} == {"syntax"}
