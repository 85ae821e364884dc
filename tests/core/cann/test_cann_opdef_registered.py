"""Nothing with ``OP_ADD(`` is passed over in silence: classes, bases and registries in headers, and other programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from opdef_source import PORTS, of_folder, source

from opsinfo_cli.core.cann.opdef.find import find_sources
from opsinfo_cli.core.cann.opdef.reading import read_sources
from opsinfo_cli.core.cann.opdef_store import read_opdef
from opsinfo_cli.errors import Refused

REGISTRY = '#include "register/op_def_registry.h"\n'
ADD = 'this->AICore().AddConfig("ascend910b");'
BASE = f"""{REGISTRY}namespace ops {{ class SeriesBase : public OpDef {{
public: explicit SeriesBase(const char* name) : OpDef(name) {{}}
protected: void AddPorts() {{ {PORTS} }} void AddChips() {{ {ADD} }} }}; }}
"""
DERIVED = """#include "{header}"
namespace ops {{ class A : public {base} {{
public: explicit A(const char* name) : {base}(name)
    {{
        AddPorts();
        {body}
    }}
}};
OP_ADD(A); }}
"""
OUTSIDE = {
    "the constructor": ("explicit Op(const char* name);", "Op::Op(const char* name) : OpDef(name) {{ {add} }}"),
    "a method": ("Op(const char* name) : OpDef(name) {{ Rest(); }} void Rest();", "void Op::Rest() {{ {add} }}"),
    "a try around the constructor": ("Op(const char* name) try : OpDef(name) {{ {add} }} catch (...) {{}}", ""),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_definition_outside_its_class_is_unreadable_not_missed(tmp_path: Path, case: str) -> None:
    inside, outside = (part.format(add=ADD) for part in OUTSIDE[case])
    text = f"{REGISTRY}namespace ops {{ class Op : public OpDef {{ public: {inside} }}; {outside} OP_ADD(Op); }}"
    reading = of_folder(tmp_path, {"op_host/op_def.cpp": text})
    assert (reading.rows, [each.name for each in reading.unreadable]) == ([], ["Op"])


def test_a_constructor_with_noexcept_is_read(tmp_path: Path) -> None:
    text = f"{REGISTRY}class Op : public OpDef {{ public: Op(const char* name) noexcept : OpDef(name) {{ {ADD} }} }};"
    (found,) = of_folder(tmp_path, {"op_host/op_def.cpp": f"{text} OP_ADD(Op);"}).rows
    assert found.policy == "white"


READ = {
    "the base class is in a header": {
        "op_host/a_def.cpp": DERIVED.format(header="common.h", base="SeriesBase", body=ADD),
        "op_host/common.h": BASE,
    },
    "the base class calls AddConfig": {
        "op_host/a.cpp": DERIVED.format(header="common.h", base="SeriesBase", body="AddChips();"),
        "op_host/common.h": BASE,
    },
    "two classes between": {
        "kernels/a.cpp": DERIVED.format(header="middle.h", base="Middle", body=ADD),
        "kernels/middle.h": '#include "../base.h"\nnamespace ops { class Middle : public SeriesBase {'
        "public: explicit Middle(const char* name) : SeriesBase(name) {} }; }",
        "base.h": BASE,
    },
    "the header is in a folder that the build names": {
        "a/src/a.cpp": DERIVED.format(header="inc/common.h", base="SeriesBase", body=ADD),
        "lib/inc/common.h": BASE,
    },
    "the whole class is in a header": {
        "src/a.cpp": '#include "a.h"\nOP_ADD(A);\n',
        "src/a.h": source(PORTS + ADD, name="A").replace("OP_ADD(A);", ""),
    },
    "the namespace of the base class is written": {
        "a.cpp": DERIVED.format(header="common.h", base="ops::SeriesBase", body=ADD).replace(
            ": ops::SeriesBase(name)", ": SeriesBase(name)"
        ),
        "common.h": BASE,
    },
}


@pytest.mark.parametrize("case", READ)
def test_a_class_that_is_elsewhere_is_read(tmp_path: Path, case: str) -> None:
    reading = of_folder(tmp_path, READ[case])
    assert (reading.unreadable, reading.not_read) == ([], [])
    assert [(row.name, row.policy, row.by_default, len(row.entry["input0"]["dtype"])) for row in reading.rows] == [
        ("A", "white", True, len("float16,float32"))
    ]


UNREADABLE = {
    "the header of the base class is missing": (
        {"a.cpp": DERIVED.format(header="common.h", base="SeriesOpDef", body=ADD)},
        "the class `SeriesOpDef` is not defined in the project; includes that the project does not have: `common.h`",
    ),
    "the header of the class is missing, and the name of the file is that of a source": (
        {"a_def.cpp": '#include "a.h"\nOP_ADD(A);\n'},
        "the class `A` is not defined in the project; includes that the project does not have: `a.h`",
    ),
    "the header of the class is missing, and the folder is that of sources": (
        {"a/op_host/a.cpp": '#include "a.h"\nOP_ADD(A);\n'},
        "the class `A` is not defined in the project; includes that the project does not have: `a.h`",
    ),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_a_class_that_the_project_does_not_have_is_named(tmp_path: Path, case: str) -> None:
    files, why = UNREADABLE[case]
    reading = of_folder(tmp_path, files)
    assert [(each.name, each.reason) for each in reading.unreadable] == [("A", why)]


OTHERS = {
    "a virtual machine": "switch (code) { case 1: OP_ADD(left, right); break; }",
    "a table of opcodes": '#include "opcodes.h"\nenum { OP_ADD(ADD) };',
    "text that is not closed": "void run() { OP_ADD(left)",
}


@pytest.mark.parametrize("case", OTHERS)
def test_another_program_is_counted_and_is_no_source(tmp_path: Path, case: str) -> None:
    path = tmp_path / "vm.cpp"
    path.write_text(OTHERS[case])
    reading = read_sources([str(path)])
    assert (reading.unreadable, [each.path for each in reading.not_read]) == ([], [str(path)])
    assert read_opdef(str(tmp_path)) is None
    with pytest.raises(Refused, match="derives from `OpDef`"):
        read_opdef(str(path))
    (tmp_path / "a_def.cpp").write_text(source(ADD))
    beside = read_opdef(str(tmp_path))
    assert beside is not None
    assert ([row.name for row in beside.rows], len(beside.not_read)) == (["Op"], 1)


def test_sources_in_folders_that_are_left_out_are_counted(tmp_path: Path) -> None:
    folders = ("experimental/a/op_host", "examples", "scripts/template", "op_kernel", "tests", "experimental/tests")
    for folder in ("op_host", *folders):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "a_def.cpp").write_text(source(ADD))
    found = find_sources(str(tmp_path))
    assert [(Path(each.path).parent.name, each.reason) for each in found.left_out] == [
        ("examples", "below `examples`"),
        ("op_host", "below `experimental`"),
        ("template", "below `template`"),
    ]
    assert len(found.files) == 1
