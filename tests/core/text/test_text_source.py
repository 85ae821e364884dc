"""Bytes to text and back: encodings, byte order marks, places, and paths that are not files."""

from __future__ import annotations

import codecs
import hashlib
import os
from pathlib import Path

import pytest
from raising import raised
from tables import cases

from opsinfo_cli.core.text.source import Place, Source
from opsinfo_cli.errors import Damaged, Refused


def test_a_byte_order_mark_is_kept_outside_the_text() -> None:
    source = Source(b"\xef\xbb\xbf{}\n", "f.json")
    assert (source.bom, source.text) == (True, "{}\n")
    assert source.with_text("[]") == b"\xef\xbb\xbf[]"
    assert tuple(source.place(0)) == (1, 1)


def test_only_the_first_byte_order_mark_is_removed() -> None:
    assert Source(b"\xef\xbb\xbf\xef\xbb\xbf{}", "f").text == "\ufeff{}"


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"\xef\xbb\xbf{}", b"{}\r\n", '{"\u4e2d": 1}'.encode()],
    ids=["empty", "object", "BOM", "CRLF", "Chinese"],
)
def test_the_same_text_gives_the_same_bytes(data: bytes) -> None:
    source = Source(data, "f.json")
    assert source.with_text(source.text) == data
    assert source.sha256 == hashlib.sha256(data).hexdigest()


@cases(
    "data, line, column, byte, offset",
    {
        "in a string": (b'{"a": "\xff"}', 1, 8, "0xff", 7),
        "after two bytes": (b'{\r\n\t"a\xc3\xa9": "\xe4\xb8"}', 2, 9, "0xe4", 12),
        "after a BOM": (b"\xef\xbb\xbf\xff", 1, 1, "0xff", 3),
        "overlong": (b'{"\xe4\xb8\xad":\n"\xc0\xaf"}', 2, 2, "0xc0", 9),
        "encoded surrogate": (b"{\xed\xa0\x80}", 1, 2, "0xed", 1),
        "after the last line": (b'{"a":\n\xf5', 2, 1, "0xf5", 6),
    },
)
def test_bytes_that_are_not_utf8_are_refused_with_their_place(
    data: bytes, line: int, column: int, byte: str, offset: int
) -> None:
    error = raised(Damaged, Source, data, "f.json")
    assert (error.line, error.column, error.path) == (line, column, "f.json")
    assert byte in error.message
    assert f"offset {offset}" in error.message


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_with_its_mark_is_named(encoding: str) -> None:
    marks = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
    error = raised(Damaged, Source, marks.get(encoding, b"") + '{"a": 1}'.encode(encoding), "f.json")
    assert "UTF-16" in str(error.hint)


def test_columns_count_code_points_and_tabs_count_one() -> None:
    source = Source("a\r\n\t\u4e2d\U0001f600x".encode(), "f")
    assert tuple(source.place(source.text.index("x"))) == (2, 4)


def test_a_carriage_return_alone_does_not_end_a_line() -> None:
    assert tuple(Source(b"a\rb", "f").place(2)) == (1, 3)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert raised(Refused, Source.read, str(tmp_path / "none.json")).path == str(tmp_path / "none.json")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        Source.read(str(tmp_path))


def test_a_fifo_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    assert raised(Refused, Source.read, str(tmp_path / "pipe.json")).name == "not-a-file"


def test_a_device_is_refused() -> None:
    with pytest.raises(Refused):
        Source.read("/dev/null")


def test_a_dangling_link_and_a_link_loop_are_refused(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("dangling", "loop"):
        with pytest.raises(Refused):
            Source.read(str(tmp_path / name))


def test_a_path_with_a_nul_is_refused() -> None:
    with pytest.raises(Refused):
        Source.read("a\0b")


@pytest.mark.parametrize(
    "tail",
    [b"\xff", b"\n\xe4\xb8 \x00\xff}", b" \xed\xa0\x80", b"\xef\xbb"],
    ids=["one byte", "NUL and brace", "encoded surrogate", "cut off"],
)
@pytest.mark.parametrize(
    "value", ['{"a": "\u4e2d"}', "[]", '"x"', " \n{}"], ids=["Chinese", "array", "string", "blanks before"]
)
@pytest.mark.parametrize("bom", [b"", codecs.BOM_UTF8], ids=["no BOM", "BOM"])
def test_bytes_that_are_not_utf8_are_accepted_after_the_value(bom: bytes, value: str, tail: bytes) -> None:
    data = bom + value.encode() + tail
    source = Source(data, "f.json")
    assert source.text.startswith(value)
    assert source.data == data
    assert source.sha256 == hashlib.sha256(data).hexdigest()
    assert source.with_text(f"new{source.text}") == bom + b"new" + value.encode() + tail


@pytest.mark.parametrize(
    "data",
    [b"\xff{}", b'{"a": "\xff"}', b'{"a"\xff: {}}', b'{"a": {}\xff}', "{}".encode("utf-16")],
    ids=["before", "in a string", "after a key", "after a value", "UTF-16"],
)
def test_bytes_that_are_not_utf8_in_the_value_are_refused(data: bytes) -> None:
    with pytest.raises(Damaged):
        Source(data, "f.json")


def test_the_place_of_an_offset_follows_from_the_lines_before_it() -> None:
    source = Source(b"a\nbc\n\n" * 1000, "f.json")
    offsets = range(0, 6000, 7)
    assert [source.place(offset) for offset in offsets] == [
        Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
        for before in (source.text[:at] for at in offsets)
    ]


def test_an_interrupt_between_two_folders_is_no_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/f.json").write_text("{}")
    close = os.close

    def close_and_interrupt(descriptor: int) -> None:
        close(descriptor)
        monkeypatch.setattr(os, "close", close)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", close_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        Source.read(str(tmp_path / "a/b/f.json"), str(tmp_path))
