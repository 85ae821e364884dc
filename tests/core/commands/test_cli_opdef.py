"""OpDef sources at the prompt: read by every command that reads a target, written by none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_support import Run, finding_names, rows, snapshot, write
from corpus_place import CORPUS

PORTS = """
        this->Input("x").DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y").DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
"""


def source(name: str, body: str, ports: str = PORTS) -> str:
    return f"""namespace ops {{
class {name} : public OpDef {{
public:
    explicit {name}(const char *name) : OpDef(name)
    {{{ports.rstrip()}
        {body}
    }}
}};
OP_ADD({name});
}}
"""


WHITE = 'OpAICoreConfig c; c.PrecisionReduceFlag(true); this->AICore().AddConfig("ascend950", c);'
BLACK = WHITE.replace("true", "false")
DEFAULT = 'this->AICore().AddConfig("ascend950");'
UNREADABLE = (
    'OpAICoreConfig c; c.PrecisionReduceFlag(chosen_by_a_compiler()); this->AICore().AddConfig("ascend950", c);'
)


@pytest.fixture
def project(fixtures: Path) -> Path:
    return fixtures / "custom-ops"


def test_list_has_the_line_that_decides_and_says_by_default(opsinfo: Run, project: Path) -> None:
    ran = opsinfo("list", f"{project}@ascend950")
    here = f"{project}/op_host"
    assert rows(ran) == [
        ["AddCustom", "white", "white", f"{here}/add_custom.cpp:21", "-", "by default"],
        ["LogCustom", "white", "white", f"{here}/log_custom.cpp:17", "-", "-"],
        ["ScatterCustom", "white", "white", f"{here}/scatter_custom.cpp:23", "-", "by default"],
    ]
    document = opsinfo("list", f"{project}@ascend910b", "--on", "white", "--format", "json").json
    assert document["target"]["kind"] == "opdef"
    assert [(each["name"], each["by_default"]) for each in document["operators"]] == [("AddCustom", True)]


def test_one_file_is_a_target(opsinfo: Run, project: Path) -> None:
    ran = opsinfo("list", project / "op_host/log_custom.cpp@ascend910b")
    assert [row[:2] for row in rows(ran)] == [["LogCustom", "black"]]


def test_show_says_which_call_decides(opsinfo: Run, project: Path) -> None:
    said = opsinfo("show", f"{project}@ascend950", "AddCustom", "LogCustom").out
    assert "white by default: its source sets no policy, and AddConfig makes it white" in said
    assert "its source says PrecisionReduceFlag(true)" in said
    assert "no PrecisionReduceFlag" in opsinfo("show", f"{project}@ascend910b", "ScatterCustom").out


def test_show_prints_the_configuration_of_a_policy(opsinfo: Run, project: Path, tmp_path: Path) -> None:
    ran = opsinfo("show", f"{project}@ascend910b", "LogCustom", "--format", "opdef")
    assert ran.out.splitlines() == [
        f"// LogCustom on ascend910b: black ({project}/op_host/log_custom.cpp:12)",
        "OpAICoreConfig config;",
        "config.DynamicShapeSupportFlag(true);",
        "config.PrecisionReduceFlag(false);",
        'this->AICore().AddConfig("ascend910b", config);',
    ]
    white = ["show", f"{project}@ascend910b", "AddCustom", "--format", "opdef"]
    black = write(tmp_path / "black.json", {"black-list": {"to-add": ["AddCustom"]}})
    assert "on ascend910b: white, by default (" in opsinfo(*white).out
    assert "on ascend910b: black (" in opsinfo(*white, "--mixlist", black).out
    mixlist = write(tmp_path / "ops_info.json", {"black-list": {"to-remove": ["LogCustom"]}})
    gray = opsinfo("show", f"{project}@ascend910b", "LogCustom", "--mixlist", mixlist, "--format", "opdef")
    assert "PrecisionReduceFlag(" not in gray.out
    written = write(tmp_path / "made.cpp", source("LogCustom", ran.out))
    assert rows(opsinfo("list", written))[0][:2] == ["LogCustom", "black"]


def test_an_operator_that_the_chip_lacks_is_said_to_be_not_declared(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.cpp", source("A", DEFAULT))
    write(tmp_path / "b.cpp", source("B", DEFAULT.replace("950", "910b")))
    ran = opsinfo("show", f"{tmp_path}@ascend950", "B")
    assert ran.code == 2
    assert "not declared for ascend950: `B`, only for ascend910b" in ran.err
    assert "--compute_unit" in ran.err
    unknown = opsinfo("list", f"{tmp_path}@ascend310p")
    assert unknown.code == 2
    assert "--compute_unit" in unknown.err
    assert opsinfo("show", f"{tmp_path}@ascend950", "C").code == 2


def test_sources_without_any_chip(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "a.cpp", source("A", ""))
    for target in (path, tmp_path, f"{path}@ascend950"):
        ran = opsinfo("list", target)
        assert ran.code == 2
        assert "no AddConfig" in ran.err


def test_several_chips_need_a_choice(opsinfo: Run, project: Path) -> None:
    for command in (["list"], ["show", "AddCustom"], ["snapshot"]):
        ran = opsinfo(command[0], project, *command[1:])
        assert ran.code == 2
        assert "ascend910b, ascend950" in ran.err


def test_diff_begins_with_new_rows_and_says_by_default(opsinfo: Run, project: Path, fixtures: Path) -> None:
    ran = opsinfo("diff", fixtures / "build@ascend950", f"{project}@ascend950")
    here = f"{project}/op_host"
    assert rows(ran) == [
        ["only_in_b", "LogCustom", "-", "white", "-", f"{here}/log_custom.cpp:17"],
        ["only_in_b", "ScatterCustom", "-", "white", "by default", f"{here}/scatter_custom.cpp:23"],
        ["changed", "AddCustom", "black", "white", "by default", f"{here}/add_custom.cpp:21"],
    ]
    document = opsinfo("diff", fixtures / "build@ascend950", f"{project}@ascend950", "--format", "json").json
    assert [(each["name"], each["by_default"]) for each in document["decided"]] == [
        ("AddCustom", True),
        ("LogCustom", False),
        ("ScatterCustom", True),
    ]


def test_diff_of_a_project_compares_its_chips(opsinfo: Run, project: Path) -> None:
    assert rows(opsinfo("diff", project, "--differing")) == [
        ["LogCustom", "black", "white"],
        ["ScatterCustom", "gray", "white by default"],
    ]


def test_a_policy_is_carried_over_to_the_new_chip(opsinfo: Run, project: Path, tmp_path: Path) -> None:
    ran = opsinfo("diff", f"{project}@ascend950", f"{project}@ascend910b", "--format", "mixlist")
    assert ran.code == 0
    assert json.loads(ran.out) == {
        "black-list": {"to-add": ["LogCustom"]},
        "white-list": {"to-remove": ["ScatterCustom"]},
    }
    mixlist = write(tmp_path / "carry-over.json", ran.out)
    after = opsinfo("list", f"{project}@ascend950", "--mixlist", mixlist)
    assert [row[1] for row in rows(after)] == ["white", "black", "gray"]


def test_mixlists_are_checked_and_minimised_against_sources(opsinfo: Run, project: Path, tmp_path: Path) -> None:
    mixlist = write(
        tmp_path / "ops_info.json", {"white-list": {"to-add": ["AddCustom"]}, "black-list": {"to-add": ["LogCustm"]}}
    )
    ran = opsinfo("validate", mixlist, "--against", f"{project}@ascend950", "--format", "json")
    assert {"no-effect", "unknown-operator"} <= set(finding_names(ran))
    merged = opsinfo("merge", mixlist, "--minimize", "--against", f"{project}@ascend950")
    assert json.loads(merged.out) == {}


def test_a_snapshot_of_sources_says_the_same(opsinfo: Run, project: Path, tmp_path: Path) -> None:
    taken = tmp_path / "950.opsinfo.json"
    assert opsinfo("snapshot", f"{project}@ascend950", "-o", taken).code == 0
    assert opsinfo("diff", taken, f"{project}@ascend950").code == 0
    assert json.loads(taken.read_text())["soc"] == "ascend950"


def test_a_snapshot_leaves_out_what_the_engine_would_refuse(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.cpp", source("A", WHITE))
    path = write(
        tmp_path / "b.cpp", source("B", BLACK, '\n this->Input("x").ParamType(IGNORE).Format({ge::FORMAT_ND});')
    )
    taken = tmp_path / "taken.json"
    ran = opsinfo("snapshot", tmp_path, "-o", taken)
    assert ran.code == 0
    assert f"{path}:7: `B` is left out" in ran.err
    assert [row[0] for row in rows(opsinfo("list", taken))] == ["A"]


def test_graph_takes_the_columns_of_sources(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    body = 'OpAICoreConfig c; c.PrecisionReduceFlag(false); this->AICore().AddConfig("ascend910b", c);'
    ports = """
        this->Input("x").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("y").DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
