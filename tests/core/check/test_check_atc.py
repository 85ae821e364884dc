"""The user's own command of atc, as a file or typed, as one value."""

from __future__ import annotations

from pathlib import Path

import pytest

from opsinfo_cli.core.check.scripts import read_atc
from opsinfo_cli.errors import Refused, UsageFault

LINE = (
    "atc --model=a/m.onnx --framework=5 --input_shape='x:1,3;y:2' --precision_mode_v2=mixed_float16 --keep_dtype=k.cfg"
)
WANTED = {
    "model": "a/m.onnx",
    "framework": "5",
    "input_shape": "x:1,3;y:2",
    "precision_mode_v2": "mixed_float16",
    "keep_dtype": "k.cfg",
    "output": None,
}


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        LINE.removeprefix("atc "),
        f"cd x && nohup /opt/bin/{LINE} > log 2>&1 &",
        LINE.replace(" --", " \\\n --").replace("=5", " 5"),
        "o=(" + LINE.removeprefix("atc ").replace(" --", "\n --") + ")\natc ${o[*]}",
        "M=a/m\nO=\"--framework=5 --input_shape='x:1,3;y:2'\"\n" + LINE.replace("a/m.onnx", '"${M}.onnx"'),
    ],
)
def test_a_command_is_the_same_value_however_it_is_written(text: str) -> None:
    command = read_atc(text)
    assert {name: command.value(name) for name in WANTED} == WANTED
    assert (command.unknown, command.is_whole) == ([], True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", f"#!/bin/sh\n\n{LINE}\n"),
        ("run.py", f"import os\n\nos.system({LINE!r})\n"),
        ("README.md", f"# Convert\n\n{LINE}\n"),
        ("Makefile", f"m.om:\n\n\t{LINE}\n"),
        ("convert", f"#!/bin/bash\nset -e\n{LINE}\n"),
    ],
)
def test_a_script_of_any_kind_has_it_at_its_line(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    command = read_atc(str(tmp_path / name))
    assert {name: command.value(name) for name in WANTED} == WANTED
    assert command.line == 3


def test_paths_are_relative_to_the_script(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "m.onnx").touch()
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "k.cfg").touch()
    script = tmp_path / "scripts" / "run.sh"
    script.write_text(LINE.replace("a/m", "$ROOT/a/m") + " --modify_mixlist=gone.json --soc_version=Ascend$1\n")
    command = read_atc(str(script))
    assert command.path("model") == str(tmp_path / "a" / "m.onnx")
    assert command.path("keep_dtype") == str(tmp_path / "scripts" / "k.cfg")
    assert (command.path("modify_mixlist"), command.path("weight")) == ("gone.json", None)
    assert [setting.option for setting in command.unknown] == ["model", "soc_version"]


def test_of_several_commands_one_is_named_by_its_line(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text("atc --model=a.onnx\n\necho done\natc \\\n  --model=b.onnx \\\n  --framework=5\n")
    with pytest.raises(UsageFault) as caught:
        read_atc(str(script))
    assert caught.value.hint == f"name one: {script}:1, {script}:5"
    assert [read_atc(f"{script}:{line}").value("model") for line in (1, 4, 5, 6)] == ["a.onnx", *["b.onnx"] * 3]
    with pytest.raises(UsageFault, match="no command of atc at line 40"):
        read_atc(f"{script}:40")


def test_what_is_no_command_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("python train.py --precision_mode=O1\n")
    with pytest.raises(UsageFault, match="no command of atc with options"):
        read_atc(str(tmp_path / "run.sh"))
    with pytest.raises(UsageFault, match="no command of atc with options"):
        read_atc("aoe and atc")
    with pytest.raises(Refused, match="no such file"):
        read_atc("convert.sh")
