"""Evidence: tables of compared tensors, read row by row, and what they suspect in a graph."""

from __future__ import annotations

import io
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from corpus_place import CORPUS

from opsinfo_cli.errors import Damaged, Refused
from opsinfo_cli.lab.graph.compare_table import compared_rows
from opsinfo_cli.lab.graph.evidence import read_evidence
from opsinfo_cli.lab.graph.graph import ModelGraph
from opsinfo_cli.lab.graph.moves import moves_of
from opsinfo_cli.lab.graph.prepare import prepare

onnx = pytest.importorskip("onnx")

from opsinfo_cli.lab.graph.readers.onnx import read_onnx  # noqa: E402

NEW = (
    "Index,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,OverFlow,CosineSimilarity,"
    "MaxAbsoluteError,AccumulatedRelativeError,RelativeEuclideanDistance,KullbackLeiblerDivergence,StandardDeviation,"
    "MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,MeanRelativeError,CompareFailReason,IsNpuOps,IsOutputNode,"
    "IsPrecisionError"
)
OLD = (
    "Index,LeftOp,RightOp,TensorIndex,CosineSimilarity,MaxAbsoluteError,AccumulatedRelativeError,"
    "RelativeEuclideanDistance,KullbackLeiblerDivergence,StandardDeviation,CompareFailReason"
)
MODEL = """
<ir_version: 8, opset_import: ["" : 13]> g (float[4,8] x) => (float[4,8] y)
<float[8,8] w = {0.5}> {
  [fc] a = MatMul (x, w) [act] b = Relu (a) [exp] c = Exp (b) [mul] d = Mul (c, c) [out] y = Add (d, b)
}
"""


def _model() -> ModelGraph:
    values = ", ".join(["0.5"] * 64)
    text = MODEL.replace("{0.5}", f"{{ {values} }}")
    return read_onnx(io.BytesIO(onnx.parser.parse_model(text).SerializeToString()), "m.onnx")


def _row(
    node: str,
    side: str = "output:0",
    cosine: object = 0.99999,
    distance: object = 0.0004,
    *,
    truth: str | None = None,
    overflow: str = "NO",
    op_type: str = "T",
    dtype: str = "float16",
    tail: str = ",NO,NO,NO",
) -> str:
    truth = f'"{truth}"' if truth is not None else node
    left = f'0,{op_type},{node},{dtype},NaN,{truth},float32,NaN,{node}:{side},"[4,8]",{overflow}'
    return f'{left},{cosine},0.001,0.0002,{distance},0.0,"(0.1;1.0),(0.1;1.0)",0.0002,0.0003,0.01,0.0004,{tail}'


def _table(tmp_path: Path, *rows: str, header: str = NEW, name: str = "result_20260101000000.csv") -> str:
    path = tmp_path / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


GOOD = [_row("fc"), _row("act"), _row("exp"), _row("mul"), _row("out")]


def _names(path: str) -> list[tuple[str, str]]:
    return [(each.name, each.kind) for each in read_evidence([path], _model()).suspects]


def test_the_first_culprit_is_where_inputs_agree_and_the_output_does_not(tmp_path: Path) -> None:
    bad = [_row(name, cosine=0.7, distance=0.6) for name in ("out", "mul", "exp")]  # not in the order of the graph
    path = _table(tmp_path, *bad, _row("act"), _row("fc"))
    found = read_evidence([path], _model())
    assert [(each.name, each.kind, each.type, each.ran, each.cosine) for each in found.suspects] == [
        ("exp", "differs", "Exp", "float16", 0.7)
    ]
    assert (found.rows, found.matched, found.suspects[0].line) == (5, 5, 4)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [_row("out", cosine=0.5)],
            {
                "out": "its inputs were not compared, its output does not agree (cosine 0.5)",
                "mul": "it has no row, and is before `out`, which does not agree",
            },
        ),
        (
            [_row("act"), _row("out", cosine=0.5)],
            {
                "out": "what was compared before it agrees, its output does not (cosine 0.5)",
                "exp": "it has no row, and is between tensors that agree and `out`, which does not",
            },
        ),
        (
            [_row("exp"), _row("out", cosine=0.5)],
            {
                "out": "what was compared before it agrees, its output does not (cosine 0.5)",
                "act": "it has no row, and is before `out`, which does not agree",
                "mul": "it has no row, and is between tensors that agree and `out`, which does not",
            },
        ),
        ([_row("fc", cosine=0.5)], {"fc": "its inputs were not compared, its output does not agree (cosine 0.5)"}),
        (
            [_row("fc", "input:0"), _row("fc", cosine=0.5)],
            {"fc": "its inputs agree (cosine 0.99999), its output does not (cosine 0.5)"},
        ),
        (
            [_row("fc", overflow="YES")],
            {"fc": "its inputs were not compared, its output overflows (cosine 0.99999)"},
        ),
        (
            [_row("out", cosine=0.9999, distance=0.02)],
            {"out": "within the limits, with an error of 0.02; its inputs were not compared"},
        ),
    ],
)
@pytest.mark.parametrize("with_graph", [True, False])
def test_what_no_row_says_is_not_claimed(
    tmp_path: Path, rows: list[str], said: dict[str, str], with_graph: bool
) -> None:
    found = {
        each.name: each.why
        for each in read_evidence([_table(tmp_path, *rows)], _model() if with_graph else None).suspects
    }
    if with_graph:
        assert {name: found[name] for name in said} == said
        return
    for why in found.values():
        assert "inputs agree" not in why or any("input:0" in row for row in rows)


