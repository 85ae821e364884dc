"""Rules on stores and installs, in Chinese."""

from __future__ import annotations

RULES = {
    "shadowed": {
        "why": "同一信息库目录里，后加载的文件也有这个算子类型，会替换这里的整个条目。这里的条目以及对它的修改都不"
        "起作用。两处策略不同时报告为警告。",
        "fails": "-legacy.json 中 IndexFill 为 gray；-nn.json 中 IndexFill 为 white",
        "passes": "修改 -nn.json 中的条目，或者对整个信息库目录使用 `opsinfo move`：它会找到生效的条目",
    },
    "stray-json": {
        "why": "引擎会加载 config 目录下的每一个 *.json。放在那里的副本或其他文件可能覆盖条目，文件名还会改变查找 "
        "kernel 的位置（`-backup.json` 会到 `ops_backup` 里找）。",
        "passes": "config/ascend910b/aic-ascend910b-ops-info.json.bak，或者放到别的目录",
    },
    "load-order-undefined": {
        "why": "文件的加载顺序先看整个路径中有没有 `legacy`，再看路径长度。有两个文件在这两点上相同，又有同一个算子类"
        "型，因此哪一条生效没有定义。",
        "fails": "-cv.json 和 -nn.json 都定义了 IndexFill，或者上级目录名为 `legacy-tests`",
        "passes": "同一个算子类型只在其中一个文件里定义",
    },
    "store-fails": {
        "why": "这个信息库目录中有一个文件无法加载，引擎因此丢弃整个目录。如果它是唯一的信息库目录，引擎就无法启动；"
        "如果另有一个完好的自定义算子包，引擎能启动，但没有内置算子。",
        "fails": "config/ascend910b 下有一个损坏的文件",
        "passes": "对该文件运行 `opsinfo validate`，或对该信息库目录运行 `opsinfo restore`",
    },
    "bad-load-priority": {
        "why": "vendors/config.ini 的 load_priority 那一行没有 `=`。引擎无法启动（E20003）。",
    },
    "broken-custom-path": {
        "why": "引擎会跳过这个自定义算子路径，且没有任何提示：它不是绝对路径、不存在、缺少 `config` 或 "
        "`<name>_impl` 目录（例如复制后改了名），或者厂商名没有写进 load_priority。",
        "fails": "ASCEND_CUSTOM_OPP_PATH=/opt/copy_of_acme（里面是 acme_impl）",
        "passes": "ASCEND_CUSTOM_OPP_PATH=/opt/acme（里面是 acme_impl）",
    },
}
