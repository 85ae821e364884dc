"""References from scripts and configurations: found, followed inside the checked folder, and reported if missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_support import Checker

from opsinfo_cli import validate
from opsinfo_cli.core.cann.option_files import KEEP_DTYPE
from opsinfo_cli.core.check.settings import FILE_KINDS
from opsinfo_cli.core.check.settings_in_text import text_settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("atc --modify_mixlist=a.json \\\n  --keep_dtype k.cfg", [("mixlist", "a.json"), ("keep_dtype", "k.cfg")]),
        ('--op_precision_mode="a b/p.ini"', [("op_precision", "a b/p.ini")]),
        ("export HUAWEI_ASCEND_NPU_MODIFY_MIXLIST_FILE_PATH='x/m'", [("mixlist", "x/m")]),
        ("[ascend_context]\nmixprecision_list_path = m.json\n", [("mixlist", "m.json")]),
        ("ge.exec.modify_mixlist=/a/m.json", [("mixlist", "/a/m.json")]),
        ('{"ge.customizeDtypes": "c.txt",', [("customize_dtypes", "c.txt")]),
        ("--customize_dtypes=$1/c.cfg;", [("customize_dtypes", "$1/c.cfg")]),
        ("# --keep_dtype=k.cfg\n ; modify_mixlist=m.json", []),
        ("keep_dtype=True my_keep_dtype=k.cfg --keep_dtypes=k.cfg", []),
        ("echo keep_dtype k.cfg", []),
    ],
)
def test_a_reference_is_an_option_and_a_path(text: str, expected: list[tuple[str, str]]) -> None:
    found = [each for settings in text_settings(text, is_shell=True) for each in settings.options]
    assert [(FILE_KINDS[each.option], each.text) for each in found if "." in each.text or "/" in each.text] == expected
    assert all(text[slice(*each.span)] == each.text for each in found)


def tree(top: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def test_what_scripts_name_is_checked_by_the_option_that_names_it(tmp_path: Path) -> None:
    files = {
        "run.sh": "atc --keep_dtype=names.lst\ncd build && true\ncd deep\nmy_atc --modify_mixlist=m.data\n",
        "names.lst": "a\na\n",
        "deep/m.data": '{"grey-list": {}}',
        "test/up.sh": "atc --op_precision_mode=${HERE}/../modes.x --raw_ge_options=raw.json",
        "raw.json": '{"compile options": {"graph": {"ge.exec.op_precision_mode": "gone.x"}}}',
        "modes.x": "Gelu=fast\n",
    }
    outcome = validate(str(tree(tmp_path, files)), follow=True)
    kinds = {str(Path(verdict.path).relative_to(tmp_path)): verdict.kind for verdict in outcome.files}
    assert kinds == {
        "run.sh": "script",
        "test/up.sh": "script",
        "names.lst": "keep_dtype",
        "deep/m.data": "mixlist",
        "modes.x": "op_precision",
    }
    names = [finding.rule.name for finding in outcome.findings]
    assert names == ["unknown-list", "unknown-implmode", "repeated-line"]
    assert [each.reason for each in outcome.passed_over if each.path == f"{tmp_path}/test/up.sh:1"] == [
        "not considered: the options in a file of --raw_ge_options"
    ]
    assert outcome.failures == []


def test_a_missing_file_is_reported_with_its_place_and_a_near_name(tmp_path: Path) -> None:
    tree(tmp_path, {"run.sh": "\natc --keep_dtype=./keep_dtypes.cfg\n", "keep_dtype.cfg": "a\n"})
    (finding,) = validate(str(tmp_path), follow=True).findings
    assert (finding.rule.name, finding.start) == ("missing-file", (2, 18))
    assert finding.hint == "did you mean `keep_dtype.cfg`?"
    assert validate(str(tmp_path)).findings == []


def test_names_in_place_of_a_keep_dtype_file_get_a_hint(tmp_path: Path) -> None:
    tree(tmp_path, {"run.sh": "atc --soc_version=Ascend910B3 --keep_dtype=Conv2D,MatMul\n"})
    (finding,) = validate(str(tmp_path), follow=True).findings
    assert (finding.rule.name, finding.hint) == ("missing-file", KEEP_DTYPE)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../../out.cfg", "is out of this folder"),
        ("/nowhere/keep.cfg", "is out of this folder"),
        ("link.cfg", "is out of this folder"),
        ("$DIR/keep.cfg", "depends on a variable"),
        ("models/${NAME}.cfg", "depends on a variable"),
    ],
)
def test_a_path_that_leads_out_or_depends_on_a_variable_is_skipped(tmp_path: Path, path: str, reason: str) -> None:
    (tmp_path / "out.cfg").write_text("secret\nsecret\n")
    top = tree(tmp_path / "top", {"a/run.sh": f"atc --keep_dtype={path}\n"})
    (top / "link.cfg").symlink_to(tmp_path / "out.cfg")
    outcome = validate(str(top), follow=True)
    assert outcome.findings == []
    assert [verdict.kind for verdict in outcome.files] == ["script"]
    assert (f"{top}/a/run.sh:1", f"`{path}` {reason}") in outcome.passed_over


def test_a_script_that_the_user_names_is_followed_in_its_repository(tmp_path: Path) -> None:
    tree(tmp_path, {"a/run.sh": "atc --keep_dtype=keep.cfg", "keep.cfg": "# x\n"})
    (tmp_path / ".git").mkdir()
    outcome = validate(str(tmp_path / "a" / "run.sh"), follow=True)
    assert [finding.rule.name for finding in outcome.findings] == ["ignored-line"]


def test_a_folder_named_through_a_link_is_the_same_folder(tmp_path: Path) -> None:
    top = tree(tmp_path / "real", {"a/b/run.sh": "atc --keep_dtype=keep.cfg --op_precision_mode=a/../modes.txt"})
    tree(top, {"keep.cfg": "# x\n", "modes.txt": "Gelu=fast\n"})
    (tmp_path / "link").symlink_to(top)
    outcome = validate(str(tmp_path / "link"), follow=True)
    assert [finding.rule.name for finding in outcome.findings] == ["ignored-line", "unknown-implmode"]
    assert {verdict.path for verdict in outcome.files} >= {f"{tmp_path}/link/keep.cfg", f"{tmp_path}/link/modes.txt"}


def test_only_the_first_references_of_a_script_are_followed(tmp_path: Path) -> None:
    tree(tmp_path, {"run.sh": "--keep_dtype=/x.cfg\n" * 1100})
    checker = Checker(follow=True)
    checker.check_paths([str(tmp_path)])
    assert len(checker.outcome.passed_over) == 1001
    assert checker.outcome.passed_over[-1].reason == "it is after the first 1000 references"


def test_the_working_folder_counts_as_in_a_conversion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ini = "[acl_init_options]\nge.exec.precision_mode=allow_mix_precision\nge.exec.modify_mixlist=%s\n"
    tree(tmp_path, {"configs/a.ini": ini % '"./configs/list.json"', "configs/b.ini": ini % "lists/list.json"})
    tree(tmp_path, {"configs/list.json": "{}", "lists/list.json": "{}", "other/lists/list.json": "["})
    monkeypatch.chdir(tmp_path)
    for name, path in (("a", "configs/list.json"), ("b", "lists/list.json")):
        outcome = validate(f"configs/{name}.ini", follow=True)
        assert outcome.findings == []
        assert path in [verdict.path for verdict in outcome.files]
    monkeypatch.chdir(tmp_path / "other")  # the script is not in it
    outcome = validate("../configs/b.ini", follow=True)
    assert [finding.rule.name for finding in outcome.findings] == ["missing-file"]


@pytest.mark.parametrize("name", ["run.bash", "run.config", "run.py", "run.cfg", "run.ini"])
def test_all_kinds_of_scripts_are_followed(tmp_path: Path, name: str) -> None:
    text = 'x.modify_mixlist = "lists.json"' if name.endswith(".py") else "ge.exec.modify_mixlist=lists.json"
    tree(tmp_path, {name: text, "list.json": "{}"})
    (finding,) = validate(str(tmp_path), follow=True).findings
    assert (finding.rule.name, finding.hint) == ("missing-file", "did you mean `list.json`?")


@pytest.mark.parametrize(
    "name", ["run.txt", "README.md", "job.yaml", "Makefile", "Dockerfile", "notebook.ipynb", "old.py"]
)
def test_what_names_a_mixlist_and_is_not_read_is_counted(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {name: 'print "atc --modify_mixlist=ops.json"', "other.md": "nothing"})
    outcome = validate(str(tmp_path), follow=True)
    assert outcome.failures == []
    assert outcome.notes == [f"1 other file names a mixlist and is not read: {tmp_path}/{name}"]
    assert [failure.name for failure in validate(str(tmp_path)).failures] == ["nothing-to-check"]


def test_a_file_that_the_user_names_is_followed_whatever_its_ending(tmp_path: Path) -> None:
    tree(
        tmp_path, {"Makefile": "build:\n\tatc --modify_mixlist=lists.json --precision_mode=origin\n", "list.json": "{}"}
    )
    outcome = validate(str(tmp_path / "Makefile"), follow=True)
    assert [finding.rule.name for finding in outcome.findings] == ["missing-file", "unknown-mode"]


def test_paths_that_are_computed_are_counted(tmp_path: Path) -> None:
    tree(tmp_path, {"run.py": 'f(modify_mixlist=os.path.join(top, "ops.json"), keep_dtype=f"{top}/k.cfg")'})
    outcome = validate(str(tmp_path), follow=True)
    assert outcome.notes == [
        "2 paths in scripts were not followed; -v says why",
    ]
    assert outcome.findings == []


def test_every_file_that_names_a_mixlist_and_is_not_read_is_listed(tmp_path: Path) -> None:
    names = ["Dockerfile", "a.yaml", "b.yaml", "c.yaml", "d.md"]
    tree(tmp_path, dict.fromkeys(names, "atc --modify_mixlist=ops.json"))
    outcome = validate(str(tmp_path), follow=True)
    assert outcome.notes[0].endswith("and 2 more")
    listed = {passed.path for passed in outcome.passed_over if passed.reason == "names a mixlist, and is not read"}
    assert listed == {str(tmp_path / name) for name in names}


@pytest.mark.parametrize(
    "text",
    [
        'c = NPURunConfig(precision_mode="allow_mix_precision", modify_mixlist=path)',
        "f(modify_mixlist=chosen())",
        'options["ge.exec.modify_mixlist"] = lists',
    ],
)
def test_a_mixlist_that_a_name_holds_is_counted(tmp_path: Path, text: str) -> None:
    tree(tmp_path, {"run.py": text, "none.py": "f(modify_mixlist=None, keep_dtype=keep)"})
    assert validate(str(tmp_path), follow=True).notes == ["1 path in a script was not followed; -v says why"]


def test_a_literal_variable_of_a_script_is_replaced(tmp_path: Path) -> None:
    tree(tmp_path, {"run.sh": "LISTS=lists\natc --keep_dtype=${LISTS}/keep.cfg", "lists/keep.cfg": "# x\n"})
    outcome = validate(str(tmp_path / "run.sh"), follow=True)
    assert [finding.rule.name for finding in outcome.findings] == ["ignored-line"]


@pytest.mark.parametrize("name", ["run.sh", "run.ini", "run.config", "run.py"])
def test_a_script_that_the_user_names_may_name_nothing(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {name: "x = 1\n"})
    outcome = validate(str(tmp_path / name), follow=True)
    assert (outcome.failures, outcome.findings) == ([], [])
    assert [verdict.kind for verdict in outcome.files] == ["script"]
    assert [failure.name for failure in validate(str(tmp_path / name)).failures] == ["unknown-kind"]


def test_a_command_names_a_file_without_an_ending_and_other_programs_a_switch(tmp_path: Path) -> None:
    tree(tmp_path, {"run.sh": "atc --model=a --keep_dtype=keep\npython train.py --keep_dtype=True\n", "keep": "# x\n"})
    outcome = validate(str(tmp_path / "run.sh"), follow=True)
    assert [finding.rule.name for finding in outcome.findings] == ["ignored-line"]
