"""Operator packages (OPP): their layout, and their version of CANN.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/utils/common/configuration.cc
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from .store import library_files

CORES = ("ai", "vector", "dsa")

BUILT_IN = {
    "ai": ("built-in/op_impl/ai_core/tbe/config/{soc}", "op_impl/built-in/ai_core/tbe/config/{soc}"),
    "vector": ("built-in/op_impl/vector_core/tbe/config", "op_impl/built-in/vector_core/tbe/config"),
    "dsa": ("built-in/op_impl/dsa_core/config/{soc}", "op_impl/built-in/dsa_core/config/{soc}"),
}
"""Directory of the built-in store: the current layout, then the one of CANN before 5.1."""

CUSTOM = {"ai": "op_impl/ai_core/tbe", "vector": "op_impl/vector_core/tbe"}
LEGACY_CUSTOM = "op_impl/custom/ai_core/tbe/config/{soc}"


def opp_root(path: str) -> str | None:
    """Return the OPP root at or under a directory: the path itself, or ``opp`` in a toolkit; None if there is none."""
    for candidate in (path, os.path.join(path, "opp"), os.path.join(path, "latest", "opp")):
        if any(os.path.isdir(os.path.join(candidate, mark)) for mark in _ROOT_MARKS):
            return candidate
    return None


_ROOT_MARKS = ("built-in/op_impl", "op_impl/built-in", "op_impl/custom", "vendors")


def root_above(path: str) -> str | None:
    """Return the OPP root that contains a file or directory; None if there is none."""
    folder = os.path.realpath(path)
    while os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        if any(os.path.isdir(os.path.join(folder, mark)) for mark in _ROOT_MARKS):
            return folder
    return None


def matching(folder: str, pattern: str) -> list[str]:
    """Return paths below a folder that match a pattern; wildcards in the folder's own name are escaped."""
    from glob import escape, glob

    return sorted(glob(os.path.join(escape(folder), pattern), recursive=True))


def socs_of(root: str, core: str = "ai") -> list[str]:
    """Return SoC folders of an OPP root that contain libraries."""
    patterns = [*BUILT_IN[core], f"vendors/*/{CUSTOM['ai']}/config/{{soc}}", LEGACY_CUSTOM]
    found = set()
    for pattern in patterns:
        if "{soc}" in pattern:
            for path in matching(root, pattern.format(soc="*")):
                if os.path.isdir(path) and library_files(path):
                    found.add(os.path.basename(path))
    return sorted(found)


def version_of(root: str) -> str | None:
    """Return the CANN version of an OPP root: ``version_dir`` of ``version.info``, else ``Version``."""
    above = os.path.dirname(os.path.realpath(root))
    paths = [
        os.path.join(root, "version.info"),
        *matching(above, "*-linux/ascend_toolkit_install.info"),
        os.path.join(above, "compiler", "version.info"),
    ]
    for path in paths:
        facts = _facts(path)
        version = facts.get("version_dir") or facts.get("version")
        if version:
            return version
    return None


def _facts(path: str) -> Mapping[str, str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            pairs = (re.fullmatch(r"\s*(\w+)\s*=\s*(.*?)\s*", line) for line in file.read(1 << 16).splitlines())
            return {match[1].lower(): match[2] for match in pairs if match}
    except OSError:
        return {}
