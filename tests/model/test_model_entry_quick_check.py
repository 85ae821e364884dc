"""The quick check: never passes an entry with faults, and nearly always one without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from opsinfo_cli.model import entry_quick_check
from opsinfo_cli.model.entry_faults import build_faults, trimmed
from opsinfo_cli.model.entry_quick_check import forget_texts, policy_if_clear
from opsinfo_cli.model.library import Library
from opsinfo_cli.model.policy import Policy
from opsinfo_cli.model.vocabulary import ENUMERATIONS
from opsinfo_cli.text.source import Source

Sections = dict[str, dict[str, str]]

LISTS = ["float16", "float16,float", "float16, float", "FLOAT16,float", "bf16,float", "", " ", "ND,ND", "ND", "nd,ND"]
LISTS += ["NCHW,", "FRACTAL_Z:1,ND", "all", "1,2", "[1]", "65536"]
TENSOR_KEYS = ["dtype", "format", "unknownshape_format", "sub_format", "tuneformatSwitch", "name", "paramType"]
WORDS = st.sampled_from([*LISTS, "true", "false", "True", " true", "x", "required", "optional", "dynamic", "reduce"])
TENSORS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(TENSOR_KEYS[:3], st.sampled_from(LISTS)),
        **dict.fromkeys(TENSOR_KEYS[3:], WORDS),
        "name": st.sampled_from(["x", "x", "x", "", " ", "\x1c", "名"]),
        "paramType": st.sampled_from(["required", "required", "required", "optional", "Required", ""]),
    },
)
ENUMERATED = {
    section: st.fixed_dictionaries(
        {}, optional={each.key: st.sampled_from([*sorted(each.words), "", " TRUE ", "no", "Broadcast"])}
    )
    for section, each in ENUMERATIONS.items()
}
ATTRIBUTES = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["int", "listInt", "float", "bool", "Int", ""]),
        "value": st.sampled_from(["all", "1", "1,2", "[1,2]", "x", ""]),
        "paramType": st.sampled_from(["required", "optional", ""]),
        "defaultValue": st.sampled_from(["1", "[1;2]", "x", ""]),
    },
)
ENTRIES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(["input0", "input1", "output0", "output1", "Output0", "inputs", "input"], TENSORS),
        **ENUMERATED,
        "op": st.fixed_dictionaries({}, optional={"pattern": st.sampled_from(["formatAgnostic", "dynamic", "reduce"])}),
        "attr": st.fixed_dictionaries({}, optional={"list": st.sampled_from(["", "a", "a,b", "a, b", "c"])}),
        **dict.fromkeys(["attr_a", "attr_b"], ATTRIBUTES),
        "fallback": st.fixed_dictionaries({}, optional={"enable": st.sampled_from(["1", "true"])}),
        "opFile": st.just({"value": "add"}),
        "Op_File": st.just({"value": "add"}),
    },
)


@given(ENTRIES)
@example({"input0": {"name": "x", "paramType": "required", "dtype": "float16", "format": ""}})
@example({"input0": {"name": "x", "paramType": "required", "dtype": "", "format": ""}})
def test_an_entry_that_passes_the_quick_check_has_no_faults(entry: Sections) -> None:
    sections = trimmed(entry)
    forget_texts()
    for _ in ("asked for the first time", "remembered"):
        policy = policy_if_clear(sections)
        if policy is not None:
            assert build_faults(sections) == []
            assert policy is Policy.of(sections)


def tensor(**more: str) -> dict[str, str]:
    return {"name": "x", "paramType": "required", "dtype": "float16,float", "format": "ND,ND", **more}


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"precision_reduce": {"flag": "true"}},
        {"precision_reduce": {"flag": "FALSE"}},
        {"input0": tensor(), "output0": tensor(unknownshape_format="ND,ND")},
        {"input0": tensor(), "output0": {"name": "y", "paramType": "optional"}},
        {"op": {"pattern": "formatAgnostic"}, "input0": tensor(), "output0": tensor()},
        {"input0": tensor(sub_format="1,2")},
        {"attr": {"list": "a"}, "attr_a": {"type": "int", "value": "all"}},
        {"slicePattern": {"value": "elemwiseBroadcast"}, "opFile": {"value": "Null"}},
    ],
    ids=[
        "no sections",
        "flag",
        "flag in upper case",
        "formats of unknown shapes",
        "output without columns",
        "pattern",
        "sub_format",
        "attribute",
        "words",
    ],
)
def test_usual_entries_pass_the_quick_check(sections: Sections) -> None:
    assert policy_if_clear(sections) is Policy.of(sections)


def test_the_cache_is_bounded() -> None:

    forget_texts()
    for number in range(3 * entry_quick_check._FEW):
        policy_if_clear({f"section{number}": {}, "input0": tensor(dtype=f"int{number}", format=f"F{number}")})
    remembered: list[Any] = [entry_quick_check._kinds, entry_quick_check._dtypes, entry_quick_check._formats]
    assert max(map(len, remembered)) <= entry_quick_check._FEW


def test_a_name_with_blanks_is_trimmed_before_its_entry_is_checked() -> None:
    entries = {f"Op{n}": {"precision_reduce": {" flag": "false"}, " input0": tensor()} for n in range(3)}
    library = Library.of(Source(json.dumps(entries, indent=4).encode(), "f.json"))
    assert {entry.policy for entry in library.entries.values()} == {Policy.BLACK}
    assert [entry.faults for entry in library.entries.values()] == [(), (), ()]


def test_nearly_all_entries_of_real_libraries_pass_the_quick_check(corpus: Path) -> None:
    for path in sorted(corpus.glob("cann-*/opp/**/aic-*.json")):
        entries = Library.read(str(path)).entries.values()
        unclear = [entry for entry in entries if policy_if_clear(entry.sections) is None]
        assert len(unclear) <= 0.05 * len(entries)
        assert {entry.name for entry in entries if entry.faults} <= {entry.name for entry in unclear}
