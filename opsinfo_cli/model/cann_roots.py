"""The environment's CANN: the operator package that the engine would use.

Source: hicann/ge at ffdcbc9f
- compiler/engines/nn_engine/utils/common/configuration.cc
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from ..errors import Refused, UsageFault
from .opp import matching, version_of
from .policy import BLANKS


class Root(NamedTuple):
    """An OPP root and how it was found: a variable's name, or ``usual folder``."""

    path: str
    by: str


def environment_root(environ: Mapping[str, str]) -> Root | None:
    """Return the root that the engine would take from its environment; None if it is not set.

    :raises Refused: if ``ASCEND_OPP_PATH`` is set and does not resolve, as in the engine (E20002)
    """
    path = environ.get("ASCEND_OPP_PATH", "").strip()
    if path:
        if not os.path.isdir(path):
            raise Refused(
                "ASCEND_OPP_PATH is not a directory; the engine fails with E20002", name="no-install", path=path
            )
        return Root(path, "ASCEND_OPP_PATH")
    home = environ.get("ASCEND_HOME_PATH", "").strip()
    if not home:
        return None
    path = os.path.join(home, "opp")
    if not os.path.isdir(path):
        raise Refused("ASCEND_HOME_PATH has no `opp`; the engine does not start", name="no-install", path=path)
    return Root(path, "ASCEND_HOME_PATH")


def usual_roots(environ: Mapping[str, str]) -> list[Root]:
    """Return OPP roots in the usual folders, one for each real path."""
    bases = ["/usr/local/Ascend", os.path.join(environ.get("HOME", "/"), "Ascend")]
    tails = [
        f"{package}{latest}" for package in ("ascend-toolkit", "nnae", "nnrt", "cann") for latest in ("/latest", "")
    ]
    found: dict[str, Root] = {}
    for base in bases:
        paths = [os.path.join(base, tail, "opp") for tail in tails] + [os.path.join(base, "opp")]
        paths += matching(base, "cann-*/opp")
        for path in paths:
            if os.path.isdir(path):
                found.setdefault(os.path.realpath(path), Root(path, "usual folder"))
    return list(found.values())


def select_root(environ: Mapping[str, str], asked: str) -> Root:
    """Return the root of the environment, else the only one in the usual folders.

    :param asked: the beginning of an error message: why a root is required
    :raises UsageFault: if there is no root, or more than one real path
    """
    root = environment_root(environ)
    if root is not None:
        return root
    roots = usual_roots(environ)
    if not roots:
        raise UsageFault(
            f"{asked}, and no CANN was found",
            name="no-install",
            hint="set ASCEND_OPP_PATH, or give the path of a library, a store or an operator package",
        )
    if len(roots) > 1:
        listed = "; ".join(f"{each.path} ({version_of(each.path) or 'version unknown'})" for each in roots)
        raise UsageFault(
            f"several CANN installs: {listed}",
            name="ambiguous-target",
            hint="set ASCEND_OPP_PATH, or give the path of one",
        )
    return roots[0]


def environment_customs(environ: Mapping[str, str]) -> list[str]:
    """Return custom operator paths, trimmed as in the engine; used only with a root from the environment."""
    paths = (path.strip(BLANKS) for path in environ.get("ASCEND_CUSTOM_OPP_PATH", "").split(":"))
    return [path for path in paths if path]
