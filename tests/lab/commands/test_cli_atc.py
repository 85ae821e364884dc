"""`--atc`: the user's own command is where model, shapes, chip, mode and lists come from."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

import pytest
from cli_support import Run

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

COMMAND = "atc --model=model.onnx --framework=5 --output=out --soc_version=Ascend910B3"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in "xy")
    weights = helper.make_tensor("w", TensorProto.FLOAT, [4, 4], [0.5] * 16)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], name="fc"),
        helper.make_node("Relu", ["m"], ["a"], name="relu"),
        helper.make_node("Softmax", ["a"], ["y"], name="soft"),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], [weights])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    made.ir_version = 8
    onnx.save(made, tmp_path / "model.onnx")
    (tmp_path / "ops.json").write_text('{"black-list": {"to-add": ["SoftmaxV2"]}}', "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _shown(opsinfo: Run, opp: Path, command: str, *more: object) -> tuple[dict[str, object], str]:
    ran = opsinfo("graph", "--atc", command, "--against", opp, "--format", "json", *more)
    assert ran.code == 0, ran.err
    runs = {node["name"]: node["outputs"][0] for node in ran.json["nodes"] if node["name"] in ("relu", "soft")}
    return {"mode": ran.json["precision_mode"], "shapes": ran.json["shapes"], **runs}, ran.err


def test_a_command_gives_what_is_typed_otherwise(opsinfo: Run, opp: Path, folder: Path) -> None:
    words = "--precision_mode_v2=mixed_float16 --modify_mixlist=ops.json --input_shape=x:2,4"
    by_command, _ = _shown(opsinfo, opp, f"{COMMAND} {words}")
    assert by_command == {"mode": "mixed_float16", "shapes": {"x": [2, 4]}, "relu": "float16", "soft": "float32"}
    (folder / "sub").mkdir()
    script = folder / "sub" / "convert.sh"
    script.write_text(
        f"MODE=mixed_float16\ncd ..\n{COMMAND} \\\n  {words.replace('=mixed_float16', '=$MODE')}\n", "utf-8"
    )
    assert _shown(opsinfo, opp, str(script))[0] == by_command


def test_what_is_typed_wins_and_is_said(opsinfo: Run, opp: Path, folder: Path) -> None:
    found, said = _shown(opsinfo, opp, f"{COMMAND} --precision_mode=force_fp32", "--precision-mode", "force_fp16")
    assert found["mode"] == "force_fp16"
    assert "--precision-mode force_fp16, as typed, and not force_fp32 of the command" in said


def test_without_a_mode_it_is_that_of_atc(opsinfo: Run, opp: Path, folder: Path) -> None:
    found, said = _shown(opsinfo, opp, COMMAND)
    assert found["mode"] == "force_fp16"
    assert "precision mode force_fp16, the default of atc" in said


def test_what_is_not_considered_or_known_is_said(opsinfo: Run, opp: Path, folder: Path) -> None:
    words = "--insert_op_conf=aipp.cfg --out_nodes=a:0 --keep_dtype=$KEEP --log=error --output_type=FP16"
    _, said = _shown(opsinfo, opp, f"{COMMAND} {words}", "--precision-mode", "mixed_float16")
    assert "not considered: --insert_op_conf, --out_nodes of the command" in said
    assert "--keep_dtype=$KEEP, line 1: its value is unknown" in said
    assert "considered: --output_type=FP16" in said


@pytest.mark.parametrize(("spelled", "value"), [("true", "11"), ("1", "11"), ("false", "00"), ("0", "00")])
def test_atcs_own_spellings_of_hf32_are_taken(opsinfo: Run, opp: Path, folder: Path, spelled: str, value: str) -> None:
    words = "--precision_mode=must_keep_origin_dtype --allow_hf32="
    found = [opsinfo("graph", "--atc", f"{COMMAND} {words}{each}", "--against", opp) for each in (spelled, value)]
    assert found[0].code == 0, found[0].err
    assert found[0].out == found[1].out
    assert ("computed in HF32" in found[0].err) == (value == "11")


def test_several_commands_are_listed_with_their_lines(opsinfo: Run, opp: Path, folder: Path) -> None:
    script = folder / "two.sh"
    script.write_text(f"{COMMAND} --precision_mode=force_fp32\n\n\n{COMMAND} --precision_mode=force_fp16\n", "utf-8")
    ran = opsinfo("graph", "--atc", script, "--against", opp)
    assert ran.code == 2
    assert f"{script}:1, {script}:4" in ran.err
    assert _shown(opsinfo, opp, f"{script}:4")[0]["mode"] == "force_fp16"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("atc --framework=5 --soc_version=Ascend910B3", "the command of --atc has no --model"),
        ("atc --model=m.caffemodel --framework=0", "models of Caffe are not read"),
        (f"{COMMAND} --precision_mode=force_fp16 --precision_mode_v2=fp16", "atc refuses both"),
        ("missing.sh", "no such file: missing.sh"),
        ("python train.py", "no command of atc"),
    ],
)
def test_what_is_no_usable_command_is_refused(
    opsinfo: Run, opp: Path, folder: Path, command: str, message: str
) -> None:
    ran = opsinfo("graph", "--atc", command, "--against", opp, "--soc", "ascend910b")
    assert ran.code in (2, 3)
    assert message in ran.err


def test_simulate_and_bisect_take_it_too(opsinfo: Run, opp: Path, folder: Path) -> None:
    pytest.importorskip("onnxruntime")
    command = f"{COMMAND} --precision_mode_v2=mixed_float16 --modify_mixlist=ops.json --input_shape=x:2,4"
    ran = opsinfo("simulate", "--atc", command, "--against", opp, "--format", "json")
    assert (ran.code, ran.json["mixlist"], ran.json["shapes"]) == (0, "ops.json", {"x": [2, 4]})
    searched = opsinfo("bisect", "--atc", command, "--against", opp, "--simulate", "--max-error", "1")
    assert searched.code == 0, searched.err


OPTIONS = {
    "--output_type=FP16": "what the model becomes (the chip, options of atc, fusions)",
    "--input_fp16_nodes=x": "what the model becomes (the chip, options of atc, fusions)",
    "--op_select_implmode=high_performance_for_all": "what the model becomes (the chip, options of atc, fusions)",
    "--input_shape=x:2,4": "shapes",
    "--allow_hf32=00": "allow hf32",
}


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("is_first", [True, False])
def test_bisect_resumes_no_search_of_another_graph(
    opsinfo: Run, opp: Path, folder: Path, option: str, is_first: bool
) -> None:
    """Whether an option is new or gone, the verdicts of the journal are about other dtypes."""
    impl = opp / "built-in/op_impl/ai_core/tbe/impl_mode"
    impl.mkdir(parents=True)
    (impl / "high_performance_for_all.ini").write_text("[ByOpType]\nSoftmaxV2=high_performance\n", "utf-8")
    commands = [f"{COMMAND} --precision_mode_v2=mixed_float16 {more}" for more in ("", option)]
    words, check = ["bisect", "--against", opp], ["--", "false", "{mixlist}"]
    first, second = sorted(commands, reverse=is_first, key=len)
    assert opsinfo(*words, "--atc", first, *check).code == 1
    assert opsinfo(*words, "--resume", "--atc", first, *check).code == 1
    ran = opsinfo(*words, "--resume", "--format", "json", "--atc", second, *check)
    assert (ran.code, ran.json.get("error", {}).get("name")) == (2, "journal-differs"), ran.err
    assert ran.json["error"]["message"].endswith(f"changed since: {OPTIONS[option]}")
    assert opsinfo(*words, "--resume", "--force", "--atc", second, *check).code == 1
    assert opsinfo(*words, "--resume", "--atc", second, *check).code == 1


def test_a_journal_that_does_not_say_what_the_model_became_is_continued_by_force_only(
    opsinfo: Run, opp: Path, folder: Path
) -> None:
    words = ["bisect", "--against", opp, "--atc", f"{COMMAND} --precision_mode_v2=mixed_float16"]
    check = ["--", "false", "{mixlist}"]
    assert opsinfo(*words, *check).code == 1
    journal = folder / ".opsinfo-bisect" / "journal.jsonl"
    begin, *rest = journal.read_text("utf-8").splitlines(keepends=True)
    facts = json.loads(begin)
    assert facts.pop("judged")
    text = json.dumps({name: value for name, value in facts.items() if name != "sum"})[:-1]
    journal.write_text("".join([f'{text}, "sum": "{crc32(text.encode()):08x}"}}\n', *rest]), "utf-8")
    refused = opsinfo(*words, "--resume", *check)
    assert refused.code == 2
    assert "changed since: the version of opsinfo: the journal does not say what the model became" in refused.err
    assert opsinfo(*words, "--resume", "--force", *check).code == 1


def test_validate_checks_the_files_and_the_mode_of_a_command(opsinfo: Run, opp: Path, folder: Path) -> None:
    (folder / "bad.json").write_text(json.dumps({"black-list": {"to-add": ["SoftmaxV2", "Sofmax"]}}), "utf-8")
    command = f"{COMMAND} --precision_mode=allow_mix_precision --modify_mixlist=bad.json"
    ran = opsinfo("validate", "--atc", command, "--against", opp)
    assert "M005" in ran.out
    refused = opsinfo("validate", "--atc", command.replace("allow_mix", "force_mix"), "--against", opp)
    assert (refused.code, "P001" in refused.out) == (1, True)
    none = opsinfo("validate", "--atc", "atc --framework=5 $MORE", "--against", opp)
    assert (none.code, "names no mixlist or other file, and no mode" in none.err) == (2, True)
    without = opsinfo("validate", "--atc", command)
    assert "no CANN with ascend910b was found" in without.err


@pytest.mark.parametrize(
    ("mode", "code", "said"),
    [
        ("", 0, "the precision mode checked: no findings"),
        (" --precision_mode_v2=mixed_float16", 0, "the precision mode checked: no findings"),
        (" --precision_mode=allow_mix_precision_bf16", 0, "the precision mode checked: no findings"),
        (" --precision_mode=fast", 1, "the precision mode checked: 1 error"),
    ],
)
def test_a_command_without_a_list_is_checked(
    opsinfo: Run, opp: Path, folder: Path, mode: str, code: int, said: str
) -> None:
    ran = opsinfo("validate", "--atc", COMMAND + mode, "--against", opp)
    assert (ran.code, said in ran.err) == (code, True), ran.err


def test_a_command_of_lites_converter_gives_the_same(opsinfo: Run, opp: Path, folder: Path) -> None:
    words = "--precision_mode=allow_mix_precision --modify_mixlist=ops.json --input_shape=x:2,4"
    config = folder / "c.cfg"
    config.write_text(
        '[acl_build_options]\ninput_shape="x:2,4"\n[ascend_context]\nprecision_mode=preferred_optimal\n'
        "plugin_custom_ops=All\n[acl_init_options]\nge.exec.modify_mixlist=ops.json\n"
    )
    converter = "converter_lite --fmk=ONNX --modelFile=model.onnx --outputFile=out --configFile=c.cfg"
    command = f"{converter} --optimize=ascend_oriented:Ascend910B"
    found, said = _shown(opsinfo, opp, command)
    assert found == _shown(opsinfo, opp, f"{COMMAND} {words}")[0]
    assert "not considered: --ascend_context.plugin_custom_ops of the command" in said
    config.write_text("[acl_init_options]\nge.exec.precision_mode=preferred_optimal\n")
    wrong = opsinfo("graph", "--atc", command, "--against", opp)
    assert (wrong.code, "preferred_optimal" in wrong.err) == (2, True)
    config.unlink()
    missing = opsinfo("graph", "--atc", command, "--against", opp)
    assert (missing.code, "no such file: c.cfg, the --configFile of the command" in missing.err) == (3, True)
