"""Words of the manuals and of users that `opsinfo explain` knows, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_support import Run

from opsinfo_cli.core.cann.precision_mode import MODES
from opsinfo_cli.core.check.wording import glossary, term_called

REFERENCE = Path(__file__).resolve().parents[3] / "docs" / "reference.md"
WORDS = """
modify_mixlist precision_reduce precision_mode_v2 precision_mode overflow loss_scale amp_level opt_level O0 O1
O2 O3 apex combine_grad hmp saturation INF_NAN_MODE_ENABLE eager aclnn black white gray mixlist blocklist
trustlist graylist is_distributed loss_scale_manager=None DynamicLossScaleManager GradScaler autocast
keep_dtype customize_dtypes op_precision_mode allow_hf32 HF32 underflow nan soc_version OPP
keep_batchnorm_fp32 MS_ASCEND_CHECK_OVERFLOW_MODE op_select_implmode high_performance NPULossScaleOptimizer
drop_overflow_update float16 bf16 OpType opbuild 黑名单 白名单 灰名单 混合精度 溢出
溢出检测 算子信息库 混合精度名单 损失缩放 精度模式 单算子模式 饱和模式
算子类型 半精度 下溢 judged Cast movable promote low high opdef 融合 低精度 精度 黑白灰名单 梯度溢出
"""


@pytest.mark.parametrize(
    "word", [*WORDS.split(), "loss scale", "mixed precision", "Inf/NaN mode", "operator information library"]
)
def test_a_word_of_the_manuals_is_explained(opsinfo: Run, word: str) -> None:
    for language in ("en", "zh"):
        ran = opsinfo("explain", word, env={"OPSINFO_LANG": language})
        assert ran.code == 0
        assert len(ran.out) > 10
    assert opsinfo("explain", *word.split()).out == opsinfo("explain", word).out
    assert opsinfo("explain", word, "--format", "json").json["topics" if word != "bom" else "rules"]


def test_every_term_of_the_glossary_is_found_by_each_of_its_names() -> None:
    terms = [term for section in glossary() for term in section.terms]
    for term in terms:
        assert term_called(term.term) is term
        assert term.en
        assert re.search("[一-鿿]", term.zh)
        assert term.term not in re.split("[:;] ", term.says("en").partition("\n")[2]), "it is no other word for itself"
        for name in term.names:
            assert term_called(name) is not None, name


@pytest.mark.parametrize(
    ("words", "beginnings"),
    {
        "m005": ["M005 unknown-operator"],
        "UNKNOWN_OPERATOR": ["M005 unknown-operator"],
        "store_fails": ["S004 store-fails"],
        "e20002": ["S004 store-fails"],
        "M005 M007 hf32": ["M005 unknown-operator", "M007 sibling-type", "HF32"],
        "read once": ["A mixlist is read once"],
        "Exit Status": ["Exit status"],
        "HF32": ["HF32\n"],
        "FP16": ["fp16 is a value of", "float16, bfloat16, hifloat8: "],
        "low": ["low, high: "],
    }.items(),
)
def test_case_and_signs_do_not_matter_and_several_words_are_explained(
    opsinfo: Run, words: str, beginnings: list[str]
) -> None:
    out = opsinfo("explain", *words.split()).out
    assert out.startswith(beginnings[0])
    assert all(f"\n{beginning}" in f"\n{out}" for beginning in beginnings)


@pytest.mark.parametrize("mode", MODES)
def test_every_precision_mode_is_explained(opsinfo: Run, mode: str) -> None:
    assert f"{mode} is a value of" in opsinfo("explain", mode).out


def test_every_option_of_the_reference_is_explained(opsinfo: Run) -> None:
    options = sorted(
        set(re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]*[a-z0-9])(?![\w-])", REFERENCE.read_text("utf-8"))) - {"--help"}
    )
    assert len(options) > 50
    unknown = [option for option in options if opsinfo("explain", "--", option).code != 0]
    assert unknown == []


def test_an_option_is_explained_by_its_help_and_its_commands(opsinfo: Run) -> None:
    assert re.search(r"--limit \(qualify\): Share of overflowed steps", opsinfo("explain", "limit").out)
    assert opsinfo("explain", "no-such-word").code == 2
