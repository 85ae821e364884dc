"""`opsinfo systems convert`: from one system's files to another's, with every entry converted or reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Run, snapshot, write

BF16 = "addmm avg_pool2d bmm conv2d dot max_pool2d mm mv relu t linear"
FP32 = "cross_entropy log_softmax softmax nll_loss topk"


@pytest.fixture
def habana(tmp_path: Path) -> tuple[Path, Path]:
    """The tutorial's custom ResNet50 lists; the first has no final newline."""
    low = write(tmp_path / "bf16.txt", "\n".join(BF16.split()))
    return low, write(tmp_path / "fp32.txt", "".join(f"{name}\n" for name in FP32.split()))


def test_the_hmp_example_lists_become_a_mixlist_for_the_real_910b(
    opsinfo: Run, corpus: Path, habana: tuple[Path, Path], tmp_path: Path
) -> None:
    base = corpus / "cann-910b/opp"
    out = tmp_path / "ops_info.json"
    words = ("systems", "convert", "--from", "habana-hmp", "--to", "mixlist", "--against", base, *habana)
    ran = opsinfo(*words, "-o", out, "--format", "json")
    assert ran.code == 0
    assert json.loads(out.read_text("utf-8")) == {
        "black-list": {"to-add": ["AxpyWithSoftmaxAndDropOutDoMask", "SoftmaxV2", "TopKD", "TopKV2"]},
        "white-list": {
            "to-add": [
                *("AvgPool", "AvgPoolV2", "BatchMatMulV3", "Dot", "MatMulV3", "MaxPoolWithArgmax"),
                *("MaxPoolWithArgmaxV2", "Relu", "ReluV2", "TransposeBatchMatMul"),
            ]
        },
    }
    dropped = [(each["name"], each["reason"]) for each in ran.json["entries"]["dropped"]]
    assert dropped == [("t", "a view in torch; no source states which operator runs, if any")]
    assert (ran.json["entries"]["given"], ran.json["entries"]["carried"]) == (16, 15)
    assert {"BatchMatMulV3", "MatMulV3"} <= set(ran.json["added"])
    losses = {loss["kind"]: loss for loss in ran.json["losses"]}
    assert list(losses) == [
        "forward-only", "unknown-name", "one-to-many", "broader", "form", "dtype", "default-direction"
    ]  # fmt: skip
    assert losses["one-to-many"]["names"] == ["linear", "cross_entropy"]
    assert "MatMulV2 also runs npu_linear" in losses["broader"]["details"]
    assert "no-class" not in losses  # HMP's own promote list is not the user's
    first, second, *_ = ran.err.splitlines()
    assert first == "warning: 1 of 16 entries are not converted:"
    assert second == "  t: a view in torch; no source states which operator runs, if any"
    checked = opsinfo("validate", out, "--against", base, "--precision-mode", "mixed_bfloat16", "--format", "json")
    assert checked.json["files"][0]["engine_accepts"] is True
    assert checked.json["summary"]["errors"] == 0


def test_a_mixlist_converted_to_another_system_and_back_is_unchanged(
    opsinfo: Run, fixtures: Path, tmp_path: Path
) -> None:
    base = ("--against", fixtures / "opp", "--soc", "ascend910b")
    mixlist = write(tmp_path / "m.json", {"black-list": {"to-add": ["SoftmaxV2"]}})
    kept = tmp_path / "keep.cfg"
    assert (
        opsinfo("systems", "convert", "--from", "mixlist", "--to", "keep-dtype", *base, mixlist, "-o", kept).code == 0
    )
    assert "OpType::SoftmaxV2" in kept.read_text("utf-8").splitlines()
    back = opsinfo("systems", "convert", "--from", "keep-dtype", "--to", "mixlist", *base, kept)
    assert json.loads(back.out) == {"black-list": {"to-add": ["SoftmaxV2"]}}


