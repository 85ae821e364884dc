"""Rules on the text itself, in Chinese."""

from __future__ import annotations

from ..engine_files import GENERATOR, JSON_READER, MANUAL, MIXLIST

RULES = {
    "syntax": {
        "why": "引擎只接受严格的 JSON（RFC 8259）：不允许单引号、NaN、非 UTF-8 字节和不成对的代理字符。只要有一个字符出"
        "错，引擎就拒绝整个文件；如果是算子信息库，它所在的整个信息库目录都会加载失败。",
    },
    "comment": {
        "why": "JSON 没有注释。手册的样例中有注释，引擎会拒绝这些样例。`opsinfo fmt` 会去掉注释，其余内容保持原样。",
        "source": f"{MIXLIST}:186-206; {JSON_READER}:26-53；错误码 E21002；带注释的样例：{MANUAL}:81-100",
    },
    "trailing-comma": {
        "why": "右括号前多一个逗号，在 Python 和 JavaScript 中合法，在 JSON 中不合法。`opsinfo fmt` 会去掉它。",
    },
    "missing-comma": {
        "why": "两个值或两个成员之间缺少逗号，ATC 手册中就有这样的样例。`opsinfo fmt` 会补上。",
        "source": f"{MIXLIST}:186-206; {JSON_READER}:26-53；错误码 E21002；该样例：{MANUAL}:118-126",
    },
    "trailing-text": {
        "why": "引擎读完第一个值就停止，后面的内容不起作用；厂商的生成脚本可能留下这样的内容。其他 JSON 读取程序会拒绝"
        "这个文件。opsinfo 修改文件时保留这些内容，`opsinfo fmt` 会去掉它们。",
        "source": f"{JSON_READER}:26-53; {MIXLIST}:197；生成脚本：{GENERATOR}:294-301",
    },
    "bom": {
        "why": "文件以 UTF-8 字节顺序标记（BOM）开头。引擎会跳过它，但并非所有 JSON 读取程序都会。`opsinfo "
        "fmt` 会从混合精度名单中去掉它。",
        "source": f"{JSON_READER}:26-53（nlohmann::json 会跳过字节顺序标记）",
    },
    "duplicate-key": {
        "why": "同一个对象里，同一个键出现了两次。以最后一个为准，前面的被丢弃且没有任何提示，其中可能有整份算子名单。"
        "opsinfo 不修改出现两次的条目。",
        "source": f"{JSON_READER}:26-53（键相同时，nlohmann::json 只保留最后一个）",
    },
    "empty-file": {
        "why": "文件是空的，或者只有空白字符：引擎启动失败，而且没有明确的报错（E29999）。空的混合精度名单应写作 "
        "`{}`。",
    },
    "wrong-type": {
        "why": "引擎要求这里是另一种类型：混合精度名单是“对象 > 对象 > 字符串数组”，算子信息库是“对象 > 对象 > 字"
        "符串”。没加引号的数字或 `true` 会使整个信息库目录加载失败。",
    },
}
