"""References from scripts and configurations: found, followed inside the checked folder, and reported if missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from opsinfo_cli.check.follow import references
from opsinfo_cli.check.run import Checker, validate


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
        ("--raw_ge_options=raw.json", [("raw_ge_options", "raw.json")]),
        ("# --keep_dtype=k.cfg\n ; modify_mixlist=m.json", []),
        ("keep_dtype=True my_keep_dtype=k.cfg --keep_dtypes=k.cfg", []),
        ("echo keep_dtype k.cfg", []),
    ],
)
def test_a_reference_is_an_option_and_a_path(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(each.kind, each.path) for each in references(text)] == expected
    assert all(text[slice(*each.span)] == each.path for each in references(text))


def tree(top: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


def test_what_scripts_name_is_checked_by_the_option_that_names_it(tmp_path: Path) -> None:
    files = {
        "run.sh": "atc --keep_dtype=names.lst\ncd build && true\ncd deep\natc --modify_mixlist=m.data\n",
        "names.lst": "a\na\n",
        "deep/m.data": '{"grey-list": {}}',
        "test/up.sh": "atc --raw_ge_options=${HERE}/../raw.json",
        "raw.json": '{"compile options": {"graph": {"ge.exec.op_precision_mode": "../modes.x"}}}',
        "modes.x": "Gelu=fast\n",
    }
    outcome = validate(str(tree(tmp_path, files)), follow=True)
    kinds = {str(Path(verdict.path).relative_to(tmp_path)): verdict.kind for verdict in outcome.files}
    assert kinds == {
        "run.sh": "script",
        "test/up.sh": "script",
        "raw.json": "script",
        "names.lst": "keep_dtype",
        "deep/m.data": "mixlist",
        "modes.x": "op_precision",
    }
    names = [finding.rule.name for finding in outcome.findings]
    assert names == ["repeated-line", "unknown-list", "unknown-implmode"]
    assert outcome.failures == []


def test_a_missing_file_is_reported_with_its_place_and_a_near_name(tmp_path: Path) -> None:
    tree(tmp_path, {"run.sh": "\natc --keep_dtype=./keep_dtypes.cfg\n", "keep_dtype.cfg": "a\n"})
    (finding,) = validate(str(tmp_path), follow=True).findings
    assert (finding.rule.name, finding.start) == ("missing-file", (2, 18))
    assert finding.hint == "did you mean `keep_dtype.cfg`?"
    assert validate(str(tmp_path)).findings == []


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
    checker.paths([str(tmp_path)])
    assert len(checker.outcome.passed_over) == 1001
    assert checker.outcome.passed_over[-1].reason == "it is after the first 1000 references"