def test_a_mixlist_converted_to_a_mixlist_is_unchanged(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    text = {"black-list": {"to-add": ["MatMulV2"]}, "white-list": {"to-remove": ["IndexFill"]}}
    mixlist = write(tmp_path / "m.json", text)
    words = ("systems", "convert", "--strict", "--from", "mixlist", "--to", "mixlist")
    ran = opsinfo(*words, "--against", fixtures / "opp", "--soc", "ascend910b", mixlist)
    assert (ran.code, json.loads(ran.out), ran.err) == (0, text, "")


def test_strict_refuses_a_lossy_conversion_and_writes_nothing(
    opsinfo: Run, fixtures: Path, habana: tuple[Path, Path], tmp_path: Path
) -> None:
    before = snapshot(tmp_path)
    words = ("systems", "convert", "--strict", "--from", "habana-hmp", "--to", "mixlist", "--against", fixtures / "opp")
    ran = opsinfo(*words, "--soc", "ascend910b", *habana, "-o", tmp_path / "m.json", "--format", "json")
    assert ran.code == 1
    assert ran.json["files"] == []
    assert any(loss["lossy"] for loss in ran.json["losses"])
    assert snapshot(tmp_path) == before


def test_strict_accepts_a_conversion_without_losses(opsinfo: Run, habana: tuple[Path, Path]) -> None:
    words = (
        "systems",
        "convert",
        "--strict",
        "--from",
        "habana-hmp",
        "--to",
        "habana-hmp",
        *habana,
        "--format",
        "json",
    )
    ran = opsinfo(*words)
    assert ran.code == 0
    assert [file["text"].split() for file in ran.json["files"]] == [BF16.split(), FP32.split()]


def test_replace_moves_unlisted_operators(opsinfo: Run, fixtures: Path, habana: tuple[Path, Path]) -> None:
    base = ("--against", fixtures / "opp", "--soc", "ascend910b")
    ran = opsinfo("systems", "convert", "--from", "habana-hmp", "--to", "mixlist", *base, *habana, "--replace")
    marks = json.loads(ran.out)
    assert "IndexFill" in marks["white-list"]["to-remove"]
    assert "ReduceSum" in marks["black-list"]["to-remove"]
    assert "MatMul" not in marks["white-list"]["to-remove"]


def test_replace_reports_that_untranslated_op_types_move_too(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    base = ("--against", fixtures / "opp", "--soc", "ascend910b")
    blocked = write(tmp_path / "b.py", "op_block_list = ['MatMul', 'NoSuchOp']\n")
    ran = opsinfo("systems", "convert", "--from", "onnxconverter", "--to", "mixlist", *base, "--replace", blocked)
    assert "ReduceSum" in json.loads(ran.out)["white-list"]["to-add"]
    assert "they could not be translated" in ran.err


def test_a_built_in_list_needs_no_file(opsinfo: Run) -> None:
    ran = opsinfo("systems", "convert", "--from", "apex:O1", "--to", "keep-dtype", "--format", "json")
    assert ran.code == 0
    assert "OpType::SoftmaxV2\n" in ran.json["files"][0]["text"]


def test_two_files_go_to_a_new_directory_only(opsinfo: Run, habana: tuple[Path, Path], tmp_path: Path) -> None:
    words = ("systems", "convert", "--from", "habana-hmp", "--to", "habana-hmp", *habana)
    assert opsinfo(*words).code == 2
    out = tmp_path / "lists"
    assert opsinfo(*words, "-o", out).code == 0
    assert sorted(path.name for path in out.iterdir()) == ["ops_bf16.txt", "ops_fp32.txt"]
    before = snapshot(out)
    assert opsinfo(*words, "-o", out).code == 2
    assert snapshot(out) == before


def test_new_files_are_one_change_that_can_be_undone(
    opsinfo: Run, habana: tuple[Path, Path], fixtures: Path, tmp_path: Path
) -> None:
    words = ("systems", "convert", "--from", "habana-hmp", "--to", "habana-hmp", *habana)
    out, single = tmp_path / "lists", tmp_path / "m.json"
    made = opsinfo(*words, "-o", out, "--format", "json").json
    assert [file["path"] for file in made["files"]] == [f"{out}/ops_bf16.txt", f"{out}/ops_fp32.txt"]
    assert opsinfo("restore", out, "--format", "json").json["restored"][0]["sha256"] is None
    assert list(out.iterdir()) == []
    assert opsinfo(*words, "-o", out).code == 0  # into the remaining folder
    base = ("--against", fixtures / "opp", "--soc", "ascend910b")
    assert (
        opsinfo("systems", "convert", "--from", "habana-hmp", "--to", "mixlist", *base, *habana, "-o", single).code == 0
    )
    assert opsinfo("restore", single).code == 0
    assert not single.exists()


def test_a_library_is_not_overwritten_with_a_list(opsinfo: Run, opp: Path) -> None:
    library = next(opp.rglob("aic-*.json"))
    before = library.read_bytes()
    ran = opsinfo("systems", "convert", "--from", "apex:O1", "--to", "keep-dtype", "-o", library)
    assert (ran.code, library.read_bytes()) == (2, before)


def test_a_conversion_without_any_entry_reports_all_and_is_refused(opsinfo: Run, fixtures: Path) -> None:
    base = ("--against", fixtures / "opp", "--soc", "ascend910b")
    ran = opsinfo("systems", "convert", "--from", "paddle:OD", "--to", "mixlist", *base)
    assert (ran.code, ran.out) == (2, "")
    assert "none of the 14 entries of paddle:OD" in ran.err
    assert sum(line.startswith("  ") for line in ran.err.splitlines()) == 14


def test_all_dropped_entries_are_named_in_the_text(opsinfo: Run, tmp_path: Path) -> None:
    names = [f"no_such_op_{number}" for number in range(150)]
    low = write(tmp_path / "low.txt", "mm\n" + "".join(f"{name}\n" for name in names))
    ran = opsinfo(
        "systems",
        "convert",
        "--from",
        "habana-hmp",
        "--to",
        "keep-dtype",
        low,
        write(tmp_path / "f.txt", "softmax\n"),
        "-q",
    )
    assert ran.code == 0
    assert [line.split(":")[0] for line in ran.err.splitlines()[1:152]] == [f"  {name}" for name in ["mm", *names]]


def test_the_library_beside_a_mixlist_is_converted_with_defaults(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    base = ("--against", fixtures / "opp", "--soc", "ascend910b")
    mixlist = write(tmp_path / "m.json", {"black-list": {"to-add": ["SoftmaxV2"]}})
    words = ("systems", "convert", "--from", "mixlist", "--to", "keep-dtype", *base, mixlist)
    assert opsinfo(*words).out == "OpType::SoftmaxV2\n"
    more = opsinfo(*words, "--with-defaults").out.splitlines()
    assert "OpType::SoftmaxV2" in more
    assert len(more) > 1


def test_an_opset_chooses_the_op_types_of_onnx_operators(opsinfo: Run, tmp_path: Path) -> None:
    blocked = write(tmp_path / "b.py", "op_block_list = ['Pad', 'Exp']\n")
    words = ("systems", "convert", "--from", "onnxconverter", "--to", "keep-dtype", blocked)
    assert "OpType::MirrorPad" in opsinfo(*words).out
    assert "OpType::MirrorPad" not in opsinfo(*words, "--opset", "13").out


def test_a_block_list_beside_the_default_one_is_read(opsinfo: Run, tmp_path: Path) -> None:
    blocked = write(tmp_path / "b.py", "convert(model, op_block_list=DEFAULT_OP_BLOCK_LIST + ['Exp'])\n")
    ran = opsinfo("systems", "convert", "--from", "onnxconverter", "--to", "keep-dtype", blocked)
    assert (ran.code, ran.out) == (0, "OpType::Exp\n")


def test_an_existing_file_is_overwritten_with_a_backup(opsinfo: Run, tmp_path: Path) -> None:
    source = write(tmp_path / "lists.py", "op_block_list = ['Exp']\n")
    out = write(tmp_path / "out.cfg", "mine\n")
    words = ("systems", "convert", "--from", "onnxconverter", "--to", "keep-dtype", source, "-o", out)
    dry = opsinfo(*words, "--dry-run")
    assert (dry.code, "-mine" in dry.out, out.read_text("utf-8")) == (0, True, "mine\n")
    assert opsinfo(*words).code == 0
    assert out.read_text("utf-8") == "OpType::Exp\n"
    assert opsinfo("restore", out).code == 0
    assert out.read_text("utf-8") == "mine\n"


def test_mindspore_lite_carries_a_mixlist(opsinfo: Run, fixtures: Path, tmp_path: Path) -> None:
    mixlist = write(tmp_path / "m.json", {"black-list": {"to-add": ["SoftmaxV2"]}})
    base = ("--against", fixtures / "opp", "--soc", "ascend910b")
    out = tmp_path / "lite"
    assert (
        opsinfo("systems", "convert", "--from", "mixlist", "--to", "mindspore-lite", *base, mixlist, "-o", out).code
        == 0
    )
    assert f"ge.exec.modify_mixlist={out}/ops_info.json" in (out / "converter.ini").read_text("utf-8").splitlines()
    back = opsinfo("systems", "convert", "--from", "mindspore-lite", "--to", "mixlist", *base, out / "converter.ini")
    assert json.loads(back.out) == {"black-list": {"to-add": ["SoftmaxV2"]}}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--from", "habana-hmp", "--to", "mixlist"), "needs-base"),
        (("--from", "habana-hmp", "--to", "torch-npu"), "not-writable"),
        (("--from", "habana-hmp", "--to", "apex"), "not-writable"),
        (("--from", "habana-hpm", "--to", "mixlist"), "unknown-system"),
        (("--from", "torch-npu", "--to", "mixlist"), "not-readable"),
        (("--from", "optimum-habana", "--to", "keep-dtype"), "no-entries"),
        (("--from", "habana-hmp", "--to", "keep-dtype", "--opset", "13"), "usage"),
        (("--from", "onnxconverter", "--to", "keep-dtype", "--opset", "99"), "usage"),
        (("--from", "library", "--to", "keep-dtype", "--with-defaults"), "usage"),
        (("--from", "habana-hmp", "--to", "keep-dtype", "--replace"), "usage"),
        (("--from", "habana-hmp", "--to", "keep-dtype", "--same-names"), "usage"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else each,
)
def test_wrong_usage(
    opsinfo: Run, habana: tuple[Path, Path], opp: Path, tmp_path: Path, words: tuple[str, ...], name: str
) -> None:
    files = {
        "optimum-habana": write(tmp_path / "g.json", "{}"),
        "onnxconverter": write(tmp_path / "b.py", "op_block_list = ['Exp']\n"),
        "library": next(opp.rglob("aic-*.json")),
    }
    ran = opsinfo("systems", "convert", *words, files.get(words[1], habana[0]), "--format", "json")
    assert (ran.code, ran.json["error"]["name"]) == (2, name)


def test_a_missing_file_is_refused(opsinfo: Run, tmp_path: Path) -> None:
    assert opsinfo("systems", "convert", "--from", "habana-hmp", "--to", "habana-hmp", tmp_path / "no").code == 3
