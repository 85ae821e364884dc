"""The user's own command of atc, as a file or typed, as one value."""

from __future__ import annotations

from pathlib import Path

import pytest

from opsinfo_cli.core.check.settings_in_scripts import read_atc
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


@pytest.mark.parametrize("line", ["ATC=$(find /usr -name atc -type f)", "grep atc -c log.txt", "sudo pkill atc -9"])
def test_a_program_that_only_names_atc_is_no_command_of_it(tmp_path: Path, line: str) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"{line}\nfind . -name atc -exec atc --model=a.onnx \\;\n")
    assert read_atc(str(script)).value("model") == "a.onnx"


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


CONVERTER = (
    "converter_lite --fmk=ONNX --modelFile=net.onnx --outputFile=out --optimize=ascend_oriented --saveType=MINDIR"
)


@pytest.mark.parametrize(
    ("config", "wanted", "others"),
    [
        (
            '[acl_build_options]\ninput_shape="x:1,3;y:2"  # two\nge.dynamicDims="1;2"\n'
            "[acl_init_options]\nge.exec.precision_mode=allow_mix_precision\nge.exec.modify_mixlist=ops.json\n"
            "[ascend_context]\nplugin_custom_ops=All\n",
            {
                "input_shape": "x:1,3;y:2",
                "dynamic_dims": "1;2",
                "precision_mode": "allow_mix_precision",
                "modify_mixlist": "ops.json",
                "ascend_context.plugin_custom_ops": "All",
            },
            [],
        ),
        (
            "[ascend_context]\r\ninput_shape = x:[1,-1]\r\nprecision_mode = preferred_fp32\r\ndynamic_dims = [1~4]\r\n",
            {
                "input_shape": "x:1,-1",
                "precision_mode": "allow_fp32_to_fp16",
                "ascend_context.dynamic_dims": "[1~4]",
            },
            [],
        ),
        (
            "# a=b\n[acl_option_cfg_param]\nprecision_mode=enforce_fp16\nprecision_mode=force_fp32\n[quant]\nbits=8\n",
            {"precision_mode": "force_fp16", "quant.bits": "8"},
            [],
        ),
        (
            "[ge_graph_options]\nge.inputShape=x:4\nge.exec.precision_mode_v2=mixed_float16\n",
            {"input_shape": "x:4", "precision_mode_v2": "mixed_float16"},
            [],
        ),
        ("[acl_init_options]\nge.exec.precision_mode=enforce_fp32\n", {"precision_mode": "enforce_fp32"}, []),
        (
            "[ascend_context]\nprecision_mode=enforce_fp16\n[acl_init_options]\nge.exec.precision_mode=force_fp32\n",
            {"precision_mode": None},
            ["precision_mode"],
        ),
    ],
)
@pytest.mark.parametrize("name", ["run.sh", "run.py", "README.md", ""])
def test_the_configuration_of_lites_converter_is_part_of_its_command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    config: str,
    wanted: dict[str, str | None],
    others: list[str],
) -> None:
    (tmp_path / "c.ini").write_text(config, newline="")
    (tmp_path / "net.onnx").touch()
    line = f"{CONVERTER} --configFile=./c.ini"
    if name:
        program = f"import os\nos.system({line!r})\n"
        shell = f"C=/opt/lite/converter_lite\n\n{line.replace('converter_lite', '$C')}\n"
        (tmp_path / name).write_text({"run.py": program, "run.sh": shell}.get(name, f"# Convert\n\n    {line}\n"))
        command = read_atc(str(tmp_path / name))
        assert command.path("model") == str(tmp_path / "net.onnx")
    else:
        monkeypatch.chdir(tmp_path)
        command = read_atc(line)
    known = {"model": "net.onnx", "output": "out", "framework": "5", "saveType": "MINDIR"}
    assert {each.option: each.value for each in command.settings.options} == {**known, **wanted}
    assert [each.option for each in command.unknown] == others


@pytest.mark.parametrize(
    ("words", "option", "value"),
    [
        ("--optimize=ascend_oriented:Ascend910B", "soc_version", "ascend910b"),
        ("--optimize=ascend_oriented:910b", "soc_version", "ascend910b"),
        ("--optimize=ascend_oriented:Ascend310P", "soc_version", "ascend310p"),
        ('--optimize="ascend_oriented:910b"', "soc_version", "ascend910b"),
        ("--optimize=general", "optimize", "general"),
        ("--inputShape='x:1,3;y:2'", "input_shape", "x:1,3;y:2"),
        ("--fmk=TF", "framework", "3"),
        ("--fmk=TFLITE", "framework", "TFLITE"),
    ],
)
def test_an_option_of_lites_converter_has_the_name_of_atc(words: str, option: str, value: str) -> None:
    assert read_atc(f"converter_lite --modelFile=net.onnx {words}").value(option) == value


def test_a_configuration_that_is_missing_or_unknown_is_said(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(f"{CONVERTER} --configFile=gone.ini\n\n{CONVERTER} --configFile=$1\n")
    with pytest.raises(Refused, match=r"no such file: gone\.ini, the --configFile of the command"):
        read_atc(f"{script}:1")
    assert [each.option for each in read_atc(f"{script}:3").unknown] == ["configFile"]
