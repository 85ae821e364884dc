"""Bytes that no valid file has, through every command, as a library and as a mixlist."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_support import (
    ACCEPTED,
    ENTRY,
    FIXED,
    FIXED_BUT_REFUSED,
    LIBRARY,
    MIXLIST,
    REFUSED,
    Hostile,
    check_commands,
    checked,
    words_of,
)


@pytest.fixture
def hostile(opsinfo: Callable[..., Any]) -> Hostile:
    """In this process, and without limits: the files are small."""
    return checked(opsinfo)


LIBRARIES: dict[str, tuple[str | bytes, Any]] = {
    # situation: (text, exit status of each command)
    "a NUL for a value": ('{"Add":\0}', REFUSED),
    "a NUL in a name": ('{"A\0dd": {}}', REFUSED),
    "an escaped NUL in a name": (LIBRARY[:-1] + ', "A\\u0000dd": {}}', ACCEPTED),
    "NULs after the end": (LIBRARY + "\0\0\n", ACCEPTED),
    "nothing but NULs": ("\0" * 1000, REFUSED),
    "a byte order mark": ("\ufeff" + LIBRARY, ACCEPTED),
    "two byte order marks": ("\ufeff\ufeff" + LIBRARY, REFUSED),
    "a byte order mark alone": ("\ufeff", REFUSED),
    "a byte order mark before the end": (LIBRARY[:-1] + "\ufeff}", REFUSED),
    "UTF-16": (LIBRARY.encode("utf-16"), REFUSED),
    "Latin-1": (b'{"Add\xe9": {}}', REFUSED),
    "surrogates as bytes": (b'{"Add\xed\xa0\x80": {}}', REFUSED),
    "bad bytes after the end": (LIBRARY.encode() + b"\xff", ACCEPTED),
    "numbers for strings": ('{"Add": {"op": {"pattern": 1}}}', REFUSED),
    "carriage returns alone": (LIBRARY.replace(" ", "\r"), ACCEPTED),
    "no-break spaces for blanks": (LIBRARY.replace(" ", "\u00a0"), REFUSED),
    "a vertical tab": (LIBRARY.replace(" ", "\x0b"), REFUSED),
}


@pytest.mark.parametrize("situation", LIBRARIES)
def test_a_library_of_such_bytes_is_read_or_refused_by_every_command(
    hostile: Hostile, tmp_path: Path, situation: str
) -> None:
    text, codes = LIBRARIES[situation]
    data = text.encode() if isinstance(text, str) else text
    check_commands(hostile, tmp_path / "f.json", data, "library", codes)


MIXLISTS: dict[str, tuple[str | bytes, Any]] = {
    "a NUL in a name": ('{"black-list": {"to-add": ["A\0dd"]}}', REFUSED),
    "NULs after the end": (MIXLIST + "\0\0", ACCEPTED),
    "a byte order mark": ("\ufeff" + MIXLIST, ACCEPTED),
    "two byte order marks": ("\ufeff\ufeff" + MIXLIST, FIXED),
    "a byte order mark and comments": ("\ufeff// x\n" + MIXLIST, FIXED),
    "UTF-16": (MIXLIST.encode("utf-16"), REFUSED),
    "numbers for names": ('{"black-list": {"to-add": [123456789012345678901234567890]}}', FIXED_BUT_REFUSED),
    "a lone surrogate": ('{"black-list": {"to-add": ["\\ud800"]}}', REFUSED),
}


@pytest.mark.parametrize("situation", MIXLISTS)
def test_a_mixlist_of_such_bytes_is_read_fixed_or_refused_by_every_command(
    hostile: Hostile, tmp_path: Path, situation: str
) -> None:
    text, codes = MIXLISTS[situation]
    data = text.encode() if isinstance(text, str) else text
    check_commands(hostile, tmp_path / "f.json", data, "mixlist", codes)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("library", f'{{"Add": {{"op": {{"a": "1"}}}}, "Add": {ENTRY}}}'),
        ("library", '{"Add": {"precision_reduce": {"flag": "true", "flag": "true"}}}'),
        ("library", '{"Add": {"precision_reduce": {"flag": "true"}, "precision_reduce ": {"flag": "true"}}}'),
        ("mixlist", '{"black-list": {"to-add": ["Add"]}, "black-list": {"to-add": ["Mul"]}}'),
        ("mixlist", '{"black-list": {"to-add": ["Add"], "to-add": ["Mul"]}}'),
    ],
    ids=["op type", "flag", "section with a blank", "list", "action"],
)
def test_repeated_keys_are_read_as_in_the_engine_and_never_edited(
    hostile: Hostile, tmp_path: Path, kind: str, text: str
) -> None:
    path = tmp_path / "f.json"
    path.write_text(text)
    assert hostile(*words_of("list", kind, path)).code == 0
    assert hostile(*words_of("validate", kind, path)).code == 0
    assert hostile(*words_of("move", kind, path)).code == 3
    assert path.read_text() == text


LONG = "123456789012345678901234567890.10"


@pytest.mark.parametrize("number", [LONG, "-0", "1E-400", "9" * 300, "0." + "9" * 5000, "0.1000"])
def test_fmt_keeps_every_digit_of_numbers_beside_a_fix(hostile: Hostile, tmp_path: Path, number: str) -> None:
    """No file that the engine accepts has numbers, so only fmt, which fixes before checks, can meet them."""
    path = tmp_path / "f.json"
    text = f'{{"black-list": {{"to-add": ["Add", {number}], "to-remove": [{number},]}} /* x */}}'
    path.write_text(text)
    assert hostile("fmt", path).code == 1
    assert path.read_text() == text.replace(",]", "]").replace(" /* x */", "")


def test_a_move_keeps_the_digits_of_strings(hostile: Hostile, tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_text(f'{{"Add": {{"attr": {{"x": "{LONG}", "a\\/b": "1E5\\u00e9"}}}}}}')
    assert hostile(*words_of("move", "library", path)).code == 0
    assert f'"{LONG}", "a\\/b": "1E5\\u00e9"' in path.read_text()