"""
    write(tmp_path / "softmax.cpp", source("SoftmaxV2", body, ports))
    document = opsinfo("graph", fixtures / "model.onnx", "--against", tmp_path, "--format", "json").json
    softmax = next(node for node in document["nodes"] if node["type"] == "SoftmaxV2")
    assert (softmax["list"], softmax["outputs"], softmax["confidence"]) == ("black", ["float32"], "library")


def test_dtypes_that_could_not_be_read_are_said_where_they_count(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    body = 'this->AICore().AddConfig("ascend910b");'
    write(tmp_path / "softmax.cpp", source("SoftmaxV2", body, PORTS.replace("ge::DT_FLOAT16", "kMine", 1)))
    for words in (["graph", fixtures / "model.onnx", "--against", tmp_path], ["snapshot", tmp_path]):
        ran = opsinfo(*words)
        assert ran.code == 0
        assert "could not be read" in ran.err
        assert "softmax.cpp:6: `kMine` is not defined in the project" in ran.err


@pytest.mark.parametrize("command", [["move", "--to", "black", "AddCustom"], ["apply"], ["edit"]])
def test_sources_are_never_written(opsinfo: Run, project: Path, fixtures: Path, command: list[str]) -> None:
    before = snapshot(project)
    word, *rest = command
    more = [fixtures / "ops_info.json"] if word == "apply" else rest
    ran = opsinfo(word, f"{project}@ascend950", *more, env={"EDITOR": "true"})
    assert ran.code == 3
    assert "opsinfo does not change C++ sources" in ran.err
    if word == "move":
        assert f"{project}/op_host/add_custom.cpp:21: `AddCustom` is white; black takes" in ran.err
    assert snapshot(project) == before


@pytest.mark.parametrize("target", ["custom-ops", "custom-ops@ascend950", "build", "build@ascend950"])
def test_doctor_and_the_vault_have_nothing_to_say_of_sources(opsinfo: Run, fixtures: Path, target: str) -> None:
    ran = opsinfo("doctor", fixtures / target)
    assert ran.code == 2
    assert "opsinfo validate" in ran.err
    assert opsinfo("backups", fixtures / target, "--format", "json").json["backups"] == []
    assert opsinfo("restore", fixtures / target).code == 2


def test_what_cannot_be_read_is_named_and_the_rest_is_printed(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.cpp", source("A", WHITE))
    path = write(tmp_path / "b.cpp", source("B", UNREADABLE))
    ran = opsinfo("list", tmp_path, "--format", "json")
    assert (ran.code, [each["name"] for each in ran.json["operators"]]) == (0, ["A"])
    (unread,) = ran.json["unreadable"]
    assert (unread["name"], unread["file"], unread["line"]) == ("B", str(path), 8)
    text = opsinfo("list", tmp_path)
    assert f"{path}:8: `B` could not be read" in text.err
    assert "unreadable" not in opsinfo("list", tmp_path / "a.cpp", "--format", "json").json


def test_an_operator_that_could_not_be_read_is_neither_unknown_nor_missing(opsinfo: Run, tmp_path: Path) -> None:
    project = tmp_path / "p"
    write(project / "bad_def.cpp", source("Bad", UNREADABLE))
    write(project / "good_def.cpp", source("Good", DEFAULT))
    library = {name: {"precision_reduce": {"flag": "false"}} for name in ("Bad", "Good")}
    package = write(tmp_path / "aic-ascend950-ops-info.json", json.dumps(library))
    mixlist = write(tmp_path / "m.json", '{"black-list": {"to-add": ["Bad", "Good", "None"]}}')
    target = f"{project}@ascend950"

    ran = opsinfo("validate", mixlist, "--against", target)
    assert "`Bad` could not be read in ascend950" in ran.out + ran.err
    assert "unknown operator `Bad`" not in ran.out + ran.err
    assert "unknown operator `None`" in ran.out + ran.err
    assert json.loads(opsinfo("merge", mixlist, "--minimize", "--against", target).out) == {
        "black-list": {"to-add": ["Bad", "Good"]}
    }
    assert "`Bad` is not an op type" not in opsinfo("merge", mixlist, "--against", target).err
    assert "unknown operator `Bad`" not in opsinfo("list", target, "--mixlist", mixlist).err
    for a, b in ((target, package), (package, target)):
        document = opsinfo("diff", a, b, "--format", "json").json
        assert (document["only_in_a"], document["only_in_b"]) == ([], []), a
        assert [each["name"] for each in document["unreadable"]] == ["Bad"]
    write(tmp_path / "new" / "bad_def.cpp", source("Bad", WHITE))
    ran = opsinfo("validate", tmp_path / "new", "--against", target)
    assert "`Bad` is new" not in ran.out + ran.err


@pytest.mark.parametrize(("a", "b"), [(UNREADABLE, WHITE), (WHITE, UNREADABLE)])
def test_an_op_type_registered_twice_is_unreadable_if_one_of_both_is(
    opsinfo: Run, tmp_path: Path, a: str, b: str
) -> None:
    project = tmp_path / "p"
    write(project / "a_def.cpp", source("Twice", a))
    write(project / "b_def.cpp", source("Twice", b))
    write(project / "c_def.cpp", source("Once", WHITE))
    target = f"{project}@ascend950"
    assert [each["name"] for each in opsinfo("list", target, "--format", "json").json["operators"]] == ["Once"]
    ran = opsinfo("show", target, "Twice")
    assert (ran.code, "`Twice` could not be read" in ran.err) == (3, True)
    library = {name: {"precision_reduce": {"flag": "false"}} for name in ("Twice", "Once")}
    package = write(tmp_path / "aic-ascend950-ops-info.json", json.dumps(library))
    document = opsinfo("diff", package, target, "--format", "json").json
    assert ([each["name"] for each in document["changed"]], document["only_in_a"]) == (["Once"], [])
    mixlist = write(tmp_path / "m.json", '{"white-list": {"to-add": ["Twice", "Once"]}}')
    assert json.loads(opsinfo("merge", mixlist, "--minimize", "--against", target).out) == {
        "white-list": {"to-add": ["Twice"]}
    }


def test_a_table_of_chips_says_by_default_and_what_could_not_be_read(opsinfo: Run, tmp_path: Path) -> None:
    both = DEFAULT + WHITE.replace("ascend950", "ascend910b")
    write(tmp_path / "a_def.cpp", source("A", both))
    write(tmp_path / "b_def.cpp", source("B", UNREADABLE + ' this->AICore().AddConfig("ascend910b");'))
    library = write(tmp_path / "build" / "aic-mc62-ops-info.json", '{"B": {"precision_reduce": {"flag": "false"}}}')
    assert rows(opsinfo("diff", f"{tmp_path}@ascend910b", f"{tmp_path}@ascend950", library)) == [
        ["A", "white", "white by default", "-"],
        ["B", "?", "?", "black"],
    ]
    document = opsinfo("diff", f"{tmp_path}@ascend910b", f"{tmp_path}@ascend950", library, "--format", "json").json
    assert document["operators"][0]["policies"] == ["white", "white", None]
    assert document["counts"]["differ"] == 1


def test_exit_3_if_the_operator_that_is_asked_for_or_everything_is_unreadable(opsinfo: Run, tmp_path: Path) -> None:
    write(tmp_path / "a.cpp", source("A", WHITE))
    path = write(tmp_path / "b.cpp", source("B", UNREADABLE))
    assert opsinfo("show", tmp_path, "A").code == 0
    for target in (tmp_path, path):
        ran = opsinfo("show", target, "B", "--format", "json")
        assert ran.code == 3
        assert (ran.json["error"]["name"], ran.json["error"]["line"]) == ("unreadable-source", 8)


def test_what_only_one_chip_leaves_open_is_said_for_that_chip(opsinfo: Run, tmp_path: Path) -> None:
    body = f"""{WHITE.replace("950", "910b")}
