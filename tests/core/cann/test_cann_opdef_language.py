"""C++ as real sources use it, and what is not understood."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opdef_source import PORTS, PROGRAMS, Program, columns, of_folder, read, reason, row, source

from opsinfo_cli.core.cann.opdef import conversion, runner, standard
from opsinfo_cli.core.cann.opdef.preprocessor import _KNOWN
from opsinfo_cli.core.cann.opdef.reading import read_sources
from opsinfo_cli.core.cann.opdef.values import Variable

ADD = 'this->AICore().AddConfig("ascend910b");'
PASS = 'this->AICore().AddConfig("ascend910b", c);'


@pytest.fixture(autouse=True)
def no_value_is_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at all that functions of the interpreter take and return as `Value`."""

    def require(said: object, found: Any) -> None:
        parts = found if said in ("list[Value]", "tuple[Value, int]", "Arguments") else [found]
        if "Value" in str(said) or said == "Arguments":
            assert not any(isinstance(each, Variable) for each in parts)

    def looking(function: Callable[..., Any]) -> Callable[..., Any]:
        names, said = inspect.signature(function).parameters, function.__annotations__

        @functools.wraps(function)
        def call(*given: Any, **more: Any) -> Any:
            for name, value in (*zip(names, given, strict=False), *more.items()):
                require(said.get(name), value)
            found = function(*given, **more)
            require(said["return"], found)
            return found

        return call

    for owner in (runner, runner.Runner, conversion.Conversion, standard):
        for name, function in list(vars(owner).items()):
            if inspect.isfunction(function) and "Value" in str(function.__annotations__.values()):
                monkeypatch.setattr(owner, name, looking(function))


EXPRESSIONS = {
    "a vector by name": ("std::vector<ge::DataType> v = {ge::DT_FLOAT, ge::DT_INT8};", "v", "float32,int8"),
    "copies": ("", "std::vector<ge::DataType>(2, ge::DT_INT8)", "int8,int8"),
    "copies in braces": ("std::vector<ge::DataType> v{3, ge::DT_INT8};", "v", "int8,int8,int8"),
    "copies of a size": (
        "std::vector<ge::DataType> a = {ge::DT_FLOAT, ge::DT_BOOL}; std::vector<ge::DataType> v(a.size() * 2, a[1]);",
        *("v", "bool,bool,bool,bool"),
    ),
    "the vector itself in braces": (
        "std::vector<ge::DataType> v = {ge::DT_FLOAT, ge::DT_INT8};",
        *("{v}", "float32,int8"),
    ),
    "two braces": ("", "{{ge::DT_FLOAT, ge::DT_INT8}}", "float32,int8"),
    "one value": ("ge::DataType d = ge::DT_INT8;", "{d, d}", "int8,int8"),
    "an array": (
        "const ge::DataType a[] = {ge::DT_INT8, ge::DT_BOOL};",
        *("std::vector<ge::DataType>(std::begin(a), std::end(a))", "int8,bool"),
    ),
    "a loop over values": (
        "std::vector<ge::DataType> v;"
        "for (auto d : {ge::DT_INT8, ge::DT_BOOL}) for (int i = 0; i < 2; ++i) v.push_back(d);",
        *("v", "int8,int8,bool,bool"),
    ),
    "elements changed by reference": (
        "std::vector<ge::DataType> v(2, ge::DT_INT8); for (auto& d : v) d = ge::DT_BOOL;",
        *("v", "bool,bool"),
    ),
    "a value under another name": (
        "std::vector<ge::DataType> v = {ge::DT_INT8}; auto&& w = v; w.push_back(ge::DT_BOOL);",
        *("v", "int8,bool"),
    ),
    "a copy does not change": (
        "std::vector<ge::DataType> v = {ge::DT_INT8}; auto w = v; w.push_back(ge::DT_BOOL);",
        *("v", "int8"),
    ),
    "a lambda": (
        "auto make = [](ge::DataType d, int n = 2) { return std::vector<ge::DataType>(n, d); };",
        *("make(ge::DT_INT8)", "int8,int8"),
    ),
    "what a lambda captures": (
        "int n = 1, m = 1; auto f = [&n]() { return n; }; auto g = [&]() { return m; }; n = 2; m = 3;",
        *("std::vector<ge::DataType>(f() + g(), ge::DT_INT8)", "int8,int8,int8,int8,int8"),
    ),
    "for_each": (
        "std::vector<ge::DataType> a = {ge::DT_INT8, ge::DT_BOOL}, v;"
        "std::for_each(a.cbegin(), a.cend(), [&v](ge::DataType d)"
        "{ v.push_back(d); });",
        *("v", "int8,bool"),
    ),
    "a number without a value": (
        "int n = int();",
        *("std::vector<ge::DataType>(n + 1, ge::DT_INT8)", "int8"),
    ),
    "a copy of a map": (
        "std::map<std::string, std::vector<ge::DataType>> m = {{\"x\", {ge::DT_INT8}}};",
        *('std::map<std::string, std::vector<ge::DataType>>(m)["x"]', "int8"),
    ),
    "a map": (
        "std::map<std::string, std::vector<ge::DataType>> m = "
        '{{"x", {ge::DT_INT8, ge::DT_BOOL}}, {"y", {ge::DT_FLOAT}}};',
        *('m["x"]', "int8,bool"),
    ),
    "a map's element, and find": (
        'std::map<std::string, std::vector<ge::DataType>> m; m["x"].push_back(ge::DT_INT8); auto it = m.find("x");'
        'std::vector<ge::DataType> v; if (it != m.end() && m.find("y") == m.end()) v = it->second;',
        *("v", "int8"),
    ),
    "switch": (
        "auto f = [](ge::DataType d) { switch (d) { case ge::DT_INT8: case ge::DT_BOOL: return ge::DT_FLOAT;"
        " default: return ge::DT_BF16; } };",
        *("{f(ge::DT_BOOL), f(ge::DT_INT32)}", "float32,bfloat16"),
    ),
    "a cast": ("bool n = static_cast<bool>(2);", "std::vector<ge::DataType>(n + 1, ge::DT_INT8)", "int8,int8"),
    "a raw string with braces": ('std::string s = R"json({"a": "}"})json";', "{ge::DT_INT8}", "int8"),
}  # fmt: skip


