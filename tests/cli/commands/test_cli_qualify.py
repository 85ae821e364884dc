"""`opsinfo qualify`: verdicts, options, plots, and files that are not logs."""

from __future__ import annotations

import gzip
import os
import threading
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from cli_support import Run, rows

BLOCK = "opt_level              : O1\nloss_scale             : dynamic\n"
OVER = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {:.1f}\n"
METRIC = "Acc@1 ([0-9.]+)"


def log(folder: Path, name: str, metric: float = 76.1, overflows: int = 3, block: str = BLOCK) -> Path:
    path = folder / name
    steps = "".join(f"global_step: {step}\n" for step in range(100, 10_001, 100))
    falls = "".join(OVER.format(2.0 ** (15 - number)) for number in range(overflows))
    path.write_text(f"{block}{falls}{steps} * Acc@1 {metric} Acc@5 92.9\n", encoding="utf-8")
    return path


def runs(folder: Path, *metrics: float) -> list[Path]:
    return [log(folder, f"run-{number}.log", metric) for number, metric in enumerate(metrics)]


def test_a_sound_baseline(opsinfo: Run, tmp_path: Path) -> None:
    mixed = runs(tmp_path, 76.1, 76.2, 76.0, 76.15)
    references = [log(tmp_path, f"fp32-{number}.log", 76.1 + number / 10) for number in range(3)]
    words = [word for path in references for word in ("--reference", str(path))]
    ran = opsinfo("qualify", *mixed, "--metric", METRIC, *words, "--strict")
    assert ran.code == 0
    assert rows(ran)[0][:2] == ["verdict", "sound"]
    assert {row[0]: row[1] for row in rows(ran)[1:] if row[0] != "advice"} == dict.fromkeys(
        ("mixed-precision", "dynamic-scaling", "overflow-share", "loss-scale", "runs-agree", "reference"), "holds"
    )
    document = opsinfo("qualify", *mixed, "--metric", METRIC, *words, "--format", "json").json
    assert (document["verdict"], document["missing"]) == ("sound", [])
    assert document["comparison"]["p"] > 0.05
    assert [run["metric"] for run in document["runs"]] == [76.1, 76.2, 76.0, 76.15]
    assert document["runs"][0]["share"]["high"] == 3 / 10_000


