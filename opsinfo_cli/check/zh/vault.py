"""Rules on changes made by opsinfo, in Chinese."""

from __future__ import annotations

_SOURCE = "opsinfo，docs/architecture.md，Changing 一节"

RULES = {
    "edits-lost": {
        "why": "opsinfo 移动过这个文件中的算子，此后文件被替换，例如 CANN 升级，或者拷回了旧文件。之前的移动已不再生"
        "效。",
        "fails": "先执行 opsinfo move OPP Add --to black，之后升级了 CANN",
        "source": _SOURCE,
    },
    "modes-left-open": {
        "why": "安装目录处于可写状态时，运行被强制终止。目录权限现已恢复。",
        "fails": "`opsinfo move` 执行到一半时 kill -9",
        "passes": "无需处理：发现时已恢复权限",
        "source": _SOURCE,
    },
    "unfinished-change": {
        "why": "写入多个文件的运行中途被强制终止：有的文件是新的，有的还是旧的；"
        "或者用 --in-place 覆盖文件时被强制终止，文件只写了一半。",
        "fails": "`opsinfo apply` 执行到一半时 kill -9",
        "source": _SOURCE,
    },
    "damaged-backup": {
        "why": "备份库中有记录、链头或内容损坏或缺失，或者有不是 opsinfo 写入的文件。"
        "每条记录和链头都带有校验和，每份内容以自身的校验和命名。"
        "无法核实的内容，`restore` 一律拒绝恢复。",
        "fails": "磁盘丢失了一个块，或者在备份库里执行了 rm",
        "passes": "从备份库的 `objects` 目录取出需要的内容，然后换用新的备份库：--backup-dir DIR",
        "source": _SOURCE,
    },
    "forked-history": {
        "why": "同一个文件的两次修改接在同一次修改之后：两台 machine-id 相同的机器，或者备份库的两份副本，都写入了它。"
        "两个分支都会保留，`restore` 以最后写入的分支为准。",
        "fails": "两台机器克隆时连同 /etc/machine-id 一起复制，并共用一个备份库",
        "passes": "每台机器各用一个备份库，或者各有自己的 machine-id",
        "source": _SOURCE,
    },
}
