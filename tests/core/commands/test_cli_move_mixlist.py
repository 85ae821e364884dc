"""`opsinfo move` on mixlists: the style of the file. Its answers are in tests/answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Run, mixlist, write


@pytest.mark.parametrize(
    "name", ["bom", "crlf", "tabs", "one-line", "no-final-newline", "escaped-letters", "uneven-indent", "trailing-text"]
)
def test_the_files_style_is_kept(opsinfo: Run, fixtures: Path, tmp_path: Path, name: str) -> None:
    before = (fixtures / f"mixlists/good/{name}.json").read_bytes()
    path = write(tmp_path / "m.json", before)
    assert opsinfo("move", path, "NewOne", "--to", "white").code == 0
    after = path.read_bytes()
    assert after.startswith(b"\xef\xbb\xbf") == before.startswith(b"\xef\xbb\xbf")
    assert (b"\r\n" in after) == (b"\r\n" in before)
    assert after.replace(b"\r\n", b"").count(b"\n") == 0 or b"\r\n" not in before
    assert after.endswith(b"\n") == before.endswith(b"\n")
    assert (b"\n" in after) == (b"\n" in before)
    assert opsinfo("restore", path).code == 0
    assert path.read_bytes() == before


def test_lines_of_standard_input_are_text_in_utf_8(opsinfo: Run, tmp_path: Path) -> None:
    """Another byte would become another name; a byte order mark is no part of one."""
    path = write(tmp_path / "m.json", mixlist(black_add=["Log"]))
    before = path.read_bytes()
    ran = opsinfo("move", path, "-", input=b"black Add\nwhite M\xffl\n")
    assert (ran.code, path.read_bytes()) == (3, before)
    assert "not UTF-8: byte 0xff" in ran.err
    assert "--> -:2:8" in ran.err
    assert opsinfo("move", path, "-", input=b"\xef\xbb\xbfblack Add\r\n").code == 0
    assert json.loads(path.read_text()) == mixlist(black_add=["Log", "Add"])
    assert "already so: Add" in opsinfo("move", path, "-", input=b"black Add\n").err


@pytest.mark.parametrize(
    ("words", "lines", "place"),
    [
        (["-"], b"black Add\nwhite Add\n", "-:2"),
        (["Add", "-", "--to", "black"], b"white Add\n", "-:1"),
        (["-", "Add", "--to", "black"], b"white Add\n", "-"),
    ],
)
def test_an_operator_with_two_lists_is_refused(
    opsinfo: Run, tmp_path: Path, words: list[str], lines: bytes, place: str
) -> None:
    path = write(tmp_path / "m.json", mixlist(black_add=["Log"]))
    before = path.read_bytes()
    ran = opsinfo("move", path, *words, input=lines)
    assert (ran.code, path.read_bytes()) == (2, before)
    assert "`Add` has two lists" in ran.err
    assert f"--> {place}\n" in ran.err


@pytest.mark.parametrize(
    ("text", "to", "expected"),
    [
        (
            '{\n  /* softmax */ "black-list": {\n    "to-add": [\n      "SoftmaxV2"\n    ]\n  }\n}\n',
            "white",
            '{\n  /* softmax */ "black-list": {\n    "to-add": [\n      "SoftmaxV2"\n    ]\n  },\n'
            '  "white-list": {\n    "to-add": [\n      "Add"\n    ]\n  }\n}\n',
        ),
        (
            '{ /* who\n   why */ "gray-list": {}}\n',
            "black",
            '{ /* who\n   why */ "gray-list": {}, "black-list": {\n      "to-add": [\n         "Add"\n      ]\n   }}\n',
        ),
        (
            '{"black-list" /* a */ : /* b */ {"to-add": /* c */ ["Mul"]}}\n',
            "white",
            '{"black-list" /* a */ : /* b */ {"to-add": /* c */ ["Mul"]}, "white-list": {"to-add": ["Add"]}}\n',
        ),
    ],
)
def test_comments_are_not_copied_into_what_is_added(
    opsinfo: Run, tmp_path: Path, text: str, to: str, expected: str
) -> None:
    path = tmp_path / "m.jsonc"
    path.write_text(text)
    assert opsinfo("move", path, "Add", "--to", to).code == 0
    assert path.read_text() == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("AddN", '{"gray-list": {"to-remove": ["AddN"]}, "white-list": {"to-add": ["AddN"]}}'),  # gray in another store
        ("SwiGlu", '{"white-list": {"to-add": ["SwiGlu"]}}'),  # white in the library
    ],
)
def test_marks_that_change_on_the_same_list_are_a_change(
    opsinfo: Run, opp: Path, tmp_path: Path, name: str, text: str
) -> None:
    """It is undone with the others, also under a later change."""
    path = write(tmp_path / "q.json", text.encode())
    move = ["move", path, "--against", f"{opp}@ascend910b", "--to"]
    ran = opsinfo(*move, "white", name, "--format", "json")
    assert (ran.json["unchanged"], ran.json["changed"]) == (
        [],
        [{"name": name, "file": str(path), "from": "white", "to": "white"}],
    )
    assert "already" not in ran.err
    assert f"already white: {name}" in opsinfo(*move, "white", name).err
    assert opsinfo(*move, "black", "SwiGlu" if name == "AddN" else "AddN").code == 0
    assert opsinfo("restore", ran.json["change"]).code == 0
    restored = json.loads(path.read_text())
    for list_name, actions in json.loads(text).items():
        for action in actions:
            assert name in restored[list_name][action]