#ifdef FROM_THE_BUILD
        this->AICore().AddConfig("ascend950", c);
#endif"""
    path = write(tmp_path / "a.cpp", source("A", body))
    ran = opsinfo("list", f"{path}@ascend910b")
    assert (ran.code, rows(ran)[0][:2], ran.err) == (0, ["A", "white"], "")
    ran = opsinfo("list", f"{path}@ascend950")
    assert (ran.code, ran.out) == (3, "")
    assert "on ascend950: the build decides it by defining `FROM_THE_BUILD` or not" in ran.err
    assert "a.cpp:10:1" in ran.err


def test_columns_that_cannot_be_read_do_not_hide_the_policy(opsinfo: Run, tmp_path: Path) -> None:
    ports = '\n this->Input("x").DataType(made_by_a_compiler()).Format({ge::FORMAT_ND});\n'
    path = write(tmp_path / "a.cpp", source("A", BLACK, ports))
    assert rows(opsinfo("list", path))[0][:2] == ["A", "black"]
    said = opsinfo("show", path, "A").out
    assert "dtypes" in said
    assert "could not be read" in said


def test_broken_sources_are_no_traceback(opsinfo: Run, tmp_path: Path) -> None:
    whole = source("A", WHITE)
    for end in range(60, len(whole), 37):
        path = write(tmp_path / "a.cpp", whole[:end] + "\nOP_ADD(A);\n")
        assert opsinfo("list", path).code in (0, 2, 3)


