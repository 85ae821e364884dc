"""Every vector, written out as a GE dump and asked through the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "graph"))

from vector_cli import FAMILIES, differences_through_the_program
from vector_support import VECTORS, vectors

pytestmark = pytest.mark.skipif(not VECTORS.exists(), reason="the corpus of vectors is not here")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_program_gives_the_engines_dtypes_and_casts(
    family: str, opsinfo: Callable[..., Any], tmp_path: Path
) -> None:
    asked = list(vectors(family))
    assert asked
    assert [fault for vector in asked for fault in differences_through_the_program(vector, opsinfo, tmp_path)] == []