def test_entries_about_nodes_of_the_model_are_counted_whether_or_not_they_suspect_one(tmp_path: Path) -> None:
    file = tmp_path / "simulated.json"
    errors = {"Exp": 0.5, "Relu": 0.0, "Add": None, "Conv2D": 0.2}
    types = [{"type": name, "nodes": [], "error_alone": error} for name, error in errors.items()]
    file.write_text(json.dumps({"command": "simulate", "types": types}), "utf-8")
    found = read_evidence([str(file)], _model())
    assert (found.rows, found.matched, [each.type for each in found.suspects]) == (4, 3, ["Exp"])
    calls = {"Functional.relu.0.forward": 3.0, "Torch.exp.1.forward": 65000.0, "Torch.conv2d.2.forward": 65000.0}
    data = {call: {"input_args": [{"dtype": "torch.float32", "Max": most, "Min": 0.0}]} for call, most in calls.items()}
    file.write_text(json.dumps({"task": "statistics", "level": "L1", "data": data}), "utf-8")
    found = read_evidence([str(file)], _model())
    assert (found.rows, found.matched, [each.type for each in found.suspects]) == (3, 2, ["Exp"])


@pytest.mark.parametrize(
    "rows",
    [
        [(0.98, 0.04), (0.999, 0.05)],
        [(0.999, 0.05), (0.98, 0.04)],
        [(0.9, 0.0), (1.0, 0.01), (0.9999, 0.02)],
        [(0.98, 0.04), ("NaN", "NaN")],
        [(0.98, 0.04), ("-nan", "-nan")],
    ],
)
def test_a_wrong_output_is_not_hidden_by_another_one_that_agrees(tmp_path: Path, rows: list[tuple[Any, Any]]) -> None:
    of_exp = [_row("exp", f"output:{at}", *row) for at, row in enumerate(rows)]
    assert _names(_table(tmp_path, _row("fc"), _row("act"), *of_exp)) == [("exp", "differs")]


def test_an_operator_whose_input_row_is_wrong_is_no_culprit(tmp_path: Path) -> None:
    rows = [_row("exp", "input:0", 0.5, 0.9), _row("exp", cosine=0.5, distance=0.9), _row("fc"), _row("mul")]
    assert _names(_table(tmp_path, *rows)) == [("act", "differs")]  # it has no row: that of its reader tells


def test_a_missing_row_makes_two_suspects(tmp_path: Path) -> None:
    rows = [_row("fc"), _row("exp", cosine=0.5, distance=0.9), _row("mul", cosine=0.5, distance=0.9)]
    assert _names(_table(tmp_path, *rows)) == [("exp", "differs"), ("act", "unseen")]


@pytest.mark.parametrize("text", ["NaN", "-nan", "+nan", "N/A"])
def test_what_is_no_number_was_not_compared(tmp_path: Path, text: str) -> None:
    rows = [_row("fc"), _row("act"), _row("exp", cosine=text, distance=text)]
    assert _names(_table(tmp_path, *rows)) == []


def test_overflows_come_first(tmp_path: Path) -> None:
    rows = [_row("fc"), _row("act", cosine=0.9, distance=0.3), _row("exp", "input:0"), _row("exp", overflow="YES")]
    assert _names(_table(tmp_path, *rows)) == [("exp", "overflow"), ("act", "differs")]


def test_a_fused_row_is_all_its_nodes(tmp_path: Path) -> None:
    rows = [_row("expmul", truth="exp,mul", cosine=0.6, distance=0.5), _row("act"), _row("fc")]
    (suspect,) = read_evidence([_table(tmp_path, *rows)], _model()).suspects
    graph = _model()
    assert [graph[index].name for index in suspect.nodes] == ["exp", "mul"]


def test_rows_of_the_devices_own_prove_nothing_but_an_overflow_there_is_said(tmp_path: Path) -> None:
    own = [
        _row("trans_TransData_3", truth="*", cosine="NaN", distance="NaN"),
        _row("trans_Cast_4", truth="*", cosine="NaN", distance="NaN", overflow="YES", op_type="Cast"),
    ]
    found = read_evidence([_table(tmp_path, *GOOD, *own)], _model())
    assert (found.rows, found.matched, found.suspects) == (7, 5, [])
    assert found.unclear == ["operators of the device's own overflow, which no list names: `trans_Cast_4` (Cast)"]


