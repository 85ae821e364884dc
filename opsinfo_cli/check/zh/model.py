"""Rules on a mixlist and the models it is for, in Chinese."""

from __future__ import annotations

from ..engine_files import GRAPH_OPTIMIZER, MIXED_PRECISION, MIXLIST

RULES = {
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
}
