"""Vectors: dtypes of every tensor, the column of every node and every Cast, as computed by the engine's code."""

from __future__ import annotations

from pathlib import Path

import pytest
from vector_support import FAMILIES, differences, kernels_of, mixlist_of, places, vectors

from opsinfo_cli.errors import Damaged


@pytest.mark.parametrize(("folder", "family"), places(*FAMILIES))
def test_a_graph_gets_the_dtypes_and_casts_that_the_engine_gives_it(folder: Path, family: str) -> None:
    found = []
    count = 0
    for vector in vectors(family, folder):
        count += 1
        found += differences(vector)
    assert count
    assert not found, f"{len(found)} differences, the first: {found[:3]}"


@pytest.mark.parametrize(("folder", "family"), places("mixlist"))
def test_a_mixlist_gives_every_type_the_policy_that_the_engine_gives_it(folder: Path, family: str) -> None:
    for vector in vectors(family, folder):
        expected = vector["answers"]["mixed_float16"]
        if "failed" in expected:
            with pytest.raises(Damaged):
                mixlist_of(vector)
            continue
        mixlist, kernels = mixlist_of(vector), kernels_of(vector["store"], vector["stores"])
        for op_type, policy in expected["policy"].items():
            found = kernels.of(op_type)
            assert (str(mixlist.effective(op_type, found[0].policy)) if found else None) == policy, vector["id"]
