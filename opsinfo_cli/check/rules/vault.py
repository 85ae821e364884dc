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
        "A run that writes several files was killed between two of them: some are new, some are old. Or a run with "
        "--in-place was killed while it overwrote a file, which is half written.",
        "kill -9 in the middle of `opsinfo apply`",
        "opsinfo restore TARGET",
        "opsinfo's own vault",
    ),
    Rule(
        "V004",
        "damaged-backup",
        "vault",
        "error",
        "accepts",
        "A record, head or content of the vault is damaged or missing, or a file is there that opsinfo did not write. "
        "Every record and head carries a checksum and every content is named by its own. `restore` refuses what it "
        "cannot know for sure any more.",
        "a disk that loses a block, or rm in the vault",
        "keep what is needed from the vault's `objects`, then use a new vault: --backup-dir DIR",
        "opsinfo's own vault",
    ),
    Rule(
        "V005",
        "forked-history",
        "vault",
        "warning",
        "accepts",
        "Two changes of one file follow the same change: two machines with one machine-id, or two copies of the vault, "
        "wrote into it. Both branches are kept; `restore` follows the one that was written last.",
        "one vault, shared by two machines that were cloned with their /etc/machine-id",
        "a vault for each machine, or a machine-id for each",
        "opsinfo's own vault",
    ),
)