def test_within_the_limits_the_largest_jump_is_shown(tmp_path: Path) -> None:
    rows = [_row("fc"), _row("act"), *(_row(name, cosine=0.9995, distance=0.03) for name in ("exp", "mul", "out"))]
    assert _names(_table(tmp_path, *rows)) == [("exp", "jump")]
    assert _names(_table(tmp_path, *GOOD)) == []


def test_a_divergence_or_absolute_error_beyond_msprobes_limits_is_no_culprit(tmp_path: Path) -> None:
    large = _row("fc").replace("0.0002,0.0003,0.01,0.0004", "9,12.5,99,3.5").replace(",NO,NO,NO", ",NO,NO,YES")
    assert _names(_table(tmp_path, large, *GOOD[1:])) == []


def test_headers_of_old_tables_and_rows_without_the_added_columns(tmp_path: Path) -> None:
    old = [
        f"{at},{name},{name},{name}:output:0,{cosine},1,1,{distance},0,(0;1),"
        for at, (name, cosine, distance) in enumerate([("fc", 1, 0), ("act", 0.9, 0.4), ("exp", 0.9, 0.4)])
    ]
    (suspect,) = read_evidence([_table(tmp_path, *old, header=OLD)], _model()).suspects
    assert (suspect.name, suspect.ran) == ("act", None)
    short = [_row("fc"), _row("act", cosine=0.2, distance=2, tail="")]
    assert _names(_table(tmp_path, *short)) == [("act", "differs")]
    sequence = NEW.replace("Index,OpType", "Index,OpSequence,OpType").replace("OverFlow", "Overflow")
    rows = [row.replace("0,T", "0,7,T", 1) for row in (_row("fc"), _row("act", overflow="YES"))]
    assert _names(_table(tmp_path, *rows, header=sequence)) == [("act", "overflow")]


def test_a_folder_has_a_table_for_each_shape(tmp_path: Path) -> None:
    for shape, cosine in (("1_3", 0.9999), ("8_3", 0.3)):
        (tmp_path / shape).mkdir()
        _table(tmp_path / shape, _row("fc"), _row("act", cosine=cosine, distance=0.01))
    found = read_evidence([str(tmp_path)], _model())
    assert ([each.name for each in found.suspects], len(found.paths), found.rows) == (["act"], 2, 4)
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match="no table result_"):
        read_evidence([str(tmp_path / "empty")])


@pytest.mark.parametrize(
    ("text", "error", "line", "message"),
    [
        ("API Name,Stack Info,Cosine\na,b,1\n", Refused, 1, "a comparison of calls of torch"),
        ("NPU Name,Bench Name,NPU Dtype\na,b,c\n", Refused, 1, "a comparison of calls of torch"),
        ("a,b,c\n1,2,3\n", Refused, 1, "not a table of compared tensors"),
        ("", Refused, None, "the file is empty"),
        (f"{NEW}\n{GOOD[0]}\n{GOOD[1][:40]}", Damaged, 3, "in a table of 25 columns"),
        (f"{NEW}\n{GOOD[0]}\n{GOOD[1][:110]}", Damaged, 3, "in a table of 25 columns"),
        (f"{NEW}\n{GOOD[0].replace('0.99999', 'x1')}\n", Damaged, 2, "`x1` is not a number"),
        (f"{NEW}\n{GOOD[0].replace('fc:output:0', 'fc')}\n", Damaged, 2, "`fc` in the column `TensorIndex`"),
        ("PK\x03\x04\0\0", Refused, 1, "not a text file"),
        ("{}", Damaged, None, "neither a compare table, JSON"),
    ],
)
def test_what_is_no_such_table_is_refused_with_its_line(
    tmp_path: Path, text: str, error: type[Refused], line: int | None, message: str
) -> None:
    path = tmp_path / "result_1.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(error, match=message) as caught:
        read_evidence([str(path)], _model())
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_a_table_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="it compares another model"):
        read_evidence([_table(tmp_path, _row("conv_1"), _row("conv_2"))], _model())
    found = read_evidence([_table(tmp_path, *GOOD, _row("conv_1"))], _model())
    assert found.unclear == ["1 operator of the table not in this model: conv_1"]


@pytest.mark.parametrize(
    "document",
    [
        {"types": [{"type": "Sigmoid", "error_alone": 0.2}]},
        {"types": [{"type": "Sigmoid", "error_alone": 0.0}, {"type": "LSTM", "error_alone": "inf"}]},
        {"types": [], "nodes": [{"type": "Sigmoid", "name": "sig", "error_alone": 0.2}]},
    ],
)
def test_a_simulation_of_another_model_is_refused(tmp_path: Path, document: dict[str, Any]) -> None:
    path = tmp_path / "simulate.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(Damaged, match="it is of another model"):
        read_evidence([str(path)], _model())


