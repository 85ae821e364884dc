"""Rules on changes made by opsinfo."""

from __future__ import annotations

from ..rule import Rule

_SOURCE = "opsinfo, docs/architecture.md, Changing"

RULES = (
    Rule(
        "V001",
        "edits-lost",
        "vault",
        "warning",
        "accepts",
        "opsinfo moved operators in this file, and the file was replaced since, for example by a vendor upgrade or by "
        "an old copy. The moves are no longer in effect.",
        "opsinfo move OPP Add --to black, then an upgrade of CANN",
        "opsinfo reapply",
        _SOURCE,
    ),
    Rule(
        "V002",
        "modes-left-open",
        "vault",
        "warning",
        "accepts",
        "A run was killed while a folder of the install was writable. Its mode has been restored.",
        "kill -9 in the middle of `opsinfo move`",
        "nothing to do: the mode is restored when this is found",
        _SOURCE,
    ),
    Rule(
        "V003",
        "unfinished-change",
        "vault",
        "warning",
        "accepts",
        "A run that writes several files was killed between two of them: some are new, some are old. Or a run with "
        "--in-place was killed while it overwrote a file, which is half written.",
        "kill -9 in the middle of `opsinfo apply`",
        "opsinfo restore TARGET",
        _SOURCE,
    ),
    Rule(
        "V004",
        "damaged-backup",
        "vault",
        "error",
        "accepts",
        "A record, head or content of the vault is damaged or missing, or a file is there that opsinfo did not write. "
        "Every record and head carries a checksum and every content is named by its own. `restore` refuses "
        "content that it cannot verify.",
        "a disk that loses a block, or rm in the vault",
        "keep what is needed from the vault's `objects`, then use a new vault: --backup-dir DIR",
        _SOURCE,
    ),
    Rule(
        "V005",
        "forked-history",
        "vault",
        "warning",
        "accepts",
        "Two changes of one file follow the same change: two machines with one machine-id, or two copies of the vault, "
        "wrote into it. Both branches are kept; `restore` follows the one that was written last.",
        "one vault shared by two machines that were cloned with their /etc/machine-id",
        "one vault or one machine-id per machine",
        _SOURCE,
    ),
)
