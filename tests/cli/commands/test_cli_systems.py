"""`systems list`, `show`, `diff` and `decide`, and `modes`."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run, names, rows, write

from opsinfo_cli.model.precision_mode import MODES
from opsinfo_cli.neighbours.registry import SYSTEMS
from opsinfo_cli.neighbours.snippet import snippet_names
from opsinfo_cli.report.answer import Either, Table
from opsinfo_cli.report.views.systems import levels_answer


def test_every_system_of_the_table_is_listed(opsinfo: Run) -> None:
    found = {row[0]: row for row in rows(opsinfo("systems", "list"))}
    assert {"habana-hmp", "apex", "mindspore", "tensorflow", "paddle", "onnxconverter", "modelopt"} <= set(found)
    assert found["apex"][1] == "O0 O1 O2 O3"
    assert found["torch-npu"][2:4] == ["-", "-"]
    assert {name for name, row in found.items() if row[3] != "-"} == {
        *("mixlist", "keep-dtype", "habana-hmp", "habana-autocast"),
        *("mindspore-white", "mindspore-black", "mindspore-lite"),
    }
    document = opsinfo("systems", "list", "--format", "json").json
    assert {each["name"] for each in document["systems"]} == set(found)


def test_the_published_tables_of_levels(opsinfo: Run) -> None:
    apex = [tuple(row) for row in rows(opsinfo("systems", "show", "apex"))]
    assert ("O2", "keep_batchnorm_fp32", "True") in apex
    assert ("O1", "loss_scale", "dynamic") in apex
    mindspore = [tuple(row) for row in rows(opsinfo("systems", "show", "mindspore"))]
    assert ("O2", "loss_scale_manager", "DynamicLossScaleManager()") in mindspore
    assert {row[0] for row in mindspore} == {"O0", "O1", "O2", "O3", "auto"}


@pytest.mark.parametrize(
    ("system", "count", "rest"),
    [
        ("mindspore:O0", 0, "untouched"),
        ("mindspore:O1", 20, "high"),
        ("mindspore:O2", 4, "low"),
        ("mindspore:O3", 0, "low"),
        ("apex:O0", 0, "high"),
        ("apex:O2", 1, "low"),
        ("apex:O3", 0, "low"),
    ],
)
def test_a_level_is_listed_with_the_treatment_of_unlisted_names(
    opsinfo: Run, system: str, count: int, rest: str
) -> None:
    found = rows(opsinfo("systems", "show", system))
    assert len(found) == count + 1
    assert found[-1][:2] == ["*", rest]
    assert opsinfo("systems", "show", system, "--format", "json").json["total"] == count


@pytest.mark.parametrize(("name", "columns"), [("apex", ["", "O0", "O1", "O2", "O3"]),
                                               ("mindspore", ["level", "property", "value"])])  # fmt: skip
def test_levels_stand_side_by_side_if_80_columns_hold_them(name: str, columns: list[str]) -> None:
    (block,) = levels_answer(SYSTEMS[name]).blocks()
    assert isinstance(block, Either)
    table = next(iter(block.terminal()))
    assert isinstance(table, Table)
    assert [column.title for column in table.columns] == columns


def test_the_document_of_a_system_has_its_levels_and_its_default_lists(opsinfo: Run) -> None:
    apex = opsinfo("systems", "show", "apex", "--format", "json").json
    assert (apex["system"]["level"], apex["total"]) == ("O1", 130)
    assert [level["name"] for level in apex["systems"][0]["levels"]] == ["O0", "O1", "O2", "O3"]
    mindspore = opsinfo("systems", "show", "mindspore", "--format", "json").json
    assert ("operators" in mindspore, len(mindspore["systems"][0]["levels"])) == (False, 5)
    assert opsinfo("systems", "show", "library", "--format", "json").json["systems"][0]["reads"] == "a TARGET"


def test_a_system_is_listed_by_class_and_name(opsinfo: Run) -> None:
    low = names(opsinfo("systems", "show", "apex:O1", "--on", "white", "--match", "conv*"))
    assert low[:2] == ["conv1d", "conv2d"]
    assert low[-1] == "*"
    for word in ("white", "low"):
        assert {row[1] for row in rows(opsinfo("systems", "show", "apex:O1", "--on", word))[:-1]} == {"low"}


def test_files_can_be_given_as_a_system(opsinfo: Run, tmp_path: Path) -> None:
    low, high = write(tmp_path / "a", "mm\n"), write(tmp_path / "b", "log\n")
    found = {row[0]: row[1] for row in rows(opsinfo("systems", "show", f"habana-hmp={low},{high}"))}
    assert (found["mm"], found["log"]) == ("low", "high")
    ran = opsinfo("systems", "diff", "habana-hmp", f"habana-hmp={low},{high}", "--format", "json")
    assert ran.code == 1
    assert ran.json["counts"] == {"only_in_a": 38, "only_in_b": 0, "changed": 0, "same": 6}


def test_a_system_is_compared_with_itself_and_with_a_target(opsinfo: Run, fixtures: Path) -> None:
    assert opsinfo("systems", "diff", "torch-npu", "torch-npu").code == 0
    target = fixtures / "opp"
    ran = opsinfo("systems", "diff", "torch-npu", target, "--soc", "ascend910b", "--format", "json")
    assert ran.code == 1
    assert ran.json["system_a"]["names"] == ran.json["system_b"]["names"] == "ascend"
    assert {"name": "SoftmaxV2", "a": "high", "b": "follow"} in ran.json["changed"]


def test_a_file_called_like_a_system_is_a_file(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    write(tmp_path / "apex", "{}")
    write(tmp_path / "mixlist.json", "{}")
    assert opsinfo("diff", "apex", "mixlist.json", cwd=tmp_path).code == 0
    assert opsinfo("systems", "diff", "apex", "mixlist.json", cwd=tmp_path).code == 0
    assert names(opsinfo("systems", "show", "apex:O1", cwd=tmp_path))[0] == "conv1d"


@pytest.mark.parametrize(
    "words",
    [
        ("systems", "show", "apx"),
        ("systems", "show", "apex:O9"),
        ("systems", "show", "mixlist", "--on", "low"),
        ("systems", "show", "mixlist=m.json"),
        ("systems", "show", "mindspore", "--on", "low"),
        ("systems", "apex"),
        ("systems", "diff", "apex:O1"),
        ("diff", "apex:O1", "apex:O2"),
        ("list", "--system", "apex:O1"),
        ("decide", "--system", "apex:O1", "mm"),
        ("convert", "--from", "apex:O1", "--to", "keep-dtype"),
        ("systems", "decide", "--system", "apex:O1", "mm:float17"),
        ("systems", "decide", "--system", "apex:O1", "mm:"),
        ("systems", "decide", "--system", "apex:O1", "--to-float", "float16", "mm"),
        ("systems", "decide", "--system", "ascend:mixed_float16", "Add"),
        ("systems", "decide", "--system", "ascend:mixed", "Add"),
        ("systems", "decide", "--system", "apex:O1", "--own", "float16", "mm"),
        ("systems", "decide", "--system", "apex:O1", "--soc", "ascend910b", "mm"),
        ("systems", "decide", "--system", "ascend:origin", "--low", "float16", "Add"),
        ("systems", "decide", "--system", "torch-amp", "--disabled", "mm"),
        ("systems", "show", "apex:O1", "--soc", "ascend910b"),
        ("diff", "apex:O1", "apex:O2", "--soc-a", "ascend910b"),
        ("modes", "--precision-mode", "origin"),
        ("modes", "--soc", "ascend910", "--snippet", "atc", "--precision-mode", "mixed_bfloat16"),
        ("modes", "--soc", "ascend911"),
        ("modes", "--snippet", "tf3"),
        ("modes", "--mixlist", "m.json"),
        ("modes", "--snippet", "tf1", "--precision-mode", "mixed_float"),
    ],
    ids=" ".join,
)
def test_wrong_usage(opsinfo: Run, words: tuple[str, ...]) -> None:
    ran = opsinfo(*words, "--format", "json")
    assert ran.code == 2
    assert ran.json["error"]["message"]


def test_decide_in_lines_and_as_a_document(opsinfo: Run) -> None:
    words = ("systems", "decide", "--system", "habana-hmp", "add:bf16,fp32", "eq:bf16,fp32")
    assert [row[:3] for row in rows(opsinfo(*words))] == [
        ["add", "bfloat16,float32", "float32"],
        ["eq", "bfloat16,float32", "unknown"],
    ]
    found = opsinfo(*words, "--format", "json").json["decisions"]
    assert [(each["outcome"], each["dtype"]) for each in found] == [("dtype", "float32"), ("not-known", None)]


def test_decide_on_the_real_910b(opsinfo: Run, corpus: Path, tmp_path: Path) -> None:
    against = ("--against", corpus / "cann-910b/opp")
    found = rows(
        opsinfo("systems", "decide", "--system", "ascend:mixed_float16", *against, "MatMulV2", "ReduceSum", "Relu:fp16")
    )
    assert [row[2] for row in found] == ["float16", "float32", "float16"]
    mixlist = write(tmp_path / "m.json", {"black-list": {"to-add": ["Relu"]}})
    changed = opsinfo(
        "systems", "decide", "--system", "ascend:mixed_float16", *against, "--mixlist", mixlist, "Relu:fp16"
    )
    assert rows(changed)[0][2] == "float32"


def test_modes_lists_the_modes_of_a_chip_and_whether_training_must_be_mixed(opsinfo: Run) -> None:
    old = opsinfo("modes", "--soc", "ascend910", "--format", "json").json
    assert "mixed_bfloat16" not in [mode["name"] for mode in old["modes"]]
    assert [each["must_mix"] for each in old["products"]] == [True]
    new = opsinfo("modes", "--soc", "Ascend910B3", "--format", "json").json
    assert (new["soc"], new["products"][0]["must_mix"]) == ("ascend910b", False)
    assert "mixed_bfloat16" in [mode["name"] for mode in new["modes"]]
    assert [each["name"] for each in new["others"]] == ["op_precision_mode", "keep_dtype", "customize_dtypes"]
    mixed = {row[1] for row in rows(opsinfo("modes")) if row[0] == "mode" and row[4].startswith("mixlist")}
    assert mixed == {
        *("allow_mix_precision", "allow_mix_precision_fp16", "allow_mix_precision_bf16"),
        *("mixed_float16", "mixed_bfloat16", "mixed_hif8"),
    }


@pytest.mark.parametrize(
    ("name", "line", "loss"),
    [
        ("tf1", 'custom_op.parameter_map["modify_mixlist"].s = tf.compat.as_bytes("m x.json")', "LossScaleManager"),
        ("tf2", 'npu.global_options().modify_mixlist = "m x.json"', "NpuLossScaleOptimizer"),
        ("atc", "--modify_mixlist='m x.json'", "no loss to scale"),
        ("ge", '    {"ge.exec.modify_mixlist", "m x.json"},', "loss is scaled by the training framework"),
        ("mindspore-lite", "ge.exec.modify_mixlist=m x.json", "no loss to scale"),
        ("mindspore-lite-runtime", "mixprecision_list_path=m x.json", "no loss to scale"),
        ("paddle-lite", "export HUAWEI_ASCEND_NPU_MODIFY_MIXLIST_FILE_PATH='m x.json'", "no loss to scale"),
        ("onnxruntime", 'options = {"enable_cann_graph": True, "precision_mode": "allow_mix_precision"}',
         "no loss to scale"),
        ("mindspore", 'model = ms.Model(network, loss_fn, optimizer, amp_level="O2", loss_scale_manager=manager)',
         "DynamicLossScaleManager"),
        ("apex", 'model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale="dynamic")', "2**16"),
        ("torch", "with torch.npu.amp.autocast(dtype=torch.float16):", "GradScaler"),
        ("habana", 'with torch.autocast("hpu", dtype=torch.bfloat16):', "range of float32"),
        ("habana-hmp", "with hmp.disable_casts():", "range of float32"),
    ], ids=lambda value: value if value in snippet_names() else "",
)  # fmt: skip
def test_a_snippet_sets_mode_mixlist_and_loss_scale(
    opsinfo: Run, tmp_path: Path, name: str, line: str, loss: str
) -> None:
    write(tmp_path / "m x.json", {"black-list": {"to-add": ["Add"]}})
    ran = opsinfo("modes", "--snippet", name, "--mixlist", "m x.json", cwd=tmp_path)
    assert ran.code == 0
    assert line in ran.out.splitlines()
    assert loss in ran.out
    takes = name in ("tf1", "tf2", "atc", "ge", "mindspore-lite", "mindspore-lite-runtime", "paddle-lite")
    assert ("takes no mixlist" in ran.err) is not takes
    document = opsinfo("modes", "--snippet", name, "--format", "json", cwd=tmp_path).json
    assert document["snippet"]["takes_mixlist"] is takes
    assert "m x.json" not in document["snippet"]["text"]


FLOAT16, BFLOAT16, OTHER = ("mixed_float16", "allow_mix_precision"), ("mixed_bfloat16", "allow_mix_precision_bf16"), (
    "force_fp16", "origin", "allow_fp32_to_bf16",
)  # fmt: skip


@pytest.mark.parametrize("mode", [*FLOAT16, *BFLOAT16, *OTHER, "mixed_hif8"])
@pytest.mark.parametrize("name", snippet_names())
def test_every_snippet_sets_the_mode_or_refuses_it(opsinfo: Run, name: str, mode: str) -> None:
    ran = opsinfo("modes", "--snippet", name, "--precision-mode", mode, "--format", "json")
    if ran.code:
        assert (ran.code, ran.json["error"]["name"]) == (2, "mode-not-in-snippet")
        refused = {
            "torch": (*OTHER, "mixed_hif8"),
            "mindspore": ("mixed_hif8",),
            "onnxruntime": ("mixed_hif8",),
            "paddle-lite": (*BFLOAT16, "mixed_hif8"),
            "mindspore-lite-runtime": (*BFLOAT16, *OTHER, "mixed_hif8"),
            "apex": (*BFLOAT16, *OTHER, "mixed_hif8"),
        }
        assert mode in refused.get(name, (*FLOAT16, *OTHER, "mixed_hif8") if name.startswith("habana") else ())
        return
    made = ran.json["snippet"]
    same = {mode, *(MODES[mode].same)}
    assert made["mode"] in same
    if name in ("torch", "habana"):
        assert f"dtype=torch.{'bfloat16' if mode in BFLOAT16 else 'float16'}" in made["text"]
    elif name in ("apex", "habana-hmp"):
        assert mode in (FLOAT16 if name == "apex" else BFLOAT16)
    else:
        assert made["mode"] in made["text"]


@pytest.mark.parametrize("mode", [*BFLOAT16, "origin", "allow_fp32_to_bf16"])
@pytest.mark.parametrize("name", ["tf1", "tf2", "torch", "mindspore"])
def test_no_loss_is_scaled_if_nothing_becomes_float16(opsinfo: Run, name: str, mode: str) -> None:
    ran = opsinfo("modes", "--snippet", name, "--precision-mode", mode)
    if name == "torch" and mode not in BFLOAT16:
        assert ran.code == 2
        return
    assert "the loss is not scaled" in ran.out
    assert not any(word in ran.out for word in ("Scaler", "LossScale", "scaler", "manager"))


def test_the_snippet_of_mindspore_sets_op_precision(opsinfo: Run) -> None:
    line = 'ms.device_context.ascend.op_precision.precision_mode("allow_mix_precision_bf16")'
    assert line in opsinfo("modes", "--snippet", "mindspore", "--precision-mode", "mixed_bfloat16").out.splitlines()


def test_the_snippet_of_apex_states_that_upstream_removed_it(opsinfo: Run) -> None:
    assert "removed apex.amp in May 2025 (commit cb65b8ed)" in opsinfo("modes", "--snippet", "apex").out


def test_the_snippet_of_hmp_names_the_releases_it_is_for(opsinfo: Run) -> None:
    assert "before SynapseAI 1.13" in opsinfo("modes", "--snippet", "habana-hmp").out


def test_a_mixlist_on_another_machine_is_not_checked_with_a_warning(opsinfo: Run) -> None:
    ran = opsinfo("modes", "--snippet", "atc", "--mixlist", "/on/the/server/ops_info.json")
    assert (ran.code, "--modify_mixlist=/on/the/server/ops_info.json" in ran.out) == (0, True)
    assert "was not found here, so it was not checked" in ran.err


@pytest.mark.parametrize(
    "character",
    ["\x1b", "\x7f", "\x9b", "\u061c", "\u202e", "\u2028", "\udc9b", "\n"],
    ids=[
        "ESC",
        "DEL",
        "C1 CSI",
        "Arabic letter mark",
        "right-to-left override",
        "line separator",
        "undecodable byte",
        "newline",
    ],
)
@pytest.mark.parametrize("name", ["atc", "mindspore-lite", "tf1"])
def test_a_path_with_a_control_character_is_refused(opsinfo: Run, name: str, character: str) -> None:
    ran = opsinfo("modes", "--snippet", name, "--mixlist", f"m{character}[31m.json", "--format", "json")
    assert (ran.code, ran.json["error"]["name"]) == (2, "control-character")


def test_a_path_with_characters_of_any_script_is_kept(opsinfo: Run) -> None:
    assert "混合　清单 é\xa0x.json" in opsinfo("modes", "--snippet", "tf1", "--mixlist", "混合　清单 é\xa0x.json").out


def test_decide_offers_near_names(opsinfo: Run, corpus: Path) -> None:
    words = (
        "systems",
        "decide",
        "--system",
        "ascend:mixed_float16",
        "--against",
        corpus / "cann-910b/opp",
        "softmaxv2",
    )
    assert "did you mean `SoftmaxV2`?" in opsinfo(*words).err
    assert opsinfo(*words, "--format", "json").json["decisions"][0]["near"] == ["SoftmaxV2"]


@pytest.mark.parametrize(("name", "made"), [("torch", "scaler"), ("mindspore", "manager"), ("tf1", "manager")])
def test_a_snippet_makes_its_loss_scale_before_it_is_used(opsinfo: Run, name: str, made: str) -> None:
    lines = opsinfo("modes", "--snippet", name).out.splitlines()
    first = next(line for line in lines if made in line)
    assert first.startswith(f"{made} = ")


def test_a_snippet_checks_the_mixlist_and_the_mode(opsinfo: Run, tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.json", '{"black-list": {"to_add": []}}')
    good = write(tmp_path / "good.json", "{}")
    assert opsinfo("modes", "--snippet", "tf1", "--mixlist", bad).code == 3
    refused = opsinfo(
        "modes", "--snippet", "tf1", "--mixlist", good, "--precision-mode", "force_fp16", "--format", "json"
    )
    assert (refused.code, refused.json["error"]["name"]) == (2, "mode-refuses-mixlist")
