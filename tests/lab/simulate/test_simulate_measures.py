"""The measures of an output, and the error along the graph."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulate_support import FLOAT, all_low, node, save, simulation, value

from opsinfo_cli.lab.simulate.inputs import InputSet
from opsinfo_cli.lab.simulate.output_error import output_error, worst
from opsinfo_cli.lab.simulate.simulation import OutputErrors, Simulation
from opsinfo_cli.lab.simulate.trace import PORTION, floating_values, portions, trace

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("found", "reference", "absolute", "relative", "cosine"),
    [
        ([1.0, 2.0], [1.0, 4.0], 2.0, 0.5, 9 / math.sqrt(5 * 17)),
        ([1.0, 2.0], [1.0, 2.0], 0.0, 0.0, 1.0),
        ([0.0, 0.0], [0.0, 0.0], 0.0, 0.0, 1.0),
        ([0.5, 0.0], [0.0, 0.0], 0.5, INF, 0.0),
        ([1.0, INF], [1.0, 2.0], INF, INF, None),
        ([1.0, NAN], [1.0, 2.0], INF, INF, None),
        ([1.0, 2.0], [1.0, NAN], INF, INF, None),
        ([1.0, -INF], [1.0, INF], INF, INF, None),
        ([1.0, INF, NAN], [2.0, INF, NAN], 1.0, 0.5, 1.0),
        ([], [], 0.0, 0.0, 1.0),
        ([3, 5], [3, 4], 1.0, 0.25, 29 / math.sqrt(34 * 25)),
        ([True, False], [True, True], 1.0, 1.0, 1 / math.sqrt(2)),
    ],
)
def test_errors_are_relative_to_the_largest_of_the_reference(
    found: list[Any], reference: list[Any], absolute: float, relative: float, cosine: float | None
) -> None:
    error = output_error("y", np.array(found), np.array(reference))
    assert (error.max_abs_error, error.max_rel_error) == (absolute, relative)
    assert error.cosine == pytest.approx(cosine)
    assert (error.inf, error.nan) == (sum(map(np.isinf, found)), sum(map(np.isnan, found)))


def test_different_shapes_and_strings_are_not_compared_as_numbers() -> None:
    error = output_error("y", np.zeros((2, 3)), np.zeros((3, 3)))
    assert (error.max_rel_error, error.cosine, error.why) == (INF, None, "its shape is [2, 3] instead of [3, 3]")
    assert output_error("y", np.array(["a", "b"]), np.array(["a", "c"])).why == "1 of 2 texts differ"
    assert output_error("y", np.array(["a", "b"], object), np.array(["a", "b"], object)).passes(0.0, 1.0)


def test_sequences_and_maps_are_compared_as_one_array() -> None:
    found = [np.array([1.0, 2.0]), {"a": np.float32(3), "b": np.float32(5)}]
    reference = [np.array([1.0, 2.0]), {"a": np.float32(3), "b": np.float32(4)}]
    assert output_error("y", found, reference).max_rel_error == 0.25


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 2), min_size=1), st.floats(1e-3, 1e3))
def test_a_scale_of_both_changes_no_relative_error(pairs: list[tuple[float, float]], scale: float) -> None:
    a, b = (np.array(each) for each in zip(*pairs, strict=True))
    first, second = output_error("y", a, b), output_error("y", a * scale, b * scale)
    if first.max_rel_error < INF and first.max_abs_error > 1e-200:
        assert second.max_rel_error == pytest.approx(first.max_rel_error, rel=1e-6, abs=1e-9)


def test_an_unknown_error_passes_no_bound() -> None:
    lost = output_error("y", np.array([NAN]), np.array([1.0]))
    fine = output_error("z", np.array([1.0]), np.array([1.0]))
    assert [lost.passes(*bounds) for bounds in ((None, None), (1e9, None), (None, -1.0))] == [True, False, False]
    both = OutputErrors((fine, lost), 1)
    assert (both.max_rel_error, both.min_cosine, both.passes(1e9), both.passes()) == (INF, None, False, True)
    assert OutputErrors((fine,), 1).passes(0.0, 1.0)
    assert worst([fine, replace(lost, name="z")]).max_rel_error == INF


def chain(folder: Path, scale: float) -> str:
    """Exp, then a product that can overflow, then a difference of nearly equal numbers, then Neg."""
    nodes = [
        node("Exp", ["x"], ["a"], name="exp"),
        node("Mul", ["a", "w"], ["b"], name="mul"),
        node("Add", ["b", "one"], ["c"], name="add"),
        node("Sub", ["c", "b"], ["d"], name="sub"),
        node("Neg", ["d"], ["y"], name="neg"),
    ]
    weights = {"w": np.array([scale], "f4"), "one": np.array([0.3], "f4")}
    return save(folder, nodes, [value("x", FLOAT, [64])], [value("y", FLOAT, [64])], weights)


FEEDS = {"x": np.linspace(1, 2, 64, dtype=np.float32)}


@pytest.mark.parametrize("portion", [1, 256, 1 << 30])
def test_the_first_jump_is_at_the_subtraction_of_nearly_equal_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portion: int
) -> None:
    monkeypatch.setattr("opsinfo_cli.lab.simulate.trace.PORTION", portion)
    made = simulation(chain(tmp_path, 100), FEEDS)
    found = trace(made, made.plan())
    assert [each.node for each in found.nodes] == ["exp", "mul", "add", "sub", "neg"]
    jump = found.first_jump
    assert jump is not None
    assert (jump.node, jump.type) == ("sub", "Sub")
    assert jump.error > 10 * jump.error_of_inputs
    assert found.first_not_finite is None
    assert found.nodes[-1].error == made.run().max_rel_error
    assert found.nodes[-1].error_of_inputs == jump.error


def test_a_portion_holds_as_many_bytes_as_it_may_and_no_more() -> None:
    sizes = {"a": 3, "b": 5, "c": 8, "d": 9}
    assert list(portions("abcd", sizes, 8)) == [["a", "b"], ["c"], ["d"]]
    assert list(portions("cab", sizes, 8)) == [["c"], ["a", "b"]]
    assert list(portions("abcd", sizes, 7)) == [["a"], ["b"], ["c"], ["d"]]
    assert list(portions(["a", "unknown"], sizes, 3 + (1 << 20))) == [["a", "unknown"]]
    assert list(portions(["a", "unknown"], sizes, 2 + (1 << 20))) == [["a"], ["unknown"]]
    assert PORTION == 256 * 1024 * 1024


@pytest.mark.parametrize(("portion", "computed"), [(2 * 4 * 256, 4), (2 * 4 * 256 - 1, 6)])
def test_the_sets_of_inputs_share_a_portion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portion: int, computed: int
) -> None:
    """Four values take 256 bytes each; the size of the output is unknown, and it has a portion of its own."""
    monkeypatch.setattr("opsinfo_cli.lab.simulate.trace.PORTION", portion)
    path = chain(tmp_path, 100)
    made = Simulation(path, all_low(path), "force_fp16", [InputSet(each, FEEDS) for each in "ab"])
    opened: list[Any] = []
    session = made.session
    monkeypatch.setattr(made, "session", lambda *words: opened.append(words) or session(*words))
    trace(made, made.plan())
    assert len(opened) == computed


def test_the_error_of_a_fused_node_is_compared_with_that_of_what_enters_it(tmp_path: Path) -> None:
    """The product and the addition become one node: no value between them is on the device."""
    nodes = [
        node("Exp", ["x"], ["e"], name="exp"),
        node("MatMul", ["e", "w"], ["m"], name="product"),
        node("Add", ["m", "b"], ["y"], name="add"),
    ]
    weights = {"w": np.eye(4, dtype=np.float32), "b": np.ones(4, np.float32)}
    path = save(tmp_path, nodes, [value("x", FLOAT, [2, 4])], [value("y", FLOAT, [2, 4])], weights)
    made = simulation(path, {"x": np.linspace(1, 2, 8, dtype=np.float32).reshape(2, 4)})
    exp, product = trace(made, made.plan()).nodes
    assert (exp.node, product.node) == ("exp", "product")
    assert product.error_of_inputs == exp.error > 0


def test_progress_is_reported_for_each_value_of_a_portion(tmp_path: Path) -> None:
    path = chain(tmp_path, 100)
    made = Simulation(path, all_low(path), "force_fp16", [InputSet(each, FEEDS) for each in "ab"])
    parts: list[float] = []
    trace(made, made.plan(), parts.append)
    assert parts == [0.5] * 2 * len(floating_values(made))


def test_the_first_node_that_yields_inf_is_named_and_not_those_behind_it(tmp_path: Path) -> None:
    made = simulation(chain(tmp_path, 20000), FEEDS)
    wrong = trace(made, made.plan()).first_not_finite
    assert wrong is not None
    assert (wrong.node, wrong.nan) == ("mul", 0)
    assert 0 < wrong.inf < 64


def test_inf_that_float32_has_too_is_not_a_fault(tmp_path: Path) -> None:
    nodes = [node("Log", ["x"], ["y"], name="log")]
    path = save(tmp_path, nodes, [value("x", FLOAT, [2])], [value("y", FLOAT, [2])])
    made = simulation(path, {"x": np.array([0.0, 1.0], "f4")})
    assert trace(made, made.plan()).first_not_finite is None
    found = made.run().outputs[0]
    assert (found.max_rel_error, found.inf, found.reference_inf) == (0.0, 1, 1)
