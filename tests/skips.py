"""The reasons for which a test may be skipped where CI=true; any other reason fails there.

Elsewhere a skip is only a skip: a developer's machine may lack a tool.
"""

from __future__ import annotations

import os
import re

IN_CI = os.environ.get("CI") == "true"
"""Read before the fixtures change the environment."""

EXPECTED = [
    # Real files that are not part of the repository.
    r"\bcorpus\b",
    r"OPSINFO_(OPDEF_CHECKOUTS|TEST_ROOT|HABANA_LISTS) names no ",
    r"OPSINFO_(LOGS|ASCEND310_LIBRARY) is not set",
    r"not in OPSINFO_LOGS",
    # Other steps of `.ci/run` set these variables and have these packages.
    r"OPSINFO_RAY is not set",
    r"OPSINFO_MODELS does not name",
    r"OPSINFO_DIST names no ",
    r"\(the extra `(docs|release)`\)",
    # Facts about one case, no lack of the machine.
    r"the vendor's HiFloat8, has no wheel",
    r"the exponent in the file is 2, the expected types are those of 3",
    r"\w+ loses nothing in \w+",
    # What holds for one kind of user; the nightly workflow has a job as root.
    r"root (may \w+ everywhere|may read everything)|root's vault" if os.geteuid() == 0 else r"only root ",
]


def is_expected(reason: str) -> bool:
    return any(re.search(pattern, reason) for pattern in EXPECTED)
