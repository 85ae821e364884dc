"""Vectors written out as GE dumps and asked through the command line: a sample of each family.

``tests/long`` asks all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from vector_cli import FAMILIES, differences_through_the_program
from vector_support import VECTORS, vectors

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(not VECTORS.exists(), reason="the corpus of vectors is not here"),
]

_STEPS = {"core": 90, "corners": 15, "lib910b": 25, "networks": 5, "mixlist": 50}
"""The step between tested vectors; ten for the other families."""


@pytest.mark.parametrize("family", FAMILIES)
def test_the_program_gives_the_engines_dtypes_and_casts(
    family: str, opsinfo: Callable[..., Any], tmp_path: Path
) -> None:
    asked = list(itertools.islice(vectors(family), 0, None, _STEPS.get(family, 10)))
    assert asked
    assert [fault for vector in asked for fault in differences_through_the_program(vector, opsinfo, tmp_path)] == []