def test_without_a_reference_the_verdict_mentions_it(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("qualify", *runs(tmp_path, 76.1, 76.2, 76.0, 76.15), "--metric", METRIC, "--strict")
    assert ran.code == 0
    assert "not compared with high precision" in ran.out


def test_too_few_runs_are_incomplete(opsinfo: Run, tmp_path: Path) -> None:
    paths = runs(tmp_path, 76.1, 76.2)
    ran = opsinfo("qualify", *paths, "--metric", METRIC)
    assert (ran.code, rows(ran)[0]) == (
        0,
        ["verdict", "incomplete", "nothing fails; too few runs to compare: add more, or --reference"],
    )
    assert opsinfo("qualify", *paths, "--metric", METRIC, "--strict").code == 1


@pytest.mark.parametrize(
    ("words", "failing"),
    [
        (["--large-batch", "--steps", "1000"], "overflow-share"),
        (["--metric", METRIC, "--spread", "0"], "runs-agree"),
    ],
)
def test_not_sound(opsinfo: Run, tmp_path: Path, words: list[str], failing: str) -> None:
    ran = opsinfo("qualify", *runs(tmp_path, 76.1, 76.2), *words)
    assert (ran.code, rows(ran)[0][1]) == (1, "not sound")
    assert failing in rows(ran)[0][2]


def test_a_folder_is_one_run(opsinfo: Run, tmp_path: Path) -> None:
    for rank in range(3):
        (tmp_path / "run" / f"rank_{rank}").mkdir(parents=True)
        log(tmp_path / "run" / f"rank_{rank}", "train.log")
    ran = opsinfo("qualify", tmp_path / "run", "--format", "json")
    (run,) = ran.json["runs"]
    assert (len(run["logs"]), run["overflows"]["low"]) == (3, 3)
    assert "ranks of one run" in ran.err


def test_the_same_log_twice_is_not_a_second_run(opsinfo: Run, tmp_path: Path) -> None:
    path = log(tmp_path, "a.log")
    (tmp_path / "b.log").symlink_to(path)
    ran = opsinfo("qualify", path, tmp_path / "b.log")
    assert (ran.code, ran.out) == (2, "")


SILENT = "fp16_opt_level=O1,\n{'loss': 2.0, 'step': 100}\n{'loss': 1.0, 'step': 5000}\n"


def test_options_supply_facts_that_the_log_lacks(opsinfo: Run, tmp_path: Path) -> None:
    silent = tmp_path / "hf.log"
    silent.write_text(SILENT)
    values = {row[0]: row[1] for row in rows(opsinfo("qualify", silent))}
    assert (values["mixed-precision"], values["dynamic-scaling"]) == ("unknown", "unknown")
    values = {row[0]: row[1] for row in rows(opsinfo("qualify", silent, "--amp", "O1", "--loss-scale", "dynamic"))}
    assert (values["mixed-precision"], values["dynamic-scaling"], values["overflow-share"]) == (
        "holds",
        "holds",
        "not measurable",
    )
    values = {row[0]: row[1] for row in rows(opsinfo("qualify", silent, "--amp", "O1", "--loss-scale", "128"))}
    assert (values["dynamic-scaling"], values["overflow-share"]) == ("fails", "not measurable")
    values = {row[0]: row[1] for row in rows(opsinfo("qualify", silent, "--amp", "bf16"))}
    assert (values["dynamic-scaling"], values["overflow-share"]) == ("holds", "not measurable")
    assert opsinfo("qualify", silent, "--amp", "bf16", "--expect", "dynamic").code == 1


def test_a_float32_hugging_face_log_is_not_sound(opsinfo: Run, tmp_path: Path) -> None:
    path = tmp_path / "hf.log"
    path.write_text("fp16=False,\nfp16_backend=auto,\nfp16_opt_level=O1,\n" + SILENT, encoding="utf-8")
    ran = opsinfo("qualify", path, "--loss-scale", "dynamic", "--format", "json")
    assert (ran.code, ran.json["verdict"], ran.json["runs"][0]["level"]) == (1, "not sound", "fp32")
    assert [point["status"] for point in ran.json["points"]].count("holds") == 1  # --loss-scale


def test_a_silent_apex_log_is_incomplete(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("qualify", log(tmp_path, "a.log", overflows=0))
    values = {row[0]: row[1] for row in rows(ran)}
    assert (ran.code, values["verdict"], values["overflow-share"]) == (0, "incomplete", "unknown")


def test_a_readme_is_refused_with_the_list_of_formats(opsinfo: Run, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Project\n\nStep 1: train it.\n", encoding="utf-8")
    ran = opsinfo("qualify", tmp_path / "README.md")
    assert (ran.code, ran.out) == (2, "")
    for name in ("APEX", "DeepSpeed", "Megatron", "fairseq", "mindformers", "BMTrain", "Swin"):
        assert name in ran.err
    assert opsinfo("qualify", tmp_path / "README.md", "--format", "json").json["error"]["name"] == "unknown-log"


def test_the_log_overrides_the_options(opsinfo: Run, tmp_path: Path) -> None:
    ran = opsinfo("qualify", log(tmp_path, "a.log"), "--amp", "O0", "--loss-scale", "64")
    assert {row[0]: row[1] for row in rows(ran)}["mixed-precision"] == "holds"
    assert ran.err.count("the log is used") == 2


def test_standard_input_plain_and_packed(opsinfo: Run, tmp_path: Path) -> None:
    data = log(tmp_path, "a.log").read_bytes()
    plain = opsinfo("qualify", "-", "--format", "json", input=data).json
    packed = opsinfo("qualify", "-", "--format", "json", input=gzip.compress(data)).json
    assert plain == packed
    assert plain["runs"][0]["overflows"]["low"] == 3


@pytest.mark.parametrize("cut", [30, -20])
def test_broken_gzip_is_refused(opsinfo: Run, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(log(tmp_path, "a.log").read_bytes())[:cut])
    ran = opsinfo("qualify", path)
    assert (ran.code, ran.out) == (3, "")
    assert "broken gzip" in ran.err
    assert opsinfo("qualify", path, "--format", "json").json["error"]["name"] == "damaged-file"


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 100_000, bytes(range(256)) * 2000, b"\x1f\x8b\x08\x00"],
    ids=["empty", "zeros", "every byte", "cut gzip"],
)
def test_a_file_that_is_not_a_log_proves_nothing(opsinfo: Run, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    ran = opsinfo("qualify", tmp_path / "x")
    assert (ran.code, ran.out) == (3 if content.startswith(b"\x1f") else 2, "")


def test_nan_and_infinite_scales_make_valid_json(opsinfo: Run, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("step: 1, overflow: True, loss scale: nan\nstep: 2, overflow: True, loss scale: inf\n")
    ran = opsinfo("qualify", tmp_path / "x", "--format", "json")
    assert "NaN" not in ran.out
    assert "Infinity" not in ran.out
    assert ran.json["verdict"] == "not sound"


@pytest.mark.parametrize(
    "words",
    [
        ["--metric", "("],
        ["--metric", "Acc"],
        ["--amp", "O9"],
        ["--loss-scale", "often"],
        ["--loss-scale", "-1"],
        ["--loss-scale", "nan"],
        ["--steps", "0"],
        ["--ranks", "0"],
    ],
    ids=" ".join,
)
def test_wrong_values_of_options_are_wrong_usage(opsinfo: Run, tmp_path: Path, words: list[str]) -> None:
    ran = opsinfo("qualify", log(tmp_path, "a.log"), *words)
    assert (ran.code, ran.out) == (2, "")


def test_a_missing_log_and_an_empty_folder_are_refused(opsinfo: Run, tmp_path: Path) -> None:
    assert opsinfo("qualify", tmp_path / "none.log").code == 3
    (tmp_path / "empty").mkdir()
    assert opsinfo("qualify", tmp_path / "empty").code == 2


def test_the_plot_is_valid_svg_for_any_log_name(opsinfo: Run, tmp_path: Path) -> None:
    hostile = log(tmp_path, "<script>alert('x')&amp;\x1b[31m\u202e.log")
    for _ in range(2):  # a plot replaces a plot
        assert opsinfo("qualify", hostile, "--plot", tmp_path / "out.svg").code == 0
    text = (tmp_path / "out.svg").read_text("utf-8")
    tree = ElementTree.fromstring(text)
    assert [child.tag for child in tree.iter() if child.tag.endswith("script")] == []
    assert "\x1b" not in text
    assert any("<script>" in (child.text or "") for child in tree.iter())


def test_the_plot_never_overwrites_a_log(opsinfo: Run, tmp_path: Path) -> None:
    path = log(tmp_path, "a.log")
    before = path.read_bytes()
    assert opsinfo("qualify", path, "--plot", path).code == 2
    assert path.read_bytes() == before
    assert opsinfo("qualify", path, "--plot", tmp_path).code == 2
    assert opsinfo("qualify", path, "--plot", tmp_path / "no" / "where.svg").code == 3


def test_a_process_substitution_is_read(opsinfo: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    data = log(tmp_path, "a.log").read_bytes()
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
    writer.start()
    ran = opsinfo("qualify", tmp_path / "pipe", "--format", "json")
    writer.join()
    assert ran.json["runs"][0]["overflows"]["low"] == 3


APEX_OPTIONS = "opt_level              : O1\nloss_scale             : dynamic\n"
NO_EVIDENCE = {
    "a silent APEX log": APEX_OPTIONS + "".join(f"Epoch: [0][{step}/5000]\tTime 0.3\n" for step in range(0, 5000, 50)),
    "a float32 Hugging Face log": "TrainingArguments(\nfp16=False,\nfp16_opt_level=O1,\n)\n"
    + "".join(f"{{'loss': 1.0, 'step': {step}}}\n" for step in range(10, 5000, 10)),
    "a silent Hugging Face log": "TrainingArguments(fp16=True, fp16_opt_level=O1)\n{'loss': 1.0, 'step': 5000}\n",
}


@pytest.mark.parametrize("text", NO_EVIDENCE.values(), ids=NO_EVIDENCE)
@pytest.mark.parametrize("words", [(), ("--loss-scale", "dynamic", "--amp", "O1")], ids=["as it is", "with options"])
def test_no_share_and_no_scale_hold_without_evidence(
    opsinfo: Run, tmp_path: Path, text: str, words: tuple[str, ...]
) -> None:
    path = tmp_path / "run.log"
    path.write_text(text)
    ran = opsinfo("qualify", path, *words, "--format", "json")
    points = {point["name"]: point["status"] for point in ran.json["points"]}
    assert "holds" not in (points["overflow-share"], points["loss-scale"])
    assert ran.json["verdict"] in ("incomplete", "not sound")


def test_a_page_of_text_is_not_a_log(opsinfo: Run) -> None:
    ran = opsinfo("qualify", Path(__file__).resolve().parents[3] / "README.md")
    assert ran.code == 2
    assert "known format" in ran.err


def test_a_log_that_grows_ends(opsinfo: Run, tmp_path: Path) -> None:
    path = log(tmp_path, "a.log")
    done = threading.Event()

    def write() -> None:
        with path.open("a") as file:
            while not done.is_set():
                file.write("global_step: 20000\n" * 1000)
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert opsinfo("qualify", path).code == 0
    finally:
        done.set()
        writer.join()


# What MindSpore logged as reduced

RECORD = (
    "[INFO] Default/network/x{{[0]: {op}, [1]: CNode}} {way} precision, node datatype: \n(<Float32xNCHW>) -> "
    "(<Float32xNCHW>), select kernel: (<Float16xNC1HWC0>) -> (<Float16xNC1HWC0>)\n"
)


def reduced(opsinfo: Run, text: str, *words: str | Path) -> list[list[str]]:
    return [row[1:] for row in rows(opsinfo("qualify", "-", *words, input=text)) if row[0] == "reduced"]


def test_reduced_operators_most_records_first(opsinfo: Run, opp: Path) -> None:
    text = RECORD.format(op="Add", way="Reduce") + RECORD.format(op="MatMul", way="Reduce") * 3
    text += RECORD.format(op="Mul", way="Raise")
    text += "x:y{[0]: MatMul, [1]: q} reduce precision, node datatype: (43, 43) -> (43), select kernel: (42) -> (42)\n"
    text += "There are 3 nodes used reduce precision to selected the kernel!\n"
    text += "Reduce precision for [Gather] input 1\n"
    assert reduced(opsinfo, text, "--against", f"{opp}@ascend910b") == [
        ["MatMul", "4", "white", "(<Float16xNC1HWC0>) -> (<Float16xNC1HWC0>)"],
        ["Add", "1", "gray", "(<Float16xNC1HWC0>) -> (<Float16xNC1HWC0>)"],
    ]
    ran = opsinfo("qualify", "-", "--format", "json", input=text)
    document = ran.json["reduced"]
    assert (document["total"], document["raised"], document["unnamed"], document["against"]) == (5, 1, 0, None)
    assert document["operators"][0] == {
        "name": "MatMul",
        "count": 4,
        "policy": None,
        "kernels": ["(<Float16xNC1HWC0>) -> (<Float16xNC1HWC0>)", "(42) -> (42)"],
    }
    assert (ran.code, ran.json["verdict"]) == (0, "incomplete")


def test_a_primitive_has_the_policy_of_its_op_type(opsinfo: Run, opp: Path) -> None:
    record = RECORD.format(op="Softmax", way="Reduce")
    (row,) = reduced(opsinfo, record, "--against", opp, "--soc", "ascend910b")
    assert row[:3] == ["Softmax", "1", "gray"]
    assert reduced(opsinfo, record)[0][2] == "-"


def test_two_records_on_one_line_and_one_cut_short(opsinfo: Run) -> None:
    both = "a{[0]: Add} Reduce precision, node datatype: b{[0]: Mul} Reduce precision, node datatype: "
    assert sorted(row[0] for row in reduced(opsinfo, both)) == ["Add", "Mul"]


def test_records_of_the_ranks_of_a_run_are_added(opsinfo: Run, tmp_path: Path) -> None:
    for rank in range(3):
        (tmp_path / f"rank_{rank}.log").write_text(RECORD.format(op="Add", way="Reduce"))
    ran = opsinfo("qualify", *sorted(tmp_path.iterdir()), "--format", "json")
    assert [(each["name"], each["count"]) for each in ran.json["reduced"]["operators"]] == [("Add", 3)]


def test_the_command_reduced_names_its_successor(opsinfo: Run) -> None:
    ran = opsinfo("reduced", "ms.log")
    assert (ran.code, "opsinfo qualify" in ran.err) == (2, True)
