"""`systems` on a terminal and on a real chip, and every snippet of `modes`. Other answers are in tests/answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Run, rows, write

from opsinfo_cli.core.cann.precision_mode import MODES
from opsinfo_cli.core.cann.snippet import snippet_names
from opsinfo_cli.core.terminal.answer import Either, Table
from opsinfo_cli.systems.commands.show import levels_answer
from opsinfo_cli.systems.registry import SYSTEMS


@pytest.mark.parametrize(("name", "columns"), [("apex", ["", "O0", "O1", "O2", "O3"]),
                                               ("mindspore", ["level", "property", "value"])])  # fmt: skip
def test_levels_stand_side_by_side_if_80_columns_hold_them(name: str, columns: list[str]) -> None:
    (block,) = levels_answer(SYSTEMS[name]).blocks()
    assert isinstance(block, Either)
    table = next(iter(block.terminal()))
    assert isinstance(table, Table)
    assert [column.title for column in table.columns] == columns


def test_decide_on_the_real_910b(opsinfo: Run, corpus: Path, tmp_path: Path) -> None:
    against = ("--against", corpus / "cann-910b/opp")
    found = rows(
        opsinfo("systems", "decide", "--system", "ascend:mixed_float16", *against, "MatMulV2", "ReduceSum", "Relu:fp16")
    )
    assert [row[2] for row in found] == ["float16", "float32", "float16"]
    mixlist = write(tmp_path / "m.json", {"black-list": {"to-add": ["Relu"]}})
    changed = opsinfo(
        "systems", "decide", "--system", "ascend:mixed_float16", *against, "--mixlist", mixlist, "Relu:fp16"
    )
    assert rows(changed)[0][2] == "float32"


FLOAT16, BFLOAT16 = ("mixed_float16", "allow_mix_precision"), ("mixed_bfloat16", "allow_mix_precision_bf16")
OTHER = ("force_fp16", "origin", "allow_fp32_to_bf16")


@pytest.mark.parametrize("mode", [*FLOAT16, *BFLOAT16, *OTHER, "mixed_hif8"])
@pytest.mark.parametrize("name", snippet_names())
def test_every_snippet_sets_the_mode_or_refuses_it(opsinfo: Run, name: str, mode: str) -> None:
    ran = opsinfo("modes", "--snippet", name, "--precision-mode", mode, "--format", "json")
    if ran.code:
        assert (ran.code, ran.json["error"]["name"]) == (2, "mode-not-in-snippet")
        refused = {
            "torch": (*OTHER, "mixed_hif8"),
            "mindspore": ("mixed_hif8",),
            "onnxruntime": ("mixed_hif8",),
            "paddle-lite": (*BFLOAT16, "mixed_hif8"),
            "mindspore-lite-runtime": (*BFLOAT16, *OTHER, "mixed_hif8"),
            "apex": (*BFLOAT16, *OTHER, "mixed_hif8"),
        }
        assert mode in refused.get(name, (*FLOAT16, *OTHER, "mixed_hif8") if name.startswith("habana") else ())
        return
    made = ran.json["snippet"]
    same = {mode, *(MODES[mode].same)}
    assert made["mode"] in same
    if name in ("torch", "habana"):
        assert f"dtype=torch.{'bfloat16' if mode in BFLOAT16 else 'float16'}" in made["text"]
    elif name in ("apex", "habana-hmp"):
        assert mode in (FLOAT16 if name == "apex" else BFLOAT16)
    else:
        assert made["mode"] in made["text"]


@pytest.mark.parametrize(
    "character",
    ["\x1b", "\x7f", "\x9b", "\u061c", "\u202e", "\u2028", "\udc9b", "\n"],
    ids=[
        "ESC",
        "DEL",
        "C1 CSI",
        "Arabic letter mark",
        "right-to-left override",
        "line separator",
        "undecodable byte",
        "newline",
    ],
)
@pytest.mark.parametrize("name", ["atc", "mindspore-lite", "tf1"])
def test_a_path_with_a_control_character_is_refused(opsinfo: Run, name: str, character: str) -> None:
    ran = opsinfo("modes", "--snippet", name, "--mixlist", f"m{character}[31m.json", "--format", "json")
    assert (ran.code, ran.json["error"]["name"]) == (2, "control-character")