CHECKED = {
    # situation: (files, options, findings as name, file and line)
    "white by default": ({"a.cpp": source("A", DEFAULT)}, [], [("white-by-default", "a.cpp", 8)]),
    "a policy that is set": ({"a.cpp": source("A", WHITE)}, [], []),
    "a configuration that is not passed": (
        {"a.cpp": source("A", "OpAICoreConfig c; c.PrecisionReduceFlag(false);\n" + DEFAULT)},
        [],
        [("config-not-passed", "a.cpp", 8), ("white-by-default", "a.cpp", 9)],
    ),
    "an op type in two files": (
        {"a.cpp": source("A", WHITE), "b/c.cpp": source("A", BLACK)},
        [],
        [("registered-twice", "b/c.cpp", 11)],
    ),
    "another policy in experimental": (
        {"a.cpp": source("A", WHITE), "experimental/a.cpp": source("A", BLACK)},
        [],
        [("differs-from-main", "experimental/a.cpp", 8)],
    ),
    "the same policy in experimental": (
        {"a.cpp": source("A", WHITE), "experimental/a.cpp": source("A", WHITE)},
        [],
        [],
    ),
    "another policy for another chip": (
        {"a.cpp": source("A", BLACK + 'c.PrecisionReduceFlag(true);\n this->AICore().AddConfig("ascend910b", c);')},
        ["-v"],
        [("differs-by-chip", "a.cpp", 8)],
    ),
    "another policy for another chip, without -v": (
        {"a.cpp": source("A", BLACK + 'c.PrecisionReduceFlag(true);\n this->AICore().AddConfig("ascend910b", c);')},
        [],
        [],
    ),
    "what only a compiler knows": ({"a.cpp": source("A", UNREADABLE)}, [], [("unreadable-source", "a.cpp", 8)]),
    "dtypes that only a compiler knows": (
        {"a.cpp": source("A", WHITE, PORTS.replace("ge::DT_FLOAT16", "kMine", 1))},
        [],
        [("unreadable-source", "a.cpp", 6)],
    ),
    "an attribute that only a compiler knows": (
        {"a.cpp": source("A", WHITE, PORTS + 'this->Attr("a").Int(kMine);\n')},
        [],
        [("unreadable-source", "a.cpp", 8)],
    ),
    "columns of different lengths": (
        {"a.cpp": source("A", WHITE, PORTS.replace("ge::FORMAT_ND, ge::FORMAT_ND", "ge::FORMAT_ND", 1))},
        [],
        [("columns-dropped", "a.cpp", 7)],
    ),
    "formats of unknown shapes of another length": (
        {"a.cpp": source("A", WHITE, PORTS + 'this->Input("x").UnknownShapeFormat({ge::FORMAT_ND});\n')},
        [],
        [("column-mismatch", "a.cpp", 8)],
    ),
    "a flag that the script refuses": (
        {
            "a.cpp": source(
                "A", WHITE.replace("PrecisionReduceFlag(true)", 'ExtendCfgInfo("precision_reduce.flag", "True")')
            )
        },
        [],
        [("ini-refused", "a.cpp", 8)],
    ),
    "black with float16 and bfloat16 only": (
        {"a.cpp": source("A", BLACK, PORTS.replace("ge::DT_FLOAT}", "ge::DT_BF16}"))},
        [],
        [("black-without-fp32", "a.cpp", 8)],
    ),
    "black on one of two chips, whose columns it overrides": (
        {
            "a.cpp": source(
                "A",
                'OpAICoreConfig d; this->AICore().AddConfig("ascend910b", d); OpAICoreConfig c;\n'
                'c.Input("x").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});\n'
                'c.Output("y").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});\n' + BLACK.partition(";")[2],
            )
        },
        [],
        [("black-without-fp32", "a.cpp", 11)],
    ),
    "black with bfloat16 by an axis": (
        {"a.cpp": source("A", BLACK, '\nthis->Input("x").DataTypeList({ge::DT_BF16}).FormatList({ge::FORMAT_ND});\n')},
        [],
        [("black-without-fp32", "a.cpp", 7)],
    ),
    "black with integers only, and gray with float16 only": (
        {
            "a.cpp": source("A", BLACK, PORTS.replace("ge::DT_FLOAT16, ge::DT_FLOAT}", "ge::DT_INT8, ge::DT_BOOL}")),
            "b.cpp": source(
                "B", WHITE.replace("c.PrecisionReduceFlag(true);", ""), PORTS.replace("ge::DT_FLOAT}", "ge::DT_BF16}")
            ),
        },
        [],
        [],
    ),
    "AI CPU operators, tests and examples": (
        {f"{folder}/a.cpp": source("A", DEFAULT) for folder in ("op_kernel_aicpu", "tests", "examples")}
        | {"a.cpp": source("A", WHITE)},
        [],
        [],
    ),
}