@pytest.mark.parametrize("case", EXPRESSIONS)
def test_a_column(tmp_path: Path, case: str) -> None:
    before, expression, wanted = EXPRESSIONS[case]
    found = row(tmp_path, f'{before}\nthis->Input("x").DataType({expression}); {ADD}')
    assert found.columns_unread is None
    assert columns(found.entry) == {"input0": wanted}


@pytest.mark.parametrize("kind", ["namespace ", "namespace v1", "inline namespace v1"])
def test_names_of_a_namespace_and_of_members(tmp_path: Path, kind: str) -> None:
    found = row(
        tmp_path,
        f'Input("x").DataType(kAll).Format(FORMAT_ND); Input("y").DataType(own_);{ADD}',
        before=kind + " { const std::vector<ge::DataType> kAll = {ge::DT_FLOAT, ge::DT_INT8}; }"
        "static const std::vector<ge::Format> FORMAT_ND = {ge::FORMAT_NCHW, ge::FORMAT_ND};",
        members="std::vector<ge::DataType> own_ = {ge::DT_BOOL, ge::DT_BOOL};",
    )
    assert columns(found.entry) == {"input0": "float32,int8", "input1": "bool,bool"}
    assert found.entry["input0"]["format"] == "NCHW,ND"  # the variable, not the constant of its name


