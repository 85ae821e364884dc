"""Shapes of inputs: the answer for a shape is that for the file that has it, in every command that reads a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from cli_support import Run, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy", reason="numpy is not installed")
onnx = pytest.importorskip("onnx", reason="onnx is not installed")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from opsinfo_cli import validate  # noqa: E402
from opsinfo_cli.lab.graph.mixlist_check import OpenedModel  # noqa: E402

OPEN = ("batch", "", "h", "w")
"""The dimensions of the input: channels have no name in the file."""
CHANNELS = 4


class Made:
    """A model in the making: nodes that are added to a value of four dimensions."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: dict[str, Any] = {}
        self.last = "x"

    def add(self, op: str, *more: str, **attributes: Any) -> str:
        value = f"v{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(op, [self.last, *more], [value], name=f"{op}_{len(self.nodes)}", **attributes)
        )
        self.last = value
        return value

    def weight(self, values: Any, dtype: str = "float32") -> str:
        name = f"c{len(self.weights)}"
        self.weights[name] = np.asarray(values, dtype)
        return name


def conv(it: Made) -> None:
    it.add(
        "Conv", it.weight(np.full((CHANNELS, CHANNELS, 1, 1), 0.3)), it.weight(np.zeros(CHANNELS)), kernel_shape=[1, 1]
    )


def norm(it: Made) -> None:
    it.add("BatchNormalization", *(it.weight(np.full(CHANNELS, 0.7)) for _ in range(4)))


def layer_norm(it: Made) -> None:
    """LayerNorm in parts, over the channels at the end."""
    it.add("Transpose", perm=[0, 2, 3, 1])
    x, mean = it.last, it.add("ReduceMean", axes=[-1])
    it.last = x
    it.add("Sub", mean)
    centred = it.last
    it.add("Pow", it.weight(2.0))
    it.add("ReduceMean", axes=[-1])
    it.add("Add", it.weight(1e-5))
    root = it.add("Sqrt")
    it.last = centred
    it.add("Div", root)
    it.add("Mul", it.weight(np.full(CHANNELS, 0.9)))
    it.add("Add", it.weight(np.full(CHANNELS, 0.1)))
    it.add("Transpose", perm=[0, 3, 1, 2])


def reshape(it: Made) -> None:
    """A Reshape to a shape that is computed from the shape of its input."""
    value, shape = it.last, it.add("Shape")
    it.last = value
    flat = it.add("Reshape", it.weight([0, CHANNELS, -1], "int64"))
    it.last = flat
    it.add("Reshape", shape)


def scaled(it: Made) -> None:
    """A division by the height, as exporters write a mean."""
    value, _ = it.last, it.add("Shape")
    it.add("Gather", it.weight(2, "int64"), axis=0)
    size = it.add("Cast", to=TensorProto.FLOAT)
    it.last = value
    it.add("Div", size)


PARTS: list[Callable[[Made], object]] = [
    conv,
    norm,
    layer_norm,
    reshape,
    scaled,
    lambda it: it.add("Relu"),
    lambda it: it.add("Pow", it.weight(2.0)),
    lambda it: it.add("Div", it.weight(3.0)),
    lambda it: it.add("Clip", it.weight(-1.0), it.weight(1.0)),
    lambda it: it.add("Softmax", axis=1),
    lambda it: it.add("ReduceMean", axes=[2], keepdims=1),
    lambda it: it.add("Tile", it.weight([1, 1, 2, 1], "int64")),
    lambda it: it.add("Pad", it.weight([0, 0, 0, 0, 0, 0, 1, 1], "int64")),
    lambda it: it.add("GlobalAveragePool"),
    lambda it: it.add("Slice", *(it.weight([number], "int64") for number in (0, 1, 2))),
]


