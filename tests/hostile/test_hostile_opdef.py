"""Hostile OpDef sources end as "unreadable", with a place and within bounds of time."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from opsinfo_cli.core.cann.opdef.find import find_sources
from opsinfo_cli.core.cann.opdef.reading import Reading, read_sources
from opsinfo_cli.errors import Refused

CHECKOUTS = os.environ.get("OPSINFO_OPDEF_CHECKOUTS")
"""A folder of checkouts; read before the fixtures clear the environment."""

SECONDS = 10.0
"""Of processor time for one source. On an idle machine the slowest below takes 2."""

HEAD = "namespace ops { class Op : public OpDef { public: explicit Op(const char* name) : OpDef(name) {\n"
TAIL = "\n} }; OP_ADD(Op); }\n"
ADD = 'this->AICore().AddConfig("ascend910b", c);'


def use(reading: Reading) -> None:
    """Ask for everything that is worked out later."""
    for row in reading.rows:
        _ = row.policy, row.entry, row.columns_unread, row.unread_parts
        _ = row.misaligned, row.misaligned_unknown_shape


def read_timed(folder: Path, text: str) -> Reading:
    path = folder / "op_def.cpp"
    path.write_text(text)
    began = time.process_time()
    reading = read_sources([str(path)], str(folder))
    use(reading)
    assert time.process_time() - began < SECONDS
    assert all(each.line >= 1 and each.reason for each in reading.unreadable)
    return reading


BODIES = {
    "an endless loop": "while (true) {}",
    "an endless loop in a step": "for (int i = 0; ; ++i) ;",
    "an endless recursion": "auto f = [](auto g) { return g(g); }; f(f);",
    "a vector of 10^12 elements": "std::vector<int> v(1000000000000, 1);",
    "a vector that grows": "std::vector<int> v = {1}; for (;;) v.insert(v.end(), v.begin(), v.end());",
    "a text that doubles": 'std::string s = "ab"; for (;;) s += s;',
    "a number that grows": "int x = 3; for (;;) x = x * x;",
    "lists in lists": "std::vector<int> v = {1}; for (int i = 0; i < 100000; ++i) { v = {v}; } c.Input(v);",
    "a list that doubles": "auto v = {1, 2}; for (;;) { v = {v, v}; }",
    "too many ports": 'for (int i = 0; i < 100000; ++i) c.Input(std::to_string(i));',
    "too many chips": 'for (int i = 0; i < 100000; ++i) AICore().AddConfig(std::to_string(i));',
    "a configuration copied again and again": 'for (int i = 0; i < 900; ++i) c.Input(std::to_string(i));\n'
    'for (;;) AICore().AddConfig("a", c);',
    "columns given again and again": "std::vector<ge::DataType> v(400000, ge::DT_FLOAT);\n"
    'for (;;) this->Input("x").DataType(v);',
    "parentheses in each other": "(" * 50_000 + "1" + ")" * 50_000 + ";",
    "braces in each other": "{" * 50_000 + "}" * 50_000,
    "conditions in each other": "if (true) " * 50_000 + ";",
    "a chain of members": "c" + ".x" * 50_000 + ";",
    "a chain of calls": "c" + ".PrecisionReduceFlag(true)" * 20_000 + ";",
    "a chain of operators": "int x = 1" + " + 1" * 50_000 + ";",
    "a chain of comparisons": "int x = a" + " < a" * 30_000 + ";",
    "lambdas in each other": "auto f = " + "[]() { return (" * 5_000 + "1" + ")(); }" * 5_000 + "; f();",
    "a long number": f"int x = {'9' * 100_000};",
    "an iterator out of its vector": "std::vector<int> v = {1}; c.PrecisionReduceFlag(*(v.begin() + 5));",
    "an attribute of lists in lists": 'this->Attr("a").ListListInt({{{{1}}}}); throw 1;',
}  # fmt: skip

HARMLESS = ("a chain of calls", "a chain of members", "a chain of comparisons", "a long number")
"""Long, but right, or nothing that touches the operator."""


@pytest.mark.parametrize("case", BODIES)
def test_a_hostile_body_is_unreadable(tmp_path: Path, case: str) -> None:
    reading = read_timed(tmp_path, f"{HEAD}OpAICoreConfig c;\n{BODIES[case]}\n{ADD}{TAIL}")
    if case not in HARMLESS:
        assert [each.name for each in reading.unreadable] == ["Op"]


GOOD = f"{HEAD}OpAICoreConfig c; {ADD}{TAIL}"
TEXTS = {
    "not closed": GOOD.replace("};", ""),
    "closed too often": "}" + GOOD,
    "a bracket of another kind": GOOD.replace("{ public", "( public"),
    "a comment not closed": "/* " * 300_000 + GOOD,
    "a raw string not closed": 'auto x = R"a(' * 100_000 + GOOD,
    "quotes": GOOD + '"' * 300_000,
    "a directive of a megabyte": "#define A " + "/*" * 500_000 + "\n" + GOOD,
    "conditions in each other": "#if 1\n" * 20_000 + GOOD,
    "a condition not closed": "#if 1\n" + GOOD,
    "an end without condition": "#endif\n" + GOOD,
    "parentheses in a condition": f"#if {'(' * 50_000}1{')' * 50_000}\n{GOOD}#endif\n",
    "macros that double": "".join(f"#define A{i} A{i + 1} A{i + 1}\n" for i in range(60))
    + GOOD.replace("OpAI", "A0 OpAI"),
    "a macro's argument doubled": "#define D(x) x x x x x x x x\n"
    + GOOD.replace("OpAI", f"{'D(' * 12}1{')' * 12}; OpAI"),
    "a chain of macros": "".join(f"#define A{i} A{i + 1}\n" for i in range(20_000)) + GOOD.replace("OpAI", "A0; OpAI"),
    "a chain of bases": "".join(f"class B{i} : public B{i + 1} {{}};\n" for i in range(20_000))
    + GOOD.replace("public OpDef", "public B0"),
    "its own base": GOOD.replace("public OpDef", "public Op"),
    "a method with the name of its base": GOOD.replace("public: ", "public: void OpDef() {} "),
    "an initializer that is a method": GOOD.replace("OpDef(name) {", "OpDef(name), f(1) {").replace(
        "public: ", "public: void f(int x) {} "
    ),
    "an alias of itself": GOOD.replace("class", "using A = A; class", 1).replace("OpAICoreConfig c", "A c"),
    "many registrations of a slow class": HEAD + "for (int i = 0; i < 90000; ++i) {}" + TAIL + "OP_ADD(Op);\n" * 20_000,
    "many registrations of no class": "OP_ADD(No);\n" * 20_000 + "class X : public OpDef {};",
    "template lists": GOOD + "a<" * 30_000 + ";",
    "zero bytes": GOOD.replace(" ", "\0"),
}  # fmt: skip
READ = (
    *("quotes", "template lists", "parentheses in a condition", "a macro's argument doubled"),
    "a method with the name of its base",
)


@pytest.mark.parametrize("case", TEXTS)
def test_a_hostile_text_is_unreadable_or_read(tmp_path: Path, case: str) -> None:
    reading = read_timed(tmp_path, TEXTS[case])
    if case not in READ:
        assert reading.unreadable
    assert reading.rows or reading.unreadable


def test_the_product_of_axes_is_bounded_and_leaves_the_policy(tmp_path: Path) -> None:
    axis = "{" + ", ".join(f"ge::DT_{name}" for name in ("FLOAT", "INT8", "INT16", "INT32", "BOOL")) + "}"
    ports = "".join(f'this->Input("x{i}").DataTypeList({axis});\n' for i in range(30))
    (row,) = read_timed(tmp_path, f"{HEAD}{ports}OpAICoreConfig c; c.PrecisionReduceFlag(false); {ADD}{TAIL}").rows
    assert row.policy == "black"
    assert row.columns_unread is not None
    assert "1,000,000 words" in row.columns_unread


def test_includes_stay_in_the_project_and_end(tmp_path: Path) -> None:
    (tmp_path / "secret.h").write_text("int secret;")
    project = tmp_path / "project"
    project.mkdir()
    (project / "link.h").symlink_to(tmp_path / "secret.h")
    (project / "self.h").write_text('#include "self.h"\n#include "op_def.cpp"\n')
    for index in range(200):
        (project / f"h{index}.h").write_text(f'#include "h{index + 1}.h"\n')
    for name in ("../secret.h", "link.h", str(tmp_path / "secret.h"), "", "\0.h"):
        reading = read_timed(project, f'#include "{name}"\n{GOOD}')
        assert [row.policy for row in reading.rows] == ["gray"], name
    reading = read_timed(project, f'#include "self.h"\n{GOOD}')
    assert [each.reason for each in reading.unreadable] == ["`Op` is defined more than once"] * 2
    reading = read_timed(project, f'#include "h0.h"\n{GOOD}')
    assert [(each.name, "includes" in each.reason) for each in reading.unreadable] == [("Op", True)]


MUTATIONS = [
    *"(){}[]<>\"'#;,=&*\\",
    "/*",
    "*/",
    "//",
    "\n#if A\n",
    "\n#else\n",
    "\n#endif\n",
    'R"(',
    "\0",
    "999999999999",
]


def mutated(text: str, dice: random.Random) -> str:
    for _ in range(dice.choice((1, 1, 2, 5, 20))):
        at, length = dice.randrange(len(text) + 1), dice.choice((1, 1, 3, 20, 200))
        other = dice.randrange(len(text) + 1)
        text = dice.choice(
            (
                text[:at] + text[at + length :],
                text[: at + length] + text[at:],
                text[:at] + text[other : other + length] + text[at:],
                text[:at] + dice.choice(MUTATIONS) + text[at:],
                text[:at] + dice.choice(MUTATIONS) + text[at + length :],
                text[: max(at, 200)],
            )
        )
    return text


def test_mutants_of_a_source_are_read_or_unreadable(tmp_path: Path) -> None:
    dice = random.Random(1)
    body = f"""
        this->Input("x").ParamType(REQUIRED)
            .DataType({{ge::DT_FLOAT16, ge::DT_FLOAT}}).Format({{ge::FORMAT_ND, ge::FORMAT_ND}});
        this->Attr("axis").AttrType(OPTIONAL).ListInt({{1, 2}});
        std::vector<ge::DataType> all(2, ge::DT_FLOAT);
        for (auto& each : all) {{ if (each == ge::DT_FLOAT) continue; }}
        this->Output("y").DataTypeList(all).FormatList({{ge::FORMAT_ND}}); OpAICoreConfig c("ascend910b");
        c.DynamicFormatFlag(false).PrecisionReduceFlag(true); {ADD}"""
    for _ in range(300):
        read_timed(tmp_path, mutated(f"#ifndef A\n#define A\n#endif\n{HEAD}{body}{TAIL}", dice))


@pytest.mark.skipif(CHECKOUTS is None, reason="OPSINFO_OPDEF_CHECKOUTS names no folder of checkouts")
def test_600_mutants_of_real_sources_are_read_or_unreadable(tmp_path: Path) -> None:
    assert CHECKOUTS is not None
    dice = random.Random(2)
    sources = [file for folder in sorted(Path(CHECKOUTS).iterdir()) for file in find_sources(str(folder)).files]
    for file in dice.choices(sources, k=600):
        read_timed(tmp_path, mutated(Path(file).read_text("utf-8", "replace"), dice))


def test_a_folder_with_many_files_is_not_walked_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    for number in range(4):
        (tmp_path / "a" / f"{number}.txt").touch()
    assert find_sources(str(tmp_path)).files == []
    monkeypatch.setattr("opsinfo_cli.core.cann.opdef.find.MOST_FILES", 3)
    with pytest.raises(Refused, match="more than 3 files"):
        find_sources(str(tmp_path))
