"""Rules on precision modes, in Chinese."""

from __future__ import annotations

RULES = {
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
}
