"""Rules on what opsinfo itself changed, in Chinese."""

from __future__ import annotations

_SOURCE = "opsinfo 自己的备份库"

RULES = {
    "edits-lost": {
        "why": "opsinfo 改过这个文件里的算子，现在这里却是另一个文件：可能是 CANN 升级把它换掉了，也可能是有人拷回了"
        "旧文件。之前的修改已不再生效。",
        "fails": "先执行 opsinfo move OPP Add --to black，之后升级了 CANN",
        "source": _SOURCE,
    },
    "modes-left-open": {
        "why": "opsinfo 为写入而放开了安装目录的权限，运行中途被杀掉。目录权限现已恢复。",
        "fails": "`opsinfo move` 执行到一半时 kill -9",
        "passes": "不需要做什么：发现的同时已经恢复",
        "source": _SOURCE,
    },
    "unfinished-change": {
        "why": "一次要写多个文件的运行在中途被杀掉：有的文件是新的，有的还是旧的。",
        "fails": "`opsinfo apply` 执行到一半时 kill -9",
        "source": _SOURCE,
    },
}
