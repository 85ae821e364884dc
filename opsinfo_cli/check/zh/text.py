"""Rules on the text itself, in Chinese."""

from __future__ import annotations

from ..engine_files import GENERATOR, JSON_READER, MANUAL, MIXLIST

RULES = {
    "syntax": {
        "why": "引擎只读严格的 JSON（RFC 8259），其余一概不认：单引号、NaN、不是 UTF-8 的字节、不成对的代理字符都不"
        "行。错一个字符，整个文件就被拒绝；如果是算子信息库，它所在的整个信息库目录也随之失效。",
    },
    "comment": {
        "why": "JSON 没有注释。手册的样例里写了注释，而引擎恰恰会拒绝这些样例。`opsinfo fmt` 会去掉注释，其余内容保"
        "持原样。",
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
        "why": "引擎读完第一个值就停下，后面的内容不起作用；CANN 自带的生成脚本就可能留下这样的尾巴。其他 JSON 读取"
        "程序会拒绝这个文件。opsinfo 修改文件时保留尾巴，`opsinfo fmt` 会去掉它。",
        "source": f"{JSON_READER}:26-53; {MIXLIST}:197；生成脚本：{GENERATOR}:294-301",
    },
    "bom": {
        "why": "文件以 UTF-8 字节顺序标记（BOM）开头。引擎会跳过它，但 Python 的 json 模块和 jq 并不都会。`opsinfo "
        "fmt` 会从混合精度名单中去掉它。",
        "source": f"{JSON_READER}:26-53（nlohmann::json 会跳过字节顺序标记）",
    },
    "duplicate-key": {
        "why": "同一个对象里，同一个键出现了两次。以最后一个为准，前面的不声不响就没了，丢掉的可能是一整份算子名单。"
        "出现两次的条目，opsinfo 不予修改。",
        "source": f"{JSON_READER}:26-53（键相同时，nlohmann::json 只保留最后一个）",
    },
    "empty-file": {
        "why": "文件是空的，或者只有空白字符：引擎启动失败，而且没有明确的报错（E29999）。空的混合精度名单应写作 "
        "`{}`。",
    },
    "wrong-type": {
        "why": "引擎在这里要的是另一种类型：混合精度名单是“对象 > 对象 > 字符串数组”，算子信息库是“对象 > 对象 > 字"
        "符串”。哪怕只是没加引号的数字或 true，也会让整个信息库目录失效。",
    },
}
