"""Large strings, large keys, many op types: accepted, in memory proportional to the file. Full sizes: tests/long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_counts import Counts
from hostile_support import ACCEPTED, ENTRY, FIXED_BUT_REFUSED, Hostile, check_commands, words_of

pytestmark = pytest.mark.heavy

LIBRARIES: dict[str, Callable[[str, int], str]] = {
    # situation: text, by the length of a string and the number of items
    "a long string": lambda x, many: f'{{"Big": {{"opFile": {{"value": "{x}"}}}}, "Add": {ENTRY}}}',
    "a long key": lambda x, many: f'{{"{x}": {{}}, "Add": {ENTRY}}}',
    "a long name of a section": lambda x, many: f'{{"Add": {{"{x}": {{}}}}}}',
    "many op types": lambda x, many: (
        "{" + "".join(f'"Op{number}": {ENTRY}, ' for number in range(many // 5)) + f'"Add": {ENTRY}}}'
    ),
    "many empty op types": lambda x, many: (
        "{" + "".join(f'"Op{number}": {{}},\n' for number in range(many)) + f'"Add": {ENTRY}}}'
    ),
    "a megabyte of blanks": lambda x, many: " \n" * (len(x) // 16) + f'{{"Add": {ENTRY}}}' + "\t" * (len(x) // 16),
    "a key of escapes": lambda x, many: f'{{"Add": {ENTRY}, "' + "\\u0041" * (len(x) // 40) + '": {}}',
    "a string of surrogate pairs": lambda x, many: (
        f'{{"Add": {ENTRY}, "Log": {{"op": {{"x": "' + "\\ud83d\\ude00" * (len(x) // 40) + '"}}}'
    ),
}


@pytest.mark.parametrize("situation", LIBRARIES)
def test_a_large_library_is_read_checked_and_edited(
    hostile: Hostile, tmp_path: Path, counts: Counts, situation: str
) -> None:
    text = LIBRARIES[situation]("x" * counts.long, counts.many)
    check_commands(hostile, tmp_path / "f.json", text.encode(), "library", ACCEPTED)


MIXLISTS: dict[str, tuple[Callable[[str, int], str], dict[str, int]]] = {
    "a long name": (lambda x, many: f'{{"black-list": {{"to-add": ["{x}", "Add"]}}}}', ACCEPTED),
    "a long key": (lambda x, many: f'{{"{x}": {{}}, "black-list": {{"to-add": ["Add"]}}}}', FIXED_BUT_REFUSED),
    "many names": (
        lambda x, many: '{"black-list": {"to-add": [' + ",\n".join(f'"Op{number}"' for number in range(many)) + "]}}",
        ACCEPTED,
    ),
}


@pytest.mark.parametrize("situation", MIXLISTS)
def test_a_large_mixlist_is_read_checked_and_edited(
    hostile: Hostile, tmp_path: Path, counts: Counts, situation: str
) -> None:
    make, codes = MIXLISTS[situation]
    text = make("x" * counts.long, counts.many)
    check_commands(hostile, tmp_path / "f.json", text.encode(), "mixlist", codes)


@pytest.mark.parametrize(
    ("kind", "text", "pointer"),
    [
        ("mixlist", '{{"{x}": {{}}}}', "/{x}"),
        ("mixlist", '{{"black-list": {{"{x}": []}}}}', "/black-list/{x}"),
        (
            "mixlist",
            '{{"black-list": {{"to-add": ["{x}"]}}, "white-list": {{"to-add": ["{x}"]}}}}',
            "/white-list/to-add/0",
        ),
        ("library", '{{"{x}": 1}}', "/{x}"),
        ("library", '{{"Add": {{"{x}": {{"{x}": 1}}}}}}', "/Add/{x}/{x}"),
        ("library", '{{"Add": {{"precision_reduce": {{"flag": "{x}"}}}}}}', "/Add/precision_reduce/flag"),
        ("library", '{{"{x} ": {{}}}}', "/{x} "),
    ],
    ids=[
        "list",
        "action",
        "contradiction",
        "entry of a wrong type",
        "key of a wrong type",
        "flag",
        "op type with a blank",
    ],
)
def test_a_message_is_short_for_any_name_and_the_pointer_is_exact(
    hostile: Hostile, tmp_path: Path, counts: Counts, kind: str, text: str, pointer: str
) -> None:
    path = tmp_path / "f.json"
    name = "x" * (counts.long // 8)
    path.write_text(text.format(x=name))
    ran = hostile("validate", path, "--as", kind)
    assert ran.code == 1
    assert "`xxx" in ran.out
    assert "xxx..." in ran.out
    assert max(map(len, ran.out.splitlines())) < 1500
    (finding, *_) = hostile("validate", path, "--as", kind, "--format", "json").json["findings"]
    assert len(finding["message"]) <= 1000
    assert finding["pointer"] == pointer.format(x=name)
    refused = hostile("list", path, "--as", kind)
    assert refused.code == 3
    assert len(refused.err) < 4000


@pytest.mark.parametrize(
    "ending", ['"', "\\", '\\"', "\\u12"], ids=["closing quote", "backslash", "escaped quote", "cut escape"]
)
def test_a_long_unclosed_string_is_refused(hostile: Hostile, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "f.json"
    path.write_text('{"Add": {"op": {"x": "' + "x" * (1 << 20) + ending)
    assert hostile(*words_of("list", "library", path)).code == 3
    assert hostile(*words_of("validate", "library", path)).code == 1


STRING = "x" * (8 << 20)
"""Short enough to be quick, and long enough to reveal memory per character."""


def test_one_surrogate_pair_does_not_slow_down_a_long_string(hostile: Hostile, tmp_path: Path) -> None:
    """The search for lone surrogates must not store every character of the string."""
    path = tmp_path / "f.json"
    path.write_text(f'{{"Big": {{"opFile": {{"value": "{STRING}"}}}}, "\\ud83d\\ude00": {{}}}}')
    assert hostile(*words_of("list", "library", path), megabytes=300).code == 0


@pytest.mark.parametrize("kind", ["library", "mixlist"])
@pytest.mark.parametrize("command", ["list", "validate", "move", "fmt"])
def test_out_of_memory_is_reported_and_nothing_is_written(
    hostile: Hostile, tmp_path: Path, command: str, kind: str
) -> None:
    text = {
        "library": '{"Big": {"opFile": {"value": "' + STRING * 4 + f'"}}}}, "Add": {ENTRY}}}',
        "mixlist": '{"black-list": {"to-add": ["Add", "' + STRING * 4 + '"]}}',
    }[kind]
    path = tmp_path / ("aic-x-ops-info.json" if kind == "library" else "f.json")
    path.write_text(text)
    codes = []
    for megabytes in (60, 130):
        ran = hostile(*words_of(command, kind, path), megabytes=megabytes)
        codes.append(ran.code)
        if ran.code == 3:
            assert "memory" in ran.err
            assert path.stat().st_size == len(text)
    assert codes[0] == 3
