"""The facts beside the code: whole, dated, and as they were published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import opsinfo_cli.neighbours
from opsinfo_cli.errors import UsageFault
from opsinfo_cli.neighbours.facts import facts
from opsinfo_cli.neighbours.name_tables import name_table
from opsinfo_cli.neighbours.systems import SYSTEMS, lists_of
from opsinfo_cli.neighbours.vocabulary import OperatorClass

DATA = Path(opsinfo_cli.neighbours.__file__).parent / "data"
LEVELS = [
    f"{system.name}:{level}" if level else system.name
    for system in SYSTEMS.values()
    for level in (system.levels or ([""] if system.facts else []))
]


def names(system: str, cls: str) -> list[str]:
    return [each.name for each in lists_of(system).entries if each.cls == cls]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_every_fact_file_says_its_version(path: Path) -> None:
    content = json.loads(path.read_text("utf-8"))
    assert content["version"]
    if "levels" in content:
        assert content["source"]


@pytest.mark.parametrize("system", LEVELS)
def test_no_list_names_an_operator_twice(system: str) -> None:
    placed = lists_of(system).entries
    listed = [(each.origin, each.module, each.name) for each in placed]
    assert len(set(listed)) == len(listed)
    assert lists_of(system).version


@pytest.mark.parametrize(
    ("system", "counts"),
    [
        ("mindspore:O0", {}),
        ("mindspore:O1", {"low": 20}),
        ("mindspore:O2", {"high": 4}),
        ("mindspore:O3", {}),
        ("mindspore:auto", {"low": 20, "high": 46, "promote": 10}),
        ("apex:O0", {}),
        ("apex:O3", {}),
        ("tensorflow:ALL", {"low": 19 + 2 + 5 + 3, "follow": 43, "high": 9, "clear": 94 + 13}),
        ("tensorflow:TENSOR_CORES_ONLY", {"low": 29}),
        ("habana-hmp", {"low": 25, "high": 15, "promote": 4}),
        ("habana-autocast", {"low": 27, "high": 49, "promote": 12}),
        ("optimum-habana", {"low": 14, "high": 3, "promote": 12}),
        ("onnxconverter", {"high": 28}),
    ],
)
def test_built_in_lists_have_as_many_names_as_their_sources(system: str, counts: dict[str, int]) -> None:
    found = {str(cls): len(names(system, cls)) for cls in OperatorClass}
    assert {cls: count for cls, count in found.items() if count} == counts


@pytest.mark.parametrize(
    ("level", "published"),
    [
        ("O0", ("float32", "False", "None", "False", "1.0")),
        ("O1", ("None", "True", "None", "None", "dynamic")),
        ("O2", ("float16", "False", "True", "True", "dynamic")),
        ("O3", ("float16", "False", "False", "False", "1.0")),
    ],
)
def test_the_levels_of_apex_are_those_published(level: str, published: tuple[str, ...]) -> None:
    assert tuple(facts("apex")["levels"][level]["properties"].values()) == published


def test_the_levels_of_mindspore_are_those_published() -> None:
    levels = {name: tuple(level["properties"].values()) for name, level in facts("mindspore")["levels"].items()}
    assert levels == {
        "O0": ("False", "float32", "none"),
        "O1": ("False", "float32", "none"),
        "O2": ("True", "float16", "DynamicLossScaleManager()"),
        "O3": ("False", "float16", "none"),
        "auto": ("False", "float32", "none"),
    }


def test_bmm_is_on_neither_list_of_apex_on_an_npu() -> None:
    placed = lists_of("apex:O1").deciding()
    assert {placed[name].cls for name in ("bmm", "baddbmm", "addbmm")} == {OperatorClass.FOLLOW}
    assert "CUDA 9.1" in str(placed["bmm"].note)


def test_the_lower_list_of_habana_wins_over_fp32_and_that_over_promote() -> None:
    placed = lists_of("habana-autocast").deciding()
    assert [str(placed[name].cls) for name in ("mul", "div", "add")] == ["low", "high", "promote"]


def test_torch_npu_differs_from_upstream_as_known() -> None:
    npu, upstream = lists_of("torch-npu").deciding(), lists_of("torch-amp").deciding()
    stems = {name.partition(".")[0] for name in npu}
    more = {name.partition(".")[0] for name in upstream} - stems
    assert {name for name in more if "upsample" not in name} == {"linalg_vecdot", "vdot"}
    assert len(more) == 14


@pytest.mark.parametrize("system", ["torch", "tensorflow", "onnx", "mindspore"])
def test_the_table_of_names_leads_back(system: str) -> None:
    table = name_table(system)
    assert all(name in table.names[op] for name, ops in table.ops.items() for op in ops)
    assert not set(table.unclear) & set(table.ops)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("apex:O9", "unknown-level"),
        ("mindspore", "usage"),
        ("habana-hmp:O2", "not-known"),
        ("torch-amp:O1", "unknown-level"),
        ("mixlist", "wrong-kind"),
        ("apx:O1", "unknown-system"),
    ],
)
def test_levels_and_systems_that_there_are_not(text: str, word: str) -> None:
    with pytest.raises(UsageFault) as caught:
        lists_of(text)
    assert caught.value.name == word
