"""OpDef sources against what opbuild, compiled, wrote of them.

``OPSINFO_OPDEF_CHECKOUTS`` is a folder with the checkouts that the vectors name, ``<owner>+<repository>`` each, at the
commit of the vectors.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from opsinfo_cli.core.cann.opdef.reading import Row, read_sources

CHECKOUTS = os.environ.get("OPSINFO_OPDEF_CHECKOUTS")
"""Read before the fixtures clear the environment."""

Sections = dict[str, dict[str, str]]


def sections_of(ini: Path) -> dict[str, Sections]:
    """Op type -> its entry, of an ini as opbuild writes it."""
    found: dict[str, Sections] = {}
    entry: Sections = {}
    for line in ini.read_text("utf-8").splitlines():
        if line.startswith("["):
            entry = found.setdefault(line[1:-1], {})
            continue
        key, _, value = line.partition("=")
        section, _, name = key.partition(".")
        entry.setdefault(section, {})[name] = value
    return found


@pytest.mark.parametrize(("chip", "count"), [("ascend910b", 38), ("ascend950", 4)])
def test_the_law_cases_are_read_as_opbuild_wrote_them(corpus: Path, chip: str, count: int) -> None:
    folder = corpus / "vectors" / "opdef"
    reading = read_sources([str(folder / "law_cases_def.cpp")])
    assert reading.unreadable == []
    found = {row.name: row.entry for row in reading.rows if row.chip == chip}
    assert len(found) == count
    assert found == sections_of(folder / f"law.aic-{chip}-ops-info.ini")
    assert len(reading.registrations) == 41


def vectors(corpus: Path) -> dict[str, list[dict[str, Any]]]:
    """Repository -> its rows."""
    found = defaultdict(list)
    with gzip.open(corpus / "vectors" / "opdef" / "give.jsonl.gz", "rt") as lines:
        for line in lines:
            vector = json.loads(line)
            found[vector["repo"]].append(vector)
    return found


def ports(entry: Mapping[str, Mapping[str, str]], kind: str) -> list[dict[str, Any]]:
    sections = [entry[name] for name in entry if name.startswith(kind) and name[len(kind) :].isdigit()]
    return [
        {
            "name": each["name"],
            "param": each["paramType"],
            "dtypes": each["dtype"].split(",") if "dtype" in each else [],
            "formats": each["format"].split(",") if "format" in each else [],
            "unknownshape_formats": each.get("unknownshape_format", "").split(",")
            if "unknownshape_format" in each
            else [],
            "valueDepend": each.get("valueDepend"),
        }
        for each in sections
    ]


def wanted_ports(vector: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [
        {
            **{key: port[key] for key in ("name", "param", "dtypes", "formats")},
            "unknownshape_formats": port.get("unknownshape_formats") or [],
            "valueDepend": port.get("valueDepend"),
        }
        for port in vector[f"{kind}s"]
    ]


def facts(row: Row) -> dict[str, Any]:
    assert row.columns_unread is None
    has_flag = "precision_reduce" in row.entry
    others = {name: next(iter(keys.values())) for name, keys in row.entry.items()}
    return {
        "policy": str(row.policy),
        "explicit": has_flag and not row.by_default,
        "inputs": ports(row.entry, "input"),
        "outputs": ports(row.entry, "output"),
        "keys": {name: each for name, each in others.items() if not name.startswith(("input", "output", "attr"))},
    }


@pytest.mark.skipif(CHECKOUTS is None, reason="OPSINFO_OPDEF_CHECKOUTS names no folder of checkouts")
@pytest.mark.parametrize(
    "repository",
    [
        *("hicann/ops-cv", "hicann/ops-math", "hicann/ops-nn", "hicann/ops-transformer"),
        *("mirror-cann/ops-transformer", "vllm-project/vllm-ascend"),
    ],
)
def test_all_rows_of_a_repository_are_those_of_opbuild(corpus: Path, repository: str) -> None:
    assert CHECKOUTS is not None
    root = Path(CHECKOUTS, repository.replace("/", "+"))
    if not root.is_dir():
        pytest.skip(f"no checkout {root}")
    rows = vectors(corpus)[repository]
    reading = read_sources([str(root / path) for path in dict.fromkeys(vector["path"] for vector in rows)], str(root))
    assert reading.unreadable == []
    found = {(row.name, row.chip, row.declared.file): facts(row) for row in reading.rows}
    for vector in rows:
        wanted = {key: vector[key] for key in ("policy", "explicit", "keys")}
        wanted |= {f"{kind}s": wanted_ports(vector, kind) for kind in ("input", "output")}
        assert found[vector["op"], vector["soc"], str(root / vector["path"])] == wanted, vector["op"]
