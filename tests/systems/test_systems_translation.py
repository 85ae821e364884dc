"""Translation of names between systems, and its losses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opsinfo_cli.core.cann.name_tables import name_table
from opsinfo_cli.systems.translation import translate
from opsinfo_cli.systems.vocabulary import ListEntry, OperatorClass, OperatorLists, Scope

LOW, HIGH, FOLLOW = OperatorClass.LOW, OperatorClass.HIGH, OperatorClass.FOLLOW


def lists(names: str, classes: dict[str, OperatorClass], scope: Scope = "operator") -> OperatorLists:
    return OperatorLists(
        system="some",
        names=names,
        entries=tuple(ListEntry(name, cls=cls, scope=scope) for name, cls in classes.items()),
        unlisted="inputs",
    )


def result(given: OperatorLists, to: str) -> dict[str, OperatorClass]:
    return {name: each.cls for name, each in translate(given, to).lists.deciding().items()}


def named(given: OperatorLists) -> set[str]:
    """The op types that a source names, without their other forms."""
    return {name for name, each in translate(given, "ascend").lists.deciding().items() if not each.is_form}


@pytest.mark.parametrize(
    ("names", "name", "op_types"),
    [
        ("torch", "bmm", {"BatchMatMul"}),
        ("torch", "mm", {"MatMul"}),
        ("torch", "softmax", {"SoftmaxV2"}),
        ("torch", "log2", {"Log"}),
        ("torch", "cross_entropy", {"LogSoftmaxV2", "NLLLoss"}),
        ("tensorflow", "Softmax", {"SoftmaxV2"}),
        ("tensorflow", "Sum", {"ReduceSum"}),
        ("tensorflow", "ResizeNearestNeighbor", {"ResizeNearestNeighborV2"}),
        ("onnx", "MatMul", {"BatchMatMulV2"}),
        ("onnx", "Gemm", {"MatMulV2"}),
        ("onnx", "ReduceLogSum", {"ReduceSum", "Log"}),
        ("mindspore", "MatMul", {"MatMulV2"}),
        ("mindspore", "Add", {"Add"}),
        ("mindspore", "PReLU", {"PRelu"}),
        ("mindspore", "ACos", {"Acos"}),
        ("mindspore", "LayerNormExt", {"LayerNormV4"}),
        ("mindspore", "SumExt", {"ReduceSum"}),
        ("mindspore", "Baddbmm", {"BatchMatMul"}),
        ("mindspore", "nn.LSTMCell", {"MatMulV2", "Sigmoid", "Tanh"}),
        ("mindspore", "nn.Conv1dTranspose", {"Conv2DBackpropInput", "BiasAdd"}),
        ("mindspore", "nn.Dense", {"MatMulV2", "BiasAdd"}),
        ("mindspore", "Conv2DTranspose", {"Conv2DBackpropInput"}),
    ],
)
def test_a_name_becomes_its_op_types(names: str, name: str, op_types: set[str]) -> None:
    assert named(lists(names, {name: HIGH})) == op_types


@pytest.mark.parametrize(
    ("names", "name", "forms"),
    [
        ("torch", "sum", {"ReduceSum", "ReduceSumD"}),
        ("torch", "mean", {"ReduceMean", "ReduceMeanD"}),
        ("torch", "bmm", {"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"}),
        ("torch", "linear", {"MatMul", "MatMulV2", "MatMulV3"}),
        ("onnx", "ReduceSum", {"ReduceSum", "ReduceSumD"}),
        ("tensorflow", "Mean", {"ReduceMean", "ReduceMeanD"}),
        ("mindspore", "MatMul", {"MatMul", "MatMulV2", "MatMulV3"}),
    ],
)
def test_a_name_reaches_every_form_of_its_op_type(names: str, name: str, forms: set[str]) -> None:
    found = result(lists(names, {name: HIGH}), "ascend")
    assert forms <= set(found)
    assert set(found.values()) == {HIGH}


def test_an_operators_own_name_overrides_another_form() -> None:
    given = lists("tensorflow", {"BatchMatMul": LOW, "Sum": HIGH})
    own = replace(given, entries=(*given.entries, ListEntry("ReduceSumD", cls=LOW)))
    assert result(own, "ascend")["ReduceSumD"] is HIGH  # not a name in TensorFlow
    named_apart = lists("torch", {"hardtanh": HIGH, "clamp": LOW})
    found = result(named_apart, "ascend")
    assert (found["ClipByValue"], found["ClipByValueV2"]) == (HIGH, LOW)


def test_a_users_entry_decides_before_a_default_of_higher_precision() -> None:
    entries = (ListEntry("div", cls=LOW), ListEntry("true_divide", cls=HIGH, is_default=True))
    given = OperatorLists(system="habana-autocast", names="torch", entries=entries, unlisted="inputs")
    assert result(given, "ascend")["RealDiv"] is LOW


def test_the_plumbing_of_an_expansion_keeps_its_list_and_is_reported() -> None:
    found = translate(lists("onnx", {"Gemm": HIGH}), "ascend")
    assert not {"Add", "Muls"} & set(found.lists.deciding())
    (loss,) = [loss for loss in found.losses if loss.kind == "expansion"]
    assert loss.details == ("Gemm also runs Muls and Add",)


@pytest.mark.parametrize(
    ("names", "classes", "kind", "about"),
    [
        ("torch", {"no_such_op": LOW}, "unknown-name", ("no_such_op",)),
        ("torch", {"t": LOW}, "unknown-name", ("t",)),
        ("torch", {"linear": LOW}, "one-to-many", ("linear",)),
        ("torch", {"log2": HIGH}, "broader", ("Log",)),
        ("torch", {"log": HIGH, "log2": LOW, "log10": HIGH}, "conflict", ("Log",)),
        ("torch", {"pow.Scalar": HIGH}, "overloads", ("pow.Scalar",)),
        ("torch", {"mm": LOW}, "forward-only", ()),
        ("paddle", {"einsum": LOW}, "unknown-name", ("einsum",)),
    ],
)
def test_a_step_that_loses_something_is_reported(
    names: str, classes: dict[str, OperatorClass], kind: str, about: tuple[str, ...]
) -> None:
    losses = translate(lists(names, classes), "ascend").losses
    assert (kind, about) in [(loss.kind, loss.names) for loss in losses]


def test_names_of_one_op_type_get_the_higher_precision() -> None:
    assert result(lists("torch", {"log": LOW, "log2": HIGH}), "ascend") == {"Log": HIGH}


def test_a_name_whose_op_types_differ_is_left_out_on_the_way_back() -> None:
    given = lists("ascend", {"MatMulV2": LOW, "BiasAdd": HIGH})
    found = result(given, "mindspore")
    assert (found["MatMul"], found["BiasAdd"], "nn.Dense" in found) == (LOW, HIGH, False)
    torn = [loss for loss in translate(given, "mindspore").losses if loss.kind == "one-to-many"]
    assert torn[0].names == ("nn.BiDense", "nn.Dense", "nn.DenseBnAct")
    assert result(lists("ascend", {"MatMulV2": LOW, "BiasAdd": LOW}), "mindspore")["nn.Dense"] is LOW


def test_a_name_follows_its_first_op_type_and_the_others_are_reported() -> None:
    found = translate(lists("ascend", {"BiasAdd": HIGH, "Conv2D": LOW}), "mindspore")
    assert "nn.Conv2d" not in found.lists.deciding()
    found = translate(lists("ascend", {"Conv2D": LOW}), "mindspore")
    assert found.lists.deciding()["nn.Conv2d"].cls is LOW
    assert [(loss.kind, loss.names) for loss in found.losses] == [
        ("broader", ("nn.Conv1d", "nn.Conv2d", "nn.Conv2dBnAct"))
    ]
    assert result(lists("ascend", {"BiasAdd": HIGH}), "mindspore") == {"BiasAdd": HIGH}


def test_names_are_translated_between_two_systems_through_op_types() -> None:
    assert result(lists("torch", {"softmax": HIGH, "relu": LOW}), "onnx") == {"Softmax": HIGH, "Relu": LOW}


@pytest.mark.parametrize(
    ("op_types", "to", "names"),
    [
        ({"ReduceSumD": HIGH}, "torch", {"sum": HIGH}),
        ({"ReduceSumD": HIGH}, "onnx", {"ReduceSum": HIGH, "ReduceLogSum": HIGH}),
        ({"BatchMatMulV3": LOW}, "torch", {"bmm": LOW, "addbmm": LOW, "baddbmm": LOW, "matmul": LOW}),
        ({"ReduceSum": HIGH, "ReduceSumD": LOW}, "torch", {"sum": HIGH}),
    ],
)
def test_any_form_of_an_op_type_leads_back_to_its_name(
    op_types: dict[str, OperatorClass], to: str, names: dict[str, OperatorClass]
) -> None:
    assert result(lists("ascend", op_types), to) == names


def test_a_form_in_another_class_is_reported_as_dropped() -> None:
    losses = translate(lists("ascend", {"ReduceSum": HIGH, "ReduceSumD": LOW}), "torch").losses
    assert [(loss.kind, loss.names) for loss in losses if loss.drops] == [("conflict", ("ReduceSumD",))]


def test_an_unknown_name_is_mapped_to_an_op_type_only_on_request() -> None:
    given = lists("mindspore", {"Einsum": LOW})
    assert result(given, "ascend") == {}
    found = translate(given, "ascend", frozenset({"Einsum"}))
    assert found.lists.deciding()["Einsum"].cls is LOW
    assert ("same-name", ("Einsum",)) in [(loss.kind, loss.names) for loss in found.losses]


def test_the_same_names_are_not_touched() -> None:
    given = lists("torch", {"pow.Scalar": HIGH, "nonsense": FOLLOW})
    assert translate(given, "torch") == (given, ())


def test_habana_casts_the_first_argument_of_a_norm_only() -> None:
    given = replace(lists("torch", {"layer_norm": LOW, "mm": LOW}), system="habana-autocast")
    losses = translate(given, "ascend").losses
    assert ("first-argument", ("layer_norm",)) in [(loss.kind, loss.names) for loss in losses]


@pytest.mark.parametrize(
    ("name", "op_types"),
    [
        ("nn.Flatten", {"Flatten"}),
        ("nn.GELU", {"Gelu"}),
        ("mint.nn.LayerNorm", {"LayerNorm"}),
        ("nn.SmoothL1Loss", None),
    ],
)
def test_cells_that_call_functions_of_ops_have_op_types(name: str, op_types: set[str] | None) -> None:
    found = name_table("mindspore").ops[name]
    assert found
    assert op_types is None or op_types <= set(found)


@pytest.mark.parametrize(("name", "why"), [("nn.NoSuchCell", "no table of this Cell"), ("mine.Norm", "another module")])
def test_a_cell_without_a_row_is_said_to_be_missing_here(name: str, why: str) -> None:
    found = translate(lists("mindspore", {name: HIGH}), "ascend")
    assert why in next(loss.details[0] for loss in found.losses if loss.kind == "unknown-name")
