"""Labels, severities, kinds of files and the engine's reactions. The English word is kept for searching."""

from __future__ import annotations

WORDS = {
    "head": "{code} {name}：{severity}；引擎{engine}",
    "fails": "反例：",
    "passes": "正例：",
    "source": "来源：{source}",
    "empty": "（空文件）",
    "error": "错误（error）",
    "warning": "警告（warning）",
    "note": "提示（note）",
    "refuses": "拒绝（refuses）",
    "crashes": "崩溃（crashes）",
    "ignores": "忽略（ignores）",
    "accepts": "接受（accepts）",
    "both": "名单和信息库",
    "mixlist": "混合精度名单",
    "library": "算子信息库",
    "mode": "精度模式",
    "model": "模型",
    "store": "信息库目录",
    "install": "OPP 安装",
    "vault": "备份库",
}
