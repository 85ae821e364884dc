"""Tokens of C++ text, and which files are OpDef sources."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opsinfo_cli.core.cann.opdef.find import find_sources, project_of
from opsinfo_cli.core.cann.opdef.tokens import Directive, SourceFault, SourceLine, SourceMap, lex


def words(text: str) -> list[str]:
    return [token.text for part in lex(text, 0) if isinstance(part, list) for token in part]


def test_comments_are_blanks_and_strings_keep_what_looks_like_one() -> None:
    assert words('a /* b */ c // d \\\n e\nf("// /* \\" */")') == ["a", "c", "f", "(", '"// /* \\" */"', ")"]


def test_a_raw_string_may_hold_quotes_braces_and_lines() -> None:
    text = 'x(R"json({"a": "}",\n#define B\n})json", u8R"(")")'
    assert words(text) == ["x", "(", 'R"json({"a": "}",\n#define B\n})json"', ",", 'u8R"(")"', ")"]


@pytest.mark.parametrize("text", ["a /* b", "a /*/", 'a R"x(b)"', "#if A /* b"])
def test_what_is_never_closed_is_a_fault_at_its_beginning(text: str) -> None:
    with pytest.raises(SourceFault) as raised:
        list(lex(text, 100))
    assert raised.value.place == 100 + max(text.find("/*"), text.find("R"))


def test_two_template_lists_end_with_two_tokens() -> None:
    assert words("vector<vector<int>>1'000u") == ["vector", "<", "vector", "<", "int", ">", ">", "1'000u"]


def test_a_directive_is_the_first_on_its_line_and_may_be_continued() -> None:
    parts = list(lex("#define A(x) #x \\\n  + 1 // one\n  # if A\nb # c\n", 0))
    assert [(part.word, [token.text for token in part.rest]) for part in parts if isinstance(part, Directive)] == [
        ("define", ["A", "(", "x", ")", "#", "x", "+", "1"]),
        ("if", ["A"]),
    ]
    assert isinstance(parts[-1], list)
    assert [token.text for token in parts[-1]] == ["b", "#", "c"]


def test_a_place_is_a_line_of_its_file() -> None:
    places = SourceMap()
    first, second = places.add("a.cpp", "x\ny\n"), places.add("b.h", "\n\nz")
    assert [places.at(each) for each in (first, first + 2, second, second + 2)] == [
        SourceLine("a.cpp", 1),
        SourceLine("a.cpp", 2),
        SourceLine("b.h", 1),
        SourceLine("b.h", 3),
    ]


SOURCE = "namespace ops { class A : public OpDef {}; OP_ADD(A); }"


def test_sources_are_recognised_by_content_and_left_out_by_folder(tmp_path: Path) -> None:
    for name, text in {
        "a/op_host/add_custom.cpp": SOURCE,
        "a/op_host/a_def.cc": SOURCE.replace("public OpDef", "public ops::OpDef"),
        "a/op_host/tiling.cpp": "// OP_ADD(A) is in add_custom.cpp\nint tiling;",
        "a/op_host/notes.md": SOURCE,
        "a/op_kernel_aicpu/a_aicpu_def.cpp": SOURCE,
        "a/tests/ut/a_def.cpp": SOURCE,
        "scripts/opgen/template/x_def.cpp": SOURCE,
        "examples/x_def.cpp": SOURCE,
        "experimental/b/op_host/b_def.cpp": SOURCE,
        ".cache/c_def.cpp": SOURCE,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = [os.path.relpath(path, tmp_path) for path in find_sources(str(tmp_path)).files]
    assert found == ["a/op_host/a_def.cc", "a/op_host/add_custom.cpp"]
    assert [os.path.basename(path) for path in find_sources(f"{tmp_path}/experimental").files] == ["b_def.cpp"]
    assert find_sources(f"{tmp_path}/examples/x_def.cpp").files == [f"{tmp_path}/examples/x_def.cpp"]
    assert find_sources(f"{tmp_path}/a/op_host/tiling.cpp").files == []


def test_a_link_out_of_the_tree_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside.cpp").write_text(SOURCE)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.cpp").symlink_to(tmp_path / "outside.cpp")
    assert find_sources(str(tree)).files == []


def test_includes_stay_in_the_repository_or_the_outermost_build(tmp_path: Path) -> None:
    source = tmp_path / "project/op/op_host/a.cpp"
    source.parent.mkdir(parents=True)
    source.write_text(SOURCE)
    assert project_of(str(source)) == str(source.parent)
    (tmp_path / "project/CMakeLists.txt").touch()
    assert project_of(str(source)) == str(tmp_path / "project")
    (tmp_path / "project/op/.git").mkdir()
    assert project_of(str(source)) == str(tmp_path / "project/op")
