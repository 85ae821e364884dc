"""Topics, in Chinese."""

from __future__ import annotations

from ..engine_files import CONFIGURATION, MIXLIST

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
OPSINFO_SAFE_DIRECTORY  以冒号分隔的文件夹，或 *：其中的 opsinfo.toml 即使属于其他用户也会使用
XDG_CONFIG_HOME         其中的 opsinfo/opsinfo.toml 可设置 `safe-directory`；未设置时为 ~/.config
SUDO_UID                在 sudo 下：使用该用户的配置文件
OPSINFO_LANG            explain 使用的语言，en 或 zh；未设置时由 LC_ALL、LC_MESSAGES、LANG 决定
GITHUB_ACTIONS          为 true 时，validate --format auto 附加注解
GITHUB_WORKSPACE        报告中的路径以它为根，前提是当前目录位于其中
CI_PROJECT_DIR          GitLab 中作用相同；两者都没有时，取最近的含 .git 的目录，否则取当前目录
NO_COLOR                非空时不使用颜色；--color 优先
TERM                    为 dumb 时不使用颜色，不画表格，也不分页
OPSINFO_PAGER、PAGER    列表超过一屏时用它分页显示，前者优先；--no-pager 或 -q 关闭分页""",
}