HELPERS = {
    "a member that returns a configuration": (
        'this->AICore().AddConfig("ascend910b", Make());',
        {"members": "OpAICoreConfig Make() const { OpAICoreConfig c; c.PrecisionReduceFlag(false); return c; }"},
    ),
    "a member that changes one": (
        f"OpAICoreConfig c; Change(c); {PASS}",
        {"members": "void Change(OpAICoreConfig& config) { config.PrecisionReduceFlag(false); }"},
    ),
    "a function that is given the operator": (
        "Fill(*this);",
        {
            "before": "static void Fill(OpDef& op) { OpAICoreConfig c; c.PrecisionReduceFlag(false);"
            ' op.AICore().AddConfig("ascend910b", c); }'
        },
    ),
    "a pointer to the operator": (
        "Fill(this);",
        {
            "before": "void Fill(OpDef* op) { OpAICoreConfig c; c.PrecisionReduceFlag(false);"
            ' op->AICore().AddConfig("ascend910b", c); }'
        },
    ),
    "a template": (
        f"OpAICoreConfig c; Change<OpAICoreConfig>(c); {PASS}",
        {"before": "template <typename T = int> static void Change(T& config) { config.PrecisionReduceFlag(false); }"},
    ),
    "a lambda that is called for chips": (
        'OpAICoreConfig c; c.PrecisionReduceFlag(false);'
        'for (const auto& chip : {"ascend910b", "ascend950"}) { AICore().AddConfig(chip, c); }',
        {},
    ),
    "a base class": (
        PASS,
        {
            "before": "class Base : public OpDef { public: explicit Base(const char* n) : OpDef(n)"
            "{ c.PrecisionReduceFlag(false); } OpAICoreConfig c; };",
            "base": "Base",
        },
    ),
    "overloads": (
        f"OpAICoreConfig c; Set(c, 1); Set(c); {PASS}",
        {
            "before": "void Set(OpAICoreConfig& c) { c.PrecisionReduceFlag(false); }"
            "void Set(OpAICoreConfig& c, int n) { c.PrecisionReduceFlag(true); }"
        },
    ),
    "an object of a class": (
        f"Maker m(false); OpAICoreConfig c = m.Make(); {PASS}",
        {
            "before": "struct Maker { bool flag_ = true; explicit Maker(bool flag) : flag_(flag) {}"
            " OpAICoreConfig Make() { OpAICoreConfig c; c.PrecisionReduceFlag(flag_); return c; } };"
        },
    ),
    "a constant of an enumeration": (
        f"OpAICoreConfig c; c.PrecisionReduceFlag(Mode::B == 0); {PASS}",
        {"before": "enum Mode : int { A = 3, B };"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HELPERS)
def test_a_helper_makes_the_operator_black(tmp_path: Path, case: str) -> None:
    body, parts = HELPERS[case]
    reading = read(tmp_path, source(body, **parts))
    assert reading.unreadable == []
    assert [each.policy for each in reading.rows if each.chip == "ascend910b"] == ["black"]


def test_macros(tmp_path: Path) -> None:
    text = f"""
#define BEGIN(N) class N##Op : public OpDef {{ public: explicit N##Op(const char* name) : OpDef(name) {{
#define PORT(KIND, NAME, ...) this->KIND(#NAME).DataType({{__VA_ARGS__}});
#define FLAG false
BEGIN(Add)
    PORT(Input, x, ge::DT_FLOAT, ge::DT_INT8) OpAICoreConfig c; c.PrecisionReduceFlag(FLAG); {PASS} }}
}};
OP_ADD(AddOp);"""
    (found,) = read(tmp_path, text).rows
    assert (found.name, found.policy, found.line, found.entry["input0"]["name"]) == ("AddOp", "black", 6, "x")
    assert columns(found.entry) == {"input0": "float32,int8"}


STR = "#define STR(x) #x\n#define XSTR(x) STR(x)\n"
REPLACED = {
    "an argument before the text": ("#define CHIP ascend910c", "XSTR(CHIP)", "ascend910c"),
    "an operand of # as it is": ("#define CHIP ascend910c", "STR(CHIP)", "CHIP"),
    "words without blanks": ("#define P a", 'XSTR(a-b)', "a-b"),
    "words with blanks": ("", "XSTR( a /* */ b )", "a b"),
    "words whose blanks are not known": ("#define P a", "XSTR(P-b)", None),
    "an argument before it is pasted": (
        "#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\n#define N 910c",
        "XSTR(CAT(ascend, N))",
        "ascend910c",
    ),
    "an operand of ## as it is": ("#define CAT(a, b) a##b\n#define N 910c", "XSTR(CAT(ascend, N))", "ascendN"),
    "an empty operand of ##": ("#define F(x, y) y x ## y", 'F(, "a")', "aa"),
    "an empty macro": ("#define F() a", "XSTR(F())", "a"),
    "its own name in an argument": ("#define A A-a\n#define g(x) x", "XSTR(g(A))", "A-a"),
    "a macro whose arguments follow": ('#define F G\n#define G(x) "a" x', 'F("b")', "ab"),
    "what is left": ("#define F(x, ...) f(x, ##__VA_ARGS__)", 'F("a")', "a1"),
    "two that are left": ("#define F(x, ...) f(x, ##__VA_ARGS__)", 'F("a", 2)', "a2"),
    "what is left under a name": ("#define F(x, rest...) f(x, ##rest)", 'F("a", 2, 3)', "a5"),
}  # fmt: skip


def replaced_in(macros: str, chip: str) -> str:
    before = "std::string f(const std::string& x, int m = 1, int n = 0) { return x + std::to_string(m + n); }"
    return f"{STR}{macros}\n" + source(f"AICore().AddConfig({chip});", before=before)


@pytest.mark.parametrize("case", REPLACED)
def test_a_macro_becomes_what_the_standard_says(tmp_path: Path, case: str) -> None:
    macros, chip, wanted = REPLACED[case]
    reading = read(tmp_path, replaced_in(macros, chip))
    assert [each.chip for each in reading.rows] == [wanted] * (wanted is not None)
    assert len(reading.unreadable) == (wanted is None)


def test_a_macro_of_the_arguments_decides_a_policy(tmp_path: Path) -> None:
    macros = "#define CAT_(a, b) a##b\n#define CAT(a, b) CAT_(a, b)\n#define KIND Black\n"
    before = "const bool kKIND = true, kBlack = false;"
    body = f"OpAICoreConfig c; c.PrecisionReduceFlag(CAT(k, KIND)); {PASS}"
    assert [each.policy for each in read(tmp_path, macros + source(body, before=before)).rows] == ["black"]


@pytest.mark.parametrize("name", [name for name in _KNOWN if name.startswith(("INT", "UINT"))])
def test_a_limit_of_a_type_is_its_value_where_it_is_used(tmp_path: Path, name: str) -> None:
    bits = int("".join(filter(str.isdigit, name)) or 32)
    least = 0 if name.startswith("U") else -(1 << bits - 1)
    value = least if name.endswith("MIN") else least + (1 << bits) - 1
    body = f'Attr("a").AttrType(OPTIONAL).Int({name});\nAttr("b").AttrType(OPTIONAL).ListInt({{1, {name}}});\n{ADD}'
    entry = row(tmp_path, body).entry
    assert [entry[f"attr_{each}"]["defaultValue"] for each in "ab"] == [f"{value}", f"[1,{value}]"]


@pytest.mark.parametrize("name", _KNOWN)
def test_what_is_wrong_with_a_macro_of_a_header_is_said_where_it_is_used(tmp_path: Path, name: str) -> None:
    assert reason(tmp_path, f"OpAICoreConfig c;\nc.PrecisionReduceFlag({name} {name}); {PASS}")[0] == 8


def test_a_name_of_two_namespaces_is_not_guessed(tmp_path: Path) -> None:
    before = "namespace a { const bool kFlag = true; } namespace b { const bool kFlag = false; }"
    body = f"OpAICoreConfig c; c.PrecisionReduceFlag(b::kFlag); {PASS}"
    assert reason(tmp_path, body, before=before) == (2, "`kFlag` is defined more than once")


@pytest.mark.parametrize("name", ["cfg::kFlag", "cfg::Flag()", "Mode::kFlag"])
def test_a_name_of_a_namespace_is_not_that_of_a_function(tmp_path: Path, name: str) -> None:
    before = "namespace cfg { const bool kFlag = true; bool Flag() { return true; } enum Mode { kOther }; }"
    body = "bool kFlag = false; auto Flag = [&]() { return false; };\n"
    body += f"OpAICoreConfig c; c.PrecisionReduceFlag({name}); {PASS}"
    assert reason(tmp_path, body, before=before) == (8, f"`{name.removesuffix('()')}` is not interpreted")


def test_a_header_of_the_project_is_read_once_for_all_sources_with_its_own_lines(tmp_path: Path) -> None:
    header = (
        "#ifndef H\n#define H\ninline OpAICoreConfig Make()\n{\n    OpAICoreConfig c;\n"
        "    c.PrecisionReduceFlag(false);\n    return c;\n}\n#endif\n"
    )
    files = {"common/op_host/make.h": header}
    for name in ("A", "B"):
        text = source('AICore().AddConfig("ascend910b", Make());', name=name)
        files[f"{name}/op_host/{name}_def.cpp"] = '#include "../../common/op_host/make.h"\n' + text
    reading = of_folder(tmp_path, files)
    assert [(row.name, row.file, row.line, row.declared.line) for row in reading.rows] == [
        (name, str(tmp_path / "common/op_host/make.h"), 6, 8) for name in ("A", "B")
    ]


CONDITIONS = {
    "#if 1": "black",
    "#if 0": "white",
    "#if defined(YES) && YES > 1": "black",
    "#if !defined(YES)": "white",
    "#ifdef YES": "black",
    "#ifndef YES": "white",
    "#if YES == 3": "white",
    "#if 0 && FROM_THE_BUILD": "white",
    "#if __has_include(\"version/no.h\")": "white",
    "#if 0\n#elif YES": "black",
    "#if 0\n#else": "black",
    "#if UINT_MAX > INT_MAX && UINT64_MAX > 1": "black",
    "#if !defined(INT_MIN) || !defined(FLT_MIN)": "white",
}  # fmt: skip


def under(condition: str) -> str:
    body = f"OpAICoreConfig c; c.PrecisionReduceFlag(true);\n{condition}\nc.PrecisionReduceFlag(false);\n#endif\n{PASS}"
    return "#define YES 2\n" + source(body)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_that_the_project_decides(tmp_path: Path, condition: str) -> None:
    (found,) = read(tmp_path, under(condition)).rows
    assert found.policy == CONDITIONS[condition]


UNREADABLE = {
    "a condition whose numbers may have no sign": (
        f"OpAICoreConfig c;\n#if -1 > 1U\nc.PrecisionReduceFlag(false);\n#endif\n{PASS}",
        *(11, "on ascend910b: the build decides it by fulfilling `- 1 > 1U` or not"),
    ),
    "a condition with a number below 0": (
        f"OpAICoreConfig c;\n#if -1 < 0\nc.PrecisionReduceFlag(false);\n#endif\n{PASS}",
        *(11, "on ascend910b: the build decides it by fulfilling `- 1 < 0` or not"),
    ),
    "a number that may have no sign": (
        f"OpAICoreConfig c;\nunsigned n = 2;\nc.PrecisionReduceFlag(n > INT_MIN); {PASS}",
        *(9, "`>` of these values is not interpreted"),
    ),
    "a condition of the build": (
        f"OpAICoreConfig c;\n#ifdef FROM_THE_BUILD\nc.PrecisionReduceFlag(false);\n#endif\n{PASS}",
        *(11, "on ascend910b: the build decides it by defining `FROM_THE_BUILD` or not"),
    ),
    "a header that no file shows": (
        f'OpAICoreConfig c;\n#if __has_include("register/no.h")\nc.PrecisionReduceFlag(false);\n#endif\n{PASS}',
        *(11, 'on ascend910b: the build decides it by having `"register/no.h"` or not'),
    ),
    "a header of the standard library": (
        f"OpAICoreConfig c;\n#if !__has_include(<vector>)\nc.PrecisionReduceFlag(false);\n#endif\n{PASS}",
        *(11, "on ascend910b: the build decides it by having `<vector>` or not"),
    ),
    "a later condition of the build": (
        f"OpAICoreConfig c;\n#if 0\n#elif VALUE > 2\nc.PrecisionReduceFlag(false);\n#endif\n{PASS}",
        *(12, "on ascend910b: the build decides it by fulfilling `VALUE > 2` or not"),
    ),
    "a later condition of the build on one macro": (
        f"OpAICoreConfig c;\n#if 0\n#elifdef FROM_THE_BUILD\nc.PrecisionReduceFlag(false);\n#endif\n{PASS}",
        *(12, "on ascend910b: the build decides it by defining `FROM_THE_BUILD` or not"),
    ),
    "a flag": (f"OpAICoreConfig c;\nc.PrecisionReduceFlag(kFlag); {PASS}", 8, "`kFlag` is not defined in the project"),
    "a flag that is a text": (
        f'OpAICoreConfig c; c.PrecisionReduceFlag("no"); {PASS}',
        *(7, "`PrecisionReduceFlag` takes true or false"),
    ),
    "a chip": ("AICore().AddConfig(kChip);", 7, "`kChip` is not defined in the project"),
    "a chip that is a word of an enum": ("AICore().AddConfig(ge::kA2);", 7, "a text expected"),
    "a chip that is a number": ("AICore().AddConfig(910);", 7, "a text expected"),
    "a configuration": ('AICore().AddConfig("ascend910b", Make());', 7, "`Make` is not defined in the project"),
    "a function that is given a configuration": (
        f"OpAICoreConfig c;\nChange(c); {PASS}",
        *(8, "`Change` is not defined in the project"),
    ),
    "a function that is given the operator": (f"Change(this); {ADD}", 7, "`Change` is not defined in the project"),
    "a condition": (f"if (Is950()) {{ {ADD} }}", 7, "`Is950` is not defined in the project"),
    "a loop": ("for (auto chip : Chips()) AICore().AddConfig(chip);", 7, "`Chips` is not defined in the project"),
    "an exception": (f"throw 1; {ADD}", 7, "an exception is thrown"),
    "break": (f"for (int i = 0; i < 2; ++i) {{ if (i == 1) break; }} {ADD}", 7, "`break` is not interpreted"),
    "continue": (f"for (auto i : {{1, 2}}) {{ continue; }} {ADD}", 7, "`continue` is not interpreted"),
    "a loop over a map": (
        f'std::map<std::string, bool> m{{{{"a", true}}}};\nfor (const auto& each : m) {{ {ADD} }}',
        *(8, "what the loop runs over is not understood"),
    ),
    "a copy of the core": (f"auto core = AICore();\n{ADD}", 7, "the copy of an object is not interpreted"),
    "a statement": (f"goto x; {ADD}", 7, "`goto` is not understood"),
    "a name that a header may make a macro": (f"CONFIGURE; {ADD}", 7, "`CONFIGURE` is not defined in the project"),
    "a call that may be of a macro": (f"CONFIGURE(1); {ADD}", 7, "`CONFIGURE` is not defined in the project"),
    "a pack": (f"Fill(*this, args...); {ADD}", 7, "`Fill` is not defined in the project"),
    "an argument that is not understood and sets a flag": (
        f"OpAICoreConfig c;\nAICore().SetTiling(1 2 c.PrecisionReduceFlag(false)); {PASS}",
        *(8, "`2` is not understood"),
    ),
    "a statement that is not understood and names a configuration": (
        f"OpAICoreConfig c;\n1 2 c; {PASS}",
        *(8, "`2` is not understood"),
    ),
    "a statement that is not understood and names a list of configurations": (
        f"OpAICoreConfig c; auto all = {{c}};\nall 3; {PASS}",
        *(8, "`3` is not understood"),
    ),
    "a condition that is not understood": (f"int n = 1 2; if (n) {{ {ADD} }}", 7, "`2` is not understood"),
    "a call without arguments": ("AICore().AddConfig();", 7, "the call of `AddConfig` is not understood"),
}  # fmt: skip


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_may_decide_the_policy_and_is_not_known_is_named(tmp_path: Path, case: str) -> None:
    body, line, why = UNREADABLE[case]
    assert reason(tmp_path, body) == (line, why)


PASSED_OVER = {
    "an argument of a template": "AICore().SetTiling(optiling::TilingForPool<false>);",
    "arguments of two templates": "AICore().SetTiling(optiling::Tiling<Mode::kFast, 3>).SetCheckSupport(Check<int>);",
    "a function of another library": 'Register<kKey>(1, "x" s);',
    "a pack": "lib::Fill(args...);",
}


@pytest.mark.parametrize("case", PASSED_OVER)
def test_what_cannot_touch_the_operator_is_passed_over(tmp_path: Path, case: str) -> None:
    found = row(tmp_path, f"OpAICoreConfig c; c.PrecisionReduceFlag(false);\n{PASSED_OVER[case]}\n{PASS}{PORTS}")
    assert (found.policy, found.line, found.unread_parts) == ("black", 7, [])


WRONG = {
    "iterators of no vector": (
        "std::vector<int> v = {1}; std::vector<int> w(v.begin(), 3); int x = w[0];",
        "the iterators are not of one vector",
    ),
    "a map without its types": (
        "std::map m{{1, 2}}; int x = m[1];",
        "a map of these types is not interpreted",
    ),
    "a key that is a vector": (
        "std::map<std::string, int> m; std::vector<int> k; int x = m[k];",
        "the index is outside the vector, or it is none",
    ),
    "keys that are vectors": (
        "std::map<std::vector<int>, int> m{{{1}, 3}}; int x = m.size();",
        "a map of these types is not interpreted",
    ),
    "an element of a vector that is gone": (
        "std::vector<int> v = {1, 2}; auto& x = v[1]; v.clear();",
        "the element that is referred to is gone",
    ),
    "an element of a map that is gone": (
        'std::map<std::string, int> m; auto& x = m["a"]; m.clear();',
        "the element that is referred to is gone",
    ),
    "a loop that shortens its vector": (
        "std::vector<int> v = {1, 2}; for (auto i : v) { v.clear(); } int x = 1;",
        "the loop shortens what it runs over",
    ),
    "a cast of two values": ("int x = static_cast<int>(1, 2);", "a cast that is not understood"),
}


@pytest.mark.parametrize("program", PROGRAMS, ids=[f"line {each.line}" for each in PROGRAMS])
def test_a_policy_is_that_of_a_compiler_or_refused(tmp_path: Path, program: Program) -> None:
    reading = read(tmp_path, program.text)
    assert [row.policy for row in reading.rows] == [program.policy] * program.is_read
    assert len(reading.unreadable) == (not program.is_read)


@pytest.mark.parametrize(
    "setter", ["Setter s(c);", "Setter s{c};", "Setter s = c;", "Guard s([&]() { c; }, 1);", "Base s(c);"]
)
def test_a_type_that_is_not_read_is_given_no_configuration(tmp_path: Path, setter: str) -> None:
    before = "struct Base : public Missing {};"
    reading = read(tmp_path, source(f"OpAICoreConfig c; {setter} {PASS}", before=before))
    assert (reading.rows, len(reading.unreadable)) == ([], 1)


@pytest.mark.parametrize("change", ['s.append("b");', "s.swap(t);", "s[9] = 'b';"])
def test_a_chip_whose_text_changes_is_unreadable(tmp_path: Path, change: str) -> None:
    reading = read(tmp_path, source(f'std::string s = "ascend910c", t; {change} AICore().AddConfig(s.c_str());'))
    assert (reading.rows, len(reading.unreadable)) == ([], 1)


def test_a_file_may_be_included_again_with_other_macros(tmp_path: Path) -> None:
    (tmp_path / "set.inc").write_text("c.PrecisionReduceFlag(V);\n")
    (tmp_path / "once.h").write_text("#pragma once\n#undef V\n#define V true\n")
    lines = ["", "#define V true", '#include "../set.inc"', "#undef V", "#define V false", '#include "../once.h"']
    body = "OpAICoreConfig c;" + "\n".join([*lines, "#undef V", "#define V false", '#include "../once.h"'])
    reading = read(tmp_path, source(f'{body}\n#include "../set.inc"\n{PASS}'))
    assert [row.policy for row in reading.rows] == ["black"]


@pytest.mark.parametrize("name", ["g", "Get()"])
@pytest.mark.parametrize(
    "before",
    [
        "bool g = true;",
        "static bool g{true};",
        "const char* g = nullptr;",
        "std::vector<const bool*> g = {nullptr};",
        "extern const bool g;",
        "const bool g = kOther; bool kOther = true;",
    ],
)
def test_what_is_no_constant_of_a_namespace_decides_no_policy(tmp_path: Path, before: str, name: str) -> None:
    before += " bool Get() { return g; }"
    reading = read(tmp_path, source(f"OpAICoreConfig c; c.PrecisionReduceFlag({name}); {PASS}", before=before))
    assert (reading.rows, len(reading.unreadable)) == ([], 1)


@pytest.mark.parametrize("before", ["const bool g = false;", "constexpr bool g{false};", "bool const g(false);"])
def test_a_constant_of_a_namespace_keeps_its_value_whatever_is_not_read(tmp_path: Path, before: str) -> None:
    body = f"OpAICoreConfig c; Off(g); Z z; c.PrecisionReduceFlag(g); {PASS}"
    found = row(tmp_path, body, before=f"{before} const bool kFlags = false; void Off(bool); struct Z {{}};")
    assert found.policy == "black"


@pytest.mark.parametrize(
    "flag",
    [
        "extern bool g;",
        "struct S { static bool g; }; bool S::g = true;",
        "bool g = true; struct S { inline static bool g = false; };",
        "bool g = true; enum class S { a = 1, g };",
        "enum class S { a = 1 << 1, g };",
    ],
)
def test_a_value_that_is_defined_elsewhere_is_unknown(tmp_path: Path, flag: str) -> None:
    name = "S::g" if "S" in flag else "g"
    reading = read(tmp_path, source(f"OpAICoreConfig c; c.PrecisionReduceFlag({name}); {PASS}", before=flag))
    assert (reading.rows, len(reading.unreadable)) == ([], 1)


@pytest.mark.parametrize("case", WRONG)
def test_statements_that_are_wrong_in_c_plus_plus_end_with_a_reason(tmp_path: Path, case: str) -> None:
    body, why = WRONG[case]
    assert reason(tmp_path, f"{body} if (x) {{ {ADD} }}") == (7, why)


def test_with_one_macro_of_the_build_rows_that_do_not_depend_on_it_are_read(tmp_path: Path) -> None:
    body = f"""OpAICoreConfig c, d; c.PrecisionReduceFlag(true); OpAICoreConfig never; never.DynamicFormatFlag(true);
#ifdef FROM_THE_BUILD
d.PrecisionReduceFlag(false);
this->AICore().AddConfig("ascend950", c);
#endif
{PASS} this->AICore().AddConfig("ascend310p", d);"""
    reading = read(tmp_path, source(body))
    assert [(row.chip, row.policy) for row in reading.rows] == [("ascend910b", "white")]
    why = "the build decides it by defining `FROM_THE_BUILD` or not"
    assert [(each.name, each.line, each.reason) for each in reading.unreadable] == [
        ("Op", 12, f"on ascend310p: {why}"),
        ("Op", 10, f"on ascend950: {why}"),
    ]
    assert [operator.chips for operator in reading.operators] == [("ascend910b", "ascend310p", "ascend950")]
    assert [each.variable for each in reading.unpassed] == ["never"]
    assert [each.name for each in reading.registrations] == ["Op"]


def test_an_op_type_that_the_build_leaves_out_is_unreadable(tmp_path: Path) -> None:
    reading = read(tmp_path, f"#if defined(FROM_THE_BUILD)\n{source(ADD)}\n#endif\n{source(ADD, name='Other')}")
    assert [row.name for row in reading.rows] == ["Other"]
    assert [(each.name, each.reason) for each in reading.unreadable] == [
        ("Op", "on ascend910b: the build decides it by defining `FROM_THE_BUILD` or not")
    ]


def test_with_two_macros_of_the_build_all_four_ways_are_compared(tmp_path: Path) -> None:
    two = "#ifdef ONE\nc.PrecisionReduceFlag(false);\n#endif\n#ifdef TWO\nd.PrecisionReduceFlag(true);\n#endif\n"
    body = f'OpAICoreConfig c, d, e;\n{two}{PASS} AICore().AddConfig("ascend950", d).AddConfig("ascend310p", e);'
    reading = read(tmp_path, source(body))
    assert [(row.chip, row.policy) for row in reading.rows] == [("ascend310p", "gray")]
    why = "the build decides it by defining `ONE` and defining `TWO` or not"
    assert [each.reason for each in reading.unreadable] == [f"on ascend910b: {why}", f"on ascend950: {why}"]


def test_what_the_build_defines_under_a_condition_decides_no_policy(tmp_path: Path) -> None:
    for condition in ("#ifdef FROM_THE_BUILD", "#if VALUE > 2"):
        text = f"#define FLAG true\n{condition}\n#undef FLAG\n#define FLAG false\n#endif\n"
        body = f"OpAICoreConfig c; c.PrecisionReduceFlag(FLAG); {PASS}"
        reading = read(tmp_path, text + source(body))
        assert (reading.rows, len(reading.unreadable)) == ([], 1)


def test_more_conditions_of_the_build_than_can_be_compared_are_too_many(tmp_path: Path) -> None:
    text = "".join(f"#ifdef A{i}\nint a{i};\n#endif\n" for i in range(9))
    assert reason(tmp_path, ADD, before=f"\n{text}")[1] == "the build decides more than 5 conditions"


def test_a_constructor_that_a_class_inherits_is_run(tmp_path: Path) -> None:
    text = source(ADD, name="Base").replace("OP_ADD(Base);", "class Op : public Base { public: using Base::Base; };")
    (found,) = read(tmp_path, text + "OP_ADD(Op);").rows
    assert (found.name, found.policy) == ("Op", "white")


def test_a_chip_that_a_macro_registers_is_unreadable(tmp_path: Path) -> None:
    text = source(ADD) + "REGISTER_OP_AICORE_CONFIG(Op, ascend950, MakeConfig);\n"
    reading = read(tmp_path, text)
    assert [(row.chip, row.policy) for row in reading.rows] == [("ascend910b", "white")]
    assert [(each.name, each.chip) for each in reading.unreadable] == [("Op", "ascend950")]
    assert [each.name for each in reading.registrations] == ["Op"]


def test_definitions_that_are_missing_or_several(tmp_path: Path) -> None:
    plain = source(ADD)
    for text, wanted in {
        plain.replace("public OpDef", "public Base"): "the class `Base` is not defined in the project",
        plain.replace("OP_ADD(Op)", "OP_ADD(Other)"): "the class `Other` is not defined in the project",
        plain.replace(
            "class Op :", "class Op : public OpDef { int other; };\nclass Op :"
        ): "`Op` is defined more than once",
        f"#if VALUE > 2\n{plain}\n#endif\n": "on ascend910b: the build decides it by fulfilling `VALUE > 2` or not",
        f"#if 0\n#elif VALUE\n{plain}\n#endif\n": "on ascend910b: the build decides it by fulfilling `VALUE` or not",
        plain.replace(": public OpDef", ": private Thing"): "the class `Thing` is not defined in the project",
    }.items():
        (found,) = read(tmp_path, text).unreadable
        assert found.reason == wanted


def test_an_include_that_is_not_in_the_project_is_named_with_what_is_missing(tmp_path: Path) -> None:
    text = '#include "../common/make.h"\n' + source('AICore().AddConfig("ascend910b", Make());')
    (found,) = read(tmp_path, text).unreadable
    assert (
        found.reason
        == "`Make` is not defined in the project; includes that the project does not have: `../common/make.h`"
    )


MACROS = """
#define OPDEF_BEGIN(N) class N : public OpDef { public: explicit N(const char* name) : OpDef(name) {
#define OPDEF_END this->AICore().AddConfig("ascend910b"); } };
"""
BY_MACROS = """#include "foreach/macros.h"
#include "register/op_def_registry.h"
namespace ops { OPDEF_BEGIN(ForeachAdd) Input("x").DataType({kMain}); OPDEF_END OP_ADD(ForeachAdd); }"""


def test_a_header_in_a_folder_that_the_build_names_is_found_by_its_path(tmp_path: Path) -> None:
    files = {
        "op/op_host/foreach_add.cpp": BY_MACROS,
        "common/inc/foreach/macros.h": MACROS + "constexpr ge::DataType kMain = ge::DT_BF16;",
        "common/inc/macros.h": "#error another header",
    }
    (found,) = of_folder(tmp_path, files).rows
    assert (found.name, found.by_default, found.file) == (
        "ForeachAdd",
        True,
        str(tmp_path / "common/inc/foreach/macros.h"),
    )
    assert columns(found.entry) == {"input0": "bfloat16"}


@pytest.mark.parametrize("include", ['"macros.h"', "<macros.h>", '"inc/macros.h"', "<inc/macros.h>"])
@pytest.mark.parametrize("call", ["CONFIGURE;", "CALL();", "c.PrecisionReduceFlag(REDUCE);"])
def test_a_macro_of_a_header_elsewhere_in_the_project_decides(tmp_path: Path, include: str, call: str) -> None:
    macros = "\n#define CONFIGURE c.PrecisionReduceFlag(false)\n#define CALL() CONFIGURE\n#define REDUCE false\n"
    default = "#ifndef REDUCE\n#define REDUCE true\n#endif\n"
    text = f"#include {include}\n{default}" + source(f'OpAICoreConfig c("ascend910b"); {call} {PASS}')
    files = {"op/op_host/op_def.cpp": text, "common/inc/macros.h": macros}
    assert [row.policy for row in of_folder(tmp_path, files).rows] == ["black"]


def test_an_op_type_that_the_build_takes_from_one_of_two_classes_is_registered_once(tmp_path: Path) -> None:
    reading = read(tmp_path, f"#ifdef ONE\n{source(ADD)}\n#else\n{source(ADD)}\n#endif\n")
    assert (len(reading.rows), len(reading.registrations)) == (1, 1)


def test_of_two_headers_with_the_path_none_is_taken(tmp_path: Path) -> None:
    files = {"op_host/add.cpp": BY_MACROS, "a/foreach/macros.h": MACROS, "b/foreach/macros.h": MACROS}
    (found,) = of_folder(tmp_path, files).unreadable
    assert (found.name, found.reason) == (
        "ForeachAdd",
        "the text around `OP_ADD` is not understood; includes that the project does not have: `foreach/macros.h`",
    )


def test_one_unreadable_op_type_leaves_the_others(tmp_path: Path) -> None:
    reading = of_folder(
        tmp_path,
        {
            "a_def.cpp": source(ADD, name="A"),
            "b_def.cpp": source("AICore().AddConfig(kChip);", name="B") + source(ADD, name="C"),
            "d_def.cpp": source(ADD, name="D").replace("};", ""),
        },
    )
    assert [row.name for row in reading.rows] == ["A", "C"]
    assert [(each.name, Path(each.file).name, each.line) for each in reading.unreadable] == [
        ("B", "b_def.cpp", 7),
        ("D", "d_def.cpp", 2),
    ]


def test_a_registration_that_the_text_hides_is_named(tmp_path: Path) -> None:
    reading = read(tmp_path, source(ADD).replace("OP_ADD(Op);", "int x = 1 OP_ADD(Op);"))
    assert [(each.name, each.reason) for each in reading.unreadable] == [
        ("Op", "the text around `OP_ADD` is not understood")
    ]


def test_tiling_in_the_same_file_is_passed_over(tmp_path: Path) -> None:
    tiling = """namespace optiling {
BEGIN_TILING_DATA_DEF(TilingData)
TILING_DATA_FIELD_DEF(uint32_t, totalLength);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(AddCustom, TilingData)
constexpr uint32_t BLOCK_DIM = 8;
template <typename T, int N = 3>
struct Queue { T data[N]; bool operator<(const Queue& other) const { return data < other.data; } };
static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    auto length = context->GetInputShape(0)->GetOriginShape().GetShapeSize();
    for (auto&& [a, b] : std::map<int, int>{{1, 2}}) { asm volatile("nop"); }
    return length < 3 && length > 1 ? ge::GRAPH_FAILED : ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(AddCustom).Tiling(TilingFunc).TilingParse<CompileInfo>(Prepare);
}
extern "C" { int c_function(void); }
"""
    body = f"SetInferShape(ge::InferShape); AICore().SetTiling(optiling::TilingFunc); {ADD}"
    reading = read(tmp_path, tiling + source(body, name="AddCustom"))
    assert [(row.name, row.policy) for row in reading.rows] == [("AddCustom", "white")]


def test_a_file_that_is_missing_or_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "large.cpp").write_bytes(b"OP_ADD(A) : public OpDef" + bytes(5 << 20))
    found = read_sources([f"{tmp_path}/no.cpp", f"{tmp_path}/large.cpp"], str(tmp_path)).unreadable
    assert [(each.name, each.reason) for each in found] == [
        (None, "No such file or directory"),
        (None, "the file has more than 4 MB, which no OpDef source has"),
    ]


def test_a_byte_order_mark_and_carriage_returns_are_no_text(tmp_path: Path) -> None:
    text = source(f"OpAICoreConfig c;\nc.PrecisionReduceFlag(false);\n{PASS}").replace("\n", "\r\n")
    (found,) = read(tmp_path, "\ufeff" + text).rows
    assert (found.policy, found.line) == ("black", 8)
