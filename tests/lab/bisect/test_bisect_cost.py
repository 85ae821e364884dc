"""The cheapest list: of the lists that pass and are minimal, the one that moves least."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from bisect_support import CHAIN
from hypothesis import given
from hypothesis import strategies as st
from model_files import dump
from planted import Ended, Planted, search

from opsinfo_cli.lab.bisect.candidates import SetJudge
from opsinfo_cli.lab.bisect.search.minimal_set import price
from opsinfo_cli.lab.bisect.session import RunBudget
from opsinfo_cli.lab.graph.cost import Cost, Prices, left_low
from opsinfo_cli.lab.graph.prepare import prepare
from opsinfo_cli.lab.graph.readers import read_graph
from opsinfo_cli.lab.profile.table import TaskTable
from opsinfo_cli.lab.profile.times import profile_of

Kept = frozenset[int]


class Either(Planted):
    """A check that passes if one of several sets is kept."""

    def __init__(self, count: int, cures: list[Kept]) -> None:
        super().__init__(count, frozenset(), [1.0] * count)
        self.cures = cures

    def truth(self, kept: Kept) -> bool:
        return any(cure <= kept for cure in self.cures)


def of(costs: list[int]) -> Callable[[Kept], Cost]:
    return lambda kept: Cost(None, sum(costs[each] for each in kept), 0)


def found(ended: Ended) -> Kept:
    assert ended.found.kept is not None
    return ended.found.kept


def test_of_three_types_that_each_cure_the_one_with_the_fewest_nodes_is_taken() -> None:
    """The numbers of BERT, where BatchMatMulV2 moves 202 nodes, Sub 64 and Mul 56."""
    check = Either(8, [frozenset({0}), frozenset({4}), frozenset({6})])
    costs = [202, 300, 20, 90, 64, 10, 56, 5]
    assert found(search(check)) == {0}
    assert found(search(check, cost=of(costs))) == {6}


def test_a_member_is_replaced_by_two_cheaper_ones_and_what_becomes_superfluous_is_released() -> None:
    check = Either(5, [frozenset({0}), frozenset({1, 2}), frozenset({3, 4})])
    assert found(search(check, cost=of([100, 30, 30, 10, 20]))) == {3, 4}
    assert found(search(check, cost=of([50, 30, 30, 40, 20]))) == {0}
    check = Either(4, [frozenset({0, 1}), frozenset({2, 3}), frozenset({1, 2, 3})])
    assert found(search(check, cost=of([9, 3, 1, 1]))) == {2, 3}


def test_bytes_decide_between_lists_with_equally_many_nodes() -> None:
    check = Either(2, [frozenset({0}), frozenset({1})])
    sizes = [800, 200]
    assert found(search(check, cost=lambda kept: Cost(None, len(kept), sum(sizes[each] for each in kept)))) == {1}


@given(st.data())
def test_a_cheaper_list_passes_is_minimal_and_costs_no_more_within_the_bound(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 9))
    sets = st.frozensets(st.integers(0, count - 1), min_size=1, max_size=3)
    check = Either(count, data.draw(st.lists(sets, min_size=1, max_size=4)))
    costs = data.draw(st.lists(st.integers(0, 20), min_size=count, max_size=count))
    plain, ended = search(check), search(check, cost=of(costs))
    kept = found(ended)
    assert ended.found.minimal
    assert check.is_minimal(kept)
    assert of(costs)(kept) <= of(costs)(found(plain))
    assert ended.runs <= price(count, 1, has_cost=True).most
    if len(kept) == 1:  # a single culprit is the cheapest of all that cure alone
        alone = [costs[each] for cure in check.cures if len(cure) == 1 for each in cure]
        assert of(costs)(kept).nodes == min(alone)


def test_if_nothing_is_cheaper_there_is_no_further_run() -> None:
    check = Planted(20, frozenset({3}), [1.0] * 20)
    plain = search(check)
    assert search(check, cost=of([1] * 20)).runs == plain.runs


def test_a_budget_that_ends_among_cheaper_lists_leaves_the_minimal_list_that_was_found() -> None:
    check = Either(30, [frozenset({0}), *map(frozenset, combinations(range(20, 30), 2))])
    costs = [500, *range(1, 30)]
    plain, whole = search(check), search(check, cost=of(costs))
    assert whole.runs > plain.runs + 1
    ended = search(check, cost=of(costs), budget=RunBudget(runs=plain.runs + 1))
    assert ended.found == ("found", found(plain), True, True)


@pytest.mark.parametrize(("types", "nodes"), [((), 0), (("SoftmaxV2",), 1), (("MatMulV2",), 4)])
def test_the_cost_of_a_list_is_what_was_low_and_is_high(
    tmp_path: Path, opp: Path, types: tuple[str, ...], nodes: int
) -> None:
    prepared = prepare(
        read_graph(str(dump(tmp_path, CHAIN))), str(opp / "built-in/op_impl/ai_core/tbe/config/ascend910b")
    )
    sets = SetJudge(prepared, "mixed_float16", {})
    cost = sets.effect(frozenset(types)).cost
    assert cost.nodes == nodes
    assert left_low(sets.base_answer).nodes == cost.nodes + left_low(sets.answer(frozenset(types))).nodes


@pytest.mark.parametrize(
    ("named", "types", "microseconds"),
    [
        ("a b c d e f g", ("SoftmaxV2",), 4),
        ("a b c d e f g", ("MatMulV2",), 1 + 2 + 4 + 64),
        ("a b c d e f g", (), 0),
        ("c", ("MatMulV2",), 4 + 65 + 2),  # the others have the times of their types
        ("", ("MatMulV2",), 4 + 65 + 2),
        ("a", ("MatMulV2",), 1 + 2 + 4),  # g did not run under its name, but another MatMulV2 did
    ],
)
def test_the_time_of_a_list_is_that_of_its_nodes_as_they_ran(
    tmp_path: Path, opp: Path, named: str, types: tuple[str, ...], microseconds: float
) -> None:
    """Node number n of the chain takes 2 to the power of n microseconds; MatMulV2 moves a, b, c and g."""
    prepared = prepare(
        read_graph(str(dump(tmp_path, CHAIN))), str(opp / "built-in/op_impl/ai_core/tbe/config/ascend910b")
    )
    graph = prepared.graph
    rows = "".join(
        f"{node.name if node.name in named.split() else 'renamed'},{node.type},AI_CORE,{2**number}\n"
        for number, node in enumerate(node for node in graph if node.name in "abcdefg")
    )
    table = tmp_path / "kernel_details.csv"
    table.write_text(f"Name,Type,Accelerator Core,Duration(us)\n{rows}")
    prices = Prices(graph, profile_of([TaskTable(str(table))], {*graph.names}))
    assert (
        SetJudge(prepared, "mixed_float16", {}, prices=prices).effect(frozenset(types)).cost.microseconds
        == microseconds
    )


def test_a_type_has_the_time_of_the_one_that_it_ran_as_beside_its_own(tmp_path: Path) -> None:
    rows = "t,Transpose,AI_CORE,10\nu,TransposeD,AI_CORE,4\naclnnPermute_Transpose_Transpose,Transpose,AI_CORE,2\n"
    (tmp_path / "kernel_details.csv").write_text(f"Name,Type,Accelerator Core,Duration(us)\n{rows}")
    profile = profile_of([TaskTable(str(tmp_path / "kernel_details.csv"))])
    assert profile.by_type == {"Transpose": 12, "TransposeD": 14}


def test_the_time_decides_before_the_number_of_nodes() -> None:
    check = Either(3, [frozenset({0}), frozenset({1})])
    cheap = {0: Cost(10.0, 9, 9), 1: Cost(20.0, 1, 1), 2: Cost(99.0, 9, 9)}

    def cost(kept: Kept) -> Cost:
        parts = [cheap[number] for number in kept]
        return Cost(sum(part.microseconds or 0 for part in parts), *(sum(part.nodes for part in parts),) * 2)

    assert found(search(check, cost=cost)) == {0}
