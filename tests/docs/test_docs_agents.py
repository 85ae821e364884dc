"""The page for coding assistants: its commands run, and each mistake that it names is one that opsinfo reports."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "agents.md").read_text("utf-8")
BLOCKS = "".join(re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
SCRIPT = "atc --model=model.onnx --soc_version=Ascend910B3 {}\n"
LIST = '{{"black-list": {{"to-add": ["{}"]}}}}'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the files of a user, whose CANN is in the environment."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    from generate import make_user_files  # type: ignore[import-not-found]

    make_user_files(tmp_path)
    monkeypatch.setenv("ASCEND_OPP_PATH", str(tmp_path / "opp"))
    (tmp_path / "convert.sh").write_text(
        SCRIPT.format("--precision_mode_v2=mixed_float16 --modify_mixlist=ops_info.json")
    )
    (tmp_path / "evaluate.sh").write_text("#!/bin/sh\ngrep -q SoftmaxV2 $1\n")
    (tmp_path / "evaluate.sh").chmod(0o755)
    return tmp_path


def test_the_commands_of_the_page_run_one_after_the_other(opsinfo: Any, place: Path) -> None:
    pytest.importorskip("onnxruntime", reason="`simulate` needs onnxruntime")
    (place / "ops_info.json").unlink()  # the page makes it
    commands = [shlex.split(line)[1:] for line in BLOCKS.splitlines()]
    assert commands
    for words in commands:
        ran = opsinfo(*words, cwd=place)
        assert ran.code == (1 if words[0] == "graph" else 0), f"{words}\n{ran.err}"
    assert json.loads((place / "ops_info.json").read_text()) == {"black-list": {"to-add": ["SoftmaxV2"]}}


@pytest.mark.parametrize(
    ("on_the_page", "file", "text", "finding"),
    [
        ("`--keep_dtype=Conv2D,MatMul`", "a.sh", SCRIPT.format("--keep_dtype=Conv2D,MatMul"), "missing-file"),
        ("(E10001)", "a.sh", SCRIPT.format("--modify_mixlist=ops_info.json"), "mode-refuses-mixlist"),
        ("`force_fp8`", "a.sh", SCRIPT.format("--precision_mode=force_fp8"), "unknown-mode"),
        ("`allow_fp32`", "a.sh", SCRIPT.format("--precision_mode=allow_fp32"), "unknown-mode"),
        (
            "(E10056)",
            "a.sh",
            SCRIPT.format("--precision_mode=force_fp16 --precision_mode_v2=mixed_float16"),
            "both-modes",
        ),
        ("comments in the JSON", "mixlist.json", LIST.format("Log") + " // why", "trailing-text"),
        ("comments in the JSON", "mixlist.json", "// why\n" + LIST.format("Log"), "comment"),
        ('`"black-list": ["SoftmaxV2"]`', "mixlist.json", '{"black-list": ["SoftmaxV2"]}', "wrong-type"),
        ("`grey-list`", "mixlist.json", '{"grey-list": {"to-add": ["Log"]}}', "unknown-list"),
        ("`white_list`", "mixlist.json", '{"white_list": {"to-add": ["Log"]}}', "unknown-list"),
        ("`$schema`", "mixlist.json", '{"$schema": "x.json"}', "unknown-list"),
        ("gray-list `to-add`", "mixlist.json", '{"gray-list": {"to-add": ["MatMulV2"]}}', "no-effect"),
        ("`Div`", "mixlist.json", LIST.format("Div"), "unknown-operator"),
        ("`Softmax`", "mixlist.json", LIST.format("Softmax"), "unknown-operator"),
    ],
)
def test_each_mistake_of_the_page_is_reported(
    on_the_page: str, file: str, text: str, finding: str, opsinfo: Any, place: Path
) -> None:
    assert on_the_page in PAGE
    (place / file).write_text(text)
    found = opsinfo("validate", file, "--follow", "--against", "ascend910b", "--format", "concise", cwd=place)
    assert f" {finding}: " in found.out


def test_the_default_of_atc_and_the_modes_are_those_of_the_engine(opsinfo: Any) -> None:
    rows = [line.split("\t") for line in opsinfo("modes").out.splitlines()]
    assert {row[4] for row in rows if row[0] == "default" and row[4] != "unknown"} == {"force_fp16"}
    assert not any("fp8" in row[1] for row in rows)


def test_explain_prints_the_page_as_it_is(opsinfo: Any) -> None:
    topic = opsinfo("explain", "agents").out
    assert topic.splitlines()[2:] == PAGE.splitlines()[6:]
    assert opsinfo("explain", "agents", env={"OPSINFO_LANG": "zh"}).out.startswith("# 写给编程助手")


def test_the_skill_is_the_page_with_what_a_skill_needs() -> None:
    skill = ROOT / "skills" / "ascend-mixlist" / "SKILL.md"
    _, head, body = skill.read_text("utf-8").split("---\n", 2)
    assert [line.partition(":")[0] for line in head.splitlines() if line[0] != " "] == [
        "name",
        "description",
        "license",
        "compatibility",
    ]
    assert f"name: {skill.parent.name}\n" in head
    start = "How to make"
    assert body[body.index(start) :] == PAGE[PAGE.index(start) :]
    assert [path.name for path in skill.parent.iterdir()] == ["SKILL.md"]
