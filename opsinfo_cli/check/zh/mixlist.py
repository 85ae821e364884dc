"""Rules on mixlists, in Chinese."""

from __future__ import annotations

from ..engine_files import GRAPH_OPTIMIZER, MIXLIST

RULES = {
    "unknown-list": {
        "why": "引擎只接受 black-list、white-list、gray-list 三个键，必须逐字符一致；出现其他键就拒绝整个文件，例如 "
        "`grey-list`、`white_list`，以及供编辑器使用的 `$schema`。",
    },
    "unknown-action": {
        "why": "在每个名单中，引擎只接受 `to-add` 和 `to-remove`。",
    },
    "contradiction": {
        "why": "一个算子类型可带六种标记，共有 63 种组合，引擎只接受其中 11 种。加入两个名单、对同一个名单既加入"
        "又移出、从两个名单移出、只从灰名单移出，都会被拒绝。",
    },
    "duplicate-operator": {
        "why": "同一个数组里，同一个算子类型写了两次。这不影响结果，但往往是想写另一个算子类型。",
    },
    "unknown-operator": {
        "why": "算子类型与融合之后图中的算子类型逐字符比较，区分大小写。所有算子信息库都没有的名字会被忽略，且没有任"
        "何提示：训练照常进行，算子仍按算子信息库中的策略运行。有相近的名字时报告为错误，否则报告为警告：它可能属于本机没有安装的"
        "算子包。",
        "source": f"{MIXLIST}:265-270；融合在前：{GRAPH_OPTIMIZER}:364-402",
    },
    "not-in-ai-core": {
        "why": "安装中有这个算子类型，但它属于其他引擎（AI CPU、Vector Core、DSA、Host）。混合精度名单只由 AI Core 引擎"
        "读取，对它不起作用。",
    },
    "sibling-type": {
        "why": "判定数据类型时，图中出现的可能是这个算子的另一种形式：融合会把 `X` 变成 `XD` 或 `XV2`，也会变回来。"
        "那种形式最终的策略与此不同，所以这一条可能没有作用到想要的算子上。",
    },
    "no-effect": {
        "why": "这一条不改变任何内容：引擎忽略单独的 gray-list `to-add`；算子类型已在某个名单上时，再 `to-add` 到同一个"
        "名单也没有变化。",
    },
    "remove-mismatch": {
        "why": "从算子类型并不在的名单 `to-remove`。引擎在日志中记录一条告警，然后继续；该算子类型的其他标记照常生效。",
    },
    "black-without-fp32": {
        "why": "算子信息库为这个算子的输入只列出半精度，没有 float32。黑名单不允许降精度，所以输入为 float32 时，AI "
        "Core 引擎会报告不支持：算子转到 AI CPU 执行，或者编译失败。",
    },
    "white-without-low": {
        "why": "算子信息库没有为这个算子列出该模式的低精度类型。引擎在日志中记录一条告警，并保持原数据类型：白名单不"
        "起作用。",
    },
}