def model(parts: Sequence[int], dims: Sequence[int | str]) -> Any:
    made = Made()
    for part in parts:
        PARTS[part](made)
    graph = helper.make_graph(
        made.nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [dim or None for dim in dims])],
        [helper.make_tensor_value_info(made.last, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in made.weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


@pytest.fixture
def judged(opsinfo: Run, opp: Path, tmp_path: Path) -> Callable[..., Any]:
    """Return what a command says of the model beside the test."""
    target = ["--against", opp, "--soc", "ascend910b"]
    entries = {"black-list": {"to-add": ["SoftmaxV2", "ReduceMean", "ReduceMeanD", "Muls", "TileD", "PadD"]}}
    mixlist = write(tmp_path / "ops_info.json", entries)

    def run(command: str, *more: str | Path) -> Any:
        path = tmp_path / "model.onnx"
        words: dict[str, list[Any]] = {
            "graph": ["graph", path, *target, "--by", "node", "--format", "json"],
            "simulate": ["simulate", path, *target, "--format", "json"],
            "bisect": ["bisect", "--model", path, *target, "--dry-run", "-v", "--", "true", "{mixlist}"],
            "validate": ["validate", mixlist, "--model", path, *target, "--format", "json"],
        }
        given = words[command]
        end = given.index("--") if "--" in given else len(given)
        ran = opsinfo(*given[:end], *more, *given[end:])
        assert ran.code in (0, 1), ran.err
        if "json" not in given:
            return ran.out, ran.err
        return {name: value for name, value in ran.json.items() if name != "shapes"}  # what was given

    return run


@pytest.mark.parametrize("command", ["graph", "simulate", "bisect", "validate"])
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
@given(
    parts=st.lists(st.integers(0, len(PARTS) - 1), min_size=1, max_size=4, unique=True),
    shape=st.tuples(st.integers(1, 2), st.just(CHANNELS), st.sampled_from([3, 16]), st.sampled_from([4, 16])),
    given_open=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_the_answer_for_a_shape_is_that_for_the_file_with_the_shape(
    judged: Callable[..., Any],
    tmp_path: Path,
    command: str,
    parts: list[int],
    shape: tuple[int, ...],
    given_open: list[bool],
) -> None:
    if not any(given_open):
        given_open = [True] * 4
    path = tmp_path / "model.onnx"
    dims = [name if is_open else size for name, is_open, size in zip(OPEN, given_open, shape, strict=True)]
    onnx.save(model(parts, dims), path)
    stated = judged(command, "--shape", "x=" + ",".join(map(str, shape)))
    onnx.save(model(parts, shape), path)
    assert stated == judged(command)


def test_a_shape_changes_the_answer_of_every_command(judged: Callable[..., Any], tmp_path: Path) -> None:
    parts = [PARTS.index(layer_norm), PARTS.index(scaled), len(PARTS) - 4]
    onnx.save(model(parts, OPEN), tmp_path / "model.onnx")
    for command in ("graph", "bisect", "validate"):
        assert judged(command) != judged(command, "--shape", "x=1,4,3,4"), command


def test_one_line_says_what_open_dimensions_decided_and_which_option_cures_it(
    opsinfo: Run, opp: Path, tmp_path: Path
) -> None:
    words = [tmp_path / "model.onnx", "--against", opp, "--soc", "ascend910b"]

    def said(*more: str) -> list[str]:
        return [line for line in opsinfo("graph", *words, *more).err.splitlines() if "open dimensions" in line]

    onnx.save(model([PARTS.index(norm), PARTS.index(scaled)], OPEN), tmp_path / "model.onnx")
    (line,) = said()
    assert re.search(r"decided the op types or dtypes of \d+ nodes? \(.*`Shape_1`", line), line
    assert line.endswith("--shape x=batch,?,h,w, with a number for each open dimension")
    assert said("--shape", "x=1,4,3,4") == []
    (line,) = said("--shape", "x=1~8,4,3,4")
    assert line.endswith("--shape x=batch,4,3,4, with a number for each open dimension")
    onnx.save(model([PARTS.index(norm), PARTS.index(scaled)], (1, 4, 3, 4)), tmp_path / "model.onnx")
    assert said() == []


def test_every_command_that_judges_says_it_of_each_model_and_documents_count_the_nodes(
    opsinfo: Run, opp: Path, fixtures: Path, tmp_path: Path
) -> None:
    target = ["--against", opp, "--soc", "ascend910b"]
    mixlist = write(tmp_path / "ops_info.json", {"black-list": {"to-add": ["SoftmaxV2"]}})
    onnx.save(model([PARTS.index(norm), PARTS.index(scaled), 9], OPEN), tmp_path / "open.onnx")
    onnx.save(model([PARTS.index(norm), 9], (1, 4, 3, 4)), tmp_path / "known.onnx")
    models = ["--model", tmp_path / "open.onnx", "--model", tmp_path / "known.onnx"]
    found = opsinfo("graph", tmp_path / "open.onnx", *target, "--format", "json").json
    assert (found["shapes"], found["open_dimensions"] > 0) == ({}, True)
    count = found["open_dimensions"]
    nodes = f"decided the op types or dtypes of {count} node{'s' * (count != 1)}"
    for words in (["validate", mixlist, *models], ["merge", mixlist, "--minimize", *models]):
        lines = [line for line in opsinfo(*words, *target).err.splitlines() if "open dimensions" in line]
        assert len(lines) == 1, (words, lines)
        assert lines[0].startswith(f"note: {tmp_path / 'open.onnx'}: open dimensions {nodes}"), lines
        assert lines[0].endswith("--shape x=batch,?,h,w, with a number for each open dimension")
        assert "open dimensions" not in opsinfo(*words, *target, "--shape", "x=1,4,3,4").err
    words = ["profile", fixtures / "profiles" / "op_summary.csv", "--model", tmp_path / "open.onnx", *target]
    assert nodes in opsinfo(*words).err
    assert "open dimensions" not in opsinfo(*words, "--shape", "x=1,4,3,4").err
    for command in ("graph", "simulate"):
        words = [command, tmp_path / "open.onnx", *target, "--format", "json"]
        stated = opsinfo(*words, "--shape", "x=1,4,3,4").json
        assert (stated["shapes"], stated["open_dimensions"]) == ({"x": [1, 4, 3, 4]}, 0)
    written = opsinfo("graph", tmp_path / "open.onnx", *target, "--shape", "x=1~8,4,3,4", "--format", "json").json
    assert (written["shapes"], written["open_dimensions"] > 0) == ({"x": [-1, 4, 3, 4]}, True)


@pytest.mark.parametrize("wrong", ["Relu\u00a0", "Relux", "Logg"])
def test_after_fixes_only_the_new_check_counts(
    opp: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    answer = OpenedModel.answer

    def noted(self: OpenedModel, target: Any, mode: str, marks: Any) -> Any:
        found = answer(self, target, mode, marks)
        self.decided_open[f"with {' '.join(sorted(marks))}"] = None
        return found

    monkeypatch.setattr(OpenedModel, "answer", noted)
    onnx.save(model([PARTS.index(norm), PARTS.index(scaled)], OPEN), tmp_path / "open.onnx")
    mixlist = write(tmp_path / "ops_info.json", {"black-list": {"to-add": ["Relu", wrong]}})
    for fix in (None, "unsafe"):
        checked = validate(mixlist, against=f"{opp}@ascend910b", models=tmp_path / "open.onnx", fix=fix)
        (note,) = (note for note in checked.notes if "open dimensions" in note)
        assert (wrong in note) == (fix is None), note


def _atc(option: str, value: str) -> list[str]:
    return ["--atc", f"atc --precision_mode_v2=mixed_float16 --{option}='{value}'"]


@pytest.mark.parametrize("other", [["--node", "v0"], ["--by", "node"], ["--format", "html"]])
def test_profiles_of_a_command_are_left_out_of_another_answer_and_said(
    opsinfo: Run, opp: Path, tmp_path: Path, other: list[str]
) -> None:
    onnx.save(model([0], OPEN), tmp_path / "model.onnx")
    target = ["--against", opp, "--soc", "ascend910b", *_atc("dynamic_dims", "1,4,3,4")]
    ran = opsinfo("graph", tmp_path / "model.onnx", *target, *other)
    assert ran.code in (0, 2), ran.err  # 2: no node of this name
    assert "not considered: --dynamic_dims of the command: this answer has one profile" in ran.err


def test_a_node_in_a_body_with_the_name_of_an_outer_one_is_not_taken_for_it(
    opsinfo: Run, opp: Path, tmp_path: Path
) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> main (float[n,4] x, bool t) => (float[n,4] y) {
      [same] y = If(t) <
        then_branch = left () => (float[n,4] a) { [same] a = Relu(x) },
        else_branch = right () => (float[n,4] b) { [other] b = Log(x) }>
    }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "model.onnx")
    words = ["graph", tmp_path / "model.onnx", "--against", opp, "--soc", "ascend910b", "--format", "json"]
    assert opsinfo(*words).json["open_dimensions"] == 0
    assert opsinfo(*words, *_atc("dynamic_dims", "1;2")).json["profiles_differ"] == []


def test_an_input_that_random_whole_numbers_may_not_serve_is_named(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [1]) for name in ("rate", "row")]
    weights = [numpy_helper.from_array(np.ones(4, "f4"), "r"), numpy_helper.from_array(np.ones((9, 2), "f4"), "table")]
    nodes = [helper.make_node("Gather", ["table", "row"], ["a"]), helper.make_node("Reshape", ["r", "rate"], ["b"])]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("a", "b")]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(made, tmp_path / "model.onnx")
    ran = opsinfo("simulate", tmp_path / "model.onnx", "--against", opp, "--soc", "ascend910b")
    assert ran.code == 3
    assert "may not serve `rate`: give inputs with --inputs FILE.npz" in ran.err


def test_a_bound_is_printed_as_given_and_a_cosine_that_fails_it_with_all_digits(
    opsinfo: Run, opp: Path, tmp_path: Path
) -> None:
    onnx.save(model([PARTS.index(conv), 5], (1, 4, 3, 4)), tmp_path / "model.onnx")
    target = ["--against", opp, "--soc", "ascend910b", "--no-rank"]
    ran = opsinfo("simulate", tmp_path / "model.onnx", *target, "--min-cosine", "0.9999999999")
    assert ran.code == 1
    found = re.search(r"fails --min-cosine 0\.9999999999: 1 output, .*, the smallest cosine (0\.9999\d+)", ran.err)
    assert found, ran.err
    assert float(found[1]) < 0.9999999999


def test_each_profile_is_the_answer_for_its_shape_and_what_differs_is_named(
    opsinfo: Run, opp: Path, tmp_path: Path
) -> None:
    words = ["graph", tmp_path / "model.onnx", "--against", opp, "--soc", "ascend910b", "--format", "json"]
    onnx.save(model([PARTS.index(scaled), 0], OPEN), tmp_path / "model.onnx")
    one, two = (opsinfo(*words, "--shape", f"x={shape}").json for shape in ("1,4,3,4", "2,4,16,4"))
    found = opsinfo(*words, "--shape", "x=-1,4,-1,4", *_atc("dynamic_dims", "1,3;2,16"))
    assert found.code == 0
    document = found.json
    assert [each["name"] for each in document["profiles"]] == ["1,3", "2,16"]
    assert [each["shapes"] for each in document["profiles"]] == [{"x": [1, 4, 3, 4]}, {"x": [2, 4, 16, 4]}]
    for profile, alone in zip(document["profiles"], (one, two), strict=True):
        assert (profile["nodes"], profile["low"]) == (alone["counts"]["nodes"], alone["counts"]["low"])
    assert {name: document[name] for name in one if name not in ("constants", "unread")} == {
        name: one[name] for name in one if name not in ("constants", "unread")
    }
    rows = [{node["name"]: (node["type"], node["outputs"]) for node in each["nodes"]} for each in (one, two)]
    differ = {name for name in rows[0].keys() | rows[1].keys() if rows[0].get(name) != rows[1].get(name)}
    assert {each["name"] for each in document["profiles_differ"]} >= differ


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--output_type=FP16", "considered: --output_type=FP16"),
        ("--output_type=FP32", "considered: --output_type=FP32"),
        ("--input_fp16_nodes=x", "considered: --input_fp16_nodes=x"),
    ],
)
def test_profiles_are_judged_with_the_options_of_the_command(
    opsinfo: Run, opp: Path, tmp_path: Path, options: str, said: str
) -> None:
    onnx.save(model([5], ("batch", CHANNELS, 3, 4)), tmp_path / "model.onnx")
    words = ["graph", tmp_path / "model.onnx", "--against", opp, "--soc", "ascend910b", "--format", "json"]
    command = f"atc --precision_mode_v2=mixed_float16 {options}"
    alone = opsinfo(*words, "--atc", command, "--shape", "x=1,4,3,4")
    found = opsinfo(*words, "--atc", f"{command} --dynamic_batch_size='1,2'")
    assert (said in found.err, said in alone.err) == (True, True)
    assert (found.json["counts"], found.json["nodes"]) == (alone.json["counts"], alone.json["nodes"])


