"""Rules, topics and words in Chinese.

Translated fields of rules are ``why``, and examples and sources that are prose. Codes, names, keys, options and text in
backquotes stay English; terms are those of ``docs/glossary.md``.
"""

from __future__ import annotations

from .engine_files import CONFIGURATION, GENERATOR, GRAPH_OPTIMIZER, JSON_READER, MANUAL, MIXED_PRECISION, MIXLIST

_VAULT_SOURCE = "opsinfo，docs/architecture.md，Changing 一节"

RULES: dict[str, dict[str, str]] = {
    # text
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
    # mixlist
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
    # mode
    "unknown-mode": {
        "why": "precision_mode 和 precision_mode_v2 都没有这个取值。precision_mode 可取 force_fp16、"
        "allow_fp32_to_fp16、allow_fp32_to_bf16、allow_mix_precision、allow_mix_precision_fp16、"
        "allow_mix_precision_bf16、force_fp32、cube_fp16in_fp32out、must_keep_origin_dtype；precision_mode_v2 可取 "
        "fp16、origin、cube_fp16in_fp32out、mixed_float16、mixed_bfloat16、mixed_hif8、cube_hif8。引擎自己的表里还有"
        "两个名字（force_lowerprecision、allow_fp32_to_lowprecision），但在到达引擎之前就会被接口拒绝。",
    },
    "mode-refuses-mixlist": {
        "why": "只有混合精度模式才接受混合精度名单：allow_mix_precision、allow_mix_precision_fp16、"
        "allow_mix_precision_bf16、mixed_float16、mixed_bfloat16、mixed_hif8。使用其他模式或不设模式时，"
        "modify_mixlist 非空就会报错。",
    },
    "mode-not-on-soc": {
        "why": "该芯片没有此模式所需的数据类型：bfloat16 需要 A2 或 A3 系列、Atlas 200I/500 A2 或 950；hifloat8 需"
        "要 950。",
    },
    "both-modes": {
        "why": "同时设置了 precision_mode 和 precision_mode_v2，必须去掉一个。",
    },
    # model
    "not-in-model": {
        "why": "--model 给出的模型里都没有这个算子类型的节点，这一条对它们不起作用。ONNX 或 TensorFlow 模型在融合之后"
        "仍可能出现这样的节点；请检查图的转储文件或编译后的模型。",
        "fails": "--model model.om，其中没有该类型的节点",
        "passes": "--model model.om，其中有该类型的节点",
        "source": f"{MIXLIST}:265-270；融合在前：{GRAPH_OPTIMIZER}:364-402",
    },
    "no-effect-in-model": {
        "why": "模型里有这个算子类型的节点，但去掉这一条之后，对给出的所有目标和精度模式（没有 --precision-mode 时，"
        "为该芯片的混合精度模式），所有节点的数据类型都不变。",
        "fails": "--model model.om，该类型节点的前驱都已是高精度",
        "passes": "--model model.om，有一个前驱是低精度",
    },
    "black-refused-in-model": {
        "why": "这一条把算子类型加入黑名单，但模型中的节点因此必须保持的数据类型，它的 kernel 没有相应的列。AI Core 会"
        "拒绝这些节点：它们改在 AI CPU 上运行，或者编译失败。",
        "fails": "--model model.om，float32 节点，其类型只有 float16 的列",
        "passes": "--model model.om，节点的类型有 float32 的列",
    },
    "constant-out-of-range": {
        "why": "模型的一个常量由低精度运行的节点读取，其中有的值在该数据类型中会溢出或变成 0。",
        "fails": "--model model.onnx，白名单算子的权重中有 70000",
        "passes": "--model model.onnx，该算子在黑名单上",
        "source": f"{MIXED_PRECISION}:126-132；该数据类型的最大有限值和最小非规格化值，按最近舍入",
    },
    # library
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
    # store
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
    # vault
    "edits-lost": {
        "why": "opsinfo 移动过这个文件中的算子，此后文件被替换，例如 CANN 升级，或者拷回了旧文件。之前的移动已不再生"
        "效。",
        "fails": "先执行 opsinfo move OPP Add --to black，之后升级了 CANN",
        "source": _VAULT_SOURCE,
    },
    "modes-left-open": {
        "why": "安装目录处于可写状态时，运行被强制终止。目录权限现已恢复。",
        "fails": "`opsinfo move` 执行到一半时 kill -9",
        "passes": "无需处理：发现时已恢复权限",
        "source": _VAULT_SOURCE,
    },
    "unfinished-change": {
        "why": "写入多个文件的运行中途被强制终止：有的文件是新的，有的还是旧的；"
        "或者用 --in-place 覆盖文件时被强制终止，文件只写了一半。",
        "fails": "`opsinfo apply` 执行到一半时 kill -9",
        "source": _VAULT_SOURCE,
    },
    "damaged-backup": {
        "why": "备份库中有记录或备份损坏或缺失，或者有不是 opsinfo 写入的文件。"
        "每条记录都带有自身及其各份备份的校验和。"
        "无法核实的内容，`restore` 一律拒绝恢复。",
        "fails": "磁盘丢失了一个块，或者在备份库里执行了 rm",
        "passes": "从备份库的目录中取出需要的内容，然后换用新的备份库：--backup-dir DIR",
        "source": _VAULT_SOURCE,
    },
    "older-vault": {
        "why": "备份库目录中还有旧版 opsinfo 的备份（`objects` 和 `changes`）。这些备份原样保留，`backups` 和 "
        "`restore` 不会使用它们。",
        "fails": "升级了 opsinfo",
        "passes": "从 `objects` 取出需要的内容（文件以自身的 SHA-256 命名），然后删除这些目录",
        "source": _VAULT_SOURCE,
    },
}

