"""A simulation: rounded and unrounded tensors in expanded nodes and in bodies, and the reference."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from simulate_support import BOOL, FLOAT, INT64, all_low, node, outputs_of, save, simulation, value

from opsinfo_cli.errors import Damaged, Refused
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers import read_graph
from opsinfo_cli.lab.simulate.inputs import InputSet
from opsinfo_cli.lab.simulate.onnx_model import OnnxFile
from opsinfo_cli.lab.simulate.round_in_onnx import Rounder
from opsinfo_cli.lab.simulate.rounded_model import Rewriter
from opsinfo_cli.lab.simulate.rounding_plan import RoundedTensor, RoundingPlan, Spot, TensorSide
from opsinfo_cli.lab.simulate.runtime import ModelSession
from opsinfo_cli.lab.simulate.simulation import Simulation

X = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)
W = np.random.default_rng(2).standard_normal((4, 4)).astype(np.float32)
SQUARE = [value("x", FLOAT, [4, 4])], [value("y", FLOAT, [4, 4])]


def half(array: Any) -> Any:
    """Return the value as stored in float16."""
    with np.errstate(over="ignore"):
        return np.asarray(array, np.float32).astype(np.float16).astype(np.float32)


def test_inputs_weights_and_outputs_of_a_low_node_are_rounded_and_the_sum_is_not(tmp_path: Path) -> None:
    made = simulation(save(tmp_path, [node("MatMul", ["x", "w"], ["y"], name="m")], *SQUARE, {"w": W}), {"x": X})
    assert len(made.plan()) == 3
    np.testing.assert_array_equal(outputs_of(made)[0], half(half(X) @ half(W)))
    np.testing.assert_allclose(made.reference[0]["y"], X @ W, rtol=1e-6)
    found = made.run()
    expected = np.abs(half(half(X) @ half(W)) - made.reference[0]["y"]).max() / np.abs(made.reference[0]["y"]).max()
    assert found.max_rel_error == pytest.approx(float(expected), rel=1e-6)
    assert 0 < found.max_rel_error < 2e-3


def test_in_float32_nothing_is_rounded_and_there_is_no_error(tmp_path: Path) -> None:
    path = save(tmp_path, [node("MatMul", ["x", "w"], ["y"], name="m")], *SQUARE, {"w": W})
    found = simulation(path, {"x": X}, "origin").run()
    assert (found.rounded, found.max_rel_error, found.min_cosine) == (0, 0.0, 1.0)


def test_gemm_becomes_several_operators_rounded_at_its_inputs_and_output(tmp_path: Path) -> None:
    nodes = [node("Gemm", ["x", "w", "c"], ["y"], name="fc", alpha=0.5)]
    made = simulation(save(tmp_path, nodes, *SQUARE, {"w": W, "c": X[0]}), {"x": X})
    np.testing.assert_array_equal(outputs_of(made)[0], half(np.float32(0.5) * (half(X) @ half(W)) + half(X[0])))
    assert [name for name, _ in made.places.expanded] == ["fc"]


def test_a_value_that_two_nodes_read_is_rounded_for_each_and_stored_low_by_its_producer(tmp_path: Path) -> None:
    nodes = [
        node("Exp", ["x"], ["e"], name="e"),
        node("Add", ["e", "e"], ["s"], name="s"),
        node("Mul", ["s", "e"], ["y"], name="p"),
    ]
    made = simulation(save(tmp_path, nodes, *SQUARE), {"x": X})
    e = half(np.exp(half(X)))
    np.testing.assert_allclose(outputs_of(made)[0], half(half(e + e) * e), rtol=2**-10)


def test_overflow_is_infinite_and_with_saturation_the_largest_value(tmp_path: Path) -> None:
    path = save(tmp_path, [node("Mul", ["x", "w"], ["y"], name="m")], *SQUARE, {"w": np.full((4, 4), 300, "f4")})
    feeds = {"x": np.full((4, 4), 300, "f4")}
    lost = simulation(path, feeds).run()
    assert (lost.max_rel_error, lost.min_cosine, lost.outputs[0].inf) == (np.inf, None, 16)
    assert not lost.passes(max_error=1e9)
    clipped = simulation(path, feeds, saturate=True)
    np.testing.assert_array_equal(outputs_of(clipped)[0], np.full((4, 4), 65504, "f4"))
    assert clipped.run().outputs[0].inf == 0


def branches(double: bool) -> onnx.GraphProto:
    nodes = [node("Exp", ["x"], ["e"], name="exp"), node("Mul", ["e", "x"], ["b"], name="mul")]
    nodes = nodes if double else [node("Exp", ["x"], ["b"], name="exp2")]
    return helper.make_graph(nodes, "body", [], [value("b", FLOAT, [4, 4])])


def test_a_name_in_two_bodies_is_one_node_with_the_type_of_the_first() -> None:
    plan = RoundingPlan()
    for number, op_type in enumerate(("BatchMatMulV2", "Add")):
        plan[Spot(TensorSide.OUTPUT, number, 0)] = RoundedTensor("float16", "float32", op_type, "n")
    assert plan.nodes == {"n": "BatchMatMulV2"}
    assert len(plan.only(node="n")) == 2


@pytest.mark.parametrize("taken", ["x", "w", "product", "turn", "k"])
def test_inserted_values_have_names_that_no_value_of_the_model_has(tmp_path: Path, taken: str) -> None:
    """Inputs, initializers and results, of the model and of a body, that are named like inserted ones."""
    x, w, product, turn, k = ("opsinfo/5/0" if name == taken else name for name in ("x", "w", "product", "turn", "k"))
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"], name="on"), node("Mul", ["a", k], ["b"], name="mul")],
        "body",
        [value(turn, INT64, []), value("go", BOOL, []), value("a", FLOAT, [4, 4])],
        [value("on", BOOL, []), value("b", FLOAT, [4, 4])],
        [numpy_helper.from_array(W, k)],
    )
    nodes = [
        node("MatMul", [x, w], [product], name="product"),
        node("Loop", ["n", "", product], ["y"], name="loop", body=body),
    ]
    path = save(tmp_path, nodes, [value(x, FLOAT, [4, 4])], SQUARE[1], {w: W, "n": np.array(1, "i8")})
    expected = half(half(half(X) @ half(W)) * half(W))
    np.testing.assert_allclose(outputs_of(simulation(path, {x: X}))[0], expected, rtol=2**-9)


def test_inserted_values_have_names_that_no_sparse_initializer_has(tmp_path: Path) -> None:
    proto = onnx.load(save(tmp_path, [node("Add", ["x", "opsinfo/w"], ["y"])], *SQUARE))
    values, places = numpy_helper.from_array(W[:1, 0], "opsinfo/w"), numpy_helper.from_array(np.array([0]), "i")
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [4, 4]))
    assert Rewriter(OnnxFile.of(proto, ""), Rounder(17, saturate=False)).prefix == "_opsinfo/"


@pytest.mark.parametrize("chosen", [True, False])
def test_nodes_in_the_bodies_of_if_are_rounded(tmp_path: Path, chosen: bool) -> None:
    nodes = [node("If", ["c"], ["y"], name="if", then_branch=branches(True), else_branch=branches(False))]
    inputs = [value("c", BOOL, []), value("x", FLOAT, [4, 4])]
    made = simulation(save(tmp_path, nodes, inputs, SQUARE[1]), {"c": np.array(chosen), "x": X})
    e = half(np.exp(half(X)))
    np.testing.assert_allclose(outputs_of(made)[0], half(e * half(X)) if chosen else e, rtol=2**-10)


def test_the_body_of_a_loop_is_rounded_in_every_turn(tmp_path: Path) -> None:
    body = helper.make_graph(
        [node("Identity", ["go"], ["on"], name="on"), node("Mul", ["a", "w"], ["b"], name="mul")],
        "body",
        [value("i", INT64, []), value("go", BOOL, []), value("a", FLOAT, [4, 4])],
        [value("on", BOOL, []), value("b", FLOAT, [4, 4])],
    )
    nodes = [node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)]
    made = simulation(save(tmp_path, nodes, *SQUARE, {"w": W, "n": np.array(3, "i8")}), {"x": X})
    expected = half(X)
    for _ in range(3):
        expected = half(expected * half(W))
    np.testing.assert_array_equal(outputs_of(made)[0], expected)


def test_the_body_of_a_scan_is_rounded_in_every_step(tmp_path: Path) -> None:
    body = helper.make_graph(
        [node("Add", ["s", "row"], ["t"], name="add"), node("Identity", ["t"], ["kept"], name="keep")],
        "body",
        [value("s", FLOAT, [4]), value("row", FLOAT, [4])],
        [value("t", FLOAT, [4]), value("kept", FLOAT, [4])],
    )
    nodes = [node("Scan", ["w", "x"], ["last", "y"], name="scan", body=body, num_scan_inputs=1)]
    made = simulation(save(tmp_path, nodes, *SQUARE, {"w": W[0]}), {"x": X})
    state, rows = half(W[0]), []
    for row in half(X):
        state = half(state + row)
        rows.append(state)
    np.testing.assert_array_equal(outputs_of(made)[0], np.stack(rows))


def test_an_older_opset_is_simulated_and_its_file_is_unchanged(tmp_path: Path) -> None:
    nodes = [node("Squeeze", ["u"], ["q"], name="s", axes=[0]), node("Softmax", ["q"], ["y"], name="soft", axis=1)]
    nodes.insert(0, node("Unsqueeze", ["x"], ["u"], name="u", axes=[0]))
    path = save(tmp_path, nodes, *SQUARE, opset=11)
    before = Path(path).read_bytes()
    made = simulation(path, {"x": X})
    whole = np.exp(half(X) - half(X).max(1, keepdims=True))
    np.testing.assert_allclose(outputs_of(made)[0], half(whole / whole.sum(1, keepdims=True)), rtol=2**-10)
    assert Path(path).read_bytes() == before


def test_external_data_is_not_moved_and_a_missing_file_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path, [node("MatMul", ["x", "w"], ["y"], name="m")], *SQUARE, {"w": W})
    onnx.save_model(onnx.load(path), path, save_as_external_data=True, location="w.bin", size_threshold=0)
    made = simulation(path, {"x": X})
    np.testing.assert_array_equal(outputs_of(made)[0], half(half(X) @ half(W)))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["model.onnx", "w.bin"]
    prepared = all_low(path)
    shutil.move(tmp_path / "w.bin", tmp_path / "elsewhere.bin")
    with pytest.raises(Damaged, match=r"external data not found: `w\.bin`, of the weight `w`"):
        Simulation(path, prepared, "force_fp16", [InputSet("given", {"x": X})])
    (tmp_path / "w.bin").mkdir()
    with pytest.raises(Refused, match="not a regular file"):
        Simulation(path, prepared, "force_fp16", [InputSet("given", {"x": X})])


def _outside(name: str, *locations: str) -> Any:
    tensor = onnx.TensorProto(name=name, data_type=FLOAT, dims=[4, 4], data_location=onnx.TensorProto.EXTERNAL)
    for location in locations:
        tensor.external_data.add(key="location", value=location)
    return tensor


def _routes(location: str) -> dict[str, Any]:
    """ONNX models that name a file in different places."""
    make = helper.make_node
    given, result = [value("x", FLOAT, [4, 4])], [value("y", FLOAT, [4, 4])]
    add, opsets = make("Add", ["x", "w"], ["y"]), [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)]
    constant = make("Constant", [], ["w"], value=_outside("w", location))
    branch = helper.make_graph([make("Identity", ["w"], ["z"])], "b", [], [value("z", FLOAT, [4, 4])])
    branch.initializer.append(_outside("w", location))
    condition = make("Constant", [], ["c"], value=helper.make_tensor("c", onnx.TensorProto.BOOL, [], [True]))
    indices = helper.make_tensor("i", onnx.TensorProto.INT64, [16], range(16))
    values = _outside("w", location)
    values.dims[:] = [16]
    sparse = onnx.SparseTensorProto(values=values, indices=indices, dims=[4, 4])
    inner = helper.make_function("d", "f", ["x"], ["y"], [constant, add], opsets)

    def model(nodes: list[Any], functions: Any = (), weights: Any = (), sparse: Any = ()) -> Any:
        graph = helper.make_graph(nodes, "g", given, result, weights, sparse_initializer=sparse)
        return helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8)

    branching = [condition, make("If", ["c"], ["w"], then_branch=branch, else_branch=branch), add]
    return {
        "an initializer": model([add], weights=[_outside("w", location)]),
        "a second location": model([add], weights=[_outside("w", "inside.bin", location)]),
        "a Constant": model([constant, add]),
        "a body": model(branching),
        "a function": model([make("f", ["x"], ["y"], domain="d")], [inner]),
        "a sparse initializer": model([add], sparse=[sparse]),
    }


@pytest.mark.parametrize("route", _routes(""))
@pytest.mark.parametrize("location", ["../secret.bin", "link.bin", "folder/secret.bin"])
def test_external_data_outside_the_folder_is_not_read(tmp_path: Path, location: str, route: str) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for secret in (tmp_path / "secret.bin", folder / "inside.bin"):
        secret.write_bytes(np.ones((4, 4), np.float32).tobytes())
    (folder / "link.bin").symlink_to("../secret.bin")
    (folder / "folder").symlink_to("..")
    path = folder / "model.onnx"
    path.write_bytes(_routes(location)[route].SerializeToString())
    with pytest.raises(Damaged, match="outside the model's folder"):
        OnnxFile.of(read_graph(str(path)).model.onnx, str(path))


@pytest.mark.parametrize("route", _routes(""))
def test_external_data_inside_the_folder_is_read_by_every_route(tmp_path: Path, route: str) -> None:
    (tmp_path / "w.bin").write_bytes(np.full((4, 4), 3, np.float32).tobytes())
    (tmp_path / "link.bin").symlink_to("w.bin")
    path = tmp_path / "model.onnx"
    path.write_bytes(_routes("link.bin")[route].SerializeToString())
    if route == "a second location":  # the last one counts, as in onnxruntime
        (tmp_path / "inside.bin").touch()
    file = OnnxFile.of(read_graph(str(path)).model.onnx, str(path))
    session = ModelSession(file.proto.SerializeToString(), file.weights, str(path))
    np.testing.assert_array_equal(session.run({"x": X})[0], X + 3)


def test_large_weights_are_kept_apart_and_rounded_as_others(tmp_path: Path) -> None:
    big = np.random.default_rng(3).standard_normal((4, 1 << 19)).astype(np.float32)
    outputs = [value("y", FLOAT, [4, 1 << 19])]
    constant = node("Constant", [], ["c"], name="c", value=onnx.numpy_helper.from_array(big))
    nodes = [constant, node("MatMul", ["x", "w"], ["m"], name="m"), node("Add", ["m", "c"], ["y"], name="a")]
    made = simulation(save(tmp_path, nodes, SQUARE[0], outputs, {"w": big}), {"x": X})
    assert sorted(made.file.weights) == ["c", "w"]
    np.testing.assert_allclose(outputs_of(made)[0], half(half(half(X) @ half(big)) + half(big)), rtol=2**-9, atol=1e-3)


def test_an_operator_that_onnxruntime_lacks_is_named(tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "w"], ["a"], name="m"), node("Odd", ["a"], ["y"], name="odd", domain="com.example")]
    with pytest.raises(Refused, match=r"onnxruntime cannot load the model: .*Odd"):
        simulation(save(tmp_path, nodes, *SQUARE, {"w": W}), {"x": X})


RANDOM = [
    [node("RandomNormalLike", ["x"], ["r"], name="r"), node("Add", ["x", "r"], ["y"], name="a")],
    [node("Dropout", ["x", "", "t"], ["y"], name="d")],
]


@pytest.mark.parametrize("nodes", RANDOM, ids=lambda nodes: nodes[0].op_type)
def test_random_operators_draw_the_same_numbers_in_both_computations(nodes: list[Any], tmp_path: Path) -> None:
    path = save(tmp_path, nodes, *SQUARE, {"t": np.array(True)})
    assert simulation(path, {"x": X}, "origin").run().max_rel_error == 0


def test_of_several_sets_of_inputs_the_worst_counts(tmp_path: Path) -> None:
    path = save(tmp_path, [node("Mul", ["x", "w"], ["y"], name="m")], *SQUARE, {"w": W})
    feeds = [{"x": X}, {"x": X * 1e6}]
    alone = [simulation(path, each).run().max_rel_error for each in feeds]
    sets = [InputSet(str(at), each) for at, each in enumerate(feeds)]
    both = Simulation(path, all_low(path), "force_fp16", sets).run()
    assert both.max_rel_error == max(alone) == np.inf
    assert both.outputs[0].elements == 32


def test_op_types_are_ranked_by_their_error_alone_and_the_error_without_them(tmp_path: Path, opp: Path) -> None:
    nodes = [node("Relu", ["x"], ["r"], name="r"), node("Conv", ["i", "k"], ["y"], name="c", kernel_shape=[1, 1])]
    nodes.insert(1, node("Reshape", ["r", "s"], ["i"], name="re"))
    weights = {"k": W.reshape(4, 4, 1, 1), "s": np.array([1, 4, 2, 2])}
    inputs, outputs = [value("x", FLOAT, [4, 4])], [value("y", FLOAT, [1, 4, 2, 2])]
    path = save(tmp_path, nodes, inputs, outputs, weights)
    prepared = prepare(read_graph(path), str(opp / "built-in/op_impl/ai_core/tbe/config/ascend910b"))
    made = Simulation(path, prepared, "mixed_float16", [InputSet("given", {"x": X})])
    ranked = made.rank()
    assert ranked, "no op type of the fixture runs low"
    whole = made.run().max_rel_error
    for each in ranked:
        assert each.error_alone is not None
        assert each.error_without is not None
        assert each.nodes
        if len(ranked) == 1:  # without it, the convolution is computed in HF32
            assert 0 < each.error_without < each.error_alone == whole
    alone = [each.error_alone or 0 for each in ranked]
    assert alone == sorted(alone, reverse=True)


def test_functions_of_the_model_are_inlined_and_rounded(tmp_path: Path) -> None:
    parts = [node("Exp", ["a"], ["e"]), node("Add", ["e", "b"], ["out"])]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    function = helper.make_function("own", "F", ["a", "b"], ["out"], parts, opsets[:1])
    nodes = [node("F", ["x", "w"], ["f"], domain="own"), node("F", ["f", "x"], ["y"], domain="own")]
    graph = helper.make_graph(nodes, "g", *SQUARE, [onnx.numpy_helper.from_array(W, "w")])
    path = str(tmp_path / "model.onnx")
    onnx.save_model(helper.make_model(graph, opset_imports=opsets, functions=[function], ir_version=8), path)
    made = simulation(path, {"x": X})
    first = half(half(np.exp(half(X))) + half(W))
    np.testing.assert_allclose(outputs_of(made)[0], half(half(np.exp(first)) + half(X)), rtol=2**-9)
    assert made.plan().types.keys() == {"Exp", "Add"}


def test_nodes_with_equal_names_and_nodes_named_like_the_compilers_casts_are_distinguished(tmp_path: Path) -> None:
    nodes = [
        node("Exp", ["x"], ["a"], name="same"),
        node("Cast", ["a"], ["b"], name="trans_Cast_0", to=FLOAT),
        node("Gemm", ["b", "w", "c"], ["d"], name="same"),
        node("Neg", ["d"], ["y"]),
    ]
    made = simulation(save(tmp_path, nodes, *SQUARE, {"w": W, "c": X[0]}), {"x": X})
    e = half(np.exp(half(X)))
    np.testing.assert_allclose(outputs_of(made)[0], -half(e @ half(W) + half(X[0])), rtol=2**-8, atol=1e-2)
    assert {each.type for each in made.rank()} >= {"Exp", "Neg", "MatMulV2"}
