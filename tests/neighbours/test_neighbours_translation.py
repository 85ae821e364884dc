"""Names in another system's words, and every step that loses something."""

from __future__ import annotations

import pytest

from opsinfo_cli.neighbours.translation import translated
from opsinfo_cli.neighbours.vocabulary import ListEntry, OperatorClass, OperatorLists

LOW, HIGH, FOLLOW = OperatorClass.LOW, OperatorClass.HIGH, OperatorClass.FOLLOW


def lists(names: str, placed: dict[str, OperatorClass], scope: str = "operator") -> OperatorLists:
    return OperatorLists("some", names, tuple(ListEntry(name, cls, scope) for name, cls in placed.items()), "inputs")


def result(given: OperatorLists, to: str) -> dict[str, OperatorClass]:
    return {name: each.cls for name, each in translated(given, to).lists.deciding().items()}


@pytest.mark.parametrize(
    ("names", "name", "op_types"),
    [
        ("torch", "bmm", {"BatchMatMul"}),
        ("torch", "mm", {"MatMul"}),
        ("torch", "softmax", {"SoftmaxV2"}),
        ("torch", "log2", {"Log"}),
        ("torch", "cross_entropy", {"LogSoftmaxV2", "NLLLoss"}),
        ("tensorflow", "Softmax", {"SoftmaxV2"}),
        ("tensorflow", "Sum", {"ReduceSum", "ReduceSumD"}),
        ("onnx", "MatMul", {"BatchMatMulV2"}),
        ("onnx", "Gemm", {"MatMulV2", "Add", "Muls"}),
        ("mindspore", "MatMul", {"MatMulV2"}),
        ("mindspore", "nn.Dense", {"MatMulV2", "BiasAdd"}),
        ("mindspore", "Conv2DTranspose", {"Conv2DBackpropInput"}),
    ],
)
def test_a_name_becomes_its_op_types(names: str, name: str, op_types: set[str]) -> None:
    assert result(lists(names, {name: HIGH}), "ascend") == dict.fromkeys(op_types, HIGH)


@pytest.mark.parametrize(
    ("names", "placed", "kind", "about"),
    [
        ("torch", {"no_such_op": LOW}, "unknown-name", ("no_such_op",)),
        ("torch", {"t": LOW}, "unknown-name", ("t",)),
        ("torch", {"linear": LOW}, "one-to-many", ("linear",)),
        ("torch", {"log2": HIGH}, "broader", ("Log",)),
        ("torch", {"log": HIGH, "log2": LOW, "log10": HIGH}, "conflict", ("Log",)),
        ("torch", {"pow.Scalar": HIGH}, "overloads", ("pow.Scalar",)),
        ("torch", {"mm": LOW}, "forward-only", ()),
        ("paddle", {"conv2d": LOW}, "unknown-name", ("conv2d",)),
    ],
)
def test_a_step_that_loses_something_is_said(
    names: str, placed: dict[str, OperatorClass], kind: str, about: tuple[str, ...]
) -> None:
    losses = translated(lists(names, placed), "ascend").losses
    assert (kind, about) in [(loss.kind, loss.names) for loss in losses]


def test_names_that_meet_in_one_op_type_get_the_higher_precision() -> None:
    assert result(lists("torch", {"log": LOW, "log2": HIGH}), "ascend") == {"Log": HIGH}


def test_a_name_whose_op_types_differ_is_left_out_on_the_way_back() -> None:
    given = lists("ascend", {"MatMulV2": LOW, "BiasAdd": HIGH})
    assert result(given, "mindspore") == {"MatMul": LOW, "BiasAdd": HIGH}
    torn = [loss for loss in translated(given, "mindspore").losses if loss.kind == "one-to-many"]
    assert torn[0].names == ("nn.Dense",)
    assert result(lists("ascend", {"MatMulV2": LOW, "BiasAdd": LOW}), "mindspore")["nn.Dense"] is LOW


def test_a_name_goes_by_its_first_op_type_and_says_what_else_it_is() -> None:
    told = translated(lists("ascend", {"BiasAdd": HIGH, "Conv2D": LOW}), "mindspore")
    assert "nn.Conv2d" not in told.lists.deciding()
    told = translated(lists("ascend", {"Conv2D": LOW}), "mindspore")
    assert told.lists.deciding()["nn.Conv2d"].cls is LOW
    assert [(loss.kind, loss.names) for loss in told.losses] == [("broader", ("nn.Conv2d",))]
    assert result(lists("ascend", {"BiasAdd": HIGH}), "mindspore") == {"BiasAdd": HIGH}


def test_between_two_systems_names_go_through_op_types() -> None:
    assert result(lists("torch", {"softmax": HIGH, "relu": LOW}), "onnx") == {"Softmax": HIGH, "Relu": LOW}


def test_an_unknown_name_is_taken_for_an_op_type_only_where_that_is_asked_for() -> None:
    given = lists("tensorflow", {"MaxPool": LOW})
    assert result(given, "ascend") == {}
    told = translated(given, "ascend", ["MaxPool"])
    assert told.lists.deciding()["MaxPool"].cls is LOW
    assert ("same-name", ("MaxPool",)) in [(loss.kind, loss.names) for loss in told.losses]


def test_the_same_names_are_not_touched() -> None:
    given = lists("torch", {"pow.Scalar": HIGH, "nonsense": FOLLOW})
    assert translated(given, "torch") == (given, ())


def test_habana_casts_the_first_argument_of_a_norm_only() -> None:
    given = lists("torch", {"layer_norm": LOW, "mm": LOW})._replace(system="habana-autocast")
    losses = translated(given, "ascend").losses
    assert ("first-argument", ("layer_norm",)) in [(loss.kind, loss.names) for loss in losses]
