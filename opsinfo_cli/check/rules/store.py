"""Rules on stores and installs."""

from __future__ import annotations

from ..engine_files import CONFIGURATION, STORE, STORES
from ..rule import Rule

RULES = (
    Rule(
        "S001",
        "shadowed",
        "store",
        "note",
        "accepts",
        "A later file of the same store has the op type too and replaces this entry completely. The entry and edits "
        "of it have no effect. It is a warning if the policies differ.",
        "-legacy.json: IndexFill gray; -nn.json: IndexFill white",
        "edit the entry in -nn.json, or use `opsinfo move` on the store: it finds the entry that wins",
        f"{STORE}:113-129, 182",
    ),
    Rule(
        "S002",
        "stray-json",
        "store",
        "warning",
        "accepts",
        "The engine loads every *.json of a config directory. A copy or a file of another kind there may override "
        "entries, and its name changes where the engine looks for kernels (`-backup.json` looks in `ops_backup`).",
        "config/ascend910b/aic-ascend910b-ops-info-backup.json",
        "config/ascend910b/aic-ascend910b-ops-info.json.bak, or another folder",
        f"{STORE}:70-129",
    ),
    Rule(
        "S003",
        "load-order-undefined",
        "store",
        "warning",
        "accepts",
        "The load order depends on `legacy` anywhere in the path, then on the length of the path. Two files are equal "
        "in both and have the same op type, so which entry wins is undefined.",
        "-cv.json and -nn.json both define IndexFill, or a parent folder is called `legacy-tests`",
        "keep each op type in only one of them",
        f"{STORE}:113-123",
    ),
    Rule(
        "S004",
        "store-fails",
        "install",
        "error",
        "refuses",
        "A file of this store does not load, so the engine drops the whole store. If it is the only one, the engine "
        "does not start; if a custom store is intact, it starts without the built-in operators.",
        "one broken file in config/ascend910b",
        "`opsinfo validate` on the file, or `opsinfo restore` on the store",
        f"{STORES}:50-72; {STORE}:124-209",
    ),
    Rule(
        "S005",
        "bad-load-priority",
        "install",
        "error",
        "refuses",
        "The load_priority line of vendors/config.ini has no `=`. The engine does not start (E20003).",
        "load_priority acme",
        "load_priority=acme",
        f"{CONFIGURATION}:834-841; error E20003",
    ),
    Rule(
        "S006",
        "broken-custom-path",
        "install",
        "warning",
        "ignores",
        "The engine silently skips this custom path: it is not absolute, is missing, has no `config` or "
        "no `<name>_impl` folder (a renamed copy), or is a vendor that load_priority does not name.",
        "ASCEND_CUSTOM_OPP_PATH=/opt/copy_of_acme (inside: acme_impl)",
        "ASCEND_CUSTOM_OPP_PATH=/opt/acme (inside: acme_impl)",
        f"{CONFIGURATION}:687-724",
    ),
)
