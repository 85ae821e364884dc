"""Rules on what opsinfo itself changed."""

from __future__ import annotations

from ..rule import Rule

RULES = (
    Rule(
        "V001",
        "edits-lost",
        "vault",
        "warning",
        "accepts",
        "opsinfo moved operators in this file, and the file was replaced since: by a vendor upgrade, or because "
        "somebody copied an old one back. The moves are no longer in effect.",
        "opsinfo move OPP Add --to black, then an upgrade of CANN",
        "opsinfo reapply",
        "opsinfo's own vault",
    ),
    Rule(
        "V002",
        "modes-left-open",
        "vault",
        "warning",
        "accepts",
        "A run was killed while a folder of the install was open for writing. Its mode has been put back.",
        "kill -9 in the middle of `opsinfo move`",
        "nothing to do: it is fixed when it is found",
        "opsinfo's own vault",
    ),
    Rule(
        "V003",
        "unfinished-change",
        "vault",
        "warning",
        "accepts",
        "A run that writes several files was killed between two of them: some are new, some are old.",
        "kill -9 in the middle of `opsinfo apply`",
        "opsinfo restore TARGET",
        "opsinfo's own vault",
    ),
)
