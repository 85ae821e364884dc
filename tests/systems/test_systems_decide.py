"""The dtype of a call: examples from each system's documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opsinfo_cli.core.cann.library import Library, Operators, Store
from opsinfo_cli.core.cann.mixlist import Mixlist
from opsinfo_cli.core.cann.precision_mode import MODES
from opsinfo_cli.core.text.scanner import scan
from opsinfo_cli.core.text.source import Source
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.systems.decide import OperatorCall, decide, decide_by_lists, decide_on_ascend
from opsinfo_cli.systems.registry import lists_of

H, B, F, D = "float16", "bfloat16", "float32", "float64"
UNKNOWN, REFUSED = "not-known", "refused"

CASES = [
    line.split("\t")
    for line in (Path(__file__).parent / "decisions.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(("system", "name", "dtypes", "expected"), CASES)
def test_a_call_runs_in_the_dtype_its_system_documents(system: str, name: str, dtypes: str, expected: str) -> None:
    found = decide_by_lists(OperatorCall(name, tuple(dtypes.split(",")) if dtypes != "-" else ()), lists_of(system))
    assert (found.dtype or found.outcome) == expected
    assert found.says
    assert found.source


@pytest.mark.parametrize(
    ("system", "call", "expected"),
    [
        ("mindspore:O2", OperatorCall("nn.L1Loss", as_loss=True), F),
        ("mindspore:O3", OperatorCall("nn.L1Loss", as_loss=True), F),
    ],
    ids=["loss in O2", "loss in O3"],
)
def test_the_surroundings_of_a_call_change_its_dtype(system: str, call: OperatorCall, expected: str) -> None:
    found = decide_by_lists(call, lists_of(system))
    assert (found.dtype or found.outcome) == expected


@pytest.mark.parametrize(
    ("system", "name", "near"),
    [("apex:O1", "Softmax", ("softmax",)), ("torch-npu", "matmull", ("matmul",)), ("torch-npu", "relu", ())],
)
def test_a_name_that_is_not_listed_gets_near_names(system: str, name: str, near: tuple[str, ...]) -> None:
    assert decide_by_lists(OperatorCall(name), lists_of(system)).near == near


def test_the_low_dtype_can_be_chosen() -> None:
    assert decide_by_lists(OperatorCall("mm"), lists_of("torch-npu"), B).dtype == B


def entry(flag: str | None, dtypes: str) -> dict[str, dict[str, str]]:
    tensor = {
        "name": "x",
        "paramType": "required",
        "dtype": dtypes,
        "format": ",".join("ND" for _ in dtypes.split(",")),
    }
    return {"input0": tensor, "output0": tensor, **({"precision_reduce": {"flag": flag}} if flag else {})}


@pytest.fixture
def operators() -> Operators:
    content = {
        "White": entry("true", "float16,float"),
        "WhiteWithout": entry("true", "float"),
        "Black": entry("false", "float16,float"),
        "BlackWithout": entry("false", "float16"),
        "Gray": entry(None, "float16,float"),
        "GrayOnlyFloat": entry(None, "float"),
        "Cast": entry("true", "float16,float"),
    }
    return Operators([Store([Library.of(Source(json.dumps(content).encode(), "lib.json"))])])


@pytest.mark.parametrize(
    ("mode", "name", "dtypes", "expected"),
    [
        ("mixed_float16", "White", (F,), H),
        ("mixed_bfloat16", "White", (F,), F),
        ("mixed_float16", "WhiteWithout", (H,), F),
        ("mixed_float16", "Black", (H,), F),
        ("mixed_float16", "BlackWithout", (F,), REFUSED),
        ("mixed_float16", "Gray", (H, F), H),
        ("mixed_float16", "Gray", (F, H), F),
        ("mixed_float16", "Gray", (), UNKNOWN),
        ("mixed_float16", "Gray", ("-",), F),
        ("mixed_float16", "GrayOnlyFloat", (H,), UNKNOWN),
        ("mixed_float16", "Cast", (H,), F),
        ("mixed_float16", "Elsewhere", (F,), UNKNOWN),
        ("must_keep_origin_dtype", "White", (H,), F),
        ("force_fp16", "White", (F,), UNKNOWN),
    ],
)
def test_on_ascend_list_kernel_and_producer_decide(
    operators: Operators, mode: str, name: str, dtypes: tuple[str, ...], expected: str
) -> None:
    found = decide_on_ascend(OperatorCall(name, dtypes), MODES[mode], operators, None, F)
    assert (found.dtype or found.outcome) == expected


def test_an_op_type_in_another_case_gets_near_names(operators: Operators) -> None:
    found = decide_on_ascend(OperatorCall("whitewithout"), MODES["mixed_float16"], operators, None, F)
    assert (found.outcome, found.near) == (UNKNOWN, ("WhiteWithout",))


def test_a_mixlist_overrides_the_library(operators: Operators) -> None:
    mixlist = Mixlist(scan(Source(b'{"black-list": {"to-add": ["White"]}}', "m.json")))
    assert decide_on_ascend(OperatorCall("White", (H,)), MODES["mixed_float16"], operators, mixlist, F).dtype == F


@pytest.mark.parametrize("name", ["nn.MSELoss", "nn.L1Loss", "nn.CTCLoss", "nn.SoftmaxCrossEntropyWithLogits"])
def test_the_losses_of_mindspore_stay_float32(name: str) -> None:
    (decision,) = decide("mindspore:O2", name).decisions
    assert (decision.dtype, decision.near) == ("float32", ())


@pytest.mark.parametrize("system", ["apex:O1", "ascend:origin"])
def test_an_option_of_another_system_is_refused(system: str) -> None:
    with pytest.raises(UsageFault, match="--as-loss is for MindSpore"):
        decide(system, "mm", as_loss=True)