@pytest.mark.parametrize("situation", CHECKED)
def test_validate_finds(situation: str, opsinfo: Run, tmp_path: Path) -> None:
    files, options, expected = CHECKED[situation]
    for name, text in files.items():
        write(tmp_path / name, text)
    ran = opsinfo("validate", tmp_path, "--format", "json", *options)
    found = [
        (each["name"], str(Path(each["path"]).relative_to(tmp_path)), each["line"]) for each in ran.json["findings"]
    ]
    assert found == expected
    assert ran.code == int(any(name in ("column-mismatch", "ini-refused") for name, _, _ in expected))
    assert {each["kind"] for each in ran.json["files"]} == {"opdef"}


def test_each_new_or_changed_policy_of_a_merge_request_is_one_annotation(opsinfo: Run, tmp_path: Path) -> None:
    for name, body in (("A", WHITE), ("B", WHITE)):
        write(tmp_path / f"base/{name}.cpp", source(name, body))
    for name, body in (("A", WHITE), ("B", BLACK), ("C", WHITE), ("D", DEFAULT)):
        write(tmp_path / f"head/{name}.cpp", source(name, body))
    arguments = ["validate", tmp_path / "head", "--against", tmp_path / "base@ascend950"]
    selected = ["--select", "new-policy", "--select", "changed-policy"]
    ran = opsinfo(*arguments, *selected, "--format", "json")
    assert [
        (each["name"], Path(each["path"]).name, each["line"], each["message"]) for each in ran.json["findings"]
    ] == [
        ("changed-policy", "B.cpp", 8, "`B` on ascend950 becomes black; it was white"),
        ("new-policy", "C.cpp", 8, "`C` is new on ascend950: white"),
        ("new-policy", "D.cpp", 8, "`D` is new on ascend950: white by default"),
    ]
    assert "--against does not see operators and chips that are gone" in ran.err
    github = opsinfo(*arguments, *selected, "--format", "github").out
    assert [line.partition(" ")[0] for line in github.splitlines() if line.startswith("::")] == [
        "::warning",
        "::notice",
        "::notice",
    ]


