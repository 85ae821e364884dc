"""Large strings, large keys, many op types: taken, in memory that follows the file's size. Full sizes: tests/long."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_support import ACCEPTED, ENTRY, MENDED_BUT_REFUSED, Hostile, check_commands, words_of

LONG = "x" * (8 << 20)
MANY = 50_000

LIBRARIES = {
    "a long string": f'{{"Big": {{"opFile": {{"value": "{LONG}"}}}}, "Add": {ENTRY}}}',
    "a long key": f'{{"{LONG}": {{}}, "Add": {ENTRY}}}',
    "a long name of a section": f'{{"Add": {{"{LONG}": {{}}}}}}',
    "many op types": "{" + "".join(f'"Op{number}": {ENTRY}, ' for number in range(MANY // 5)) + f'"Add": {ENTRY}}}',
    "many empty op types": "{" + "".join(f'"Op{number}": {{}},\n' for number in range(MANY)) + f'"Add": {ENTRY}}}',
    "a megabyte of blanks": " \n" * (1 << 19) + f'{{"Add": {ENTRY}}}' + "\t" * (1 << 19),
    "a key of escapes": f'{{"Add": {ENTRY}, "' + "\\u0041" * 200_000 + '": {}}',
    "a string of surrogate pairs": f'{{"Add": {ENTRY}, "Log": {{"op": {{"x": "' + "\\ud83d\\ude00" * 50_000 + '"}}}',
}


@pytest.mark.parametrize("situation", LIBRARIES)
def test_a_large_library_is_read_checked_and_edited(hostile: Hostile, tmp_path: Path, situation: str) -> None:
    check_commands(hostile, tmp_path / "f.json", LIBRARIES[situation].encode(), "library", ACCEPTED)


MIXLISTS = {
    "a long name": (f'{{"black-list": {{"to-add": ["{LONG}", "Add"]}}}}', ACCEPTED),
    "a long key": (f'{{"{LONG}": {{}}, "black-list": {{"to-add": ["Add"]}}}}', MENDED_BUT_REFUSED),
    "many names": (
        '{"black-list": {"to-add": [' + ",\n".join(f'"Op{number}"' for number in range(MANY // 5)) + "]}}",
        ACCEPTED,
    ),
}


@pytest.mark.parametrize("situation", MIXLISTS)
def test_a_large_mixlist_is_read_checked_and_edited(hostile: Hostile, tmp_path: Path, situation: str) -> None:
    text, codes = MIXLISTS[situation]
    check_commands(hostile, tmp_path / "f.json", text.encode(), "mixlist", codes)


@pytest.mark.parametrize("ending", ['"', "\\", '\\"', "\\u12"])
def test_a_long_string_that_never_ends_is_refused(hostile: Hostile, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "f.json"
    path.write_text('{"Add": {"op": {"x": "' + "x" * (1 << 20) + ending)
    assert hostile(*words_of("list", "library", path)).code == 3
    assert hostile(*words_of("validate", "library", path)).code == 1


def test_one_surrogate_pair_does_not_make_a_long_string_dear(hostile: Hostile, tmp_path: Path) -> None:
    """Looking for halves of pairs must not remember every character of the string it looks through."""
    path = tmp_path / "f.json"
    path.write_text(f'{{"Big": {{"opFile": {{"value": "{LONG}"}}}}, "\\ud83d\\ude00": {{}}}}')
    assert hostile(*words_of("list", "library", path), megabytes=300).code == 0


@pytest.mark.parametrize("kind", ["library", "mixlist"])
@pytest.mark.parametrize("command", ["list", "validate", "move", "fmt"])
def test_where_memory_ends_it_is_said_and_nothing_is_written(
    hostile: Hostile, tmp_path: Path, command: str, kind: str
) -> None:
    text = {
        "library": '{"Big": {"opFile": {"value": "' + LONG * 6 + f'"}}}}, "Add": {ENTRY}}}',
        "mixlist": '{"black-list": {"to-add": ["Add", "' + LONG * 6 + '"]}}',
    }[kind]
    path = tmp_path / ("aic-x-ops-info.json" if kind == "library" else "f.json")
    path.write_text(text)
    for megabytes in (130, 200, 300):
        ran = hostile(*words_of(command, kind, path), megabytes=megabytes)
        if ran.code == 3:
            assert "memory" in ran.err
            assert path.stat().st_size == len(text)
