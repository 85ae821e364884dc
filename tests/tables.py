"""Tables of cases: TOML files with one array, `rows`, that begin with a comment on its columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def rows(test: str, name: str) -> list[Any]:
    """Return the rows of a table beside a test file, each with the name of its situation first."""
    found: list[Any] = tomllib.loads(Path(test).with_name(name).read_text("utf-8"))["rows"]
    assert len({str(row) for row in found}) == len(found)
    return found


def cases(names: str, table: Mapping[str, Any]) -> pytest.MarkDecorator:
    """Parametrize a test by situation.

    :param names: of the parameters, separated by commas
    :param table: situation -> values
    """
    return pytest.mark.parametrize(names, list(table.values()), ids=list(table))