def test_a_new_row_says_that_it_is_white_by_default_and_what_other_chips_say(opsinfo: Run, tmp_path: Path) -> None:
    black = BLACK.replace("950", "910b")
    write(tmp_path / "base/A.cpp", source("A", black))
    write(tmp_path / "base/B.cpp", source("B", black))
    write(tmp_path / "head/A.cpp", source("A", black + DEFAULT))
    write(tmp_path / "head/B.cpp", source("B", black + 'this->AICore().AddConfig("ascend950", c);'))
    two = black + 'this->AICore().AddConfig("ascend910_93", c); OpAICoreConfig gray; ' + DEFAULT.replace(")", ", gray)")
    write(tmp_path / "head/C.cpp", source("C", two))
    write(tmp_path / "base/D.cpp", source("D", DEFAULT))
    ran = opsinfo(
        *("validate", tmp_path / "head", "--against", tmp_path / "base@ascend950", "--format", "json"),
        *("--severity", "note"),
    )
    assert [(each["name"], each["message"]) for each in ran.json["findings"]] == [
        ("new-policy", "`A` is new on ascend950: white by default; it is black on ascend910b"),
        ("new-policy", "`B` is new on ascend950: black"),
        ("new-policy", "`C` is new on ascend950: gray; it is black on ascend910b, ascend910_93"),
    ]  # and none of white-by-default for the same row


