"""Five models, with pairs of Casts put in here and computed by onnx's reference evaluator, agree with `simulate`.

The dtypes are the judge's: an ONNX node whose operator is low has its floating-point inputs and outputs rounded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, shape_inference
from onnx.reference import ReferenceEvaluator
from simulate_support import BOOL, FLOAT, INT64, all_low, node, save, value

from opsinfo_cli.core.cann.marks import ADD_BLACK
from opsinfo_cli.core.terminal.answer import Lines
from opsinfo_cli.errors import Refused
from opsinfo_cli.lab.commands.simulate import _drawn
from opsinfo_cli.lab.graph.atc_options import AtcOptions
from opsinfo_cli.lab.graph.prepare import PreparedModel, prepare
from opsinfo_cli.lab.graph.readers import read_graph
from opsinfo_cli.lab.graph.result import Answer
from opsinfo_cli.lab.simulate.inputs import InputSet
from opsinfo_cli.lab.simulate.node_costs import rank_nodes
from opsinfo_cli.lab.simulate.onnx_model import OnnxFile
from opsinfo_cli.lab.simulate.report import not_shown
from opsinfo_cli.lab.simulate.rounded_model import NOTHING
from opsinfo_cli.lab.simulate.rounding_plan import RoundingPlan, Spot, TensorSide, rounding_plan, tensor_places
from opsinfo_cli.lab.simulate.runtime import ModelSession, _reads_bfloat16
from opsinfo_cli.lab.simulate.simulate_model import report_of
from opsinfo_cli.lab.simulate.simulation import Simulation
from opsinfo_cli.lab.simulate.trace import TracedNode, trace

Target = Callable[[str], PreparedModel]
DRAW = np.random.default_rng(5)
BEGIN = DRAW.bit_generator.state


@pytest.fixture(autouse=True)
def _same_numbers_whatever_tests_ran_before() -> None:
    DRAW.bit_generator.state = BEGIN


def numbers(*shape: int, scale: float = 1.0) -> Any:
    return (DRAW.standard_normal(shape) * scale).astype(np.float32)


class Model(NamedTuple):
    nodes: list[onnx.NodeProto]
    inputs: dict[str, Any]
    output: list[int]
    weights: dict[str, Any]


def conv1d(weight: float = 1.0) -> Model:
    nodes = [
        node("Conv", ["x", "k", "b"], ["c"], name="conv", kernel_shape=[3], pads=[1, 1]),
        node("Relu", ["c"], ["r"], name="relu"),
        node("AveragePool", ["r"], ["p"], name="pool", kernel_shape=[2], strides=[2]),
        node("Flatten", ["p"], ["f"], name="flat"),
        node("Gemm", ["f", "w", "d"], ["y"], name="fc", transB=1),
    ]
    weights = {"k": numbers(4, 3, 3, scale=weight), "b": numbers(4), "w": numbers(5, 16), "d": numbers(5)}
    return Model(nodes, {"x": numbers(1, 3, 8)}, [1, 5], weights)


def attention() -> Model:
    nodes = [
        node("MatMul", ["x", "q"], ["query"], name="query"),
        node("MatMul", ["x", "k"], ["key"], name="key"),
        node("Transpose", ["key"], ["t"], name="t", perm=[1, 0]),
        node("MatMul", ["query", "t"], ["s"], name="scores"),
        node("Add", ["s", "mask"], ["m"], name="masked"),
        node("Softmax", ["m"], ["a"], name="soft", axis=-1),
        node("MatMul", ["a", "x"], ["y"], name="context"),
    ]
    mask = np.where(np.tri(4, dtype=bool), 0, -1e9).astype(np.float32)
    return Model(nodes, {"x": numbers(4, 8)}, [4, 8], {"q": numbers(8, 8), "k": numbers(8, 8), "mask": mask})


def normalised() -> Model:
    nodes = [
        node("LayerNormalization", ["x", "g", "b"], ["n"], name="norm", axis=-1),
        node("Gemm", ["n", "w", "c"], ["h"], name="fc"),
        node("Sigmoid", ["h"], ["s"], name="gate"),
        node("Mul", ["h", "s"], ["v"], name="swish"),
        node("Add", ["v", "x"], ["y"], name="residual"),
    ]
    weights = {"g": numbers(8), "b": numbers(8), "w": numbers(8, 8), "c": numbers(8)}
    return Model(nodes, {"x": numbers(4, 8)}, [4, 8], weights)


def image() -> Model:
    nodes = [
        node("Conv", ["x", "k"], ["c"], name="conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("Relu", ["c"], ["r"], name="relu"),
        node("MaxPool", ["r"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p", "l"], ["d"], name="point", kernel_shape=[1, 1]),
        node("Concat", ["p", "d"], ["j"], name="join", axis=1),
        node("GlobalAveragePool", ["j"], ["y"], name="mean"),
    ]
    return Model(nodes, {"x": numbers(1, 3, 8, 8)}, [1, 8, 1, 1], {"k": numbers(4, 3, 3, 3), "l": numbers(4, 4, 1, 1)})


def recurrent() -> Model:
    nodes = [
        node("LSTM", ["x", "w", "r", "b"], ["h"], name="lstm", hidden_size=4),
        node("Squeeze", ["h", "one"], ["s"], name="squeeze"),
        node("GRU", ["s", "v", "u"], ["g"], name="gru", hidden_size=3),
        node("Squeeze", ["g", "one"], ["z"], name="squeeze2"),
        node("MatMul", ["z", "m"], ["y"], name="fc"),
    ]
    weights = {"w": numbers(1, 16, 3), "r": numbers(1, 16, 4), "b": numbers(1, 32), "v": numbers(1, 9, 4)}
    weights |= {"u": numbers(1, 9, 3), "m": numbers(3, 2), "one": np.array([1])}
    return Model(nodes, {"x": numbers(5, 2, 3)}, [5, 2, 2], weights)


def saved(model: Model, folder: Path) -> str:
    inputs = [value(name, FLOAT, list(array.shape)) for name, array in model.inputs.items()]
    return save(folder, model.nodes, inputs, [value("y", FLOAT, model.output)], model.weights)


def with_casts(path: str, answer: Answer) -> onnx.ModelProto:
    """Return the model with the low nodes between pairs of Casts."""
    made = shape_inference.infer_shapes(onnx.load(path))
    graph = made.graph
    dtypes = {each.name: each.type.tensor_type.elem_type for each in (*graph.value_info, *graph.input, *graph.output)}
    dtypes |= {each.name: each.data_type for each in graph.initializer}
    nodes: list[onnx.NodeProto] = []

    def rounded(name: str, target: str) -> None:
        nodes.append(node("Cast", [name], [f"{target}/low"], to=TensorProto.FLOAT16))
        nodes.append(node("Cast", [f"{target}/low"], [target], to=FLOAT))

    for each in list(graph.node):
        row = answer.find(each.name)
        assert row is not None, each.name
        if not row.low:
            nodes.append(each)
            continue
        low = helper.make_node(each.op_type, [], [], name=each.name)
        low.CopyFrom(each)
        for at, name in enumerate(each.input):
            if dtypes.get(name) == FLOAT:
                low.input[at] = f"{each.name}/in{at}"
                rounded(name, low.input[at])
        nodes.append(low)
        for at, name in enumerate(each.output):
            if dtypes.get(name) == FLOAT:
                low.output[at] = f"{each.name}/out{at}"
                rounded(low.output[at], name)
    del graph.node[:]
    graph.node.extend(nodes)
    return made


def fixture(opp: Path) -> Target:
    return lambda path: prepare(read_graph(path), str(opp / "built-in/op_impl/ai_core/tbe/config/ascend910b"))


@pytest.mark.parametrize("mode", ["mixed_float16", "force_fp16"])
@pytest.mark.parametrize("make", [conv1d, attention, normalised, image, recurrent])
def test_a_simulation_equals_pairs_of_casts_in_the_reference_evaluator(
    make: Callable[[], Model], mode: str, tmp_path: Path, opp: Path
) -> None:
    model = make()
    path = saved(model, tmp_path)
    prepared = (fixture(opp) if mode == "mixed_float16" else all_low)(path)
    made = Simulation(path, prepared, mode, [InputSet("given", model.inputs)])
    assert len(made.plan()) > 0
    with np.errstate(over="ignore"):
        [expected] = ReferenceEvaluator(with_casts(path, made.answer())).run(None, model.inputs)
    [found] = made.session(made.plan()).run(model.inputs)
    np.testing.assert_allclose(found, np.asarray(expected), rtol=2**-9, atol=2**-9 * np.abs(expected).max())


def test_weights_of_one_dimensional_convolutions_overflow_as_those_of_two(tmp_path: Path, opp: Path) -> None:
    model = conv1d(weight=1e5)
    path = saved(model, tmp_path)
    made = Simulation(path, fixture(opp)(path), "mixed_float16", [InputSet("given", model.inputs)])
    assert made.run().outputs[0].nan
    assert made.plan().types["Conv2D"] == ("conv",)
    assert "Conv2D" in {each.type for each in made.rank()}
    assert [name for name, _ in made.places.expanded] == []


def test_a_product_and_its_bias_are_rounded_as_the_one_operator_that_they_become(tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "w"], ["m"], name="product"), node("Add", ["m", "b"], ["y"], name="bias")]
    model = Model(nodes, {"x": numbers(2, 3)}, [2, 4], {"w": numbers(3, 4), "b": numbers(4)})
    path = saved(model, tmp_path)
    made = Simulation(path, all_low(path), "force_fp16", [InputSet("given", model.inputs)])
    plan = made.plan()
    names = {(made.file.nodes[number].proto.op_type, at) for side, number, at in plan if side is TensorSide.INPUT}
    assert names == {("MatMul", 0), ("MatMul", 1), ("Add", 1)}
    assert [made.file.nodes[spot.owner].proto.op_type for spot in plan if spot.side is TensorSide.OUTPUT] == ["Add"]
    assert made.places.expanded == []


def _plan(path: str, prepared: PreparedModel, mode: str) -> RoundingPlan:
    graph = prepared.graph
    return rounding_plan(tensor_places(OnnxFile.of(graph.model.onnx, path), graph), prepared.judge(mode))


def test_behind_nodes_that_move_values_the_innermost_one_decides(tmp_path: Path) -> None:
    path = saved(conv1d(), tmp_path)
    plan = _plan(path, all_low(path), "force_fp16")
    spots = [*(Spot(TensorSide.INPUT, 0, at) for at in range(3)), Spot(TensorSide.OUTPUT, 0, 0)]
    assert [plan[spot].type for spot in spots] == ["Conv2D"] * 4


def test_a_tensor_that_is_low_in_the_file_is_not_rounded(tmp_path: Path) -> None:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT16, [2]) for name in "xy"]
    path = save(tmp_path, [node("Relu", ["x"], ["y"], name="relu")], values[:1], values[1:])
    assert not _plan(path, all_low(path), "force_fp16")


def test_the_data_of_a_body_rounds_what_it_passes_in_though_its_reader_is_high(tmp_path: Path) -> None:
    body = helper.make_graph([node("Log", ["e"], ["b"], name="log")], "body", [], [value("b", FLOAT, [4])])
    nodes = [
        node("Exp", ["x"], ["e"], name="exp"),
        node("If", ["c"], ["y"], name="if", then_branch=body, else_branch=body),
    ]
    path = save(tmp_path, nodes, [value("c", BOOL, []), value("x", FLOAT, [4])], [value("y", FLOAT, [4])])
    tensor = {"name": "x", "dtype": "float,float16", "format": "ND,ND", "paramType": "required"}
    library = tmp_path / "aic-ascend910b-ops-info.json"
    flags = {"Exp": "true", "Log": "false"}
    entries = {
        name: {"input0": tensor, "output0": tensor, "precision_reduce": {"flag": flag}} for name, flag in flags.items()
    }
    library.write_text(json.dumps(entries))
    plan = _plan(path, prepare(read_graph(path), str(library)), "mixed_float16")
    passed_in = [(tensor.dtype, tensor.node) for spot, tensor in plan.items() if tensor.type == "Log"]
    assert passed_in == [("float16", "log")] * 2


def test_an_operator_of_cann_without_inputs_has_places_at_its_outputs(tmp_path: Path) -> None:
    nodes = [node("NPUFormatCast", [], ["y"], name="source")]
    path = saved(Model(nodes, {"x": numbers(2, 3)}, [2, 3], {}), tmp_path)
    graph = read_graph(path)
    places = tensor_places(OnnxFile.of(graph.model.onnx, path), graph).all
    assert [(each.spot.side, each.deciders[0].name) for each in places] == [
        (TensorSide.OUTPUT, "source"),
        (TensorSide.RESULT, "Node_Output"),
    ]


def test_infinities_of_a_mask_are_absorbed_by_its_softmax(tmp_path: Path) -> None:
    model = attention()
    path = saved(model, tmp_path)
    made = Simulation(path, all_low(path), "force_fp16", [InputSet("given", model.inputs)])
    found = trace(made, made.plan())
    assert [(each.node, each.inf, each.absorbed_by) for each in found.absorbed] == [("masked", 6, "soft")]
    assert found.first_not_finite is None
    lines = [
        line for block in _drawn(report_of(made, ranked=False)) if isinstance(block, Lines) for line in block.lines
    ]
    assert "Inf that a Softmax absorbs: masked" in lines
    assert made.run().max_rel_error < 0.02


@pytest.mark.parametrize("reader", ["graph", "node"])
def test_infinities_that_something_else_reads_too_are_not_absorbed(tmp_path: Path, reader: str) -> None:
    model = attention()
    if reader == "graph":
        model.nodes.append(node("Neg", ["m"], ["y2"], name="other"))
    else:
        model.nodes[-1] = node("MatMul", ["m", "x"], ["y"], name="context")
    path = saved(model, tmp_path)
    if reader == "graph":
        loaded = onnx.load(path)
        loaded.graph.output.append(value("m", FLOAT, [4, 4]))
        onnx.save_model(loaded, path)
    made = Simulation(path, all_low(path), "force_fp16", [InputSet("given", model.inputs)])
    found = trace(made, made.plan())
    assert found.absorbed == []
    assert found.first_not_finite is not None
    assert found.first_not_finite.node == "masked"


def test_nodes_are_ranked_by_their_error_with_margin_and_shape(tmp_path: Path) -> None:
    nodes = [node("Mul", ["x", "w"], ["m"], name="big"), node("Relu", ["m"], ["y"], name="relu")]
    inputs = {"x": np.array([[1.0, 2.0]], np.float32)}
    model = Model(nodes, inputs, [2, 2], {"w": np.array([[6550.4, 1.0], [1.0, 1.0]], np.float32)})
    made = Simulation(path := saved(model, tmp_path), all_low(path), "force_fp16", [InputSet("given", inputs)])
    ranked = rank_nodes(made, made.plan())
    assert [(each.name, each.type, each.shape) for each in ranked] == [("big", "Mul", (2, 2)), ("relu", "Relu", (2, 2))]
    for each in ranked:
        assert each.margin == pytest.approx(65504 / 6550.4)
        assert each.error_alone == pytest.approx(abs(float(np.float16(6550.4)) - 6550.4) / 6550.4, rel=1e-3)


def test_a_value_that_a_node_reads_twice_is_rounded_at_the_input_that_is_low(tmp_path: Path) -> None:
    tensors = {"input0": "float", "input1": "float16", "output0": "float"}
    entry = {
        key: {"name": key, "dtype": each, "format": "ND", "paramType": "required"} for key, each in tensors.items()
    }
    library = tmp_path / "aic-ascend910b-ops-info.json"
    library.write_text(json.dumps({"Mul": {**entry, "precision_reduce": {"flag": "true"}}}))
    inputs = {"x": np.array([[1.0, 2.0]], np.float32)}
    path = saved(Model([node("Mul", ["x", "x"], ["y"], name="square")], inputs, [1, 2], {}), tmp_path)
    made = Simulation(path, prepare(read_graph(path), str(library)), "mixed_float16", [InputSet("given", inputs)])
    assert [spot.number for spot, _ in made.plan().items() if spot.side is TensorSide.INPUT] == [1]


def test_what_is_not_judged_is_named_and_recurrent_states_are_a_limit(tmp_path: Path, opp: Path) -> None:
    model = recurrent()
    model.nodes.append(node("NonZero", ["y"], ["n"], name="nonzero"))
    path = saved(model, tmp_path)
    loaded = onnx.load(path)
    loaded.graph.output.append(value("n", INT64, [3, None]))
    onnx.save_model(loaded, path)
    report = report_of(Simulation(path, all_low(path), "force_fp16", [InputSet("given", model.inputs)]))
    assert [each.nodes for each in report.limits if each.kind == "recurrent"] == [("lstm", "gru")]
    report = report_of(Simulation(path, fixture(opp)(path), "mixed_float16", [InputSet("given", model.inputs)]))
    assert "NonZero" in {each.type for each in report.coverage.types}


@pytest.mark.parametrize(("allow_hf32", "places"), [(None, 2), ("00", 0)])
def test_the_inputs_of_a_black_convolution_are_read_as_hf32_unless_it_is_off(
    tmp_path: Path, opp: Path, allow_hf32: str | None, places: int
) -> None:
    model = image()
    path = saved(model, tmp_path)
    modes = AtcOptions(allow_hf32=allow_hf32)
    prepared = prepare(read_graph(path), str(opp / "built-in/op_impl/ai_core/tbe/config/ascend910b"), atc=modes)
    made = Simulation(path, prepared, "mixed_float16", [InputSet("given", model.inputs)])
    black = {"Conv2D": frozenset({ADD_BLACK})}
    plan = made.plan(black).only(node="conv")
    assert [each.dtype for spot, each in plan.items() if spot.side is TensorSide.INPUT] == ["hf32"] * places
    limits = report_of(made, black, traced=False, ranked=False).limits
    assert [limit.kind for limit in limits if limit.kind == "hf32"] == ["hf32"] * bool(places)


def test_only_what_is_computed_in_hf32_reads_it(tmp_path: Path, opp: Path) -> None:
    """Log is black in the fixture: it reads float32 beside a convolution that reads HF32."""
    model = image()
    path = saved(model, tmp_path)
    loaded = onnx.load(path)
    end = loaded.graph.output[0].name
    loaded.graph.node.append(node("Log", [end], ["logged"], name="log"))
    loaded.graph.output[0].name = "logged"
    onnx.save_model(loaded, path)
    made = Simulation(path, fixture(opp)(path), "mixed_float16", [InputSet("given", model.inputs)])
    plan = made.plan({"Conv2D": frozenset({ADD_BLACK})})
    assert {each.type for each in plan.values() if each.dtype == "hf32"} == {"Conv2D"}


def test_of_a_node_in_hf32_only_float32_inputs_are_read_as_hf32(tmp_path: Path, opp: Path) -> None:
    """A kernel may take weights of float16 beside data of float32."""
    model = image()
    path = saved(model, tmp_path)
    made = Simulation(path, fixture(opp)(path), "mixed_float16", [InputSet("given", model.inputs)])
    answer = made.answer({"Conv2D": frozenset({ADD_BLACK})})
    conv, inputs = answer.graph.types.index("Conv2D"), list(answer.inputs)
    first = answer.graph.slots.inputs_of[conv]
    assert (conv in answer.in_hf32, inputs[first : first + 2]) == (True, ["float32", "float32"])
    inputs[first + 1] = "float16"
    mixed = SimpleNamespace(graph=answer.graph, in_hf32=answer.in_hf32, inputs=inputs, outputs=answer.outputs)
    plan = rounding_plan(made.places, cast("Answer", mixed)).only(node="conv")
    assert [each.dtype for spot, each in plan.items() if spot.side is TensorSide.INPUT] == ["hf32", "float16"]


def test_onnxruntime_fuses_nothing(tmp_path: Path) -> None:
    """A fused BatchNormalization changes the weights of the convolution, and the last bits of its outputs."""
    random = np.random.default_rng(5)
    weights = {name: random.random(4, np.float32) + 0.5 for name in ("scale", "bias", "mean", "var")}
    weights["w"] = random.random((4, 3, 3, 3), np.float32)
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="conv"),
        node("BatchNormalization", ["c", "scale", "bias", "mean", "var"], ["y"], name="norm"),
    ]
    inputs = {"x": random.random((1, 3, 9, 9), np.float32)}
    model = Model(nodes, inputs, [1, 4, 7, 7], weights)
    made = Simulation(path := saved(model, tmp_path), all_low(path), "force_fp16", [InputSet("given", inputs)])
    _, between = made.session(NOTHING, ["c"]).run(inputs)
    alone = Model([nodes[1]], {"c": between}, [1, 4, 7, 7], weights)
    apart = Simulation(path := saved(alone, tmp_path), all_low(path), "force_fp16", [InputSet("c", {"c": between})])
    assert np.array_equal(made.reference[0]["y"], apart.reference[0]["y"])
    options = made.session(NOTHING)._session.get_session_options()
    assert options.graph_optimization_level.name == "ORT_DISABLE_ALL"
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)  # sums in one order
    assert options.get_session_config_entry("session.disable_prepacking") == "1"
    folder = options.get_session_config_entry("session.model_external_initializers_file_folder_path")
    assert folder == os.devnull  # nothing is opened there


def test_a_model_with_weights_alone_in_bfloat16_reads_bfloat16(tmp_path: Path) -> None:
    path = save(tmp_path, [node("Cast", ["w"], ["y"], to=FLOAT)], [], [value("y", FLOAT, [1])])
    model = onnx.load(path)
    assert not _reads_bfloat16(model.SerializeToString())
    model.graph.initializer.append(helper.make_tensor("w", TensorProto.BFLOAT16, [1], [1.0]))
    assert _reads_bfloat16(model.SerializeToString())


def test_onnxruntime_prints_nothing_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    inputs = {"x": value("x", FLOAT, [2, 2]), "s": value("s", INT64, [2])}
    reshape = [node("Reshape", [*inputs], ["y"], name="r")]
    path = save(tmp_path, reshape, [*inputs.values()], [value("y", FLOAT, ["a", "b"])])
    with pytest.raises(Refused, match="cannot be reshaped"):
        ModelSession(Path(path).read_bytes(), {}, path).run({"x": np.ones((2, 2), "f4"), "s": np.array([3, 3])})
    assert capfd.readouterr() == ("", "")


def test_limits_name_the_nodes_that_they_are_about(tmp_path: Path) -> None:
    then, other = (
        helper.make_graph([node(kind, ["g"], [name], name=kind)], name, [], [value(name, FLOAT, [2, 2])])
        for kind, name in (("Relu", "t"), ("Exp", "o"))
    )
    nodes = [
        node("Gemm", ["x", "w", "b"], ["g"], name="gemm", alpha=0.5),
        node("If", ["chosen"], ["y"], name="if", then_branch=then, else_branch=other),
    ]
    inputs = {"x": np.ones((2, 2), np.float32)}
    weights = {"w": np.ones((2, 2), np.float32), "b": np.ones(2, np.float32), "chosen": np.array(True)}
    model = Model(nodes, inputs, [2, 2], weights)
    path = saved(model, tmp_path)
    report = report_of(Simulation(path, all_low(path), "force_fp16", [InputSet("random:0", inputs)]))
    found = {limit.kind: limit for limit in report.limits}
    assert list(found)[:4] == ["kernels", "fusion", "replaced", "overflow"]
    assert found["inner-tensors"].nodes == ("gemm",)
    assert "3 of gemm" in found["inner-tensors"].message
    assert found["bodies"].nodes == ("if",)
    assert found["random-inputs"].nodes == ()
    clipped = report_of(Simulation(path, all_low(path), "force_fp16", [InputSet("given", inputs)], saturate=True))
    assert [limit.kind for limit in clipped.limits if limit.message.startswith("overflow: it is clipped")] == [
        "overflow"
    ]
    assert "random-inputs" not in {limit.kind for limit in clipped.limits}


def test_limits_name_what_is_assumed_the_fusions_of_the_chip_and_formats_of_the_plan(tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "x"], ["m"], name="product"), node("Div", ["m", "c"], ["y"], name="quotient")]
    inputs = {"x": np.ones((2, 2), np.float32)}
    path = saved(Model(nodes, inputs, [2, 2], {"c": np.array([8], "f4")}), tmp_path)
    made = Simulation(path, prepare(read_graph(path), None, soc="ascend310"), "force_fp16", [InputSet("x", inputs)])
    found = {limit.kind: limit.nodes for limit in report_of(made).limits}
    assert (found["assumed"], found["fusions-not-applied"]) == (("product", "quotient"), ("quotient",))
    plan = made.plan()
    plan.update({spot: tensor._replace(dtype="hifloat8") for spot, tensor in plan.items()})
    assert {limit.kind for limit in not_shown(made, plan, made.answer())} == {*found, "hifloat8"}


def test_an_error_is_no_jump_where_the_inputs_are_not_finite() -> None:
    assert TracedNode("n", "Mul", float("inf"), 1, 0, 0.5, 4).jumps
    assert not TracedNode("n", "Mul", float("inf"), 1, 0, float("inf"), 4).jumps