def test_a_node_that_differs_between_profiles_is_listed(opsinfo: Run, opp: Path, tmp_path: Path) -> None:
    """A convolution over its whole input becomes a FullyConnection."""
    made = Made()
    made.add("Conv", made.weight(np.full((16, CHANNELS, 3, 3), 0.3)), kernel_shape=[3, 3], pads=[0] * 4)
    graph = helper.make_graph(
        made.nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", CHANNELS, "s", "s"])],
        [helper.make_tensor_value_info(made.last, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in made.weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), tmp_path / "m.onnx")
    words = ["graph", tmp_path / "m.onnx", "--against", opp, "--soc", "ascend910b"]
    ran = opsinfo(*words, *_atc("dynamic_dims", "1,3,3;1,5,5;2,5,5"))
    rows = [line.split("\t") for line in ran.out.splitlines()]
    differing = [row[1:4] for row in rows if row[0] == "node" and row[1] == "Conv_0"]
    assert differing == [["Conv_0", "1,3,3", "FullyConnection"], ["Conv_0", "1,5,5;2,5,5", "Conv2D"]], ran.out + ran.err
    agree = opsinfo(*words, "--shape", "x=-1,4,5,5", *_atc("dynamic_batch_size", "1,2"))
    assert "all profiles give every node the same op type and dtypes" in agree.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*_atc("dynamic_batch_size", "1,2")], "only the first dimension of an input may be open"),
        (["--shape", "x=1,4,3,4", *_atc("dynamic_batch_size", "1,2")], "no input has an open dimension"),
        ([*_atc("dynamic_batch_size", "1,1")], "1 to 100 different profiles"),
        ([*_atc("dynamic_batch_size", "0")], "cannot read `0`"),
        ([*_atc("dynamic_dims", "1,2;3,4")], "--dynamic_dims 1,2: 2 sizes for 4 open dimensions"),
        ([*_atc("dynamic_dims", "1,2,x,4")], "cannot read `1,2,x,4`"),
        (["--shape", "y=1"], "the model has no input `y`"),
    ],
)
def test_profiles_that_do_not_fit_are_wrong_usage(
    opsinfo: Run, opp: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    onnx.save(model([0], OPEN), tmp_path / "model.onnx")
    ran = opsinfo("graph", tmp_path / "model.onnx", "--against", opp, "--soc", "ascend910b", *words)
    assert ran.code == 2
    assert message in ran.err


def test_a_compiled_model_takes_no_shape(opsinfo: Run, fixtures: Path) -> None:
    dump = fixtures / "graphs" / "ge_proto_00020_FeTopoSortingAfter.txt"
    ran = opsinfo("graph", dump, "--shape", "x=1")
    assert ran.code == 2
    assert "this model has the shapes that it was compiled for" in ran.err


def test_the_shapes_of_arrays_are_judged(judged: Callable[..., Any], tmp_path: Path) -> None:
    onnx.save(model([PARTS.index(scaled), 9], OPEN), tmp_path / "model.onnx")
    np.savez(tmp_path / "i.npz", x=np.ones((2, 4, 3, 4), "f4"))
    inputs = ["--inputs", tmp_path / "i.npz"]
    found = judged("simulate", *inputs)
    onnx.save(model([PARTS.index(scaled), 9], (2, 4, 3, 4)), tmp_path / "model.onnx")
    assert found == judged("simulate", *inputs)
    assert "Shape" not in json.dumps(found["coverage"])