@pytest.mark.parametrize("name", ["w", "x"])
def test_a_row_of_a_constant_or_input_is_of_this_model_and_suspects_nothing(tmp_path: Path, name: str) -> None:
    found = read_evidence([_table(tmp_path, *GOOD, _row(name, cosine=0.4, distance=0.9))], _model())
    assert (found.rows, found.matched, list(found.suspects), list(found.unclear)) == (6, 6, [], [])


def test_without_a_model_the_rows_alone_suspect(tmp_path: Path) -> None:
    bad = [_row("mul", "input:0", 0.5, 0.9), _row("mul", cosine=0.5, distance=0.9, op_type="Mul")]
    path = _table(
        tmp_path, *bad, _row("exp", "input:0", op_type="Exp"), _row("exp", cosine=0.4, distance=0.9, op_type="Exp")
    )
    assert read_evidence([path]).types == ["Exp"]


def test_memory_does_not_grow_with_a_table(tmp_path: Path) -> None:
    path = tmp_path / "result_1.csv"
    rows = "".join(_row(f"node_{at}") + "\n" for at in range(1000))
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{NEW}\n")
        for at in range(30):
            file.write(rows.replace("node_", f"node_{at}_"))
        file.write("\n".join(GOOD))
    graph = _model()
    tracemalloc.start()
    assert read_evidence([str(path)], graph).matched == 5
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_json_of_a_simulation_and_a_dump_suspect_op_types_of_the_model(tmp_path: Path) -> None:
    simulated = tmp_path / "simulate.json"
    errors = {"Exp": 0.2, "Mul": "inf", "Relu": None, "Add": 0.0}
    types = [{"type": name, "nodes": [], "error_alone": error} for name, error in errors.items()]
    simulated.write_text(json.dumps({"types": types}), encoding="utf-8")
    found = read_evidence([str(simulated)], _model())
    assert [(each.type, each.name, each.kind) for each in found.suspects] == [
        ("Mul", "mul", "costs"),
        ("Exp", "exp", "costs"),
    ]
    dump: dict[str, Any] = {"dtype": "torch.float32", "Max": 70000.0, "Min": 0.0}
    calls = {"data": {"Torch.exp.0.forward": {"input_args": [dump], "output": [dump]}}}
    dumped = tmp_path / "dump.json"
    dumped.write_text(json.dumps(calls), encoding="utf-8")
    assert read_evidence([str(dumped)], _model()).types == ["Exp"]
    both = read_evidence([str(simulated), str(dumped)], _model())
    assert [(each.type, each.kind) for each in both.suspects] == [("Mul", "costs"), ("Exp", "costs")]


def test_what_moves_the_suspects_is_what_the_judge_says(tmp_path: Path) -> None:
    prepared = prepare(_model(), "fixtures/opp@ascend910b")
    answer = prepared.judge("force_fp16")
    groups = [(node.index,) for node in answer.graph if node.name in ("fc", "x")]
    assert moves_of(prepared, answer, None, groups).by == [None, "keep_dtype"]  # an input is not low
    mixed = prepared.judge("mixed_float16", {})
    low = [(node.index,) for node in mixed.graph if mixed.is_low(node.index)]
    moves = moves_of(prepared, mixed, None, low)
    after = prepared.judge("mixed_float16", moves.marks)
    for group, by in zip(low, moves.by, strict=True):
        assert (by == "mixlist") == all(after.runs_of(index) == "high" for index in group)


def test_the_table_of_the_case(tmp_path: Path) -> None:
    path = CORPUS / "cases" / "compare" / "result_20260101000000.csv"
    if not path.exists():
        pytest.skip("requires the corpus")
    rows = list(compared_rows(str(path)))
    assert [(row.operator, row.side, row.agrees, row.nodes) for row in rows] == [
        ("fc/matmul", "output", True, ("fc/matmul",)),
        ("exp", "input", True, ("exp",)),
        ("exp", "output", False, ("exp",)),
        ("trans_TransData_3", "output", None, ()),
    ]
    (suspect,) = read_evidence([str(path)]).suspects
    assert (suspect.type, suspect.kind, suspect.ran) == ("Exp", "overflow", "float16")


def test_many_operators_of_another_model_are_not_counted_to_the_last(tmp_path: Path) -> None:
    found = read_evidence([_table(tmp_path, *GOOD, *(_row(f"other_{at}") for at in range(1200)))], _model())
    assert found.unclear == [
        "1000 or more operators of the table not in this model: other_0, other_1, other_2 and 997 more"
    ]