TOPICS = {
    "mixlists": """\
混合精度名单在哪里生效

modify_mixlist 指定的混合精度名单由图编译器 GE 的 AI Core 引擎读取，在以混合精度模式编译图时生效：
  - TensorFlow（TF Adapter）：session 配置或 NPURunConfig 中的 modify_mixlist
  - ATC：--modify_mixlist
  - 其他前端构造的 GE 图：ge.exec.modify_mixlist

就目前所知，torch_npu 的单算子模式（eager）不受它影响：那里默认走 aclnn，不经过这个引擎。
没有资料明确说明这一点，这是由架构推断的。

精度模式必须是 allow_mix_precision、allow_mix_precision_fp16、allow_mix_precision_bf16、
mixed_float16、mixed_bfloat16、mixed_hif8 之一。用别的模式，引擎拒绝启动（E10001）。

另见：opsinfo explain read-once，opsinfo explain mode-refuses-mixlist""",
    "read-once": f"""\
同一进程内，混合精度名单只读一次

引擎按路径字符串缓存混合精度名单。进程运行期间修改文件，引擎不会重新读取；即使第一次读取失败，也是如此。
请重启进程，或者给文件换一个名字。

来源：
  {MIXLIST}:80-109
  {CONFIGURATION}:1623-1650""",
    "policies": f"""\
白名单、黑名单和灰名单

white  白名单：允许算子从 float32 降到该模式的低精度（precision_reduce.flag 为 "true"）
black  黑名单：不允许降精度，保持原精度（flag 为 "false"）
gray   灰名单：与前一个算子保持一致（不配置 flag）

英文手册中分别称作 trustlist、blocklist、graylist。

混合精度名单可以移动算子类型：to-add 把它加入某个名单；to-remove 把它移出某个名单，移出后成为灰名单算子。
单独一个 gray-list 的 to-add 不起作用：要把白名单算子变成灰名单算子，请把它从 white-list 中移出。

来源：
  {MIXLIST}:265-294""",
    "exit-codes": """\
退出码

0    已完成，或没有错误
1    有错误级别的检查结果，有差异，--check 发现“会改动”，或混合精度基线不可靠
2    用法错误，包括不认识的算子名；没有写入任何内容
3    文件或系统拒绝，或者 opsinfo 内部故障；优先于 1
129  SIGHUP；130 SIGINT；143 SIGTERM""",
    "environment": """\
环境变量

ASCEND_OPP_PATH         按芯片名查找时所用的算子包根目录，与引擎的用法相同
ASCEND_HOME_PATH        未设置 ASCEND_OPP_PATH 时，使用该 toolkit 目录下的 opp
ASCEND_CUSTOM_OPP_PATH  自定义算子包路径，用冒号分隔；根目录取自环境变量时才起作用
OPSINFO_BACKUP_DIR      备份库的位置；--backup-dir 优先
XDG_STATE_HOME          备份库默认位于其中的 opsinfo/；未设置时为 ~/.local/state；root 用户为 /var/lib/opsinfo
XDG_CACHE_HOME          其中的 opsinfo/ 保存命令行补全所用的算子名；未设置时为 ~/.cache
OPSINFO_LANG            explain 使用的语言，en 或 zh；未设置时由 LC_ALL、LC_MESSAGES、LANG 决定
GITHUB_ACTIONS          为 true 时，validate --format auto 附加注解
GITHUB_WORKSPACE        报告中的路径以它为根，前提是当前目录位于其中
CI_PROJECT_DIR          GitLab 中作用相同；两者都没有时，取最近的含 .git 的目录，否则取当前目录
NO_COLOR                非空时不使用颜色；--color 优先
TERM                    为 dumb 时不使用颜色，不画表格，也不分页
OPSINFO_PAGER、PAGER    列表超过一屏时用它分页显示，前者优先；--no-pager 或 -q 关闭分页""",
}

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
"""Labels, severities, kinds of files and the engine's reactions. The English word is kept for searching."""
