"""What the Python API answers where an argument is of another form than meant: accepted, or refused, never ignored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from raising import raised

from opsinfo_cli import (
    Graph,
    Mixlist,
    OpsinfoError,
    Policy,
    Target,
    apply,
    backups,
    bisect_mixlist,
    convert,
    decide,
    diff,
    fmt,
    merge,
    move,
    qualify,
    reapply,
    simulate_model,
    validate,
)
from opsinfo_cli.core.cann.marks import Mark, marks_for
from opsinfo_cli.errors import Damaged, UsageFault

ROOT = Path(__file__).resolve().parent.parent
AGAINST = str(ROOT / "fixtures/opp@ascend910b")
MODEL = str(ROOT / "fixtures/graphs/ge_proto_00020_FeTopoSortingAfter.txt")
BLACK: dict[str, Any] = {"black-list": {"to-add": ["Relu", "MatMulV2", "MatMul", "Mul"]}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(BLACK), "utf-8")
    return path


def test_every_form_of_a_mixlist_gives_the_same_answer(path: Path) -> None:
    graph = Graph.read(MODEL)
    mark = Mark("to-add", Policy.BLACK)
    names = BLACK["black-list"]["to-add"]
    forms = [
        str(path),
        path,
        Mixlist.read(str(path)),
        json.loads(path.read_text("utf-8")),
        Mixlist.of(BLACK),
        dict.fromkeys(names, frozenset({mark})),
        dict.fromkeys(names, frozenset({Mark("to-add", "black")})),  # type: ignore[arg-type]
    ]
    answers = [graph.judge(AGAINST, "mixed_float16", form) for form in forms]
    assert graph.judge(AGAINST, "mixed_float16").counts.low == 2
    assert {answer.counts.low for answer in answers} == {0}
    assert graph.judge(AGAINST, "mixed_float16", {}).counts.low == 2


@pytest.mark.parametrize(
    ("mixlist", "error", "message"),
    [
        ({"black-list": ["Relu"]}, Damaged, "must be an object"),
        ({"grey-list": {"to-add": ["Relu"]}}, Damaged, "`grey-list`"),
        ({"black-list": {"to-add": ["Relu"]}, "white-list": {"to-add": ["Relu"]}}, Damaged, "refuses `Relu`"),
        ({"Relu": "black"}, Damaged, "`Relu`"),
        ({"Relu": ("black-list.to-add",)}, UsageFault, "are no `Mark`s"),
        (
            {"Relu": {Mark("to-add", Policy.BLACK), Mark("to-add", Policy.WHITE)}},
            UsageFault,
            "the engine refuses `Relu`",
        ),
        ({"black-list": {"to-add": [object()]}}, UsageFault, "no parsed mixlist"),
        (["Relu"], UsageFault, "cannot be of type list"),
        (b"m.json", UsageFault, "cannot be of type bytes"),
    ],
)
def test_what_is_no_mixlist_is_refused(mixlist: Any, error: type[OpsinfoError], message: str) -> None:
    assert message in raised(error, Graph.read(MODEL).judge, AGAINST, "mixed_float16", mixlist).message


def onnx_model(tmp_path: Path) -> str:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    text = '<ir_version: 8, opset_import: ["": 17]> net (float[1,2] x, float[2,2] w) => (float[1,2] y) '
    model = onnx.parser.parse_model(text + "{ a = MatMul(x, w)  b = Mul(a, a)  y = Log(b) }")
    onnx.save(model, str(tmp_path / "m.onnx"))
    return str(tmp_path / "m.onnx")


def test_a_simulation_takes_a_parsed_mixlist_and_has_the_warnings(tmp_path: Path) -> None:
    model = onnx_model(tmp_path)
    inputs = [{"x": numpy.array([[100, 200]], "f4"), "w": numpy.array([[2, 0], [0, 2]], "f4")}]
    listed = {"black-list": {"to-add": ["Mul", "Mull"]}}
    report = simulate_model(model, AGAINST, "mixed_float16", listed, inputs=inputs, max_error=0.01)
    assert report.passes
    assert report.warnings == ["unknown operator `Mull`: not in the target, the engine ignores it; did you mean `Mul`?"]
    assert not simulate_model(model, AGAINST, "mixed_float16", inputs=inputs, max_error=0.01).passes


def test_the_answer_has_the_warnings_of_the_command() -> None:
    graph = Graph.read(MODEL)
    answer = graph.judge(AGAINST, "mixed_float16", {"black-list": {"to-add": ["Reluu"]}})
    assert answer.warnings == [
        "unknown operator `Reluu`: not in the target, the engine ignores it; did you mean `Relu`?"
    ]
    assert graph.judge(AGAINST, "mixed_float16", BLACK).warnings == []
    a2 = str(ROOT / "fixtures/opp@ascend910")
    said = graph.judge(a2, "must_keep_origin_dtype", {"black-list": {"to-add": ["Relu"]}}).warnings
    assert said == ["the engine refuses a mixlist with must_keep_origin_dtype (E10001); it is ignored here"]
    assert graph.judge(a2, "mixed_bfloat16").warnings == ["ascend910 does not have the mode mixed_bfloat16"]


def test_the_command_prints_the_warnings_of_the_answer(opsinfo: Any, path: Path) -> None:
    path.write_text('{"black-list": {"to-add": ["Reluu"]}}', "utf-8")
    ran = opsinfo("graph", MODEL, "--against", AGAINST, "--precision-mode", "mixed_float16", "--mixlist", path)
    (warning,) = Graph.read(MODEL).judge(AGAINST, "mixed_float16", path).warnings
    assert f"warning: {warning}\n" in ran.err


def test_a_string_becomes_a_policy(path: Path) -> None:
    mixlist = Mixlist.of({"black-list": {"to-add": ["Mul"]}, "white-list": {"to-remove": ["Conv2D"]}})
    assert mixlist.effective("Conv2D", "white") is mixlist.effective("Conv2D", Policy.WHITE) is Policy.GRAY
    assert mixlist.effective("Other", "white") is Policy.WHITE
    assert marks_for("gray", "black") == marks_for(Policy.GRAY, Policy.BLACK)
    assert move(str(path), "Add", "gray", against=AGAINST, dry_run=True).stayed == ["Add"]


@pytest.mark.parametrize(
    ("value", "hint"),
    [("purple", "it is white, black, gray"), ("trustlist", "did you mean `white`?"), (None, "it is"), (1, "it is")],
)
def test_what_is_no_policy_is_refused(value: Any, hint: str, path: Path) -> None:
    for call in (
        lambda: Mixlist.of({}).effective("Conv2D", value),
        lambda: marks_for(Policy.WHITE, value),
        lambda: move(str(path), {"Add": value}, against=AGAINST),
    ):
        error = raised(UsageFault, call)
        assert (error.name, str(error.hint).startswith(hint)) == ("unknown-policy", True)


def test_one_argument_is_taken_for_a_list_of_one_and_nothing_is_refused(path: Path, tmp_path: Path) -> None:
    assert merge(path).minimal.marks == merge([path]).minimal.marks == merge(BLACK).minimal.marks
    assert merge(path, against=None).minimal.marks == merge(path, against=AGAINST).minimal.marks
    assert fmt(path).files[0].path == str(path)
    for call in (
        lambda: merge([]),
        lambda: merge(path, models="m.onnx"),
        lambda: merge(path, shapes={"x": [1]}),
        lambda: validate(path, shapes={"x": [1]}),
        lambda: apply([], path),
        lambda: qualify([]),
        lambda: backups(prune=0, backup_dir=tmp_path),
        lambda: apply(AGAINST, 5, dry_run=True),  # type: ignore[arg-type]
        lambda: merge(path, against=5),  # type: ignore[arg-type]
        lambda: reapply(5),  # type: ignore[arg-type]
        lambda: diff(5, AGAINST),  # type: ignore[call-overload]
        lambda: convert("mixlist", "keep-dtype", AGAINST),
        lambda: convert("mixlist", "keep-dtype", Target.open(AGAINST)),
        lambda: decide("apex:O1", "bmm:float17"),
    ):
        raised(OpsinfoError, call)


def test_findings_are_narrowed_as_by_the_command(path: Path, tmp_path: Path, opsinfo: Any) -> None:
    path.write_text('{"black-list": {"to-add": ["Mull", "Mul", "Mul"]}}', "utf-8")
    every = [finding.rule.name for finding in validate(path, against=AGAINST).findings]
    assert every == ["unknown-operator", "duplicate-operator"]
    for narrowed, left in (
        (validate(path, against=AGAINST, select="M"), every),
        (validate(path, against=AGAINST, select=["duplicate-operator"]), every[1:]),
        (validate(path, against=AGAINST, ignore="duplicate-operator:/black-list"), every[:1]),
        (validate(path, against=AGAINST, severity="error"), every[:1]),
    ):
        assert [finding.rule.name for finding in narrowed.findings] == left
    known = tmp_path / "known.json"
    opsinfo("validate", path, "--against", AGAINST, "--baseline", known, "--update-baseline", cwd=Path.cwd())
    assert validate(path, against=AGAINST, baseline=known).ok
    raised(UsageFault, validate, path, select="nothing")


def test_an_outcome_is_ok_if_everything_was_checked_and_nothing_is_an_error(path: Path, tmp_path: Path) -> None:
    path.write_text('{"black-list": {"to-add": ["Mul", "Mul"]}}', "utf-8")  # a warning
    outcome = validate(path, against=[AGAINST])
    assert (outcome.ok, outcome.tally.warnings) == (True, 1)
    path.write_text('{"grey-list": {}}', "utf-8")
    assert not validate(path).ok
    missing = validate(tmp_path / "missing.json")
    assert (missing.ok, missing.findings, len(missing.failures)) == (False, [], 1)
    assert not validate().ok
    assert not validate(*[], against=[AGAINST]).ok


def test_a_mixlist_is_not_checked_with_models_and_without_a_target(path: Path) -> None:
    outcome = validate(path, models=MODEL)
    assert ([*map(str, outcome.failures)], outcome.files) == (
        [f"{path}: --model requires --against for a mixlist"],
        [],
    )


def test_one_target_or_mode_is_taken_for_a_list_of_one(path: Path) -> None:
    path.write_text('{"black-list": {"to-add": ["Mull"]}}', "utf-8")
    found = validate(path, against=AGAINST, modes="force_fp16").findings
    assert [finding.rule.name for finding in found] == ["mode-refuses-mixlist", "unknown-operator"]


@pytest.mark.parametrize("answer", [None, 0, 1, 0.98, "yes", [], numpy.float32(1), numpy.array([True])], ids=repr)
def test_a_check_that_returns_no_verdict_is_refused(answer: Any, tmp_path: Path) -> None:
    if getattr(answer, "shape", None) == (1,):
        answer = numpy.array([True, False])
    journal = str(tmp_path / "run")
    error = raised(UsageFault, bisect_mixlist, lambda _: answer, AGAINST, among=["Mul"], journal=journal)
    assert (error.name, "True or False is required" in error.message) == ("no-verdict", True)
    answered = bisect_mixlist(lambda _: True, AGAINST, among=["Mul"], journal=journal, resume=True)
    assert answered.end.ended == "nothing-to-do"


@pytest.mark.parametrize("true", [True, numpy.bool_(True)], ids=repr)
def test_a_verdict_of_python_or_numpy_is_taken(true: Any, tmp_path: Path) -> None:
    answered = bisect_mixlist(lambda _: true, AGAINST, among=["Mul"], journal=str(tmp_path / "run"))
    assert answered.end.ended == "nothing-to-do"
