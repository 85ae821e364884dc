"""Rules on libraries, in Chinese."""

from __future__ import annotations

RULES = {
    "bad-flag": {
        "why": "precision_reduce.flag 只能是 true、false 或空，不分大小写，前后可有空白。其他值会使整个信息库目录"
        "加载失败，算子包中的算子全部不可用。",
    },
    "blank-in-name": {
        "why": "引擎先去掉算子类型前后的空白，再用得到的名字查找。键的前后带有空白时就查不到，整个信息库目录加载失败。",
    },
    "bad-value": {
        "why": "引擎无法识别的值：取值不在它的列表中；数据类型写成 `bf16`（应为 `bfloat16`）；format 用了小写；缺少 "
        "name 或 paramType。整个信息库目录加载失败。",
    },
    "column-mismatch": {
        "why": "dtype 和 format 按列对应：一个 tensor 的各个列表、一个算子的各个 tensor，列数都必须相同。已知旧版本 "
        "CANN 的算子信息库有不符合的，所以 opsinfo 仍会读取，并给出警告。",
    },
    "unknown-value": {
        "why": "opsinfo 所依据的引擎版本没有这个数据类型、format 或属性类型。更新的引擎可能有；这一版引擎会拒绝"
        "它，或者跳过这个属性。",
    },
    "unknown-section": {
        "why": "这一段的名字与引擎会读取的某一段相近。引擎会忽略它，其中的内容不起作用。",
    },
    "engine-crash": {
        "why": "formatAgnostic 算子只给其中一个 tensor 列出了 format，或者输出的 format 比输入少。引擎加载这个信息库"
        "目录时会越过较短的列表继续读取，可能崩溃。",
    },
}