ON_TWO = {
    "two lines": (f'{DEFAULT}\nthis->AICore().AddConfig("ascend910b");', {8: "ascend950", 9: "ascend910b"}),
    "a loop": (
        'for (auto chip : {"ascend950", "ascend910b", "ascend310p"}) this->AICore().AddConfig(chip);',
        {8: "ascend950, ascend910b, ascend310p"},
    ),
    "a configuration": (
        'OpAICoreConfig c("any"); this->AICore().AddConfig("ascend950", c); this->AICore().AddConfig("ascend910b", c);',
        {8: "ascend950, ascend910b"},
    ),
    "a chip that sets it and one that does not": (
        f'{WHITE}\nthis->AICore().AddConfig("ascend910b");',
        {9: "ascend910b"},
    ),
}


@pytest.mark.parametrize("case", ON_TWO)
def test_all_chips_that_are_white_by_default_are_named(opsinfo: Run, tmp_path: Path, case: str) -> None:
    body, said = ON_TWO[case]
    path = write(tmp_path / "a.cpp", source("A", body))
    found = opsinfo("validate", path, "--select", "white-by-default", "--format", "json").json["findings"]
    assert [(each["line"], each["message"]) for each in found] == [
        (line, f"`A` is white on {chips} by default: nothing sets its policy") for line, chips in said.items()
    ]


def test_files_that_are_passed_over_are_counted_and_listed(opsinfo: Run, tmp_path: Path) -> None:
    for name in ("a", "experimental/b", "experimental/c", "examples/d"):
        write(tmp_path / f"{name}_def.cpp", source("A", WHITE))
    write(tmp_path / "vm.cpp", "void run() { OP_ADD(left); }")
    ran = opsinfo("list", tmp_path)
    why = "1 below `examples`, 2 below `experimental`, 1 not read"
    assert (ran.code, ran.err) == (0, f"note: 4 files with `OP_ADD(` passed over: {why}; -v lists them\n")
    listed = opsinfo("list", tmp_path, "-v").err
    assert all(f"{tmp_path}/{name}.cpp: " in listed for name in ("vm", "experimental/b_def", "examples/d_def"))
    assert opsinfo("list", tmp_path, "-q").err == ""
    checked = opsinfo("validate", tmp_path)
    assert f"note: 4 files with `OP_ADD(` passed over: {why}; -v lists them\n1 file checked" in checked.err
    listed = opsinfo("validate", tmp_path, "-v").err
    assert all(f"{tmp_path}/{name}.cpp: skipped; " in listed for name in ("vm", "experimental/b_def", "examples/d_def"))


CASES = {
    "base_class_between": {"PlainB": ("white", True), "SeriesA": ("white", True)},
    "opdef_template_argument": {"PoolCustom": ("white", True)},
}


@pytest.mark.parametrize("case", CASES)
def test_operators_of_a_case_are_listed(opsinfo: Run, corpus: Path, case: str) -> None:
    folder = corpus / "cases" / case
    if not folder.is_dir():
        pytest.skip(f"this corpus has no case {case}")
    listed = opsinfo("list", f"{folder}@ascend910b", "--format", "json").json["operators"]
    assert {each["name"]: (each["policy"], each.get("by_default", False)) for each in listed} == CASES[case]


def test_a_baseline_hides_what_is_known_of_sources(opsinfo: Run, tmp_path: Path) -> None:
    path = write(tmp_path / "a.cpp", source("A", DEFAULT))
    baseline = tmp_path / "known.json"
    assert opsinfo("validate", path, "--baseline", baseline, "--update-baseline", cwd=tmp_path).code == 0
    write(path, "// a new line\n" + source("A", DEFAULT))
    ran = opsinfo("validate", path, "--baseline", baseline, "--format", "json", cwd=tmp_path)
    assert ran.json["findings"] == []


@pytest.mark.parametrize("format_", ["github", "gitlab", "junit", "sarif", "concise", "text"])
def test_every_report_has_the_place_in_the_source(opsinfo: Run, tmp_path: Path, format_: str) -> None:
    write(tmp_path / "op_host/a.cpp", source("A", DEFAULT))
    report = tmp_path / "report"
    assert opsinfo("validate", "op_host", "--report", f"{format_}:{report}", cwd=tmp_path).code == 0
    said = report.read_text("utf-8")
    assert "op_host/a.cpp" in said
    assert re.search(r"\b8\b", said)


def test_completion_knows_chips_and_operators_of_sources(opsinfo: Run, project: Path) -> None:
    def completed(words: str) -> str:
        environment = {"_OPSINFO_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        return str(opsinfo(env=environment).out)

    assert "ascend950" in completed(f"opsinfo list {project} --soc asc")
    assert "LogCustom" in completed(f"opsinfo show {project} --soc ascend950 Lo")


VECTORS = CORPUS / "vectors/opdef"


@pytest.mark.skipif(not VECTORS.is_dir(), reason="no corpus: OPSINFO_CORPUS is not set")
def test_the_cases_of_the_law_agree_with_the_ini_of_opbuild(opsinfo: Run, tmp_path: Path) -> None:
    """The ini has three sections that the script refuses; the policies of all others are compared."""
    text = (VECTORS / "law.aic-ascend910b-ops-info.ini").read_text("utf-8")
    policies: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("["):
            policies[name := line[1:-1]] = "gray"
        elif line.startswith("precision_reduce.flag="):
            policies[name] = {"true": "white", "false": "black"}.get(line.partition("=")[2].lower(), "gray")
    ran = opsinfo("list", VECTORS / "law_cases_def.cpp@ascend910b")
    assert {row[0]: row[1] for row in rows(ran)} == policies


@pytest.mark.parametrize("name", ["add_custom.cpp", "aic-ascend950-ops-info.ini", "renamed.ini"])
def test_sources_and_inis_are_not_overwritten_or_read_as_a_mixlist(opsinfo: Run, tmp_path: Path, name: str) -> None:
    text = source("Op", WHITE) if name.endswith(".cpp") else "[Op]\nprecision_reduce.flag=true\n"
    path = write(tmp_path / name, text)
    mixlist = write(tmp_path / "m.json", '{"black-list": {"to-add": ["Op"]}}')
    library = write(tmp_path / "a" / "aic-ascend950-ops-info.json", '{"Op": {"precision_reduce": {"flag": "false"}}}')
    other = write(tmp_path / "b" / "aic-ascend950-ops-info.json", '{"Op": {"precision_reduce": {"flag": "true"}}}')
    for words in (
        ["merge", mixlist, "-o", path],
        ["fmt", mixlist, "-o", path],
        ["fmt", path],
        ["merge", path],
        ["diff", library, other, "--format", "mixlist", "-o", path],
    ):
        ran = opsinfo(*words)
        assert ran.code == 2, words
        assert "an OpDef source" in ran.err or "an ini of opbuild" in ran.err, words
        assert path.read_text() == text
